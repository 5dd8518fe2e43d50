/* The release of Slurm in what its programs print of themselves. */
#include "doctor/slurm_release.h"

#include <slurm/slurm.h>

#include "tests/tap.h"

static const struct {
    const char *text;
    bool known;
    unsigned major, minor;
} cases[] = {
    { "slurm-wlm 22.05.8\n", true, 22, 5 },
    { "slurm 24.11.5", true, 24, 11 },
    { "slurm 25.05.0-0rc1\n", true, 25, 5 },
    { "slurm 26.11", true, 26, 11 },
    { "", false, 0, 0 },
    { "slurm", false, 0, 0 },
    { "slurm 24", false, 0, 0 },
    { "slurm 24.", false, 0, 0 },
    { "slurm .11", false, 0, 0 },
    { "slurm 99999.11", false, 0, 0 },
    { "scontrol: error: 22.05.8", false, 0, 0 },
};

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct slurm_release r = { 0, 0 };
        bool known = slurm_release_parse(cases[i].text, &r);

        ok(known == cases[i].known && r.major == cases[i].major && r.minor == cases[i].minor,
           "'%s': %s, %u.%02u", cases[i].text, cases[i].known ? "a release" : "no release", cases[i].major,
           cases[i].minor);
    }
    ok(slurm_release_built().major * 65536 + slurm_release_built().minor * 256 ==
           (SLURM_VERSION_NUMBER & 0xffff00),
       "the release that this was built for is that of Slurm's headers: %u.%02u", slurm_release_built().major,
       slurm_release_built().minor);
    return done_testing();
}
