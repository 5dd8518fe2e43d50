/* cadence_request.c - delivers one request to all ranks at the same step.
 *
 * Wanted: a call number is chosen and sent to every agent.  Armed: every agent has put it on its page and
 * then reported the counts of its ranks.  If all ranks are below the call, and enough time is left for
 * another round of messages, the request is committed; otherwise it is withdrawn and wanted again with a
 * later call. Committed: every agent reports whether its ranks were still below the call.  If one has not
 * done so in half of the remaining time, all agents are instructed to withdraw it.  When all ranks have
 * passed the call, those that received the request are counted. */
#include <math.h>
#include <stdio.h>

#include "job/cadence_private.h"
#include "job/job.h"
#include "report/report_cadence.h"
#include "rules/action.h"
#include "wire/link.h"

#define MARGIN_MAX_S 60.0
#define TRIES_MAX    12u
#define STALE_S      5.0  /* no request while an agent's latest report is older */
#define OVERDUE_S    60.0 /* a call that is this late is given up */
#define PATIENCE_S   30.0 /* a request that could not be sent for this long is given up */
#define AGAIN_S      30.0 /* pause after a request that failed */

static const char *const states[] = { "none", "armed", "committed" };

/* ---- messages to the agents ---- */

/* Send {"control":{"checkpoint":...}} to one agent; takes the reference of o. */
static void send_to(const struct job_agent *a, json_t *o)
{
    link_send_json(a->link, o);
    json_decref(o);
}

static json_t *message_json(const struct cadence_requested *r, int state)
{
    return json_pack("{s:{s:{s:I,s:I,s:I,s:s}}}", "control", "checkpoint", "serial", (json_int_t)r->serial,
                     "at", (json_int_t)r->at, "app", (json_int_t)r->app, "state", states[state]);
}

static void tell_all(struct job *j, double now_s, int state)
{
    struct cadence *c = j->cadence;

    c->request.serial++;
    c->request.sent_s = now_s;
    c->request.said = c->request.answered = 0;
    for (size_t i = 0; i < j->n_agents; i++) {
        if (!j->agent[i]->link || j->agent[i]->bye)
            continue;
        c->request.said++;
        send_to(j->agent[i], message_json(&c->request, state));
    }
}

void cadence_hello(struct job *j, struct job_agent *a)
{
    const struct cadence_requested *r = &j->cadence->request;

    a->checkpoint_report = (struct cadence_report){ .serial = -1 };
    if (r->phase >= CADENCE_ARMED)
        send_to(a, message_json(r, r->revoked ? 0 : r->phase == CADENCE_COMMITTED ? 2 : 1));
}

/* ---- outcomes ---- */

static void finish_request(struct job *j, double now_s, const char *outcome)
{
    struct cadence_requested *r = &j->cadence->request;

    snprintf(r->outcome, sizeof(r->outcome), "%s", outcome);
    r->newest_s = now_s;
    r->newest_at = r->at;
    r->phase = CADENCE_IDLE;
    r->tries = 0;
}

static void fail_request(struct job *j, double now_s, const char *why)
{
    struct cadence_requested *r = &j->cadence->request;

    if (r->phase >= CADENCE_ARMED)
        tell_all(j, now_s, 0);
    r->failed++;
    r->again_s = now_s + AGAIN_S;
    job_event(j, now_s, "cannot request a checkpoint (%s): %s", r->reason, why);
    finish_request(j, now_s, why);
}

/* The call was withdrawn or has passed: try a later one. */
static void retry_request(struct job *j, double now_s, const char *why)
{
    struct cadence_requested *r = &j->cadence->request;

    tell_all(j, now_s, 0);
    r->phase = CADENCE_WANTED;
    r->margin_s = fmin(r->margin_s * (r->urgent ? 1.5 : 2), MARGIN_MAX_S);
    if (++r->tries >= TRIES_MAX)
        fail_request(j, now_s, why);
}

/* ---- programs that do not ask whether a checkpoint is due ---- */

/* CheckpointSignal, unless it would kill a rank; 0: none. */
static int signal_of(const struct job *j)
{
    int sig = action_signal_parse(j->params.checkpoint_signal);

    return sig > 0 && job_takes_signal(j, sig, NULL) == 0 ? sig : 0;
}

bool cadence_other_way(const struct job *j)
{
    return signal_of(j) || *j->params.checkpoint_file;
}

/* Each node signals its ranks as soon as it receives the message; only the first node creates the file. */
static void deliver_otherwise(struct job *j, double now_s)
{
    struct cadence *c = j->cadence;
    int sig = signal_of(j);
    bool touched = false;

    c->request.serial++;
    for (size_t i = 0; i < j->n_agents; i++) {
        struct job_agent *a = j->agent[i];
        json_t *o;

        if (!a->link || a->bye)
            continue;
        o = json_pack("{s:I}", "serial", (json_int_t)c->request.serial);
        if (sig > 0)
            json_object_set_new(o, "signal", json_integer(sig));
        if (*j->params.checkpoint_file && !touched)
            json_object_set_new(o, "file", json_string(j->params.checkpoint_file));
        touched = true;
        send_to(a, json_pack("{s:{s:o}}", "control", "checkpoint", o));
    }
    c->request.delivered++;
    c->heard_s = c->unanswered_s = now_s;
    c->request.at = 0;
    /* Signal and file are not acknowledged: only the write or the pause that follows shows the effect. */
    c->request.again_s = now_s + AGAIN_S;
    job_event(j, now_s, "checkpoint requested by %s (%s)",
              sig > 0 && *j->params.checkpoint_file ? "signal and file"
              : sig > 0                             ? "signal"
                                                    : "file",
              c->request.reason);
    finish_request(j, now_s, "delivered");
}

/* ---- the phases ---- */

static const char calls_disagree[] =
    "its ranks run different programs, or some ranks were restarted: their calls do not agree";
static const char ranks_deaf[] = "some ranks cannot see the agent's page";

/* Why the ranks cannot be asked at one call; NULL: they can. */
static const char *obstacle(const struct job *j, double now_s, const struct cadence_sum *s)
{
    if (job_hold(j))
        return job_hold(j);
    if (s->connected < (j->nodes_total ? j->nodes_total : j->n_agents))
        return "some of its nodes have no agent connected";
    if (!s->callers)
        return "the program does not ask whether a checkpoint is due (libsyncguard, SCR)";
    if (s->reported < s->connected)
        return "not all agents have reported their ranks yet";
    if (s->mixed)
        return calls_disagree;
    if (s->deaf)
        return ranks_deaf;
    if (isnan(j->cadence->step_s))
        return "the time of a step is not known yet";
    if (now_s - s->heard_s > STALE_S)
        return "an agent has not reported its ranks recently";
    return NULL;
}

static void arm_request(struct job *j, double now_s, const struct cadence_sum *s)
{
    struct cadence_requested *r = &j->cadence->request;
    const char *why = obstacle(j, now_s, s);
    double age_s = s->age_s + now_s - s->at_s, step_min_s = cadence_step_min_s(j->cadence);

    if (why && !s->callers && !job_hold(j) && cadence_other_way(j)) {
        deliver_otherwise(j, now_s);
        return;
    }
    if (r->margin_s == 0)
        r->margin_s = r->urgent ? CADENCE_URGENT_S : CADENCE_MARGIN_S;
    if (!why) {
        r->app = s->app;
        r->at = cadence_call(s->calls_max, isnan(age_s) ? 0 : age_s, step_min_s, r->margin_s);
        why = r->at ? NULL : "the time of the next call cannot be predicted";
    }
    if (why) {
        if (now_s > r->asked_s + PATIENCE_S)
            fail_request(j, now_s, why);
        return;
    }
    r->call_s = now_s - age_s + (double)(r->at - s->calls_max) * step_min_s;
    r->phase = CADENCE_ARMED;
    r->sure = r->revoked = false;
    tell_all(j, now_s, 1);
}

/* Number of agents that have the latest message; missed: one of them got it too late. */
static uint32_t count_answers(const struct job *j, int state, bool *missed)
{
    const struct cadence_requested *r = &j->cadence->request;
    uint32_t n = 0;

    *missed = false;
    for (size_t i = 0; i < j->n_agents; i++) {
        const struct cadence_report *t = &j->agent[i]->checkpoint_report;

        if (t->at_s == 0 || t->serial != r->serial || t->state != state || t->at != r->at)
            continue;
        n++;
        *missed |= t->missed && t->callers;
    }
    return n;
}

static void commit_request(struct job *j, double now_s, const struct cadence_sum *s)
{
    struct cadence_requested *r = &j->cadence->request;
    double round_s = now_s - r->sent_s, age_s = s->age_s + now_s - s->at_s,
           step_min_s = cadence_step_min_s(j->cadence);
    const char *why;
    bool missed;

    if (count_answers(j, 1, &missed) < s->connected) {
        if (now_s > r->call_s)
            retry_request(j, now_s, "an agent did not answer in time");
        return;
    }
    if (missed || s->calls_max >= r->at) {
        retry_request(j, now_s, "the ranks reached the call before the request");
        return;
    }
    /* Ranks of a synchronised job are at most one step apart, their reports at most one round of messages. */
    why = (double)(s->calls_max - s->calls_min) > 2 + ceil(round_s / step_min_s)
              ? "its ranks do not all ask once a step"
              : obstacle(j, now_s, s);
    if (why) {
        fail_request(j, now_s, why);
        return;
    }
    r->call_s = now_s - age_s + (double)(r->at - s->calls_max) * step_min_s;
    if (r->call_s - now_s < 2 * round_s || r->call_s - now_s < r->margin_s / 4) {
        retry_request(j, now_s, "messages take longer than the steps until the call");
        return;
    }
    r->phase = CADENCE_COMMITTED;
    tell_all(j, now_s, 2);
}

static void judge_request(struct job *j, double now_s)
{
    struct cadence_requested *r = &j->cadence->request;
    uint32_t heard = 0, deaf = 0;
    char text[160];

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct cadence_report *t = &j->agent[i]->checkpoint_report;

        if (!t->callers)
            continue;
        heard += t->yes_min == r->at && t->yes_max == r->at;
        deaf += t->yes_min != r->at;
    }
    if (heard && !deaf) {
        r->heard++;
        j->cadence->heard_s = j->cadence->unanswered_s = now_s;
        r->again_s = now_s + 1;
        finish_request(j, now_s, "heard");
        return;
    }
    if (!heard) {
        retry_request(j, now_s, "an agent did not answer in time");
        return;
    }
    r->split++;
    snprintf(text, sizeof(text), "split: on %u nodes all ranks received it, on %u some did not", heard, deaf);
    job_event(j, now_s, "only some ranks received the checkpoint request: all on %u nodes, not all on %u",
              heard, deaf);
    finish_request(j, now_s, text);
}

static void await_ranks(struct job *j, double now_s, const struct cadence_sum *s)
{
    struct cadence_requested *r = &j->cadence->request;
    bool missed;

    if (!r->sure && count_answers(j, 2, &missed) >= s->connected && !missed)
        r->sure = true;
    if (s->callers && s->calls_min >= r->at) {
        judge_request(j, now_s);
    } else if (!r->revoked && (s->mixed || (!r->sure && now_s > r->sent_s + (r->call_s - r->sent_s) / 2))) {
        /* Whether it was withdrawn in time is known when all ranks have passed the call. */
        r->revoked = true;
        tell_all(j, now_s, 0);
    } else if (now_s > r->call_s + OVERDUE_S + 10 * j->cadence->step_s) {
        fail_request(j, now_s, "the ranks did not reach the call");
    }
}

void cadence_request_end(struct job *j, double now_s)
{
    if (j->cadence->request.phase != CADENCE_IDLE)
        finish_request(j, now_s, "the step ended before");
}

void cadence_request_tick(struct job *j, double now_s, const struct cadence_sum *s)
{
    switch (j->cadence->request.phase) {
    case CADENCE_IDLE:
        break;
    case CADENCE_WANTED:
        arm_request(j, now_s, s);
        break;
    case CADENCE_ARMED:
        commit_request(j, now_s, s);
        break;
    case CADENCE_COMMITTED:
        await_ranks(j, now_s, s);
        break;
    }
}

int cadence_can(const struct job *j, struct err *err)
{
    struct cadence_sum s = cadence_sum_up(j);
    int sig = action_signal_parse(j->params.checkpoint_signal);

    if (job_over(j))
        return err_set(err, "the step has ended");
    if (job_hold(j))
        return err_set(err, "%s", job_hold(j));
    if (!s.callers && !cadence_other_way(j) && sig > 0 && job_takes_signal(j, sig, err) < 0)
        return err_prefix(err, "CheckpointSignal=%s", j->params.checkpoint_signal);
    if (!s.callers && !cadence_other_way(j))
        return err_set(err,
                       "the program does not ask whether a checkpoint is due (libsyncguard, SCR), and the "
                       "policy has neither CheckpointSignal nor CheckpointFile");
    if (s.callers && (s.mixed || s.deaf))
        return err_set(err, "%s", s.mixed ? calls_disagree : ranks_deaf);
    return 0;
}

int cadence_request(struct job *j, const char *reason, struct err *err)
{
    struct cadence_requested *r = &j->cadence->request;

    if (cadence_can(j, err) < 0)
        return -1;
    if (r->phase != CADENCE_IDLE)
        return 0; /* the request in progress is enough */
    snprintf(r->reason, sizeof(r->reason), "%s", reason);
    r->phase = CADENCE_WANTED;
    r->asked_s = j->heard_s;
    r->asked++;
    r->tries = 0;
    r->urgent = false;
    r->margin_s = 0;
    return 0;
}

void cadence_requests_get(struct report_cadence *to, const struct job *j, double now_s,
                          const struct cadence_sum *s)
{
    static const char *const phases[] = { NULL, "wanted", "armed", "committed" };
    const struct cadence_requested *r = &j->cadence->request;
    const char *why = job_over(j) ? NULL : obstacle(j, now_s, s);
    bool idle = r->phase == CADENCE_IDLE;

    to->asked = (int64_t)r->asked;
    to->heard = (int64_t)r->heard;
    to->delivered = (int64_t)r->delivered;
    to->failed = (int64_t)r->failed;
    to->split = (int64_t)r->split;
    snprintf(to->missing, sizeof(to->missing), "%s", why ? why : "");
    to->newest = (struct report_request){ .known = !idle || r->asked, .call = -1 };
    snprintf(to->newest.reason, sizeof(to->newest.reason), "%s", r->reason);
    snprintf(to->newest.state, sizeof(to->newest.state), "%s", idle ? r->outcome : phases[r->phase]);
    if (idle ? r->newest_at != 0 : r->phase != CADENCE_WANTED)
        to->newest.call = (int64_t)(idle ? r->newest_at : r->at);
    to->newest.age_s = fmax(0, now_s - (idle ? r->newest_s : r->asked_s));
}
