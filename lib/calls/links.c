#include "calls/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "model/interval.h"
#include "model/statistics.h"
#include "ring/ring.h"

/* What labelled episodes say when one of these is halved or doubled: doc/constants.md. */

/* Transfers of a kind that show what is usual, from more steps than LEARN_STEPS. Chosen: the median of fewer
 * would be that of a few slow ones, and those of one step have its noise in common. */
#define LEARN_TRANSFERS 6u
#define LEARN_STEPS     3u
/* Steps whose medians are what is usual: the error of such a median is 1.25 / sqrt(16), a third of a step's
 * noise. */
#define USUAL_STEPS 16u
/* Transfers in a step that count as independent, at the most. Chosen: those of a step have its noise in
 * common, so that a kind with hundreds a step would pass every limit. */
#define STEP_SAMPLES 4.0
/* steps that a mean stands on which moves by 0.1 of each: 2 / 0.1 - 1 */
#define RECENT_MEAN 19u
/* steps between two looks at how uncertain the excess is; chosen: a look goes through RECENT_MEAN steps */
#define DOUBT_STEPS 8u
/* of a new step in what is now; chosen: a mean over four steps (2 / gain - 1), the fewest that two steps in a
 * row can show */
#define NOW_GAIN 0.4
/* of a step in what is usual; chosen: a larger one makes a fault usual before it is named */
#define USUAL_GAIN_LINK 0.02
/* Standard errors of the excess of a place: PLACES_LIMIT_Z, as many places are looked at in each step here,
 * too. Where "chosen" is said from here on, the values in brackets were tried on the labelled traces of
 * tests/analysis (22 programs, 48 episodes). Chosen (4, 9): judged alike. */
#define LINK_Z 6.0
/* Log of the excess, at the least: 15 %, as SLOW_MIN of detect/transfer.c. Chosen (0.05, 0.4): judged alike.
 */
#define EXCESS_LOG_MIN 0.14
#define LINK_CONFIRM   2u /* steps in a row above the limit: one may be chance */
/* Of the excess that it was named with, as LET_GO_SHARE of detect/straggler.c, for LET_GO_N steps in a row:
 * fewer would let go of a link that is slow in most steps. */
#define EXCESS_LEFT 0.35
#define LET_GO_N    6u
/* of the log; as TRANSFER_SIGMA_MIN of detect/transfer.c */
#define LOG_SIGMA_MIN 0.02
/* Changes from step to step that a mean of them stands on, and at the least: half of them. Each is clipped at
 * NOISE_CLIP_Z standard deviations (normal noise is beyond in 3 steps of 1000, a new level always), and their
 * root is multiplied by WANDERS: levels wander over many steps, which no change from step to step shows. */
#define CHANGE_STEPS 16u
#define CHANGES_MIN  8u
#define NOISE_CLIP_Z 3.0
#define WANDERS      1.5
/* Steps before the first slow one that show how much transfers vary from step to step; of fewer than
 * PAST_STEPS_MIN the median deviation is mostly chance, and the place is named without. */
#define PAST           48u
#define PAST_STEPS_MIN 8u
/* Standard deviations of that by which slow steps are unlike those before: one step in 700 is by chance. Of
 * many slow steps less, but ALIKE of them count as one, because steps that follow each other are alike. */
#define UNLIKE 3.0
#define ALIKE  8.0
/* PAST, and as many slow ones as a price stands on (64, DIAGNOSIS_RECENT) */
#define RECENT_STEPS 112u
/* Steps that show how slow it is now: as many as NOW_GAIN is a mean over. Of that the mean of all slow ones
 * must have ONSET_HEIGHT: more than the half that a step in the middle of the rise has. */
#define ONSET_NEWEST_STEPS 4u
#define ONSET_HEIGHT       0.6
/* of a kind whose transfers nobody waited for: of a bound, no noise is known. Chosen: five times
 * LOG_SIGMA_MIN. */
#define MOST_SIGMA 0.1
/* Of a step: what a transfer varies by less than that shows nothing. A twentieth of the least slowdown that
 * is reported by default (MinSlowdown), so that it takes twenty such transfers a step to cost as much. */
#define FLOOR      1e-3
#define STEP_MIN_S 1e-6 /* a shorter step is taken for this: clocks are no better */
/* Times what the named place explains: another one is named. Chosen (1.2, 4): judged alike; a smaller one
 * lets places take turns. It must explain as much for MOVE steps in a row, as OTHER_STEPS of
 * detect/straggler.c. */
#define CLEARLY 2.0
#define MOVE    4u
/* Of the excess of a part: the rest of the place is slow, too. Halfway between a rest that is fast and one
 * that is as slow, as PART_SHARE of detect/straggler.c. */
#define REST 0.5
/* Standard errors that the excess of other communicators is below REST of a communicator's: one in 700 is by
 * chance, after those of LINK_Z and LINK_CONFIRM. */
#define PEERS_Z 3.0
/* Of what a place explains: a part explains as much. Short of 1, because the other messages of the place add
 * their noise to what it explains. */
#define SAME_EXPLAINED 0.9

struct kind_level {
    uint32_t n, steps;   /* taken */
    float usual, square; /* of the log of the transfer: mean and mean square about it */
    /* that of the last step, less the usual; half the mean square of its changes from step to step */
    float last, change;
    float now, weight; /* the same over the newest steps, less the usual; how many transfers it stands on */
    /* of what the log of its transfers changes by, that remains with the floor: what it shows of an excess */
    float share;
    float excess; /* log of what its transfers take now over what is usual */
    float max;    /* log: its upper bound until it is known, the median of max_steps steps' shortest */
    uint8_t max_steps;
    uint8_t changes;          /* how many `change` stands on, up to CHANGE_STEPS */
    bool past;                /* it was learnt before the steps that look slow now */
    bool seen;                /* the step at hand has a transfer that is known */
    float first[USUAL_STEPS]; /* the log of the transfer in the first steps, or of these bounds */
    uint32_t comm, peers;     /* of a collective: places in l->comm and l->peers, and 1; 0: none */
    float max_in_step;        /* of the step at hand, and the others */
    float max_mean;
    double sum;
    uint32_t in_step, max_n;
};

struct candidate_place { /* a candidate */
    uint32_t node[2], nodes;
    bool of_comm; /* it is the communicator comm */
    bool pairs;   /* some of the kinds are between two nodes */
    uint64_t comm;
    struct excess_sums {
        double sum, weight; /* over kinds */
        double excess;      /* the sum of their excesses, each with its weight */
    } fit, all, messages;   /* of the kinds that show it; of all that reach it; of those between two nodes */
};

struct links {
    struct kind_level *kind;
    size_t cap;
    struct candidate_place *place;
    size_t n_places, places_cap;
    struct map places;            /* by place_key() */
    struct candidate_place *comm; /* communicators */
    struct excess_sums *others;   /* of each: of others' that do the same between the same nodes */
    struct excess_sums *peers;    /* of the collectives that do the same between the same nodes */
    size_t n_comms, comms_cap, others_cap, n_peers, peers_cap;
    struct map comms, same; /* by communicator; by what collectives do and between which nodes */
    uint32_t *reached;      /* by node: the kind that reached it last, and 1 */
    size_t reached_cap;
    struct candidate_place collectives; /* those of more than two nodes */
    struct links_slow slow;
    uint32_t above, below, elsewhere, kinds;
    uint32_t rose; /* steps in a row in which it was far slower than when it was named ... */
    /* ... soon after some that were fast: slow ones until these are too long ago */
    uint32_t lapsed;
    double named;
    bool by_pairs;  /* it was named by kinds between two nodes */
    double step_s;  /* what a step usually takes */
    double floor_s; /* added to each transfer */
    uint32_t steps;
};

struct links *links_new(void)
{
    return xcalloc(1, sizeof(struct links));
}

void links_reset(struct links *l)
{
    free(l->kind);
    free(l->place);
    free(l->reached);
    free(l->comm);
    free(l->others);
    free(l->peers);
    map_free(&l->places);
    map_free(&l->comms);
    map_free(&l->same);
    memset(l, 0, sizeof(*l));
}

void links_free(struct links *l)
{
    if (!l)
        return;
    links_reset(l);
    free(l);
}

bool links_has(const struct links_slow *s, const struct graph_kind_info *k)
{
    uint32_t found = 0;

    if (k->nodes < 2 || (s->collectives && k->nodes == 2))
        return false;
    if (s->of_comm)
        return !k->message && k->comm == s->comm;
    for (uint32_t i = 0; i < k->nodes && found < s->nodes; i++)
        found += k->node[i] == s->node[0] || (s->nodes == 2 && k->node[i] == s->node[1]);
    return found == s->nodes;
}

bool links_same_place(const struct links_slow *a, const struct links_slow *b)
{
    return a->collectives == b->collectives && a->of_comm == b->of_comm && a->comm == b->comm &&
           a->nodes == b->nodes && a->node[0] == b->node[0] && a->node[1] == b->node[1];
}

static struct links_slow place_of(const struct links *l, const struct candidate_place *p)
{
    return (struct links_slow){ .nodes = p->nodes,
                                .node = { p->node[0], p->node[1] },
                                .of_comm = p->of_comm,
                                .comm = p->comm,
                                .collectives = p == &l->collectives };
}

/* ---- what each kind takes ---- */

/* The log of a transfer, with the floor; and of one without it. */
static double with_floor(const struct links *l, double log_s)
{
    return log(exp(log_s) + l->floor_s);
}

static double without_floor(const struct links *l, double log_s)
{
    return log(fmax(exp(log_s) - l->floor_s, 1e-3 * l->floor_s));
}

static void gather_transfers(struct links *l, const struct graph *g, const struct graph_step *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct graph_meeting *m;
        struct kind_level *k;

        if (!s->op[i].first)
            continue;
        m = graph_meeting_get(g, s->op[i].meeting);
        k = &l->kind[m->kind];
        if (m->transfer_s > 0) {
            k->sum += log(m->transfer_s + l->floor_s);
            k->in_step++;
        } else if (m->max_s > 0) {
            float max = (float)log(m->max_s);

            k->max_in_step = k->max_n++ ? fminf(k->max_in_step, max) : max;
            k->max_mean += ((float)log(m->max_s + l->floor_s) - k->max_mean) / (float)k->max_n;
        }
    }
}

static double sigma_of(const struct kind_level *k)
{
    return fmax(LOG_SIGMA_MIN, sqrt(k->square));
}

/* Against which what its transfers take now stands out.  The first steps of a program may be unlike those
 * that come, and are remembered for long: of a kind that keeps its level since, the changes from step to step
 * show how much it varies. */
static double noise_of(const struct kind_level *k)
{
    double sigma = sigma_of(k);

    return k->changes < CHANGES_MIN ? sigma : fmax(LOG_SIGMA_MIN, fmin(sigma, WANDERS * sqrt(k->change)));
}

/* A change that is far more than usual, such as that to another level, counts as little more. */
static void follow_change(struct kind_level *k, double off)
{
    double square = (off - k->last) * (off - k->last) / 2;

    if (k->steps) {
        if (k->changes >= CHANGES_MIN)
            square = fmin(square, NOISE_CLIP_Z * NOISE_CLIP_Z * k->change);
        k->changes += k->changes < CHANGE_STEPS;
        k->change += (float)((square - k->change) / k->changes);
    }
    k->last = (float)off;
}

/* A step in which nobody waited for such a transfer, and none was waited for before. */
static void follow_max(struct kind_level *k)
{
    float v[USUAL_STEPS];

    if (k->n || k->max_steps == USUAL_STEPS)
        return;
    k->first[k->max_steps++] = k->max_in_step;
    memcpy(v, k->first, sizeof(v));
    k->max = statistics_medianf(v, k->max_steps);
}

static void set_excess(const struct links *l, struct kind_level *k)
{
    k->excess = (float)(without_floor(l, with_floor(l, k->usual) + k->now) - k->usual);
}

/* A step in which nobody waited for such a transfer: they were no longer than their bounds.  Only the longest
 * ones of a kind that most often is there before it is waited for are known, and they must not stand for the
 * others. */
static void follow_bounds(const struct links *l, struct kind_level *k)
{
    double off = k->max_mean - with_floor(l, k->usual);

    if (!k->n || !(off < k->now))
        return;
    k->now += (float)(NOW_GAIN * (off - k->now));
    set_excess(l, k);
}

static void follow_kind(const struct links *l, struct kind_level *k, bool held)
{
    double y = k->sum / k->in_step, x = without_floor(l, y), n = k->in_step, off;

    if (!k->n && k->max_steps > LEARN_STEPS && x > k->max) { /* it has become longer than it was */
        k->usual = k->max;
        k->square = MOST_SIGMA * MOST_SIGMA;
        k->n = LEARN_TRANSFERS;
        k->steps = USUAL_STEPS;
    }

    if (k->steps < USUAL_STEPS && !held) { /* medians of what came so far */
        float v[USUAL_STEPS];

        k->first[k->steps] = (float)x;
        memcpy(v, k->first, sizeof(v));
        k->usual = statistics_medianf(v, k->steps + 1);
        for (uint32_t i = 0; i <= k->steps; i++)
            v[i] = (float)fabs(with_floor(l, k->first[i]) - with_floor(l, k->usual));
        k->square = statistics_medianf(v, k->steps + 1) * STATISTICS_MAD_TO_SD;
        k->square *= k->square;
    }
    off = y - with_floor(l, k->usual);
    k->now += (float)(NOW_GAIN * (off - k->now));
    follow_change(k, off);
    if (k->steps >= USUAL_STEPS && !held && fabs(off) < 4 * sigma_of(k)) {
        double step = fmax(-1, fmin(1, off / (3 * sigma_of(k))));

        k->usual = (float)without_floor(l, with_floor(l, k->usual) + USUAL_GAIN_LINK * step * sigma_of(k));
        k->square += (float)(USUAL_GAIN_LINK * (off * off - k->square));
    }
    k->weight = (float)(k->weight + NOW_GAIN * (fmin(n, STEP_SAMPLES) - k->weight));
    k->share = (float)(1 / (1 + l->floor_s / exp(k->usual)));
    set_excess(l, k);
    if (k->steps >= USUAL_STEPS || !held) { /* one that is still learnt goes on when it is not held */
        k->n += k->in_step;
        k->steps++;
    }
    k->sum = 0;
    k->in_step = 0;
}

static bool is_learnt(const struct kind_level *k)
{
    return k->n >= LEARN_TRANSFERS && k->steps > LEARN_STEPS;
}

/* ---- what explains it ---- */

static uint64_t place_key(uint32_t nodes, uint32_t a, uint32_t b)
{
    return hash_mix((uint64_t)a << 32 | b) + nodes;
}

static void place_add(struct links *l, uint32_t nodes, uint32_t a, uint32_t b)
{
    if (map_get(&l->places, place_key(nodes, a, b)) != MAP_NONE)
        return;
    map_put(&l->places, place_key(nodes, a, b), (uint32_t)l->n_places);
    l->place = xgrow(l->place, &l->places_cap, l->n_places + 1, sizeof(*l->place));
    l->place[l->n_places++] = (struct candidate_place){ .nodes = nodes, .node = { a, b } };
}

static uint32_t number_of(struct map *m, uint64_t key, size_t next)
{
    if (map_get(m, key) == MAP_NONE)
        map_put(m, key, (uint32_t)next);
    return map_get(m, key);
}

/* Do all calls of it that have about the same size send about the same?  What others do may follow from the
 * data, in one communicator and not in another. */
static bool is_even(uint8_t op)
{
    return op == RING_OP_BARRIER || op == RING_OP_ALLGATHER || op == RING_OP_REDUCE ||
           op == RING_OP_ALLREDUCE || op == RING_OP_REDUCE_SCATTER || op == RING_OP_REDUCE_SCATTER_BLOCK;
}

/* The communicator of a kind, and what the kind is compared with. */
static void make_comm(struct links *l, struct kind_level *k, const struct graph_kind_info *info)
{
    uint64_t words[2] = { (uint64_t)info->op << 32 | info->size, info->nodes }, key;

    if (info->message || !is_even(info->op))
        return;
    key = hash_bytes(hash_bytes(HASH_START, words, sizeof(words)), info->node,
                     info->nodes * sizeof(info->node[0]));
    k->comm = number_of(&l->comms, info->comm, l->n_comms) + 1;
    if (k->comm > l->n_comms) {
        l->comm = xgrow(l->comm, &l->comms_cap, l->n_comms + 1, sizeof(*l->comm));
        l->others = xgrow(l->others, &l->others_cap, l->n_comms + 1, sizeof(*l->others));
        l->comm[l->n_comms++] = (struct candidate_place){ .of_comm = true, .comm = info->comm };
    }
    k->peers = number_of(&l->same, key, l->n_peers) + 1;
    if (k->peers > l->n_peers) {
        l->peers = xgrow(l->peers, &l->peers_cap, l->n_peers + 1, sizeof(*l->peers));
        l->n_peers++;
    }
}

/* All places that a transfer between nodes has been seen through: everything, each node, each pair that
 * exchanges messages, each communicator. */
static void make_places(struct links *l, const struct graph *g)
{
    if (l->kinds == graph_kinds(g))
        return;
    for (uint32_t i = l->kinds; i < graph_kinds(g); i++) {
        const struct graph_kind_info *k = graph_kind_get(g, i);

        if (k->nodes < 2)
            continue;
        place_add(l, 0, 0, 0);
        for (uint32_t n = 0; n < k->nodes; n++)
            place_add(l, 1, k->node[n], 0);
        if (k->nodes == 2)
            place_add(l, 2, k->node[0], k->node[1]);
        make_comm(l, &l->kind[i], k);
    }
    l->kinds = graph_kinds(g);
}

static double explained(const struct excess_sums *f)
{
    return f->weight > 0 && f->sum > 0 ? f->sum * f->sum / f->weight : 0;
}

static double mean_excess(const struct excess_sums *f)
{
    return f->excess / f->weight;
}

static bool is_slow(const struct excess_sums *f)
{
    return f->weight > 0 && mean_excess(f) > EXCESS_LOG_MIN && f->sum / sqrt(f->weight) > LINK_Z;
}

static void add_to(struct excess_sums *f, const struct kind_level *k)
{
    double noise = noise_of(k), weight = k->share * k->weight / (noise * noise);

    f->sum += weight * k->now;
    f->weight += weight * k->share;
    f->excess += weight * k->share * k->excess;
}

static struct candidate_place *place_get(const struct links *l, uint32_t nodes, uint32_t a, uint32_t b)
{
    uint32_t at = map_get(&l->places, place_key(nodes, a, b));

    return at != MAP_NONE ? &l->place[at] : NULL;
}

static void add_to_named(struct links *l, uint32_t nodes, uint32_t a, uint32_t b, const struct kind_level *k)
{
    struct candidate_place *p = place_get(l, nodes, a, b);

    if (!p)
        return;
    add_to(&p->fit, k);
    add_to(&p->all, k);
    add_to(&p->messages, k);
    p->pairs = true;
}

/* All places whose nodes are among these.  A collective may not show a slow link of its nodes: who comes last
 * finds there what the others have sent. */
static void add_to_reached(struct links *l, uint32_t kind, const struct graph_kind_info *info)
{
    for (uint32_t i = 0; i < info->nodes; i++) {
        l->reached = xgrow(l->reached, &l->reached_cap, info->node[i] + 1, sizeof(*l->reached));
        l->reached[info->node[i]] = kind + 1;
    }
    for (size_t i = 0; i < l->n_places; i++) {
        struct candidate_place *p = &l->place[i];
        struct excess_sums with;
        bool has = true;

        for (uint32_t n = 0; n < p->nodes; n++)
            has = has && p->node[n] < l->reached_cap && l->reached[p->node[n]] == kind + 1;
        if (!has)
            continue;
        with = p->fit;
        add_to(&with, &l->kind[kind]);
        add_to(&p->all, &l->kind[kind]);
        if (!p->nodes || !p->pairs || explained(&with) > explained(&p->fit))
            p->fit = with;
    }
}

/* Collectives decide only between places that explain the same. */
static bool is_better(const struct candidate_place *p, const struct candidate_place *than)
{
    double x = explained(&p->fit), y = explained(&than->fit);

    return x > 1.0001 * y || (1.0001 * x > y && explained(&p->all) > 1.0001 * explained(&than->all));
}

/* Where a place is named, kinds that were new then have no past to compare with.  Nor have those that were
 * new when it began to look slow, as collectives of which nobody had to wait for one before. */
static bool counts(const struct links *l, const struct kind_level *k)
{
    return k->past && (!l->slow.standing || k->steps >= USUAL_STEPS);
}

static void find_past(struct links *l)
{
    bool looks_slow = l->slow.standing || l->above;

    for (uint32_t i = 0; i < l->kinds; i++) {
        struct kind_level *k = &l->kind[i];

        k->past = is_learnt(k) && (!looks_slow || k->past || k->steps >= USUAL_STEPS);
    }
}

/* Is one of these places part of the other, as a link is of the adapters at its ends? */
static bool is_part(const struct candidate_place *part, const struct candidate_place *of)
{
    return part->pairs && of->pairs && part->nodes > of->nodes &&
           (!of->nodes || part->node[0] == of->node[0] || part->node[1] == of->node[0]);
}

/* What a place has beside a part of it. */
static struct excess_sums beside(const struct excess_sums *of, const struct excess_sums *part)
{
    return (struct excess_sums){ of->sum - part->sum, of->weight - part->weight, of->excess - part->excess };
}

static struct excess_sums collectives_of(const struct candidate_place *p)
{
    return beside(&p->all, &p->messages);
}

/* Do collectives of a node without the other end of its link show that it is the node that is slow?  They do
 * where those of the other end, without the node, are not. */
static bool end_is_slow(const struct links *l, const struct candidate_place *end,
                        const struct candidate_place *link)
{
    const struct candidate_place *other = place_get(l, 1, link->node[link->node[0] == end->node[0]], 0);
    struct excess_sums of_link = collectives_of(link), of_end = collectives_of(end), of_other, rest, others;

    if (!other)
        return false;
    of_other = collectives_of(other);
    rest = beside(&of_end, &of_link);
    others = beside(&of_other, &of_link);
    return rest.weight > 1e-6 * of_end.weight && is_slow(&rest) &&
           mean_excess(&rest) > REST * mean_excess(&link->messages) &&
           !(others.weight > 1e-6 * of_other.weight && is_slow(&others));
}

/* Do messages through a place, without those through a part of it, show that the rest is slow, too?  Or the
 * collectives of a node, where it has messages with one other only, as at the end of a pipeline. */
static bool rest_is_slow(const struct links *l, const struct candidate_place *p,
                         const struct candidate_place *part)
{
    struct excess_sums rest = beside(&p->messages, &part->messages);

    if (rest.weight > 1e-6 * p->messages.weight)
        return is_slow(&rest) && mean_excess(&rest) > REST * mean_excess(&part->messages);
    return p->nodes == 1 && part->nodes == 2 && end_is_slow(l, p, part);
}

/* The part of a place that explains about the same, as long as nothing shows that the rest is slow; the place
 * itself where there is none. */
static const struct candidate_place *narrowest(const struct links *l, const struct candidate_place *p)
{
    const struct candidate_place *part = p;

    for (size_t i = 0; i < l->n_places; i++) {
        const struct candidate_place *q = &l->place[i];

        if (is_part(q, p) && is_slow(&q->fit) && explained(&q->fit) > SAME_EXPLAINED * explained(&p->fit) &&
            !rest_is_slow(l, p, q) && (part == p || explained(&q->fit) > explained(&part->fit)))
            part = q;
    }
    return part == p ? p : narrowest(l, part);
}

/* What the collectives of each communicator take, and what those of others take that do the same between the
 * same nodes: whatever is slow at a node or between nodes is so for both. */
static void fit_comms(struct links *l)
{
    for (size_t i = 0; i < l->n_comms; i++)
        l->comm[i].fit = l->others[i] = (struct excess_sums){ 0 };
    for (size_t i = 0; i < l->n_peers; i++)
        l->peers[i] = (struct excess_sums){ 0 };
    for (uint32_t i = 0; i < l->kinds; i++)
        if (l->kind[i].peers && counts(l, &l->kind[i]))
            add_to(&l->peers[l->kind[i].peers - 1], &l->kind[i]);
    for (uint32_t i = 0; i < l->kinds; i++) {
        const struct kind_level *k = &l->kind[i];
        struct excess_sums own = { 0 }, *peers, *others;
        struct candidate_place *c;

        if (!k->peers || !counts(l, k))
            continue;
        c = &l->comm[k->comm - 1];
        others = &l->others[k->comm - 1];
        peers = &l->peers[k->peers - 1];
        add_to(&own, k);
        if (!(peers->weight - own.weight > 1e-6 * peers->weight)) /* nobody does the same */
            continue;
        add_to(&c->fit, k);
        others->sum += peers->sum - own.sum;
        others->weight += peers->weight - own.weight;
        others->excess += peers->excess - own.excess;
    }
}

/* The communicator that explains about as much as a place, or more, and whose peers are as fast as before;
 * the place itself where there is none. */
static const struct candidate_place *or_comm(const struct links *l, const struct candidate_place *p)
{
    const struct candidate_place *best = p;

    for (size_t i = 0; i < l->n_comms; i++) {
        const struct candidate_place *c = &l->comm[i];

        if (is_slow(&c->fit) && explained(&c->fit) > SAME_EXPLAINED * explained(&p->fit) &&
            mean_excess(&l->others[i]) + PEERS_Z / sqrt(l->others[i].weight) < REST * mean_excess(&c->fit) &&
            (best == p || explained(&c->fit) > explained(&best->fit)))
            best = c;
    }
    return best;
}

/* Of the places, the one that explains most; of equals the one with the most kinds, which comes first. */
static const struct candidate_place *explain(struct links *l, const struct graph *g)
{
    const struct candidate_place *best = NULL;

    make_places(l, g);
    find_past(l);
    for (size_t i = 0; i < l->n_places; i++) {
        l->place[i].fit = l->place[i].all = l->place[i].messages = (struct excess_sums){ 0 };
        l->place[i].pairs = false;
    }
    l->collectives = (struct candidate_place){ 0 };
    if (l->reached)
        memset(l->reached, 0, l->reached_cap * sizeof(*l->reached));
    for (uint32_t i = 0; i < l->kinds; i++) { /* before the collectives of more nodes */
        const struct kind_level *k = &l->kind[i];
        const struct graph_kind_info *info = counts(l, k) ? graph_kind_get(g, i) : NULL;

        if (!info || info->nodes != 2)
            continue;
        add_to_named(l, 0, 0, 0, k);
        add_to_named(l, 1, info->node[0], 0, k);
        add_to_named(l, 1, info->node[1], 0, k);
        add_to_named(l, 2, info->node[0], info->node[1], k);
    }
    for (uint32_t i = 0; i < l->kinds; i++)
        if (counts(l, &l->kind[i]) && graph_kind_get(g, i)->nodes > 2) {
            add_to_reached(l, i, graph_kind_get(g, i));
            add_to(&l->collectives.fit, &l->kind[i]);
        }
    for (size_t i = 0; i < l->n_places; i++)
        if (!best || is_better(&l->place[i], best))
            best = &l->place[i];
    if (best && is_slow(&best->fit))
        best = narrowest(l, best);
    /* A place is slow for messages, too. */
    if (best && best->pairs && !is_slow(&best->messages) && is_slow(&l->collectives.fit))
        best = &l->collectives;
    fit_comms(l);
    return best ? or_comm(l, best) : NULL;
}

/* Is another place, which explains more, the one to name?  A place and a part of it explain about the same,
 * because the part's messages are most of what both explain: what decides is whether the other messages are
 * slow as well. */
static bool is_clearly_better(const struct links *l, const struct candidate_place *p,
                              const struct candidate_place *named)
{
    if (p->of_comm && !named->of_comm) /* what the nodes have in common is as fast as before */
        return true;
    if (is_part(p, named) && !rest_is_slow(l, named, p))
        return true;
    if (is_part(named, p))
        return rest_is_slow(l, p, named);
    return explained(&p->fit) > CLEARLY * explained(&named->fit);
}

/* Are messages slow there, while those collectives are named for which messages were as fast as before? */
static bool refutes(const struct links *l, const struct candidate_place *p)
{
    return l->slow.collectives && p->pairs && is_slow(&p->messages);
}

/* Do transfers of the kind show whether the place is slow?  by_pairs: where there are some between two nodes.
 */
static bool shows(const struct links_slow *place, bool by_pairs, const struct graph_kind_info *k)
{
    return links_has(place, k) && (!place->nodes || !by_pairs || k->nodes == 2);
}

/* Mean excess (log) of the transfers through l->slow in a step, and their spread about it; NaN: none is
 * known. */
static double excess_in(const struct links *l, const struct graph *g, uint32_t back, double *spread)
{
    struct graph_step s = graph_step_get(g, back);
    double sum = 0, square = 0, weight = 0;
    uint32_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        const struct graph_meeting *m;
        const struct kind_level *k;
        double x, w;

        if (!s.op[i].first)
            continue;
        m = graph_meeting_get(g, s.op[i].meeting);
        k = &l->kind[m->kind];
        if (!(m->transfer_s > 0) || !k->past || !shows(&l->slow, l->by_pairs, graph_kind_get(g, m->kind)))
            continue;
        x = log(m->transfer_s) - k->usual;
        w = k->share * k->share;
        weight += w;
        sum += w * x;
        square += w * x * x;
        n++;
    }
    *spread = n > 1 ? sqrt(fmax(0, square / weight - sum / weight * (sum / weight)) * n / (n - 1)) : NAN;
    return n ? sum / weight : NAN;
}

/* What the newest steps took, newest first, over what is usual (log), where it is known. */
struct recent {
    double x[RECENT_STEPS], spread[RECENT_STEPS];
    uint32_t number[RECENT_STEPS], n;
};

static void recent_of(const struct links *l, const struct graph *g, uint32_t back, struct recent *r)
{
    double spread;

    for (r->n = 0; back < graph_steps(g) && r->n < RECENT_STEPS; back++) {
        double x = excess_in(l, g, back, &spread);

        if (isnan(x))
            continue;
        r->x[r->n] = x;
        r->spread[r->n] = spread;
        r->number[r->n++] = graph_step_about(g, back).number;
    }
}

/* The first of the slow steps after number `over`: where the newest differ most from those before, by the
 * least squares of two levels.  Single steps in between may be fast, but all together they must come near to
 * the newest.  Where none before is fast, all are slow.  No step counts for more below what is usual than it
 * is slow now, nor do those that were slow until `over`, when the same place was named before. */
static uint32_t onset_of(const struct recent *r, double excess, uint32_t over)
{
    double x[RECENT_STEPS], all = 0, newest = 0, sum = 0, best = 0;
    uint32_t of_newest = r->n < ONSET_NEWEST_STEPS ? r->n : ONSET_NEWEST_STEPS, n = 0, after = 0, from;

    for (uint32_t i = 0; i < r->n; i++) {
        if (r->number[i] <= over && r->x[i] > EXCESS_LOG_MIN)
            continue;
        after += r->number[i] > over;
        x[n++] = fmax(-excess, r->x[i]);
        all += x[n - 1];
    }
    for (uint32_t i = 0; i < of_newest; i++)
        newest += r->x[i] / of_newest;
    from = after ? after : 1;
    for (uint32_t k = 1; k <= after && k < n; k++) {
        double since, before, more;

        sum += x[k - 1];
        since = sum / k;
        before = (all - sum) / (n - k);
        more = since - before;
        if (more > excess / 2 && more > ONSET_HEIGHT * (newest - before) &&
            k * (double)(n - k) * more * more > best) {
            best = k * (double)(n - k) * more * more;
            from = k;
        }
    }
    return r->number[from - 1];
}

/* Median spread of the transfers in the steps before `from`; NaN: not known. */
static double spread_before(const struct recent *r, uint32_t from)
{
    double spread[RECENT_STEPS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->number[i] < from && !isnan(r->spread[i]))
            spread[n++] = r->spread[i];
    return n ? statistics_median(spread, n) : NAN;
}

/* Transfers of one step have much in common, such as a rank without a CPU, and so have steps that follow each
 * other: their own noise does not show it.  Are the steps from the first slow one on unlike those before? */
static bool stands_out(const struct links *l, const struct recent *r)
{
    double past[PAST], slow = 0, middle;
    uint32_t n = 0, n_slow = 0;

    for (uint32_t i = 0; i < r->n && n < PAST; i++)
        if (r->number[i] >= l->slow.from) {
            slow += r->x[i];
            n_slow++;
        } else {
            past[n++] = r->x[i];
        }
    if (n < PAST_STEPS_MIN)
        return true;
    middle = statistics_median(past, n);
    for (uint32_t i = 0; i < n; i++)
        past[i] = fabs(past[i] - middle);
    return slow / n_slow - middle >
           UNLIKE * STATISTICS_MAD_TO_SD * statistics_median(past, n) / sqrt(fmax(1, n_slow / ALIKE));
}

/* How uncertain the excess is: it is a mean over the newest RECENT_MEAN steps, against a level that the first
 * ones showed. */
static double error_of(const struct links *l, const struct graph *g, uint32_t back)
{
    double x[2][RECENT_MEAN], spread, square = 0;
    size_t n[2] = { 0 };

    for (; back < graph_steps(g) && n[0] < RECENT_MEAN; back++) {
        bool since = graph_step_about(g, back).number >= l->slow.from;
        double now = n[since] < RECENT_MEAN ? excess_in(l, g, back, &spread) : NAN;

        if (!isnan(now))
            x[since][n[since]++] = now;
    }
    for (int since = 0; since < 2; since++) {
        double freedom, error = interval_mean_error(x[since], n[since], &freedom);

        square += error * error;
    }
    return sqrt(square);
}

/* The place is named, where its newest steps stand out. */
static void name_place(struct links *l, const struct graph *g, const struct candidate_place *p, uint32_t back)
{
    const struct links_slow was = l->slow;
    bool was_by_pairs = l->by_pairs;
    struct recent recent;
    uint32_t over; /* until then it was slow for another time */
    double spread;

    l->slow = place_of(l, p);
    l->by_pairs = p->pairs;
    over = !was.standing && links_same_place(&l->slow, &was) ? was.to : 0;
    recent_of(l, g, back, &recent);
    l->slow.from =
        recent.n ? onset_of(&recent, mean_excess(&p->fit), over) : graph_step_about(g, back).number;
    l->above = l->below = l->elsewhere = l->rose = 0;
    l->lapsed = 0;
    if (!stands_out(l, &recent)) {
        l->slow = was;
        l->by_pairs = was_by_pairs;
        return;
    }
    l->slow.to = graph_step_about(g, back).number;
    l->slow.standing = true;
    l->slow.spread_before = spread_before(&recent, l->slow.from);
    l->named = mean_excess(&p->fit);
    l->slow.excess = exp(mean_excess(&p->fit)) - 1;
    l->slow.error = error_of(l, g, back);
    excess_in(l, g, back, &spread);
    l->slow.spread = isnan(spread) ? 0 : spread;
}

static void follow_named(struct links *l, const struct graph *g, uint32_t back)
{
    double spread, mean = excess_in(l, g, back, &spread);

    l->below = mean < EXCESS_LEFT * l->named ? l->below + 1 : 0;
    l->lapsed = l->below >= LINK_CONFIRM ? LET_GO_N : l->lapsed - (l->lapsed && !l->below);
    l->rose = l->lapsed && EXCESS_LEFT * mean > l->named ? l->rose + 1 : 0;
    if (l->below >= LET_GO_N)
        l->slow.standing = false;
    l->slow.fading = l->below == LET_GO_N - 1;
    if (!l->below)
        l->slow.to = graph_step_about(g, back).number;
    if (!isnan(mean))
        l->slow.excess += 0.1 * (exp(mean) - 1 - l->slow.excess);
    if (!isnan(spread))
        l->slow.spread += 0.2 * (spread - l->slow.spread);
    if (isnan(l->slow.error) || graph_step_about(g, back).number % DOUBT_STEPS == 0)
        l->slow.error = error_of(l, g, back);
}

static bool is_named(const struct links *l, const struct candidate_place *p)
{
    const struct links_slow place = place_of(l, p);

    return l->slow.standing && links_same_place(&l->slow, &place);
}

static const struct candidate_place *named_place(struct links *l)
{
    return l->slow.collectives ? &l->collectives
           : l->slow.of_comm   ? &l->comm[map_get(&l->comms, l->slow.comm)]
                               : place_get(l, l->slow.nodes, l->slow.node[0], l->slow.node[1]);
}

/* Are those transfers slow that the step at hand shows?  Where it shows none, what they take now stands on
 * earlier steps, and of a single one that took twice as long it is above the limit for some steps. */
static bool is_seen_slow(const struct links *l, const struct graph *g, const struct candidate_place *p)
{
    const struct links_slow place = place_of(l, p);
    double sum = 0, weight = 0;

    for (uint32_t i = 0; i < l->kinds; i++) {
        const struct kind_level *k = &l->kind[i];

        if (!k->seen || !counts(l, k) || !shows(&place, p->pairs, graph_kind_get(g, i)))
            continue;
        sum += k->share * (double)k->last;
        weight += k->share;
    }
    return sum > weight * mean_excess(&p->fit) / 2;
}

void links_step(struct links *l, const struct graph *g, uint32_t back)
{
    struct graph_step s = graph_step_get(g, back);
    const struct candidate_place *p, *named;
    double took_s = s.end_s - s.begin_s;

    l->kind = xgrow(l->kind, &l->cap, graph_kinds(g), sizeof(*l->kind));
    l->step_s = l->steps++ ? l->step_s + fmax(-l->step_s, fmin(l->step_s, took_s - l->step_s)) /
                                             fmin(l->steps, USUAL_STEPS)
                           : took_s; /* a running median */
    l->floor_s = FLOOR * fmax(l->step_s, STEP_MIN_S);
    gather_transfers(l, g, &s);
    for (uint32_t i = 0; i < graph_kinds(g); i++) {
        struct kind_level *k = &l->kind[i];

        k->seen = k->in_step > 0;
        if (k->seen) {
            follow_kind(l, k, l->slow.standing && links_has(&l->slow, graph_kind_get(g, i)));
        } else if (k->max_n) {
            follow_max(k);
            follow_bounds(l, k);
        }
        k->max_mean = 0;
        k->max_n = 0;
    }
    p = explain(l, g);
    if (l->slow.standing) {
        follow_named(l, g, back);
        named = named_place(l);
        l->elsewhere = l->slow.standing && !is_named(l, p) && is_slow(&p->fit) &&
                               (refutes(l, p) || is_clearly_better(l, p, named))
                           ? l->elsewhere + 1
                           : 0;
        /* What it was named for was nearly over, and little to what it is now: that has its own beginning. */
        if (l->elsewhere >= MOVE)
            name_place(l, g, p, back);
        else if (l->rose >= LINK_CONFIRM && is_slow(&named->fit))
            name_place(l, g, named, back);
        return;
    }
    l->above = p && is_slow(&p->fit) ? l->above + is_seen_slow(l, g, p) : 0;
    if (l->above >= LINK_CONFIRM)
        name_place(l, g, p, back);
}

const struct links_slow *links_get(const struct links *l)
{
    return &l->slow;
}

double links_limit(const struct links *l, uint32_t nodes)
{
    double limit = NAN;

    for (size_t i = 0; i < l->n_places; i++)
        if (l->place[i].nodes == nodes && l->place[i].fit.weight > 0)
            limit = fmax(limit, expm1(fmax(EXCESS_LOG_MIN, LINK_Z / sqrt(l->place[i].fit.weight))));
    return limit;
}
