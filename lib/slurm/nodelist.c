#include "slurm/nodelist.h"

#include <stdlib.h>

#include <slurm/slurm.h>

#include "common/xalloc.h"

/* hostlist_t is the pointer in Slurm 22.05, and what it points to in 24.11. */
typedef __typeof__(slurm_hostlist_create("")) hosts;

/* In 24.11 only ..._xmalloc allocates, and xfree() is not declared in slurm.h. */
static char *ranged(hosts all)
{
    char *text = NULL;

    for (size_t bytes = 4096; bytes <= NODELIST_MAX_BYTES; bytes *= 2) {
        text = xrealloc(text, bytes, 1);
        if (slurm_hostlist_ranged_string(all, bytes, text) >= 0)
            return text;
    }
    free(text);
    return NULL;
}

int nodelist_add(const char *list, const char *more, char **text)
{
    hosts all = slurm_hostlist_create(list ? list : ""), added = slurm_hostlist_create(more);
    int result = all && added ? 0 : -1;
    char *host;

    *text = NULL;
    while (result >= 0 && (host = slurm_hostlist_shift(added))) {
        if (slurm_hostlist_find(all, host) < 0) {
            slurm_hostlist_push_host(all, host);
            result = 1;
        }
        free(host);
    }
    if (result > 0 && !(*text = ranged(all)))
        result = -1;
    if (all)
        slurm_hostlist_destroy(all);
    if (added)
        slurm_hostlist_destroy(added);
    return result;
}

int nodelist_common(const char *list, const char *nodes, int *of)
{
    hosts all = slurm_hostlist_create(list ? list : ""), some = slurm_hostlist_create(nodes);
    int n = 0;
    char *host;

    *of = 0;
    while (all && some && (host = slurm_hostlist_shift(some))) {
        n += slurm_hostlist_find(all, host) >= 0;
        ++*of;
        free(host);
    }
    if (all)
        slurm_hostlist_destroy(all);
    if (some)
        slurm_hostlist_destroy(some);
    return n;
}
