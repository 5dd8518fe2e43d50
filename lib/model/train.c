#include "model/train.h"

#include <math.h>

#include "model/cadence.h"
#include "model/failure.h"
#include "model/step.h"

const char *const train_terms[TRAIN_TERMS] = { "compute", "communication", "synchronisation", "bubble",
                                               "other",   "batch",         "failure" };

static void predict_failures(const struct train *t, struct train_result *r)
{
    r->mtbf_s = t->node_mtbf_s / ceil(t->ranks / t->ranks_per_node);
    if (isinf(r->mtbf_s)) { /* without failures there are no checkpoints */
        r->interval_s = INFINITY;
        r->goodput = 1;
        return;
    }
    r->interval_s = cadence_young_s(t->write_s, r->mtbf_s);
    r->goodput = r->interval_s > 0 ? cadence_goodput(r->interval_s, t->write_s, t->restart_s, r->mtbf_s)
                                   : exp(-t->restart_s / r->mtbf_s);
}

/* Shares of the whole time: first that of failures, then that of the batch in the rest; the parts of an
 * iteration divide what remains. */
static void share_out(const struct train *t, struct train_result *r)
{
    double batch = t->ranks * t->batch_per_rank, wasted = batch / (batch + t->critical_batch);
    double left = r->goodput * (isnan(wasted) ? 1 : 1 - wasted), of = left / r->iteration_s;

    r->share[TRAIN_FAILURE] = 1 - r->goodput;
    r->share[TRAIN_BATCH] = isnan(wasted) ? 0 : r->goodput * wasted;
    r->share[TRAIN_COMPUTE] = t->compute_s * of;
    r->share[TRAIN_SYNCHRONISATION] = t->compute_s * (r->amplification - 1) * of;
    r->share[TRAIN_COMMUNICATION] = r->exposed_s * of;
    r->share[TRAIN_BUBBLE] = t->bubble * left;
    r->share[TRAIN_OTHER] = t->misc_s * of;
    r->regime = TRAIN_COMPUTE;
    for (int i = 0; i < TRAIN_TERMS; i++)
        if (r->share[i] > r->share[r->regime])
            r->regime = (enum train_term)i;
}

void train_predict(const struct train *t, struct train_result *r)
{
    struct collective exchange = t->exchange;

    exchange.ranks = t->ranks;
    exchange.ranks_per_node = t->ranks_per_node;
    r->comm_s = collective_time_s(&exchange, t->gradient_bytes);
    r->exposed_s = t->overlap > 0 ? step_exposed_s(r->comm_s, t->overlap, t->backward_s) : r->comm_s;
    r->amplification = order_amplification(t->dist, t->ranks, 0, t->cv);
    r->iteration_s = (t->compute_s * r->amplification + r->exposed_s + t->misc_s) / (1 - t->bubble);
    r->steps = t->min_steps * (1 + t->critical_batch / (t->ranks * t->batch_per_rank));
    predict_failures(t, r);
    r->hours = r->steps * r->iteration_s / r->goodput / 3600;
    r->s_per_batch_of_rank = r->iteration_s / r->goodput / t->ranks;
    share_out(t, r);
}

static enum train_term regime_at(const struct train *t, double nodes)
{
    struct train there = *t;
    struct train_result r;

    there.ranks = nodes * t->ranks_per_node;
    train_predict(&there, &r);
    return r.regime;
}

double train_next_wall(const struct train *t, double ranks_max, enum train_term *term)
{
    double low = ceil(t->ranks / t->ranks_per_node), high = low, last = floor(ranks_max / t->ranks_per_node);
    enum train_term now = regime_at(t, low);

    do {
        if (high >= last)
            return 0;
        low = high;
        high = fmin(2 * high, last);
        *term = regime_at(t, high);
    } while (*term == now);
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        enum train_term there = regime_at(t, middle);

        if (there == now) {
            low = middle;
        } else {
            high = middle;
            *term = there;
        }
    }
    return high * t->ranks_per_node;
}
