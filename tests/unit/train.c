#include "model/train.h"

#include "model/cadence.h"
#include "tests/tap.h"

static struct train sample(double ranks)
{
    return (struct train){
        .ranks = ranks,
        .ranks_per_node = 8,
        .compute_s = 0.4,
        .cv = 0.05,
        .dist = ORDER_NORMAL,
        .exchange = { .op = COLLECTIVE_ALLREDUCE,
                      .algo = COLLECTIVE_RING,
                      .link = { 10e-6, 25e9 },
                      .slowest_bytes_per_s = INFINITY,
                      .rails = 1,
                      .shards = 1,
                      .skew = 1 },
        .gradient_bytes = 1.4e9,
        .backward_s = NAN,
        .misc_s = 0.015,
        .batch_per_rank = 8,
        .min_steps = 200000,
        .critical_batch = 2048,
        .write_s = 300,
        .restart_s = 600,
        .node_mtbf_s = 157788000,
    };
}

static void shares(const struct train *t, const char *what)
{
    struct train_result r;
    double sum = 0;
    bool positive = true;

    train_predict(t, &r);
    for (int i = 0; i < TRAIN_TERMS; i++) {
        sum += r.share[i];
        positive &= r.share[i] >= 0;
    }
    ok(near(sum, 1, 1e-9) && positive, "shares of the time sum to one: %s", what);
}

int main(void)
{
    struct train t = sample(256);
    struct train_result r, more;
    enum train_term term;
    double wall;

    train_predict(&t, &r);
    ok(near(r.iteration_s, 0.4 * (1 + 0.05 * order_z(256, 0)) + 510 * (1e-5 + 1.4e9 / 256 / 25e9) + 0.015,
            1e-9),
       "an iteration is the sum of its parts");
    ok(r.steps == 400000, "at the critical batch the steps are twice the minimum");
    ok(near(r.goodput, 0.9888891441120227, 1e-6), "goodput with checkpoints and failures");
    ok(near(r.interval_s, cadence_young_s(300, 157788000 / 32.0), 1e-12),
       "the interval of checkpoints is Young's");
    ok(near(r.hours, r.steps * r.iteration_s / r.goodput / 3600, 1e-12),
       "hours are steps times iteration over goodput");
    shares(&t, "all terms");

    t.node_mtbf_s = INFINITY;
    train_predict(&t, &more);
    ok(more.goodput == 1 && more.hours < r.hours,
       "without failures goodput is 1 and the run takes less time");
    t.batch_per_rank = NAN;
    train_predict(&t, &more);
    ok(isnan(more.hours) && !isnan(more.iteration_s),
       "without a batch the iteration is known, hours are NaN");
    shares(&t, "no batch");

    t = sample(256);
    t.backward_s = 0.25;
    t.overlap = 0.8;
    t.bubble = 0.1;
    train_predict(&t, &more);
    ok(more.exposed_s == fmax(0, more.comm_s - 0.2), "overlap hides communication");
    shares(&t, "overlap and bubble");

    t = sample(64);
    train_predict(&t, &r);
    ok(r.regime == TRAIN_COMPUTE, "the regime of 64 ranks is compute");
    wall = train_next_wall(&t, 1e6, &term);
    ok(wall > 64 && fmod(wall, 8) == 0 && term != TRAIN_COMPUTE,
       "the wall is communication, above 64 ranks\n%s at %g ranks", train_terms[term], wall);
    t.ranks = wall;
    train_predict(&t, &more);
    ok(more.regime == term, "at the next wall its term is the largest");
    t.ranks = wall - 8;
    train_predict(&t, &more);
    ok(more.regime == TRAIN_COMPUTE, "one node below the next wall compute is the largest term");
    t.ranks = 64;
    t.critical_batch = t.batch_per_rank = NAN;
    t.cv = 0;
    t.gradient_bytes = 0;
    t.exchange.link.latency_s = 0;
    t.node_mtbf_s = INFINITY;
    ok(train_next_wall(&t, 1e6, &term) == 0, "without other terms there is no next wall");
    return done_testing();
}
