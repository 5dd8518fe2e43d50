/* Sampled: what messages take where links are shared, seen in an exact run, for rounds to go by.
 *
 * Rates solved with all of a round under way over-count: ranks that one round has set apart meet less in the
 * next. Who meets whom hangs on the arrivals, but little: what one run's messages took serves for others like
 * it.
 *
 * A ring's messages settle within some rounds to a pace that they all keep: it is measured, for each
 * message's own time wavers, and the slowest rules.  Other collectives use some runs in turn: the mean of
 * runs would lack the late messages that others wait for. */
#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define SAMPLES_MAX     8u
#define SAMPLE_MESSAGES 300000u /* one of more is no sample, but work: some tenths of a second */
#define SAMPLE_BYTES    (256u << 20)
#define RING_ROUNDS     72u  /* of a ring that are sampled, at least */
#define RING_SHARE      0.4  /* and at least, of its members */
#define RING_SETTLED    3u   /* a third of them pass before it is watched */
#define RING_SPREAD     10.0 /* arrivals that it is begun with, in messages */
#define RUNS            3u   /* that make a sample, of other collectives; the first of such a spread */
#define ALIKE           2.0  /* spreads that differ by less, as a ratio */
#define AT_ONCE         1e-2 /* of a message: ends so close are taken for one */

/* The schedule with no more rounds of a ring than it takes to know its pace. */
static void shorten(struct schedule *s)
{
    uint64_t round = 0;

    s->messages = 0;
    for (uint32_t i = 0, many; i < s->stages; i += many) {
        struct schedule_stage *st = &s->stage[i];
        uint32_t all = st->rounds;

        many = st->pattern == SCHEDULE_P_RING ? network_ring_stages(s, i) : 1;
        if (st->pattern == SCHEDULE_P_RING) {
            all *= many;
            st->rounds = (uint32_t)fmin(all, fmax(RING_ROUNDS, RING_SHARE * st->size));
        }
        st->first = round;
        round += st->rounds;
        s->messages += (uint64_t)st->rounds * s->spec.members; /* at most */
        for (uint32_t more = 1; more < many; more++) {
            st[more].first = round;
            st[more].rounds = 0;
        }
    }
    s->rounds = round;
}

static bool find_can_sample(const struct network_collective *c)
{
    struct schedule s = c->schedule;

    if (s.spec.algorithm == SCHEDULE_SERVER)
        return false; /* its messages are all under way at once: by rounds is right */
    shorten(&s);
    return s.messages <= SAMPLE_MESSAGES &&
           (double)network_slots(&c->schedule) * s.spec.members * sizeof(double) * SAMPLES_MAX <=
               SAMPLE_BYTES;
}

bool network_can_sample(struct network_collective *c)
{
    if (c->can_sample < 0)
        c->can_sample = find_can_sample(c);
    return c->can_sample;
}

/* ---- watching ---- */

struct watch {
    struct message_watch watch;
    const struct schedule *schedule;
    double *cost_s;           /* sums */
    double *first_s, *last_s; /* of each member's messages in a ring's settled rounds: their starts */
};

static bool is_settled(const struct schedule_stage *st, uint32_t round)
{
    return round - st->first >= st->rounds / RING_SETTLED;
}

static void through(struct message_watch *watch, uint32_t round, uint32_t from, double start_s, double end_s)
{
    struct watch *w = (struct watch *)watch;
    const struct schedule_stage *st = schedule_stage(w->schedule, round);
    size_t at = (size_t)network_slot(w->schedule, round) * w->schedule->spec.members + from;

    if (st->pattern != SCHEDULE_P_RING) {
        w->cost_s[at] = end_s - start_s;
        return;
    }
    if (!is_settled(st, round))
        return;
    if (w->cost_s[at] == 0)
        w->first_s[at] = start_s;
    w->last_s[at] = start_s;
    w->cost_s[at] += end_s - start_s;
}

/* A ring's costs: means, the largest of them raised to the pace that all kept. */
static void finish_ring(struct watch *w, const struct schedule_stage *st, size_t at)
{
    uint32_t members = w->schedule->spec.members, seen = 0;

    for (uint32_t k = 0; k < st->rounds; k++)
        seen += is_settled(st, (uint32_t)st->first + k);
    for (uint32_t g = 0; g < members / st->size; g++) {
        uint32_t base = st->stride == 1 ? g * st->size : g;
        double pace = 0, most = 0;

        for (uint32_t i = 0; i < st->size; i++) {
            size_t m = at + base + i * st->stride;

            w->cost_s[m] /= seen;
            most = fmax(most, w->cost_s[m]);
            if (seen > 1)
                pace += (w->last_s[m] - w->first_s[m]) / (seen - 1) / st->size;
        }
        for (uint32_t i = 0; i < st->size && pace > 0; i++)
            w->cost_s[at + base + i * st->stride] *= pace / most;
    }
}

static void finish(struct watch *w)
{
    const struct schedule *s = w->schedule;
    size_t at = 0;

    for (uint32_t i = 0; i < s->stages; i++) {
        if (s->stage[i].pattern == SCHEDULE_P_RING && s->stage[i].rounds)
            finish_ring(w, &s->stage[i], at);
        at += (size_t)s->spec.members * (s->stage[i].pattern == SCHEDULE_P_SHIFT ? s->stage[i].rounds : 1);
    }
}

/* ---- taking samples ---- */

static bool has_ring(const struct network_collective *c)
{
    return c->schedule.stages && c->schedule.stage[0].pattern == SCHEDULE_P_RING;
}

/* What a message of the first round takes alone. */
static double message_s(const struct network_collective *c)
{
    const struct network *n = c->network;
    struct network_way way;
    double least = INFINITY;

    network_way(n, c->rank[0], c->rank[c->schedule.spec.members > 1 ? 1 : 0], &way);
    for (uint32_t h = 0; h < way.hops; h++)
        least = fmin(least, share_capacity(n->share, way.link[h]));
    return way.latency_s + c->schedule.stage[0].bytes / least;
}

static double spread(const double *v, uint32_t n)
{
    double mean = 0, square = 0;

    for (uint32_t i = 0; i < n; i++)
        mean += v[i] / n;
    for (uint32_t i = 0; i < n; i++)
        square += (v[i] - mean) * (v[i] - mean) / n;
    return sqrt(square);
}

/* One more run. */
static void sample_add(struct network_collective *c, struct cost_sample *s, const double *arrive_s,
                       struct network_count *count)
{
    struct network_collective shortened = { .network = c->network, .schedule = c->schedule, .rank = c->rank };
    struct watch w = { .watch.through = through, .schedule = &shortened.schedule };
    uint32_t members = c->schedule.spec.members;
    size_t costs = (size_t)network_slots(&c->schedule) * members;
    double *left = xcalloc(members, sizeof(*left));

    shorten(&shortened.schedule);
    shortened.watch = &w.watch;
    shortened.at_once_s = c->schedule.stages ? AT_ONCE * message_s(c) : 0;
    w.cost_s = xcalloc(costs, 3 * sizeof(double));
    w.first_s = w.cost_s + costs;
    w.last_s = w.first_s + costs;
    network_run_exact(&shortened, arrive_s, left, count);
    count->messages -= shortened.schedule.messages; /* walked, but no collective of its own */
    finish(&w);
    s->cost_s = xrealloc(s->cost_s, s->runs + 1, costs * sizeof(double));
    memcpy(s->cost_s + s->runs++ * costs, w.cost_s, costs * sizeof(double));
    count->samples++;
    free(w.cost_s);
    free(left);
}

/* A ring that begins far apart spends its first rounds, those that are sampled, on waiting: it is begun
 * closer. */
static double move_closer(const struct network_collective *c, double *arrive_s)
{
    double spread_s = spread(arrive_s, c->schedule.spec.members), near_s = RING_SPREAD * message_s(c);

    if (!has_ring(c) || spread_s <= near_s)
        return spread_s;
    for (uint32_t i = 0; i < c->schedule.spec.members; i++)
        arrive_s[i] *= near_s / spread_s;
    return near_s;
}

static struct cost_sample *sample_new(struct network_collective *c, double spread_s)
{
    if (c->samples == SAMPLES_MAX) {
        free(c->sample[0].cost_s); /* the oldest gives way */
        memmove(c->sample, c->sample + 1, --c->samples * sizeof(*c->sample));
    }
    c->sample = xrealloc(c->sample, SAMPLES_MAX, sizeof(*c->sample));
    c->sample[c->samples] = (struct cost_sample){ .faults = c->network->faults, .spread_s = spread_s };
    return &c->sample[c->samples++];
}

/* The sample of such a spread, taken if there is none. */
static struct cost_sample *sample_get(struct network_collective *c, double *arrive_s,
                                      struct network_count *count)
{
    double now_s = move_closer(c, arrive_s), nearest = INFINITY;
    struct cost_sample *found = NULL;

    for (uint32_t i = 0; i < c->samples; i++) {
        struct cost_sample *s = &c->sample[i];
        double apart = fabs(log2((now_s + 1e-12) / (s->spread_s + 1e-12)));

        if (s->faults == c->network->faults && apart < nearest) {
            nearest = apart;
            found = s;
        }
    }
    if (!found || nearest > log2(ALIKE))
        found = sample_new(c, now_s);
    if (!found->runs || (found->runs < RUNS && !has_ring(c)))
        sample_add(c, found, arrive_s, count);
    found->used++;
    return found;
}

void network_run_sampled(struct network_collective *c, const double *arrive_s, double *leave_s,
                         struct network_count *count)
{
    uint32_t members = c->schedule.spec.members;
    double *arrive = xcalloc(members, sizeof(*arrive));
    const struct cost_sample *s;
    size_t costs = (size_t)network_slots(&c->schedule) * members;

    memcpy(arrive, arrive_s, members * sizeof(*arrive));
    s = sample_get(c, arrive, count);
    free(arrive);
    network_run_costs(c, s->cost_s + (s->used - 1) % s->runs * costs, arrive_s, leave_s, count);
    count->shared = true;
}

void network_samples_free(struct network_collective *c)
{
    for (uint32_t i = 0; i < c->samples; i++)
        free(c->sample[i].cost_s);
    free(c->sample);
}
