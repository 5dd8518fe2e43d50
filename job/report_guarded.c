/* report_guarded.c - a job under the guard over its own unguarded reference, from what its report tells. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view.h"
#include "common/xalloc.h"
#include "job/guarded.h"
#include "job/job.h"
#include "job/report_job.h"
#include "wire/json.h"

#define LEVERS_MAX 4096u

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool is_word(const json_t *o, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(o, key));

    return text && !strcmp(text, word);
}

/* The lever that is in force on a node, as far as it was compared. */
static size_t take_node(const json_t *node, struct guarded_lever *lever, size_t n)
{
    const json_t *one;
    size_t i;

    if (!is_word(node, "mode", "in force"))
        return n;
    json_array_foreach(json_object_get(node, "levers"), i, one) {
        const char *name = get_string(one, "lever");

        if (name && is_word(node, "lever", name) && n < LEVERS_MAX)
            lever[n++] = (struct guarded_lever){ number(node, "ranks"), number(one, "ratio"),
                                                 number(one, "low"), number(one, "high") };
    }
    return n;
}

static size_t take_levers(const json_t *report, struct guarded_lever *lever)
{
    const json_t *node, *nodes = json_object_get(json_object_get(report, "pace"), "nodes");
    size_t i, n = 0;

    json_array_foreach(nodes, i, node)
        n = take_node(node, lever, n);
    return n;
}

/* What is only said changes nothing. */
static bool changes(const json_t *decision)
{
    static const char *const words[] = { "node_comment", "job_comment", "webhook" };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (is_word(decision, "action", words[i]))
            return false;
    return is_word(decision, "state", "enforced") && is_word(decision, "outcome", "done");
}

/* Unix time of the first thing that was done to the job; NaN: nothing was, or it is no longer in the list. */
static double first_action(const json_t *report)
{
    const json_t *one, *list = json_object_get(json_object_get(report, "policy"), "decisions");
    double first = NAN;
    size_t i;

    if (json_array_size(list) >= JOB_DECISIONS)
        return NAN;
    json_array_foreach(list, i, one) {
        if (changes(one) && !(number(one, "at") < number(report, "start"))) /* not of an earlier run */
            first = fmin(isnan(first) ? INFINITY : first, number(one, "at"));
    }
    return first;
}

/* Columns that are over before the first action; the one it falls in is of neither. */
static void take_series(const json_t *history, const char *key, double since_s, double *room,
                        struct guarded_series *s)
{
    const json_t *list = json_object_get(history, key), *v;
    double column_s = number(history, "column_s"), before;
    size_t i, n = json_array_size(list);

    before = (double)n - 1 - floor(since_s / column_s);
    if (!(before >= 1) || n > VIEW_COLUMNS || !(column_s > 0))
        return;
    json_array_foreach(list, i, v)
        room[i] = json_is_number(v) ? json_number_value(v) : NAN;
    room[(size_t)before] = NAN;
    *s = (struct guarded_series){ room, n, (size_t)before };
}

static json_t *ratio_json(const struct guarded_ratio *r)
{
    json_t *o;

    if (!r->reference)
        return json_null();
    o = json_pack("{s:s}", "reference", guarded_reference_name(r->reference));
    json_object_set_new(o, "value", real_json(r->value));
    json_object_set_new(o, "low", real_json(r->low));
    json_object_set_new(o, "high", real_json(r->high));
    json_object_set_new(o, "selected", json_boolean(guarded_selected(r->reference)));
    return o;
}

void report_put_guarded(json_t *report, double wall_s)
{
    static const struct {
        enum guarded_figure figure;
        const char *key;
    } columns[] = { { GUARDED_STEP, "step_s" },
                    { GUARDED_THROUGHPUT, "steps_per_s" },
                    { GUARDED_LOST, "lost_ratio" },
                    { GUARDED_SKEW, "skew_s" } };
    const json_t *past = json_object_get(report, "past"), *history = json_object_get(report, "history");
    struct guarded_lever *lever = xcalloc(LEVERS_MAX, sizeof(*lever));
    double room[ARRAY_SIZE(columns)][VIEW_COLUMNS], at = first_action(report);
    struct guarded_input in = { .lever = lever, .n_levers = take_levers(report, lever) };
    struct guarded g;
    json_t *o = json_object();

    in.runs =
        (struct guarded_runs){ number(past, "runs"), number(past, "run_spread"), number(past, "step_ratio"),
                               number(past, "spread_ratio"), number(past, "energy_ratio") };
    for (size_t i = 0; i < ARRAY_SIZE(columns) && !isnan(at); i++)
        take_series(history, columns[i].key, fmax(0, wall_s - at), room[i], &in.series[columns[i].figure]);
    guarded_compare(&in, &g);
    for (int f = 0; f < GUARDED_FIGURES; f++)
        json_object_set_new(o, guarded_figure_name((enum guarded_figure)f), ratio_json(&g.ratio[f]));
    json_object_set_new(report, "guarded",
                        json_pack("{s:s, s:s, s:o}", "reference",
                                  guarded_reference_name(g.ratio[GUARDED_STEP].reference), "text", g.text,
                                  "ratios", o));
    free(lever);
}
