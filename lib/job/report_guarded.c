/* report_guarded.c - a job under the guard compared with its own unguarded reference (guarded.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "job/guarded.h"
#include "job/job.h"
#include "job/report_job.h"
#include "view/timeline.h"

/* The levers in force on nodes that have been compared; returns their number. */
static size_t take_levers(const struct job *j, struct guarded_lever *lever)
{
    size_t n = 0;

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct report_paced_node *p = &j->agent[i]->paced;

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

void report_guarded_get(struct report_guarded *to, const struct job *j, const struct guarded_runs *runs,
                        double first_action_s, double wall_s)
{
    bool over = job_over(j);
    double end_s = over ? j->start_wall_s + j->end_s - j->start_s : wall_s;
    struct guarded_lever *lever = xcalloc(j->n_agents * REPORT_LEVERS_MAX + 1, sizeof(*lever));
    struct guarded_input in = { .lever = lever, .n_levers = take_levers(j, lever), .runs = *runs };
    double room[4][VIEW_COLUMNS], since;
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
    free(lever);
    *to = (struct report_guarded){ .known = g.ratio[GUARDED_STEP].reference != GUARDED_NONE };
    snprintf(to->reference, sizeof(to->reference), "%s",
             guarded_reference_name(g.ratio[GUARDED_STEP].reference));
    snprintf(to->text, sizeof(to->text), "%s", g.text);
    for (int f = 0; f < GUARDED_FIGURES; f++) {
        const struct guarded_ratio *r = &g.ratio[f];

        to->ratio[f] =
            (struct report_guarded_ratio){ "", guarded_selected(r->reference), r->value, r->low, r->high };
        if (r->reference)
            snprintf(to->ratio[f].reference, sizeof(to->ratio[f].reference), "%s",
                     guarded_reference_name(r->reference));
    }
}
