/* report_guarded.c - a job under the guard compared with its own unguarded reference (guarded.h), as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/guarded.h"
#include "job/job.h"
#include "job/report_job.h"
#include "view/timeline.h"
#include "wire/json.h"

/* The levers in force on nodes that have been compared; returns their number. */
static size_t take_levers(const struct job *j, struct guarded_lever *lever)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct paced_node *p = &j->agent[i]->paced;

        for (size_t k = 0; k < p->n_levers && !strcmp(p->mode, "in force"); k++)
            if (*p->lever && !strcmp(p->levers[k].lever, p->lever))
                lever[n++] =
                    (struct guarded_lever){ p->ranks < 0 ? NAN : (double)p->ranks, p->levers[k].ratio,
                                            p->levers[k].low, p->levers[k].high };
    }
    return n;
}

/* Count the columns that end before the first action; the column that contains it is left out. */
static void take_series(const float *value, size_t n, double columns_since, double *room,
                        struct guarded_series *s)
{
    double before = (double)n - 1 - floor(columns_since);

    if (!(before >= 1))
        return;
    for (size_t i = 0; i < n; i++)
        room[i] = value[i];
    room[(size_t)before] = NAN;
    *s = (struct guarded_series){ room, n, (size_t)before };
}

static json_t *ratio_json(const struct guarded_ratio *r)
{
    json_t *o;

    if (!r->reference)
        return NULL;
    o = json_object();
    put_string(o, "reference", guarded_reference_name(r->reference));
    put_real(o, "value", r->value);
    put_real(o, "low", r->low);
    put_real(o, "high", r->high);
    put_bool(o, "selected", guarded_selected(r->reference));
    return o;
}

json_t *report_guarded(const struct job *j, const struct guarded_runs *runs, double first_action_s,
                       double wall_s)
{
    bool over = job_over(j);
    double end_s = over ? j->start_wall_s + j->end_s - j->start_s : wall_s;
    struct guarded_lever *lever = xcalloc(j->n_agents * PACER_LEVERS + 1, sizeof(*lever));
    struct guarded_input in = { .lever = lever, .n_levers = take_levers(j, lever), .runs = *runs };
    double room[4][VIEW_COLUMNS], since;
    json_t *o = json_object(), *ratios = json_object();
    struct view_columns c;
    size_t n = view_columns_get(j->view, &c);
    struct guarded g;

    since = fmax(0, end_s - first_action_s) / view_column_s(j->view);
    if (!isnan(first_action_s) && view_column_s(j->view) > 0) {
        take_series(c.step_s, n, since, room[0], &in.series[GUARDED_STEP]);
        take_series(c.steps_per_s, n, since, room[1], &in.series[GUARDED_THROUGHPUT]);
        take_series(c.synchronisation_ratio, n, since, room[2], &in.series[GUARDED_SYNCHRONISATION]);
        take_series(c.skew_s, n, since, room[3], &in.series[GUARDED_SKEW]);
    }
    guarded_compare(&in, &g);
    for (int f = 0; f < GUARDED_FIGURES; f++)
        put_json(ratios, guarded_figure_name((enum guarded_figure)f), ratio_json(&g.ratio[f]));
    put_string(o, "reference", guarded_reference_name(g.ratio[GUARDED_STEP].reference));
    put_string(o, "text", g.text);
    put_json(o, "ratios", ratios);
    free(lever);
    return o;
}
