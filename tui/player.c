#include "tui/player.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "wire/loop.h"

#define TICK_S       0.05
#define PASSED_MAX_S 1          /* when sgtop was stopped for longer, so was the replay */
#define READ_BYTES   (1u << 20) /* between two looks at the keys */

struct player {
    struct replay *replay;
    struct playback *playback;
    void (*ready)(void *arg); /* NULL: it was called */
    void *arg;
    struct event *tick;
    double ticked_s, play_s; /* real time; how far the trace should be */
};

static void schedule(struct player *s, double after_s)
{
    struct timeval tv = loop_timeval(after_s);

    event_add(s->tick, &tv);
}

/* Reads on as far as it should be by now; true: there is more to read at once. */
static bool read_on(struct player *s, double passed_s)
{
    struct playback *p = s->playback;
    bool seeking = !isnan(p->seek_s);
    enum replay_read rc;
    struct err err;

    if (p->problem[0] || (p->paused && !seeking))
        return false;
    if (!seeking)
        s->play_s = isinf(p->speed) ? INFINITY : s->play_s + passed_s * p->speed;
    rc = replay_read(s->replay, s->play_s, READ_BYTES, &err);
    if (rc == REPLAY_FAILED)
        snprintf(p->problem, sizeof(p->problem), "%s", err.text);
    p->ended = rc == REPLAY_ENDED;
    if (rc == REPLAY_MORE) {
        if (!seeking) /* reading is slower than the speed asked for: the delay is not made up */
            s->play_s = replay_now_s(s->replay);
        return true;
    }
    if (seeking || rc != REPLAY_REACHED)
        s->play_s = replay_now_s(s->replay);
    p->seek_s = NAN;
    return false;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct player *s = arg;
    double t_s = now_s(), passed_s = fmin(t_s - s->ticked_s, PASSED_MAX_S);

    (void)fd;
    (void)what;
    s->ticked_s = t_s;
    schedule(s, read_on(s, passed_s) ? 0 : TICK_S);
    replay_position_get(s->replay, s->playback);
    if (s->ready)
        s->ready(s->arg);
    s->ready = NULL;
}

struct player *player_new(struct event_base *base, struct replay *r, struct playback *p,
                          void (*ready)(void *arg), void *arg)
{
    struct player *s = xcalloc(1, sizeof(*s));

    *s = (struct player){ .replay = r, .playback = p, .ready = ready, .arg = arg, .ticked_s = now_s() };
    s->tick = event_new(base, -1, 0, on_tick, s);
    replay_position_get(r, p);
    player_hurry(s);
    return s;
}

void player_free(struct player *s)
{
    if (!s)
        return;
    event_free(s->tick);
    free(s);
}

void player_hurry(struct player *s)
{
    struct playback *p = s->playback;
    struct err err;

    if (!isnan(p->seek_s))
        s->play_s = p->seek_s;
    /* A trace cannot be read backwards: to go back it is read from its beginning. */
    if (p->seek_s < replay_now_s(s->replay)) {
        p->ended = false;
        p->problem[0] = '\0';
        if (replay_rewind(s->replay, &err) < 0) {
            snprintf(p->problem, sizeof(p->problem), "%s", err.text);
            p->seek_s = NAN;
        }
    }
    schedule(s, 0);
}
