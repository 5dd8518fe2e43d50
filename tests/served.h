/* served.h - simulated jobs of workers that read from servers and write to them, as their calls.
 *
 * Ranks 0 to servers - 1 serve, the others work: each writes to all servers, waits for their answers, works
 * and writes again.  A server takes what comes first, applies it and answers: at once, or when no worker is
 * more than `bound` updates behind. */
#ifndef SYNCGUARD_TESTS_SERVED_H
#define SYNCGUARD_TESTS_SERVED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ring/call.h"
#include "tests/random.h"

#define SERVED_WORKERS 64u
#define SERVED_SERVERS 8u
#define SERVED_STALE   64u
#define SERVED_FREE    UINT32_MAX /* bound: nobody waits */

typedef void served_call(const struct call *c, void *arg);

struct served {
    uint32_t workers, servers;
    double work_s, service_s, latency_s, cv;
    double slower[SERVED_WORKERS], slow_server[SERVED_SERVERS]; /* factors; 0: 1 */
    uint32_t bound;                                             /* 0: all wait for all */
    bool in_turns;        /* servers take the workers in their order, and wait for each */
    const uint8_t *order; /* the same in this order, of order_n, again and again; NULL: not so */
    uint32_t order_n;
    bool polls;  /* servers receive only what is there */
    bool asks;   /* a worker asks with a small message for what it reads */
    bool varies; /* no two updates have the same size */
    uint32_t read_bytes, write_bytes;
    uint32_t meet_every; /* iterations after which a worker takes part in a collective; 0: never */
    served_call *call;
    void *arg;
    /* as it goes on */
    double next_s[SERVED_WORKERS], left_s[SERVED_WORKERS], free_s[SERVED_SERVERS];
    double answer_s[SERVED_SERVERS][SERVED_WORKERS];
    bool waits[SERVED_WORKERS], pending[SERVED_SERVERS][SERVED_WORKERS];
    uint32_t done[SERVED_WORKERS], written[SERVED_SERVERS][SERVED_WORKERS];
    uint64_t all[SERVED_SERVERS], at_read[SERVED_SERVERS][SERVED_WORKERS];
    /* what it was: of the newest updates of each worker, at the first server */
    uint32_t stale[SERVED_WORKERS][SERVED_STALE], n_stale[SERVED_WORKERS], stale_max;
    uint64_t updates; /* of all workers */
    double now_s;
};

#define SERVED_CALL_S 2e-6

static inline void served_begin(struct served *s)
{
    for (uint32_t w = 0; w < s->workers; w++) {
        s->left_s[w] = 1;
        s->next_s[w] = 1 + s->work_s * (0.5 + uniform());
    }
    for (uint32_t i = 0; i < s->servers; i++)
        s->free_s[i] = 1;
}

static inline double served_noise(const struct served *s)
{
    return exp(s->cv * gauss() - s->cv * s->cv / 2);
}

static inline void served_give(struct served *s, uint8_t op, uint32_t rank, uint32_t peer, uint32_t bytes,
                               uint32_t seq, double enter_s, double leave_s)
{
    s->now_s = leave_s > s->now_s ? leave_s : s->now_s;
    s->call(&(struct call){ .comm = 1,
                            .op = op,
                            .rank = rank,
                            .peer = peer,
                            .bytes = bytes,
                            .seq = seq,
                            .enter_ns = (uint64_t)(enter_s * 1e9),
                            .leave_ns = (uint64_t)(leave_s * 1e9) },
            s->arg);
}

/* The server's answers that nobody has to wait for any more. */
static inline void served_answer(struct served *s, uint32_t at)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t w = 0; w < s->workers; w++)
        least = s->written[at][w] < least ? s->written[at][w] : least;
    for (uint32_t w = 0; w < s->workers; w++) {
        double begin_s = s->free_s[at];

        if (!s->pending[at][w] || (s->bound != SERVED_FREE && s->written[at][w] - least > s->bound))
            continue;
        s->pending[at][w] = false;
        s->free_s[at] += SERVED_CALL_S;
        served_give(s, RING_OP_SEND, at, s->servers + w, s->read_bytes, s->written[at][w] - 1, begin_s,
                    s->free_s[at]);
        s->answer_s[at][w] = s->free_s[at] + s->latency_s;
        s->at_read[at][w] = s->all[at] - s->written[at][w];
    }
}

static inline void served_write(struct served *s, uint32_t w, uint32_t at, double sent_s, uint32_t bytes)
{
    uint64_t stale = s->all[at] - s->written[at][w] - s->at_read[at][w];
    double enter_s = s->free_s[at], leave_s = fmax(enter_s, sent_s + s->latency_s) + SERVED_CALL_S;

    if (s->polls)
        enter_s = leave_s - SERVED_CALL_S;
    if (!at && s->written[at][w]) {
        s->stale[w][s->n_stale[w]++ % SERVED_STALE] = (uint32_t)stale;
        s->stale_max = stale > s->stale_max ? (uint32_t)stale : s->stale_max;
    }
    served_give(s, RING_OP_RECV, at, s->servers + w, bytes, s->written[at][w], enter_s, leave_s);
    if (s->asks)
        served_give(s, RING_OP_RECV, at, s->servers + w, 16, s->written[at][w], leave_s, leave_s + 1e-7);
    s->written[at][w]++;
    s->all[at]++;
    s->pending[at][w] = true;
    s->free_s[at] =
        leave_s + s->service_s * (s->slow_server[at] > 0 ? s->slow_server[at] : 1) * (1 + 0.05 * gauss());
}

/* It has all answers: it takes them and works. */
static inline void served_go_on(struct served *s, uint32_t w)
{
    for (uint32_t at = 0; at < s->servers; at++)
        if (s->pending[at][w])
            return;
    s->waits[w] = false;
    for (uint32_t at = 0; at < s->servers; at++) {
        double enter_s = s->left_s[w];

        s->left_s[w] = fmax(enter_s, s->answer_s[at][w]) + SERVED_CALL_S;
        served_give(s, RING_OP_RECV, s->servers + w, at, s->read_bytes, s->done[w] - 1, enter_s,
                    s->left_s[w]);
    }
    if (s->meet_every && s->done[w] % s->meet_every == 0)
        s->call(&(struct call){ .comm = 2,
                                .op = RING_OP_ALLREDUCE,
                                .rank = s->servers + w,
                                .seq = s->done[w] / s->meet_every - 1,
                                .bytes = 8,
                                .enter_ns = (uint64_t)(s->left_s[w] * 1e9),
                                .leave_ns = (uint64_t)((s->left_s[w] + 1e-6) * 1e9) },
                s->arg);
    s->next_s[w] = s->left_s[w] + s->work_s * (s->slower[w] > 0 ? s->slower[w] : 1) * served_noise(s);
}

/* One more update of the worker that comes next. */
static inline void served_step(struct served *s)
{
    uint32_t w = 0, bytes = s->write_bytes;
    double at_s;

    if (s->order)
        w = s->order[s->updates % s->order_n];
    else if (s->in_turns)
        w = (uint32_t)(s->updates % s->workers);
    else
        for (uint32_t i = 0; i < s->workers; i++)
            if (!s->waits[i] && (s->waits[w] || s->next_s[i] < s->next_s[w]))
                w = i;
    at_s = s->next_s[w];
    s->updates++;
    s->waits[w] = true;
    s->done[w]++;
    if (s->varies)
        bytes += (uint32_t)(s->updates % 4099) * 8;
    for (uint32_t at = 0; at < s->servers; at++, at_s += SERVED_CALL_S) {
        served_give(s, RING_OP_SEND, s->servers + w, at, bytes, s->done[w] - 1, at_s, at_s + SERVED_CALL_S);
        s->left_s[w] = at_s + SERVED_CALL_S;
        served_write(s, w, at, at_s, bytes);
        served_answer(s, at);
    }
    for (uint32_t i = 0; i < s->workers; i++)
        if (s->waits[i])
            served_go_on(s, i);
}

#endif
