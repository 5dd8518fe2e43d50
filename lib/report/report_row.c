#include "report/report_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "view/figures.h"
#include "view/marks.h"
#include "view/timeline.h"
#include "view/verdicts.h"
#include "wire/json.h"

static const struct json_field identity_fields[] = {
    { "job", FIELD_COUNT, FIELD(struct report_row, job) },
    { "step", FIELD_COUNT, FIELD(struct report_row, step) },
    { "restarts", FIELD_COUNT, FIELD(struct report_row, restarts) },
    { "id", FIELD_TEXT, FIELD(struct report_row, id) },
    { "name", FIELD_TEXT, FIELD(struct report_row, name) },
    { "user", FIELD_TEXT, FIELD(struct report_row, user) },
    { "partition", FIELD_TEXT, FIELD(struct report_row, partition) },
    { "unconfirmed", FIELD_TEXT, FIELD(struct report_row, unconfirmed) },
    { "no_requeue", FIELD_TEXT, FIELD(struct report_row, no_requeue) },
    { "policy.name", FIELD_TEXT, FIELD(struct report_row, policy) },
    { "state", FIELD_TEXT, FIELD(struct report_row, state) },
    { "start", FIELD_AMOUNT, FIELD(struct report_row, start) },
    { "elapsed_s", FIELD_AMOUNT, FIELD(struct report_row, elapsed_s) },
    { "age_s", FIELD_AMOUNT, FIELD(struct report_row, age_s) },
    { "left_s", FIELD_AMOUNT, FIELD(struct report_row, left_s) },
    { "ranks", FIELD_COUNT, FIELD(struct report_row, ranks) },
    { "nodes", FIELD_COUNT, FIELD(struct report_row, nodes) },
    { "nodes_total", FIELD_COUNT, FIELD(struct report_row, nodes_total) },
    { "agents_lost", FIELD_COUNT, FIELD(struct report_row, agents_lost) },
    { "records_dropped", FIELD_COUNT, FIELD(struct report_row, records_dropped) },
    { "samples_per_s", FIELD_AMOUNT, FIELD(struct report_row, samples_per_s) },
    { 0 },
};

const struct json_field report_figure_fields[] = {
    { "steps", FIELD_COUNT, FIELD(struct report_row, steps) },
    { "period", FIELD_COUNT, FIELD(struct report_row, period) },
    { "phases.warm_up_steps", FIELD_COUNT, FIELD(struct report_row, phases.warm_up_steps) },
    { "phases.pauses", FIELD_COUNT, FIELD(struct report_row, phases.pauses) },
    { "phases.pause_s", FIELD_AMOUNT, FIELD(struct report_row, phases.pause_s) },
    { "phases.evaluations", FIELD_COUNT, FIELD(struct report_row, phases.evaluations) },
    { "phases.foreign_collectives", FIELD_COUNT, FIELD(struct report_row, phases.foreign_collectives) },
    { "phases.delays", FIELD_COUNT, FIELD(struct report_row, phases.delays) },
    { "phases.delays_s", FIELD_AMOUNT, FIELD(struct report_row, phases.delays_s) },
    { "phases.rhythm_steps", FIELD_COUNT, FIELD(struct report_row, phases.rhythm_steps) },
    { "phases.rhythm_heavy", FIELD_COUNT, FIELD(struct report_row, phases.rhythm_heavy) },
    { "phases.rhythm_ratio", FIELD_AMOUNT, FIELD(struct report_row, phases.rhythm_ratio) },
    { "step_s.p50", FIELD_AMOUNT, FIELD(struct report_row, step_p50_s) },
    { "step_s.p95", FIELD_AMOUNT, FIELD(struct report_row, step_p95_s) },
    { "step_s.p99", FIELD_AMOUNT, FIELD(struct report_row, step_p99_s) },
    { "step_s.p99_steps", FIELD_COUNT, FIELD(struct report_row, step_p99_steps) },
    { "step_s.mean", FIELD_AMOUNT, FIELD(struct report_row, step_mean_s) },
    { "step_s.cv", FIELD_AMOUNT, FIELD(struct report_row, step_cv) },
    { "steps_per_s", FIELD_AMOUNT, FIELD(struct report_row, steps_per_s) },
    { "skew_s.p50", FIELD_AMOUNT, FIELD(struct report_row, skew_p50_s) },
    { "skew_s.p95", FIELD_AMOUNT, FIELD(struct report_row, skew_p95_s) },
    { "synchronisation_ratio", FIELD_AMOUNT, FIELD(struct report_row, synchronisation_ratio) },
    { "shares.compute", FIELD_SHARE, FIELD(struct report_row, share[SHARE_COMPUTE]) },
    { "shares.communication", FIELD_SHARE, FIELD(struct report_row, share[SHARE_COMMUNICATION]) },
    { "shares.synchronisation", FIELD_SHARE, FIELD(struct report_row, share[SHARE_SYNCHRONISATION]) },
    { "shares.point_to_point", FIELD_SHARE, FIELD(struct report_row, share[SHARE_P2P]) },
    { "regime", FIELD_TEXT, FIELD(struct report_row, regime) },
    { "non_finite", FIELD_TERNARY, FIELD(struct report_row, non_finite) },
    { "trend", FIELD_TEXT, FIELD(struct report_row, trend) },
    { "judged", FIELD_TEXT, FIELD(struct report_row, judged) },
    { "mds_ratio", FIELD_AMOUNT, FIELD(struct report_row, mds_ratio) },
    { "limits.work", FIELD_AMOUNT, FIELD(struct report_row, limits.work) },
    { "limits.work_from_start", FIELD_AMOUNT, FIELD(struct report_row, limits.work_from_start) },
    { "limits.transfers", FIELD_AMOUNT, FIELD(struct report_row, limits.transfers) },
    { "limits.node_transfers", FIELD_AMOUNT, FIELD(struct report_row, limits.node_transfers) },
    { "limits.link_transfers", FIELD_AMOUNT, FIELD(struct report_row, limits.link_transfers) },
    { "sentence", FIELD_TEXT, FIELD(struct report_row, sentence) },
    { "worst", FIELD_KNOWN, FIELD(struct report_row, worst.known) },
    { "worst.rank", FIELD_COUNT, FIELD(struct report_row, worst.rank) },
    { "worst.node", FIELD_TEXT, FIELD(struct report_row, worst.node) },
    { "worst.lateness_s", FIELD_AMOUNT, FIELD(struct report_row, worst.lateness_s) },
    { "worst.last_ratio", FIELD_AMOUNT, FIELD(struct report_row, worst.last_ratio) },
    { 0 },
};

/* ---- writing ---- */

/* What would be seen; unknown where only what nobody would call healthy is. */
static double limit_of(double mds)
{
    return mds <= VIEW_MDS_MAX ? mds - 1 : NAN;
}

void report_row_get(struct report_row *r, const struct view *v, double now_s, const struct view_figures *f)
{
    static const char *const trends[] = {
        [TREND_UNKNOWN] = "", [TREND_NONE] = "steady", [TREND_RISING] = "rising", [TREND_FALLING] = "falling"
    };
    struct view_rank_figures worst;
    struct view_phases p;
    const char *regime = view_regime_name(f->regime);

    view_phases_get(v, &p);
    json_get_fields(r, NULL, identity_fields);
    json_get_fields(r, NULL, report_figure_fields);
    r->steps = f->period ? (int64_t)f->steps : -1;
    r->period = f->period && !f->by_messages ? (int64_t)f->period : -1;
    r->phases.warm_up_steps = p.warm_up_steps;
    r->phases.pauses = (int64_t)p.pauses;
    r->phases.pause_s = p.pause_s;
    r->phases.evaluations = (int64_t)p.evaluations;
    r->phases.foreign_collectives = (int64_t)p.foreign_collectives;
    r->phases.delays = p.delays;
    r->phases.delays_s = p.delays_s;
    r->phases.rhythm_steps = p.rhythm_steps ? (int64_t)p.rhythm_steps : -1;
    r->phases.rhythm_heavy = p.rhythm_steps ? (int64_t)p.rhythm_heavy : -1;
    r->phases.rhythm_ratio = p.rhythm_ratio;
    r->step_p50_s = f->step_p50_s;
    r->step_p95_s = f->step_p95_s;
    r->step_p99_s = f->step_p99_s;
    r->step_p99_steps = f->p99_steps;
    r->step_mean_s = f->step_mean_s;
    r->step_cv = f->step_cv;
    r->steps_per_s = f->steps_per_s;
    r->skew_p50_s = f->skew_p50_s;
    r->skew_p95_s = f->skew_p95_s;
    r->synchronisation_ratio = f->synchronisation_ratio;
    r->share[SHARE_COMPUTE] = f->compute_ratio;
    r->share[SHARE_COMMUNICATION] = f->communication_ratio;
    r->share[SHARE_SYNCHRONISATION] = f->synchronisation_ratio;
    r->share[SHARE_P2P] = f->p2p_ratio;
    snprintf(r->regime, sizeof(r->regime), "%s", regime ? regime : "");
    r->non_finite = view_values_known(v) ? view_non_finite(v) : -1;
    snprintf(r->trend, sizeof(r->trend), "%s", trends[view_trend(v, now_s)]);
    snprintf(r->judged, sizeof(r->judged), "%s", view_judged_name(view_judged_get(v, now_s)));
    r->mds_ratio = r->limits.work = limit_of(f->mds);
    r->limits.work_from_start = limit_of(f->mds_from_start);
    r->limits.transfers = limit_of(f->transfer_mds);
    r->limits.node_transfers = limit_of(f->transfer_node_mds);
    r->limits.link_transfers = limit_of(f->transfer_link_mds);
    view_sentence(v, now_s, r->sentence, sizeof(r->sentence));
    r->worst.known = view_latest_get(v, now_s, &worst);
    if (r->worst.known) {
        r->worst.rank = worst.rank;
        snprintf(r->worst.node, sizeof(r->worst.node), "%s", worst.node);
        r->worst.lateness_s = worst.lateness_s;
        r->worst.last_ratio = worst.last_ratio;
    }
    report_verdicts_get(&r->verdicts, v, now_s);
}

json_t *report_row_json(const struct report_row *r)
{
    json_t *o = json_of_fields(r, identity_fields);

    json_put_fields(o, r, report_figure_fields);
    json_put_json(o, "verdicts", report_verdicts_json(&r->verdicts, VERDICT_OF_JOB));
    return o;
}

/* ---- what lies ahead ---- */

char *report_row_ahead(char *buf, size_t size, const struct report_row *j, const struct report_verdict *v)
{
    const struct report_ahead *a = &v->ahead_s;

    buf[0] = '\0';
    if (!report_row_alive(j) || !v->standing || isnan(j->start)) /* a trace has no start */
        return buf;
    if (isnan(j->left_s)) {
        text_append(buf, size, "not known: Slurm has given no time limit");
        return buf;
    }
    if (verdict_stops(v->class))
        text_append(buf, size, "nothing moves");
    else if (isnan(a->value))
        text_append(buf, size, "not known, because its price is not,");
    else
        text_append(buf, size, "another %s", text_s(a->value).s);
    if (!isnan(a->low) && !isnan(a->high) && !verdict_stops(v->class))
        text_append(buf, size, " (%s to %s)", text_s(a->low).s, text_s(a->high).s);
    text_append(buf, size, " until its time limit, in %s, if nothing is done", text_s(j->left_s).s);
    return buf;
}

/* ---- reading ---- */

void report_row_read(struct report_row *r, const json_t *o)
{
    json_get_fields(r, o, identity_fields);
    json_get_fields(r, o, report_figure_fields);
    if (json_get_string(o, "policy")) /* of earlier releases */
        json_get_text(o, "policy", r->policy, sizeof(r->policy));
    report_verdicts_read(&r->verdicts, o);
}

void report_row_free(struct report_row *r)
{
    report_verdicts_free(&r->verdicts);
}

struct report_rows *report_rows_read(const json_t *answer, size_t max, struct err *err)
{
    struct report_rows *s;
    const json_t *jobs;
    size_t n;

    if (json_check_answer(answer, "jobs", JSON_ARRAY, err) < 0)
        return NULL;
    jobs = json_get_list(answer, "jobs", max, &n);
    s = xcalloc(1, sizeof(*s));
    s->job = xcalloc(n, sizeof(*s->job));
    s->n = n;
    for (size_t i = 0; i < n; i++)
        report_row_read(&s->job[i], json_array_get(jobs, i));
    return s;
}

void report_rows_free(struct report_rows *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        report_row_free(&s->job[i]);
    free(s->job);
    free(s);
}

/* ---- what it means ---- */

enum severity report_row_severity(const struct report_row *j)
{
    enum severity worst = SEVERITY_NONE;

    if (!strcmp(j->state, "stalled") || !strcmp(j->state, "lost") || j->non_finite > 0)
        return SEVERITY_BAD;
    for (size_t i = 0; i < j->verdicts.n; i++)
        if (report_verdict_severity(&j->verdicts.list[i]) > worst)
            worst = report_verdict_severity(&j->verdicts.list[i]);
    return worst == SEVERITY_NONE && !strcmp(j->judged, "yes") ? SEVERITY_GOOD : worst;
}

bool report_row_alive(const struct report_row *j)
{
    return strcmp(j->state, "finished") != 0 && strcmp(j->state, "lost") != 0;
}

static bool first_stops(const struct report_row *j)
{
    return j->verdicts.n && verdict_stops(j->verdicts.list[0].class);
}

bool report_row_still(const struct report_row *j)
{
    return report_row_alive(j) && (!strcmp(j->state, "stalled") || first_stops(j));
}

const struct report_verdict *report_row_told(const struct report_row *j)
{
    return j->verdicts.n && (!report_row_still(j) || first_stops(j)) ? j->verdicts.list : NULL;
}

double report_row_ended_s(const struct report_row *j)
{
    return report_row_alive(j) || isnan(j->age_s) ? 0 : j->age_s;
}

void report_row_count_from_now(struct report_row *j)
{
    double ended_s = report_row_ended_s(j);

    for (size_t i = 0; i < j->verdicts.n; i++) {
        struct report_verdict *v = &j->verdicts.list[i];

        v->found_s += ended_s;
        if (!isnan(v->over_s)) /* of one that stood until the end it is how long it did */
            v->since_s += ended_s;
        v->over_s += ended_s;
    }
}
