/* view_doing.c - what a view's ranks do now, and since when none of them has come further. */
#include <math.h>

#include "ring/ring.h"
#include "view/view_stall_private.h"

bool view_stall_is_seen(const struct view_rank *k, double now_s)
{
    return k->never_left || k->live_at_s + LIVE_VALID_S > now_s;
}

bool view_stall_is_counted(const struct view_rank *k)
{
    return k->missed && !k->events;
}

enum stall_doing view_stall_doing(const struct view *v, const struct view_rank *k, double now_s)
{
    if (!k->known || k->ended || !view_stall_is_seen(k, now_s))
        return STALL_ELSEWHERE;
    if (k->inside_op == RING_OP_NONE)
        return k->live_op == RING_OP_NONE ? STALL_OUTSIDE : STALL_ELSEWHERE;
    return k->inside_op == RING_OP_POINT_TO_POINT ||
                   (k->inside_op == RING_OP_WAIT && !communicators_size(v->communicators, k->inside_comm))
               ? STALL_MESSAGE
               : STALL_COLLECTIVE;
}

bool view_stall_belongs(const struct view *v, uint64_t comm, uint32_t rank)
{
    return roster_at(v->roster, rank)->ended || communicators_member(v->communicators, comm, rank);
}

double view_stall_idle_since_s(const struct view *v)
{
    const struct step_count *steps = steps_count(v->steps);

    return steps->period ? fmax(steps->seen_s, steps->moved_s) : roster_count(v->roster)->active_s;
}
