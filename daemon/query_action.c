/* query_action.c - terminals' requests for actions, queries on them, and their log lines.
 * Owners may act on their own jobs, operators on all jobs and on nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions/action.h"
#include "common/log.h"
#include "common/now.h"
#include "daemon/control.h"
#include "daemon/query_action.h"
#include "daemon/query_job.h"
#include "history/history.h"
#include "job/ability.h"
#include "job/cadence.h"
#include "report/report_launch.h"
#include "wire/json.h"
#include "wire/pages.h"

#define LIST_MAX 200 /* of each list, and of actions without a limit */

/* ---- an action that a user asks for ---- */

static int read_action(const struct peer *p, const json_t *q, struct action *a, struct err *err)
{
    int kind = action_parse(json_get_word(q, "action"));
    char names[256];
    const struct job *j;

    if (kind < 0)
        return err_set(err, "unknown action: expected one of %s", action_names(true, names, sizeof(names)));
    *a = (struct action){ .kind = (enum action_kind)kind,
                          .nodes = json_get_word(q, "nodes"),
                          .reason = json_get_word(q, "text"),
                          .rule = "",
                          .policy = "",
                          .forced = json_get_true(q, "force"),
                          .by = link_uid(p->link) };
    if (action_table[a->kind].scope != ACTION_ON_JOB && !operators_has(&p->controller->operators, a->by))
        return err_set(err, "%s: only operators may do this", action_name(a->kind));
    if (a->kind == ACTION_SIGNAL) {
        a->signal = action_signal_parse(json_get_word(q, "signal"));
        if (a->signal < 0)
            return err_set(err, "unknown signal '%.32s': expected a name such as USR1, or 1 to 64",
                           json_get_word(q, "signal"));
    }
    if (action_table[a->kind].scope == ACTION_ON_NODES)
        return 0;
    j = query_job(p, q, true, err);
    if (!j)
        return -1;
    a->job = j->id;
    a->job_text = j->text_id;
    return 0;
}

/* What a dry run answers: the keys of what was done, and that it was not. */
static json_t *rehearsal(const struct action_record *r)
{
    json_t *action = action_object(r);
    char phrase[400];

    json_object_set_new(action, "id", json_null());
    json_object_set_new(action, "state", json_null());
    json_object_set_new(action, "dry_run", json_true());
    return json_pack("{s:b,s:s,s:o}", "dry_run", 1, "text", action_phrase(r, phrase, sizeof(phrase)),
                     "action", action);
}

json_t *query_action(struct peer *p, const json_t *q)
{
    struct actions *as = p->controller->actions;
    const char *given = json_get_word(q, "key");
    char key[ACTION_KEY_MAX], phrase[400];
    struct action_record record;
    struct action a;
    bool asked_before;
    struct err err;
    int64_t id;

    if (read_action(p, q, &a, &err) < 0)
        return query_error(err.text);
    if (strlen(given) < 8 || strlen(given) > 64)
        return query_error("an action needs a unique key of 8 to 64 characters");
    /* the prefix keeps a user's keys apart from those of other users and of rules */
    snprintf(key, sizeof(key), "by hand/%u/%s", (unsigned)a.by, given);
    a.key = key;
    /* as it would be recorded, were it started now */
    record = (struct action_record){ .kind = a.kind,
                                     .signal = a.signal,
                                     .job = a.job,
                                     .nodes = a.nodes,
                                     .job_text = a.job_text ? a.job_text : "",
                                     .rule = a.rule,
                                     .policy = a.policy,
                                     .reason = a.reason,
                                     .key = a.key,
                                     .outcome = "",
                                     .by = a.by,
                                     .asked_s = wall_s(),
                                     .tried_s = NAN,
                                     .ended_s = NAN };
    if (json_get_true(q, "dry_run"))
        return actions_check(as, &a, &err) < 0 ? query_error(err.text) : rehearsal(&record);
    asked_before = actions_find(as, key);
    id = actions_start(as, &a, &err);
    if (!id)
        return query_error(err.text);
    if (!asked_before && a.job.job)
        controls_asked(p->controller->controls, jobs_find(&p->controller->jobs, &a.job), &a,
                       controller_now_s());
    log_info("action %lld: %s, requested by user %u%s", (long long)id,
             action_phrase(&record, phrase, sizeof(phrase)), (unsigned)a.by, a.forced ? ", forced" : "");
    return json_pack("{s:o}", "action", action_object(actions_get(as, id)));
}

/* ---- lists ---- */

/* The effect of choices at launch: of steps in memory that the asker may see; number 0: of all jobs. */
static json_t *choices(const struct peer *p, uint32_t number, enum store_choice choice)
{
    const struct jobs *jobs = &p->controller->jobs;
    json_t *list = json_array();

    for (size_t i = 0; i < jobs->n && json_array_size(list) < LIST_MAX; i++) {
        const struct job *j = jobs->job[i];
        struct report_effect effect;
        json_t *o;

        if (!query_may_see(p, j) || (number && number != j->id.job))
            continue;
        history_effect(p->controller->history, j, choice, &effect);
        if (!effect.known)
            continue;
        o = report_effect_json(&effect);
        json_put_text(o, "job", j->text_id);
        json_put_text(o, "name", j->name);
        json_put_text(o, "pattern", store_choice_get(j, choice)->name);
        json_put_bool(o, "applied", store_choice_get(j, choice)->applied);
        json_array_append_new(list, o);
    }
    return list;
}

static bool take_action(const struct action_record *r, void *arg)
{
    return pages_append_id(arg, action_object(r), r->id);
}

static json_t *list_actions(struct peer *p, const json_t *q)
{
    struct actions *as = p->controller->actions;
    int64_t before = strtoll(json_get_word(q, "from"), NULL, 10),
            limit = json_get_int(q, "limit", 1, LIST_MAX, LIST_MAX);
    struct pages_page page = { .rows = json_array() };
    uint32_t number = 0;
    struct err err;
    char text[64];
    json_t *answer;

    if (json_object_get(q, "job")) {
        const struct job *j = query_job(p, q, false, &err);

        number = j ? j->id.job : (uint32_t)strtoul(json_show_text(q, "job", text, sizeof(text)), NULL, 10);
    }
    if (number || !json_object_get(q, "job"))
        actions_list(as, number, query_sees(p), before, limit, take_action, &page);
    if (json_object_get(q, "job") && !json_array_size(page.rows) && !before &&
        (!number || !query_job_known(p, q, &err))) {
        json_decref(page.rows);
        return query_error(err.text);
    }
    answer = json_pack("{s:f}", "now", wall_s());
    pages_put(&page, answer, "actions");
    if (before)
        return answer;
    json_put_json(answer, "orders", choices(p, number, STORE_ORDER));
    json_put_json(answer, "algorithms", choices(p, number, STORE_ALGORITHM));
    return answer;
}

json_t *query_actions(struct peer *p, const json_t *q)
{
    const struct action_record *r;
    uid_t uid = query_sees(p);

    if (!json_is_integer(json_object_get(q, "id")))
        return list_actions(p, q);
    r = actions_get(p->controller->actions, json_get_int(q, "id", 0, INT64_MAX, -1));
    if (!r || (uid != UINT32_MAX && uid != r->job.uid && uid != r->by))
        return query_error("no such action");
    return json_pack("{s:f,s:[o]}", "now", wall_s(), "actions", action_object(r));
}

/* ---- outcomes ---- */

static void on_ended(const struct action_record *r, void *arg)
{
    struct controller *s = arg;
    struct job *j = r->job.job ? jobs_find(&s->jobs, &r->job) : NULL;
    char phrase[400];

    action_phrase(r, phrase, sizeof(phrase));
    if (r->state == ACTION_DONE)
        log_info("action %lld: %s: done: %s (%s)", (long long)r->id, phrase, r->outcome, r->reason);
    else
        log_warn("action %lld: %s: failed: %s (%s)", (long long)r->id, phrase, r->outcome, r->reason);
    if (controls_ended(s->controls, r, controller_now_s()))
        return; /* a rule's action: reported there */
    if (j)
        job_event(j, controller_now_s(), "%s: %s: %s", action_name(r->kind),
                  r->state == ACTION_DONE ? "done" : "failed", r->outcome);
}

static int on_checkpoint(const struct action_record *r, void *arg, struct err *err)
{
    struct controller *s = arg;
    struct job *j = jobs_find(&s->jobs, &r->job);

    return j ? cadence_request(j, r->reason, err) : err_set(err, "step %s is no longer known", r->job_text);
}

static int on_can(const struct action *a, void *arg, struct err *err)
{
    const struct controller *s = arg;
    const struct job *j = a->job.job ? jobs_find(&s->jobs, &a->job) : NULL;

    if (!a->job.job)
        return 0;
    return j ? ability_check(j, a->kind, a->forced ? 0 : a->signal, err)
             : err_set(err, "step %s is no longer known", a->job_text);
}

static bool on_may_act(void *arg)
{
    const struct controller *s = arg;

    return !s->lease || lease_in_force(s->lease, lease_now_s());
}

/* The lease's file may have been unreadable for a moment; it is renewed, or lost. */
static bool on_may_again(void *arg)
{
    const struct controller *s = arg;

    return s->lease && lease_held(s->lease, lease_now_s());
}

void query_actions_start(struct controller *s)
{
    static const struct action_hooks hooks = { .ended = on_ended,
                                               .checkpoint = on_checkpoint,
                                               .can = on_can,
                                               .may_act = on_may_act,
                                               .may_again = on_may_again };

    s->actions = actions_new(s->base, &s->config, s->audit, NULL, &hooks, s);
}
