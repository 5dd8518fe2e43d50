#include "report/report_launch.h"

#include "wire/json.h"

static const struct json_field effect_fields[] = {
    { "placed", FIELD_COUNT, FIELD(struct report_effect, placed) },
    { "held_out", FIELD_COUNT, FIELD(struct report_effect, held_out) },
    { "ratio", FIELD_NUMBER, FIELD(struct report_effect, ratio) },
    { "low", FIELD_NUMBER, FIELD(struct report_effect, low) },
    { "high", FIELD_NUMBER, FIELD(struct report_effect, high) },
    { "text", FIELD_STRING, FIELD(struct report_effect, text) },
    { 0 },
};

static const struct json_field placement_fields[] = {
    { "pattern", FIELD_TEXT, FIELD(struct report_placement, pattern) },
    { "applied", FIELD_TRUE, FIELD(struct report_placement, applied) },
    { "compared", FIELD_TRUE, FIELD(struct report_placement, compared) },
    { "slurm_s", FIELD_NUMBER, FIELD(struct report_placement, slurm_s) },
    { "chosen_s", FIELD_NUMBER, FIELD(struct report_placement, chosen_s) },
    { "effect", FIELD_PART, PART(struct report_placement, effect, effect_fields) },
    { 0 },
};

static const struct json_field algorithm_fields[] = {
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
    return e->known ? fields_json(e, effect_fields) : NULL;
}

json_t *report_placement_json(const struct report_placement *p)
{
    return p->known ? fields_json(p, placement_fields) : NULL;
}

json_t *report_algorithm_json(const struct report_algorithm *a)
{
    return a->known ? fields_json(a, algorithm_fields) : NULL;
}

void report_placement_read(struct report_placement *p, const json_t *o)
{
    p->known = json_is_object(o);
    get_fields(p, o, placement_fields);
}

void report_algorithm_read(struct report_algorithm *a, const json_t *o)
{
    a->known = json_is_object(o);
    get_fields(a, o, algorithm_fields);
}
