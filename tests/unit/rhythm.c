/* What every so many steps do more, where some steps are missing from what is seen of the job. */
#include "detect/rhythm.h"

#include "common/xalloc.h"
#include "tests/tap.h"

#define RANKS 4u

/* Steps in which every `every`-th does `ratio` of the work; of a missing one the next has the work, too. */
static struct work_rhythm rhythm_of(uint32_t every, double ratio, const uint32_t *missing, size_t n_missing,
                                    uint32_t steps)
{
    struct work *w = work_new();
    struct work_rhythm found;
    float own_s[RANKS] = { 0 };

    for (uint32_t seq = 0; seq < steps; seq++) {
        bool is_missing = false;

        for (size_t i = 0; i < n_missing; i++)
            is_missing = is_missing || missing[i] == seq;
        for (uint32_t r = 0; r < RANKS; r++)
            own_s[r] += (float)((seq % every ? 0.1 : 0.1 * ratio) * (1 + 0.001 * (double)(seq * 7 % 5)));
        if (is_missing)
            continue;
        work_take(w, seq, own_s, RANKS, own_s[0], 0);
        rhythm_step(w, 1);
        for (uint32_t r = 0; r < RANKS; r++)
            own_s[r] = 0;
    }
    found = w->rhythm;
    work_free(w);
    return found;
}

int main(void)
{
    static const uint32_t some[] = { 26, 31, 38 }, sixth[] = { 11, 17, 23, 29, 35, 41, 47, 53, 59, 65 };
    struct work_rhythm r = rhythm_of(2, 1.24, NULL, 0, 80);

    is_int(r.period, 2, "every second step does more");
    r = rhythm_of(2, 1.24, some, ARRAY_SIZE(some), 80);
    is_int(r.period, 2, "... also where a few steps are missing, whose work is counted with the next");
    is_near(r.ratio, 1.24, 0.01, "... by as much");
    r = rhythm_of(1, 1, sixth, ARRAY_SIZE(sixth), 80);
    is_int(r.period, 0, "steps alike have no rhythm, though every sixth is missing");
    return done_testing();
}
