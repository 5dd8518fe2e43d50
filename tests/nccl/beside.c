/* beside.c - operations that the GPU is in at the same time, as the messages of a group: how the plugin
 * writes them, and which of them it shows while they last. */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/ranks.h"
#include "ring/ring.h"
#include "tests/nccl/played.h"
#include "tests/tap.h"

static const struct played_function all_reduce = { "AllReduce", 4 }, send_to = { "Send", 6 },
                                    receive = { "Recv", 7 };
static char dir[64];
static struct played p;
static struct played_comm line = { .hash = 0xa, .ranks = 2, .rank = 0 },
                          replicas = { .hash = 0xb, .ranks = 2, .rank = 1 };
static struct ring *ring;

static void bail_out(const char *why)
{
    printf("Bail out! %s: %s\n", why, strerror(errno));
    exit(1);
}

/* This process is a rank itself. */
static void start(void)
{
    const char *top = getenv("top_builddir");
    char path[4096];

    snprintf(dir, sizeof(dir), "/dev/shm/syncguard-test-XXXXXX");
    if (!mkdtemp(dir))
        bail_out("cannot create a folder in /dev/shm");
    setenv(RING_ENV_DIR, dir, 1);
    setenv("RANK", "2", 1);
    setenv("WORLD_SIZE", "4", 1);
    setenv("SYNCGUARD_NCCL_EVENTS", "device", 1);
    snprintf(path, sizeof(path), "%s/.libs/libsyncguard_nccl.so", top ? top : ".");
    if (!played_load(&p, path, 6) || played_init(&p, &line) || played_init(&p, &replicas))
        bail_out("cannot load the plugin");
    snprintf(path, sizeof(path), "%s/2.0.0.ring", dir);
    ring = ring_open(path, false);
    if (!ring)
        bail_out("there is no ring");
}

struct operation {
    void *handle, *part;
};

static struct operation enqueue(struct played_comm *c, const struct played_function *f)
{
    struct operation o = { .part = NULL };

    o.handle = played_enqueue(&p, c, f == &all_reduce ? NCCL_EVENT_COLL : NCCL_EVENT_P2P, f, 10, 1, 1);
    p.stop(o.handle);
    return o;
}

static void begin(struct played_comm *c, struct operation *o)
{
    o->part = played_start(&p, c, NCCL_EVENT_KERNEL, o->handle, &(union played_event){ .room = { 0 } });
}

static struct ring_live shown(void)
{
    struct ring_live live = { .op = RING_OP_MAX };

    ring_live_get(ring, &live);
    return live;
}

static struct ring_event events[16];

static size_t written(void)
{
    return ring_drain(ring, events, ARRAY_SIZE(events));
}

static void one_message(void)
{
    struct operation o = enqueue(&line, &receive);
    struct ring_live live;

    ok(shown().op == RING_OP_NONE, "a rank that has enqueued a message is in none before its GPU is");
    begin(&line, &o);
    live = shown();
    ok(live.op == RING_OP_POINT_TO_POINT && live.message == RING_OP_RECV && live.peer == 1 &&
           live.comm == 0xa && (live.flags & RING_EVENT_MEMBER),
       "while its GPU is in the message it is, with the other's place in the communicator");
    is_int((long long)written(), 0, "nothing is written of it yet");
    p.stop(o.part);
    ok(shown().op == RING_OP_NONE, "then it is in none");
    ok(written() == 1 && events[0].op == RING_OP_RECV && events[0].flags == RING_EVENT_MEMBER &&
           events[0].root == 1 && events[0].seq == 0 && events[0].bytes == 40,
       "a message by itself is written as one that holds its rank, with its number and the other's place");
}

/* They are enqueued in one order; the first or the second of them ends first. */
static void group(bool second_first)
{
    struct operation sent = enqueue(&line, &send_to), received = enqueue(&line, &receive);
    struct operation *first = second_first ? &received : &sent, *other = second_first ? &sent : &received;
    const char *which = second_first ? "second" : "first";
    struct ring_live live;
    size_t n;

    begin(&line, &received);
    begin(&line, &sent);
    live = shown();
    ok(live.op == RING_OP_POINT_TO_POINT && live.message == RING_OP_NONE,
       "in two messages at once, the %s of which ends first: with whom is not said", which);
    p.stop(first->part);
    live = shown();
    ok(live.op == RING_OP_POINT_TO_POINT && live.message == (second_first ? RING_OP_SEND : RING_OP_RECV),
       "the %s of two has ended: it is in the other one alone, and that is said", which);
    is_int((long long)written(), 0, "the %s of two has ended: it is not written before the other", which);
    p.stop(other->part);
    ok(shown().op == RING_OP_NONE, "both have ended, the %s of them first: it is in none", which);
    n = written();
    ok(n == 2 && events[0].op == RING_OP_SEND && events[1].op == RING_OP_RECV,
       "the %s of two ended first: they are written in the order in which they were enqueued", which);
    ok(!(events[0].flags & RING_EVENT_NONBLOCKING) && (events[1].flags & RING_EVENT_NONBLOCKING) &&
           events[1].wait == events[0].leave && events[1].leave > events[0].leave &&
           events[1].enter < events[0].enter,
       "the %s of two ended first: the later one is begun beside the other and waited for behind it", which);
}

/* A collective of another communicator lasts while a message comes and goes, as on another stream. */
static void two_streams(void)
{
    struct operation sum = enqueue(&replicas, &all_reduce), message = enqueue(&line, &receive);
    struct ring_live live;

    begin(&replicas, &sum);
    begin(&line, &message);
    live = shown();
    ok(live.op == RING_OP_ALLREDUCE && live.comm == 0xb,
       "of a collective and a message what began first is shown");
    p.stop(message.part);
    live = shown();
    ok(live.op == RING_OP_ALLREDUCE && live.comm == 0xb && live.seq == 0,
       "a rank stays in a collective while a message ends");
    ok(written() == 1 && events[0].op == RING_OP_RECV,
       "which is written at once: it is of another communicator");
    p.stop(sum.part);
    live = shown();
    ok(live.op == RING_OP_NONE && live.comm == 0xb && live.seq == 0,
       "when the collective has ended it is the last one that the rank has left");
    ok(written() == 1 && events[0].op == RING_OP_ALLREDUCE && (events[0].flags & RING_EVENT_NONBLOCKING) &&
           !(events[0].flags & RING_EVENT_UNWAITED),
       "it was begun beside the message");
}

/* By another algorithm than a ring the GPU's first thread is through while the rank still waits. */
static void tree(void)
{
    struct operation sum;
    uint64_t begun;

    p.algorithm = "TREE";
    sum = enqueue(&replicas, &all_reduce);
    begin(&replicas, &sum);
    begun = shown().enter;
    p.stop(sum.part);
    p.algorithm = NULL;
    ok(written() == 1 && events[0].op == RING_OP_ALLREDUCE && events[0].enter == begun &&
           (events[0].flags & RING_EVENT_NONBLOCKING) && (events[0].flags & RING_EVENT_UNWAITED),
       "of a collective by a tree it is known when the GPU came to it, and not when it was over");
}

static void *end_in_thread(void *sent)
{
    p.stop(sent);
    return NULL;
}

static void *see_one_end(void *unused)
{
    struct operation sent = enqueue(&line, &send_to), received = enqueue(&line, &receive);

    (void)unused;
    begin(&line, &received);
    begin(&line, &sent);
    p.stop(sent.part);
    return received.part;
}

/* A thread that saw one of two end is over; another one takes its place. */
static void thread_ends(void)
{
    struct operation message = enqueue(&line, &receive);
    struct ring *of_thread;
    pthread_t thread;
    char path[128];
    void *received = NULL;
    /* of the messages that were received before, one in each of the tests above */
    uint32_t seq = 4;

    if (pthread_create(&thread, NULL, see_one_end, NULL) || pthread_join(thread, &received))
        bail_out("there is no thread");
    snprintf(path, sizeof(path), "%s/2.0.1.ring", dir);
    of_thread = ring_open(path, false);
    ok(of_thread && ring_drain(of_thread, events, ARRAY_SIZE(events)) == 1 && events[0].op == RING_OP_SEND,
       "a message that waits for another to be written is written when its thread ends");
    begin(&line, &message);
    if (pthread_create(&thread, NULL, end_in_thread, message.part) || pthread_join(thread, NULL))
        bail_out("there is no thread");
    ok(of_thread && ring_drain(of_thread, events, ARRAY_SIZE(events)) == 1 && events[0].op == RING_OP_RECV &&
           events[0].seq == seq,
       "who takes its place writes its own alone");
    p.stop(received);
    is_int((long long)written(), 1, "the other one, which ends later, is written then");
    ring_close(of_thread);
}

static size_t described(void)
{
    struct ring_comm comms[RING_COMMS_MAX];
    size_t n = 0, all;
    uint64_t seen = 0;

    all = ring_comms_get(ring, &seen, comms);
    for (size_t i = 0; i < all; i++)
        n += !comms[i].freed;
    return n;
}

/* The child of a fork has its parent's rings, and ends in order, as a program does that a data loader
 * forked. */
static void fork_closes(void)
{
    struct operation message = enqueue(&line, &receive);
    struct ring_counts before, after;
    size_t n = described();
    pid_t pid;

    begin(&line, &message);
    ring_counts_get(ring, &before);
    pid = fork();
    if (pid == 0) {
        p.finalize(replicas.context);
        p.finalize(line.context);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        bail_out("cannot fork");
    ring_counts_get(ring, &after);
    ok(n == 2 && described() == n && after.missed == before.missed,
       "a forked child that closes communicators leaves its parent's as they are");
    p.stop(message.part);
    is_int((long long)written(), 1, "who goes on");
}

/* One of two never ends: it is aborted. */
static void aborted(void)
{
    struct operation sent = enqueue(&line, &send_to), received = enqueue(&line, &receive), sum;
    struct ring_counts before, after;

    begin(&line, &received);
    begin(&line, &sent);
    p.stop(sent.part);
    ring_counts_get(ring, &before);
    p.finalize(line.context);
    ring_counts_get(ring, &after);
    is_int((long long)(after.missed - before.missed), 2,
           "two messages of which one does not end are counted when their communicator closes");
    sum = enqueue(&replicas, &all_reduce);
    begin(&replicas, &sum);
    p.stop(sum.part);
    ok(written() == 1 && events[0].op == RING_OP_ALLREDUCE, "and neither is written later");
}

int main(void)
{
    start();
    one_message();
    group(false);
    group(true);
    two_streams();
    tree();
    thread_ends();
    fork_closes();
    aborted();
    p.finalize(replicas.context);
    ring_close(ring);
    ranks_remove_dir(dir);
    return done_testing();
}
