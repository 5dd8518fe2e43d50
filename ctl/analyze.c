#include "ctl/analyze.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/now.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/page.h"
#include "job/job.h"
#include "job/report.h"
#include "wire/json.h"

#define READ_BYTES       (256u << 10)
#define WATCHED_BYTES    512u /* a few records */
#define PROGRESS_AFTER_S 2.0
#define PROGRESS_EVERY_S 0.5

/* ---- the answer ---- */

static json_t *trace_json(struct trace_reader *r)
{
    struct trace_figures f;
    json_t *o = json_object();

    trace_reader_figures_get(r, &f);
    put_text(o, "job", f.job);
    put_int(o, "ranks", f.ranks);
    put_int(o, "nodes", f.nodes);
    put_int(o, "switches", f.switches);
    put_int(o, "communicators", f.comms);
    put_real(o, "seconds", trace_reader_now_s(r));
    put_int(o, "bytes", f.bytes);
    put_int(o, "records", f.records);
    put_int(o, "collectives", f.collectives);
    put_int(o, "lost", f.lost);
    put_int(o, "duplicates", f.duplicates);
    put_int(o, "reordered", f.reordered);
    put_int(o, "unnamed", f.unnamed);
    put_int(o, "beyond", f.beyond);
    put_int(o, "never_left", f.never_left);
    json_object_set_new(o, "torn", json_boolean(f.torn));
    return o;
}

/* slowdown and detected_seq are left out where they are not known: who sums them up need not test. */
static json_t *verdict_json(const struct view_verdict *d, double now_s)
{
    json_t *o = json_object(), *culprits = json_array();

    for (uint32_t i = 0; i < d->n_culprits; i++)
        json_array_append_new(culprits, json_string(d->culprit[i]));
    put_text(o, "class", finding_class_name(d->finding.class));
    put_text(o, "scope", finding_scope_name(d->finding.scope));
    json_object_set_new(o, "culprits", culprits);
    if (isfinite(d->finding.slowdown))
        put_real(o, "slowdown", d->finding.slowdown);
    put_count(o, "since_step", d->since_step);
    put_count(o, "onset_seq", d->finding.onset_seq);
    if (d->finding.named_seq >= 0)
        put_count(o, "detected_seq", d->finding.named_seq);
    put_real(o, "since_s", now_s - d->since_s);
    put_real(o, "found_s", now_s - d->found_s);
    json_object_set_new(o, "standing", json_boolean(d->finding.standing));
    put_real(o, "over_s", d->finding.standing ? NAN : now_s - d->over_s);
    put_text(o, "text", d->text);
    put_text(o, "cause", d->cause);
    return o;
}

/* Of the whole run, where a job's answer has those that stand. */
static json_t *verdicts_json(struct trace_reader *r)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_raised(trace_reader_view(r), &d);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, verdict_json(&d[i], trace_reader_now_s(r)));
    return list;
}

/* What a job tells of its view; what the controller alone knows of a job is left out. */
static json_t *figures_json(struct trace_reader *r)
{
    static const char *const controllers[] = { "job",           "step",        "id",           "name",
                                               "user",          "partition",   "start",        "elapsed_s",
                                               "age_s",         "nodes",       "policy",       "state",
                                               "probe",         "agents",      "notes",        "events",
                                               "policy_params", "nodes_total", "samples_per_s" };
    static const struct report_view latest = { .sort = REPORT_BY_LATENESS,
                                               .count = PAGE_RANKS,
                                               .columns = VIEW_COLUMNS };
    double now_s = trace_reader_now_s(r);
    struct job job = { .view = trace_reader_view(r), .state = JOB_FINISHED, .end_s = now_s };
    json_t *o = report_job(&job, now_s, &latest), *rank;
    size_t i;

    for (i = 0; i < ARRAY_SIZE(controllers); i++)
        json_object_del(o, controllers[i]);
    json_array_foreach(json_object_get(o, "rank_table"), i, rank) {
        json_object_del(rank, "state");
        /* It was never left: how long it has lasted nobody saw. */
        if (json_is_object(json_object_get(rank, "inside")))
            put_real(json_object_get(rank, "inside"), "age_s", NAN);
        put_int(rank, "lost",
                trace_reader_lost(r, (uint32_t)json_integer_value(json_object_get(rank, "rank"))));
    }
    return o;
}

json_t *analyze_answer(struct trace_reader *r)
{
    json_t *o = figures_json(r);

    json_object_set_new(o, "trace", trace_json(r));
    json_object_set(o, "collectives_per_step", json_object_get(o, "period"));
    json_object_set_new(o, "verdicts", verdicts_json(r));
    return o;
}

bool analyze_stands(const json_t *answer)
{
    const json_t *verdict;
    size_t i;

    json_array_foreach(json_object_get(answer, "verdicts"), i, verdict)
        if (get_true(verdict, "standing"))
            return true;
    return false;
}

/* ---- the file ---- */

struct progress {
    double begin_s, said_s; /* said_s 0: nothing said yet */
    double total_bytes;     /* NaN: a pipe */
};

static void progress_begin(struct progress *p, int fd)
{
    struct stat st;

    *p = (struct progress){ .begin_s = isatty(STDERR_FILENO) ? now_s() : INFINITY };
    p->total_bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : NAN;
}

static void progress_say(struct progress *p, const struct trace_reader *r)
{
    struct trace_figures f;
    double at_s;

    if (isinf(p->begin_s)) /* nobody looks on */
        return;
    at_s = now_s();
    if (at_s < p->begin_s + PROGRESS_AFTER_S || at_s < p->said_s + PROGRESS_EVERY_S)
        return;
    p->said_s = at_s;
    trace_reader_figures_get(r, &f);
    fprintf(stderr, "\r%s: %s read", program_invocation_short_name, text_bytes((double)f.bytes).s);
    if (p->total_bytes > 0)
        fprintf(stderr, " of %s (%s)", text_bytes(p->total_bytes).s,
                text_percent((double)f.bytes / p->total_bytes).s);
    fprintf(stderr, ", %s of the trace\033[K", text_s(trace_reader_now_s(r)).s);
}

static void progress_end(const struct progress *p)
{
    if (p->said_s > 0)
        fprintf(stderr, "\r\033[K");
}

struct watch {
    void (*each)(struct trace_reader *r, void *arg); /* NULL: nobody watches */
    void *arg;
};

static int feed(struct trace_reader *r, const char *piece, size_t n, const struct watch *w, struct err *err)
{
    size_t slice = w->each ? WATCHED_BYTES : n;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < n; at += slice) {
        rc = trace_reader_feed(r, piece + at, n - at < slice ? n - at : slice, err);
        if (rc == 0 && w->each)
            w->each(r, w->arg);
    }
    return rc;
}

static int read_all(int fd, struct trace_reader *r, const struct watch *w, struct err *err)
{
    char *piece = xcalloc(READ_BYTES, 1);
    struct progress progress;
    ssize_t n;
    int rc = 0;

    progress_begin(&progress, fd);
    while (rc == 0 && (n = read(fd, piece, READ_BYTES)) != 0) {
        if (n > 0)
            rc = feed(r, piece, (size_t)n, w, err);
        else if (errno != EINTR)
            rc = err_set(err, "%s", strerror(errno));
        progress_say(&progress, r);
    }
    progress_end(&progress);
    free(piece);
    return rc < 0 ? -1 : trace_reader_finish(r, err);
}

int analyze_watch(const char *path, struct trace_reader *r, void (*each)(struct trace_reader *r, void *arg),
                  void *arg, struct err *err)
{
    struct watch w = { each, arg };
    bool standard = !strcmp(path, "-");
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    rc = read_all(fd, r, &w, err);
    if (rc < 0)
        err_prefix(err, "%s", standard ? "standard input" : path);
    if (!standard)
        close(fd);
    return rc;
}

int analyze_read(const char *path, struct trace_reader *r, struct err *err)
{
    return analyze_watch(path, r, NULL, NULL, err);
}

json_t *analyze_file(const char *path, const struct view_params *p, struct err *err)
{
    struct trace_reader *r = trace_reader_new(p);
    json_t *answer = analyze_read(path, r, err) < 0 ? NULL : analyze_answer(r);

    trace_reader_free(r);
    return answer;
}
