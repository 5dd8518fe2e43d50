#include "topology/leaves.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/hostlist.h"

struct counting {
    const struct topology *t;
    uint32_t *nodes; /* of each switch */
    bool *seen;      /* each node */
};

static void count_node(struct counting *c, uint32_t node)
{
    if (!c->seen[node])
        c->nodes[c->t->node[node].parent]++;
    c->seen[node] = true;
}

static int count_name(void *arg, const char *name, struct err *err)
{
    struct counting *c = arg;
    uint32_t node = topology_find_node(c->t, name);

    if (node == TOPOLOGY_NONE)
        return err_set(err, "node %.80s is below no switch", name);
    count_node(c, node);
    return 0;
}

static int by_most(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

    return (one < two) - (one > two);
}

int leaves_count(const struct topology *t, const char *nodes, uint32_t wanted, struct leaves *l,
                 struct err *err)
{
    struct counting c = { t, calloc(t->n_switches, sizeof(*c.nodes)),
                          calloc(t->n_nodes + 1, sizeof(*c.seen)) };
    uint64_t sum = 0;
    int rc = -1;

    *l = (struct leaves){ 0, 0 };
    if (!c.nodes || !c.seen) {
        err_set(err, "out of memory");
        goto done;
    }
    for (uint32_t i = 0; !nodes && i < t->n_nodes; i++)
        count_node(&c, i);
    if (nodes && hostlist_each(nodes, TOPOLOGY_NODES_MAX, count_name, &c, err) < 0)
        goto done;
    qsort(c.nodes, t->n_switches, sizeof(*c.nodes), by_most);
    while (l->all < t->n_switches && c.nodes[l->all] > 0) {
        if (sum < wanted)
            l->fewest++;
        sum += c.nodes[l->all++];
    }
    rc =
        sum < wanted ? err_set(err, "the job asks for %u nodes, and there are %u", wanted, (unsigned)sum) : 0;
done:
    free(c.nodes);
    free(c.seen);
    return rc;
}
