/* replay.h - a recorded trace, reported as a controller reports a live job: the same reader, the same view,
 * the same reports (trace/reader.h, report/report_view.h), at the moment up to which it was read.
 *
 * No clock in here: how far to read is the caller's. Going back reads the file again from its beginning. */
#ifndef SYNCGUARD_TUI_REPLAY_H
#define SYNCGUARD_TUI_REPLAY_H

#include <stddef.h>

#include "common/config.h"
#include "common/err.h"
#include "report/report_view.h"
#include "tui/playback.h"
#include "tui/ui.h"

struct replay;

/* "-" is standard input. Reads the header.  NULL with the reason: no such file, no trace. */
struct replay *replay_open(const char *path, const struct config_policy *policy, struct err *err);
void replay_close(struct replay *r); /* NULL is fine */

enum replay_read {
    REPLAY_REACHED, /* the trace's clock is at to_s or beyond */
    REPLAY_MORE,    /* max_bytes were read, and it is not */
    REPLAY_ENDED,   /* the trace has ended before */
    REPLAY_FAILED,  /* err names the line; the lines before it count */
};
/* Read on until to_s (INFINITY: the end). */
enum replay_read replay_read(struct replay *r, double to_s, size_t max_bytes, struct err *err);
/* To the beginning.  -1 where the file cannot be read again (a pipe). */
int replay_rewind(struct replay *r, struct err *err);

double replay_now_s(const struct replay *r);
void replay_position_get(const struct replay *r, struct playback *p); /* at_s, end_s, share, step_s */
const char *replay_job(const struct replay *r);                       /* its id, as the reports have it */

/* The job as a controller reports it; report_free().  Its picture is lent until more is read. */
struct report *replay_report(struct replay *r, const struct report_selection *selection);
/* Bring the screen that is shown up to date with the trace. */
void replay_show(struct replay *r, struct ui *ui);

#endif
