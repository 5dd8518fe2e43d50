/* One rank's events made small, without losing what matters. */
#include "sampling/flow.h"

#include "ring/ring.h"
#include "tests/tap.h"

#define MS 1000000ull

static struct {
    uint64_t samples, whole, collectives, gap_ns, stay_ns, steps, step_items, step_ns, largest;
    bool nested; /* every block is a power of two that divides its beginning */
    uint32_t first_step_seq, last_step_seq;
} got;

static void take(const struct telemetry_item *item, void *arg)
{
    const struct sample *s = &item->sample;

    (void)arg;
    if (item->kind == TELEMETRY_STEP) {
        got.step_items++;
        got.steps += item->step.n_steps;
        got.step_ns += item->step.duration_ns;
        got.last_step_seq = item->step.seq;
        if (got.step_items == 1)
            got.first_step_seq = item->step.seq;
        return;
    }
    if (s->flags & SAMPLE_WHOLE) {
        got.whole++;
        return;
    }
    got.samples++;
    got.collectives += s->n;
    got.gap_ns += s->gap_sum_ns;
    got.stay_ns += s->stay_sum_ns;
    got.largest = s->n > got.largest ? s->n : got.largest;
    got.nested = got.nested && (s->n & (s->n - 1)) == 0 && s->seq % s->n == 0;
}

/* n collectives, a step is three of them; each gap_ns of work and stay_ns inside, the odd one out much
 * longer. */
static uint64_t run(double rate_hz, uint32_t n, uint64_t gap_ns, uint64_t stay_ns, uint32_t odd)
{
    struct flow *f = flow_new(0, 0, rate_hz);
    uint64_t t = 1000 * MS;

    memset(&got, 0, sizeof(got));
    got.nested = true;
    for (uint32_t i = 0; i < n; i++) {
        struct call c = { .comm = 1, .bytes = 8 << (i % 3), .seq = i, .root = -1, .op = RING_OP_ALLREDUCE };

        t += gap_ns;
        c.enter_ns = t;
        t += i == odd ? 50 * stay_ns : stay_ns;
        c.leave_ns = t;
        flow_call(f, &c, 4, 0, take, NULL);
    }
    flow_flush(f, t, 0, take, NULL);
    flow_free(f);
    return t - 1000 * MS;
}

static void overlap(void)
{
    struct flow *f = flow_new(0, 0, 100);
    struct call post = { .comm = 1,
                         .seq = 0,
                         .root = -1,
                         .op = RING_OP_ALLREDUCE,
                         .flags = RING_EVENT_NONBLOCKING,
                         .begin_ns = 10 * MS,
                         .enter_ns = 30 * MS,
                         .leave_ns = 35 * MS };

    memset(&got, 0, sizeof(got));
    flow_call(f, &post, 4, 0, take, NULL);
    post.seq = 1;
    post.begin_ns = 40 * MS;
    post.enter_ns = 70 * MS;
    post.leave_ns = 71 * MS;
    flow_call(f, &post, 4, 0, take, NULL);
    ok(got.stay_ns == 6 * MS && got.gap_ns == 35 * MS,
       "a nonblocking collective keeps the rank from the wait on\n%llu ms inside, %llu ms own work",
       (unsigned long long)(got.stay_ns / MS), (unsigned long long)(got.gap_ns / MS));
    flow_free(f);
}

int main(void)
{
    uint64_t total = run(100, 90, 20 * MS, 10 * MS, UINT32_MAX);

    is_int((long long)got.samples, 90, "a slow job sends every collective");
    ok(got.gap_ns + got.stay_ns == total - 20 * MS, "work and stay add up to the time");
    ok(got.steps >= 24 && got.step_ns == got.steps * 90 * MS, "at least 24 steps of 90 ms\n%llu",
       (unsigned long long)got.steps);
    ok(got.last_step_seq > got.first_step_seq && got.last_step_seq % 3 == got.first_step_seq % 3,
       "steps begin at the same place of the cycle");

    run(50, 60000, MS / 2, MS / 2, UINT32_MAX);
    ok(got.samples > 1000 && got.samples < 12000 && got.largest >= 16,
       "1,000 collectives a second are thinned to about 50\n%llu samples of up to %llu",
       (unsigned long long)got.samples, (unsigned long long)got.largest);
    ok(got.nested, "blocks of collectives are nested");
    is_int((long long)got.collectives, 60000, "blocks of collectives cover every collective");
    ok(got.step_items < got.steps / 4, "steps are put together too\n%llu in %llu items",
       (unsigned long long)got.steps, (unsigned long long)got.step_items);

    run(50, 60000, MS / 2, MS / 2, 40001);
    ok(got.whole >= 5 && got.whole <= 12, "an unusual one and its neighbours are sent whole\n%llu",
       (unsigned long long)got.whole);
    overlap();
    return done_testing();
}
