/* Exact mode for one collective that has the network to itself. */
#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

struct alone {
    struct network_collective *collective;
    const double *arrive_s;
    double *leave_s;
    double origin_s;
    uint8_t *asked; /* how often each member was asked */
};

static void alone_next(void *arg, uint32_t rank, double now_s, struct network_op *op)
{
    struct alone *a = arg;

    switch (a->asked[rank]++) {
    case 0:
        *op = (struct network_op){ .kind = NETWORK_COMPUTE, .seconds = a->arrive_s[rank] - a->origin_s };
        return;
    case 1:
        *op = (struct network_op){ .kind = NETWORK_ENTER, .collective = a->collective, .member = rank };
        return;
    default:
        a->leave_s[rank] = a->origin_s + now_s;
        *op = (struct network_op){ .kind = NETWORK_END };
    }
}

void network_run_exact(struct network_collective *c, const double *arrive_s, double *leave_s,
                       struct network_count *count)
{
    uint32_t members = c->schedule.spec.members;
    struct alone a = { c, arrive_s, leave_s, INFINITY, xcalloc(members, 1) };
    struct network_job job = { members, alone_next, &a };

    for (uint32_t i = 0; i < members; i++)
        a.origin_s = fmin(a.origin_s, arrive_s[i]);
    network_play(c->network, &job, 1, count);
    free(a.asked);
}
