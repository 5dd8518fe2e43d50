#include "tui/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "report/event_list.h"
#include "report/report.h"
#include "report/report_event.h"
#include "report/report_nodes.h"
#include "report/report_overlap.h"
#include "report/report_rank.h"
#include "report/report_row.h"
#include "report/report_scaling.h"
#include "report/report_status.h"
#include "report/report_strategies.h"
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "trace/reader.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "view/view.h"

#define PIECE_BYTES (256u << 10)
#define SCALING_S   10.0
#define ANY_JOB     "trace" /* the id of a trace that names no job */

struct replay {
    int fd;
    char *name; /* the file's, without its folder */
    char job_id[48];
    uint32_t nodes, ranks; /* of the header */
    double file_bytes;
    struct config_policy policy;
    struct trace_reader *reader;
    struct event_list events;
    struct report_scaling
        *scaling; /* computed again when older than SCALING_S of the trace; NULL: not yet computed */
    struct report_strategies *strategies;
    struct report_overlap *overlap;
    double scaling_s;
    char *piece;
    size_t at, n; /* of the piece */
    double read_bytes, updated_s, end_s;
    bool ended;
    struct err failed; /* "": not */
};

/* ---- from the beginning ---- */

static void forget(struct replay *r)
{
    trace_reader_free(r->reader);
    free(r->scaling);
    free(r->strategies);
    free(r->overlap);
    r->scaling = NULL;
    r->strategies = NULL;
    r->overlap = NULL;
    r->reader = NULL;
    r->events.n = 0;
}

static void begin(struct replay *r)
{
    struct view_params params = view_params_of(&r->policy);

    forget(r);
    r->reader = trace_reader_new(&params);
    r->at = r->n = 0;
    r->read_bytes = r->updated_s = 0;
    r->ended = false;
    r->failed.text[0] = '\0';
}

int replay_rewind(struct replay *r, struct err *err)
{
    if (lseek(r->fd, 0, SEEK_SET) < 0)
        return err_set(err, "%s: %s", r->name, strerror(errno));
    begin(r);
    return 0;
}

/* The job as the header describes it. */
static void describe(struct replay *r)
{
    struct trace_figures f;

    trace_reader_figures_get(r->reader, &f);
    if (f.job[0])
        snprintf(r->job_id, sizeof(r->job_id), "%.47s", f.job);
    r->nodes = f.nodes;
    r->ranks = f.ranks;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

struct replay *replay_open(const char *path, const struct config_policy *policy, struct err *err)
{
    struct replay *r = xcalloc(1, sizeof(*r));
    struct trace_figures f = { 0 };
    struct stat st;

    r->policy = *policy;
    r->name = xstrdup(strcmp(path, "-") ? base_name(path) : "standard input");
    r->piece = xcalloc(PIECE_BYTES, 1);
    snprintf(r->job_id, sizeof(r->job_id), ANY_JOB);
    r->end_s = NAN;
    r->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
    if (r->fd < 0 || fstat(r->fd, &st) < 0) {
        err_set(err, "%s: %s", path, strerror(errno));
        goto fail;
    }
    r->file_bytes = S_ISREG(st.st_mode) ? (double)st.st_size : NAN;
    begin(r);
    while (!f.header) {
        enum replay_read rc = replay_read(r, INFINITY, 1, err);

        trace_reader_figures_get(r->reader, &f);
        if (rc == REPLAY_FAILED || (rc == REPLAY_ENDED && !f.header)) {
            err_prefix(err, "%s", path);
            goto fail;
        }
    }
    if (f.untimed) {
        err_set(err, "%s: its calls have no times that could be replayed: sgctl analyze tells who came last",
                path);
        goto fail;
    }
    return r;
fail:
    replay_close(r);
    return NULL;
}

void replay_close(struct replay *r)
{
    if (!r)
        return;
    forget(r);
    if (r->fd >= 0)
        close(r->fd);
    free(r->piece);
    free(r->name);
    free(r);
}

/* ---- reading ---- */

/* The answers to a live job's questions come about so often: events are as a controller would have had them.
 */
static void take_events(struct replay *r)
{
    struct view_event e;

    r->updated_s = replay_now_s(r);
    while (view_event_take(trace_reader_view(r->reader), &e))
        event_list_put(&r->events, e.at_s, e.key, e.text);
}

/* A line, or the piece's rest; 1: there was one, 0: the end. */
static int feed_line(struct replay *r, struct err *err)
{
    const char *from, *end;
    ssize_t got;
    size_t n;

    if (r->at == r->n) {
        while ((got = read(r->fd, r->piece, PIECE_BYTES)) < 0)
            if (errno != EINTR)
                return err_set(err, "%s: %s", r->name, strerror(errno));
        r->at = 0;
        r->n = (size_t)got;
    }
    if (!r->n) {
        r->ended = true;
        if (trace_reader_finish(r->reader, err) < 0)
            return -1;
        describe(r);
        r->end_s = replay_now_s(r);
        take_events(r);
        event_list_add(&r->events, r->end_s, "the step ended");
        return 0;
    }
    from = r->piece + r->at;
    end = memchr(from, '\n', r->n - r->at);
    n = end ? (size_t)(end - from) + 1 : r->n - r->at;
    r->at += n;
    if (trace_reader_feed(r->reader, from, n, err) < 0)
        return -1;
    if (r->read_bytes == 0 || !r->ranks)
        describe(r);
    r->read_bytes += (double)n;
    if (replay_now_s(r) >= r->updated_s + TRACE_TICK_S)
        take_events(r);
    return 1;
}

enum replay_read replay_read(struct replay *r, double to_s, size_t max_bytes, struct err *err)
{
    double until = r->read_bytes + (double)max_bytes;

    while (!r->ended && !r->failed.text[0]) {
        if (r->read_bytes >= until)
            return replay_now_s(r) >= to_s ? REPLAY_REACHED : REPLAY_MORE;
        if (r->read_bytes > 0 && replay_now_s(r) >= to_s)
            return REPLAY_REACHED;
        if (feed_line(r, &r->failed) < 0)
            break;
    }
    if (!r->failed.text[0])
        return REPLAY_ENDED;
    err_set(err, "%s", r->failed.text);
    return REPLAY_FAILED;
}

double replay_now_s(const struct replay *r)
{
    return trace_reader_now_s(r->reader);
}

void replay_position_get(const struct replay *r, struct playback *p)
{
    p->at_s = replay_now_s(r);
    p->end_s = r->end_s;
    p->share = r->file_bytes > 0 ? fmin(1, r->read_bytes / r->file_bytes) : NAN;
    p->step_s = view_newest_steps_s(trace_reader_view(r->reader), replay_now_s(r));
}

const char *replay_job(const struct replay *r)
{
    return r->job_id;
}

/* ---- what is shown ---- */

/* As a controller has it of a live job; nobody knows whose it was, and when. */
static void get_row(const struct replay *r, const struct view_figures *f, struct report_row *row)
{
    double now_s = replay_now_s(r);

    report_row_get(row, trace_reader_view(r->reader), now_s, f);
    row->job = 1;
    row->step = 0;
    snprintf(row->id, sizeof(row->id), "%s", r->job_id);
    snprintf(row->name, sizeof(row->name), "%s", r->name);
    snprintf(row->policy, sizeof(row->policy), "%s", r->policy.name);
    snprintf(row->state, sizeof(row->state), "%s",
             r->ended                    ? "finished"
             : f->regime == VIEW_STALLED ? "stalled"
             : f->collectives            ? "running"
                                         : "starting");
    row->elapsed_s = now_s;
    row->age_s = 0;
    row->ranks = f->ranks_known;
    row->nodes = row->nodes_total = r->nodes;
}

static void renew_projections(struct replay *r)
{
    const struct view *v = trace_reader_view(r->reader);
    double now_s = replay_now_s(r);
    double age_s = r->ended ? now_s - r->scaling_s : floor((now_s - r->scaling_s) / SCALING_S);

    if (r->scaling && age_s == 0)
        return;
    if (!r->scaling) {
        r->scaling = xcalloc(1, sizeof(*r->scaling));
        r->strategies = xcalloc(1, sizeof(*r->strategies));
        r->overlap = xcalloc(1, sizeof(*r->overlap));
    }
    report_scaling_get(r->scaling, v, false);
    report_strategies_get(r->strategies, v, &VIEW_STRATEGY_OPTIONS);
    report_overlap_get(r->overlap, v, now_s);
    r->scaling_s = now_s;
}

struct report *replay_report(struct replay *r, const struct report_selection *selection)
{
    const struct view *v = trace_reader_view(r->reader);
    struct report *report = xcalloc(1, sizeof(*report));
    double now_s = replay_now_s(r);
    struct report_ranks ranks;
    struct view_figures f;

    renew_projections(r);
    view_figures_get(v, now_s, &f);
    report_ranks_get(&ranks, v, now_s, selection);
    for (size_t i = 0; r->ended && i < ranks.n; i++)
        ranks.f[i].ended = true; /* a trace has no records of that */
    get_row(r, &f, &report->job);
    report->scaling = *r->scaling;
    report->strategies = *r->strategies;
    report->overlap = *r->overlap;
    report_view_get(report, v, now_s, selection, &ranks);
    report->probe = (struct report_probe){ .known = true,
                                           .events = (int64_t)f.events,
                                           .dropped = (int64_t)f.dropped,
                                           .missed = (int64_t)f.missed,
                                           .messages_missed = -1,
                                           .streams_forgotten = -1,
                                           .comms_missed = -1,
                                           .messages_unplaced = -1,
                                           .comms_disputed = -1,
                                           .ranks_guarded = f.ranks_known,
                                           .ranks_total = r->ranks,
                                           .overhead_ratio = NAN };
    report->agents_total = report->silent.number = -1; /* a trace has none, and says nothing of them */
    report_events_get(&report->events, &r->events, now_s);
    report_ranks_free(&ranks);
    return report;
}

static struct report_rows *get_jobs(const struct replay *r)
{
    struct report_rows *jobs = xcalloc(1, sizeof(*jobs));
    struct view_figures f;

    view_figures_get(trace_reader_view(r->reader), replay_now_s(r), &f);
    *jobs = (struct report_rows){ .n = 1, .job = xcalloc(1, sizeof(*jobs->job)) };
    get_row(r, &f, jobs->job);
    report_verdicts_drop_minor(&jobs->job->verdicts);
    return jobs;
}

static struct report_node_rows *get_nodes(const struct replay *r)
{
    struct report_node_rows *nodes = xcalloc(1, sizeof(*nodes));
    struct report_nodes t = { 0 };

    report_nodes_add(&t, trace_reader_view(r->reader), r->job_id, replay_now_s(r));
    report_nodes_sort(&t);
    *nodes = (struct report_node_rows){ .n = t.n, .node = xcalloc(t.n, sizeof(*nodes->node)) };
    for (size_t i = 0; i < t.n; i++)
        report_node_get(&nodes->node[i], &t.row[i]);
    report_nodes_free(&t);
    return nodes;
}

void replay_show(struct replay *r, struct ui *ui)
{
    struct ui_asked asked = { .frozen = ui->frozen };
    struct report_status status;
    struct ui_content c = { 0 };

    ui_selection_get(ui, &asked.rows);
    if (ui->screen == SCREEN_JOBS) {
        c.jobs = get_jobs(r);
    } else if (ui->screen == SCREEN_JOB) {
        c.view = replay_report(r, &asked.rows);
        c.view->picture = c.view->own_picture = picture_copy(c.view->picture);
        report_verdicts_drop_minor(&c.view->job.verdicts);
        report_verdicts_drop_minor(&c.view->timeline);
    } else {
        c.nodes = get_nodes(r);
    }
    ui_take(ui, ui->screen, &asked, &c, "");
    report_status_read(&status, NULL, NULL); /* all is unknown */
    snprintf(status.version, sizeof(status.version), "%s", PACKAGE_VERSION);
    snprintf(status.host, sizeof(status.host), "%s", r->name);
    status.uptime_s = replay_now_s(r);
    status.jobs = 1;
    status.agents = 0;
    status.ranks = r->ranks;
    ui_take_status(ui, &status);
}
