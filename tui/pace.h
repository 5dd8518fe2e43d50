/* pace.h - how a recording is played: what the keys want, and how far it is. No clock, no file: the caller
 * says how time passes, tests drive it as the main loop does. */
#ifndef SYNCGUARD_TUI_PACE_H
#define SYNCGUARD_TUI_PACE_H

#include <stdbool.h>
#include <stddef.h>

#define PACE_SPEED_MIN 0.25
#define PACE_SPEED_MAX 1000.0 /* above: as fast as it can be read, INFINITY */
#define PACE_SEEK_S    10.0   /* what an arrow moves by */

struct pace {
    bool on; /* a recording is shown; nothing else counts without it */
    bool paused;
    double speed;
    double seek_s; /* where to go; NaN: nowhere, INFINITY: to the end */
    /* how far it is */
    bool ended;
    double at_s, end_s, share, step_s; /* end_s NaN: not known yet; share of the file, NaN: not known */
    char problem[512];                 /* why it goes no further; "" */
};

void pace_init(struct pace *p);
void pace_pause(struct pace *p);             /* or go on; at the end: from the beginning */
void pace_faster(struct pace *p, int by);    /* +1, -1: the next of 0.25, 0.5, 1, 2, 5, 10, ... 1000, all */
void pace_seek(struct pace *p, double by_s); /* from where the last wish would have led */
/* By the job's steps, a tenth of a second when they are unknown; pauses. */
void pace_seek_step(struct pace *p, int by);
void pace_seek_to(struct pace *p, double to_s);
/* "0.25", "10", "max"; -1 when it is none of these or out of bounds. */
int pace_speed_parse(const char *text, double *speed);

/* "replay ×10  1m05s of 3m20s", "paused ×1  12.3 s (33 % of the file)". Returns buf. */
char *pace_text(const struct pace *p, char *buf, size_t size);

#endif
