/* Does the whole job take longer than it did: said when it does, and not of what wanders, starts up or
 * pauses.
 */
#include "view/tempo.h"

#include <math.h>
#include <stdint.h>

#include "tests/random.h"
#include "tests/tap.h"

/* How much longer than the first ones a step of that number takes. */
typedef double factor_fn(uint32_t step, uint32_t steps);

static double steady(uint32_t step, uint32_t steps)
{
    (void)step;
    (void)steps;
    return 1;
}

static double starts_up(uint32_t step, uint32_t steps)
{
    (void)steps;
    return step < 3 ? 20 : step < 8 ? 2 : 1;
}

static double pauses(uint32_t step, uint32_t steps)
{
    (void)steps;
    return step % 50 == 40 ? 30 : 1;
}

static double evaluates(uint32_t step, uint32_t steps)
{
    (void)steps;
    return step % 100 >= 95 ? 3 : 1;
}

static double becomes_faster(uint32_t step, uint32_t steps)
{
    return step > steps / 2 ? 1 : 1.6;
}

static double wanders(uint32_t step, uint32_t steps)
{
    (void)steps;
    return 1 + 0.08 * sin(step / 30.0);
}

static double twice(uint32_t step, uint32_t steps)
{
    return step >= steps * 6 / 10 ? 2 : 1;
}

static double half_more(uint32_t step, uint32_t steps)
{
    return step >= steps * 6 / 10 ? 1.5 : 1;
}

static double grows(uint32_t step, uint32_t steps)
{
    return 1 + step / (double)steps;
}

static double now_and_then(uint32_t step, uint32_t steps)
{
    uint32_t part = step * 8 / steps;

    return part == 2 || part == 5 ? 2 : 1;
}

static const struct {
    const char *what;
    factor_fn *factor;
    enum tempo_kind kind;
    double ratio, since, part; /* of the run */
} cases[] = {
    { "steps that take the same", steady, TEMPO_STEADY, 0, 0, 0 },
    { "a slow start", starts_up, TEMPO_STEADY, 0, 0, 0 },
    { "pauses", pauses, TEMPO_STEADY, 0, 0, 0 },
    { "evaluations", evaluates, TEMPO_STEADY, 0, 0, 0 },
    { "a pace that wanders", wanders, TEMPO_STEADY, 0, 0, 0 },
    { "twice as long since a step", twice, TEMPO_SLOWER, 2, 0.6, 0 },
    { "half as long again since a step", half_more, TEMPO_SLOWER, 1.5, 0.6, 0 },
    { "longer and longer", grows, TEMPO_GROWING, 1.9, 0.05, 0 },
    { "slow stretches", now_and_then, TEMPO_STRETCHES, 2, 0, 0.25 },
    { "faster, which it was not before", becomes_faster, TEMPO_STRETCHES, 1.6, 0, 0.5 },
};

/* together: steps that are taken as one */
static void check_case(size_t i, uint32_t steps, uint32_t together)
{
    enum { RUNS = 50 };
    uint32_t right = 0, other = TEMPO_STEADY;
    struct tempo_change c;

    for (uint32_t run = 0; run < RUNS; run++) {
        struct tempo t = { 0 };
        double ratio, since, part;

        for (uint32_t step = together - 1; step < steps; step += together) {
            float work_s = (float)(0.5 * cases[i].factor(step, steps) * (0.97 + 0.06 * uniform()));

            tempo_take(&t, step, &(struct tempo_step){ work_s + 0.1f, work_s, NAN });
        }
        tempo_get(&t, &c);
        ratio = c.now.work_s / c.before.work_s;
        since = (double)c.since / steps;
        part = (double)c.steps / steps;
        if (c.kind == cases[i].kind &&
            (c.kind == TEMPO_STEADY || (fabs(ratio / cases[i].ratio - 1) < 0.1 &&
                                        (c.kind == TEMPO_STRETCHES ? fabs(part - cases[i].part) < 0.1
                                                                   : fabs(since - cases[i].since) < 0.06))))
            right++;
        else
            other = c.kind;
    }
    ok(right == RUNS, "%s, in %u steps, %u together: said as it is\n%u of %d, else %u", cases[i].what, steps,
       together, right, RUNS, other);
}

/* What a step takes longer is work, transfers and the rest, which are never more than all of it. */
static void parts_add_up(void)
{
    static const struct {
        struct tempo_step before, now, longer;
        const char *what;
    } changes[] = {
        { { 1, 0.75f, 0.125f }, { 2, 1.5f, 0.25f }, { 1, 0.75f, 0.125f }, "all of them grow" },
        { { 1, 0.75f, 0.125f }, { 2, 0.5f, 1 }, { 1, 0, 0.875f }, "work is less" },
        { { 1, 0.75f, 0.25f }, { 2, 1.5f, 1.25f }, { 1, 0.75f, 0.25f }, "they grow by more than all" },
        { { 1, 0.75f, NAN }, { 2, 2.25f, NAN }, { 1, 1, NAN }, "transfers are not known" },
        { { 1, NAN, 0.125f }, { 2, NAN, 0.25f }, { 1, NAN, 0.125f }, "work is not known" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        struct tempo_step got =
            tempo_longer(&(struct tempo_change){ .before = changes[i].before, .now = changes[i].now });
        const struct tempo_step *want = &changes[i].longer;

        ok(got.step_s == want->step_s &&
               (isnan(want->work_s) ? isnan(got.work_s) : got.work_s == want->work_s) &&
               (isnan(want->transfer_s) ? isnan(got.transfer_s) : got.transfer_s == want->transfer_s),
           "parts of what a step takes longer, where %s\n%g: %g and %g", changes[i].what, got.step_s,
           got.work_s, got.transfer_s);
    }
}

int main(void)
{
    static const uint32_t lengths[] = { 240, 400, 3000, 20000 };
    struct tempo_change c;
    struct tempo t = { 0 };

    random_state = 42;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t k = 0; k < ARRAY_SIZE(lengths); k++)
            check_case(i, lengths[k], 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        if (cases[i].factor != pauses && cases[i].factor != evaluates)
            check_case(i, 1600, 4);
    for (uint32_t step = 0; step < 40; step++)
        tempo_take(&t, step, &(struct tempo_step){ step < 20 ? 1 : 2, 1, NAN });
    tempo_get(&t, &c);
    ok(c.kind == TEMPO_STEADY, "few steps show no change");
    parts_add_up();
    return done_testing();
}
