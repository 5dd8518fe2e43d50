#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "trace/progress.h"

#define READ_BYTES    (256u << 10)
#define WATCHED_BYTES 512u /* a few records */

/* total_bytes: NaN: a pipe */
static void say_read(struct progress *p, const struct trace_reader *r, double total_bytes)
{
    struct trace_figures f;
    char of[80] = "";

    trace_reader_figures_get(r, &f);
    if (total_bytes > 0)
        text_append(of, sizeof(of), " of %s (%s)", text_bytes(total_bytes).s,
                    text_percent((double)f.bytes / total_bytes).s);
    progress_say(p, "%s read%s, %s of the trace", text_bytes((double)f.bytes).s, of,
                 text_s(trace_reader_now_s(r)).s);
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
    struct progress progress = progress_begin();
    double total_bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : NAN;
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = read(fd, piece, READ_BYTES)) != 0) {
        if (n > 0)
            rc = feed_piece(r, piece, (size_t)n, each, arg, err);
        else if (errno != EINTR)
            rc = err_set(err, "%s", strerror(errno));
        if (progress_is_due(&progress))
            say_read(&progress, r, total_bytes);
    }
    progress_end(&progress);
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
