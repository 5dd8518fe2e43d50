/* Any bytes as topology.yaml; what is accepted is a tree whose names are found and whose links have a rate.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "topology/topology_yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct topology *t)
{
    uint64_t below = 0, first = 0;

    topology_assume(t, &topology_usual);
    for (uint32_t i = 0; i < t->n_nodes; i++)
        if (topology_find_node(t, t->node[i].name) != i || t->node[i].parent >= t->n_switches ||
            t->a_switch[t->node[i].parent].height != 0 || !(t->node[i].up.bytes_per_s > 0))
            abort();
    for (uint32_t i = 0; i < t->n_switches; i++) {
        const struct topology_switch *s = &t->a_switch[i];

        first += s->same == i;
        below += s->n_below + (s->same == i && s->parent == TOPOLOGY_NONE);
        if (topology_find_switch(t, s->name) != i || s->height >= TOPOLOGY_LEVELS_MAX ||
            t->a_switch[s->same].same != s->same || (s->n_below && s->same != i) || s->ways > s->up.cables ||
            (s->n_below && !(s->up.bytes_per_s > 0)) ||
            (s->parent != TOPOLOGY_NONE && t->a_switch[s->parent].height <= s->height))
            abort();
    }
    if (below != t->n_nodes + first)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { "" };
    const char *wanted = size % 2 ? "b" : NULL;
    struct topology *t =
        topology_yaml_parse("/nowhere/topology.yaml", (const char *)data, size, wanted, &err);

    if (!t && !err.text[0])
        abort(); /* a failure without a reason */
    if (t)
        check(t);
    topology_free(t);
    return 0;
}
