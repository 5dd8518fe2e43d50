/* agents.c - messages of agents: their identity, their ranks, their batches. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/agents.h"
#include "daemon/bounds.h"
#include "daemon/control.h"
#include "history/history.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/pacing.h"
#include "job/record.h"
#include "view/view.h"
#include "wire/json.h"
#include "wire/telemetry.h"

#define ENERGY_MAX_J 1e13     /* a megawatt for months */
#define JOB_BYTES    131072.0 /* of a step, beside its view and its agents */
#define AGENT_BYTES  (double)sizeof(struct job_agent)
/* an ended step stays in memory for this long whatever it takes, and longer ... */
#define ENDED_KEEP_S 60.0
#define ENDED_SHARE  8   /* ... when all of them take less than this part of UserMemory */
#define BATCH_MAX_S  0.1 /* that one batch may take */
#define ITEMS        8u  /* of a batch, before the time is looked at */

static void refuse_agent(struct peer *p, const char *why)
{
    if (p->controller->bounds)
        bounds_refused(p->controller->bounds);
    log_warn("%s (uid %u): agent refused: %s", link_peer(p->link), (unsigned)link_uid(p->link), why);
    peer_send(p, json_pack("{s:s}", "error", why));
}

static void take_notes(struct job *j, const char *node, const json_t *hello)
{
    json_t *note;
    size_t i;

    json_array_foreach(json_object_get(hello, "notes"), i, note)
        if (json_is_string(note))
            job_note(j, node, json_string_value(note));
}

/* Its notes say why the step's credential is missing on its node. */
static void refuse_without_credential(struct peer *p, struct job *j, const json_t *hello)
{
    char node[64];

    json_get_text(hello, "node", node, sizeof(node));
    take_notes(j, node, hello);
    refuse_agent(p, "root vouches for this step: its agents need the step's credential");
}

/* ---- memory ---- */

/* Charge the job's user for what the step takes now, and say in its notes what did not fit. */
static void charge_user(struct controller *s, struct job *j)
{
    struct view_rejected r = view_rejected_get(j->view);
    double bytes = JOB_BYTES + AGENT_BYTES * (double)j->n_agents + view_bytes(j->view);
    char text[160];

    if (!j->payer)
        return;
    bounds_holds(s->bounds, j->payer, bytes - j->held_bytes);
    j->held_bytes = bytes;
    if (r.large + r.memory == j->rejected)
        return;
    j->rejected = r.large + r.memory;
    if (r.large) {
        snprintf(text, sizeof(text), "communicators of more than %u ranks were rejected", VIEW_RANKS_MAX);
        job_note(j, s->host, text);
    }
    if (r.memory)
        job_note(j, s->host,
                 "ranks, communicators or calls are not analysed: memory is used up (UserMemory, Memory)");
}

/* Before anything is added to its view. */
static void bound_view(struct controller *s, struct job *j)
{
    view_bound(j->view, j->payer ? bounds_step_bytes(s->bounds, j->payer, view_bytes(j->view)) : INFINITY);
}

void agents_forget(struct controller *s, struct job *j)
{
    if (j->payer) {
        bounds_holds(s->bounds, j->payer, -j->held_bytes);
        j->payer->steps--;
    }
    history_forget(s->history, j);
    controls_remove(s->controls, j);
    jobs_remove(&s->jobs, j);
}

static bool may_forget(const struct job *j)
{
    return job_over(j) && j->final && !job_agents_connected(j) && !recording(j);
}

/* Forget the step that ended first, of the user or (UINT32_MAX) of all; its report is in the history.  False:
 * none has ended. */
static bool make_room(struct controller *s, uid_t uid)
{
    struct job *oldest = NULL;

    for (size_t i = 0; i < s->jobs.n; i++) {
        struct job *j = s->jobs.job[i];

        if (may_forget(j) && (uid == UINT32_MAX || j->id.uid == uid) && (!oldest || j->end_s < oldest->end_s))
            oldest = j;
    }
    if (oldest)
        agents_forget(s, oldest);
    return oldest != NULL;
}

bool agents_let_go(struct controller *s, double now_s)
{
    double ended_bytes = 0;

    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct job *j = s->jobs.job[i];

        if (may_forget(j) && now_s > j->end_s + ENDED_KEEP_S)
            ended_bytes += j->held_bytes;
    }
    return ended_bytes > s->config.user_memory / ENDED_SHARE && make_room(s, UINT32_MAX);
}

/* May the user have one more step? */
static int admit_step(struct controller *s, uid_t uid, struct err *err)
{
    if (!s->bounds)
        return 0;
    while (bounds_step(s->bounds, bounds_user(s->bounds, uid), err) < 0)
        if (!make_room(s, uid))
            return -1;
    while (s->jobs.n >= JOBS_MAX)
        if (!make_room(s, UINT32_MAX))
            return err_set(err, "too many guarded steps");
    return 0;
}

/* ---- hello ---- */

static void write_text_id(struct job *j)
{
    if (j->array_job >= 0)
        snprintf(j->text_id, sizeof(j->text_id), "%" PRId64 "_%" PRId64 ".%u", j->array_job, j->array_task,
                 j->id.step);
    else
        snprintf(j->text_id, sizeof(j->text_id), "%u.%u", j->id.job, j->id.step);
}

/* Choose the policy by what is known of the job, and set j->policy to its name.  An unconfirmed one has the
 * default. */
static const struct config_policy *choose_policy(struct job *j, const struct controller *s)
{
    struct config_job who = { j->partition, j->account, j->qos, j->user, j->nodes_total, j->tasks };
    const struct config_selection *line = NULL;
    const struct config_policy *policy = NULL;

    if (!job_unconfirmed(j)) {
        policy = config_policy_select(&s->config, &who, j->wish.asked ? j->wish.policy : NULL, &line);
        if (!policy)
            job_note(j, s->host, "unknown policy: the default policy applies");
    }
    if (!policy)
        policy = config_policy_find(&s->config, s->config.default_policy);
    if (line)
        job_event(j, controller_now_s(), "policy %s, by %s:%u", policy->name, line->file, line->line);
    snprintf(j->policy, sizeof(j->policy), "%s", policy->name);
    return policy;
}

void agents_confirmed(struct controller *s, struct job *j)
{
    const struct config_policy *policy = choose_policy(j, s);

    write_text_id(j);
    j->failures_due_s = 0;
    j->final = false; /* of a short step the end was stored without what Slurm knows */
    controls_confirm(s->controls, j, policy, controller_now_s());
    peers_instruct(s, j);
    log_info("job %s: confirmed by Slurm: user %s, partition %s; policy %s", j->text_id, j->user,
             j->partition, j->policy);
}

/* False, and *to is unchanged, where the name is empty or has a character that is not in allowed, or where
 * the times promise no gain or are not known. */
static bool take_choice(struct job_choice *to, const json_t *told, const char *name, const char *allowed,
                        const char *before, const char *after)
{
    struct job_choice c = { .applied = json_get_true(told, "applied"),
                            .compared = json_get_true(told, "compared"),
                            .before_s = json_get_real(told, before, 1e-9, 1e9),
                            .after_s = json_get_real(told, after, 1e-9, 1e9) };

    json_get_text(told, name, c.name, sizeof(c.name));
    if (!*c.name || c.name[strspn(c.name, allowed)] || !(c.before_s > 0) || !(c.after_s <= c.before_s))
        return false;
    *to = c;
    return true;
}

/* What only Slurm can confirm is left out where it is asked. */
static void describe_job(struct job *j, const struct controller *s, const json_t *hello, const json_t *step)
{
    const json_t *asked = json_object_get(hello, "policy_asked"), *sizes = step ? step : hello,
                 *algorithm = json_get_object(hello, "algorithm");
    struct err err;

    json_get_text(hello, "name", j->name, sizeof(j->name));
    if (j->trust != JOB_VOUCHED) {
        json_get_text(hello, "user", j->user, sizeof(j->user));
        json_get_text(hello, "partition", j->partition, sizeof(j->partition));
        json_get_text(hello, "account", j->account, sizeof(j->account));
        json_get_text(hello, "qos", j->qos, sizeof(j->qos));
    }
    json_get_text(hello, "policy", j->wish.policy, sizeof(j->wish.policy));
    /* names as of pattern_name() in topology/ and of algorithm_name() in model/ */
    take_choice(&j->placement, json_object_get(hello, "placement"), "pattern",
                "abcdefghijklmnopqrstuvwxyz0123456789:", "slurm_s", "chosen_s");
    j->algorithm_looked =
        take_choice(&j->algorithm, algorithm, "name", "abcdefghijklmnopqrstuvwxyz_", "usual_s", "most_s") ||
        (algorithm && !*json_get_word(algorithm, "name"));
    j->wish.asked = asked ? json_is_true(asked) : strcasecmp(j->wish.policy, s->config.default_policy) != 0;
    if (json_get_int(hello, "het_job", 1, UINT32_MAX,
                     0)) /* the step's credential counts one component only */
        sizes = hello;
    j->nodes_total = (uint32_t)json_get_int(sizes, "nodes", 0, JOB_AGENTS_MAX, 0);
    j->tasks = (uint32_t)json_get_int(sizes, "tasks", 0, VIEW_RANKS_MAX, 0);
    if (hostlist_check(json_get_word(hello, "nodelist"), JOB_AGENTS_MAX, &err) == 0)
        j->nodelist = xstrdup(json_get_word(hello, "nodelist"));
    j->end_wall_s = (double)json_get_int(hello, "end_time", 0, UINT32_MAX, 0);
    write_text_id(j);
    controls_add(s->controls, j, choose_policy(j, s), controller_now_s());
}

/* The step was requeued: end its earlier runs. */
static void end_former_runs(struct controller *s, const struct job_id *id)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct job *j = s->jobs.job[i];

        if (j->id.uid == id->uid && j->id.job == id->job && j->id.step == id->step &&
            j->id.restarts < id->restarts)
            for (size_t a = 0; a < j->n_agents; a++)
                j->agent[a]->bye = true;
    }
}

/* Root vouches for the step now: what its agents without a credential said of it before is no second step.
 * Their notes say why they have none; they are refused from now on. */
static void replace_unvouched(struct controller *s, struct job *alone, struct job *vouched)
{
    job_notes_copy(vouched, alone);
    for (struct peer *q = s->peers, *next; q; q = next) {
        next = q->next;
        if (q->recording == alone) {
            recorder_stop(alone, q->link, "root vouches for the step from now on; record it again");
            q->recording = NULL;
        }
        if (q->job == alone)
            peer_drop(q);
    }
    agents_forget(s, alone);
}

/* The step that the hello is of, a new one if there is none; NULL: the agent was refused. */
static struct job *job_of(struct peer *p, const json_t *hello)
{
    struct controller *s = p->controller;
    const struct config_policy *params = config_policy_find(&s->config, s->config.default_policy);
    const json_t *step = link_step(p->link), *facts = step ? step : hello;
    struct job_id id = {
        .uid = (uid_t)json_get_int(facts, "uid", 0, UINT32_MAX - 1, UINT32_MAX),
        .job = (uint32_t)json_get_int(facts, "job", 1, UINT32_MAX, 0),
        .step = (uint32_t)json_get_int(facts, "step", 0, UINT32_MAX, UINT32_MAX),
        .restarts = (uint32_t)json_get_int(hello, "restarts", 0, UINT32_MAX, 0),
    };
    uint32_t leader = (uint32_t)json_get_int(hello, "het_job", 1, UINT32_MAX, 0);
    enum job_trust trust = !step                                            ? JOB_UNCONFIRMED
                           : s->config.confirm == CONFIG_CONFIRM_CREDENTIAL ? JOB_CONFIRMED
                                                                            : JOB_VOUCHED;
    struct job *j, *alone = NULL;
    struct err err;

    if (leader)
        id.job = leader;
    if (id.uid == UINT32_MAX || !id.job || id.step == UINT32_MAX)
        return refuse_agent(p, "the hello lacks uid, job or step"), NULL;
    if (link_uid(p->link) != id.uid)
        return refuse_agent(p, "the job is another user's"), NULL;
    j = jobs_find(&s->jobs, &id);
    if (j && !step && j->trust > JOB_UNCONFIRMED)
        return refuse_without_credential(p, j, hello), NULL;
    if (j && (!step || j->trust > JOB_UNCONFIRMED))
        return j;
    if (admit_step(s, id.uid, &err) < 0)
        return refuse_agent(p, err.text), NULL;
    end_former_runs(s, &id);
    if (j) /* the room may have been made by forgetting it */
        alone = jobs_find(&s->jobs, &id);
    j = job_new(&id, params ? params : &s->config.policies[0], controller_now_s());
    j->trust = trust;
    jobs_add(&s->jobs, j);
    if (alone)
        replace_unvouched(s, alone, j);
    if (s->bounds) {
        j->payer = bounds_user(s->bounds, id.uid);
        j->payer->steps++;
    }
    j->het = leader != 0;
    describe_job(j, s, hello, step);
    history_go_on(s->history, j, controller_now_s());
    charge_user(s, j);
    log_info("job %s: guarded, %u tasks on %u nodes, policy %s%s%s", j->text_id, j->tasks, j->nodes_total,
             j->policy, job_unconfirmed(j) ? "; unconfirmed: " : "",
             job_unconfirmed(j) ? job_unconfirmed(j) : "");
    return j;
}

/* Null: nothing is unseen any more. */
static void take_unseen(struct job *j, struct job_agent *a, const json_t *o)
{
    a->unseen.processes = json_get_int(o, "processes", 1, UINT32_MAX, 1);
    a->unseen.quiet = json_get_true(o, "quiet");
    json_get_text(o, "reason", a->unseen.reason, sizeof(a->unseen.reason));
    json_get_text(o, "text", a->unseen.text, sizeof(a->unseen.text));
    job_unseen(j);
}

/* An agent has one link: an older one is dead, but its end was not noticed yet. */
static void drop_former_link(struct peer *p, const struct job_agent *a)
{
    if (!a->link)
        return;
    for (struct peer *q = p->controller->peers, *next; q; q = next) {
        next = q->next;
        if (q != p && q->agent == a)
            peer_drop(q);
    }
}

void agents_hello(struct peer *p, const json_t *hello)
{
    uint64_t instance = strtoull(json_get_word(hello, "agent"), NULL, 16),
             first = (uint64_t)json_get_int(hello, "first_batch", 0, INT64_MAX, 1);
    struct job *j;
    int64_t end = json_get_int(hello, "end_time", 1, INT64_C(1) << 40, -1);
    const json_t *adapter = json_object_get(hello, "adapter");
    struct job_agent *a;
    char node[64], switches[256], hex[24];

    json_get_text(link_step(p->link) ? link_step(p->link) : hello, "node", node, sizeof(node));
    if (!*node) /* before there is a step of it, which no agent would ever end */
        return refuse_agent(p, "the hello lacks the node");
    j = job_of(p, hello);
    if (!j)
        return;
    if (j->n_agents >= j->nodes_total && j->nodes_total && !j->het && !job_agent_find(j, node))
        return refuse_agent(p, "the step has an agent on each of its nodes already");
    a = job_agent_get(j, node);
    if (!a)
        return refuse_agent(p, "too many agents for one step");
    charge_user(p->controller, j);
    json_get_text(hello, "switch", a->switch_name, sizeof(a->switch_name));
    json_get_text(hello, "switches", switches, sizeof(switches));
    view_switches_add(j->view, switches);
    json_get_text(hello, "version", a->version, sizeof(a->version));
    if (a->instance && a->instance != instance)
        job_event(j, controller_now_s(), "the agent on %s was restarted", node);
    if (a->instance != instance)
        a->batch = 0;
    else if (first > a->batch + 1)
        job_event(j, controller_now_s(), "%llu batches of %s are lost",
                  (unsigned long long)(first - a->batch - 1), node);
    drop_former_link(p, a);
    a->instance = instance;
    a->link = p->link;
    a->heard_s = j->heard_s = controller_now_s();
    a->bye = false;
    p->job = j;
    p->agent = a;
    p->acked = a->batch;
    view_adapter(j->view, json_get_number(adapter, "bytes_per_s"),
                 (unsigned)json_get_int(adapter, "number", 1, VIEW_ADAPTERS_MAX, 0));
    take_notes(j, node, hello);
    take_unseen(j, a, json_object_get(hello, "unseen"));
    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)p->controller->instance);
    peer_send(p, json_pack("{s:s,s:s,s:I,s:i}", "welcome", "agent", "controller", hex, "batch",
                           (json_int_t)a->batch, "items", (int)TELEMETRY_NEWEST));
    peer_instruct(p);
    if (end > 0)
        cadence_limit_set(j, (double)end);
    cadence_hello(j, a);
}

static void take_rank(struct job *j, const struct job_agent *a, const json_t *o)
{
    uint32_t rank = (uint32_t)json_get_int(o, "rank", 0, VIEW_RANKS_MAX - 1, UINT32_MAX);
    uint16_t app = (uint16_t)json_get_int(o, "app", 0, UINT16_MAX, UINT16_MAX);
    uint32_t world = (uint32_t)json_get_int(o, "world_size", 0, VIEW_RANKS_MAX, 0);
    const char *state = json_get_string(o, "state");
    char library[VIEW_LIBRARY_SIZE];

    if (view_rank_add(j->view, rank, app, a->node, a->switch_name) < 0)
        return;
    j->world = world > j->world ? world : j->world;
    view_rank_process(j->view, rank, app, json_get_int(o, "pid", 1, INT32_MAX, -1));
    json_get_text(o, "library", library, sizeof(library));
    view_library(j->view, library);
    j->rank_broke = j->rank_broke || (state && (!strcmp(state, "aborted") || !strcmp(state, "vanished")));
    if (state && strcmp(state, "running"))
        view_rank_end(j->view, rank, app, strcmp(state, "finalized") != 0);
}

static void take_stats(struct job_agent *a, const json_t *o)
{
    double cpu_s = json_get_number(o, "cpu_s"), wall_s = json_get_number(o, "wall_s"),
           energy_j = json_get_number(o, "energy_j");

    a->cpu_ratio = wall_s > 0 ? cpu_s / wall_s : NAN;
    a->rss_bytes = json_get_number(o, "rss_bytes");
    a->backlog_bytes = json_get_number(o, "backlog_bytes");
    a->lost_batches = json_get_number(o, "lost_batches");
    if (!(energy_j >= 0 && energy_j < ENERGY_MAX_J))
        energy_j = NAN;
    if (energy_j < a->energy_j) /* it only increases: this is of a restarted agent, which counts from 0 */
        a->energy_before_j += a->energy_j;
    a->energy_j = energy_j;
}

void agents_message(struct peer *p, const json_t *o)
{
    const char *note;
    const json_t *v;
    size_t i;
    json_t *rank;

    p->agent->heard_s = p->job->heard_s = controller_now_s();
    if ((v = json_object_get(o, "ranks"))) {
        bound_view(p->controller, p->job);
        json_array_foreach(v, i, rank)
            take_rank(p->job, p->agent, rank);
        charge_user(p->controller, p->job);
    }
    if ((v = json_object_get(o, "agent_stats")))
        take_stats(p->agent, v);
    if ((v = json_object_get(o, "checkpoint")))
        cadence_take(p->job, p->agent, controller_now_s(), v);
    if ((v = json_object_get(o, "pace")))
        pacing_take(p->agent, v);
    if ((note = json_get_string(o, "note")))
        job_note(p->job, p->agent->node, note);
    if ((v = json_object_get(o, "unseen")))
        take_unseen(p->job, p->agent, v);
    if (json_object_get(o, "bye")) {
        p->agent->bye = true;
        agents_ack(p);
    }
}

/* The user's steps would take more time than they may. */
static void leave_out(struct peer *p)
{
    p->user->left_out++;
    job_note(
        p->job, p->controller->host,
        "telemetry is left out: it takes more than the user's share of the controller's time (UserLoad)");
}

void agents_batch(struct peer *p, const void *data, size_t bytes)
{
    struct telemetry_reader r;
    struct telemetry_item item;
    struct err err;
    double now_s = controller_now_s();

    if (telemetry_open(&r, data, bytes, &err) < 0) {
        log_warn("job %s: %s: batch refused: %s", p->job->text_id, p->agent->node, err.text);
        job_note(p->job, p->agent->node, "a malformed batch was refused");
        return;
    }
    p->agent->heard_s = p->job->heard_s = now_s;
    p->controller->batches++;
    if (r.header.batch <= p->agent->batch) {
        /* Processed before: by this controller, or by one before a restart, after which the members are not
         * known. */
        while (telemetry_next(&r, &item))
            if (item.kind == TELEMETRY_COMM)
                view_item(p->job->view, now_s, &item);
        return;
    }
    p->agent->batch = r.header.batch;
    if (p->user && !bounds_time(p->user)) {
        leave_out(p);
        return;
    }
    bound_view(p->controller, p->job);
    for (unsigned n = 1; telemetry_next(&r, &item); n++) {
        if (n % ITEMS == 0 && p->user && !p->user->free && controller_now_s() > now_s + BATCH_MAX_S) {
            leave_out(p);
            break;
        }
        if (telemetry_is_call(&item)) {
            sampling_take(&p->job->sampling);
            if (!view_call_place(p->job->view, &item.call))
                continue;
        }
        view_item(p->job->view, now_s, &item);
        if (telemetry_is_call(&item))
            recorders_call(p->job, now_s, &item.call);
    }
    charge_user(p->controller, p->job);
}

void agents_ack(struct peer *p)
{
    if (!p->agent || p->acked == p->agent->batch)
        return;
    p->acked = p->agent->batch;
    peer_send(p, json_pack("{s:I}", "ack", (json_int_t)p->acked));
}

void agents_gone(struct peer *p)
{
    if (!p->agent || p->agent->link != p->link)
        return;
    p->agent->link = NULL;
    if (!p->agent->bye)
        job_event(p->job, controller_now_s(), "the agent on %s disconnected", p->agent->node);
}
