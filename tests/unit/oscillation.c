/* Jobs that begin to alternate between fast and slow steps, where the records of some steps are lost. */
#include "detect/oscillation.h"

#include "detect/rhythm.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS  8u
#define FAST_S 0.1f
#define STEPS  120u

struct run {
    struct oscillation found;
    double true_s;  /* by which the slow steps made it longer */
    uint64_t onset; /* step of those that are seen */
    bool ever;      /* it was found at some time */
};

/* From step `from` on every second step does `ratio` of the work; of every `lose`-th the records are lost (0:
 * of none), and the next one's work has that of both. */
static struct run run_of(uint32_t from, float ratio, uint32_t lose)
{
    struct work *w = work_new();
    float own_s[RANKS] = { 0 };
    struct run run = { .onset = 0 };

    for (uint32_t seq = 0; seq < STEPS; seq++) {
        bool slow = seq >= from && (seq - from) % 2 == 0;
        double duration_s = 0;

        for (uint32_t r = 0; r < RANKS; r++)
            own_s[r] += FAST_S * (slow ? ratio : 1) * (1 + 0.005f * (float)gauss());
        run.true_s += slow ? FAST_S * (ratio - 1) : 0;
        run.onset += seq < from && !(lose && seq % lose == lose - 1);
        if (lose && seq % lose == lose - 1)
            continue;
        for (uint32_t r = 0; r < RANKS; r++)
            duration_s = own_s[r] > duration_s ? own_s[r] : duration_s;
        work_take(w, seq, own_s, RANKS, duration_s, 0.001);
        rhythm_step(w, 1);
        oscillation_step(&run.found, w, 1, 1.02);
        run.ever = run.ever || run.found.standing;
        memset(own_s, 0, sizeof(own_s));
    }
    work_free(w);
    return run;
}

static void alternates(uint32_t lose, const char *which)
{
    struct run run = run_of(40, 1.3f, lose);

    ok(run.found.standing, "%s: it alternates", which);
    is_int(run.found.period, 2, "%s: every second step is slow", which);
    is_near(run.found.ratio, 1.3, 0.02, "%s: by as much", which);
    is_near((double)run.found.onset, (double)run.onset, 0.05, "%s: since that step", which);
    is_near(run.found.saved_s, run.true_s, 0.05, "%s: at that price", which);
}

int main(void)
{
    alternates(0, "all steps are seen");
    alternates(7, "one step in seven is lost");
    alternates(10, "one step in ten is lost");
    ok(!run_of(STEPS, 1, 2).ever, "steps alike, of which every second is lost: nothing alternates");
    ok(!run_of(STEPS, 1, 3).ever, "steps alike, of which every third is lost: nothing alternates");
    ok(!run_of(STEPS, 1, 7).ever, "steps alike, of which every seventh is lost: nothing alternates");
    return done_testing();
}
