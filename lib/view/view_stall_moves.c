/* view_stall_moves.c - whether a rank of a hang has moved since the hang was described.
 *
 * Ranks report one after the other.  When a hang is over, the first one that goes on is seen to be elsewhere
 * while those that waited for it still seem to wait, by what they reported before: a text that is written
 * then mixes two moments. */
#include <stdlib.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "view/view_stall_private.h"

struct stall_mark {
    bool part;           /* it waits in a call, has been in none for long, or is named */
    bool halted, silent; /* its process cannot run; its node says nothing */
    uint64_t call;       /* hash of the call that it is in, or was in last */
};

static uint64_t call_of(const struct view_rank *k)
{
    uint64_t h = hash_mix(k->inside_comm) + k->inside_seq;

    h = hash_mix(h + k->inside_ns) + k->inside_op;
    if (k->inside_op != RING_OP_NONE) /* late samples of a call before say nothing of this one */
        return hash_mix(h);
    h = hash_mix(h + k->left_comm) + k->left_seq;
    h = hash_mix(h + k->last.comm) + k->last.seq;
    return hash_mix(h + ((uint64_t)k->left_op << 32) + ((uint64_t)k->last.op << 40));
}

static bool is_silent(const struct view *v, const struct view_rank *k)
{
    return !isinf(presence_silent_since_s(v->presence, k->node));
}

static bool is_still(const struct view *v, double now_s, double limit_s, const struct view_rank *k)
{
    return view_stall_doing(v, k, now_s) != STALL_ELSEWHERE && k->inside_since_s + limit_s <= now_s;
}

void stall_moves_note(struct stall_moves *m, const struct view *v, double now_s, const struct view_stall *s)
{
    uint32_t n = roster_limit(v->roster);
    double limit_s = view_stall_limit_s(v, now_s);

    if (n != m->n) {
        stall_moves_forget(m);
        m->mark = xcalloc(n + 1, sizeof(*m->mark));
        m->n = n;
    }
    m->moved_s = INFINITY;
    for (uint32_t r = 0; r < n; r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        m->mark[r] = (struct stall_mark){ .part = is_still(v, now_s, limit_s, k) || view_stall_names(s, v, r),
                                          .halted = roster_process(k, now_s) != PROCESS_RUNS,
                                          .silent = is_silent(v, k),
                                          .call = call_of(k) };
    }
}

/* What has ended does not go on; a process that stops, or a node that goes silent, tells more of the hang. */
static bool has_moved(const struct stall_mark *m, const struct view *v, double now_s,
                      const struct view_rank *k)
{
    return m->part && k->known && !k->ended &&
           (call_of(k) != m->call || (m->halted && roster_process(k, now_s) == PROCESS_RUNS) ||
            (m->silent && !is_silent(v, k)));
}

bool stall_moves_seen(struct stall_moves *m, const struct view *v, double now_s)
{
    for (uint32_t r = 0; r < m->n && r < roster_limit(v->roster) && isinf(m->moved_s); r++)
        if (has_moved(&m->mark[r], v, now_s, roster_at(v->roster, r)))
            m->moved_s = now_s;
    return !isinf(m->moved_s) && now_s < m->moved_s + LIVE_VALID_S;
}

void stall_moves_forget(struct stall_moves *m)
{
    free(m->mark);
    *m = (struct stall_moves){ .moved_s = INFINITY };
}
