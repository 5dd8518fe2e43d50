#include "sim/placement.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/random.h"

#define PURPOSE_SHUFFLE 0xff00

uint32_t placement_ranks_per_node(const struct scenario *s)
{
    int most = 1;

    for (size_t i = 0; i < s->n_jobs; i++)
        most = s->jobs[i].ranks_per_node > most ? s->jobs[i].ranks_per_node : most;
    return (uint32_t)most;
}

/* slot[rank]: the rank's place in the list of all places on the job's nodes. */
static void deal_ranks(uint32_t *slot, const struct scenario *s, size_t job)
{
    const struct scenario_job *j = &s->jobs[job];
    uint32_t n = (uint32_t)j->ranks, nodes = (uint32_t)scenario_job_nodes(j);
    struct random r = random_of((uint64_t)s->seed, (uint32_t)job, PURPOSE_SHUFFLE);

    for (uint32_t i = 0; i < n; i++)
        slot[i] =
            j->placement == PLACEMENT_ROUND_ROBIN ? i % nodes * (uint32_t)j->ranks_per_node + i / nodes : i;
    if (j->placement != PLACEMENT_SHUFFLED)
        return;
    for (uint32_t i = n; i > 1; i--) { /* Fisher-Yates */
        uint32_t k = (uint32_t)(random_uniform(&r, i, 0) * i), kept = slot[i - 1];

        slot[i - 1] = slot[k];
        slot[k] = kept;
    }
}

/* Counting sort of the ranks by node. */
static void group_ranks(struct placement *p)
{
    uint32_t *at = xcalloc(p->nodes + 1, sizeof(*at));

    for (uint32_t i = 0; i < p->ranks; i++)
        p->first[p->node[i] + 1]++;
    for (uint32_t n = 0; n < p->nodes; n++) {
        p->first[n + 1] += p->first[n];
        at[n] = p->first[n];
    }
    for (uint32_t i = 0; i < p->ranks; i++)
        p->by_node[at[p->node[i]]++] = i;
    free(at);
}

struct placement *placement_new(const struct scenario *s, size_t job)
{
    const struct scenario_job *j = &s->jobs[job];
    struct placement *p = xcalloc(1, sizeof(*p));
    uint32_t per_node = placement_ranks_per_node(s);

    p->ranks = (uint32_t)j->ranks;
    p->nodes = (uint32_t)scenario_job_nodes(j);
    p->switches = (uint32_t)scenario_switches(&s->fabric);
    p->node = xcalloc(p->ranks, sizeof(*p->node));
    p->fabric_node = xcalloc(p->ranks, sizeof(*p->fabric_node));
    p->switch_id = xcalloc(p->ranks, sizeof(*p->switch_id));
    p->fabric_rank = xcalloc(p->ranks, sizeof(*p->fabric_rank));
    p->first = xcalloc(p->nodes + 1, sizeof(*p->first));
    p->by_node = xcalloc(p->ranks, sizeof(*p->by_node));
    deal_ranks(p->node, s, job); /* slots at first */
    for (uint32_t i = 0; i < p->ranks; i++) {
        uint32_t slot = p->node[i], local = slot % (uint32_t)j->ranks_per_node;

        p->node[i] = slot / (uint32_t)j->ranks_per_node;
        p->fabric_node[i] = (uint32_t)scenario_job_node(j, (int)p->node[i]);
        p->switch_id[i] =
            s->fabric.kind == FABRIC_FLAT ? 0 : p->fabric_node[i] / (uint32_t)s->fabric.nodes_per_switch;
        p->fabric_rank[i] = p->fabric_node[i] * per_node + local;
    }
    group_ranks(p);
    return p;
}

void placement_free(struct placement *p)
{
    if (!p)
        return;
    free(p->node);
    free(p->fabric_node);
    free(p->switch_id);
    free(p->fabric_rank);
    free(p->first);
    free(p->by_node);
    free(p);
}
