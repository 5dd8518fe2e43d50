#include "tui/user_action.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "wire/json.h"

__attribute__((format(printf, 2, 3))) static bool refuse(struct ui *ui, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(ui->message, sizeof(ui->message), fmt, ap);
    va_end(ap);
    ui->user_action.state = USER_ACTION_NONE;
    return false;
}

/* ---- beginning ---- */

/* A report lists only the ranks that are seen, and the node of the one that it is about besides. */
static const char *node_of_rank(const struct report *v, const char *rank)
{
    char name[24];

    for (size_t i = 0; i < v->n_ranks; i++) {
        snprintf(name, sizeof(name), "r%lld", (long long)v->rank[i].rank);
        if (!strcmp(name, rank))
            return v->rank[i].node;
    }
    snprintf(name, sizeof(name), "r%lld", (long long)v->job.worst.rank);
    return v->job.worst.known && v->job.worst.node[0] && !strcmp(name, rank) ? v->job.worst.node : NULL;
}

/* The node of the most costly verdict that blames one, or one of whose ranks; NULL: none does, or the rank's
 * node is not known. */
static const char *node_to_blame(const struct report *v)
{
    for (size_t i = 0; i < v->job.verdicts.n; i++) {
        const struct report_verdict *verdict = &v->job.verdicts.list[i];

        if (verdict->culprits.n != 1)
            continue;
        if (!strcmp(verdict->scope, "node"))
            return verdict->culprits.text[0];
        if (!strcmp(verdict->scope, "rank"))
            return node_of_rank(v, verdict->culprits.text[0]);
    }
    return NULL;
}

static bool to_acknowledge(const struct report_verdicts *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (!v->list[i].acknowledged)
            return true;
    return false;
}

bool user_action_possible(const struct ui *ui, enum user_action_kind kind)
{
    const struct report *v = ui->view;

    if (ui->playback.on || ui->screen != SCREEN_JOB || !v || !report_row_alive(&v->job) || ui->link != UI_UP)
        return false;
    switch (kind) {
    case USER_ACTION_PACE:
    case USER_ACTION_PAUSE:
        return v->control.known;
    case USER_ACTION_ACKNOWLEDGE:
        return to_acknowledge(&v->job.verdicts);
    case USER_ACTION_EXCLUDE:
        return node_to_blame(v) && !v->job.no_requeue[0] && !v->job.unconfirmed[0];
    case USER_ACTION_CHECKPOINT:
        return v->cadence.known && strcmp(v->cadence.mode, "off") != 0 && !v->cadence.missing[0] &&
               !v->job.unconfirmed[0];
    }
    return false;
}

/* What needs no dry run: it can be taken back by the same key. */
static bool ask_person(struct ui *ui, const char *what)
{
    snprintf(ui->user_action.text, sizeof(ui->user_action.text), "%s", what);
    ui->user_action.state = USER_ACTION_ASKING;
    return true;
}

static bool begin_kind(struct ui *ui, const struct report *v)
{
    struct user_action *a = &ui->user_action;
    const char *node;

    switch (a->kind) {
    case USER_ACTION_PACE:
        a->off = v->pace.levers[0] != '\0';
        return ask_person(ui, a->off ? "Switch pacing off for this job, on all its ranks?"
                                     : "Switch pacing on for this job, as its policy allows?");
    case USER_ACTION_PAUSE:
        a->off = !v->control.paused;
        return ask_person(
            ui, a->off ? "Pause the policy: its rules decide nothing about this job until you resume it?"
                       : "Resume the policy: its rules decide about this job again?");
    case USER_ACTION_ACKNOWLEDGE:
        if (!v->job.verdicts.n)
            return refuse(ui, "there is no verdict to acknowledge");
        return ask_person(ui, "Acknowledge the verdicts: show everybody that you have seen them?");
    case USER_ACTION_EXCLUDE:
        node = node_to_blame(v);
        if (!node)
            return refuse(ui,
                          "no single node is known as culprit; sgctl action JOB exclude NODE excludes any");
        snprintf(a->node, sizeof(a->node), "%s", node);
        break;
    case USER_ACTION_CHECKPOINT:
        break;
    }
    a->state = USER_ACTION_CHECKING;
    return true;
}

bool user_action_begin(struct ui *ui, enum user_action_kind kind)
{
    const struct report *v = ui->view;

    if (ui->user_action.state != USER_ACTION_NONE)
        return false; /* its answer is on the way, and would be taken for this one's */
    if (ui->playback.on)
        return refuse(ui, "a recorded job cannot be acted on");
    if (ui->screen != SCREEN_JOB || !v)
        return refuse(ui, "open a job first: Enter");
    if (!report_row_alive(&v->job))
        return refuse(ui, "the job has ended");
    if (ui->link != UI_UP)
        return refuse(ui, "no controller");
    ui->user_action = (struct user_action){ .kind = kind };
    snprintf(ui->user_action.job, sizeof(ui->user_action.job), "%s", ui->job_id);
    client_key(ui->user_action.key);
    return begin_kind(ui, v);
}

void user_action_key(struct ui *ui, int key)
{
    if (ui->user_action.state != USER_ACTION_ASKING)
        return;
    if (key != 'y' && key != 'Y') {
        refuse(ui, "not done");
        return;
    }
    ui->user_action.state = USER_ACTION_DOING;
    ui->user_action.sent = false;
}

/* ---- questions and answers ---- */

static json_t *control_question(const struct user_action *a, const char *what, json_t *words)
{
    json_t *q = json_pack("{s:s, s:s, s:s}", "query", "control", "do", what, "job", a->job);

    if (words)
        json_object_set_new(q, "words", words);
    return q;
}

static json_t *action_question(const struct user_action *a, const char *kind)
{
    json_t *q = json_pack("{s:s, s:s, s:s, s:s, s:s}", "query", "action", "action", kind, "job", a->job,
                          "key", a->key, "text", "requested in sgtop");

    if (a->node[0])
        json_object_set_new(q, "nodes", json_string(a->node));
    if (a->state == USER_ACTION_CHECKING)
        json_object_set_new(q, "dry_run", json_true());
    return q;
}

json_t *user_action_question(struct ui *ui)
{
    struct user_action *a = &ui->user_action;

    if (a->sent || (a->state != USER_ACTION_CHECKING && a->state != USER_ACTION_DOING))
        return NULL;
    a->sent = true;
    switch (a->kind) {
    case USER_ACTION_PACE:
        return control_question(a, "set", json_pack("[s]", a->off ? "Pacing=off" : "Pacing=auto"));
    case USER_ACTION_PAUSE:
        return control_question(a, a->off ? "pause" : "resume", NULL);
    case USER_ACTION_ACKNOWLEDGE:
        return control_question(a, "acknowledge", NULL);
    case USER_ACTION_CHECKPOINT:
        return action_question(a, "checkpoint");
    case USER_ACTION_EXCLUDE:
        return action_question(a, "exclude");
    }
    return NULL;
}

static const char *done_text(const struct user_action *a)
{
    switch (a->kind) {
    case USER_ACTION_PACE:
        return a->off ? "pacing is off" : "pacing is on";
    case USER_ACTION_PAUSE:
        return a->off ? "the policy is paused" : "the policy decides again";
    case USER_ACTION_ACKNOWLEDGE:
        return "acknowledged";
    default:
        return "started: p and sgctl actions show the outcome";
    }
}

void user_action_answer(struct ui *ui, const json_t *answer)
{
    struct user_action *a = &ui->user_action;
    const char *error = json_get_string(answer, "error");
    char text[200];

    if (error) {
        utf8_clean(text, sizeof(text), error);
        refuse(ui, "not done: %.110s", text);
    } else if (a->state == USER_ACTION_CHECKING) {
        json_get_text(answer, "text", text, sizeof(text));
        snprintf(a->text, sizeof(a->text), "%s%s?", text,
                 a->kind == USER_ACTION_EXCLUDE ? ": requeue it without that node" : "");
        a->state = USER_ACTION_ASKING;
    } else if (a->state == USER_ACTION_DOING) {
        refuse(ui, "%s", done_text(a));
    }
}

void user_action_lost(struct ui *ui)
{
    if (ui->user_action.state == USER_ACTION_DOING && ui->user_action.sent)
        refuse(ui, "connection lost: the action may have been done, see sgctl audit");
    else if (ui->user_action.state != USER_ACTION_NONE)
        refuse(ui, "not done: connection lost");
}
