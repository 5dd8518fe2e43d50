/* Lists of nodes through libslurm: added to, compared, and too long. */
#include "slurm/nodelist.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/tap.h"

/* libslurm itself forgets a part of a list that it finds malformed. Without llvm-symbolizer only the library
 * has a name. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libslurm";
}

static const struct {
    const char *list, *more;
    int result;
    const char *text;
} additions[] = {
    { NULL, "node3", 1, "node3" },
    { "", "node3", 1, "node3" },
    { "node[1-2]", "node3", 1, "node[1-3]" },
    { "node1", "node[2,4]", 1, "node[1-2,4]" },
    { "node[1-2]", "gpu07", 1, "node[1-2],gpu07" },
    { "n[08-09]", "n10", 1, "n[08-10]" },
    { "node[1-3]", "node[2-5]", 1, "node[1-5]" },
    { "node[1-3]", "node2", 0, NULL },
    { "node[1-3],gpu1", "gpu1,node[1,3]", 0, NULL },
    { "node1", "", 0, NULL },
    { "node1", "node[3-2]", -1, NULL },
    { "node[3-2]", "node1", -1, NULL },
    { "node1", "node[2-x]", -1, NULL },
    { "node1", "node[1-9999999]", -1, NULL },
};

static const struct {
    const char *list, *nodes;
    int common, of;
} comparisons[] = {
    { "node[1-4]", "node[3-6]", 2, 4 }, { "node[1-4]", "node2", 1, 1 }, { "node[1-4]", "gpu1", 0, 1 },
    { NULL, "node[1-3]", 0, 3 },        { "node1", "", 0, 0 },
};

/* n names of 32 characters that do not shorten to a range, with commas between them. */
static char *separate_names(int n)
{
    char *text = xcalloc((size_t)n + 1, 33);

    for (int i = 0; i < n; i++)
        sprintf(text + 33 * i - (i > 0), "%sname-%05d-that-has-no-neighbour", i ? "," : "", i);
    return text;
}

/* The first buffer has 4,096 bytes: 123 names and one more need 4,068 of them, 124 need 4,101. */
static void check_long_lists(void)
{
    static const struct {
        int names, result;
    } cases[] = { { 123, 1 }, { 124, 1 }, { 3000, 1 }, { NODELIST_MAX_BYTES / 33, -1 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *list = separate_names(cases[i].names), *want = xasprintf("%s,one-more", list), *text;
        int result = nodelist_add(list, "one-more", &text);

        ok(result == cases[i].result && (result == 1 ? !strcmp(text, want) : !text),
           "a list of %zu bytes plus one more name: expected %d, got %d with %zu bytes of %zu", strlen(list),
           cases[i].result, result, text ? strlen(text) : 0, strlen(want));
        free(text);
        free(want);
        free(list);
    }
}

int main(void)
{
    char *text;
    int of;

    for (size_t i = 0; i < ARRAY_SIZE(additions); i++) {
        const char *list = additions[i].list ? additions[i].list : "(none)";
        int result = nodelist_add(additions[i].list, additions[i].more, &text);

        ok(result == additions[i].result &&
               (text && additions[i].text ? !strcmp(text, additions[i].text) : text == additions[i].text),
           "%s plus '%s': expected %d %s, got %d %s", list, additions[i].more, additions[i].result,
           additions[i].text ? additions[i].text : "no list", result, text ? text : "no list");
        free(text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
        int n = nodelist_common(comparisons[i].list, comparisons[i].nodes, &of);

        ok(n == comparisons[i].common && of == comparisons[i].of,
           "'%s' in %s: expected %d of %d, got %d of %d", comparisons[i].nodes,
           comparisons[i].list ? comparisons[i].list : "(none)", comparisons[i].common, comparisons[i].of, n,
           of);
    }
    check_long_lists();
    return done_testing();
}
