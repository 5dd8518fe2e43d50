#include "history/starts.h"

#include <math.h>
#include <stdio.h>

/* The level of placed or of held-out starts. */
static struct effect_level level_of(const struct start *start, size_t n, bool held_out, size_t *count)
{
    float step_s[STARTS_COMPARED_MAX];
    size_t k = 0;

    for (size_t i = n; i-- > 0;)
        if (start[i].held_out == held_out && start[i].step_p50_s > 0)
            step_s[k++] = (float)start[i].step_p50_s;
    *count = k;
    return effect_level(step_s, k, 1, (double)k, 0);
}

bool starts_compare(const struct start *start, size_t n, const struct starts_words *words, struct starts *out)
{
    struct starts s = { .placed = 0 };
    struct effect_level placed, held_out;
    char starts[120], effect[96];

    n = n < STARTS_COMPARED_MAX ? n : STARTS_COMPARED_MAX;
    placed = level_of(start, n, false, &s.placed);
    held_out = level_of(start, n, true, &s.held_out);
    if (!s.placed && !s.held_out)
        return false;
    s.effect = effect_ratio(&held_out, &placed);
    snprintf(starts, sizeof(starts), "%zu start%s %s and %zu %s", s.placed, s.placed == 1 ? "" : "s",
             words->placed, s.held_out, words->held_out);
    if (isnan(s.effect.value))
        snprintf(s.text, sizeof(s.text), "%s are too few to compare", starts);
    else
        snprintf(s.text, sizeof(s.text), "%s: %s", starts,
                 effect_words(&s.effect, "starts", effect, sizeof(effect)));
    *out = s;
    return true;
}
