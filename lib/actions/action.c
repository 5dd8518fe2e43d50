#include "actions/action.h"

#include <event2/event.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actions/action_way.h"
#include "common/config.h"
#include "common/hostlist.h"
#include "common/now.h"
#include "common/xalloc.h"
#include "history/audit.h"

static const struct attempt_limits usual_limits = {
    .first_s = 2, .longest_s = 120, .stale_s = 600, .answer_s = 10, .program_s = 60, .tries = 8
};

#define PENDING_MAX       1000u
#define USER_PENDING_MAX  200u /* of them on the jobs of one user */
#define NOTIFICATIONS_MAX 256u /* of them webhooks and commands */

/* A pending action. */
struct task {
    struct actions *all;
    struct task *next, **back;
    struct action_record *r;
    struct action_try *try; /* NULL: waiting for its turn */
    double due_s;           /* monotonic */
    bool interrupted;       /* a try was under way when the controller was restarted */
    bool tried;             /* the try has ended so, which is not recorded yet */
    enum attempt_result result;
    char *text;
};

struct actions {
    struct event_base *base;
    const struct action_hooks *hooks;
    void *arg;
    struct audit *audit;
    struct action_ways *ways;
    const struct attempt_limits *limits;
    struct task *first, **last; /* oldest first */
    size_t n, n_notifications, running[LANES];
    struct event *wake;
    struct action_record *lent;
};

static const size_t lane_max[LANES] = { [LANE_SLURM] = 4, [LANE_WEBHOOK] = 4, [LANE_COMMAND] = 2 };

double action_wait_s(const struct attempt_limits *l, unsigned tries, double random)
{
    double wait_s = l->first_s * ldexp(1, tries > 1 ? (int)(tries < 32 ? tries : 32) - 1 : 0);

    return (wait_s < l->longest_s ? wait_s : l->longest_s) * (0.5 + random);
}

static bool is_notification(const struct task *t)
{
    return action_table[t->r->kind].scope == ACTION_ON_NOBODY;
}

/* ---- the list ---- */

static struct task *task_add(struct actions *as, struct action_record *r)
{
    struct task *t = xcalloc(1, sizeof(*t));

    t->all = as;
    t->r = r;
    t->due_s = now_s();
    t->interrupted = r->under_way;
    t->back = as->last;
    *as->last = t;
    as->last = &t->next;
    as->n++;
    as->n_notifications += is_notification(t);
    return t;
}

static void task_remove(struct task *t)
{
    struct actions *as = t->all;

    *t->back = t->next;
    if (t->next)
        t->next->back = t->back;
    else
        as->last = t->back;
    as->n--;
    as->n_notifications -= is_notification(t);
    free(t->text);
    free(t);
}

static void set_outcome(struct task *t, const char *text)
{
    free((char *)t->r->outcome);
    t->r->outcome = xstrdup(text);
}

static bool lane_is_free(const struct actions *as, const struct task *t)
{
    enum action_lane lane = action_lane(t->r->kind);

    return as->running[lane] < lane_max[lane];
}

static void wake_when_due(struct actions *as)
{
    double at_s = INFINITY, wait_s;

    for (struct task *t = as->first; t; t = t->next)
        if (!t->try && lane_is_free(as, t) && t->due_s < at_s)
            at_s = t->due_s;
    if (isinf(at_s)) {
        event_del(as->wake);
        return;
    }
    wait_s = fmax(0, at_s - now_s());
    event_add(as->wake, &(struct timeval){ (time_t)wait_s, (suseconds_t)(fmod(wait_s, 1) * 1e6) });
}

/* ---- tries ---- */

static void end_task(struct task *t, enum action_state state, const char *text)
{
    struct actions *as = t->all;
    struct action_record *r = t->r;

    set_outcome(t, text);
    r->state = state;
    r->ended_s = wall_s();
    r->under_way = false;
    /* If this fails, the action is looked up in Slurm after a restart, so that it is not done twice. */
    audit_action_update(as->audit, r, NULL);
    task_remove(t);
    if (as->hooks->ended)
        as->hooks->ended(r, as->arg);
    action_record_free(r);
}

static void try_later(struct task *t, const char *text)
{
    struct actions *as = t->all;
    char why[700];

    if (t->r->tries >= as->limits->tries) {
        snprintf(why, sizeof(why), "given up after %u tries: %s", t->r->tries, text);
        end_task(t, ACTION_FAILED, why);
        return;
    }
    set_outcome(t, text);
    t->r->under_way = false;
    t->due_s = now_s() + action_wait_s(as->limits, t->r->tries, (double)randombytes_random() / 4294967296.0);
    audit_action_update(as->audit, t->r, NULL);
}

static void settle_task(struct task *t, enum attempt_result result, const char *text)
{
    char why[700];

    switch (result) {
    case ATTEMPT_DONE:
        end_task(t, ACTION_DONE, text);
        break;
    case ATTEMPT_AGAIN:
        try_later(t, text);
        break;
    case ATTEMPT_UNSURE:
        if (action_repeatable(t->r->kind)) {
            try_later(t, text);
            break;
        }
        snprintf(why, sizeof(why), "not known whether it took effect; not tried again: %s", text);
        end_task(t, ACTION_FAILED, why);
        break;
    default:
        end_task(t, ACTION_FAILED, text);
    }
}

static bool may_act(const struct actions *as)
{
    return !as->hooks->may_act || as->hooks->may_act(as->arg);
}

/* Not now; later, unless another controller took over, which recovers it as interrupted. */
static void wait_to_act(struct task *t)
{
    const struct actions *as = t->all;

    t->due_s =
        as->hooks->may_again && as->hooks->may_again(as->arg) ? now_s() + as->limits->first_s : INFINITY;
}

static void on_tried(void *arg, enum attempt_result result, const char *text)
{
    struct task *t = arg;
    struct actions *as = t->all;

    t->try = NULL;
    as->running[action_lane(t->r->kind)]--;
    if (may_act(as)) {
        settle_task(t, result, text);
    } else {
        t->tried = true;
        t->result = result;
        t->text = xstrdup(text);
        wait_to_act(t);
    }
    wake_when_due(as);
}

/* Record the try, then start it. */
static void begin_task(struct task *t)
{
    struct actions *as = t->all;
    struct action_record *r = t->r;
    bool interrupted = t->interrupted;
    struct err err;

    if (!may_act(as)) {
        wait_to_act(t);
        return;
    }
    if (t->tried) {
        char *text = t->text;

        t->tried = false;
        t->text = NULL;
        settle_task(t, t->result, text);
        free(text);
        return;
    }
    t->interrupted = false;
    if (interrupted && !action_repeatable(r->kind)) {
        end_task(t, ACTION_FAILED,
                 "the controller was restarted during a try: not known whether it took effect; not tried "
                 "again");
        return;
    }
    if (wall_s() - r->asked_s > as->limits->stale_s) {
        char why[700];

        snprintf(why, sizeof(why), "given up: too late%s%s", *r->outcome ? ": " : "", r->outcome);
        end_task(t, ACTION_FAILED, why);
        return;
    }
    r->tries++;
    r->tried_s = wall_s();
    r->under_way = true;
    if (audit_action_update(as->audit, r, &err) < 0) {
        try_later(t, err.text);
        return;
    }
    if (r->kind == ACTION_CHECKPOINT) {
        err_set(&err, "this controller cannot ask jobs for checkpoints");
        if (as->hooks->checkpoint && as->hooks->checkpoint(r, as->arg, &err) == 0)
            end_task(t, ACTION_DONE, "the job was asked for a checkpoint");
        else
            end_task(t, ACTION_FAILED, err.text);
        return;
    }
    as->running[action_lane(r->kind)]++;
    t->try = action_try_start(as->ways, r, r->tries - 1, on_tried, t);
}

static struct task *find_due(struct actions *as, double at_s)
{
    for (struct task *t = as->first; t; t = t->next)
        if (!t->try && t->due_s <= at_s && lane_is_free(as, t))
            return t;
    return NULL;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    struct actions *as = arg;
    double at_s = now_s();
    struct task *t;

    (void)fd;
    (void)what;
    while ((t = find_due(as, at_s)))
        begin_task(t);
    wake_when_due(as);
}

/* ---- starting one ---- */

static bool is_host_list(const char *s)
{
    return strlen(s) < ACTION_NODES_MAX && !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                        "0123456789._-,[]")];
}

int actions_check(const struct actions *as, const struct action *a, struct err *err)
{
    bool wants_text =
        a->kind == ACTION_JOB_COMMENT || a->kind == ACTION_NODE_COMMENT || a->kind == ACTION_DRAIN;
    size_t of_user = 0;

    if ((unsigned)a->kind >= ACTION_KINDS)
        return err_set(err, "no such action");
    if (action_table[a->kind].scope == ACTION_ON_JOB && !a->job.job)
        return err_set(err, "%s: missing job", action_name(a->kind));
    if (action_table[a->kind].wants_nodes && (!a->nodes || !*a->nodes))
        return err_set(err, "%s: missing nodes", action_name(a->kind));
    if (a->nodes && !is_host_list(a->nodes))
        return err_set(err, "%s: invalid list of nodes '%.64s': expected NODE[,NODE...] or node[1-3]",
                       action_name(a->kind), a->nodes);
    if (a->nodes && hostlist_check(a->nodes, JOB_AGENTS_MAX, err) < 0) /* Slurm reads "node[1-" as "node]" */
        return err_prefix(err, "%s", action_name(a->kind));
    if (a->kind == ACTION_SIGNAL && (a->signal < 1 || a->signal > 64))
        return err_set(err, "signal: missing signal");
    if (wants_text && (!a->reason || !*a->reason))
        return err_set(err, "%s: missing text", action_name(a->kind));
    if (a->reason && strlen(a->reason) >= ACTION_REASON_MAX)
        return err_set(err, "%s: text is longer than %u bytes", action_name(a->kind), ACTION_REASON_MAX - 1);
    if ((as->hooks->can && as->hooks->can(a, as->arg, err) < 0) || actions_can(as, a->kind, err) < 0)
        return -1;
    if (as->n >= PENDING_MAX)
        return err_set(err, "%u actions are pending already", PENDING_MAX);
    if (action_table[a->kind].scope == ACTION_ON_NOBODY && as->n_notifications >= NOTIFICATIONS_MAX)
        return err_set(err, "%u webhooks and commands are pending already", NOTIFICATIONS_MAX);
    for (const struct task *t = as->first; t && a->job.job; t = t->next)
        of_user += t->r->job.job && t->r->job.uid == a->job.uid;
    if (of_user >= USER_PENDING_MAX)
        return err_set(err, "%u actions on the user's jobs are pending already", USER_PENDING_MAX);
    return 0;
}

int64_t actions_start(struct actions *as, const struct action *a, struct err *err)
{
    struct action_record *r = audit_action_find(as->audit, a->key);
    int64_t id;

    if (r) {
        id = r->kind == a->kind && job_id_same(&r->job, &a->job) && r->signal == a->signal &&
                     !strcmp(r->nodes, a->nodes ? a->nodes : "")
                 ? r->id
                 : 0;
        action_record_free(r);
        if (!id)
            err_set(err, "the key %s was used for another action", a->key);
        return id;
    }
    if (actions_check(as, a, err) < 0)
        return 0;
    id = audit_action_add(as->audit, a, wall_s(), err);
    if (!id)
        return 0;
    r = audit_action_get(as->audit, id);
    if (!r) {
        err_set(err, "action %lld cannot be read back", (long long)id);
        return 0;
    }
    task_add(as, r);
    wake_when_due(as);
    return id;
}

int actions_can(const struct actions *as, enum action_kind kind, struct err *err)
{
    if (kind == ACTION_CHECKPOINT && !as->hooks->checkpoint)
        return err_set(err, "this controller cannot ask jobs for checkpoints");
    return action_ways_can(as->ways, kind, err);
}

/* ---- queries ---- */

static const struct action_record *lend_record(struct actions *as, struct action_record *r)
{
    action_record_free(as->lent);
    as->lent = r;
    return r;
}

const struct action_record *actions_get(struct actions *as, int64_t id)
{
    return lend_record(as, audit_action_get(as->audit, id));
}

const struct action_record *actions_find(struct actions *as, const char *key)
{
    return lend_record(as, audit_action_find(as->audit, key));
}

void actions_list(struct actions *as, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                  action_listed *each, void *arg)
{
    audit_actions_list(as->audit, job, uid, before, limit, each, arg);
}

/* ---- creation and end ---- */

static void take_up(struct action_record *r, void *arg)
{
    task_add(arg, r);
}

struct actions *actions_new(struct event_base *base, const struct config *c, struct audit *audit,
                            const struct attempt_limits *limits, const struct action_hooks *hooks, void *arg)
{
    struct actions *as = xcalloc(1, sizeof(*as));

    as->base = base;
    as->hooks = hooks;
    as->arg = arg;
    as->last = &as->first;
    as->limits = limits ? limits : &usual_limits;
    as->audit = audit;
    as->ways = action_ways_new(base, c, as->limits);
    as->wake = event_new(base, -1, 0, on_wake, as);
    audit_actions_pending(as->audit, take_up, as);
    wake_when_due(as);
    return as;
}

void actions_configured(struct actions *as)
{
    action_ways_configured(as->ways);
}

void actions_free(struct actions *as)
{
    if (!as)
        return;
    while (as->first) {
        struct action_record *r = as->first->r;

        action_try_cancel(as->first->try);
        task_remove(as->first);
        action_record_free(r);
    }
    event_free(as->wake);
    action_ways_free(as->ways);
    action_record_free(as->lent);
    free(as);
}
