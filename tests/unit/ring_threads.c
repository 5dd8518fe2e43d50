/* Writer and reader of one ring at the same time, in one process: for the thread sanitizer above all. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sched.h>
#include <unistd.h>

#include "ring/hot.h"
#include "tests/tap.h"

#define EVENTS 300000u

static struct ring *writer_end;
static atomic_bool done;

static void *write_events(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint64_t now = ring_now(writer_end);
        struct ring_event e = { .enter = now,
                                .leave = now + 1,
                                .comm = i,
                                .bytes = i,
                                .seq = i,
                                .root = -1,
                                .op = RING_OP_ALLREDUCE };

        hot_enter(writer_end, &e);
        ring_emit(writer_end, &e);
        ring_leave(writer_end, now + 1);
        if (i % 1000 == 0)
            ring_comm_add(writer_end, &(struct ring_comm){ .name = i, .size = 2, .last = 1 });
        if (i % 256 == 0)
            sched_yield();
    }
    atomic_store(&done, true);
    return NULL;
}

static struct {
    uint64_t drained, out_of_order, torn_events, torn_live, looks;
    int64_t last_seq;
} seen = { .last_seq = -1 };

static void look(struct ring *r)
{
    struct ring_event e[512];
    struct ring_live live;
    size_t n = ring_drain(r, e, ARRAY_SIZE(e));

    for (size_t i = 0; i < n; i++) {
        seen.out_of_order += (int64_t)e[i].seq <= seen.last_seq;
        seen.torn_events += e[i].bytes != e[i].seq || e[i].comm != e[i].seq || e[i].leave != e[i].enter + 1;
        seen.last_seq = e[i].seq;
    }
    seen.drained += n;
    if (!ring_live_get(r, &live))
        return;
    seen.looks++;
    seen.torn_live += live.op == RING_OP_ALLREDUCE && live.comm != live.seq;
}

int main(void)
{
    char dir[] = "/tmp/syncguard-ring-XXXXXX", path[128];
    struct ring_info info = { .world_size = 1, .task = UINT32_MAX };
    struct ring_counts counts;
    struct ring *r;
    pthread_t writer;

    if (!mkdtemp(dir))
        return skip_all("no temporary folder");
    writer_end = ring_create(dir, &info, 4096);
    snprintf(path, sizeof(path), "%s/%u.%u.%u.ring", dir, info.rank, info.incarnation, info.thread);
    r = ring_open(path, false);
    ok(writer_end && r, "a ring opens for a writer and a reader in one process");
    pthread_create(&writer, NULL, write_events, NULL);
    while (!atomic_load(&done))
        look(r);
    pthread_join(writer, NULL);
    for (uint64_t before = seen.drained + 1; before != seen.drained;) {
        before = seen.drained;
        look(r);
    }
    ring_counts_get(r, &counts);
    is_int((long long)(seen.drained + counts.dropped), EVENTS, "every event was read or counted as dropped");
    is_int((long long)seen.out_of_order, 0, "events are read in order");
    is_int((long long)seen.torn_events, 0, "no event is torn");
    ok(seen.looks && !seen.torn_live, "the live slot was not torn\nin %llu reads",
       (unsigned long long)seen.looks);
    ring_close(r);
    ring_close(writer_end);
    unlink(path);
    rmdir(dir);
    return done_testing();
}
