#include "actions/action_way.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actions/http.h"
#include "actions/rest.h"
#include "actions/webhook.h"
#include "common/config.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "slurm/child.h"
#include "wire/json.h"

#define OUTPUT_MAX 4096
#define TEMPFAIL   75 /* EX_TEMPFAIL of sysexits.h: the command asks to be run again */

struct action_ways {
    struct event_base *base;
    struct http *http;
    struct rest *rest;
    const struct config *config;
    const struct attempt_limits *limits;
};

struct action_try {
    struct action_ways *ways;
    const struct action_record *r;
    attempt_fn *fn;
    void *arg;
    struct event *begin;
    bool rest_first; /* slurmrestd before libslurm */
    /* the one that is under way */
    struct child *child;
    struct rest_call *rest;
    struct webhook_call *webhook;
};

enum action_lane action_lane(enum action_kind kind)
{
    return kind == ACTION_WEBHOOK ? LANE_WEBHOOK : kind == ACTION_COMMAND ? LANE_COMMAND : LANE_SLURM;
}

bool action_repeatable(enum action_kind kind)
{
    return kind != ACTION_SIGNAL && kind != ACTION_CHECKPOINT && kind != ACTION_COMMAND;
}

static bool can_act(const struct action_ways *w)
{
    return access(w->config->slurm_helper, X_OK) == 0;
}

int action_ways_can(const struct action_ways *w, enum action_kind kind, struct err *err)
{
    if (kind == ACTION_CHECKPOINT)
        return 0;
    if (kind == ACTION_WEBHOOK)
        return webhook_can(w->config, err);
    if (kind == ACTION_COMMAND) {
        if (!*w->config->command_hook)
            return err_set(err, "no command is configured: see CommandHook in syncguard.conf(5)");
        return access(w->config->command_hook, X_OK) == 0
                   ? 0
                   : err_set(err, "CommandHook=%s: %s", w->config->command_hook, strerror(errno));
    }
    if (rest_can(w->rest, kind) || can_act(w))
        return 0;
    return err_set(err,
                   "cannot %s: %s is missing (SyncGuard was built without libslurm?), and "
                   "Slurmrestd= is not set or cannot do it",
                   action_name(kind), w->config->slurm_helper);
}

/* ---- the end of a try ---- */

static void try_free(struct action_try *t)
{
    event_free(t->begin);
    free(t);
}

static void end_try(struct action_try *t, enum attempt_result result, const char *text)
{
    t->fn(t->arg, result, text);
    try_free(t);
}

/* The first line of a program's output, with control characters replaced. */
static char *first_line(const char *text, char *buf, size_t size)
{
    snprintf(buf, size, "%.*s", (int)strcspn(text, "\r\n"), text);
    for (char *c = buf; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return utf8_mend(buf);
}

/* Describe how a program failed. */
static void describe_end(const struct child_end *e, char *buf, size_t size)
{
    char line[256];

    first_line(e->errors, line, sizeof(line));
    if (e->timed_out)
        snprintf(buf, size, "killed at its time limit");
    else if (WIFSIGNALED(e->status))
        snprintf(buf, size, "ended by signal %d%s%s", WTERMSIG(e->status), *line ? ": " : "", line);
    else
        snprintf(buf, size, "exit status %d%s%s", WEXITSTATUS(e->status), *line ? ": " : "", line);
}

/* ---- through libslurm ---- */

static enum attempt_result result_named(const char *name)
{
    return !name                      ? ATTEMPT_CANNOT
           : !strcmp(name, "done")    ? ATTEMPT_DONE
           : !strcmp(name, "refused") ? ATTEMPT_REFUSED
           : !strcmp(name, "again")   ? ATTEMPT_AGAIN
           : !strcmp(name, "unsure")  ? ATTEMPT_UNSURE
                                      : ATTEMPT_CANNOT;
}

static void on_acted(void *arg, const struct child_end *e)
{
    struct action_try *t = arg;
    json_t *answer = e->timed_out ? NULL : json_loadb(e->output, e->output_bytes, 0, NULL);
    const char *text = json_get_string(answer, "text");
    enum attempt_result result = result_named(json_get_string(answer, "result"));
    char why[512];

    t->child = NULL;
    if (result == ATTEMPT_CANNOT) {
        char how[400];

        describe_end(e, how, sizeof(how));
        snprintf(why, sizeof(why), "%.100s: %s", t->ways->config->slurm_helper, how);
        end_try(t, ATTEMPT_UNSURE, why);
    } else {
        first_line(text ? text : "", why, sizeof(why));
        end_try(t, result, why);
    }
    json_decref(answer);
}

/* Give the program its input, which is taken; otherwise: the result if it cannot be started. */
static void start_program(struct action_try *t, const char *program, json_t *input, child_fn *fn,
                          enum attempt_result otherwise)
{
    char *text = json_dumps(input, JSON_COMPACT);
    struct child_options o = { program, text, t->ways->limits->program_s, OUTPUT_MAX, NULL };
    struct err err;

    t->child = child_start(t->ways->base, &o, fn, t, &err);
    free(text);
    json_decref(input);
    if (!t->child)
        end_try(t, otherwise, err.text);
}

static void begin_act(struct action_try *t)
{
    const struct action_record *r = t->r;
    json_t *request = /* of actions/slurm_helper.h */
        json_pack("{s:s,s:I,s:I,s:I,s:I,s:s,s:i,s:s,s:s,s:b}", "do", action_name(r->kind), "job",
                  (json_int_t)r->job.job, "uid", (json_int_t)r->job.uid, "step", (json_int_t)r->job.step,
                  "restarts", (json_int_t)r->job.restarts, "nodes", r->nodes, "signal", r->signal, "text",
                  r->reason, "comment", action_own_comment(r) ? "own" : "admin", "of_job", action_of_job(r));

    start_program(t, t->ways->config->slurm_helper, request, on_acted, ATTEMPT_AGAIN);
}

/* ---- through slurmrestd ---- */

static void on_rest(void *arg, enum attempt_result result, const char *text)
{
    struct action_try *t = arg;

    t->rest = NULL;
    if (result != ATTEMPT_CANNOT)
        end_try(t, result, text);
    else if (can_act(t->ways))
        begin_act(t);
    else
        end_try(t, ATTEMPT_REFUSED, text);
}

/* ---- the command ---- */

static void on_command(void *arg, const struct child_end *e)
{
    struct action_try *t = arg;
    char text[512];

    t->child = NULL;
    if (!e->timed_out && WIFEXITED(e->status) && WEXITSTATUS(e->status) == 0) {
        first_line(e->output, text, sizeof(text));
        end_try(t, ATTEMPT_DONE, *text ? text : "the command succeeded");
        return;
    }
    describe_end(e, text, sizeof(text));
    end_try(t,
            !e->timed_out && WIFEXITED(e->status) && WEXITSTATUS(e->status) == TEMPFAIL ? ATTEMPT_AGAIN
                                                                                        : ATTEMPT_REFUSED,
            text);
}

static void begin_command(struct action_try *t)
{
    json_t *o = action_object(t->r);
    char next[400];

    json_put_text(o, "next", action_next(t->r, next, sizeof(next)));
    json_object_set_new(o, "uid", json_integer(t->r->job.uid));
    if (t->r->figures && *t->r->figures)
        json_put_json(o, "figures", action_figures(t->r));
    start_program(t, t->ways->config->command_hook, o, on_command, ATTEMPT_REFUSED);
}

/* ---- starting ---- */

static void on_webhook(void *arg, enum attempt_result result, const char *text)
{
    struct action_try *t = arg;

    t->webhook = NULL;
    end_try(t, result, text);
}

static void on_begin(evutil_socket_t fd, short what, void *arg)
{
    struct action_try *t = arg;
    struct err err;

    (void)fd;
    (void)what;
    if (action_ways_can(t->ways, t->r->kind, &err) < 0)
        end_try(t, ATTEMPT_REFUSED, err.text);
    else if (t->r->kind == ACTION_COMMAND)
        begin_command(t);
    else if (t->r->kind == ACTION_WEBHOOK) {
        t->webhook = webhook_start(t->ways->http, t->ways->config, t->ways->limits->answer_s, t->r,
                                   on_webhook, t, &err);
        if (!t->webhook)
            end_try(t, ATTEMPT_REFUSED, err.text);
    } else if (t->rest_first)
        t->rest = rest_start(t->ways->rest, t->r, on_rest, t);
    else
        begin_act(t);
}

struct action_try *action_try_start(struct action_ways *w, const struct action_record *r, unsigned n,
                                    attempt_fn *fn, void *arg)
{
    struct action_try *t = xcalloc(1, sizeof(*t));

    t->ways = w;
    t->r = r;
    t->fn = fn;
    t->arg = arg;
    /* Both ways check first whether the change was made, so the other one may be tried after a failure. */
    t->rest_first = rest_can(w->rest, r->kind) && (n % 2 == 0 || !can_act(w));
    t->begin = event_new(w->base, -1, 0, on_begin, t);
    event_active(t->begin, EV_TIMEOUT, 0);
    return t;
}

void action_try_cancel(struct action_try *t)
{
    if (!t)
        return;
    child_cancel(t->child);
    rest_cancel(t->rest);
    webhook_cancel(t->webhook);
    try_free(t);
}

/* ---- creation and end ---- */

struct action_ways *action_ways_new(struct event_base *base, const struct config *c,
                                    const struct attempt_limits *l)
{
    struct action_ways *w = xcalloc(1, sizeof(*w));

    w->base = base;
    w->config = c;
    w->limits = l;
    w->http = http_new(base);
    w->rest = rest_new(base, w->http, c, l->answer_s);
    return w;
}

void action_ways_configured(struct action_ways *w)
{
    rest_configured(w->rest);
}

void action_ways_free(struct action_ways *w)
{
    if (!w)
        return;
    rest_free(w->rest);
    http_free(w->http);
    free(w);
}
