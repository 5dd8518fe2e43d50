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
#include "job/job.h"
#include "job/report.h"
#include "trace/reader.h"
#include "wire/json.h"

#define PIECE_BYTES (256u << 10)
#define ANY_JOB     "trace" /* where the trace does not say of which job it is */

struct replay {
    int fd;
    char *name; /* the file's, without its folder */
    char job_id[48];
    double file_bytes;
    struct config_policy policy;
    struct trace_reader *reader;
    struct job *job; /* its view is the reader's */
    char *piece;
    size_t at, n; /* of the piece */
    double read_bytes, updated_s, end_s;
    bool ended;
    struct err failed; /* "": not */
};

/* ---- from the beginning ---- */

static void forget(struct replay *r)
{
    if (r->job)
        r->job->view = NULL;
    job_free(r->job);
    trace_reader_free(r->reader);
    r->job = NULL;
    r->reader = NULL;
}

static void begin(struct replay *r)
{
    struct view_params params = job_view_params(&r->policy);
    struct job_id id = { .job = 1 };

    forget(r);
    r->reader = trace_reader_new(&params);
    r->job = job_new(&id, &r->policy, 0);
    view_free(r->job->view);
    r->job->view = trace_reader_view(r->reader);
    r->job->start_wall_s = NAN;
    snprintf(r->job->name, sizeof(r->job->name), "%s", r->name);
    snprintf(r->job->policy, sizeof(r->job->policy), "%s", r->policy.name);
    snprintf(r->job->text_id, sizeof(r->job->text_id), "%s", r->job_id);
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

/* What the header says of the job. */
static void describe(struct replay *r)
{
    struct trace_figures f;

    trace_reader_figures_get(r->reader, &f);
    if (f.job[0])
        snprintf(r->job_id, sizeof(r->job_id), "%.47s", f.job);
    snprintf(r->job->text_id, sizeof(r->job->text_id), "%s", r->job_id);
    r->job->nodes_total = f.nodes;
    r->job->tasks = f.ranks;
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

static int fill(struct replay *r, struct err *err)
{
    ssize_t n;

    while ((n = read(r->fd, r->piece, PIECE_BYTES)) < 0)
        if (errno != EINTR)
            return err_set(err, "%s: %s", r->name, strerror(errno));
    r->at = 0;
    r->n = (size_t)n;
    return 0;
}

/* A live job is looked at about so often: states and events are as a controller would have had them. */
static void update(struct replay *r)
{
    double now_s = replay_now_s(r);

    if (now_s < r->updated_s + TRACE_TICK_S)
        return;
    r->updated_s = now_s;
    r->job->heard_s = now_s;
    job_update(r->job, now_s, NULL, NULL);
}

static int finish(struct replay *r, struct err *err)
{
    r->ended = true;
    if (trace_reader_finish(r->reader, err) < 0)
        return -1;
    describe(r);
    r->end_s = r->job->heard_s = replay_now_s(r);
    job_update(r->job, r->end_s, NULL, NULL);
    job_finish(r->job, r->end_s);
    return 0;
}

/* A line, or the piece's rest; 1: there was one, 0: the end. */
static int feed_line(struct replay *r, struct err *err)
{
    const char *from, *end;
    size_t n;

    if (r->at == r->n && fill(r, err) < 0)
        return -1;
    if (!r->n)
        return finish(r, err);
    from = r->piece + r->at;
    end = memchr(from, '\n', r->n - r->at);
    n = end ? (size_t)(end - from) + 1 : r->n - r->at;
    r->at += n;
    if (trace_reader_feed(r->reader, from, n, err) < 0)
        return -1;
    if (r->read_bytes == 0 || !r->job->tasks)
        describe(r);
    r->read_bytes += (double)n;
    update(r);
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

double replay_end_s(const struct replay *r)
{
    return r->end_s;
}

double replay_share(const struct replay *r)
{
    return r->file_bytes > 0 ? fmin(1, r->read_bytes / r->file_bytes) : NAN;
}

double replay_step_s(const struct replay *r)
{
    struct view_figures f;

    view_figures_get(r->job->view, replay_now_s(r), &f);
    return f.step_mean_s;
}

const char *replay_job(const struct replay *r)
{
    return r->job_id;
}

/* ---- answers ---- */

static json_t *answer_status(const struct replay *r, const json_t *q)
{
    (void)q;
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i}", "version", PACKAGE_VERSION, "host", r->name,
                     "uptime_s", real_json(replay_now_s(r)), "jobs", 1, "agents", 0, "ranks",
                     (int)r->job->tasks);
}

static json_t *answer_jobs(const struct replay *r, const json_t *q)
{
    (void)q;
    return json_pack("{s:[o]}", "jobs", report_row(r->job, replay_now_s(r)));
}

static json_t *answer_job(const struct replay *r, const json_t *q)
{
    struct report_view view;

    report_view_parse(&view, json_object_get(q, "view"));
    report_scaling_renew(r->job, replay_now_s(r), false);
    return report_job(r->job, replay_now_s(r), &view);
}

static json_t *answer_nodes(const struct replay *r, const json_t *q)
{
    const struct job *job = r->job;

    (void)q;
    return json_pack("{s:o}", "nodes", report_nodes(&job, 1, replay_now_s(r)));
}

json_t *replay_answer(const struct replay *r, const json_t *question)
{
    static const struct {
        const char *name;
        json_t *(*answer)(const struct replay *r, const json_t *q);
    } queries[] = {
        { "status", answer_status },
        { "jobs", answer_jobs },
        { "job", answer_job },
        { "nodes", answer_nodes },
    };
    const char *name = get_string(question, "query");

    for (size_t i = 0; name && i < ARRAY_SIZE(queries); i++)
        if (!strcmp(name, queries[i].name))
            return queries[i].answer(r, question);
    return json_pack("{s:s}", "error", "a trace answers to status, jobs, job and nodes");
}
