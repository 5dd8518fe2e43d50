#include "report/report_past.h"

const struct json_field report_past_fields[] = {
    { "runs", FIELD_COUNT, FIELD(struct report_past, runs) },
    { "step_p50_s", FIELD_NUMBER, FIELD(struct report_past, step_p50_s) },
    { "step_ratio", FIELD_NUMBER, FIELD(struct report_past, step_ratio) },
    { "run_spread", FIELD_NUMBER, FIELD(struct report_past, run_spread) },
    { "spread_ratio", FIELD_NUMBER, FIELD(struct report_past, spread_ratio) },
    { "reruns", FIELD_COUNT, FIELD(struct report_past, reruns) },
    { "starts", FIELD_COUNT, FIELD(struct report_past, starts) },
    { "energy_j_per_step", FIELD_NUMBER, FIELD(struct report_past, energy_j_per_step) },
    { "energy_ratio", FIELD_NUMBER, FIELD(struct report_past, energy_ratio) },
    { "unusual", FIELD_TRUE, FIELD(struct report_past, unusual) },
    { "text", FIELD_STRING, FIELD(struct report_past, text) },
    { 0 },
};

static const struct json_field guarded_fields[] = {
    { "reference", FIELD_STRING, FIELD(struct report_guarded, reference) },
    { "text", FIELD_STRING, FIELD(struct report_guarded, text) },
    { 0 },
};

static const struct json_field ratio_fields[] = {
    { "reference", FIELD_STRING, FIELD(struct report_guarded_ratio, reference) },
    { "value", FIELD_AMOUNT, FIELD(struct report_guarded_ratio, value) },
    { "low", FIELD_AMOUNT, FIELD(struct report_guarded_ratio, low) },
    { "high", FIELD_AMOUNT, FIELD(struct report_guarded_ratio, high) },
    { "selected", FIELD_TRUE, FIELD(struct report_guarded_ratio, selected) },
    { 0 },
};

static const char *const figures[GUARDED_FIGURES] = { "step", "throughput", "cv", "synchronisation",
                                                      "skew", "energy" };

json_t *report_guarded_json(const struct report_guarded *g)
{
    json_t *o = json_object(), *ratios = json_object();

    for (int f = 0; f < GUARDED_FIGURES; f++) {
        const struct report_guarded_ratio *ratio = &g->ratio[f];

        json_put_json(ratios, figures[f], *ratio->reference ? json_of_fields(ratio, ratio_fields) : NULL);
    }
    json_put_fields(o, g, guarded_fields);
    json_put_json(o, "ratios", ratios);
    return o;
}

void report_guarded_read(struct report_guarded *g, const json_t *o)
{
    const json_t *ratios = json_get_object(o, "ratios");

    json_get_fields(g, o, guarded_fields);
    for (int f = 0; f < GUARDED_FIGURES; f++)
        json_get_fields(&g->ratio[f], json_get_object(ratios, figures[f]), ratio_fields);
    g->known = json_get_object(ratios, figures[GUARDED_STEP]) != NULL;
}
