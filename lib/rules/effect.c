#include "rules/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/batch.h"
#include "model/deviate.h"
#include "model/statistics.h"

#define COLUMNS_MAX 512
#define SURE        0.95  /* quantile on either side, for an interval of 90 % */
#define MEDIAN_VAR  1.571 /* variance of a median over that of a mean: pi / 2 */

struct effect_level effect_level(const float *step_s, size_t n, double column_s, double from_s, double to_s)
{
    struct effect_level level = { NAN, NAN, 0 };
    float known[COLUMNS_MAX];
    double logs[COLUMNS_MAX];
    struct batch_mean mean;
    size_t k = 0;

    for (size_t i = 0; i < n && k < COLUMNS_MAX; i++) {
        double ends_s = (double)(n - 1 - i) * column_s, begins_s = ends_s + column_s; /* ago */

        if (begins_s <= from_s * (1 + 1e-9) && ends_s >= to_s && isfinite(step_s[i]) && step_s[i] > 0) {
            logs[k] = log((double)step_s[i]);
            known[k++] = step_s[i];
        }
    }
    if (k < EFFECT_COLUMNS_MIN)
        return level;
    level.median_s = statistics_medianf(known, k);
    mean = batch_mean(logs, k);
    level.n = mean.n;
    if (k >= EFFECT_INTERVAL_MIN)
        level.error = sqrt(MEDIAN_VAR * mean.variance);
    return level;
}

struct effect_ratio effect_ratio(const struct effect_level *before, const struct effect_level *after)
{
    struct effect_ratio r = { NAN, NAN, NAN };
    double away;

    if (!(before->median_s > 0) || !(after->median_s > 0))
        return r;
    r.value = after->median_s / before->median_s;
    away = deviate_student(SURE, fmax(1, fmin(before->n, after->n) - 1)) * hypot(before->error, after->error);
    if (!isnan(before->error) && !isnan(after->error)) {
        r.low = r.value * exp(-away);
        r.high = r.value * exp(away);
    }
    return r;
}

char *effect_words(const struct effect_ratio *r, const char *of, char *buf, size_t size)
{
    if (isnan(r->low))
        snprintf(buf, size, "%.2f of the step time (too few %s for an interval)", r->value, of);
    else
        snprintf(buf, size, "%.2f of the step time (%.2f to %.2f)", r->value, r->low, r->high);
    return buf;
}

char *effect_text(const struct decision *d, const struct effect_ratio *r, char *buf, size_t size)
{
    char action_text[256], words[96];

    decision_action_text(d, true, action_text, sizeof(action_text));
    if (isnan(r->value)) {
        snprintf(buf, size, "%s: the step time afterwards is not known", action_text);
        return buf;
    }
    effect_words(r, "steps", words, sizeof(words));
    if (isnan(d->projected_ratio))
        snprintf(buf, size, "%s: %s", action_text, words);
    else if (fabs(r->value - d->projected_ratio) <= EFFECT_NEAR * d->projected_ratio)
        snprintf(buf, size, "%s: %s, as projected", action_text, words);
    else
        snprintf(buf, size, "%s: %s, %.2f was projected", action_text, words, d->projected_ratio);
    return buf;
}
