#include "ctl/record.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/output.h"
#include "trace/line.h"
#include "trace/sink.h"
#include "wire/json.h"
#include "wire/loop.h"

#define PROGRESS_AFTER_S 2
#define PROGRESS_EVERY_S 1
#define RETRY_S          1
/* a restarted controller knows the job again when its agents have connected */
#define RETRIES_MAX 30
#define STOP_S      3 /* for what is under way when the recording is stopped */

struct record {
    const struct record_options *o;
    struct event_base *base;
    struct client *client;
    struct event *interrupt, *terminate, *deadline, *progress, *retry;
    struct trace *trace;
    char *line; /* of which not all pieces have come */
    size_t line_bytes, line_cap;
    int fd;
    bool recording; /* the controller has said so at least once */
    bool up, stopping, failed, live_line;
    int retries;
    double begin_s;
    const char *end; /* why it ended */
    char why[256];   /* the last reason for having no connection */
    struct err *err;
};

static void end_loop(struct record *r, const char *why)
{
    r->end = why;
    event_base_loopbreak(r->base);
}

static void timer_set(struct event *timer, double seconds)
{
    struct timeval tv = loop_timeval(seconds);

    event_add(timer, &tv);
}

/* The controller then sends the collectives that are not complete yet, and the end.  The second call ends at
 * once. */
static void stop_recording(struct record *r, const char *why)
{
    json_t *question = json_pack("{s:s, s:b}", "query", "record", "stop", 1);

    if (r->stopping || !r->recording || !r->up || client_send(r->client, question) < 0)
        end_loop(r, r->stopping ? r->end : why);
    r->stopping = true;
    r->end = why;
    timer_set(r->deadline, STOP_S);
    json_decref(question);
}

/* r->err is filled in already. */
static void end_failed(struct record *r)
{
    r->failed = true;
    event_base_loopbreak(r->base);
}

/* ---- what a person sees meanwhile ---- */

static void print_note(struct record *r, const char *text, const char *why)
{
    fprintf(stderr, "%ssgctl: %s: %s\n", r->live_line ? "\n" : "", text, why);
    r->live_line = false;
}

static void put_counts(const struct record *r)
{
    struct trace_counts c = trace_counts_get(r->trace);

    fprintf(stderr, "%" PRIu64 " record%s of %zu rank%s, %s, in %s; ", c.records,
            text_plural((int64_t)c.records), c.ranks, text_plural((int64_t)c.ranks),
            text_bytes((double)c.bytes).s, text_s(now_s() - r->begin_s).s);
    if (c.lost)
        fprintf(stderr, "%" PRIu64 " lost (%s)", c.lost,
                text_percent((double)c.lost / (double)(c.lost + c.records)).s);
    else
        fprintf(stderr, "nothing lost");
}

static void on_progress(evutil_socket_t fd, short what, void *arg)
{
    struct record *r = arg;

    (void)fd, (void)what;
    if (!isatty(STDERR_FILENO))
        return; /* a log wants the last line only */
    fprintf(stderr, "\rsgctl: ");
    put_counts(r);
    fprintf(stderr, "\033[K");
    r->live_line = true;
    timer_set(r->progress, PROGRESS_EVERY_S);
}

/* ---- the conversation ---- */

static void ask_for_trace(struct record *r)
{
    json_t *question = json_pack("{s:s, s:s}", "query", "record", "job", r->o->job);

    client_send(r->client, question); /* not up: on_state asks again */
    json_decref(question);
}

static void on_error(struct record *r, const json_t *answer)
{
    char why[256];

    json_show_text(answer, "error", why, sizeof(why));
    if (!r->recording || ++r->retries > RETRIES_MAX) {
        err_set(r->err, "%s", why);
        end_failed(r);
        return;
    }
    if (r->retries == 1)
        print_note(r, "waiting for the step to go on", why);
    timer_set(r->retry, RETRY_S);
}

static void on_trace(struct record *r, const json_t *answer)
{
    const json_t *trace = json_object_get(answer, "trace");
    size_t bytes = json_string_length(trace);
    bool more = json_get_true(answer, "more");

    if (!r->line_bytes && !more) {
        if (trace_put(r->trace, json_string_value(trace), bytes, r->err) < 0)
            end_failed(r);
        return;
    }
    if (bytes > TRACE_HEADER_MAX - r->line_bytes) {
        err_set(r->err, "the controller sent a line without an end");
        end_failed(r);
        return;
    }
    r->line = xgrow(r->line, &r->line_cap, r->line_bytes + bytes, 1);
    memcpy(r->line + r->line_bytes, json_string_value(trace), bytes);
    r->line_bytes += bytes;
    if (more)
        return;
    if (trace_put(r->trace, r->line, r->line_bytes, r->err) < 0)
        end_failed(r);
    r->line_bytes = 0;
}

static void on_answer(struct client *client, json_t *answer, void *arg)
{
    struct record *r = arg;

    (void)client;
    if (json_object_get(answer, "error")) {
        on_error(r, answer);
    } else if (json_object_get(answer, "recording")) {
        r->line_bytes = 0; /* of the connection before */
        r->retries = 0;
        if (r->recording)
            return;
        r->recording = true;
        r->begin_s = now_s();
        event_del(r->deadline);
        if (!isnan(r->o->seconds))
            timer_set(r->deadline, r->o->seconds);
        timer_set(r->progress, PROGRESS_AFTER_S);
    } else if (json_is_string(json_object_get(answer, "trace"))) {
        on_trace(r, answer);
    } else if (json_object_get(answer, "end")) {
        json_show_text(answer, "end", r->why, sizeof(r->why));
        end_loop(r, r->stopping ? r->end : r->why);
    }
}

static void on_state(struct client *client, bool up, const char *why, void *arg)
{
    struct record *r = arg;

    (void)client;
    r->up = up;
    if (up) {
        ask_for_trace(r);
        return;
    }
    if (why)
        snprintf(r->why, sizeof(r->why), "%s", why);
    if (r->stopping)
        end_loop(r, r->end);
    else if (r->recording)
        print_note(r, "lost the controller, trying again", r->why);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct record *r = arg;

    (void)fd, (void)what;
    if (r->recording) {
        stop_recording(r, "the time is up");
        return;
    }
    err_set(r->err, "no answer from %s in %s%s%s", r->o->client.hosts, text_s(r->o->timeout_s).s,
            r->why[0] ? ": " : "", r->why);
    end_failed(r);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    ask_for_trace(arg);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    stop_recording(arg, "interrupted");
}

/* ---- the program ---- */

static int open_output(struct record *r)
{
    const char *path = r->o->output;

    if (path && strcmp(path, "-")) {
        r->fd = output_create(path, 0640, r->err);
        return r->fd < 0 ? -1 : 0;
    }
    if (!path && isatty(STDOUT_FILENO))
        return err_set(
            r->err, "a trace is not readable on a terminal: use -o FILE or > FILE (-o - prints it anyway)");
    r->fd = STDOUT_FILENO;
    return 0;
}

int record_run(const struct record_options *o, struct err *err)
{
    static const struct client_events on_client = { .answer = on_answer, .state = on_state };
    struct record r = { .o = o, .fd = -1, .err = err };
    struct event **events[] = { &r.interrupt, &r.terminate, &r.deadline, &r.progress, &r.retry };
    int rc = -1;

    if (open_output(&r) < 0)
        return -1;
    r.trace = trace_new(r.fd);
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write */
    r.base = loop_new();
    if (!r.base) {
        err_set(err, "cannot make an event loop");
        goto end;
    }
    r.interrupt = evsignal_new(r.base, SIGINT, on_signal, &r);
    r.terminate = evsignal_new(r.base, SIGTERM, on_signal, &r);
    r.deadline = evtimer_new(r.base, on_deadline, &r);
    r.progress = evtimer_new(r.base, on_progress, &r);
    r.retry = evtimer_new(r.base, on_retry, &r);
    event_add(r.interrupt, NULL);
    event_add(r.terminate, NULL);
    timer_set(r.deadline, o->timeout_s);
    r.client = client_new(r.base, &o->client, &on_client, &r);
    event_base_dispatch(r.base);
    if (trace_counts_get(r.trace).records) {
        if (r.live_line)
            fprintf(stderr, "\r\033[K");
        fprintf(stderr, "sgctl: %s: ", o->output && r.fd != STDOUT_FILENO ? o->output : "trace");
        put_counts(&r);
        fprintf(stderr, "%s%s\n", r.end ? "; " : "", r.end ? r.end : "");
    }
    if (r.failed)
        rc = -1;
    else if (!r.recording)
        rc = err_set(err, "interrupted before the recording began");
    else if (!trace_counts_get(r.trace).records)
        rc = err_set(err, "no collective and no message was seen in %s (%s)", text_s(now_s() - r.begin_s).s,
                     r.end);
    else
        rc = 0;
end:
    client_free(r.client);
    for (size_t i = 0; i < ARRAY_SIZE(events); i++)
        if (*events[i])
            event_free(*events[i]);
    if (r.base)
        event_base_free(r.base);
    if (r.fd >= 0 && r.fd != STDOUT_FILENO && !trace_counts_get(r.trace).records)
        unlink(o->output); /* or the next attempt would be refused for a file without a trace */
    trace_free(r.trace);
    free(r.line);
    if (r.fd >= 0 && r.fd != STDOUT_FILENO && close(r.fd) < 0 && rc == 0)
        rc = err_set(err, "%s: %s", o->output, strerror(errno));
    return rc;
}
