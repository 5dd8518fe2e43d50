#include "model/pipeline.h"

#include "model/memory.h"
#include "tests/tap.h"

/* p stages, m micro-batches: when the last one leaves the last stage, step by step. */
static double walked(const double *stage_s, int p, int m)
{
    double free_at[16] = { 0 }, at = 0;

    for (int j = 0; j < m; j++) {
        at = 0;
        for (int i = 0; i < p; i++) {
            at = fmax(at, free_at[i]) + stage_s[i];
            free_at[i] = at;
        }
    }
    return at;
}

static void timed(void)
{
    static const double even[] = { 1, 1, 1, 1 }, uneven[] = { 0.8, 1.3, 1.1, 0.4 };

    for (int m = 1; m < 40; m += 7) {
        ok(near(pipeline_time_s(even, 4, m), walked(even, 4, m), 1e-12),
           "%d micro-batches: time with even stages", m);
        ok(near(pipeline_time_s(uneven, 4, m), walked(uneven, 4, m), 1e-12),
           "%d micro-batches: time with uneven stages", m);
        ok(near(pipeline_bubble(4, m, 1), 1 - m / walked(even, 4, m), 1e-12),
           "%d micro-batches: bubble of even stages", m);
        ok(near(pipeline_speedup(4, m, 1), 4 * m / walked(even, 4, m), 1e-12),
           "%d micro-batches have the speed-up of a simulated pipeline", m);
    }
}

int main(void)
{
    timed();
    ok(near(pipeline_bubble(8, 16, 4), 7 / 71.0, 1e-12), "chunks shrink the bubble");
    ok(pipeline_bubble(1, 16, 1) == 0, "one stage has no bubble");
    ok(pipeline_microbatches(0.95, 8, 1) == 133, "micro-batches for 95 %% utilization of 8 stages");
    ok(pipeline_microbatches(0.9, 11, 1) == 90, "an exact number of micro-batches is not rounded up");
    ok(pipeline_microbatches(0.9, 11, 4) == 23, "chunks need fewer micro-batches");
    ok(pipeline_microbatches(0, 8, 1) == 1, "at least one micro-batch is needed");
    for (double e = 0.05; e < 1; e += 0.09) {
        double m = pipeline_microbatches(e, 8, 1);

        ok(1 - pipeline_bubble(8, m, 1) >= e - 1e-12 && (m == 1 || 1 - pipeline_bubble(8, m - 1, 1) < e),
           "the number of micro-batches is the smallest that reaches %g", e);
    }
    ok(pipeline_in_flight(PIPELINE_GPIPE, 8, 16, 1) == 16 &&
           pipeline_in_flight(PIPELINE_1F1B, 8, 16, 1) == 8 &&
           pipeline_in_flight(PIPELINE_1F1B, 8, 4, 1) == 4 &&
           pipeline_in_flight(PIPELINE_INTERLEAVED, 8, 16, 7) == 9,
       "micro-batches in flight by schedule");
    ok(memory_bytes_per_parameter(0, 64) == 16 && memory_bytes_per_parameter(1, 4) == 7 &&
           memory_bytes_per_parameter(2, 7) == 4 && memory_bytes_per_parameter(3, 64) == 0.25,
       "bytes per parameter by stage of ZeRO");
    for (int stage = 0; stage < 4; stage++)
        ok(memory_bytes_per_parameter(stage, 1) == 16, "on one rank stage %d shares nothing", stage);
    ok(memory_ranks_needed(3, 175e9, 80e9) == 35 && memory_ranks_needed(0, 7e9, 112e9) == 1,
       "smallest number of ranks whose memory suffices");
    ok(isinf(memory_ranks_needed(0, 7e9, 80e9)) && isinf(memory_ranks_needed(1, 7e9, 28e9)),
       "no number of ranks suffices if a stage never fits");
    return done_testing();
}
