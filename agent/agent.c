#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "agent/backlog.h"
#include "agent/checkpoint.h"
#include "nodefigures/energy.h"
#include "nodefigures/gpu_watch.h"
#include "nodefigures/health.h"
#include "agent/messages.h"
#include "agent/outbox.h"
#include "agent/pacing.h"
#include "agent/ranks.h"
#include "agent/shield.h"
#include "agent/unseen.h"
#include "agent/uplink.h"
#include "common/config.h"
#include "common/hosts.h"
#include "common/log.h"
#include "common/now.h"
#include "common/proc.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "ring/control_page.h"
#include "wire/json.h"
#include "wire/loop.h"

#define DRAIN_S 0.040 /* 25 Hz */
/* after QUIET_AFTER_S without an event; at least 20 Hz is documented */
#define QUIET_S       0.048
#define QUIET_AFTER_S 10.0
#define EMPTY_S       0.25 /* when no rank runs */
#define FLUSH_S       0.2  /* between batches */
#define SENT_S        1e-3 /* after that the kernel has a batch */
#define BACKLOG_BYTES (4u << 20)
/* how long acknowledged batches are kept for a controller that restarts: it saves what it knows every 30 s */
#define KEEP_S 45.0
/* time between two looks at the node and the ranks' processes, ... */
#define HEALTH_S     1.0
#define HEALTH_SHARE 5e-4 /* ... longer if a look costs more than this share of a core */
#define GPU_S        2.0
#define GPU_DEVICE   "/dev/nvidiactl" /* without it there is no GPU to watch */
#define NOTES_MAX    32u
#define TOO_MANY_CPUS \
    "a rank may run on CPUs whose numbers are too high: who shares them, and on which NUMA node they are, is not known"
#define GRACE_S       1.0  /* longest wait for the last acknowledgement */
#define GRACE_ALONE_S 0.15 /* the same when the controller is not connected */

enum {
    DRAIN,
    RELEASE,
    SECOND,
    SIGNAL_TERM,
    SIGNAL_INT,
    ENDING,
    FAREWELL,
    HURRY,
    EVENTS
}; /* from ENDING on: after the step */

struct agent {
    const struct agent_arguments *o;
    struct event_base *base;
    struct event *event[EVENTS], *look;
    int dir_lock, inotify;
    struct control_page *control;
    struct control_request wanted;
    struct ranks *ranks;
    struct checkpoint *checkpoint;
    struct pacing *pacing;
    struct energy *energy;
    struct health *health;
    struct gpu_watch *gpus; /* NULL: no GPU */
    double health_due_s;
    struct backlog *backlog;
    struct outbox *outbox;
    struct uplink *uplink;
    char *note[NOTES_MAX];
    size_t n_notes;
    struct unseen_news unseen;
    char instance[17], text[256];
    double started_s, last_event_s, last_flush_s;
    size_t unseen_looks;
    struct unseen found[UNSEEN_REASONS]; /* by the newest look ... */
    enum unseen_reason most;             /* ... and what most of them have; UNSEEN_REASONS: nothing */
    size_t seen_then;                    /* ranks */
    bool unseen_noted[UNSEEN_REASONS];
    bool ends, bye_sent, alone;
};

static void add_timer(struct agent *a, int event, double s)
{
    struct timeval tv = loop_timeval(s);

    event_add(a->event[event], &tv);
}

/* ---- notes ---- */

static void add_note(const char *text, void *arg)
{
    struct agent *a = arg;
    char *note = utf8_mend(xstrdup(text));
    size_t i = 0;

    while (i < a->n_notes && strcmp(a->note[i], note) != 0)
        i++;
    if (i < a->n_notes || i == NOTES_MAX) {
        free(note);
        return;
    }
    log_warn("%s", text);
    if (a->uplink)
        uplink_json(a->uplink, json_pack("{s:s}", "note", note));
    a->note[a->n_notes++] = note;
}

/* ---- to the controller ---- */

static void put_item(const struct telemetry_item *item, void *arg)
{
    struct agent *a = arg;

    outbox_put(a->outbox, item);
}

static void send_news(struct agent *a)
{
    size_t at = 0;
    json_t *message;

    while (uplink_ready(a->uplink) && (message = ranks_news(a->ranks, &at)))
        uplink_json(a->uplink, message);
}

static void flush_items(struct agent *a)
{
    outbox_flush(a->outbox);
    uplink_pump(a->uplink);
}

static void send_pacing(struct agent *a)
{
    json_t *pace = uplink_ready(a->uplink) ? pacing_news(a->pacing, now_s()) : NULL;

    if (pace)
        uplink_json(a->uplink, json_pack("{s:o}", "pace", pace));
}

static void send_stats(struct agent *a)
{
    struct agent_stats s = {
        .cpu_s = proc_own_cpu_s() + (a->gpus ? gpu_watch_cpu_s(a->gpus) : 0),
        .wall_s = now_s() - a->started_s,
        .rss_bytes = proc_own_rss_bytes(),
        .backlog_bytes = backlog_state_get(a->backlog)->waiting_bytes,
        .lost_batches = backlog_state_get(a->backlog)->lost,
        .energy_j = energy_j(a->energy),
    };

    if (uplink_ready(a->uplink))
        uplink_json(a->uplink, message_stats(&s));
}

static void apply_control(struct agent *a)
{
    uint32_t record = a->wanted.record;

    if (a->control && a->control->record != record) {
        __atomic_store_n(&a->control->record, record, __ATOMIC_RELAXED);
        __atomic_add_fetch(&a->control->generation, 1, __ATOMIC_RELEASE);
    }
    pacing_apply(a->control, &a->wanted.pace);
    ranks_control(a->ranks, a->wanted.rate_hz, a->wanted.calls);
}

/* ---- checkpoints ---- */

static void send_checkpoint(struct agent *a, bool due)
{
    json_t *message = uplink_ready(a->uplink) ? checkpoint_report(a->checkpoint, due) : NULL;

    if (message)
        uplink_json(a->uplink, message);
}

static bool name_process(pid_t pid, uint32_t *rank, uint16_t *app, void *arg)
{
    const struct agent *a = arg;

    return ranks_of_process(a->ranks, pid, rank, app);
}

/* Sums stay on the ranks' pages while there is nobody to send them to.  A value that is no finite number is
 * not kept for the next batch. */
static void send_marks(struct agent *a, bool due)
{
    const struct checkpoint_sink to = { name_process, put_item, a };

    if (uplink_ready(a->uplink) && uplink_newest_item(a->uplink) >= TELEMETRY_VALUE &&
        checkpoint_marks(a->checkpoint, due, &to) && !due)
        flush_items(a);
}

static void kill_rank(uint32_t rank, uint16_t app, pid_t pid, void *arg)
{
    (void)rank;
    (void)app;
    if (pid > 1)
        kill(pid, *(const int *)arg);
}

static void kill_ranks(int sig, void *arg)
{
    struct agent *a = arg;

    ranks_second(a->ranks); /* do not signal processes that have ended */
    ranks_each(a->ranks, kill_rank, &sig);
}

static void on_control(const json_t *control, void *arg)
{
    struct agent *a = arg;

    message_control(control, &a->wanted);
    apply_control(a);
    if (json_object_get(control, "checkpoint")) {
        checkpoint_control(a->checkpoint, json_object_get(control, "checkpoint"), kill_ranks);
        send_checkpoint(a, true);
    }
}

static json_t *on_hello(void *arg)
{
    struct agent *a = arg;

    return message_hello(a->o, a->instance, backlog_state_get(a->backlog)->first, a->note, a->n_notes,
                         &a->unseen);
}

/* Write all communicators into batches numbered from first on, and send them if asked; returns how many
 * batches. */
static uint64_t send_comms(struct agent *a, uint64_t first, bool send)
{
    struct backlog *batches = backlog_new(first, SIZE_MAX, 0);
    struct outbox *usual = a->outbox;
    uint64_t n;
    const void *data;
    size_t bytes;

    a->outbox = outbox_new(batches);
    ranks_announce(a->ranks);
    outbox_flush(a->outbox);
    n = backlog_state_get(batches)->next - first;
    for (uint64_t i = first; send && i < first + n; i++)
        if ((data = backlog_get(batches, i, &bytes)))
            uplink_batch(a->uplink, data, bytes);
    outbox_free(a->outbox);
    a->outbox = usual;
    backlog_free(batches);
    return n;
}

/* Frames and batches that described ranks and communicators may be lost or dropped, so describe them again.
 * The batches of communicators get the numbers just before the first that is sent, so that the controller
 * takes them first; of those that it has already it takes the communicators alone. */
static void on_ready(bool fresh, uint64_t lacks, void *arg)
{
    struct agent *a = arg;
    uint64_t n = send_comms(a, 1, false);

    if (a->alone)
        log_info("connected to the controller again");
    a->alone = false;
    ranks_newest_item(a->ranks, uplink_newest_item(a->uplink));
    health_newest_item(a->health, uplink_newest_item(a->uplink));
    if (fresh) { /* it will send its requests again; keep pacing, which has been learnt, until then */
        a->wanted =
            (struct control_request){ .record = true, .rate_hz = a->o->rate_hz, .pace = a->wanted.pace };
        apply_control(a);
    }
    send_news(a);
    send_checkpoint(a, true);
    if (n && lacks < backlog_state_get(a->backlog)->first) {
        backlog_drop(a->backlog, lacks + n - 1);
        send_comms(a, backlog_state_get(a->backlog)->first - n, true);
    } else if (n && fresh && lacks > n) { /* else the first ones, which describe them, are sent again */
        send_comms(a, lacks - n, true);
    }
    if (a->ends)
        add_timer(a, HURRY, GRACE_S);
}

/* Log once per outage, not at each attempt. */
static void on_trouble(const char *why, void *arg)
{
    struct agent *a = arg;

    if (!a->alone)
        log_warn("controller %s; keeping up to %u MiB until it can be reached", why, BACKLOG_BYTES >> 20);
    a->alone = true;
}

/* ---- the loop ---- */

static void look_for_ranks(struct agent *a)
{
    if (ranks_scan(a->ranks) < 0) {
        log_info("%s is gone: the step has ended", a->o->dir);
        event_active(a->event[ENDING], EV_TIMEOUT, 0);
    }
    checkpoint_scan(a->checkpoint);
    send_news(a);
}

/* Look only if the directory has changed. */
static void look_if_changed(struct agent *a)
{
    char buf[4096];
    bool changed = false;

    while (a->inotify >= 0 && read(a->inotify, buf, sizeof(buf)) > 0)
        changed = true;
    if (changed)
        look_for_ranks(a);
}

/* If the agent is killed, the next one reads what this one has not sent, or not yet. */
static void on_release(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    ranks_release(a->ranks);
}

static void on_drain(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;
    double now = now_s();

    (void)fd;
    (void)what;
    if (event_pending(a->event[RELEASE], EV_TIMEOUT, NULL)) {
        event_del(a->event[RELEASE]);
        ranks_release(a->ranks);
    }
    look_if_changed(a); /* find new threads first, so that their events are sorted with those of others */
    ranks_room(a->ranks, backlog_state_get(a->backlog)->waiting_bytes < BACKLOG_BYTES / 2);
    if (ranks_drain(a->ranks))
        a->last_event_s = now;
    send_checkpoint(a, false);
    send_marks(a, false);
    if (now - a->last_flush_s >= FLUSH_S) {
        a->last_flush_s = now;
        flush_items(a);
        add_timer(a, RELEASE, SENT_S);
    }
    if (!ranks_running(a->ranks))
        add_timer(a, DRAIN, EMPTY_S);
    else
        add_timer(a, DRAIN, now - a->last_event_s > QUIET_AFTER_S ? QUIET_S : DRAIN_S);
}

static void name_rank(uint32_t rank, uint16_t app, pid_t pid, void *arg)
{
    health_rank(arg, rank, app, pid);
}

/* Measures its own cost, which depends on the node's CPUs, ranks and kernel. */
static void look_at_health(struct agent *a)
{
    struct gpu_figures gpu[GPUS_MAX];
    size_t n = a->gpus ? gpu_watch_take(a->gpus, gpu) : 0;
    double now = now_s(), cpu_s;

    if (n)
        health_gpus(a->health, gpu, n);
    if (now < a->health_due_s)
        return;
    health_find_connections(a->health, now);
    cpu_s = now_of(CLOCK_THREAD_CPUTIME_ID);
    ranks_each(a->ranks, name_rank, a->health);
    health_look(a->health, now, put_item, a);
    if (health_has_too_many_cpus(a->health))
        add_note(TOO_MANY_CPUS, a);
    /* 0.1 allows for the timer's jitter */
    a->health_due_s = now + fmax(HEALTH_S - 0.1, (now_of(CLOCK_THREAD_CPUTIME_ID) - cpu_s) / HEALTH_SHARE);
}

static bool has_rings(pid_t pid, void *arg)
{
    const struct agent *a = arg;
    uint32_t rank;
    uint16_t app;

    return ranks_of_process(a->ranks, pid, &rank, &app);
}

/* A reason is noted once; the newest look is what the job's sentence tells. */
static void tell_unseen(struct agent *a, double after_s)
{
    char text[400];

    for (int r = 0; r < UNSEEN_REASONS; r++) {
        if (!a->found[r].processes || a->unseen_noted[r])
            continue;
        a->unseen_noted[r] = true;
        snprintf(text, sizeof(text), "nothing seen for %.0f s: %s", after_s, a->found[r].text);
        add_note(text, a);
    }
    a->unseen = (struct unseen_news){ .reason = a->most, .after_s = after_s };
    if (a->most < UNSEEN_REASONS)
        a->unseen.found = a->found[a->most];
    uplink_json(a->uplink, json_pack("{s:o?}", "unseen", message_unseen(&a->unseen)));
}

/* Take it back once the ranks have come after all: all of this node's or, where their number is not known,
 * more than had come when it was told. */
static void withdraw_unseen(struct agent *a)
{
    size_t seen = ranks_seen(a->ranks);
    char text[96];

    if (a->unseen.reason == UNSEEN_REASONS ||
        (a->o->local_tasks > 0 ? (int64_t)seen < a->o->local_tasks : seen <= a->seen_then))
        return;
    a->unseen.reason = UNSEEN_REASONS;
    uplink_json(a->uplink, json_pack("{s:n}", "unseen"));
    snprintf(text, sizeof(text), "%zu rank%s seen %.0f s after the start", seen, seen > 1 ? "s were" : " was",
             now_s() - a->started_s);
    add_note(text, a);
}

/* A program may load its libraries late, and be late where others have called already.  The first look is
 * early, for steps that end before the second one: only tell_short() reports what it found. */
static void look_for_unseen(struct agent *a)
{
    static const double at_s[] = { 2, 10, 30, 120 };
    const struct processes_plan plan = { "",        a->o->dir,
                                         getpid(),  a->o->tasks_parent > 0 ? (pid_t)a->o->tasks_parent : 0,
                                         has_rings, a };
    size_t running = ranks_running(a->ranks), looks = ARRAY_SIZE(at_s);
    double after_s;

    withdraw_unseen(a);
    if (running && (int64_t)running >= a->o->local_tasks && a->o->local_tasks > 0)
        a->unseen_looks = looks;
    if (a->unseen_looks == looks || now_s() < a->started_s + at_s[a->unseen_looks])
        return;
    after_s = at_s[a->unseen_looks++];
    if (running && a->unseen_looks < looks)
        return;
    a->most = unseen_look(&plan, a->found);
    a->seen_then = ranks_seen(a->ranks);
    if (a->unseen_looks > 1)
        tell_unseen(a, after_s);
}

/* Processes without the probe, in a step that was over before it was time to tell of them.  Of the others
 * nothing is claimed: they may have been about to call. */
static void tell_short(struct agent *a)
{
    if (a->unseen_looks == 1 && a->most < UNSEEN_REASONS && !unseen_is_quiet(a->most) &&
        !ranks_seen(a->ranks))
        tell_unseen(a, now_s() - a->started_s);
}

static void on_second(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    if (a->inotify < 0 || access(a->o->dir, F_OK) < 0)
        look_for_ranks(a);
    ranks_second(a->ranks);
    checkpoint_second(a->checkpoint);
    look_at_health(a);
    look_for_unseen(a);
    send_news(a);
    send_checkpoint(a, true);
    send_marks(a, true);
    send_pacing(a);
    send_stats(a);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    look_if_changed(a);
    add_timer(a, DRAIN, DRAIN_S);
}

/* ---- the end ---- */

static void on_hurry(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(a->base);
}

/* Every 10 ms: send the rest, then "bye", and stop once everything is acknowledged. */
static void on_farewell(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    uplink_pump(a->uplink);
    if (!a->bye_sent && uplink_sent(a->uplink)) {
        send_stats(a);
        send_pacing(a);
        uplink_json(a->uplink, json_pack("{s:s}", "bye", "step ended"));
        a->bye_sent = true;
    } else if (a->bye_sent && (uplink_through(a->uplink) || !uplink_ready(a->uplink))) {
        event_base_loopbreak(a->base);
    }
}

/* The step has ended: read what the ranks left, and begin to send it. */
static void on_ending(evutil_socket_t fd, short what, void *arg)
{
    struct agent *a = arg;

    (void)fd;
    (void)what;
    if (a->ends)
        return;
    a->ends = true;
    event_del(a->event[DRAIN]);
    event_del(a->event[RELEASE]);
    event_del(a->event[SECOND]);
    ranks_settle(a->ranks);
    ranks_scan(a->ranks);
    for (int i = 0; i < 64 && ranks_drain(a->ranks); i++)
        ;
    ranks_second(a->ranks);
    ranks_flush(a->ranks);
    withdraw_unseen(a);
    tell_short(a);
    send_marks(a, true);
    outbox_flush(a->outbox);
    send_news(a);
    send_checkpoint(a, true);
    add_timer(a, HURRY, uplink_ready(a->uplink) ? GRACE_S : GRACE_ALONE_S);
    add_timer(a, FAREWELL, 0.01);
    event_active(a->event[FAREWELL], EV_TIMEOUT, 0);
}

/* ---- new, run, free ---- */

/* Lock the directory: two agents would each read part of the events. */
static int take_dir(struct agent *a, const char *dir, struct err *err)
{
    a->dir_lock = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (a->dir_lock < 0)
        return err_set(err, "%s: %s", dir, strerror(errno));
    if (flock(a->dir_lock, LOCK_EX | LOCK_NB) < 0)
        return err_set(err, "%s: another agent serves this directory", dir);
    return 0;
}

static int make_events(struct agent *a, struct err *err)
{
    static const struct {
        evutil_socket_t fd;
        short what;
        event_callback_fn call;
    } kinds[EVENTS] = {
        [DRAIN] = { -1, 0, on_drain },
        [RELEASE] = { -1, 0, on_release },
        [SECOND] = { -1, EV_PERSIST, on_second },
        [SIGNAL_TERM] = { SIGTERM, EV_SIGNAL | EV_PERSIST, on_ending },
        [SIGNAL_INT] = { SIGINT, EV_SIGNAL | EV_PERSIST, on_ending },
        [ENDING] = { -1, 0, on_ending },
        [FAREWELL] = { -1, EV_PERSIST, on_farewell },
        [HURRY] = { -1, 0, on_hurry },
    };

    a->base = loop_new();
    if (!a->base)
        return err_set(err, "cannot create an event loop");
    a->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (a->inotify >= 0 &&
        inotify_add_watch(a->inotify, a->o->dir,
                          IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR) < 0) {
        close(a->inotify);
        a->inotify = -1;
    }
    if (a->inotify >= 0)
        a->look = event_new(a->base, a->inotify, EV_READ | EV_PERSIST, on_look, a);
    for (int i = 0; i < EVENTS; i++) {
        a->event[i] = event_new(a->base, kinds[i].fd, kinds[i].what, kinds[i].call, a);
        if (!a->event[i])
            return err_set(err, "cannot create an event");
    }
    return 0;
}

static void confine_child(void)
{
    shield_filter(NULL); /* it can do without */
}

struct agent *agent_new(const struct agent_arguments *o, struct err *err)
{
    static const struct uplink_events events = { on_hello, on_ready, on_control, on_trouble };
    struct agent *a = xcalloc(1, sizeof(*a));
    char *notes, *rest, *line;
    uint64_t id;

    a->o = o;
    a->inotify = -1;
    a->started_s = a->last_event_s = now_s();
    a->unseen.reason = a->most = UNSEEN_REASONS;
    a->wanted = (struct control_request){ .record = true, .rate_hz = o->rate_hz };
    if (getrandom(&id, sizeof(id), 0) != sizeof(id))
        id = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
    snprintf(a->instance, sizeof(a->instance), "%016llx", (unsigned long long)id);
    if (access(GPU_DEVICE, F_OK) == 0)
        a->gpus =
            gpu_watch_start(GPU_LIBRARY, GPU_S, confine_child); /* forks, so before the event loop exists */
    if (hosts_pick(o->controller, 0, CONFIG_DEFAULT_PORT, NULL, err) < 0 || take_dir(a, o->dir, err) < 0 ||
        make_events(a, err) < 0)
        goto fail;
    a->energy = energy_open("");
    a->backlog = backlog_new(1, BACKLOG_BYTES, KEEP_S);
    a->outbox = outbox_new(a->backlog);
    a->health = health_new("");
    a->pacing = pacing_new(o->dir);
    a->ranks = ranks_new(o->dir, o->rate_hz, put_item, add_note, a);
    a->uplink = uplink_new(a->base, o->controller, &o->end, a->backlog, &events, a);
    if (!a->uplink) {
        err_set(err, "cannot create an event");
        goto fail;
    }
    notes = rest = xstrdup(o->notes);
    while ((line = strsep(&rest, "\n")))
        if (*line)
            add_note(line, a);
    free(notes);
    if (*o->unconfirmed.text) {
        snprintf(a->text, sizeof(a->text), "unconfirmed: %.200s", o->unconfirmed.text);
        add_note(a->text, a);
    }
    a->control = control_page_create(o->dir);
    if (!a->control) {
        snprintf(a->text, sizeof(a->text), "cannot create the control page: %s; the probes always record",
                 strerror(errno));
        add_note(a->text, a);
    }
    a->checkpoint = checkpoint_new(o->dir, o->job, a->control, add_note, a);
    return a;
fail:
    agent_free(a);
    return NULL;
}

void agent_run(struct agent *a)
{
    sigset_t set;

    if (a->look)
        event_add(a->look, NULL);
    event_add(a->event[SIGNAL_TERM], NULL);
    event_add(a->event[SIGNAL_INT], NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    add_timer(a, SECOND, 1);
    look_for_ranks(a);
    add_timer(a, DRAIN, DRAIN_S);
    event_base_dispatch(a->base);
    ranks_remove_dir(a->o->dir);
}

static void free_event(struct event *e)
{
    if (e)
        event_free(e);
}

void agent_free(struct agent *a)
{
    if (!a)
        return;
    uplink_free(a->uplink);
    checkpoint_free(a->checkpoint);
    ranks_free(a->ranks);
    pacing_free(a->pacing);
    energy_close(a->energy);
    health_free(a->health);
    gpu_watch_stop(a->gpus);
    outbox_free(a->outbox);
    backlog_free(a->backlog);
    control_page_close(a->control);
    for (int i = 0; i < EVENTS; i++)
        free_event(a->event[i]);
    free_event(a->look);
    if (a->inotify >= 0)
        close(a->inotify);
    if (a->dir_lock > 0)
        close(a->dir_lock);
    if (a->base)
        event_base_free(a->base);
    for (size_t i = 0; i < a->n_notes; i++)
        free(a->note[i]);
    free(a);
}
