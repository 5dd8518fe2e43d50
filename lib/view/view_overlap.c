/* view_overlap.c - what of a view's communication holds its ranks, by communicator: from the graph of its
 * calls or, where ranks only meet in one communicator and every call blocks, from the time spent in it. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "view/comms.h"
#include "view/view_private.h"

/* The row of communicators of this size; they are in order of size. */
static size_t row_of(const struct view_overlap *out, size_t n, uint32_t size)
{
    size_t row = 0;

    while (row < n && out->group[row].size != size)
        row++;
    return row;
}

static int by_size(const void *a, const void *b)
{
    const struct view_overlap_group *x = a, *y = b;

    return (x->size < y->size) - (x->size > y->size);
}

/* Communicators of one size are one group, as in view_comms_get(); messages are the last one. */
static size_t find_groups(const struct view *v, const struct graph *g, struct view_overlap *out,
                          uint32_t *group)
{
    bool messages = false;
    size_t n = 0;

    for (uint32_t k = 0; k < graph_kinds(g); k++) {
        const struct graph_kind_info *info = graph_kind_get(g, k);
        uint32_t size = info->message ? 0 : communicators_size(v->communicators, info->comm);

        messages = messages || info->message;
        if (size && n < OVERLAP_GROUPS_MAX - 1 && row_of(out, n, size) == n)
            out->group[n++] = (struct view_overlap_group){ info->comm, size,
                                                           communicators_of_size(v->communicators, size) };
    }
    qsort(out->group, n, sizeof(out->group[0]), by_size);
    for (uint32_t k = 0; k < graph_kinds(g); k++) {
        const struct graph_kind_info *info = graph_kind_get(g, k);
        size_t row = info->message ? n : row_of(out, n, communicators_size(v->communicators, info->comm));

        group[k] = info->message || row < n ? (uint32_t)row : OVERLAP_NONE;
    }
    if (messages)
        out->group[n] = (struct view_overlap_group){ 0 };
    return n + messages;
}

static const char *from_calls(const struct view *v, struct graph *g, struct view_overlap *out)
{
    uint32_t *group = xcalloc(graph_kinds(g) + 1, sizeof(*group));
    size_t n = find_groups(v, g, out, group);

    overlap_measure(&out->o, g, group, n);
    free(group);
    return out->o.steps ? NULL : "no whole step is seen yet";
}

/* Everything blocks, in one communicator: what its collectives take is exposed. */
static const char *from_shares(const struct view *v, double now_s, struct view_overlap *out)
{
    struct view_comm comm[1];
    struct overlap_group *o = &out->o.all;
    struct view_figures f;

    view_figures_get(v, now_s, &f);
    if (!f.period || isnan(f.step_mean_s) || isnan(f.communication_ratio))
        return "no steps are seen yet";
    if (!view_comms_get(v, now_s, comm, 1))
        return "no collectives are seen yet";
    out->group[0] = (struct view_overlap_group){ comm[0].name, comm[0].size, comm[0].instances };
    out->o = (struct overlap){ .step_s = f.step_mean_s, .n = 1 };
    *o = (struct overlap_group){ .ranks = comm[0].size,
                                 .calls = f.period,
                                 .waiting_s = f.synchronisation_ratio * f.step_mean_s,
                                 .exposed_s = f.communication_ratio * f.step_mean_s,
                                 .ready_s = NAN,
                                 .most_won_s = f.communication_ratio * f.step_mean_s,
                                 .buckets = { "none of its collectives is begun before it is awaited",
                                              NAN,
                                              NAN,
                                              NAN,
                                              NAN,
                                              { NAN, NAN, NAN } } };
    out->o.group[0] = *o;
    return NULL;
}

const char *view_overlap_get(const struct view *v, double now_s, struct view_overlap *out)
{
    struct graph *g = call_steps_graph(v->calls);

    *out = (struct view_overlap){ .calls = g != NULL };
    if (g)
        return from_calls(v, g, out);
    if (v->call_use.various)
        return "its messages and nonblocking calls are not seen one by one yet";
    return from_shares(v, now_s, out);
}
