#include "job/cadence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "job/cadence_private.h"
#include "job/job.h"
#include "report/report_cadence.h"
#include "view/figures.h"
#include "wire/json.h"

/* a job that runs this long after the announced end has survived the notice */
#define OUTLIVED_S 60.0
#define SAMPLES_S  5.0  /* period over which samples per second are averaged */
#define TICK_S     0.25 /* time between two calls of cadence_tick() */
/* A pause is the requested checkpoint if it begins within ANSWER_S or ANSWER_STEPS steps of the request. */
#define ANSWER_S     10.0
#define ANSWER_STEPS 3.0
#define SETTLE_S     1.5 /* after a write, until all agents have reported its duration */
#define DAY_S        86400.0

struct cadence *cadence_new(double now_s)
{
    struct cadence *c = xcalloc(1, sizeof(*c));

    c->step_s = c->samples_per_s = c->limit_wall_s = c->notice_s = c->notice_end_s = c->last_s =
        c->unanswered_s = c->pause_seen_s = NAN;
    c->heard_s = -INFINITY;
    c->work_s = now_s;
    c->history = (struct cadence_history){ .source = "published" };
    return c;
}

void cadence_free(struct cadence *c)
{
    free(c);
}

void cadence_limit_set(struct job *j, double end_wall_s)
{
    j->cadence->limit_wall_s = end_wall_s;
}

void cadence_history_set(struct job *j, double failures, double node_s, const char *source, const char *text)
{
    struct cadence_history *h = &j->cadence->history;

    h->failures = failures;
    h->node_s = node_s;
    h->source = source;
    snprintf(h->text, sizeof(h->text), "%s", text);
}

void cadence_own_set(struct job *j, double failures, double node_s)
{
    j->cadence->history.own_failures = failures;
    j->cadence->history.own_node_s = node_s;
}

void cadence_notice(struct job *j, double now_s, double grace_s)
{
    struct cadence *c = j->cadence;

    if (!isnan(c->notice_s) || c->noticed)
        return;
    c->request.again_s = now_s; /* whatever came of the newest request */
    c->noticed = true; /* a rank's flag stays set: a notice that passed is not taken for a second one */
    c->notice_s = now_s;
    c->notice_end_s = now_s + (isnan(grace_s) ? j->params.preemption_grace_s : grace_s);
    job_event(j, now_s, "the job received notice that it will be ended in about %.0f s",
              c->notice_end_s - now_s);
}

bool cadence_noticed(const struct job *j)
{
    return !isnan(j->cadence->notice_s);
}

/* ---- reports of agents ---- */

void cadence_take(struct job *j, struct job_agent *a, double now_s, const json_t *report)
{
    struct cadence *c = j->cadence;
    struct cadence_report *t = &a->checkpoint_report;
    uint64_t writes = t->writes, calls = t->calls_max;
    int64_t serial = t->serial;
    bool first = t->at_s == 0, noticed = c->noticed;

    if (!json_is_object(report))
        return;
    cadence_report_parse(t, report);
    t->at_s = now_s;
    if (t->calls_max > calls)
        cadence_learn_step(c, t->step_s);
    if (t->writes > writes && !first) {
        c->reported_writes = true;
        c->write_max_s = fmax(c->write_max_s, isnan(t->write_s) ? 0 : t->write_s);
        c->written_s = c->settle_s = now_s;
    }
    if (t->notice)
        cadence_notice(j, now_s, NAN);
    c->request.answered += t->serial == c->request.serial && t->serial != serial;
    if ((t->notice && !noticed) ||
        (t->serial == c->request.serial && t->serial != serial && c->request.answered >= c->request.said))
        cadence_tick(j, now_s);
}

static double step_time_s(const struct job *j)
{
    struct view_figures f;

    if (!isnan(j->cadence->step_s))
        return j->cadence->step_s;
    view_figures_get(j->view, j->heard_s, &f);
    return f.step_p50_s;
}

/* ---- cost of a write ---- */

static void update_cost(struct job *j, double now_s, const struct cadence_sum *s)
{
    struct cadence *c = j->cadence;
    struct view_phases p;

    if (c->settle_s > 0 && now_s > c->settle_s + SETTLE_S && !s->writing) {
        cadence_cost_add(&c->cost, c->write_max_s);
        c->last_s = c->written_s;
        c->write_max_s = c->settle_s = 0;
        c->writes++;
    }
    view_phases_get(j->view, &p);
    if (p.pauses > c->pauses && !c->reported_writes) { /* of several at once, only the mean is known */
        double each_s = (p.pause_s - c->pause_s) / (double)(p.pauses - c->pauses);

        for (uint64_t i = c->pauses; i < p.pauses && i < c->pauses + CADENCE_WRITES; i++)
            cadence_cost_add(&c->cost, each_s);
        if (now_s - each_s < c->unanswered_s + fmax(ANSWER_S, ANSWER_STEPS * step_time_s(j))) {
            c->last_s = now_s;
            c->writes++;
            c->pause_seen_s = c->pause_each_s = NAN;
        } else {
            c->pause_seen_s = now_s;
            c->pause_each_s = each_s;
        }
        c->unanswered_s = NAN;
    }
    c->pauses = p.pauses;
    c->pause_s = p.pause_s;
}

static void update_samples(struct cadence *c, double now_s, uint64_t samples)
{
    double over_s = now_s - c->samples_s;

    if (c->samples_s == 0 || samples < c->samples) {
        c->samples_s = now_s;
        c->samples = samples;
    } else if (over_s >= SAMPLES_S) {
        c->samples_per_s = samples ? (double)(samples - c->samples) / over_s : NAN;
        c->samples_s = now_s;
        c->samples = samples;
    }
}

double cadence_samples_per_s(const struct job *j)
{
    return j->cadence->samples_per_s;
}

/* ---- when a checkpoint is due ---- */

/* Start of the work that a failure now would lose. */
static double unsaved_since_s(const struct cadence *c)
{
    return isnan(c->last_s) ? c->work_s : c->last_s;
}

double cadence_unsaved_since_s(const struct job *j)
{
    return unsaved_since_s(j->cadence);
}

void cadence_unsaved_set(struct job *j, double since_s)
{
    j->cadence->work_s = since_s;
}

static struct cadence_figures figures_of(const struct job *j, double now_s)
{
    const struct cadence *c = j->cadence;
    struct cadence_sum s = cadence_sum_up(j);
    double nodes = fmax(j->nodes_total, (double)j->n_agents);
    struct failure_rate rate = cadence_prior(c->history.failures, c->history.node_s);

    rate.failures += c->history.own_failures;
    rate.node_s += c->history.own_node_s + nodes * fmax(0, now_s - j->start_s);
    return (struct cadence_figures){
        .write = cadence_cost_get(&c->cost, j->params.checkpoint_cost_s),
        .rate = rate,
        .nodes = fmax(1, nodes),
        .step_s = step_time_s(j),
        .delivery_s = CADENCE_URGENT_S + TICK_S,
        .since_s = now_s - fmax(c->heard_s, unsaved_since_s(c)),
        .writing = s.writing > 0,
        .left_s = c->limit_wall_s - wall_s(),
        .notice_s = c->notice_end_s - now_s,
        .since_notice_s = now_s - c->notice_s,
    };
}

static struct cadence_bounds bounds_of(const struct job *j)
{
    double min_s = j->params.checkpoint_min_interval_s;

    return (struct cadence_bounds){ min_s, fmax(min_s, j->params.checkpoint_max_interval_s) };
}

void cadence_tick(struct job *j, double now_s)
{
    struct cadence *c = j->cadence;
    struct cadence_sum s = cadence_sum_up(j);
    struct cadence_figures f;
    struct cadence_bounds b = bounds_of(j);
    struct cadence_decision d;
    struct err err;

    if (job_over(j)) {
        cadence_request_end(j, now_s);
        return;
    }
    if (now_s > c->notice_end_s + OUTLIVED_S)
        c->notice_s = c->notice_end_s = NAN;
    update_cost(j, now_s, &s);
    update_samples(c, now_s, s.samples);
    cadence_request_tick(j, now_s, &s);
    if (j->params.checkpoint != CONFIG_CHECKPOINT_REQUEST || job_hold(j) ||
        c->request.phase != CADENCE_IDLE || !(s.reported || cadence_other_way(j)) ||
        now_s < c->request.again_s)
        return;
    f = figures_of(j, now_s);
    d = cadence_decide(&f, &b);
    if (!d.due || c->settle_s > 0)
        return;
    c->request.again_s = now_s + 1;
    if (cadence_request(j, cadence_reason_name(d.reason), &err) < 0)
        return;
    c->request.urgent = d.reason == CADENCE_NOTICE || d.reason == CADENCE_LIMIT;
    cadence_request_tick(j, now_s, &s);
}

/* ---- the report ---- */

void cadence_get(struct report_cadence *to, const struct job *j, double now_s)
{
    static const char *const modes[] = { "off", "advise", "request" };
    const struct cadence *c = j->cadence;
    const struct cadence_history *h = &c->history;
    struct cadence_sum s;
    struct cadence_figures f;
    struct cadence_bounds b = bounds_of(j);
    struct cadence_decision d;

    if (j->params.checkpoint == CONFIG_CHECKPOINT_OFF) {
        report_cadence_read(to, NULL);
        to->known = true;
        snprintf(to->mode, sizeof(to->mode), "off");
        return;
    }
    f = figures_of(j, now_s);
    d = cadence_decide(&f, &b);
    s = cadence_sum_up(j);
    *to = (struct report_cadence){
        .known = true,
        .interval_s = d.interval_s,
        .optimal_s = d.optimal_s,
        .cost_s = { f.write.s, f.write.low_s, f.write.high_s },
        .rate = { .value = failure_rate_mean(&f.rate) * DAY_S,
                  .low = failure_rate_quantile(&f.rate, 0.05) * DAY_S,
                  .high = failure_rate_quantile(&f.rate, 0.95) * DAY_S,
                  .failures = h->failures,
                  .node_days = h->node_s / DAY_S,
                  .own_failures = h->own_failures },
        .mtbf_s = d.mtbf_s,
        .goodput_most = d.goodput_most,
        .written = c->writes ? (int64_t)c->writes : -1,
        .last_s = now_s - c->last_s,
        .next_due_s = job_over(j) ? NAN : d.next_s,
        .lost_work_s = now_s - unsaved_since_s(c),
        .perhaps = { !c->reported_writes && !isnan(c->pause_seen_s), c->pause_each_s,
                     now_s - c->pause_seen_s },
        .too_late = d.too_late && !job_over(j),
        .limit_s = f.left_s,
        .notice_s = f.notice_s,
        .callers = s.reported ? (int64_t)s.callers : -1,
    };
    snprintf(to->mode, sizeof(to->mode), "%s", modes[j->params.checkpoint]);
    snprintf(to->reason, sizeof(to->reason), "%s", cadence_reason_name(d.reason));
    snprintf(to->cost_source, sizeof(to->cost_source), "%s",
             !c->cost.n           ? "policy"
             : c->reported_writes ? "program"
                                  : "pauses");
    snprintf(to->rate.source, sizeof(to->rate.source), "%s", h->source);
    snprintf(to->rate.source_text, sizeof(to->rate.source_text), "%s", h->text);
    cadence_requests_get(to, j, now_s, &s);
}
