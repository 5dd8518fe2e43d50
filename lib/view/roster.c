#include "view/roster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/xalloc.h"
#include "detect/work.h"
#include "ring/ring.h"
#include "view/view.h"

/* Estimates from above; tests/unit/view_bounds compares them with what is allocated. */
#define RANK_BYTES  2560.0
#define PLACE_BYTES 4096.0

/* items of processes that something keeps from running come every second, while it lasts */
#define HALT_VALID_S 3.5

struct roster {
    struct quota *quota;
    struct view_rank *rank;
    size_t cap;
    uint32_t n; /* rank < n */
    struct rank_count count;
    struct names *places; /* nodes and switches: a name's number is the place that the diagnosis works with */
};

struct roster *roster_new(struct quota *quota, double now_s)
{
    struct roster *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->places = names_new();
    s->count.added_s = now_s;
    s->count.active_s = INFINITY;
    return s;
}

void roster_free(struct roster *s)
{
    names_free(s->places);
    free(s->rank);
    free(s);
}

static void clear_ranks(struct roster *s, uint32_t first)
{
    for (uint32_t r = first; r < s->n; r++)
        s->rank[r] = (struct view_rank){ .node = WORK_PLACE_NONE,
                                         .switch_id = WORK_PLACE_NONE,
                                         .pid = -1,
                                         .live_at_s = -INFINITY,
                                         .last_at_s = -INFINITY,
                                         .process_at_s = -INFINITY };
}

void roster_forget(struct roster *s, uint16_t app)
{
    clear_ranks(s, 0);
    s->count.running = s->count.most = 0;
    s->count.app = app;
}

/* Not more than each rank could have of its own: the names come from outside. */
static uint32_t place_of(struct roster *s, const char *name)
{
    if (!name || !*name)
        return WORK_PLACE_NONE;
    return names_count(s->places) < 2 * (size_t)s->n ? names_add(s->places, name, strlen(name))
                                                     : names_find(s->places, name, strlen(name));
}

uint32_t roster_place_find(const struct roster *s, const char *name)
{
    uint32_t place = names_find(s->places, name, strlen(name));

    return place < names_count(s->places) ? place : WORK_PLACE_NONE;
}

const char *roster_place_name(const struct roster *s, uint32_t place)
{
    return place < names_count(s->places) ? names_text(s->places, place) : "";
}

/* xgrow() doubles the arrays of ranks. */
static double bytes_of(uint32_t limit)
{
    uint32_t cap = 8;

    while (cap < limit)
        cap *= 2;
    return limit ? RANK_BYTES * cap : 0;
}

double roster_more_bytes(const struct roster *s, uint32_t rank)
{
    return rank < s->n ? 0 : bytes_of(rank + 1) - bytes_of(s->n) + 2 * PLACE_BYTES;
}

void roster_add(struct roster *s, double now_s, uint32_t rank, const char *node, const char *switch_name)
{
    struct view_rank *k;

    if (rank >= s->n) {
        uint32_t first = s->n;

        s->rank = xgrow(s->rank, &s->cap, rank + 1, sizeof(*s->rank));
        s->n = rank + 1;
        clear_ranks(s, first);
    }
    k = &s->rank[rank];
    s->count.running += !k->known || k->ended;
    k->signals_known &= !k->ended; /* else it is another process */
    k->pid = k->ended ? -1 : k->pid;
    s->count.most = s->count.running > s->count.most ? s->count.running : s->count.most;
    k->known = true;
    k->ended = k->vanished = false;
    k->node = place_of(s, node);
    k->switch_id = place_of(s, switch_name);
    s->count.added_s = now_s;
    s->quota->held[QUOTA_RANKS] = bytes_of(s->n);
    s->quota->held[QUOTA_PLACES] = PLACE_BYTES * names_count(s->places);
}

static struct view_rank *find_rank(struct roster *s, uint32_t rank, uint16_t app)
{
    return app == s->count.app && rank < s->n && s->rank[rank].known ? &s->rank[rank] : NULL;
}

/* NULL: the rank is unknown; the item is counted as refused. */
static struct view_rank *rank_of(struct roster *s, uint32_t rank, uint16_t app)
{
    struct view_rank *k = find_rank(s, rank, app);

    s->quota->refused += !k;
    return k;
}

const struct view_rank *roster_find(struct roster *s, uint32_t rank, uint16_t app)
{
    return rank_of(s, rank, app);
}

void roster_process_set(struct roster *s, uint32_t rank, uint16_t app, int64_t pid)
{
    struct view_rank *k = find_rank(s, rank, app);

    if (k)
        k->pid = pid > 0 ? pid : -1;
}

bool roster_end(struct roster *s, uint32_t rank, uint16_t app, bool vanished)
{
    struct view_rank *k = find_rank(s, rank, app);

    if (!k || k->ended)
        return false;
    k->ended = true;
    k->vanished = vanished;
    k->inside_op = RING_OP_NONE;
    s->count.running--;
    return true;
}

void roster_take_sample(struct roster *s, double now_s, const struct sample *i)
{
    struct view_rank *k = &s->rank[i->rank];

    k->left_at_s = now_s;
    k->left_op = i->op;
    k->left_comm = i->comm;
    k->left_seq = i->seq + i->n - 1;
    k->inside_op = RING_OP_NONE; /* until now it may have been inside, by a live item */
}

bool roster_take_live(struct roster *s, double now_s, const struct live *i)
{
    struct view_rank *k = find_rank(s, i->rank, i->app);

    if (!k || (i->age_ns > QUOTA_TIME_MAX_NS && i->age_ns != LIVE_NEVER_LEFT) || i->op >= RING_OP_MAX) {
        s->quota->refused++;
        return false;
    }
    k->live_op = i->op;
    k->inside_op = i->op;
    k->inside_comm = i->comm;
    k->inside_ns = i->enter_ns;
    k->inside_bytes = i->bytes;
    k->inside_seq = i->seq;
    k->never_left = i->age_ns == LIVE_NEVER_LEFT && i->op != RING_OP_NONE;
    k->inside_since_s = now_s - (k->never_left ? 0 : (double)i->age_ns * 1e-9);
    k->live_at_s = now_s;
    return true;
}

void roster_take_partner(struct roster *s, const struct partner_item *i)
{
    struct view_rank *k = find_rank(s, i->rank, i->app);
    bool several;

    if (!k || i->peer >= VIEW_RANKS_MAX || i->peer == i->rank) {
        s->quota->refused++;
        return;
    }
    several = k->partner.enter_ns == i->enter_ns && k->partner.peer != i->peer;
    k->partner = *i;
    if (several) /* a record that ends in a wait for messages of several ranks */
        k->partner.op = RING_OP_NONE;
}

const struct partner_item *roster_partner(const struct view_rank *k)
{
    bool of_messages = k->inside_op == RING_OP_POINT_TO_POINT || k->inside_op == RING_OP_WAIT;

    return of_messages && k->partner.op != RING_OP_NONE && k->partner.enter_ns == k->inside_ns ? &k->partner
                                                                                               : NULL;
}

void roster_take_left(struct roster *s, double now_s, const struct left_item *i)
{
    struct view_rank *k = find_rank(s, i->rank, i->app);

    if (!k || i->age_ns > QUOTA_TIME_MAX_NS) {
        s->quota->refused++;
        return;
    }
    k->last = *i;
    k->last_at_s = now_s;
}

const struct left_item *roster_last(const struct view_rank *k)
{
    bool known = k->last.op != RING_OP_NONE && k->live_op == RING_OP_NONE;

    return known && k->last_at_s >= k->live_at_s ? &k->last : NULL;
}

void roster_take_process(struct roster *s, double now_s, const struct process_item *i)
{
    struct view_rank *k = find_rank(s, i->rank, i->app);

    if (!k || i->age_ns > QUOTA_TIME_MAX_NS || i->state >= PROCESS_STATES) {
        s->quota->refused++;
        return;
    }
    k->process = i->state;
    k->process_since_s = now_s - (double)i->age_ns * 1e-9;
    k->process_at_s = now_s;
}

enum process_state roster_process(const struct view_rank *k, double now_s)
{
    return k->known && !k->ended && k->process_at_s + HALT_VALID_S > now_s ? k->process : PROCESS_RUNS;
}

bool roster_take_counts(struct roster *s, double now_s, const struct counts *i)
{
    struct view_rank *k = rank_of(s, i->rank, i->app);

    if (!k)
        return false;
    if (i->events + i->dropped > k->events + k->dropped)
        s->count.active_s = now_s;
    k->events = i->events;
    k->dropped = i->dropped;
    k->missed = i->missed;
    return true;
}

void roster_record(struct roster *s, uint32_t rank, bool recorded, uint32_t queued)
{
    if (rank >= s->n)
        return;
    s->rank[rank].unrecorded = !recorded;
    s->rank[rank].queued = queued;
}

void roster_take_losses(struct roster *s, const struct losses_item *i)
{
    struct view_rank *k = rank_of(s, i->rank, i->app);

    if (k)
        k->losses = *i;
}

void roster_take_signals(struct roster *s, const struct signals_item *i)
{
    struct view_rank *k = rank_of(s, i->rank, i->app);

    if (!k)
        return;
    k->signals_known = true;
    k->endured = i->endured;
}

const struct view_rank *roster_at(const struct roster *s, uint32_t rank)
{
    return &s->rank[rank];
}

uint32_t roster_limit(const struct roster *s)
{
    return s->n;
}

const struct rank_count *roster_count(const struct roster *s)
{
    return &s->count;
}
