/* slurm_text.c - fuzz target: what Slurm's commands print.  Up to the first line "--" sinfo, then sacctmgr's
 * configuration up to the next, then its events. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "slurm/outages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text before the next line "--", which is cut off there. */
static char *part(char **rest)
{
    char *begin = *rest, *end = strstr(begin, "--\n");

    *rest = end ? end + 3 : begin + strlen(begin);
    if (end)
        *end = '\0';
    return begin;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xcalloc(1, size + 1), *rest = text, *nodes, *purge;
    struct outages_seen s;
    struct outages *o;

    memcpy(text, data, size);
    nodes = part(&rest);
    purge = part(&rest);
    o = outages_new(rest, purge, nodes, "slurm", 1.7e9, 1.8e9);
    if (outages_see(o, "main", 4, &s) && !(s.failures >= 0 && s.node_s > 0 && s.span_s <= 1e8 && s.nodes > 0))
        abort();
    outages_free(o);
    free(text);
    return 0;
}
