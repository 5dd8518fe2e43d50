/* ring.c - tests of ring/: one writer, one reader, what happens when either dies or lies. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/control_page.h"
#include "ring/hot.h"
#include "ring/launch.h"
#include "tests/tap.h"

static char dir[] = "/tmp/ring-test.XXXXXX";
static char path[128];

static struct ring *make(uint32_t rank, uint32_t thread, uint32_t capacity)
{
    struct ring_info info = { .rank = rank,
                              .thread = thread,
                              .task = 7,
                              .world_rank = rank,
                              .world_size = 4,
                              .program = "prog",
                              .library = "MPI 1",
                              .topology = "s0.n1" };
    struct ring *r = ring_create(dir, &info, capacity);

    snprintf(path, sizeof(path), "%s/%u.%u.%u.ring", dir, rank, info.incarnation, thread);
    return r;
}

/* An event whose fields all follow from i, so that a torn one shows. */
static struct ring_event event(uint64_t i)
{
    return (struct ring_event){ .enter = i,
                                .leave = i * 3,
                                .comm = ~i,
                                .bytes = i ^ 0x5555,
                                .seq = (uint32_t)i,
                                .root = -1,
                                .op = RING_OP_ALLREDUCE };
}

static bool intact(const struct ring_event *e, uint64_t i)
{
    return e->enter == i && e->leave == i * 3 && e->comm == ~i && e->bytes == (i ^ 0x5555) &&
           e->seq == (uint32_t)i && e->root == -1 && e->op == RING_OP_ALLREDUCE;
}

static void emit(struct ring *w, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct ring_event e = event(i);

        ring_emit(w, &e);
    }
}

/* A reader that may be killed before it has sent what it has drained. */
static void test_hold(void)
{
    struct ring *w = make(4, 0, 64), *r = ring_open(path, false);
    struct ring_event e[128];

    is_int((long long)ring_past(r, e, 128), 0, "a new ring has no past");
    ring_hold(r);
    emit(w, 0, 10);
    ring_drain(r, e, 128);
    ring_release(r);
    emit(w, 10, 15);
    is_int((long long)ring_drain(r, e, 128), 5, "a reader that holds events drains each event once");
    is_int((long long)ring_drain(r, e, 128), 0, "and not again");
    ring_close(r);
    r = ring_open(path, false);
    ok(ring_past(r, e, 4) == 4 && intact(&e[0], 6) && intact(&e[3], 9),
       "the past of the next reader is what was released, the newest of it");
    ok(ring_past(r, e, 128) == 10 && intact(&e[0], 0), "all of it if there is room");
    ok(ring_drain(r, e, 128) == 5 && intact(&e[0], 10), "the next reader drains what was not released");

    ring_hold(r);
    emit(w, 15, 30);
    ring_drain(r, e, 128);
    ring_close(r);
    r = ring_open(path, false);
    is_int((long long)ring_drain(r, e, 128), 15, "15 of 64 events are held");
    ring_hold(r);
    emit(w, 30, 70);
    is_int((long long)ring_drain(r, e, 128), 40, "a ring of 64 has room for 40 more");
    ring_close(r);
    r = ring_open(path, false);
    is_int((long long)ring_drain(r, e, 128), 0,
           "more than a quarter of a ring is released without being asked");
    ok(ring_past(r, e, 128) == 63 && intact(&e[0], 7) && intact(&e[62], 69),
       "the past ends where the writer has overwritten it");
    ring_close(r);
    ring_close(w);
}

static void test_basics(void)
{
    struct ring *w = make(3, 0, 64), *r, *peek, *second;
    struct ring_event e[128];
    struct ring_info info;
    struct ring_counts counts;
    struct ring_live live;

    ok(w != NULL, "ring_create() makes a ring");
    r = ring_open(path, false);
    peek = ring_open(path, true);
    ok(r && peek, "a ring opens for draining and for peeking");
    ring_info_get(r, &info);
    ok(info.rank == 3 && info.thread == 0 && info.incarnation == 0 && info.task == 7 &&
           info.pid == getpid() && info.world_size == 4 && info.capacity == 64 &&
           info.state == RING_STATE_RUNNING,
       "the reader sees the writer's rank, task and sizes");
    is_str(info.program, "prog", "the reader sees the writer's program");
    is_str(info.library, "MPI 1", "the reader sees the writer's MPI library");
    is_str(info.topology, "s0.n1", "the reader sees the writer's topology");
    is_int((long long)ring_drain(r, e, 128), 0, "a new ring drains no events");

    emit(w, 0, 10);
    is_int((long long)ring_drain(peek, e, 128), 10, "peeking returns ten events");
    is_int((long long)ring_drain(peek, e, 128), 0, "peeking returns each event once");
    is_int((long long)ring_drain(r, e, 4), 4, "draining returns at most as many events as there is room for");
    is_int((long long)ring_drain(r, e + 4, 124), 6, "draining again returns the other events");
    ok(intact(&e[0], 0) && intact(&e[9], 9), "events are drained in order and intact");
    is_int((long long)ring_last(peek, e, 3), 3,
           "ring_last() returns the newest events after they were drained");
    ok(intact(&e[0], 7) && intact(&e[2], 9), "ring_last() returns the oldest of them first");

    emit(w, 10, 20);
    ring_close(r);
    r = ring_open(path, false);
    is_int((long long)ring_drain(r, e, 128), 10,
           "a new reader drains the ten events after the old reader's last");
    ok(intact(&e[0], 10), "a new reader begins at the next event");

    emit(w, 20, 120);
    ring_counts_get(r, &counts);
    is_int((long long)counts.events, 83, "a full ring records as many events as it has places, but one");
    is_int((long long)counts.dropped, 37, "a full ring counts dropped events");
    is_int((long long)ring_last(peek, e, 128), 63, "ring_last() returns all events of a full ring");
    is_int((long long)ring_drain(r, e, 128), 63, "all events of a full ring can be drained");
    ok(intact(&e[0], 20) && intact(&e[62], 82), "a full ring keeps the oldest events");

    hot_enter(w, &(struct ring_event){
                     .root = -1, .comm = 11, .enter = 1000, .bytes = 8, .seq = 5, .op = RING_OP_BARRIER });
    ok(ring_live_get(r, &live) && live.op == RING_OP_BARRIER && live.comm == 11 && live.seq == 5 &&
           live.enter == 1000 && live.bytes == 8,
       "the live slot has the call in progress");
    ring_leave(w, 2000);
    hot_enter(w, &(struct ring_event){
                     .root = -1, .comm = 12, .enter = 3000, .seq = 9, .op = RING_OP_POINT_TO_POINT });
    ring_leave(w, 4000);
    ok(ring_live_get(r, &live) && live.op == RING_OP_NONE && live.comm == 11 && live.seq == 5 &&
           live.enter == 4000,
       "outside MPI the live slot has the last collective, not the last message");

    hot_p2p(w, 100, 7);
    hot_p2p(w, 50, 3);
    ring_missed(w);
    emit(w, 0, 2);
    ring_drain(r, e, 128);
    ok(e[0].p2p == 10 && e[0].p2p_calls == 2 && e[1].p2p == 0 && e[1].p2p_calls == 0,
       "time in point-to-point is added up until the next event");
    ring_counts_get(r, &counts);
    ok(counts.p2p_calls == 2 && counts.p2p_bytes == 150 && counts.p2p_ticks == 10 && counts.missed == 1,
       "the counts have all time in point-to-point");

    second = make(3, 0, 64);
    ring_close(second);
    is_int(access(path, F_OK), 0, "a second program of the same rank makes a ring of its own");
    ok(strstr(path, "/3.1.0.ring") != NULL, "a second program of the same rank has incarnation 1");

    ring_state_set(w, RING_STATE_FINALIZED);
    ring_info_get(r, &info);
    is_int(info.state, RING_STATE_FINALIZED, "the state after MPI_Finalize is finalized");
    ring_retire(r);
    is_int((long long)ring_drain(r, e, 128), 0, "a retired ring is readable and empty");
    ring_close(peek);
    ring_close(r);
    ring_close(w);
    ring_close(NULL);
}

/* A world that was spawned begins at a number that all its ranks know. */
static void test_incarnations(void)
{
    struct ring_info first = { .rank = 5, .incarnation = 2 }, next = first, guest = { .rank = 5 },
                     stranger = { .rank = 6 };
    struct ring *a = ring_create(dir, &first, 64), *b = ring_create(dir, &next, 64);

    ok(a && first.incarnation == 2, "a ring has the incarnation that was asked for");
    ok(b && next.incarnation == 3, "where that is taken, the next one");
    ok(launch_has_rings(dir, &guest) && guest.incarnation == 2,
       "another guest finds the ring, though the incarnations before are missing");
    ok(!launch_has_rings(dir, &stranger), "it finds none of a rank that has none");
    ring_close(a);
    ring_close(b);
}

/* The places of freed communicators are given to new ones, the one freed first first. */
static void test_comms(void)
{
    struct ring *w = make(5, 0, 64), *r = ring_open(path, false);
    struct ring_comm comm = {
        .membership = 7, .size = 4, .rank = 3, .first = 1, .last = 9, .instance = 2, .flags = 16
    };
    struct ring_comm got[RING_COMMS_MAX];
    struct ring_counts counts;
    uint64_t seen = 0;
    int place[RING_COMMS_MAX];

    for (uint32_t i = 0; i < RING_COMMS_MAX; i++) {
        comm.name = i + 1;
        place[i] = ring_comm_add(w, &comm);
    }
    is_int(ring_comm_add(w, &comm), -1, "no more communicators are described than have a place");
    is_int((long long)ring_comms_get(r, &seen, got), RING_COMMS_MAX, "a reader gets all that are described");
    ok(got[8].name == 9 && got[8].membership == 7 && got[8].size == 4 && got[8].rank == 3 &&
           got[8].first == 1 && got[8].last == 9 && got[8].instance == 2 && got[8].flags == 16 &&
           got[8].place == place[8] && !got[8].freed,
       "as they were written");
    is_int((long long)ring_comms_get(r, &seen, got), 0, "and each once");
    ring_comm_end(w, place[8]);
    ring_comm_end(w, -1);
    ok(ring_comms_get(r, &seen, got) == 1 && got[0].name == 9 && got[0].freed,
       "the reader learns which one was freed");
    ring_comm_end(w, place[3]);
    comm.name = 1000;
    is_int(ring_comm_add(w, &comm), place[8], "a new one gets the place that was freed first");
    comm.name = 1001;
    is_int(ring_comm_add(w, &comm), place[3], "and the next one the next");
    ok(ring_comms_get(r, &seen, got) == 2 && got[0].name == 1001 && got[1].name == 1000,
       "a reader gets the new ones");
    ring_counts_get(r, &counts);
    is_int((long long)counts.comms_missed, 1, "the one without a place is counted");
    for (int i = 0; i < 10; i++) {
        ring_comm_end(w, place[8]);
        ring_comm_add(w, &comm);
    }
    ring_counts_get(r, &counts);
    is_int((long long)counts.comms_missed, 10, "and each that lost its place before a reader came");
    seen = 0;
    is_int((long long)ring_comms_get(r, &seen, got), RING_COMMS_MAX,
           "a new reader gets every communicator that has a place");
    ring_close(r);
    ring_close(w);
}

static void test_refusals(void)
{
    struct ring_info info = { 0 };
    char name[160];

    ok(!ring_create("/nowhere/at/all", &info, 64) && errno == ENOENT,
       "ring_create() fails in a missing directory");
    ok(!ring_create(dir, &info, 100) && errno == EINVAL,
       "ring_create() refuses a capacity that is not a power of two");
    ok(!ring_open("/nowhere/at/all", false) && errno == ENOENT, "ring_open() fails for a missing file");
    ok(!ring_open("/dev/null", false) && errno == EPROTO, "ring_open() refuses a device");
    snprintf(name, sizeof(name), "%s/fifo", dir);
    mkfifo(name, 0600);
    ok(!ring_open(name, false) && errno == EPROTO, "ring_open() refuses a FIFO without blocking");
    unlink(name);
    snprintf(name, sizeof(name), "%s/link", dir);
    if (symlink(path, name) == 0)
        ok(!ring_open(name, false), "ring_open() refuses a symbolic link");
    unlink(name);
}

static void test_corrupt(void)
{
    static const struct {
        const char *what;
        size_t at;
        uint64_t value;
        size_t size;
    } cases[] = {
        { "magic", offsetof(struct ring_header, magic), 1, 8 },
        { "version", offsetof(struct ring_header, version), 99, 4 },
        { "capacity not a power of two", offsetof(struct ring_header, capacity), 65, 4 },
        { "capacity beyond the file", offsetof(struct ring_header, capacity), 128, 4 },
        { "capacity zero", offsetof(struct ring_header, capacity), 0, 4 },
        { "capacity absurd", offsetof(struct ring_header, capacity), 1u << 31, 4 },
        { "size", offsetof(struct ring_header, file_bytes), 12, 8 },
        { "events' offset", offsetof(struct ring_header, events_offset), UINT64_MAX - 64, 8 },
        { "communicators' offset", offsetof(struct ring_header, comms_offset), 8, 8 },
        { "clock", offsetof(struct ring_header, clock), 9, 4 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct ring *w = make(10 + (uint32_t)i, 0, 64);
        int fd = open(path, O_RDWR);

        ok(pwrite(fd, &cases[i].value, cases[i].size, (off_t)cases[i].at) > 0 && !ring_open(path, true) &&
               errno == EPROTO,
           "ring_open() refuses a wrong %s", cases[i].what);
        close(fd);
        ring_close(w);
    }
}

static void test_hostile(void)
{
    struct ring *w = make(30, 0, 64), *r = ring_open(path, false);
    struct ring_event e[256];
    struct ring_info info;
    struct ring_counts counts;
    struct ring_live live;
    struct ring_comm comms[RING_COMMS_MAX];
    uint64_t seen = 0;

    atomic_store(&w->file->head, UINT64_MAX / 2);
    ok(ring_drain(r, e, 256) <= 64, "with a head far ahead at most a ring's capacity is drained");
    atomic_store(&w->file->head, 5);
    ok(ring_drain(r, e, 256) <= 64, "with a head that went back at most a ring's capacity is drained");
    atomic_store(&w->file->tail, 1u << 30);
    ok(ring_last(r, e, 256) <= 64, "ring_last() returns at most a ring's capacity");
    emit(w, 0, 300);
    ok(ring_drain(r, e, 256) <= 64, "after a false reader's position at most a ring's capacity is drained");
    memset(w->comms, 2, RING_COMMS_MAX * sizeof(*w->comms));
    atomic_store(&w->file->comms, UINT64_MAX);
    ok(ring_comms_get(r, &seen, comms) == RING_COMMS_MAX && comms[511].place == 511,
       "with a false count of communicators at most the table is read");
    atomic_store(&w->file->head, UINT64_MAX);
    atomic_store(&w->file->entered, 1);
    ok(ring_live_get(r, &live), "with a head far ahead the live slot is read inside the ring");
    memset(w->file->program, 'x', sizeof(w->file->program));
    atomic_store(&w->file->state, 77);
    ring_info_get(r, &info);
    ok(strlen(info.program) == sizeof(info.program) - 1, "strings without an end are terminated");
    is_int(info.state, RING_STATE_RUNNING, "an unknown state counts as running");

    if (truncate(path, 4096) < 0)
        ok(false, "truncate");
    is_int((long long)ring_drain(r, e, 256), 0, "a truncated file drains no events");
    ring_counts_get(r, &counts);
    seen = 0;
    ok(ring_comms_get(r, &seen, comms) == 0 && !ring_live_get(r, &live) && ring_last(r, e, 4) == 0 &&
           counts.events == 0,
       "a truncated file is not accessed by other functions");
    ok(!ring_open(path, false) && errno == EPROTO, "ring_open() refuses a truncated file");
    if (truncate(path, 0) < 0)
        ok(false, "truncate");
    ring_release(r); /* it would raise SIGBUS */
    ring_close(r);
    ring_close(w);
}

/* ---- two processes ---- */

/* In the tests with two processes or threads, an event has the enter of the call before it, as that of a
 * nonblocking collective has the enter of an earlier call: a reader that is late must not take it for that
 * call in progress. */

#define STRESS_EVENTS 2000000u

static void stress_writer(void)
{
    struct ring *w = make(40, 0, 1024);

    for (uint64_t i = 0; i < STRESS_EVENTS; i++) {
        struct ring_event e = event(i);
        struct ring_event live = {
            .root = -1, .comm = i, .enter = i + 1, .bytes = i * 3, .seq = (uint32_t)i, .op = RING_OP_BCAST
        };

        hot_enter(w, &live);
        if (i % 512 == 0)
            sched_yield(); /* few cores: let the reader come */
        ring_emit(w, &e);
    }
    ring_state_set(w, RING_STATE_FINALIZED);
    _exit(0);
}

static void test_two_processes(void)
{
    struct ring *r = NULL;
    struct ring_event *e = calloc(1024, sizeof(*e));
    struct ring_info info = { 0 };
    struct ring_counts counts;
    uint64_t got = 0, last = 0, torn = 0, backwards = 0, live_bad = 0, live_seen = 0;
    pid_t pid = fork();

    if (pid == 0)
        stress_writer();
    snprintf(path, sizeof(path), "%s/40.0.0.ring", dir);
    while (!r)
        r = ring_open(path, false);
    do {
        struct ring_live live;
        size_t n;

        ring_info_get(r, &info);
        n = ring_drain(r, e, 1024);
        for (size_t i = 0; i < n; i++) {
            torn += !intact(&e[i], e[i].enter);
            backwards += got + i > 0 && e[i].enter <= last;
            last = e[i].enter;
        }
        got += n;
        if (ring_live_get(r, &live) && live.op == RING_OP_BCAST) {
            live_seen++;
            live_bad +=
                live.enter != live.comm + 1 || live.bytes != live.comm * 3 || live.seq != (uint32_t)live.comm;
        }
        if (n == 0)
            sched_yield();
        ring_counts_get(r, &counts);
    } while (info.state == RING_STATE_RUNNING || got < counts.events);
    waitpid(pid, NULL, 0);
    is_int((long long)torn, 0, "two processes: no event is torn");
    is_int((long long)backwards, 0, "two processes: no event is drained twice or out of order");
    is_int((long long)(got + counts.dropped), STRESS_EVENTS,
           "two processes: each event is drained or counted as dropped");
    is_int((long long)got, (long long)counts.events,
           "two processes: the writer counts as many events as were drained");
    is_int((long long)live_bad, 0, "two processes: the live slot is never torn");
    printf("# %llu taken, %llu dropped, live slot seen %llu times\n", (unsigned long long)got,
           (unsigned long long)counts.dropped, (unsigned long long)live_seen);
    ring_close(r);
    free(e);
}

static void test_killed(void)
{
    struct ring *r;
    struct ring_event e[64];
    struct ring_live live;
    int ready[2], status;
    char byte;
    pid_t pid;

    if (pipe(ready) < 0)
        exit(2);
    pid = fork();
    if (pid == 0) {
        struct ring *w = make(50, 0, 64);

        emit(w, 0, 5);
        hot_enter(
            w, &(struct ring_event){ .root = -1, .comm = 42, .enter = 9, .seq = 5, .op = RING_OP_ALLTOALL });
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    if (read(ready[0], &byte, 1) != 1)
        exit(2);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    snprintf(path, sizeof(path), "%s/50.0.0.ring", dir);
    r = ring_open(path, false);
    is_int((long long)ring_drain(r, e, 64), 5, "events survive SIGKILL of the writer");
    ok(intact(&e[4], 4), "events are intact after SIGKILL of the writer");
    ok(ring_live_get(r, &live) && live.op == RING_OP_ALLTOALL && live.comm == 42 && live.seq == 5,
       "the live slot has the call in progress at SIGKILL of the writer");
    ring_close(r);
    close(ready[0]);
    close(ready[1]);
}

/* ---- two threads on one mapping: for the thread sanitizer, which sees nothing between processes ---- */

static void *thread_writer(void *arg)
{
    struct ring *w = arg;

    for (uint64_t i = 0; i < 200000; i++) {
        struct ring_event e = event(i);

        hot_enter(
            w, &(struct ring_event){ .root = -1, .comm = i, .enter = i + 1, .bytes = i, .op = RING_OP_SCAN });
        if (i % 64 == 0)
            sched_yield();
        ring_emit(w, &e);
        hot_p2p(w, 1, 1);
        if (i % 16 == 0)
            ring_comm_end(w, ring_comm_add(w, &(struct ring_comm){ .name = i, .membership = i }));
    }
    ring_state_set(w, RING_STATE_FINALIZED);
    return NULL;
}

static void test_two_threads(void)
{
    struct ring *w = make(60, 0, 256);
    struct ring r = *w;
    struct ring_event e[256];
    struct ring_info info;
    struct ring_comm comms[RING_COMMS_MAX];
    struct ring_live live;
    struct ring_counts counts;
    uint64_t bad = 0, got = 0, seen = 0;
    pthread_t t;

    pthread_create(&t, NULL, thread_writer, w);
    do {
        size_t n;

        ring_info_get(&r, &info);
        n = ring_drain(&r, e, 256);
        for (size_t i = 0; i < n; i++)
            bad += !intact(&e[i], e[i].enter);
        got += n;
        if (ring_live_get(&r, &live) && live.op == RING_OP_SCAN)
            bad += live.enter != live.comm + 1 || live.bytes != live.comm;
        n = ring_comms_get(&r, &seen, comms);
        for (size_t i = 0; i < n; i++)
            bad += comms[i].name != comms[i].membership;
        ring_counts_get(&r, &counts);
    } while (info.state == RING_STATE_RUNNING || got < counts.events);
    pthread_join(t, NULL);
    is_int((long long)bad, 0, "two threads: no event and no communicator is torn");
    is_int((long long)(counts.events + counts.dropped), 200000,
           "two threads: each event is recorded or counted as dropped");
    ring_close(w);
}

static void test_messages(void)
{
    struct ring *w = make(4, 0, 64), *r = ring_open(path, false);
    struct ring_event e[64], send = {
        .enter = 5, .leave = 9, .comm = 11, .bytes = 100, .seq = 3, .root = 2, .tag = -7, .op = RING_OP_SEND
    };
    struct ring_counts counts;

    hot_p2p(w, 100, 4);
    ring_emit(w, &send);
    emit(w, 0, 1);
    is_int((long long)ring_drain(r, e, 64), 2, "a message and a collective are drained");
    ok(e[0].op == RING_OP_SEND && e[0].tag == -7 && e[0].root == 2 && e[0].seq == 3 && e[0].p2p == 0,
       "a message keeps partner, tag and number");
    ok(e[1].p2p == 4 && e[1].p2p_calls == 1,
       "the time in point-to-point goes to the collective after the message");
    for (int i = 0; i < 100; i++)
        ring_emit(w, &send);
    emit(w, 0, 20);
    ring_counts_get(r, &counts);
    ok(counts.messages_missed == 52 && counts.dropped == 5,
       "messages leave a quarter of the ring to collectives");
    is_int((long long)ring_drain(r, e, 64), 63, "a ring full of messages and collectives is drained");
    ring_close(r);
    ring_close(w);
}

/* ---- the live slot ---- */

static void is_outside(const struct ring *r, uint64_t since, uint64_t comm, uint32_t seq, const char *text)
{
    struct ring_live live = { .op = RING_OP_MAX };

    ring_live_get(r, &live);
    ok(live.op == RING_OP_NONE && live.enter == since && live.comm == comm && live.seq == seq &&
           live.bytes == 0,
       "%s (op %u since %llu: comm %llu seq %u)", text, live.op, (unsigned long long)live.enter,
       (unsigned long long)live.comm, live.seq);
}

static void collective(struct ring *w, uint64_t enter, uint64_t leave, uint32_t seq)
{
    struct ring_event e = { .enter = enter, .comm = 11, .bytes = 8, .seq = seq, .op = RING_OP_BCAST };

    hot_leave(w, hot_enter(w, &e), leave);
}

static void test_live(void)
{
    struct ring *w = make(5, 0, 64), *r = ring_open(path, false);
    struct ring_event e[64],
        call = { .enter = 100,
                 .comm = 11,
                 .bytes = 8,
                 .seq = 3,
                 .op = RING_OP_BCAST,
                 .flags = RING_EVENT_INTER },
        message = { .enter = 300, .leave = 310, .comm = 12, .seq = 77, .op = RING_OP_SEND },
        ended = { .enter = 400,
                  .wait = 500,
                  .leave = 600,
                  .comm = 11,
                  .seq = 1,
                  .op = RING_OP_BARRIER,
                  .flags = RING_EVENT_NONBLOCKING },
        waited = { .enter = 500,
                   .wait = 820,
                   .leave = 830,
                   .comm = 12,
                   .bytes = 64,
                   .seq = 9,
                   .root = 2,
                   .tag = 4,
                   .op = RING_OP_RECV,
                   .flags = RING_EVENT_NONBLOCKING };
    struct ring_event *at;
    struct ring_live live;

    is_outside(r, 0, 0, 0, "a rank that never made a call has no last collective");
    at = hot_enter(w, &call);
    ok(ring_live_get(r, &live) && live.op == RING_OP_BCAST && live.seq == 3 && live.enter == 100 &&
           live.bytes == 8,
       "a collective is in progress from its entry on");
    is_int((long long)ring_drain(r, e, 64), 0, "a collective in progress is not drained");
    hot_leave(w, at, 200);
    is_outside(r, 200, 11, 3, "the event of a collective ends it");
    ok(ring_drain(r, e, 64) == 1 && e[0].seq == 3 && e[0].leave == 200 && e[0].flags == RING_EVENT_INTER,
       "a collective is drained with the time of its end, and with its flags");
    hot_enter(w, &message);
    ok(ring_live_get(r, &live) && live.op == RING_OP_POINT_TO_POINT && live.enter == 300 && live.seq == 0,
       "a message in progress is shown as point-to-point");
    ring_emit(w, &message);
    is_outside(r, 310, 11, 3, "after a message the last collective is still known");
    hot_enter(w,
              &(struct ring_event){ .root = -1, .comm = 11, .enter = 400, .seq = 4, .op = RING_OP_BARRIER });
    ring_leave(w, 450);
    is_outside(r, 450, 11, 4, "a nonblocking collective counts as left once it is posted");
    ring_emit(w, &ended);
    is_outside(r, 450, 11, 4, "the completion of an older collective does not make it the last one");
    ring_emit(w, &message);
    collective(w, 700, 710, 5);
    is_outside(r, 710, 11, 5, "a collective after messages is the last one");
    ring_emit(w, &ended);
    hot_enter(w, &(struct ring_event){ .root = -1, .comm = 12, .enter = 800, .op = RING_OP_WAIT });
    ok(ring_live_get(r, &live) && live.op == RING_OP_WAIT && live.message == RING_OP_NONE,
       "another wait is shown without a message");
    ring_leave(w, 810);
    is_outside(r, 810, 11, 5, "a wait without events leaves the last collective as it is");
    at = hot_enter_message(w, 820, true, hot_message_new(&waited));
    ok(ring_live_get(r, &live) && live.op == RING_OP_WAIT && live.enter == 820 && !live.comm && !live.bytes &&
           !live.seq && live.message == RING_OP_RECV && live.peer == 2 && live.tag == 4,
       "a wait for one message is shown with the message's other end, and without what its event has already");
    ok(hot_is_shown(w, at, 820) && !hot_is_shown(w, at, 821),
       "a call in progress is shown at its place, and no other call is");
    hot_leave_wait(w, at, &waited, true, 64, 830);
    ok(!hot_is_shown(w, at, 820), "a call that ended is not shown");
    is_outside(r, 830, 11, 5, "the message that ends a wait leaves the last collective as it is");
    ok(ring_last(r, e, 1) == 1 && e[0].op == RING_OP_RECV && e[0].enter == 500 && e[0].wait == 820 &&
           e[0].leave == 830 && e[0].bytes == 64 && e[0].seq == 9 && e[0].tag == 4 && e[0].root == 2,
       "a message that was waited for has the times when it was posted, waited for and complete");

    for (uint32_t i = 0; i < 100; i++)
        collective(w, 1000 + 10 * i, 1005 + 10 * i, 100 + i);
    is_outside(r, 1995, 11, 199, "the collective that a full ring dropped is the last one");
    hot_enter(w,
              &(struct ring_event){ .root = -1, .comm = 11, .enter = 2000, .seq = 200, .op = RING_OP_SCAN });
    ok(ring_live_get(r, &live) && live.op == RING_OP_SCAN && live.seq == 200,
       "a full ring still shows the collective in progress");
    is_int((long long)ring_drain(r, e, 64), 63, "a full ring is drained while a collective is in progress");
    ok(ring_live_get(r, &live) && live.op == RING_OP_SCAN && live.seq == 200,
       "the collective in progress stays after the ring was drained");
    ring_close(r);
    ring_close(w);
}

static void test_tables(void)
{
    int same = 0;

    for (int op = 1; op < RING_OP_POINT_TO_POINT; op++)
        same += ring_op_from_name(ring_op_name((enum ring_op)op)) == (enum ring_op)op;
    is_int(same, RING_OP_POINT_TO_POINT - 1, "every collective is found by its name");
    is_int(ring_op_from_name("frobnicate"), RING_OP_NONE, "an unknown name is no operation");
    is_int(ring_op_from_name("send"), RING_OP_NONE, "a message is no collective");
    is_str(ring_op_name((enum ring_op)250), "unknown", "an unknown operation has the name 'unknown'");
    ok(ring_op_synchronises(RING_OP_ALLREDUCE) && !ring_op_synchronises(RING_OP_BCAST) &&
           !ring_op_synchronises(RING_OP_SCAN) && !ring_op_synchronises(RING_OP_MAX),
       "rooted and prefix operations do not synchronise");
    ok(ring_op_irregular(RING_OP_ALLTOALLV) && !ring_op_irregular(RING_OP_ALLTOALL),
       "v variants are irregular");
}

static void test_clock(void)
{
    struct ring *w = make(70, 0, 64);
    struct ring_clock_map m;
    struct ring_info info;
    struct timespec ts;
    uint64_t before, ns, after, slack;

    ring_clock_start(&m);
    while (!ring_clock_ready(&m))
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    ring_info_get(w, &info);
    clock_gettime(CLOCK_MONOTONIC, &ts);
    before = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    ns = ring_clock_ns(&m, info.clock, ring_now(w));
    clock_gettime(CLOCK_MONOTONIC, &ts);
    after = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    /* The calibration's own error, and what the kernel may slew its clock by since then (0.05 %). */
    slack = 100000 + (after - m.ns0) / 1000;
    ok(ns + slack >= before && ns <= after + slack, "ticks are converted to monotonic time");
    printf("# clock: %s, %.6f ns a tick\n", info.clock == RING_CLOCK_COUNTER ? "counter" : "monotonic",
           m.ns_per_tick);
    is_int((long long)ring_clock_ns(&m, RING_CLOCK_MONOTONIC, 12345), 12345,
           "monotonic ticks are nanoseconds");
    ok(ring_clock_ns(&m, RING_CLOCK_COUNTER, m.tick0 - (1ull << 62)) == 0, "absurd ticks stay in range");
    ring_close(w);
}

static void test_control(void)
{
    struct control_page *page;
    const struct control_page *seen, *early;
    char name[160];
    uint32_t generation;
    int fd;

    snprintf(name, sizeof(name), "%s/" CONTROL_PAGE_FILE, dir);
    ok(!control_page_open(dir), "control_page_open() fails before a page is made");
    ok(!control_page_open("/nonexistent") && errno == ENOENT,
       "control_page_open() fails in a missing directory");
    ok(control_page_follow("/nonexistent")->record,
       "control_page_follow() says to record where there is no page");
    early = control_page_follow(dir);
    ok(early && early->record == 1, "a rank that starts before the agent makes the control page");
    page = control_page_create(dir);
    page->pace.levers = 3;
    ok(early->pace.levers == 3, "the agent uses the control page that a rank made");
    page->pace.levers = 0;
    control_page_close(early);
    seen = control_page_follow(dir);
    ok(page && seen && seen->record == 1, "a new control page has recording on");
    generation = seen->generation;
    page->record = 0;
    is_int(seen->record, 0, "a rank sees a change of the control page");
    control_page_close(page);
    page = control_page_create(dir);
    ok(seen->record == 1 && seen->generation > generation,
       "a new agent uses the existing control page and turns recording on");
    control_page_close(page);
    control_page_close(seen);
    fd = open(name, O_RDWR | O_TRUNC);
    ok(!control_page_open(dir) && errno == EPROTO, "control_page_open() refuses an empty file");
    close(fd);
    page = control_page_create(dir);
    ok(page != NULL, "the agent replaces an empty file by a control page");
    control_page_close(page);
    control_page_close(NULL);
}

/* A user's `ulimit -f`: the kernel ends a program that goes beyond it. */
static void test_file_limit(void)
{
    struct rlimit limit, small = { .rlim_cur = 65536 };
    struct ring *r;

    getrlimit(RLIMIT_FSIZE, &limit);
    small.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    r = make(90, 0, RING_CAPACITY_MAIN);
    setrlimit(RLIMIT_FSIZE, &limit);
    ok(!r && errno == EFBIG, "a ring beyond the limit of file sizes is not made, and the program goes on");
    ring_close(r);
}

int main(void)
{
    char command[64];

    if (!mkdtemp(dir))
        return skip_all("no temporary directory");
    test_basics();
    test_incarnations();
    test_comms();
    test_hold();
    test_refusals();
    test_corrupt();
    test_hostile();
    test_two_processes();
    test_killed();
    test_two_threads();
    test_messages();
    test_live();
    test_tables();
    test_clock();
    test_control();
    test_file_limit();
    snprintf(command, sizeof(command), "rm -r %s", dir);
    if (system(command) != 0)
        return 2;
    return done_testing();
}
