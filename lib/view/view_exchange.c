/* view_exchange.c - what a view's job communicates, as calls/exchange.h names it. */
#include <stdlib.h>

#include "calls/exchange.h"
#include "common/xalloc.h"
#include "graph/graph.h"
#include "ring/ring.h"
#include "view/comms.h"
#include "view/view_private.h"

#define STEPS     8u /* newest ones whose calls are looked at ... */
#define STEPS_MIN 3u /* ... and at least so many */

/* Ranks from 0 on, all of which are known. */
static uint32_t all_ranks(const struct view *v)
{
    uint32_t n = roster_limit(v->roster);

    for (uint32_t r = 0; r < n; r++)
        if (!roster_at(v->roster, r)->known)
            return 0;
    return n;
}

/* Bytes of each kind of transfer in the newest steps, of all who take part; of messages once. */
static double *bytes_of_kinds(struct graph *g, uint32_t steps)
{
    double *bytes = xcalloc(graph_kinds(g) + 1, sizeof(*bytes));

    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_meeting *m =
                s.op[i].does & GRAPH_ARRIVES ? graph_meeting_get(g, s.op[i].meeting) : NULL;
            const struct graph_kind_info *k = m ? graph_kind_get(g, m->kind) : NULL;

            if (k && (!k->message || k->from == s.op[i].rank))
                bytes[m->kind] += k->bytes;
        }
    }
    return bytes;
}

static bool name_calls(const struct view *v, struct graph *g, char *name)
{
    uint32_t kinds = graph_kinds(g), steps = graph_steps(g);
    struct exchange e = { .ranks = all_ranks(v) };
    struct exchange_message *message;
    struct exchange_comm *comm;
    double *bytes;
    bool found, known = true;

    if (steps < STEPS_MIN)
        return false;
    bytes = bytes_of_kinds(g, steps < STEPS ? steps : STEPS);
    message = xcalloc(kinds + 1, sizeof(*message));
    comm = xcalloc(kinds + 1, sizeof(*comm));
    for (uint32_t k = 0; k < kinds; k++) {
        const struct graph_kind_info *i = graph_kind_get(g, k);

        if (!(bytes[k] > 0))
            continue;
        if (i->message) {
            known = known && i->from < e.ranks && i->to < e.ranks;
            message[e.n_messages++] = (struct exchange_message){ i->from, i->to, bytes[k] };
        } else {
            comm[e.n_comms] = communicators_shape(v->communicators, i->comm);
            comm[e.n_comms].sums = communicators_by_ring(i->op);
            comm[e.n_comms++].bytes = bytes[k];
        }
    }
    e.message = message;
    e.comm = comm;
    found = known && exchange_name(&e, name);
    free(message);
    free(comm);
    free(bytes);
    return found;
}

bool view_exchange_get(const struct view *v, char name[EXCHANGE_NAME_SIZE])
{
    struct graph *g = call_steps_graph(v->calls);
    struct exchange_comm comm[2];
    struct exchange e = { .comm = comm };

    *name = '\0';
    if (g)
        return name_calls(v, g, name);
    if (v->call_use.various)
        return false;
    /* Everything blocks, in one communicator. */
    e.ranks = all_ranks(v);
    e.n_comms = communicators_exchanged(v->communicators, v->call_use.comm, comm);
    return exchange_name(&e, name);
}
