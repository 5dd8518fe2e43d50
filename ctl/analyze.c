#include "ctl/analyze.h"

#include <math.h>
#include <stdio.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "view/figures.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "view/view.h"

#define STEP_ROWS 24 /* ranks of the step that is drawn, as of a job (gather.c) */

static void get_trace(struct report_trace *t, struct trace_reader *r)
{
    struct trace_figures f;

    trace_reader_figures_get(r, &f);
    *t = (struct report_trace){ .known = true,
                                .ranks = f.ranks,
                                .nodes = f.nodes,
                                .switches = f.switches,
                                .communicators = f.comms,
                                .seconds = trace_reader_now_s(r),
                                .bytes = (int64_t)f.bytes,
                                .records = (int64_t)f.records,
                                .collectives = (int64_t)f.collectives,
                                .messages = (int64_t)f.messages,
                                .lost = (int64_t)f.lost,
                                .duplicates = (int64_t)f.duplicates,
                                .reordered = (int64_t)f.reordered,
                                .backward = (int64_t)f.backward,
                                .unnamed = (int64_t)f.unnamed,
                                .beyond = (int64_t)f.beyond,
                                .never_left = (int64_t)f.never_left,
                                .torn = f.torn,
                                .size = f.size ? (int64_t)f.size : -1,
                                .untimed = f.untimed };
    snprintf(t->job, sizeof(t->job), "%s", f.job);
}

static void forget_efficiency(struct report_efficiency *e)
{
    *e = (struct report_efficiency){ NAN, NAN, NAN, NAN, { NAN, NAN, NAN, NAN } };
}

/* How long calls held their ranks is known, and nothing of the time between them. */
static void forget_times(struct report *report, const struct view *v)
{
    struct report_row *job = &report->job;

    report->trace.seconds = NAN;
    for (size_t i = 0; i < ARRAY_SIZE(job->share); i++)
        job->share[i] = NAN;
    job->synchronisation_ratio = NAN;
    job->regime[0] = '\0';
    forget_efficiency(&report->efficiency);
    for (size_t i = 0; i < report->comms.n; i++) {
        struct report_comm *c = &report->comms.list[i];

        c->collectives_per_s = c->bytes_per_s = NAN;
        forget_efficiency(&c->efficiency);
    }
    report->history = (struct report_history){ .column_s = NAN };
    report->heat = (struct report_heat){ .column_s = NAN };
    report->n_heat = 0;
    snprintf(
        job->sentence, sizeof(job->sentence),
        "The records say how long collectives held their ranks, and not when: who came last, and by how much, is "
        "known; steps, and what it costs, are not.");
    view_append_latest(v, NAN, job->sentence, sizeof(job->sentence));
}

struct report *analyze_report(struct trace_reader *r, bool whole)
{
    const struct report_selection latest = { .sort = REPORT_BY_LATENESS,
                                             .count = whole ? UINT32_MAX : PAGE_RANKS,
                                             .columns = VIEW_COLUMNS,
                                             .picture = whole ? STEP_ROWS : 0 };
    const struct view *v = trace_reader_view(r);
    double now_s = trace_reader_now_s(r);
    struct report *report = xcalloc(1, sizeof(*report));
    const struct view_verdict *reported;
    struct report_ranks ranks;
    struct view_figures f;

    view_figures_get(v, now_s, &f);
    report_ranks_get(&ranks, v, now_s, &latest);
    for (size_t i = 0; i < ranks.n; i++)
        ranks.f[i].inside_s = NAN; /* the trace does not contain when it was left */
    get_trace(&report->trace, r);
    report_row_get(&report->job, v, now_s, &f);
    report->job.ranks = f.ranks_known;
    view_verdicts_reported(v, &reported);
    for (size_t i = 0; i < report->job.verdicts.n; i++)
        report->job.verdicts.list[i].detected_record =
            reported[i].finding.duty == DUTY_STEPS
                ? (int64_t)trace_reader_records_at(r, reported[i].finding.id)
                : -1;
    report_verdicts_drop_minor(&report->job.verdicts); /* they are in the timeline alone */
    report_projections_get(report, v, now_s);
    report_view_get(report, v, now_s, &latest, &ranks);
    for (size_t i = 0; i < report->n_ranks; i++) {
        struct report_rank *rank = &report->rank[i];

        rank->lost = trace_reader_lost(r, (uint32_t)rank->rank);
        rank->state[0] = '\0'; /* of which a trace says nothing */
        rank->state_s = NAN;
    }
    report_ranks_free(&ranks);
    if (report->trace.untimed)
        forget_times(report, v);
    return report;
}

bool analyze_stands(const struct report *report)
{
    for (size_t i = 0; i < report->job.verdicts.n; i++)
        if (report->job.verdicts.list[i].standing)
            return true;
    return false;
}
