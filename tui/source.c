#include "tui/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "wire/loop.h"

#define TICK_S       0.05
#define PASSED_MAX_S 1          /* when sgtop was stopped for longer, so was the replay */
#define READ_BYTES   (1u << 20) /* between two looks at the keys */
#define ANSWERS_MAX  4

struct source {
    const struct client_events *events;
    void *arg;
    struct event_base *base;
    /* the link's */
    const struct client_options *options;
    struct client *client;
    /* the replay's */
    struct replay *replay;
    struct playback *playback;
    struct event *tick, *deliver;
    json_t *answer[ANSWERS_MAX]; /* delivered from the event loop, as the client does */
    size_t n_answers;
    double ticked_s, play_s; /* real time; how far the trace should be */
    bool up;
};

/* ---- the controller ---- */

static struct source *source_new(struct event_base *base, const struct client_events *events, void *arg)
{
    struct source *s = xcalloc(1, sizeof(*s));

    s->base = base;
    s->events = events;
    s->arg = arg;
    return s;
}

struct source *source_link(struct event_base *base, const struct client_options *o,
                           const struct client_events *events, void *arg)
{
    struct source *s = source_new(base, events, arg);

    s->options = o;
    s->client = client_new(base, o, events, arg);
    return s;
}

/* ---- a trace ---- */

static void schedule(struct source *s, double after_s)
{
    struct timeval tv = loop_timeval(after_s);

    event_add(s->tick, &tv);
}

/* A trace cannot be read backwards: to go back it is read from its beginning. */
static void begin_seek(struct source *s)
{
    struct playback *p = s->playback;
    struct err err;

    s->play_s = p->seek_s;
    if (s->play_s >= replay_now_s(s->replay))
        return;
    p->ended = false;
    p->problem[0] = '\0';
    if (replay_rewind(s->replay, &err) < 0) {
        snprintf(p->problem, sizeof(p->problem), "%s", err.text);
        p->seek_s = NAN;
    }
}

/* Reads on as far as it should be by now; true: there is more to read at once. */
static bool play(struct source *s, double passed_s)
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
    struct source *s = arg;
    double t_s = now_s(), passed_s = fmin(t_s - s->ticked_s, PASSED_MAX_S);

    (void)fd;
    (void)what;
    s->ticked_s = t_s;
    schedule(s, play(s, passed_s) ? 0 : TICK_S);
    replay_position_get(s->replay, s->playback);
    if (!s->up) {
        s->up = true;
        s->events->state(NULL, true, NULL, s->arg);
    }
}

static void on_deliver(evutil_socket_t fd, short what, void *arg)
{
    struct source *s = arg;
    json_t *answer;

    (void)fd;
    (void)what;
    while (s->n_answers) {
        answer = s->answer[0];
        memmove(s->answer, s->answer + 1, --s->n_answers * sizeof(*s->answer));
        s->events->answer(NULL, answer, s->arg);
        json_decref(answer);
    }
}

struct source *source_replay(struct event_base *base, struct replay *r, struct playback *p,
                             const struct client_events *events, void *arg)
{
    struct source *s = source_new(base, events, arg);

    s->replay = r;
    s->playback = p;
    s->ticked_s = now_s();
    s->tick = event_new(base, -1, 0, on_tick, s);
    s->deliver = event_new(base, -1, 0, on_deliver, s);
    replay_position_get(r, p);
    source_hurry(s);
    return s;
}

/* ---- both ---- */

void source_free(struct source *s)
{
    if (!s)
        return;
    client_free(s->client);
    for (size_t i = 0; i < s->n_answers; i++)
        json_decref(s->answer[i]);
    if (s->tick)
        event_free(s->tick);
    if (s->deliver)
        event_free(s->deliver);
    free(s);
}

int source_ask(struct source *s, const json_t *question)
{
    if (s->client)
        return client_send(s->client, question);
    if (s->n_answers == ANSWERS_MAX)
        return -1;
    s->answer[s->n_answers++] = replay_answer(s->replay, question);
    event_active(s->deliver, EV_TIMEOUT, 0);
    return 0;
}

void source_restart(struct source *s)
{
    if (!s->client)
        return;
    client_free(s->client);
    s->client = client_new(s->base, s->options, s->events, s->arg);
}

void source_hurry(struct source *s)
{
    if (!s->replay)
        return;
    if (!isnan(s->playback->seek_s))
        begin_seek(s);
    schedule(s, 0);
}
