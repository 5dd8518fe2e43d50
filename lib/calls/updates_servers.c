/* updates_servers.c - servers in figures: which of them became slower, what a slow one costs, and which is
 * the limit. */
#include <math.h>

#include "calls/updates_private.h"
#include "model/serving.h"

#define TURNS_MIN 16u
/* Share of a server's time from which it is the limit, at the low end of its interval.  Chosen: with a tenth
 * of its time left there is little to gain; it is told until there is more. */
#define BUSY    0.9
#define BUSY_ON 0.85
/* Share of the busy time in which it answers: one that looks for messages without waiting for them, or does
 * other work, is busy all the time and no limit. */
#define SERVES 0.9
/* workers at the server on average, the one that is served among them: others wait half of the time */
#define AT_SERVER 1.5

/* How much longer a worker waits for a slow server than for the others: than for the last of those whose
 * answers it had taken before, as those that it takes later may have been there for long; and at least what
 * an update takes that server longer. */
static double longer_for(const struct updates *u, const struct updates_rank *worker,
                         const struct updates_rank *server)
{
    const struct pair *own = valid_pair(u, worker->rank, server->rank);
    double before_s = 0, least_s = server->usual_work_s * (1 - 1 / server->times);

    if (!own)
        return 0;
    for (uint32_t i = u->member[worker->rank].first; i != NONE; i = u->pair[i].next) {
        const struct pair *p = &u->pair[i];

        if (p->epoch == own->epoch && p->answer_s < own->answer_s)
            before_s = fmax(before_s, (double)p->answer_s);
    }
    return before_s > 0 ? fmax(least_s, (double)own->answer_s - before_s) : least_s;
}

/* Of one of several servers, for which all workers wait. */
static double price_of_several(const struct updates *u, const struct updates_figures *f,
                               const struct updates_rank *k)
{
    double per_s = 0;

    for (const struct updates_rank *w = u->rank; w < u->rank + f->n; w++) {
        double turn_s = w->turn_s - (w->serves ? 0 : longer_for(u, w, k));

        if (!w->serves && w->turns && !w->silent)
            per_s += turn_s > 0 ? 1 / turn_s : 1 / w->turn_s;
    }
    return per_s / f->per_s;
}

/* Of the only server: the workers' rate with its time for an update as it was, over the rate with it as it
 * is. */
static double price_of_only(const struct updates *u, const struct updates_figures *f, double before_s,
                            double now_s)
{
    double work_s = 0;
    uint32_t n = 0;

    for (const struct updates_rank *w = u->rank; w < u->rank + f->n; w++)
        if (!w->serves && w->turns && !w->silent) {
            work_s += w->turn_s - w->wait_s;
            n++;
        }
    return n ? serving_per_s(n, work_s / n, before_s) / serving_per_s(n, work_s / n, now_s) : NAN;
}

/* Workers that have sent their update and not got the answer, on average (Little, "A proof for the queuing
 * formula L = lambda W", Operations Research 9, 1961). */
static double waiting_at(const struct updates *u, const struct updates_figures *f, uint32_t server)
{
    double n = 0;

    for (const struct updates_rank *w = u->rank; w < u->rank + f->n; w++) {
        const struct pair *p = w->serves ? NULL : valid_pair(u, w->rank, server);

        if (p && w->turns && !w->silent)
            n += (double)p->answer_s / w->turn_s;
    }
    return n;
}

static void take_limit(const struct updates *u, const struct updates_figures *f, struct updates_rank *k)
{
    const struct member *m = &u->member[k->rank];
    double turn[UPDATES_TURNS], busy[UPDATES_TURNS], freedom, served = 0, answering = 0, error;

    if (m->accesses || k->turns < TURNS_MIN) /* memory does not answer: there is nobody to be busy */
        return;
    for (uint32_t i = 0; i < k->turns; i++) { /* the oldest first: they hang together */
        uint32_t at = (m->history->n - k->turns + i) % UPDATES_TURNS;

        turn[i] = (double)m->history->turn_s[at];
        busy[i] = fmax(0, turn[i] - (double)m->history->wait_s[at]);
        if (m->history->work_s[at] > 0) {
            served += (double)m->history->work_s[at];
            answering += busy[i];
        }
    }
    k->busy_ratio = fmax(0, 1 - k->wait_s / k->turn_s);
    error = interval_ratio_error(busy, turn, k->turns, &freedom) * k->busy_ratio;
    k->busy = interval_of(k->busy_ratio, error, freedom);
    k->busy.high = fmin(k->busy.high, 1);
    k->limit = (m->limit ? k->busy_ratio >= BUSY_ON : k->busy.low >= BUSY) && served > SERVES * answering &&
               waiting_at(u, f, k->rank) >= AT_SERVER;
}

void updates_server(const struct updates *u, const struct updates_figures *f, struct updates_rank *k)
{
    const struct member *m = &u->member[k->rank];
    struct serving_change c;

    take_limit(u, f, k);
    k->slowdown = k->slow ? price_of_several(u, f, k) : 1;
    if (k->slow || !k->turns || !m->serving || !serving_slower(m->serving, m->slow, &c))
        return;
    k->slow = k->became_slow = true;
    k->times = c.now_s / c.before_s;
    k->since_s = m->took_ns > c.since_ns ? (double)(m->took_ns - c.since_ns) * 1e-9 : 0;
    k->since_update = c.since_update;
    k->slowdown = f->servers > 1 ? price_of_several(u, f, k) : price_of_only(u, f, c.before_s, c.now_s);
}
