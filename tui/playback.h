/* playback.h - how a trace is played: what the keys asked for, and the position. No clock, no file: the
 * caller passes the time. */
#ifndef SYNCGUARD_TUI_PLAYBACK_H
#define SYNCGUARD_TUI_PLAYBACK_H

#include <stdbool.h>
#include <stddef.h>

#define PLAYBACK_SPEED_MIN 0.25
#define PLAYBACK_SPEED_MAX 1000.0 /* above: as fast as it can be read, INFINITY */
#define PLAYBACK_SEEK_S    10.0   /* what an arrow moves by */

struct playback {
    bool on; /* a recording is shown; nothing else counts without it */
    bool paused;
    double speed;
    double seek_s; /* where to go; NaN: nowhere, INFINITY: to the end */
    /* the position */
    bool ended;
    double at_s, end_s,
        step_s;        /* end_s NaN: the end has not been seen yet; step_s: the job's mean step, or NaN */
    double share;      /* of the file; NaN of a pipe */
    char problem[512]; /* why it goes no further; "" */
};

void playback_init(struct playback *p);
void playback_pause(struct playback *p); /* or go on; at the end: from the beginning */
void playback_faster(struct playback *p,
                     int by); /* +1, -1: the next of 0.25, 0.5, 1, 2, 5, 10, ... 1000, all */
void playback_seek(struct playback *p, double by_s); /* from the position that was asked for last */
/* By the job's steps, a tenth of a second when they are unknown; pauses. */
void playback_seek_step(struct playback *p, int by);
/* "0.25", "10", "max"; -1 when it is none of these or out of bounds. */
int playback_speed_parse(const char *text, double *speed);

/* "replay ×10  1m05s of 3m20s", "paused ×1  12.3 s (33 % of the file)". Returns buf. */
char *playback_text(const struct playback *p, char *buf, size_t size);

#endif
