#include "tui/playback.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"

#define STEP_UNKNOWN_S 0.1

static const double speeds[] = { PLAYBACK_SPEED_MIN, 0.5,     1, 2, 5, 10, 20, 50, 100, 200, 500,
                                 PLAYBACK_SPEED_MAX, INFINITY };

void playback_init(struct playback *p)
{
    memset(p, 0, sizeof(*p));
    p->speed = 1;
    p->seek_s = p->end_s = p->share = p->step_s = NAN;
}

void playback_pause(struct playback *p)
{
    if (p->ended && isnan(p->seek_s)) {
        p->seek_s = 0;
        p->paused = false;
        return;
    }
    p->paused = !p->paused;
}

void playback_faster(struct playback *p, int by)
{
    size_t n = ARRAY_SIZE(speeds), i = 0;

    if (by > 0) {
        while (i + 1 < n && speeds[i] <= p->speed)
            i++;
    } else {
        i = n - 1;
        while (i > 0 && speeds[i] >= p->speed)
            i--;
    }
    p->speed = speeds[i];
}

void playback_seek(struct playback *p, double by_s)
{
    double from_s = isnan(p->seek_s) ? p->at_s : p->seek_s, to_s = fmax(0, from_s + by_s);

    p->seek_s = to_s > p->end_s ? INFINITY : to_s;
}

void playback_seek_step(struct playback *p, int by)
{
    p->paused = true;
    playback_seek(p, by * (p->step_s > 0 ? p->step_s : STEP_UNKNOWN_S));
}

int playback_speed_parse(const char *text, double *speed)
{
    char *end;
    double x;

    if (!strcmp(text, "max")) {
        *speed = INFINITY;
        return 0;
    }
    x = strtod(text, &end);
    if (end == text || *end || !(x >= PLAYBACK_SPEED_MIN) || x > PLAYBACK_SPEED_MAX)
        return -1;
    *speed = x;
    return 0;
}

char *playback_text(const struct playback *p, char *buf, size_t size)
{
    char speed[16] = "max", where[64] = "";

    if (!isinf(p->speed))
        snprintf(speed, sizeof(speed), "×%.4g", p->speed);
    if (!isnan(p->end_s))
        snprintf(where, sizeof(where), " of %s", text_s(p->end_s).s);
    else if (!isnan(p->share))
        snprintf(where, sizeof(where), " (%.0f %% of the file)", p->share * 100);
    snprintf(buf, size, "%s %s  %s%s",
             !isnan(p->seek_s) ? "seeking"
             : p->problem[0]   ? "broken"
             : p->ended        ? "end"
             : p->paused       ? "paused"
                               : "replay",
             speed, text_s(p->at_s).s, where);
    return buf;
}
