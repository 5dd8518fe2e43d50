#include "job/scaling_run.h"

#include <math.h>

#include "view/view.h"
#include "wire/json.h"

char *scaling_run_text(const struct projection_run *r)
{
    json_t *times = json_array(), *o;
    char *text;

    for (size_t i = 0; i < r->n_times; i++)
        json_array_append_new(
            times, json_pack("[s,o,o,o]", collective_ops[r->time[i].op], json_of_real(r->time[i].bytes),
                             json_of_real(r->time[i].time_s), json_of_real(r->time[i].time_error)));
    o = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "ranks", json_of_real(r->ranks), "ranks_per_node",
                  json_of_real(r->ranks_per_node), "step_s", json_of_real(r->step_s), "compute_s",
                  json_of_real(r->compute_s), "cv", json_of_real(r->cv), "behind", json_of_real(r->behind),
                  "behind_error", json_of_real(r->behind_error), "times", times);
    text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(o);
    return text;
}

static bool parse_time(const json_t *o, struct projection_time *k)
{
    const char *name = json_string_value(json_array_get(o, 0));

    *k = (struct projection_time){ name ? collective_op_find(name) : COLLECTIVE_OPS,
                                   json_number_of(json_array_get(o, 1)), json_number_of(json_array_get(o, 2)),
                                   json_number_of(json_array_get(o, 3)) };
    return k->op < COLLECTIVE_OPS && k->bytes >= 0 && k->time_s > 0 && k->time_error >= 0 &&
           isfinite(k->bytes + k->time_s + k->time_error);
}

bool scaling_run_parse(const char *text, struct projection_run *r)
{
    json_t *o = json_loads(text, 0, NULL);
    const json_t *times = json_object_get(o, "times");

    *r = (struct projection_run){ .ranks = json_get_number(o, "ranks"),
                                  .ranks_per_node = json_get_number(o, "ranks_per_node"),
                                  .step_s = json_get_number(o, "step_s"),
                                  .compute_s = json_get_number(o, "compute_s"),
                                  .cv = json_get_number(o, "cv"),
                                  .behind = json_get_number(o, "behind"),
                                  .behind_error = json_get_number(o, "behind_error") };
    for (size_t i = 0; i < json_array_size(times) && r->n_times < PROJECTION_TIMES; i++)
        r->n_times += parse_time(json_array_get(times, i), &r->time[r->n_times]);
    json_decref(o);
    return r->ranks >= 2 && r->ranks <= VIEW_RANKS_MAX && r->ranks_per_node >= 1 &&
           r->ranks_per_node <= r->ranks && r->step_s > 0 && r->compute_s > 0;
}
