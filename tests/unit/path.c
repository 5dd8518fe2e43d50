/* Where a program may be by a list such as PATH. */
#include "common/path.h"

#include "tests/tap.h"

int main(void)
{
    static const struct {
        const char *list, *files; /* with blanks between */
    } cases[] = {
        { NULL, "" },
        { "", "" },
        { ":::", "" },
        { "/bin", "/bin/srun" },
        { "/bin:/usr/bin", "/bin/srun /usr/bin/srun" },
        { ":/bin::tools:", "/bin/srun tools/srun" },
        { "/opt/a/very/long/folder:/bin", "/bin/srun" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *at = cases[i].list;
        char file[16], all[64] = "";

        while (path_next(&at, "srun", file, sizeof(file)))
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? " " : "", file);
        is_str(all, cases[i].files, "%s", cases[i].list ? cases[i].list : "no list");
        ok(!at || !*at, "the list ends");
    }
    return done_testing();
}
