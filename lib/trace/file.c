#include "trace/file.h"

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

#define READ_BYTES       (256u << 10)
#define WATCHED_BYTES    512u /* a few records */
#define PROGRESS_AFTER_S 2.0
#define PROGRESS_EVERY_S 0.5

struct progress {
    double begin_s, last_report_s; /* last_report_s: 0: none yet */
    double total_bytes;            /* NaN: a pipe */
};

static void progress_report(struct progress *p, const struct trace_reader *r)
{
    struct trace_figures f;
    double at_s;

    if (isinf(p->begin_s)) /* standard error is not a terminal */
        return;
    at_s = now_s();
    if (at_s < p->begin_s + PROGRESS_AFTER_S || at_s < p->last_report_s + PROGRESS_EVERY_S)
        return;
    p->last_report_s = at_s;
    trace_reader_figures_get(r, &f);
    fprintf(stderr, "\r%s: %s read", program_invocation_short_name, text_bytes((double)f.bytes).s);
    if (p->total_bytes > 0)
        fprintf(stderr, " of %s (%s)", text_bytes(p->total_bytes).s,
                text_percent((double)f.bytes / p->total_bytes).s);
    fprintf(stderr, ", %s of the trace\033[K", text_s(trace_reader_now_s(r)).s);
}

typedef void watch_fn(struct trace_reader *r, void *arg);

static int feed_piece(struct trace_reader *r, const char *piece, size_t n, watch_fn *each, void *arg,
                      struct err *err)
{
    size_t slice = each ? WATCHED_BYTES : n;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at < n; at += slice) {
        rc = trace_reader_feed(r, piece + at, n - at < slice ? n - at : slice, err);
        if (rc == 0 && each)
            each(r, arg);
    }
    return rc;
}

static int read_all(int fd, struct trace_reader *r, watch_fn *each, void *arg, struct err *err)
{
    char *piece = xcalloc(READ_BYTES, 1);
    struct stat st;
    struct progress progress = {
        .begin_s = isatty(STDERR_FILENO) ? now_s() : INFINITY,
        .total_bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : NAN,
    };
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = read(fd, piece, READ_BYTES)) != 0) {
        if (n > 0)
            rc = feed_piece(r, piece, (size_t)n, each, arg, err);
        else if (errno != EINTR)
            rc = err_set(err, "%s", strerror(errno));
        progress_report(&progress, r);
    }
    if (progress.last_report_s > 0)
        fprintf(stderr, "\r\033[K");
    free(piece);
    return rc < 0 ? -1 : trace_reader_finish(r, err);
}

int trace_file_watch(const char *path, struct trace_reader *r, watch_fn *each, void *arg, struct err *err)
{
    bool standard = !strcmp(path, "-");
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    rc = read_all(fd, r, each, arg, err);
    if (rc < 0)
        err_prefix(err, "%s", standard ? "standard input" : path);
    if (!standard)
        close(fd);
    return rc;
}

struct trace_reader *trace_file_open(const char *path, const struct view_params *p, struct err *err)
{
    struct trace_reader *r = trace_reader_new(p);

    if (trace_file_watch(path, r, NULL, NULL, err) == 0)
        return r;
    trace_reader_free(r);
    return NULL;
}
