/* view_ranks.c - a view's ranks: which there are, where they run, what they are doing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "ring/ring.h"

struct view_ranks {
    struct view_rank *rank;
    size_t cap;
    uint32_t n; /* rank < n */
    struct rank_count count;
    struct names *places; /* nodes and switches: a name's number is the place that the diagnosis works with */
};

struct view_ranks *view_ranks_new(double now_s)
{
    struct view_ranks *s = xcalloc(1, sizeof(*s));

    s->places = names_new();
    s->count.added_s = now_s;
    return s;
}

void view_ranks_free(struct view_ranks *s)
{
    names_free(s->places);
    free(s->rank);
    free(s);
}

static void clear(struct view_ranks *s, uint32_t first)
{
    for (uint32_t r = first; r < s->n; r++)
        s->rank[r] = (struct view_rank){ .node = WORK_PLACE_NONE,
                                         .switch_id = WORK_PLACE_NONE,
                                         .live_at_s = -INFINITY,
                                         .process_at_s = -INFINITY };
}

void view_ranks_forget(struct view *v, uint16_t app)
{
    clear(v->ranks, 0);
    v->ranks->count.running = v->ranks->count.most = 0;
    v->ranks->count.app = app;
}

/* Not more than each rank could have of its own: the names come from outside. */
static uint32_t place_of(struct view_ranks *s, const char *name)
{
    if (!name || !*name)
        return WORK_PLACE_NONE;
    return names_count(s->places) < 2 * (size_t)s->n ? names_add(s->places, name, strlen(name))
                                                     : names_find(s->places, name, strlen(name));
}

uint32_t view_place_find(const struct view *v, const char *name)
{
    uint32_t place = names_find(v->ranks->places, name, strlen(name));

    return place < names_count(v->ranks->places) ? place : WORK_PLACE_NONE;
}

uint32_t view_places(const struct view *v)
{
    return names_count(v->ranks->places);
}

const char *view_place_name(const struct view *v, uint32_t place)
{
    return place < names_count(v->ranks->places) ? names_text(v->ranks->places, place) : "";
}

void view_ranks_add(struct view *v, uint32_t rank, const char *node, const char *switch_name)
{
    struct view_ranks *s = v->ranks;
    struct view_rank *k;

    if (rank >= s->n) {
        uint32_t first = s->n;

        s->rank = xgrow(s->rank, &s->cap, rank + 1, sizeof(*s->rank));
        s->n = rank + 1;
        clear(s, first);
    }
    k = &s->rank[rank];
    s->count.running += !k->known || k->ended;
    k->signals_known &= !k->ended; /* else it is another process */
    s->count.most = s->count.running > s->count.most ? s->count.running : s->count.most;
    k->known = true;
    k->ended = k->vanished = false;
    k->node = place_of(s, node);
    k->switch_id = place_of(s, switch_name);
    s->count.added_s = v->now_s;
}

static struct view_rank *find(struct view *v, uint32_t rank, uint16_t app)
{
    struct view_ranks *s = v->ranks;

    return app == s->count.app && rank < s->n && s->rank[rank].known ? &s->rank[rank] : NULL;
}

void view_rank_end(struct view *v, uint32_t rank, uint16_t app, bool vanished)
{
    struct view_rank *k = find(v, rank, app);

    if (!k || k->ended)
        return;
    view_steps_end_rank(v, rank);
    k->ended = true;
    k->vanished = vanished;
    k->inside_op = RING_OP_NONE;
    v->ranks->count.running--;
    view_comms_end_rank(v, rank);
    view_calls_end_rank(v, rank);
}

const struct view_rank *view_ranks_find(struct view *v, uint32_t rank, uint16_t app)
{
    const struct view_rank *k = find(v, rank, app);

    v->refused += !k;
    return k;
}

void view_ranks_take_sample(struct view *v, const struct sample *s)
{
    struct view_rank *k = &v->ranks->rank[s->rank];

    k->left_at_s = v->now_s;
    k->left_op = s->op;
    k->left_comm = s->comm;
    k->left_seq = s->seq + s->n - 1;
    k->inside_op = RING_OP_NONE; /* until now it may have been inside, by a live item */
}

void view_ranks_take_live(struct view *v, double now_s, const struct live *l)
{
    struct view_rank *k = find(v, l->rank, l->app);

    if (!k || (l->age_ns > TIME_MAX_NS && l->age_ns != LIVE_NEVER_LEFT) || l->op >= RING_OP_MAX) {
        v->refused++;
        return;
    }
    k->live_op = l->op;
    k->inside_op = l->op;
    k->inside_comm = l->comm;
    k->inside_ns = l->enter_ns;
    k->inside_seq = l->seq;
    k->never_left = l->age_ns == LIVE_NEVER_LEFT && l->op != RING_OP_NONE;
    k->inside_since_s = now_s - (k->never_left ? 0 : (double)l->age_ns * 1e-9);
    k->live_at_s = now_s;
    if (l->op != RING_OP_NONE)
        view_steps_take_seq(v, l->comm, l->seq);
}

void view_ranks_take_partner(struct view *v, const struct partner_item *p)
{
    struct view_rank *k = find(v, p->rank, p->app);
    bool several;

    if (!k || p->peer >= VIEW_RANKS_MAX || p->peer == p->rank) {
        v->refused++;
        return;
    }
    several = k->partner.enter_ns == p->enter_ns &&
              (k->partner.op != p->op || k->partner.peer != p->peer || k->partner.tag != p->tag);
    k->partner = *p;
    if (several) /* a record that ends in a wait for several messages */
        k->partner.op = RING_OP_NONE;
}

const struct partner_item *view_rank_partner(const struct view_rank *k)
{
    bool of_messages = k->inside_op == RING_OP_POINT_TO_POINT || k->inside_op == RING_OP_WAIT;

    return of_messages && k->partner.op != RING_OP_NONE && k->partner.enter_ns == k->inside_ns ? &k->partner : NULL;
}

void view_ranks_take_process(struct view *v, double now_s, const struct process_item *p)
{
    struct view_rank *k = find(v, p->rank, p->app);

    if (!k || p->age_ns > TIME_MAX_NS || p->state >= PROCESS_STATES) {
        v->refused++;
        return;
    }
    k->process = p->state;
    k->process_since_s = now_s - (double)p->age_ns * 1e-9;
    k->process_at_s = now_s;
}

enum process_state view_rank_process(const struct view_rank *k, double now_s)
{
    return k->known && !k->ended && k->process_at_s + HALT_VALID_S > now_s ? k->process : PROCESS_RUNS;
}

void view_ranks_take_counts(struct view *v, const struct counts *c)
{
    struct view_rank *k = find(v, c->rank, c->app);

    if (!k) {
        v->refused++;
        return;
    }
    if (c->events + c->dropped > k->events + k->dropped)
        v->active_s = v->now_s;
    k->events = c->events;
    k->dropped = c->dropped;
    k->missed = c->missed;
    view_calls_take_counts(v, c);
}

void view_ranks_take_losses(struct view *v, const struct losses_item *l)
{
    struct view_rank *k = find(v, l->rank, l->app);

    if (k)
        k->losses = *l;
    else
        v->refused++;
}

void view_ranks_take_signals(struct view *v, const struct signals_item *i)
{
    struct view_rank *k = find(v, i->rank, i->app);

    if (!k) {
        v->refused++;
        return;
    }
    k->signals_known = true;
    k->endured = i->endured;
}

bool view_rank_ended_by(const struct view *v, int signal, uint32_t *rank)
{
    for (uint32_t r = 0; r < v->ranks->n; r++) {
        const struct view_rank *k = &v->ranks->rank[r];

        if (k->known && !k->ended && k->signals_known && !(k->endured >> (signal - 1) & 1)) {
            *rank = r;
            return true;
        }
    }
    return false;
}

const struct view_rank *view_ranks_at(const struct view *v, uint32_t rank)
{
    return &v->ranks->rank[rank];
}

uint32_t view_rank_limit(const struct view *v)
{
    return v->ranks->n;
}

uint32_t view_ranks_running(const struct view *v)
{
    return v->ranks->count.running;
}

uint64_t view_rank_inside_ns(const struct view *v, uint32_t rank)
{
    return rank < v->ranks->n ? v->ranks->rank[rank].inside_ns : 0;
}

const struct rank_count *view_ranks_count(const struct view *v)
{
    return &v->ranks->count;
}
