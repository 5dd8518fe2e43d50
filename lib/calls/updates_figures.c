/* updates_figures.c - servers and workers in figures: rates, staleness, who is slow and what that costs. */
#include <math.h>
#include <stdlib.h>

#include "calls/updates_private.h"
#include "common/xalloc.h"
#include "model/statistics.h"

/* Iterations before a rank is compared. */
#define TURNS_MIN 16u
/* that are compared: of fewer nobody knows who is the slow one */
#define WORKERS_MIN 3u
/* Own work over the other workers', minus 1.  Chosen: machines of one kind differ by less. */
#define WORKER_EXCESS 0.2
/* Time for an update over the other servers', minus 1.  Chosen: there may be but two, of which nobody knows
 * what they differ by from the start. */
#define SERVER_EXCESS 0.5
/* Servers of parts of the parameters that differ by more have other work.  Chosen: parts are even, but for
 * what does not divide. */
#define SAME_BYTES 0.1
#define LET_GO     0.5 /* of the excess, and of the evidence: one that is near it does not come and go */
/* In standard deviations of what workers differ by, together with its own standard error. Chosen: all ranks
 * are looked at again and again. */
#define EVIDENCE 6.0
/* Of the workers: where more are slow, they are of two kinds, and not slow. */
#define SLOW_SHARE 4u
/* Own iterations in which a worker writes nothing and others do, until it counts as silent.  Chosen: a
 * checkpoint of its own is no reason. */
#define SILENT_TURNS 16.0
/* own iterations within which others go by a slow worker, as long as they do not wait for it */
#define WENT_ROUNDS 8u

static double mean_of(const float *v, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += (double)v[i];
    return n ? sum / n : NAN;
}

static void take_times(struct updates_rank *k, const struct history *h)
{
    float sorted[UPDATES_TURNS], stale[UPDATES_STALE];
    uint32_t n = h->n < UPDATES_TURNS ? h->n : UPDATES_TURNS;

    k->turns = n;
    k->turn_s = mean_of(h->turn_s, n);
    k->wait_s = mean_of(h->wait_s, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = k->serves ? h->turn_s[i] - h->wait_s[i] : h->work_s[i];
    k->work_s = mean_of(sorted, n);
    k->usual_work_s = n ? (double)statistics_medianf(sorted, n) : NAN;
    n = h->n_stale < UPDATES_STALE ? h->n_stale : UPDATES_STALE;
    for (uint32_t i = 0; i < n; i++)
        stale[i] = (float)h->stale[i];
    k->stale_mean = mean_of(stale, n);
    k->stale_p95 = n ? (double)statistics_quantilef(stale, n, 0.95) : NAN;
    k->stale_max = h->stale_max;
}

/* Standard error of a rank's median. */
static double error_of(const struct history *h, uint32_t n, bool server)
{
    double v[UPDATES_TURNS];

    for (uint32_t i = 0; i < n; i++)
        v[i] = (double)(server ? h->turn_s[i] - h->wait_s[i] : h->work_s[i]);
    return 1.2533 * statistics_mean(v, n).error; /* a median's, for a mean's of 1: normal noise */
}

/* What ranks that do the same mostly do, and how they are spread. */
struct usual {
    size_t n; /* ranks that are known */
    double work_s, spread_s;
};

/* Of the workers; or of the servers but one, which receive as much in an update as that one. */
static struct usual usual_of(const struct updates *u, size_t n, const struct updates_rank *server)
{
    double *v = xcalloc(n, sizeof(*v));
    struct usual all = { 0 };

    for (const struct updates_rank *k = u->rank; k < u->rank + n; k++)
        if (k->turns >= TURNS_MIN && !k->silent && k != server && k->serves == (server != NULL) &&
            !(server && fabs(k->bytes / server->bytes - 1) > SAME_BYTES))
            v[all.n++] = k->usual_work_s;
    all.work_s = statistics_median(v, all.n);
    for (size_t i = 0; i < all.n; i++)
        v[i] = fabs(v[i] - all.work_s);
    all.spread_s = STATISTICS_MAD_TO_SD * statistics_median(v, all.n);
    free(v);
    return all;
}

/* Do others still go by it, at one server at least? */
static bool is_gone_by(const struct updates *u, uint32_t worker)
{
    for (uint32_t i = u->member[worker].first; i != NONE; i = u->pair[i].next) {
        const struct pair *p = valid_pair(u, u->pair[i].peer, worker);

        if (p && p->went && p->went_at && p->takes - p->went_at <= WENT_ROUNDS)
            return true;
    }
    return false;
}

static bool is_slow(const struct updates *u, const struct updates_rank *k, const struct usual *usual)
{
    const struct member *m = &u->member[k->rank];
    double less = m->slow ? LET_GO : 1, least = k->serves ? SERVER_EXCESS : WORKER_EXCESS,
           error = hypot(usual->spread_s, error_of(m->history, k->turns, k->serves)) / usual->work_s;

    return k->times - 1 > least * less && k->times - 1 > EVIDENCE * less * error &&
           (k->serves || is_gone_by(u, k->rank));
}

/* Of a worker, which keeps only itself from being as fast as the others. */
static double price_of_worker(const struct updates_figures *f, const struct updates_rank *k)
{
    double turn_s = k->turn_s - k->work_s * (1 - 1 / k->times), per_s = f->per_s - 1 / k->turn_s + 1 / turn_s;

    if (!(turn_s > 0) || isnan(f->busy_ratio))
        return NAN;
    /* no more than the busiest server can take */
    return fmin(per_s, f->per_s / f->busy_ratio) / f->per_s;
}

static void compare(struct updates *u, const struct updates_figures *f)
{
    struct usual workers = usual_of(u, f->n, NULL);
    size_t slow = 0;

    for (struct updates_rank *k = u->rank; k < u->rank + f->n; k++) {
        struct usual usual = k->serves ? usual_of(u, f->n, k) : workers;
        bool known = k->turns >= TURNS_MIN && !k->silent && usual.n >= (k->serves ? 1 : WORKERS_MIN);

        k->times = known ? k->usual_work_s / usual.work_s : NAN;
        k->slow = known && is_slow(u, k, &usual);
        if (k->serves)
            updates_server(u, f, k);
        else
            k->slowdown = k->slow ? price_of_worker(f, k) : 1;
        slow += k->slow && !k->serves;
    }
    for (struct updates_rank *k = u->rank; k < u->rank + f->n; k++) {
        bool of_two_kinds = !k->serves && slow > 1 && slow * SLOW_SHARE > f->workers;

        k->slow = k->slow && !of_two_kinds && k->slowdown > 1;
        if (!k->slow)
            k->slowdown = 1;
        u->member[k->rank].slow = k->slow;
        u->member[k->rank].limit = k->limit;
    }
}

/* Of all workers' newest updates, of each as many as came in about the same time. */
static void take_stale(const struct updates *u, struct updates_figures *f)
{
    float *v = xcalloc((size_t)f->workers * UPDATES_STALE, sizeof(*v));
    double sum = 0, least_s = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        if (!u->rank[i].serves && u->rank[i].turns && !u->rank[i].silent)
            least_s = fmin(least_s, u->rank[i].turn_s);
    f->stale_max = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct updates_rank *k = &u->rank[i];
        const struct history *h = u->member[k->rank].history;
        uint32_t newest = UPDATES_STALE;

        if (k->serves || k->silent || !h)
            continue;
        if (k->turns) /* then least_s is known */
            newest = (uint32_t)(UPDATES_STALE * least_s / k->turn_s);
        for (uint32_t j = 0; j < h->n_stale && j < newest; j++) {
            uint32_t stale = h->stale[(h->n_stale - 1 - j) % UPDATES_STALE];

            sum += stale;
            v[n++] = (float)stale;
        }
        f->stale_max = h->stale_max > f->stale_max ? h->stale_max : f->stale_max;
    }
    f->stale_mean = n ? sum / (double)n : NAN;
    f->stale_p95 = n ? (double)statistics_quantilef(v, n, 0.95) : NAN;
    free(v);
}

/* Ranks that have ended take no part any more, unless all have. */
static bool all_ended(const struct updates *u)
{
    for (uint32_t r = 0; r < u->n; r++)
        if (u->member[r].first != NONE && !u->member[r].ended)
            return false;
    return true;
}

/* Since when has none of its servers heard from a worker, though it did from others? */
static double silent_s(const struct updates *u, uint32_t worker)
{
    double least_s = INFINITY;

    for (uint32_t i = u->member[worker].first; i != NONE; i = u->pair[i].next) {
        uint32_t server = u->pair[i].peer;
        const struct pair *p = valid_pair(u, server, worker);

        if (p && p->took_ns <= u->member[server].took_ns)
            least_s = fmin(least_s, (double)(u->member[server].took_ns - p->took_ns) * 1e-9);
    }
    return least_s < INFINITY ? least_s : NAN;
}

static void take_ranks(struct updates *u, struct updates_figures *f)
{
    static const struct history none;
    bool all = all_ended(u);

    for (uint32_t r = 0; r < u->n; r++) {
        struct updates_rank *k = &u->rank[f->n];
        const struct member *m = &u->member[r];

        if (m->first == NONE || (m->ended && !all))
            continue;
        *k = (struct updates_rank){
            .rank = r, .serves = m->serves, .busy_ratio = NAN, .busy = INTERVAL_UNKNOWN
        };
        take_times(k, m->history ? m->history : &none);
        for (uint32_t i = m->first; i != NONE; i = u->pair[i].next) {
            const struct pair *p = &u->pair[i];

            if (p->epoch != m->epoch)
                continue;
            k->updates += m->serves ? p->takes : p->gives;
            k->bytes = m->serves ? (double)p->usual_take : k->bytes + (double)p->usual_give;
        }
        k->silent_s = m->serves ? NAN : silent_s(u, r);
        k->silent = k->turns && k->silent_s > SILENT_TURNS * k->turn_s;
        f->n++;
        f->silent += k->silent;
        *(m->serves ? &f->servers : &f->workers) += 1;
    }
}

static void compute(struct updates *u, struct updates_figures *f)
{
    double wait = 0, known = 0, servers_known = 0;

    *f = (struct updates_figures){ .found = true };
    u->rank = xgrow(u->rank, &u->rank_cap, u->n, sizeof(*u->rank));
    f->rank = u->rank;
    take_ranks(u, f);
    for (size_t i = 0; i < f->n; i++) {
        struct updates_rank *k = &u->rank[i];

        if (!k->serves && f->servers)
            k->updates /= f->servers; /* it writes to each of them */
        if (!k->turns || k->silent)
            continue;
        if (k->serves) {
            f->busy_ratio = fmax(f->busy_ratio, 1 - k->wait_s / k->turn_s);
            servers_known++;
        } else {
            f->per_s += 1 / k->turn_s;
            wait += k->wait_s / k->turn_s;
            known++;
        }
    }
    if (servers_known < f->servers || !f->servers)
        f->busy_ratio = NAN;
    if (known < f->workers - f->silent || known <= 0) /* a sum of some is none of all */
        f->per_s = NAN;
    f->wait_ratio = known > 0 ? wait / known : NAN;
    take_stale(u, f);
    compare(u, f);
}

void updates_get(struct updates *u, struct updates_figures *f)
{
    struct updates_rank *before = u->kept;
    size_t cap = u->kept_cap;

    if (u->computed) {
        *f = u->last;
        f->found = u->found && u->goes_on;
        return;
    }
    u->computed = true;
    u->goes_on = false;
    if (u->found) {
        compute(u, f);
        u->goes_on = 2 * f->silent <= f->workers;
    }
    if (u->goes_on) { /* the next ones are computed elsewhere, as long as these are the last */
        u->last = *f;
        u->kept = u->rank;
        u->kept_cap = u->rank_cap;
        u->rank = before;
        u->rank_cap = cap;
    }
    *f = u->last;
    f->found = u->goes_on;
}
