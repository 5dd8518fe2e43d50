#include "calls/hot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/pieces.h"
#include "common/xalloc.h"
#include "model/statistics.h"

/* members of a group whose pieces are compared: of fewer none stands out from a median */
#define MEMBERS_MIN 4u
/* Over the median of its group, at the least, and in standard deviations of the others: of eight with normal
 * noise one is above by chance in some 30 collectives, as their deviation is known poorly, which is far less
 * than HOT_SHARE. */
#define HOT_MIN 0.15
#define HOT_Z   5.0
/* Of a group's members, at most: with more of them their median is no longer that of the others. */
#define HOT_MEMBERS 0.34
/* Of the groups' collectives in a step that have a hot piece.  Chosen: experts are a good half of a model's
 * work; a rank that is delayed has one, and many ranks would have to be in each step. */
#define HOT_SHARE 0.2
/* Steps in a row, of which single ones may be without. Chosen: delays that are rare are not in each of them,
 * and a rank that is slow is named long before. */
#define HOT_STEPS 16u
#define MISSED    2u
#define LET_GO    6u /* after as many without, as links.c */
/* Of the collectives with a hot piece that whoever has one is in, its own, as a mean over hot pieces.  It is
 * 1 of ranks that are slow and of seats (roles.h), and a third of three that take turns.  Let go above the
 * other. */
#define OWN_MAX   0.4
#define OWN_LIMIT 0.6
#define MEMORY    0.99f /* from step to step: these shares are a mean over some hundred */
/* of a collective in the excess and the share of hot pieces; chosen: a step of a model with experts has some
 * tens of them */
#define EXCESS_GAIN 0.02
#define SHARE_GAIN  0.05
/* Numbers of meetings that n operations may be apart: others may come in between. */
#define MEETINGS_MAX(n) (16 * (n) + 1024)

static void free_room(struct hot_room *room)
{
    free(room->end);
    free(room->op);
    free(room->scratch);
    free(room->is_hot);
}

void hot_reset(struct hot *h)
{
    free(h->rank);
    free_room(&h->room);
    memset(h, 0, sizeof(*h));
}

/* The pieces of one step by the collective that they come before; what it points to is lent by a room. */
struct by_meeting {
    const bool *held; /* by rank: not compared */
    float longest_s;
    uint32_t first, slots; /* numbers of meetings */
    uint32_t *end;         /* of each, in op */
    const struct graph_op **op;
    uint32_t ranks;
    float *scratch; /* ranks, as is_hot */
    bool *is_hot;
};

static bool shows(const struct by_meeting *b, const struct graph_op *op)
{
    return pieces_shows(op, b->longest_s) && op->does & GRAPH_ARRIVES && !b->held[op->rank];
}

static bool sort_pieces(struct by_meeting *b, struct hot_room *room, const struct graph_step *s,
                        const bool *held)
{
    uint32_t last = 0, begin = 0;

    *b = (struct by_meeting){ .held = held, .first = UINT32_MAX };
    for (size_t i = 0; i < s->n; i++) {
        b->longest_s = fmaxf(b->longest_s, s->op[i].usual_s);
        b->ranks = s->op[i].rank >= b->ranks ? s->op[i].rank + 1 : b->ranks;
    }
    for (size_t i = 0; i < s->n; i++)
        if (shows(b, &s->op[i])) {
            b->first = s->op[i].meeting < b->first ? s->op[i].meeting : b->first;
            last = s->op[i].meeting > last ? s->op[i].meeting : last;
        }
    if (b->first == UINT32_MAX || last - b->first >= MEETINGS_MAX(s->n))
        return false;
    b->slots = last - b->first + 1;
    b->end = room->end = xgrow(room->end, &room->ends_cap, b->slots, sizeof(*b->end));
    b->op = room->op = xgrow(room->op, &room->ops_cap, s->n, sizeof(*b->op));
    b->scratch = room->scratch = xgrow(room->scratch, &room->scratch_cap, b->ranks, sizeof(*b->scratch));
    b->is_hot = room->is_hot = xgrow(room->is_hot, &room->is_hot_cap, b->ranks, sizeof(*b->is_hot));
    memset(b->end, 0, b->slots * sizeof(*b->end));
    for (size_t i = 0; i < s->n; i++)
        if (shows(b, &s->op[i]))
            b->end[s->op[i].meeting - b->first]++;
    for (uint32_t m = 0; m < b->slots; m++) {
        uint32_t n = b->end[m];

        b->end[m] = begin; /* it moves as the pieces come */
        begin += n;
    }
    for (size_t i = 0; i < s->n; i++)
        if (shows(b, &s->op[i]))
            b->op[b->end[s->op[i].meeting - b->first]++] = &s->op[i];
    return true;
}

/* Pieces of a group before one of its collectives. */
struct group_pieces {
    const struct graph_op **op;
    uint32_t n, hot;
    const bool *is_hot;
    float limit_s;                  /* hot ones are longer */
    double mean_s, hot_s, others_s; /* mean of all, of the hot ones, of the others */
};

/* Which of them are hot: longer than their median by more than `over`; 0: than all noise is.  false: they are
 * those of no group. */
static bool find_hot(const struct by_meeting *b, uint32_t m, double over, struct group_pieces *k)
{
    uint32_t begin = m ? b->end[m - 1] : 0;
    double hot_s = 0, others_s = 0;
    float middle_s;

    *k = (struct group_pieces){ .op = b->op + begin, .n = b->end[m] - begin, .is_hot = b->is_hot };
    if (k->n < MEMBERS_MIN || 2 * k->n > b->ranks)
        return false;
    for (uint32_t i = 0; i < k->n; i++)
        b->scratch[i] = k->op[i]->work_s;
    middle_s = statistics_medianf(b->scratch, k->n);
    if (!(middle_s > 0))
        return true;
    for (uint32_t i = 0; i < k->n; i++)
        b->scratch[i] = fabsf(k->op[i]->work_s / middle_s - 1);
    if (!(over > 0))
        over = fmax(HOT_MIN, HOT_Z * STATISTICS_MAD_TO_SD * statistics_medianf(b->scratch, k->n));
    k->limit_s = middle_s * (float)(1 + over);
    for (uint32_t i = 0; i < k->n; i++) {
        b->is_hot[i] = k->op[i]->work_s > k->limit_s;
        k->hot += b->is_hot[i];
        *(b->is_hot[i] ? &hot_s : &others_s) += k->op[i]->work_s;
    }
    if (!k->hot || k->hot > HOT_MEMBERS * k->n) {
        k->hot = 0;
        return true;
    }
    k->mean_s = (hot_s + others_s) / k->n;
    k->hot_s = hot_s / k->hot;
    k->others_s = others_s / (k->n - k->hot);
    return true;
}

static void note_hot(struct hot *h, const struct group_pieces *k)
{
    double excess = k->hot_s / k->others_s - 1, share = k->hot / (double)k->n;

    for (uint32_t i = 0; i < k->n; i++) {
        h->rank[k->op[i]->rank].met++;
        h->rank[k->op[i]->rank].hot += k->is_hot[i];
    }
    if (!(h->share > 0)) {
        h->excess = excess;
        h->share = share;
        return;
    }
    h->excess *= excess > h->excess ? 1 + EXCESS_GAIN : 1 / (1 + EXCESS_GAIN); /* a running median */
    h->share += SHARE_GAIN * (share - h->share);
}

/* Do the groups' collectives have hot pieces in this step?  They are noted. */
static bool look_at(struct hot *h, const struct graph_step *s, const bool *held)
{
    struct group_pieces k;
    struct by_meeting b;
    uint32_t met = 0, with = 0;

    if (!sort_pieces(&b, &h->room, s, held))
        return false;
    h->rank = xgrow(h->rank, &h->cap, b.ranks, sizeof(*h->rank));
    h->n = b.ranks > h->n ? b.ranks : h->n;
    for (uint32_t m = 0; m < b.slots; m++) {
        met += find_hot(&b, m, 0, &k);
        with += k.hot > 0;
        if (k.hot)
            note_hot(h, &k);
    }
    return with && with >= HOT_SHARE * met;
}

/* Of whoever has a hot piece, how many of those of its groups are its own?  Older ones count less from now
 * on. */
static double own_share(struct hot *h)
{
    double own = 0, hot = 0;

    for (uint32_t r = 0; r < h->n; r++) {
        struct hot_rank *k = &h->rank[r];

        hot += k->hot;
        own += k->met > 0 ? k->hot * k->hot / k->met : 0;
        k->met *= MEMORY;
        k->hot *= MEMORY;
    }
    return hot > 0 ? own / hot : 1;
}

void hot_step(struct hot *h, const struct graph_step *s, const bool *held)
{
    double own;

    if (look_at(h, s, held)) {
        if (!h->since++)
            h->from = s->number;
        h->missed = 0;
    } else if (++h->missed >= (h->standing ? LET_GO : MISSED)) {
        h->since = 0;
        h->standing = false;
        h->excess = h->share = 0;
        for (uint32_t r = 0; r < h->n; r++)
            h->rank[r] = (struct hot_rank){ 0 };
    }
    if (!h->since)
        return;
    own = own_share(h);
    if (h->since >= HOT_STEPS)
        h->standing = own <= (h->standing ? OWN_LIMIT : OWN_MAX);
}

/* ---- without them ---- */

struct hot_even {
    const bool *held;
    uint32_t first, n; /* numbers of meetings */
    uint64_t ops;      /* of the steps that were taken */
    struct even_group {
        float mean_s;  /* NaN: no piece is hot */
        float limit_s; /* hot pieces are longer */
        float more;    /* what the others take, over what they did */
    } * group;
    size_t cap;
    struct hot_room room;
};

struct hot_even *hot_even_new(void)
{
    return xcalloc(1, sizeof(struct hot_even));
}

void hot_even_free(struct hot_even *e)
{
    if (!e)
        return;
    free(e->group);
    free_room(&e->room);
    free(e);
}

static void take_step(struct hot_even *e, const struct graph_step *s, double over)
{
    struct group_pieces k;
    struct by_meeting b;
    uint32_t before = e->n;

    e->ops += s->n;
    if (!sort_pieces(&b, &e->room, s, e->held))
        return;
    if (!before)
        e->first = b.first;
    /* A meeting keeps the number that it had when its first member came: it may be from before. */
    if (b.first >= e->first && b.first - e->first + b.slots <= MEETINGS_MAX(e->ops)) {
        e->n = b.first - e->first + b.slots > before ? b.first - e->first + b.slots : before;
        e->group = xgrow(e->group, &e->cap, e->n, sizeof(*e->group));
        for (uint32_t m = before; m < e->n; m++)
            e->group[m].mean_s = NAN;
        for (uint32_t m = 0; m < b.slots; m++) {
            find_hot(&b, m, over, &k);
            if (!k.hot)
                continue;
            e->group[b.first - e->first + m] =
                (struct even_group){ (float)k.mean_s, (float)k.limit_s, (float)(k.mean_s / k.others_s) };
        }
    }
}

void hot_even_take(struct hot_even *e, const struct graph *g, uint32_t steps, double excess, const bool *held)
{
    e->held = held;
    e->ops = e->n = 0;
    for (uint32_t back = steps < graph_steps(g) ? steps : graph_steps(g); back-- > 0;) {
        struct graph_step s = graph_step_get(g, back);

        take_step(e, &s, excess / 2);
    }
}

double hot_even_s(const struct hot_even *e, const struct graph_op *op)
{
    const struct even_group *k;

    if (op->meeting - e->first >= e->n || !(op->does & GRAPH_ARRIVES) || e->held[op->rank])
        return NAN;
    k = &e->group[op->meeting - e->first];
    return isnan(k->mean_s) ? NAN : op->work_s > k->limit_s ? k->mean_s : op->work_s * k->more;
}
