#include "model/waiting.h"

#include <math.h>
#include <string.h>

#include "model/statistics.h"

#define BATCHES    8
#define RING       8   /* rounds kept, more than the largest bound */
#define WARM       0.1 /* share of the steps until ranks that may run ahead have done so */
#define GROUPS_MIN 4   /* least number of groups of local steps */

const unsigned waiting_bounds[WAITING_BOUNDS] = { 1, 2, 4 };

/* Waiting time, by batches of steps. */
struct batch_sums {
    double waited_s[BATCHES], steps[BATCHES];
};

struct bounded {
    double *finish, gate[RING], end_s;
    bool beside; /* the exchange overlaps the work */
    struct batch_sums sums;
};

struct waiting_replay {
    const struct waiting_input *in;
    double *own, *before; /* by rank: work of this step, of the one before */
    double before_mean_s;
    double *even, *odd; /* by rank: means of every second step */
    double *node;       /* by node; shares the memory of own */
    struct bounded bounded[WAITING_BOUNDS][2];
    struct {
        double *added, mean_s;
        struct batch_sums sums;
    } local[WAITING_LOCALS];
    struct batch_sums all, odd_all, no_rank, no_node; /* the last three of every second step */
    uint32_t slow_rank, slow_node;
    size_t warm;
};

static void count_waiting(const struct waiting_replay *r, struct batch_sums *s, size_t step, double waited_s,
                          double steps)
{
    size_t batch = step * BATCHES / r->in->steps;

    s->waited_s[batch] += waited_s;
    s->steps[batch] += steps;
}

static double waited_per_step(const struct batch_sums *s)
{
    double sum = 0, steps = 0;

    for (int b = 0; b < BATCHES; b++) {
        sum += s->waited_s[b];
        steps += s->steps[b];
    }
    return steps > 0 ? sum / steps : NAN;
}

/* Waiting over that of all, with its standard error over the batches.  by_choice: the error is that of one
 * batch, for the choice of a replacement is not averaged out. */
static struct waiting_share share_of(const struct batch_sums *s, const struct batch_sums *all, bool by_choice)
{
    double over = waited_per_step(all), value = waited_per_step(s) / over, n = 0, square = 0, error;

    if (!(over > 0)) /* no rank waits */
        return (struct waiting_share){ 1, 0 };
    for (int b = 0; b < BATCHES; b++)
        if (s->steps[b] > 0 && all->steps[b] > 0) {
            double residual = s->waited_s[b] / s->steps[b] - value * all->waited_s[b] / all->steps[b];

            square += residual * residual;
            n++;
        }
    error = n > 1 ? sqrt(square / (n - 1)) / over : NAN;
    return (struct waiting_share){ fmax(0, value), by_choice ? error : error / sqrt(n) };
}

/* ---- ranks ---- */

/* Take the work of each rank in a step; unknown ones get the mean, which is returned. */
static double take_step(struct waiting_replay *r, size_t step)
{
    uint32_t n = r->in->ranks, known = 0;
    double sum = 0, mean;

    r->in->work(r->in->arg, step, r->own);
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(r->own[i])) {
            sum += r->own[i];
            known++;
        }
    mean = known ? sum / known : 0;
    for (uint32_t i = 0; i < n && known < n; i++)
        r->own[i] = isnan(r->own[i]) ? mean : r->own[i];
    return mean;
}

static void find_means(struct waiting_replay *r)
{
    size_t steps = r->in->steps;

    for (size_t k = 0; k < steps; k++) {
        double *sum = k % 2 ? r->odd : r->even;

        take_step(r, k);
        for (uint32_t i = 0; i < r->in->ranks; i++)
            sum[i] += r->own[i];
    }
    for (uint32_t i = 0; i < r->in->ranks; i++) {
        r->even[i] /= (double)(steps - steps / 2);
        r->odd[i] /= (double)(steps / 2);
    }
}

static void find_slowest(struct waiting_replay *r)
{
    uint32_t n = r->in->ranks;
    double mean = statistics_mean(r->even, n).mean,
           *excess = r->own; /* by node; there are at most as many nodes as ranks */

    for (uint32_t i = 1; i < n; i++)
        r->slow_rank = r->even[i] > r->even[r->slow_rank] ? i : r->slow_rank;
    if (!r->in->node)
        return;
    memset(excess, 0, r->in->nodes * sizeof(*excess));
    for (uint32_t i = 0; i < n; i++)
        excess[r->in->node[i]] += r->even[i] - mean;
    for (uint32_t k = 1; k < r->in->nodes; k++)
        r->slow_node = excess[k] > excess[r->slow_node] ? k : r->slow_node;
}

/* ---- a step by each of the rules ---- */

static bool of_slow_node(const struct waiting_replay *r, uint32_t rank)
{
    return r->in->node && r->in->node[rank] == r->slow_node;
}

/* A replaced rank gets another rank's work of the step before.  That rank is chosen by batch, so that the
 * batches differ by the choice. */
static double like_others(const struct waiting_replay *r, size_t step, uint32_t rank, bool node,
                          double mean_s)
{
    uint32_t n = r->in->ranks, at = rank;
    size_t batch = step * BATCHES / r->in->steps;

    for (uint32_t tried = 0; tried < n; tried++) {
        at = (uint32_t)((rank + 1 + tried + batch * n / BATCHES) % n);
        if (at != r->slow_rank && !(node && of_slow_node(r, at)))
            break;
    }
    return r->before_mean_s > 0 ? r->before[at] / r->before_mean_s * mean_s : mean_s;
}

static void step_together(struct waiting_replay *r, size_t step, double mean_s)
{
    double last = 0, no_rank = 0, no_node = 0;

    for (uint32_t i = 0; i < r->in->ranks; i++)
        last = fmax(last, r->own[i]);
    count_waiting(r, &r->all, step, last - mean_s, 1);
    if (step % 2 == 0)
        return;
    for (uint32_t i = 0; i < r->in->ranks; i++) {
        bool rank = i == r->slow_rank, node = of_slow_node(r, i);

        no_rank = fmax(no_rank, rank ? like_others(r, step, i, false, mean_s) : r->own[i]);
        no_node = fmax(no_node, node ? like_others(r, step, i, true, mean_s) : r->own[i]);
    }
    count_waiting(r, &r->odd_all, step, last - mean_s, 1);
    count_waiting(r, &r->no_rank, step, fmax(0, no_rank - mean_s), 1);
    count_waiting(r, &r->no_node, step, fmax(0, no_node - mean_s), 1);
}

static void step_bounded(struct waiting_replay *r, struct bounded *b, size_t step, unsigned bound,
                         double mean_s)
{
    double begin_s = step > bound ? b->gate[(step - 1 - bound) % RING] : 0, last = 0, before_s = b->end_s;

    for (uint32_t i = 0; i < r->in->ranks; i++) {
        b->finish[i] = fmax(b->finish[i], begin_s) + r->own[i] + r->in->other_s;
        last = fmax(last, b->finish[i]);
    }
    b->end_s = b->beside ? fmax(last, before_s) + r->in->exchange_s : last;
    b->gate[step % RING] = b->end_s;
    if (step >= r->warm)
        count_waiting(r, &b->sums, step, b->end_s - before_s - mean_s - r->in->other_s, 1);
}

static void step_local(struct waiting_replay *r, int l, size_t step, double mean_s)
{
    unsigned every = 2u << l;
    double last = 0, *added = r->local[l].added;

    for (uint32_t i = 0; i < r->in->ranks; i++) {
        added[i] += r->own[i];
        last = fmax(last, added[i]);
    }
    r->local[l].mean_s += mean_s;
    if ((step + 1) % every)
        return;
    count_waiting(r, &r->local[l].sums, step, last - r->local[l].mean_s, every);
    memset(added, 0, r->in->ranks * sizeof(*added));
    r->local[l].mean_s = 0;
}

/* ---- the replay ---- */

static void share_out(struct waiting_replay *r, double *scratch)
{
    size_t n = r->in->ranks;

    memset(scratch, 0, WAITING_SCRATCH * n * sizeof(*scratch));
    r->even = scratch;
    r->odd = scratch + n;
    r->own = scratch + 2 * n;
    r->before = scratch + 3 * n;
    scratch += 4 * n;
    for (int b = 0; b < WAITING_BOUNDS; b++)
        for (int beside = 0; beside < 2; beside++, scratch += n)
            r->bounded[b][beside] = (struct bounded){ .finish = scratch, .beside = beside };
    for (int l = 0; l < WAITING_LOCALS; l++, scratch += n)
        r->local[l].added = scratch;
}

bool waiting_replay(const struct waiting_input *in, double *scratch, struct waiting *out)
{
    struct waiting_replay r = { .in = in };

    if (in->ranks < 2 || in->steps < WAITING_STEPS_MIN || (in->node && in->nodes > in->ranks))
        return false;
    share_out(&r, scratch);
    r.warm = waiting_bounds[WAITING_BOUNDS - 1] + (size_t)(WARM * (double)in->steps);
    find_means(&r);
    find_slowest(&r);
    for (size_t k = 0; k < in->steps; k++) {
        double mean_s = take_step(&r, k);

        step_together(&r, k, mean_s);
        for (int b = 0; b < WAITING_BOUNDS; b++)
            for (int beside = 0; beside < 2; beside++)
                step_bounded(&r, &r.bounded[b][beside], k, waiting_bounds[b], mean_s);
        for (int l = 0; l < WAITING_LOCALS; l++)
            step_local(&r, l, k, mean_s);
        memcpy(r.before, r.own, in->ranks * sizeof(*r.own));
        r.before_mean_s = mean_s;
    }
    *out = (struct waiting){ .all_s = waited_per_step(&r.all),
                             .slow_rank = r.slow_rank,
                             .slow_node = r.slow_node,
                             .no_rank = share_of(&r.no_rank, &r.odd_all, true),
                             .no_node = share_of(&r.no_node, &r.odd_all, true),
                             .lasting = r.odd[r.slow_rank] / statistics_mean(r.odd, in->ranks).mean - 1 };
    for (int b = 0; b < WAITING_BOUNDS; b++) {
        out->bounded[b] = share_of(&r.bounded[b][0].sums, &r.all, false);
        out->exposed_s[b] =
            fmax(0, waited_per_step(&r.bounded[b][1].sums) - waited_per_step(&r.bounded[b][0].sums));
    }
    for (int l = 0; l < WAITING_LOCALS; l++)
        out->local[l] = in->steps >= (size_t)GROUPS_MIN * (2u << l)
                            ? share_of(&r.local[l].sums, &r.all, false)
                            : (struct waiting_share){ NAN, NAN };
    return true;
}

double waiting_alone_s(const struct waiting_input *in, const double *scratch, double extra_s)
{
    double rates = 0;

    for (uint32_t i = 0; i < in->ranks; i++)
        rates += 1 / ((scratch[i] + scratch[in->ranks + i]) / 2 + extra_s);
    return in->ranks / rates;
}

struct waiting_share waiting_local(const struct waiting *w, double mean_s, double every)
{
    double at = log2(every) - 1, last = 0, min = 0;
    int below;

    while (last + 1 < WAITING_LOCALS && !isnan(w->local[(int)last + 1].value))
        last++;
    if (at <= 0) { /* one local step is the present */
        double share = fmax(0, at + 1);

        return (struct waiting_share){ 1 + share * (w->local[0].value - 1), share * w->local[0].error };
    }
    if (at < last) {
        below = (int)at;
        at -= below;
        return (struct waiting_share){ w->local[below].value +
                                           at * (w->local[below + 1].value - w->local[below].value),
                                       fmax(w->local[below].error, w->local[below + 1].error) };
    }
    if (w->all_s > 0) /* lasting differences are waited for however rarely the ranks meet */
        min = fmax(0, fmin(1, w->lasting * mean_s / w->all_s));
    return (struct waiting_share){ fmax(min, w->local[(int)last].value * exp2((last - at) / 2)),
                                   w->local[(int)last].error };
}
