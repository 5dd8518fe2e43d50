/* Sampled mode: times of messages on shared links, measured in an exact run, for use by rounds.
 *
 * Rates solved with all messages of a round in progress overestimate sharing: ranks that one round has
 * delayed differently meet less in the next.  Sharing depends only weakly on the arrivals, so the times of
 * one run serve for similar ones.
 *
 * A ring's messages settle to a common pace within some rounds.  The pace is measured rather than each
 * message's own time, which fluctuates, because the slowest determines it.  Other collectives use several
 * runs in turn: their mean would lack the late messages that others wait for. */
#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define SAMPLES_MAX 8u
/* larger collectives are not sampled: this many take tenths of a second */
#define SAMPLE_MESSAGES 300000u
#define SAMPLE_BYTES    (256u << 20)
#define RING_ROUNDS     72u /* least number of rounds of a ring that are sampled */
#define RING_SHARE      0.4 /* the same as a share of its members */
#define RING_SETTLED    3u  /* one in this many of them passes before measuring */
/* largest spread of arrivals at its start, in times of a message */
#define RING_SPREAD 10.0
#define RUNS        3u   /* runs in a sample of other collectives with a similar spread */
#define ALIKE       2.0  /* spreads within this ratio count as equal */
#define AT_ONCE     1e-2 /* share of a message's time: closer ends count as one event */

/* What a collective's messages took in exact runs. */
struct sample {
    uint64_t faults;
    uint32_t runs, used; /* runs are used in turn */
    double spread_s;     /* of the arrivals */
    double *cost_s;      /* [run][stage][sender]: from when both ends are ready to the end of the transfer */
};

struct network_samples {
    struct sample sample[SAMPLES_MAX];
    uint32_t n;
};

/* Shorten a ring's schedule to the rounds needed to measure its pace. */
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

bool network_can_sample(const struct schedule *s)
{
    struct schedule shortened = *s;

    if (schedule_has_server(s))
        return false; /* all its messages are in progress at once, so rounds are exact */
    shorten(&shortened);
    return shortened.messages <= SAMPLE_MESSAGES &&
           (double)s->stages * s->spec.members * sizeof(double) * SAMPLES_MAX <= SAMPLE_BYTES;
}

/* ---- measuring ---- */

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
    size_t at = (size_t)(st - w->schedule->stage) * w->schedule->spec.members + from;

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

/* A ring's costs: means, with the largest raised to the common pace. */
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

/* ---- taking samples ---- */

static bool has_ring(const struct network_collective *c)
{
    return c->schedule.stages && c->schedule.stage[0].pattern == SCHEDULE_P_RING;
}

/* Time of a message of the first round without sharing. */
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

/* Add a run. */
static void sample_add(const struct network_collective *c, struct sample *s, const double *arrive_s,
                       struct network_count *count)
{
    struct network_collective shortened = { .network = c->network, .schedule = c->schedule, .rank = c->rank };
    struct watch w = { .watch.through = through, .schedule = &shortened.schedule };
    uint32_t members = c->schedule.spec.members;
    size_t costs = (size_t)c->schedule.stages * members;
    double *left = xcalloc(members, sizeof(*left));

    shorten(&shortened.schedule);
    shortened.watch = &w.watch;
    shortened.at_once_s = c->schedule.stages ? AT_ONCE * message_s(c) : 0;
    w.cost_s = xcalloc(costs, 3 * sizeof(double));
    w.first_s = w.cost_s + costs;
    w.last_s = w.first_s + costs;
    network_run_exact(&shortened, arrive_s, left, count);
    count->messages -= shortened.schedule.messages; /* do not count the sample's messages */
    for (uint32_t i = 0; i < w.schedule->stages; i++)
        if (w.schedule->stage[i].pattern == SCHEDULE_P_RING && w.schedule->stage[i].rounds)
            finish_ring(&w, &w.schedule->stage[i], (size_t)i * members);
    s->cost_s = xrealloc(s->cost_s, s->runs + 1, costs * sizeof(double));
    memcpy(s->cost_s + s->runs++ * costs, w.cost_s, costs * sizeof(double));
    count->samples++;
    free(w.cost_s);
    free(left);
}

/* If arrivals are far apart, a ring spends its first rounds, which are sampled, waiting; so start it with
 * closer arrivals. */
static double move_closer(const struct network_collective *c, double *arrive_s)
{
    double spread_s = spread(arrive_s, c->schedule.spec.members), near_s = RING_SPREAD * message_s(c);

    if (!has_ring(c) || spread_s <= near_s)
        return spread_s;
    for (uint32_t i = 0; i < c->schedule.spec.members; i++)
        arrive_s[i] *= near_s / spread_s;
    return near_s;
}

/* The sample of a similar spread, taken if there is none. */
static struct sample *sample_get(struct network_collective *c, double *arrive_s, struct network_count *count)
{
    double now_s = move_closer(c, arrive_s), nearest = INFINITY;
    struct network_samples *all;
    struct sample *found = NULL;

    if (!c->samples)
        c->samples = xcalloc(1, sizeof(*c->samples));
    all = c->samples;
    for (uint32_t i = 0; i < all->n; i++) {
        struct sample *s = &all->sample[i];
        double apart = fabs(log2((now_s + 1e-12) / (s->spread_s + 1e-12)));

        if (s->faults == c->network->faults && apart < nearest) {
            nearest = apart;
            found = s;
        }
    }
    if (!found || nearest > log2(ALIKE)) {
        if (all->n == SAMPLES_MAX) {
            free(all->sample[0].cost_s); /* drop the oldest */
            memmove(all->sample, all->sample + 1, --all->n * sizeof(*all->sample));
        }
        found = &all->sample[all->n++];
        *found = (struct sample){ .faults = c->network->faults, .spread_s = now_s };
    }
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
    const struct sample *s;
    size_t costs = (size_t)c->schedule.stages * members;

    memcpy(arrive, arrive_s, members * sizeof(*arrive));
    s = sample_get(c, arrive, count);
    free(arrive);
    network_run_costs(c, s->cost_s + (s->used - 1) % s->runs * costs, arrive_s, leave_s, count);
    count->shared = true;
}

void network_samples_free(struct network_samples *s)
{
    for (uint32_t i = 0; s && i < s->n; i++)
        free(s->sample[i].cost_s);
    free(s);
}
