#include "daemon/server.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <malloc.h>
#include <math.h>
#include <netdb.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions/action.h"
#include "common/log.h"
#include "common/proc.h"
#include "common/xalloc.h"
#include "daemon/agents.h"
#include "daemon/bounds.h"
#include "daemon/control.h"
#include "daemon/metrics.h"
#include "daemon/peer.h"
#include "daemon/query.h"
#include "daemon/query_action.h"
#include "history/audit.h"
#include "history/database.h"
#include "history/history.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/record.h"
#include "job/report_job.h"
#include "report/report.h"
#include "slurm/accounting.h"
#include "slurm/jobtime.h"
#include "view/figures.h"
#include "view/view.h"
#include "wire/identity.h"
#include "wire/verifier.h"

#define TICK_S 0.25
/* an agent's frame that is looked at in any case: a note, statistics, its end */
#define SMALL_BYTES  1024u
#define TRIM_TICKS   40u /* ten seconds */
#define TRIM_BYTES   (8u << 20)
#define GROWTH_MIN_S 600.0
/* interval at which a step is looked at whose user has no time left */
#define STARVED_S     2.0
#define PENDING_MAX   4096u /* connections that have not finished the handshake */
#define ANSWERS_RATIO 0.3   /* of the time may go to terminals while agents wait */
#define SAVE_S        30.0
#define SAVES_S       0.025 /* that this may take of a tick */
/* interval at which what a controller that is started again must know is stored ... */
#define KEEP_S       5.0
#define KEEP_AGENT_S 0.02 /* ... longer by this for each agent */
#define SAVED_ROWS   512u /* of ranks and of agents in a stored report */
/* interval at which a job's failure rate is read from the history */
#define FAILURES_S    900.0
#define PRESENT_TICKS 40u    /* ten seconds */
#define USERS_TICKS   240u   /* a minute */
#define EXPIRE_TICKS  14400u /* an hour */
#define LISTED_A_TICK 32     /* takes some 10 ms */
#define STORED_ROWS   16u    /* of the newest step in a stored report */

/* ---- peers ---- */

void server_gone(struct peer *p)
{
    struct job *recorded = p->recording;

    agents_gone(p);
    if (recorded) {
        recorder_stop(recorded, p->link, NULL);
        p->recording = NULL;
        peers_instruct(p->controller, recorded);
    }
}

static void on_up(struct link *l, void *arg)
{
    (void)l;
    peer_up(arg);
}

/* Whether a frame of this size is looked at: a user whose steps and queries took far more time than they may
 * has to wait. */
static bool may_send(struct peer *p, size_t bytes)
{
    struct err err;

    if (!p->user)
        return true;
    if (p->agent && (bytes < SMALL_BYTES || p->user->free || p->user->time_s > -BOUNDS_TIME_S))
        return true;
    err_set(&err, "frame ignored: this user's steps take too much of the controller's time (UserLoad)");
    if (!p->agent && bounds_question(p->controller->bounds, p->user, &err) == 0)
        return true;
    bounds_refused(p->controller->bounds);
    p->user->left_out++;
    peer_send(p, json_pack("{s:s}", "error", err.text));
    return false;
}

void server_frame(struct peer *p, const void *data, size_t bytes)
{
    json_error_t e;
    json_t *o;

    if (!may_send(p, bytes))
        return;
    o = json_loadb(data, bytes, JSON_REJECT_DUPLICATES, &e);
    if (!json_is_object(o))
        peer_send(p, json_pack("{s:s}", "error", "invalid frame: expected one JSON object"));
    else if (p->agent)
        agents_message(p, o);
    else if (json_object_get(o, "hello"))
        agents_hello(p, o);
    else
        query_answer(p, o);
    json_decref(o);
}

/* Terminals are answered before telemetry is read, as long as they leave most of the time to it. */
static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct peer *p = arg;
    struct controller *s = p->controller;
    double begin_s = controller_now_s();

    if (p->refused || !controller_is_active(s))
        return;
    if (type == LINK_TELEMETRY && p->agent)
        agents_batch(p, data, bytes);
    else if (type == LINK_JSON)
        server_frame(p, data, bytes);
    bounds_took(p->user, controller_now_s() - begin_s);
    if (type != LINK_JSON)
        return;
    if (!p->agent)
        s->answers_s += controller_now_s() - begin_s;
    link_urgent(l, !p->agent && s->answers_s < TICK_S * ANSWERS_RATIO);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct peer *p = arg;

    if (!p->up)
        log_warn("%s: connection refused: %s", link_peer(l), why);
    else
        log_debug("%s: gone: %s", link_peer(l), why);
    peer_forget(p);
}

/* What has arrived of a frame is in memory, and no other bound counts it. */
static void on_arriving(struct link *l, size_t bytes, void *arg)
{
    struct peer *p = arg;
    struct err err;

    if (!p->user || p->refused)
        return;
    p->user->arriving_bytes += (double)bytes - p->arriving;
    p->arriving = (double)bytes;
    if (bounds_arriving(p->user, p->arriving, &err) == 0)
        return;
    bounds_refused(p->controller->bounds);
    log_warn("%s (uid %u): connection refused: %s", link_peer(l), (unsigned)p->user->uid, err.text);
    peer_refuse(p, err.text);
    link_ignore(l);
}

static const struct link_events peer_events = {
    .up = on_up, .frame = on_frame, .down = on_down, .arriving = on_arriving
};

/* The peer that began its handshake first among those that have not finished it, from that address or (NULL)
 * from all. */
static struct peer *oldest_unfinished(const struct controller *s, const struct bounds_address *a)
{
    struct peer *oldest = NULL;

    for (struct peer *p = s->peers; p; p = p->next) /* the newest first */
        if (p->address && (!a || p->address == a))
            oldest = p;
    return oldest;
}

/* An honest peer finishes its handshake at once, so that the oldest that has not is the one to go. */
static bool make_way(struct controller *s, const struct bounds_address *a)
{
    struct peer *p = NULL;

    if (bounds_crowded(a))
        p = oldest_unfinished(s, a);
    else if (s->n_peers >= PEERS_MAX || bounds_sums_get(s->bounds).unfinished >= PENDING_MAX)
        p = oldest_unfinished(s, NULL);
    else
        return true;
    if (!p)
        return false;
    bounds_refused(s->bounds);
    log_debug("%s: connection closed: it did not finish the handshake, and others are waiting",
              link_peer(p->link));
    peer_drop(p);
    return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *addr, int len,
                      void *arg)
{
    struct controller *s = arg;
    double now_s = controller_now_s();
    struct bounds_address *a = bounds_address(s->bounds, addr, now_s);
    struct linger at_once = { .l_onoff = 1 };
    struct peer *p;
    struct err err;

    (void)listener;
    (void)len;
    if (!bounds_connects(s->bounds, a, now_s) || !make_way(s, a)) {
        log_warn("connection refused: %s", s->n_peers >= PEERS_MAX
                                               ? "too many are open"
                                               : "too many a second from one address (HandshakesPerSecond)");
        /* nothing of it stays in the kernel */
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        close(fd);
        return;
    }
    p = xcalloc(1, sizeof(*p));
    p->link = link_accept(s->base, fd, &s->end, &peer_events, p, &err);
    if (!p->link) {
        log_warn("connection refused: %s", err.text);
        free(p);
        return;
    }
    p->address = a;
    a->unfinished++;
    peer_add(s, p);
}

/* Without it nobody can be answered; munged may start later than this controller. */
static void make_identity(struct controller *s)
{
    json_t *claims = json_pack("{s:s}", "cluster", s->config.cluster);
    struct err err;

    s->end.identity = s->identity = identity_new(s->end.munge_socket, IDENTITY_CONTROLLER, claims, &err);
    json_decref(claims);
    if (!s->identity && !s->munge_failed)
        log_error("%s: agents and terminals are refused until munged answers", err.text);
    if (s->identity && s->munge_failed)
        log_info("munged answers: agents and terminals are accepted");
    s->munge_failed = !s->identity;
}

/* ---- periodic work ---- */

/* The history has the latest ranks of a large job: a report of all would not fit into the frame of an answer,
 * and stop the loop for half a second at 16,384 ranks. */
static void save_report(struct controller *s, struct job *j)
{
    struct report_selection some = REPORT_ALL;
    double now_s = controller_now_s();
    struct report *report;
    struct err err;

    some.count = some.agents = SAVED_ROWS;
    job_scaling_renew(j, now_s, false);
    some.picture = STORED_ROWS;
    report = report_job_get(j, now_s, &some);
    controls_get(s->controls, j, now_s, &report->control);
    if (history_save(s->history, j, now_s, controls_first_action(j), report, &err) < 0)
        log_warn("job %s: cannot save to history: %s", j->text_id, err.text);
    report_free(report);
}

static void on_raised(struct job *j, const char *text, void *arg)
{
    (void)arg;
    log_info("job %s: %s", j->text_id, text);
}

/* Every KEEP_S, and when it has begun: what is measured then is sent again, but not when that was. */
static bool keep_due(const struct job *j, double now_s)
{
    return now_s > j->kept_s + KEEP_S + KEEP_AGENT_S * (double)j->n_agents ||
           (!j->kept_called && view_called(j->view));
}

static bool tick_job(struct controller *s, struct job *j, double now_s)
{
    uint64_t events = j->events.n;
    enum job_state before = j->state;
    struct err err;

    job_tick(j, now_s, on_raised, s);
    if (j->failures_due_s <= now_s) {
        history_failures(s->history, s->accounting, j);
        j->failures_due_s = now_s + FAILURES_S;
    }
    cadence_tick(j, now_s);
    if (job_over(j) && j->state != before)
        recorders_end(j, j->state == JOB_FINISHED ? "step ended" : "the step's agents are lost");
    recorders_tick(j, now_s);
    controls_tick(s->controls, j, now_s);
    if (j->events.n != events && !s->history_full && history_verdicts(s->history, j, now_s, &err) < 0)
        log_warn("job %s: cannot save verdicts to history: %s", j->text_id, err.text);
    if (job_over(j) && before < JOB_FINISHED)
        log_info("job %s: %s", j->text_id, job_state_name(j->state));
    if (!job_over(j) && !s->history_full && keep_due(j, now_s)) {
        j->kept_s = now_s;
        j->kept_called = view_called(j->view);
        if (history_keep(s->history, j, now_s, &err) < 0)
            log_warn("job %s: cannot save what is known of it to history: %s", j->text_id, err.text);
    }
    if (j->final && j->outcome && !j->outcome_kept && !s->history_full) {
        j->outcome_kept = true;
        if (history_outcome(s->history, j, &err) < 0)
            log_warn("job %s: cannot save its outcome to history: %s", j->text_id, err.text);
    }
    return !job_over(j) || !j->final || now_s < j->end_s + JOB_KEEP_S || job_agents_connected(j);
}

/* Of the jobs whose calls are wanted each gets an equal share of the controller's time. */
static void sample_jobs(struct controller *s, double now_s)
{
    double n = 0;

    for (size_t i = 0; i < s->jobs.n; i++)
        n += !job_over(s->jobs.job[i]) && view_calls_wanted(s->jobs.job[i]->view);
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct job *j = s->jobs.job[i];

        if (!job_over(j) &&
            sampling_tick(&j->sampling, j->view, now_s, SAMPLING_CALLS_PER_S / fmax(1, n), recording(j)))
            peers_instruct(s, j);
    }
}

static void rate_load(struct controller *s, double now_s)
{
    double cpu_s, over_s = now_s - s->rated_s;

    if (over_s < 5)
        return;
    cpu_s = proc_own_cpu_s();
    s->batches_per_s = (double)(s->batches - s->rated_batches) / over_s;
    s->cpu_ratio = (cpu_s - s->rated_cpu_s) / over_s;
    s->rated_s = now_s;
    s->rated_cpu_s = cpu_s;
    s->rated_batches = s->batches;
}

/* Acknowledge, let terminals be first again, and count what waits for each user.  One look at each peer. */
static void tick_peers(struct controller *s)
{
    for (struct peer *p = s->peers; p; p = p->next)
        if (p->user)
            p->user->waiting_bytes = 0, p->user->recordings = 0;
    for (struct peer *p = s->peers, *next; p; p = next) {
        next = p->next;
        if (p->refused) {
            peer_drop(p);
            continue;
        }
        agents_ack(p);
        if (p->recording && !recording(p->recording))
            p->recording = NULL;
        if (!p->agent)
            link_urgent(p->link, true);
        if (!p->user)
            continue;
        p->user->recordings += p->recording != NULL;
        if (!p->agent)
            p->user->waiting_bytes += (double)link_pending_bytes(p->link);
    }
}

static void tick_jobs(struct controller *s, double now_s)
{
    for (size_t i = 0; i < s->jobs.n; i++) {
        struct job *j = s->jobs.job[i];
        double begin_s = controller_now_s();

        if (j->payer && !bounds_time(j->payer) && now_s < j->ticked_s + STARVED_S)
            continue;
        j->ticked_s = now_s;
        j->ended = !tick_job(s, j, now_s);
        if (j->payer)
            bounds_took(j->payer, controller_now_s() - begin_s);
    }
}

/* When its report should be in the history: every SAVE_S, and that of its end at once. */
static double save_due_s(const struct job *j)
{
    if (job_over(j))
        return j->final ? INFINITY : -INFINITY;
    return j->saved_s + SAVE_S;
}

/* The longest overdue first: with a thousand steps of a thousand ranks, not all can be saved that often. */
static void save_jobs(struct controller *s, double now_s)
{
    double begin_s, until_s = controller_now_s() + SAVES_S;

    do {
        struct job *j = NULL;

        for (size_t i = 0; i < s->jobs.n; i++)
            if (save_due_s(s->jobs.job[i]) < (j ? save_due_s(j) : now_s))
                j = s->jobs.job[i];
        if (!j)
            return;
        begin_s = controller_now_s();
        if (!s->history_full)
            save_report(s, j);
        if (j->payer)
            bounds_took(j->payer, controller_now_s() - begin_s);
        j->saved_s = j->kept_s = now_s;
        j->final = job_over(j);
    } while (controller_now_s() < until_s);
}

/* The rows of steps that an earlier release has stored are made of their reports, which takes too long to
 * wait for it. */
static void list_earlier(struct controller *s)
{
    int64_t before = s->unlisted;
    struct err err;

    if (!before)
        return;
    if (store_list_earlier(s->store, LISTED_A_TICK, &err) < 0) {
        log_warn("%s: %lld earlier steps will be listed at the next start", err.text, (long long)before);
        s->unlisted = 0;
        return;
    }
    s->unlisted = store_unlisted_count(s->store);
    if (!s->unlisted)
        log_info("history: all earlier steps are listed");
    else if (s->unlisted / 1000 != before / 1000)
        log_info("history: %lld earlier steps remain to be listed", (long long)s->unlisted);
}

/* The history neither fills the disk nor grows beyond its size. */
static void bound_history(struct controller *s, double now_s)
{
    bool full = !store_has_space(s->store, s->config.history_free);
    double bytes = store_used_bytes(s->store), over_s = now_s - s->history_from_s;
    struct err err;
    int deleted;

    if (full && !s->history_full)
        log_error("%s: less than HistoryFreeSpace is free: nothing is added to the history",
                  s->config.state_dir);
    if (!full && s->history_full)
        log_info("%s: there is free space again: steps are added to the history", s->config.state_dir);
    s->history_full = full;
    deleted = full ? 0 : store_trim(s->store, s->config.history_size, &err);
    if (deleted < 0)
        log_warn("%s: cannot delete old history", err.text);
    else if (deleted)
        log_info("history: HistorySize was reached: deleted %d of the oldest steps", deleted);
    if (isnan(s->history_from_bytes)) {
        s->history_from_bytes = bytes;
        s->history_from_s = now_s;
    } else if (over_s > GROWTH_MIN_S) {
        s->history_per_day_bytes = (bytes - s->history_from_bytes) / over_s * 86400;
    }
    if (over_s > 86400)
        s->history_from_bytes = NAN;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct controller *s = arg;
    double now_s = controller_now_s();
    struct err err, news;

    (void)fd;
    (void)what;
    if (!controller_is_active(s))
        return;
    s->answers_s = 0;
    log_tick();
    bounds_tick(s->bounds, now_s);
    tick_jobs(s, now_s);
    save_jobs(s, now_s);
    tick_peers(s);
    for (size_t i = s->jobs.n; i-- > 0;)
        if (s->jobs.job[i]->ended)
            agents_forget(s, s->jobs.job[i]);
    while (agents_let_go(s, now_s))
        ;
    sample_jobs(s, now_s);
    history_tick(s->history, now_s);
    list_earlier(s);
    if (jobtime_tick(s->jobtime, &s->jobs, now_s, &err) < 0)
        log_error(
            "%s: no step is confirmed, and time limits and ends of jobs stay unknown, until squeue can be run",
            err.text);
    if (accounting_tick(s->accounting, now_s, &news))
        for (size_t i = 0; i < s->jobs.n; i++)
            s->jobs.job[i]->failures_due_s = now_s;
    if (*news.text)
        log_info("%s", news.text);
    if (audit_log_check(s->audit, &err) < 0)
        log_warn("%s: decisions are written to the database only", err.text);
    rate_load(s, now_s);
    if (s->ticks % TRIM_TICKS == 0) {
        if (mallinfo2().fordblks > TRIM_BYTES)
            malloc_trim(0); /* otherwise the memory of steps that are gone stays with the process */
        bound_history(s, now_s);
    }
    if (!s->identity && s->ticks % PRESENT_TICKS == 0)
        make_identity(s);
    if (s->operators.incomplete && s->ticks % USERS_TICKS == 0) {
        operators_complete(&s->operators, &s->config);
        link_end_configure(&s->end, &s->config);
    }
    /* Not as it starts: the clock of a machine that has just come up may be years ahead. */
    if (++s->ticks % EXPIRE_TICKS == 0) {
        if (s->store && store_expire(s->store, s->config.history_days, &err) < 0)
            log_warn("%s: cannot delete old history", err.text);
        if (audit_expire(s->audit, s->config.history_days, &err) < 0)
            log_warn("%s: cannot delete old decisions and actions", err.text);
    }
}

static void on_confirmed(struct job *j, void *arg)
{
    agents_confirmed(arg, j);
}

/* ---- creation and end ---- */

int server_configure(struct controller *s, const struct config *c, struct err *err)
{
    bool moved =
        s->config.metrics_port != c->metrics_port || strcmp(s->config.metrics_listen, c->metrics_listen) != 0;
    struct err warning;

    if (s->controls && controls_configure(s->controls, c, err) < 0)
        return -1;
    s->config = *c;
    if (moved || !s->metrics) {
        metrics_stop(s->metrics);
        s->metrics = metrics_start(s, &warning);
        if (s->metrics)
            log_info("metrics: http://%s:%d/metrics", *c->metrics_listen ? c->metrics_listen : "*",
                     c->metrics_port);
        else if (*warning.text) /* they are worth a warning, not the controller */
            log_warn("%s", warning.text);
    }
    bounds_configure(s->bounds, &s->config);
    log_limit(c->log_lines_per_minute);
    actions_configured(s->actions);
    accounting_configure(s->accounting, c);
    operators_configure(&s->operators, &s->config);
    link_end_configure(&s->end, &s->config);
    for (size_t i = 0; i < s->jobs.n; i++) {
        const struct config_policy *p = config_policy_find(c, s->jobs.job[i]->policy);

        if (p) {
            controls_renew(s->jobs.job[i], p);
            peers_instruct(s, s->jobs.job[i]);
        }
    }
    return 0;
}

static int open_listener(struct controller *s, struct err *err)
{
    struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM }, *found;
    const char *host = *s->config.listen ? s->config.listen : NULL;
    char port[16];
    int rc;

    snprintf(port, sizeof(port), "%d", s->config.port);
    rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(err, "Listen=%s: %s", host ? host : "", gai_strerror(rc));
    s->listener = evconnlistener_new_bind(s->base, on_accept, s,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC,
                                          512, found->ai_addr, (int)found->ai_addrlen);
    freeaddrinfo(found);
    if (!s->listener)
        return err_set(err, "cannot listen on %s port %s: %s", host ? host : "any address", port,
                       strerror(errno));
    return 0;
}

struct controller *server_new(struct event_base *base, const struct config *c, struct lease *lease,
                              struct err *err)
{
    struct controller *s = xcalloc(1, sizeof(*s));
    struct timeval every = { 0, (long)(TICK_S * 1e6) };
    struct err warning;

    s->base = base;
    s->lease = lease;
    s->gone = server_gone;
    s->bounds = bounds_new();
    s->config = *c;
    s->start_s = s->rated_s = controller_now_s();
    s->batches_per_s = s->cpu_ratio = s->history_per_day_bytes = s->history_from_bytes = NAN;
    gethostname(s->host, sizeof(s->host) - 1);
    if (sodium_init() < 0) {
        err_set(err, "cannot initialise libsodium");
        goto fail;
    }
    randombytes_buf(&s->instance, sizeof(s->instance));
    if (open_listener(s, err) < 0)
        goto fail;
    if (lease)
        database_share();
    s->store = store_open(c->state_dir, &warning);
    if (!s->store)
        log_warn("%s: continuing without history", warning.text);
    s->unlisted = store_unlisted_count(s->store);
    if (s->unlisted)
        log_info("history: listing %lld earlier steps in the background, the newest first",
                 (long long)s->unlisted);
    s->history = history_new(s->store);
    s->audit = audit_open(c->state_dir, &warning);
    if (*warning.text && lease) { /* budgets, past decisions and pending actions come from it */
        err_set(err, "%s", warning.text);
        goto fail;
    }
    if (*warning.text)
        log_warn("%s: decisions and actions are kept only while the controller runs", warning.text);
    s->jobtime = jobtime_new(base, on_confirmed, s);
    s->accounting = accounting_new(base);
    query_actions_start(s);
    server_configure(s, c, err); /* cannot fail, because the rules are not loaded yet */
    s->end.verifier = verifier_new(base, s->end.munge_socket, err);
    if (!s->end.verifier)
        goto fail;
    make_identity(s);
    s->controls = controls_new(s, c, err);
    if (!s->controls)
        goto fail;
    s->tick = event_new(base, -1, EV_PERSIST, on_tick, s);
    /* a slow one must not keep agents waiting */
    event_priority_set(s->tick, event_base_get_npriorities(base) - 1);
    event_add(s->tick, &every);
    return s;
fail:
    server_free(s);
    return NULL;
}

void server_abandon(struct controller *s)
{
    actions_free(s->actions);
    s->actions = NULL;
}

void server_free(struct controller *s)
{
    if (!s)
        return;
    metrics_stop(s->metrics);
    if (s->listener)
        evconnlistener_free(s->listener);
    if (s->tick)
        event_free(s->tick);
    for (size_t i = 0; i < s->jobs.n; i++) {
        if (!s->jobs.job[i]->final)
            save_report(s, s->jobs.job[i]);
        recorders_end(s->jobs.job[i], "the controller is stopping");
    }
    while (s->peers) {
        struct peer *p = s->peers;

        p->recording = NULL;
        link_close(p->link);
        p->agent = NULL;
        peer_forget(p);
    }
    while (s->jobs.n)
        agents_forget(s, s->jobs.job[0]);
    free(s->jobs.job);
    verifier_free(s->end.verifier);
    identity_free(s->identity);
    actions_free(s->actions);
    controls_free(s->controls);
    audit_close(s->audit);
    history_free(s->history);
    jobtime_free(s->jobtime);
    accounting_free(s->accounting);
    store_close(s->store);
    bounds_free(s->bounds);
    free(s);
}
