#include "report/report_launch.h"

static const struct json_field effect_fields[] = {
    { "placed", FIELD_COUNT, FIELD(struct report_effect, placed) },
    { "held_out", FIELD_COUNT, FIELD(struct report_effect, held_out) },
    { "ratio", FIELD_NUMBER, FIELD(struct report_effect, ratio) },
    { "low", FIELD_NUMBER, FIELD(struct report_effect, low) },
    { "high", FIELD_NUMBER, FIELD(struct report_effect, high) },
    { "text", FIELD_STRING, FIELD(struct report_effect, text) },
    { 0 },
};

const struct json_field report_placement_fields[] = {
    { "pattern", FIELD_TEXT, FIELD(struct report_placement, pattern) },
    { "applied", FIELD_TRUE, FIELD(struct report_placement, applied) },
    { "compared", FIELD_TRUE, FIELD(struct report_placement, compared) },
    { "slurm_s", FIELD_NUMBER, FIELD(struct report_placement, slurm_s) },
    { "chosen_s", FIELD_NUMBER, FIELD(struct report_placement, chosen_s) },
    { "effect", FIELD_PART, PART(struct report_placement, effect, effect_fields) },
    { 0 },
};

const struct json_field report_algorithm_fields[] = {
    { "name", FIELD_TEXT, FIELD(struct report_algorithm, name) },
    { "applied", FIELD_TRUE, FIELD(struct report_algorithm, applied) },
    { "compared", FIELD_TRUE, FIELD(struct report_algorithm, compared) },
    { "usual_s", FIELD_NUMBER, FIELD(struct report_algorithm, usual_s) },
    { "most_s", FIELD_NUMBER, FIELD(struct report_algorithm, most_s) },
    { "effect", FIELD_PART, PART(struct report_algorithm, effect, effect_fields) },
    { 0 },
};

json_t *report_effect_json(const struct report_effect *e)
{
    return e->known ? json_of_fields(e, effect_fields) : NULL;
}
