/* writers.c - PROGRAM DIR RANKS HZ SECONDS: ranks that call collectives at a steady rate, to measure the
 * agent. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ring/ring.h"

static void emit(struct ring *r, uint32_t seq)
{
    uint64_t now = ring_now(r);
    struct ring_event e = {
        .enter = now > 200000 ? now - 200000 : 0, .leave = now, .comm = 1, .bytes = seq % 10 ? 1 << 20 : 8
    };

    e.seq = seq;
    e.root = -1;
    e.op = seq % 10 ? RING_OP_ALLREDUCE : RING_OP_BARRIER;
    ring_emit(r, &e);
}

int main(int argc, char **argv)
{
    uint32_t ranks = argc > 2 ? (uint32_t)atoi(argv[2]) : 8, hz = argc > 3 ? (uint32_t)atoi(argv[3]) : 1000;
    double seconds = argc > 4 ? atof(argv[4]) : 10;
    struct ring **rings = calloc(ranks, sizeof(struct ring *));
    uint32_t burst = hz / 100, seq = 0;

    for (uint32_t i = 0; i < ranks; i++) {
        struct ring_info info = { .rank = i, .task = i, .world_rank = i, .world_size = ranks };
        struct ring_comm world = { .name = 1, .membership = 1, .size = ranks, .rank = i, .last = ranks - 1 };

        rings[i] = argc > 1 ? ring_create(argv[1], &info, RING_CAPACITY_MAIN) : NULL;
        if (!rings[i]) {
            fprintf(stderr, "usage: %s DIR [RANKS [HZ [SECONDS]]]\n", argv[0]);
            return 1;
        }
        ring_comm_add(rings[i], &world);
    }
    for (int tick = 0; tick < seconds * 100; tick++, seq += burst) {
        for (uint32_t i = 0; i < ranks; i++)
            for (uint32_t k = 0; k < burst; k++)
                emit(rings[i], seq + k);
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    for (uint32_t i = 0; i < ranks; i++)
        ring_state_set(rings[i], RING_STATE_FINALIZED);
    return 0;
}
