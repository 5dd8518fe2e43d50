#include "agent/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/marks.h"
#include "agent/processes.h"
#include "common/now.h"
#include "common/proc.h"
#include "common/xalloc.h"
#include "ring/steps.h"
#include "wire/json.h"

#define CALLS_MAX   (UINT64_C(1) << 52)
#define SPAN_MAX_NS (UINT64_C(366) * 86400 * 1000000000)

struct caller {
    struct steps *steps;
    struct steps_figures f; /* as last read, bounded */
    pid_t pid;              /* of the process as this node counts; -1: not known */
    uint64_t started;       /* start time of the process; 0: never visible */
    unsigned still_s;
    bool over;
    uint64_t calls, call_ns; /* at the last second with a call: base of step_s */
    double step_s;           /* NaN: not known */
    struct marks_sent sent;
    bool named; /* rank and app are its names in telemetry */
    uint32_t rank;
    uint16_t app;
    bool complete; /* it is over, and all its marks were sent */
};

struct checkpoint {
    char *dir;
    int64_t job;
    struct control_page *page;
    void (*note)(const char *text, void *arg);
    void *arg;
    struct caller *caller;
    size_t n, cap;
    int64_t serial; /* of the controller's last request; -1: none */
    bool missed;    /* a rank had reached that call before the request was written */
    bool answer;    /* the controller waits for an acknowledgement */
    uint64_t signs; /* hash of what is reported as soon as it changes */
};

struct checkpoint *checkpoint_new(const char *dir, int64_t job, struct control_page *page,
                                  void (*note)(const char *text, void *arg), void *arg)
{
    struct checkpoint *c = xcalloc(1, sizeof(*c));

    c->dir = xstrdup(dir);
    c->job = job;
    c->page = page;
    c->note = note;
    c->arg = arg;
    c->serial = -1;
    return c;
}

void checkpoint_free(struct checkpoint *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        steps_close(c->caller[i].steps);
    free(c->caller);
    free(c->dir);
    free(c);
}

/* ---- ranks that report steps ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Its last figures stay. */
static void end_caller(struct caller *k)
{
    k->over = true;
    steps_close(k->steps);
    k->steps = NULL;
}

/* Bound what the job wrote: counters only grow, no time is in the future, a write takes at most a year. */
static void read_caller(struct caller *k, uint64_t now)
{
    struct steps_figures f;

    steps_figures_get(k->steps, &f);
    if (f.state == STEPS_LEFT)
        end_caller(k);
    f.calls = least(f.calls, CALLS_MAX);
    f.yes = least(f.yes, CALLS_MAX);
    f.yes_at = least(f.yes_at, CALLS_MAX);
    f.samples = least(f.samples, CALLS_MAX);
    f.writes = least(f.writes, CALLS_MAX);
    f.call_ns = least(f.call_ns, now);
    f.begun_ns = least(f.begun_ns, now);
    f.write_ns = least(f.write_ns, SPAN_MAX_NS);
    if (f.calls < k->f.calls)
        f.calls = k->f.calls;
    if (!f.marked)
        f.marks = k->f.marks;
    k->f = f;
}

static void read_all(struct checkpoint *c)
{
    uint64_t now = now_ns();

    for (size_t i = 0; i < c->n; i++)
        if (!c->caller[i].over)
            read_caller(&c->caller[i], now);
}

static void open_caller(struct checkpoint *c, const char *name)
{
    uint32_t rank, incarnation;
    char text[300];
    struct caller k = { .step_s = NAN };

    if (!steps_name_parse(name, &rank, &incarnation))
        return;
    for (size_t i = 0; i < c->n; i++)
        if (c->caller[i].f.rank == rank && c->caller[i].f.incarnation == incarnation)
            return;
    if (c->n == CHECKPOINT_RANKS_MAX) {
        c->note("more than 4096 programs report steps on this node: the others are ignored", c->arg);
        return;
    }
    k.steps = steps_open(c->dir, name);
    if (!k.steps) {
        snprintf(text, sizeof(text), "cannot read %.100s: %s", name,
                 errno == EPROTO ? "not a page of this version" : strerror(errno));
        c->note(text, c->arg);
        return;
    }
    read_caller(&k, now_ns());
    k.pid = processes_host_id(k.f.pid);
    k.started = k.pid > 0 ? proc_start(k.pid) : 0;
    c->caller = xgrow(c->caller, &c->cap, c->n + 1, sizeof(*c->caller));
    c->caller[c->n++] = k;
}

void checkpoint_scan(struct checkpoint *c)
{
    DIR *d = opendir(c->dir);
    struct dirent *e;

    if (!d)
        return;
    while ((e = readdir(d)))
        open_caller(c, e->d_name);
    closedir(d);
}

void checkpoint_second(struct checkpoint *c)
{
    read_all(c);
    for (size_t i = 0; i < c->n; i++) {
        struct caller *k = &c->caller[i];

        if (k->over)
            continue;
        k->still_s++;
        if (k->f.calls > k->calls) {
            k->still_s = 0;
            if (k->calls && k->f.call_ns > k->call_ns)
                k->step_s = (double)(k->f.call_ns - k->call_ns) * 1e-9 / (double)(k->f.calls - k->calls);
            k->calls = k->f.calls;
            k->call_ns = k->f.call_ns;
        }
        if (!k->started && k->pid > 0)
            k->started = proc_start(k->pid);
        if (k->started ? !proc_alive(k->pid, k->started) : k->still_s > PROCESSES_UNSEEN_SECONDS)
            end_caller(k);
    }
}

/* ---- what they mark ---- */

bool checkpoint_marks(struct checkpoint *c, bool due, const struct checkpoint_sink *to)
{
    uint64_t now = now_ns();
    bool any = false;

    if (due)
        read_all(c);
    for (size_t i = 0; i < c->n; i++) {
        struct caller *k = &c->caller[i];

        if (k->complete || !marks_news(&k->sent, &k->f.marks, due))
            continue;
        if (!k->named)
            k->named = to->name(k->f.pid, &k->rank, &k->app, to->arg);
        if (!k->named)
            continue;
        marks_send(&k->sent, &k->f.marks, k->rank, k->app, now, due, to->put, to->arg);
        k->complete = due && k->over;
        any = true;
    }
    return any;
}

/* ---- requests of the controller ---- */

static bool calling(const struct caller *k)
{
    return !k->over && k->f.calls > 0;
}

static const char *const states[] = { "none", "armed", "committed" };

/* Write the request, then read the counts: every rank below `at` will see the request in time. */
static void request_checkpoint(struct checkpoint *c, uint64_t at, uint32_t app, enum control_page_asked state)
{
    c->missed = !c->page;
    if (c->page)
        control_page_ask(c->page, at, app, state);
    read_all(c);
    for (size_t i = 0; i < c->n; i++)
        c->missed |= calling(&c->caller[i]) && c->caller[i].f.calls >= at;
}

static void touch_file(struct checkpoint *c, const char *pattern)
{
    const char *j = strstr(pattern, "%j");
    char path[PATH_MAX], text[PATH_MAX + 100];
    int fd;

    if (j)
        snprintf(path, sizeof(path), "%.*s%" PRId64 "%s", (int)(j - pattern), pattern, c->job, j + 2);
    else
        snprintf(path, sizeof(path), "%s", pattern);
    errno = EINVAL;
    fd = *path == '/' ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
    if (fd < 0 || futimens(fd, NULL) < 0) {
        snprintf(text, sizeof(text), "CheckpointFile: cannot touch %.200s: %s", path, strerror(errno));
        c->note(text, c->arg);
    }
    if (fd >= 0)
        close(fd);
}

void checkpoint_control(struct checkpoint *c, const json_t *asked, void (*send)(int sig, void *arg))
{
    const char *state = json_get_word(asked, "state"), *file = json_get_string(asked, "file");
    int64_t at = json_get_int(asked, "at", 0, (int64_t)CALLS_MAX - 1, -1),
            sig = json_get_int(asked, "signal", 1, NSIG - 1, 0);

    if (!json_is_object(asked))
        return;
    c->serial = json_get_int(asked, "serial", INT64_MIN, INT64_MAX, c->serial);
    if (sig)
        send((int)sig, c->arg);
    if (file)
        touch_file(c, file);
    for (size_t i = 0; at >= 0 && i < ARRAY_SIZE(states); i++)
        if (!strcmp(state, states[i]))
            request_checkpoint(c, (uint64_t)at, (uint32_t)json_get_int(asked, "app", 0, UINT32_MAX, 0),
                               (enum control_page_asked)i);
    c->answer = true;
}

/* ---- reports ---- */

struct sum {
    uint32_t callers, deaf, writing, app;
    bool mixed, notice;
    uint64_t calls_min, calls_max, newest_ns, yes_min, yes_max, samples, writes, write_ns, begun_ns;
    double step_s;
};

static void add_caller(struct sum *s, const struct caller *k)
{
    const struct steps_figures *f = &k->f;

    s->notice |= f->notice;
    if (f->begun_ns) {
        s->writing++;
        s->begun_ns = s->begun_ns ? least(s->begun_ns, f->begun_ns) : f->begun_ns;
    }
    if (f->writes > s->writes)
        s->write_ns = 0;
    if (f->writes >= s->writes && f->write_ns > s->write_ns)
        s->write_ns = f->write_ns;
    s->writes = f->writes > s->writes ? f->writes : s->writes;
    if (!calling(k))
        return;
    s->mixed |= s->callers && s->app != f->incarnation;
    s->app = f->incarnation;
    s->deaf += !f->hears;
    s->calls_min = s->callers ? least(s->calls_min, f->calls) : f->calls;
    s->yes_min = s->callers ? least(s->yes_min, f->yes_at) : f->yes_at;
    s->yes_max = f->yes_at > s->yes_max ? f->yes_at : s->yes_max;
    if (f->calls >= s->calls_max) {
        s->newest_ns = f->calls > s->calls_max ? f->call_ns : least(s->newest_ns, f->call_ns);
        s->calls_max = f->calls;
        s->step_s = k->step_s;
    }
    s->callers++;
}

static json_t *seconds_json(uint64_t ns)
{
    return json_real((double)ns * 1e-9);
}

static json_t *asked_json(const struct checkpoint *c)
{
    const struct control_page_checkpoint *a = c->page ? &c->page->checkpoint : NULL;
    uint32_t state = a ? a->state : CONTROL_PAGE_ASKED_NONE;

    return json_pack("{s:o,s:I,s:I,s:s,s:b}", "serial", c->serial < 0 ? json_null() : json_integer(c->serial),
                     "at", (json_int_t)(a ? a->at : 0), "app", (json_int_t)(a ? a->app : 0), "state",
                     states[state < ARRAY_SIZE(states) ? state : 0], "missed", (int)c->missed);
}

json_t *checkpoint_report(struct checkpoint *c, bool due)
{
    struct sum s = { .step_s = NAN };
    uint64_t signs, now;

    if (!c->n && !c->answer)
        return NULL;
    read_all(c);
    for (size_t i = 0; i < c->n; i++) {
        s.samples += c->caller[i].f.samples; /* includes ended ranks, so that it only grows */
        if (!c->caller[i].over)
            add_caller(&s, &c->caller[i]);
    }
    /* what the controller must learn at once rather than with the next second */
    signs = s.writes * 31 + s.writing * 1009 + s.yes_min * 7 + s.yes_max * 127 + s.notice * 524287u;
    if (!due && !c->answer && signs == c->signs)
        return NULL;
    c->signs = signs;
    c->answer = false;
    now = now_ns();
    return json_pack(
        "{s:{s:o,s:I,s:I,s:b,s:I,s:[I,I],s:[I,I],s:o,s:o,s:I,s:I,s:o,s:I,s:o,s:b}}", "checkpoint", "asked",
        asked_json(c), "callers", (json_int_t)s.callers, "deaf", (json_int_t)s.deaf, "mixed", (int)s.mixed,
        "app", (json_int_t)s.app, "calls", (json_int_t)s.calls_min, (json_int_t)s.calls_max, "yes_at",
        (json_int_t)s.yes_min, (json_int_t)s.yes_max, "age_s",
        s.newest_ns ? seconds_json(now - s.newest_ns) : json_null(), "step_s", json_of_real(s.step_s),
        "samples", (json_int_t)s.samples, "writing", (json_int_t)s.writing, "writing_s",
        s.begun_ns ? seconds_json(now - s.begun_ns) : json_null(), "writes", (json_int_t)s.writes, "write_s",
        s.writes ? seconds_json(s.write_ns) : json_null(), "notice", (int)s.notice);
}
