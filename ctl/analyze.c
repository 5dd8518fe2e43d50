#include "ctl/analyze.h"

#include <math.h>
#include <stdio.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "report/report_rank.h"
#include "report/report_row.h"
#include "report/report_trace.h"
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "trace/file.h"
#include "view/figures.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "wire/json.h"

#define STEP_ROWS 24 /* ranks of the step that is drawn, as of a job (gather.c) */

/* ---- the answer ---- */

static json_t *trace_json(struct trace_reader *r)
{
    struct trace_figures f;
    struct report_trace t;

    trace_reader_figures_get(r, &f);
    t = (struct report_trace){ .ranks = f.ranks,
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
                               .unnamed = (int64_t)f.unnamed,
                               .beyond = (int64_t)f.beyond,
                               .never_left = (int64_t)f.never_left,
                               .torn = f.torn };
    snprintf(t.job, sizeof(t.job), "%s", f.job);
    return report_trace_json(&t);
}

/* Unknown slowdown and detected_seq are left out, so that sums over verdicts need no test. */
static json_t *verdict_json(const struct view_verdict *d, double now_s)
{
    struct report_verdict r;
    json_t *o;

    report_verdict_get(&r, d, now_s);
    o = report_verdict_json(&r, VERDICT_OF_TRACE);
    report_verdict_free(&r);
    if (!isfinite(d->finding.slowdown))
        json_object_del(o, "slowdown");
    if (d->finding.named_seq < 0)
        json_object_del(o, "detected_seq");
    json_object_del(o, "minor");
    return o;
}

/* Minor ones are in the timeline alone. */
static json_t *verdicts_json(struct trace_reader *r)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_reported(trace_reader_view(r), &d);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *o;

        if (d[i].minor)
            continue;
        o = verdict_json(&d[i], trace_reader_now_s(r));
        put_int(o, "detected_record", (int64_t)trace_reader_records_at(r, d[i].finding.id));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *ranks_json(struct trace_reader *r, double now_s, const struct report_ranks *ranks)
{
    json_t *list = json_array();

    for (size_t i = ranks->begin; i < ranks->end; i++) {
        struct report_rank rank;

        report_rank_get(&rank, trace_reader_view(r), now_s, &ranks->f[i]);
        rank.lost = trace_reader_lost(r, ranks->f[i].rank);
        json_array_append_new(list, report_rank_json(&rank, RANK_OF_TRACE));
    }
    return list;
}

json_t *analyze_answer(struct trace_reader *r, bool whole)
{
    const struct report_selection latest = { .sort = REPORT_BY_LATENESS,
                                             .count = whole ? UINT32_MAX : PAGE_RANKS,
                                             .columns = VIEW_COLUMNS,
                                             .picture = whole ? STEP_ROWS : 0 };
    const struct view *v = trace_reader_view(r);
    double now_s = trace_reader_now_s(r);
    struct report_ranks ranks;
    struct view_figures f;
    struct report_row row;
    json_t *o = json_object();

    view_figures_get(v, now_s, &f);
    report_ranks_get(&ranks, v, now_s, &latest);
    for (size_t i = 0; i < ranks.n; i++)
        ranks.f[i].inside_s = NAN; /* the trace does not contain when it was left */
    put_int(o, "ranks", f.ranks_known);
    report_row_get(&row, v, now_s, &f);
    report_row_put_figures(o, &row);
    report_row_free(&row);
    report_put_view(o, v, now_s, &ranks, &latest, NULL, NULL, NULL);
    put_json(o, "rank_table", ranks_json(r, now_s, &ranks));
    put_json(o, "trace", trace_json(r));
    put_count(o, "collectives_per_step", f.period ? (int64_t)f.period : -1);
    put_json(o, "verdicts", verdicts_json(r));
    report_ranks_free(&ranks);
    return o;
}

bool analyze_stands(const json_t *answer)
{
    const json_t *verdict;
    size_t i;

    json_array_foreach(json_object_get(answer, "verdicts"), i, verdict)
        if (get_true(verdict, "standing"))
            return true;
    return false;
}

json_t *analyze_file(const char *path, const struct view_params *p, bool whole, struct err *err)
{
    struct trace_reader *r = trace_reader_new(p);
    json_t *answer = trace_file_read(path, r, err) < 0 ? NULL : analyze_answer(r, whole);

    trace_reader_free(r);
    return answer;
}
