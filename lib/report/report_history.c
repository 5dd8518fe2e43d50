#include "report/report_history.h"

#include <math.h>

#include "common/xalloc.h"
#include "view/timeline.h"

/* Mean lateness over mean step time: the steps of the heat map, about a factor of two each. */
static const double heat_scale[REPORT_SCALE_MAX] = { 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6 };

/* ---- history ---- */

static const struct json_field run_fields[] = {
    { "width_s", FIELD_AMOUNT, FIELD(struct report_stretches, width_s) },
    { "age_s", FIELD_SERIES, FIELD(struct report_stretches, age_s) },
    { "step_s", FIELD_SERIES, FIELD(struct report_stretches, step_s) },
    { "synchronisation_ratio", FIELD_SERIES, FIELD(struct report_stretches, synchronisation_ratio) },
    { 0 },
};

const struct json_field report_history_fields[] = {
    { "column_s", FIELD_AMOUNT, FIELD(struct report_history, column_s) },
    { "step_s", FIELD_SERIES, FIELD(struct report_history, step_s) },
    { "steps_per_s", FIELD_SERIES, FIELD(struct report_history, steps_per_s) },
    { "skew_s", FIELD_SERIES, FIELD(struct report_history, skew_s) },
    { "synchronisation_ratio", FIELD_SERIES, FIELD(struct report_history, synchronisation_ratio) },
    { "run", FIELD_PART, PART(struct report_history, run, run_fields) },
    { 0 },
};

/* The newest max of those that there are. */
static void take_newest(struct json_series *s, const float *value, size_t have, size_t max)
{
    s->n = have < max ? have : max;
    for (size_t i = 0; i < s->n; i++)
        s->value[i] = value[have - s->n + i];
}

void report_history_get(struct report_history *h, const struct view *v, double now_s, uint32_t columns)
{
    struct view_columns c;
    struct view_stretches s;
    size_t have = view_columns_get(v, &c), n;

    h->column_s = view_column_s(v);
    take_newest(&h->step_s, c.step_s, have, columns);
    take_newest(&h->steps_per_s, c.steps_per_s, have, columns);
    take_newest(&h->skew_s, c.skew_s, have, columns);
    take_newest(&h->synchronisation_ratio, c.synchronisation_ratio, have, columns);
    have = view_stretches_get(v, &s);
    n = have < columns ? have : columns;
    h->run.known = n > 0;
    h->run.width_s = n ? s.width_s : NAN;
    h->run.age_s.n = n;
    for (size_t i = 0; i < n; i++)
        h->run.age_s.value[i] = fmax(0, now_s - s.at_s[have - n + i]);
    take_newest(&h->run.step_s, s.step_s, have, n);
    take_newest(&h->run.synchronisation_ratio, s.synchronisation_ratio, have, n);
}

/* ---- the heat map ---- */

static const struct json_field heat_fields[] = {
    { "column_s", FIELD_AMOUNT, FIELD(struct report_heat, column_s) },
    { "columns", FIELD_COUNT, FIELD(struct report_heat, columns) },
    { "scale", FIELD_SERIES, FIELD(struct report_heat, scale) },
    { 0 },
};

void report_heat_get(struct report_heat *h, const struct view *v, uint32_t columns)
{
    h->column_s = view_column_s(v);
    h->columns = columns;
    h->scale.n = ARRAY_SIZE(heat_scale);
    for (size_t i = 0; i < h->scale.n; i++)
        h->scale.value[i] = heat_scale[i];
}

json_t *report_heat_json(const struct report_heat *h)
{
    return json_of_fields(h, heat_fields);
}

void report_heat_read(struct report_heat *h, const json_t *o)
{
    json_get_fields(h, o, heat_fields);
    if (h->scale.n > REPORT_SCALE_MAX)
        h->scale.n = REPORT_SCALE_MAX;
}

char report_heat_level(double lateness_s, double step_s)
{
    char level = '0';

    if (isnan(lateness_s) || !(step_s > 0))
        return '.';
    for (size_t i = 0; i < ARRAY_SIZE(heat_scale); i++)
        level = (char)(level + (lateness_s / step_s >= heat_scale[i]));
    return level;
}
