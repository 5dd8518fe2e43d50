/* replay.c - NCCL's calls of its profiler plugin, of each version of the interface, by ranks that are
 * processes: through rings and the agent's reader into verdicts.
 *
 * There is no GPU here.  What the GPU would do, a thread of each rank does: it begins the parts of a
 * collective, waits for the others' and ends them, and the rank waits for it as a program that reads its
 * loss. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/ranks.h"
#include "common/now.h"
#include "common/xalloc.h"
#include "nccl/record.h"
#include "ring/clock.h"
#include "ring/note.h"
#include "ring/ring.h"
#include "tests/nccl/played.h"
#include "tests/tap.h"
#include "view/verdicts.h"
#include "view/view.h"

enum { VERSIONS = 7, RANKS = 4, COMMS = 3, CHANNELS = 2, BEHIND = 8000, MESSAGE_EVERY = 8 };

static const struct played_function all_reduce = { "AllReduce", 4 }, all_gather = { "AllGather", 2 },
                                    reduce_scatter = { "ReduceScatter", 3 }, broadcast = { "Broadcast", 0 },
                                    send_to = { "Send", 6 }, receive = { "Recv", 7 };

/* What all processes of a run share. */
static struct shared {
    _Atomic uint64_t drained[RANKS];
    _Atomic uint32_t bad; /* calls that did not go as they must */
    _Atomic uint32_t by_host[RANKS], by_timer[RANKS], pairs[RANKS], beside[RANKS], ordered[RANKS],
        overtaken[RANKS];
    pthread_barrier_t together;
} * shared;

static char dir[64], plugin[4096];
static const uint64_t world_hash = 0x5ca1ab1e0ddba11u;

static uint64_t half_hash(int half)
{
    return world_hash + 1 + (uint64_t)half;
}

static void bail_out(const char *why)
{
    printf("Bail out! %s: %s\n", why, strerror(errno));
    exit(1);
}

/* ---- ranks ---- */

static void set_number(const char *name, int n)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", n);
    setenv(name, text, 1);
}

static void expect(bool good)
{
    shared->bad += !good;
}

/* Ranks that enqueue as fast as they can: in the world and in two halves, with messages around a circle. */
static void rank_enqueues(int version, int rank, uint32_t collectives)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    struct played_comm half = { .hash = half_hash(rank / 2), .ranks = RANKS / 2, .rank = rank % 2 };
    uint64_t events = 0;

    expect(played_load(&p, plugin, version) && !played_init(&p, &world) && !played_init(&p, &half));
    expect(world.context && half.context && (p.mask & NCCL_EVENT_COLL) && !(p.mask & NCCL_EVENT_KERNEL));
    for (uint32_t i = 0; i < collectives; i++) {
        static const struct played_function *const kinds[] = { &all_reduce, &all_gather, &reduce_scatter,
                                                               &broadcast };
        struct played_comm *c = i % 3 == 2 ? &half : &world;
        void *handle, *to = NULL, *from = NULL;

        while (events > shared->drained[rank] + BEHIND)
            nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
        if (version >= 5)
            expect(!played_around(&p, c, NCCL_EVENT_COLL_API));
        expect(!played_around(&p, c, NCCL_EVENT_GROUP));
        handle = played_enqueue(&p, c, NCCL_EVENT_COLL, kinds[i % 4], 1000 + i % 7, 0, CHANNELS);
        expect(handle != NULL);
        p.stop(handle);
        events++;
        if (i % MESSAGE_EVERY == 0) {
            to = played_enqueue(&p, &world, NCCL_EVENT_P2P, &send_to, 10, (rank + 1) % RANKS, 1);
            from = played_enqueue(&p, &world, NCCL_EVENT_P2P, &receive, 10, (rank + RANKS - 1) % RANKS, 1);
            expect(to && from);
            p.stop(to);
            p.stop(from);
            events += 2;
        }
    }
    p.finalize(half.context);
    p.finalize(world.context);
    dlclose(p.lib);
}

/* What stands for the GPU of a rank. */
struct gpu {
    struct played *p;
    struct played_comm *comm;
    void *operation;
    sem_t begin, done;
    bool end;
};

/* The leaves of a tree, which are all ranks but the first: the end of a part is told when it has sent its
 * share, and the GPU goes on when it has the sum. */
static bool tells_early(const struct gpu *g)
{
    return g->p->algorithm && g->comm->rank;
}

static void *gpu_runs(void *arg)
{
    struct gpu *g = arg;
    void *part[CHANNELS];

    for (;;) {
        while (sem_wait(&g->begin) < 0)
            ;
        if (g->end)
            return NULL;
        for (int i = 0; i < CHANNELS; i++) {
            union played_event e = { .room = { 0 } };

            part[i] = g->p->mask & NCCL_EVENT_KERNEL
                          ? played_start(g->p, g->comm, NCCL_EVENT_KERNEL, g->operation, &e)
                          : NULL;
            expect(part[i] || !(g->p->mask & NCCL_EVENT_KERNEL));
        }
        if (!tells_early(g))
            pthread_barrier_wait(&shared->together);
        for (int i = 0; i < CHANNELS; i++)
            if (part[i])
                g->p->stop(part[i]);
        if (tells_early(g))
            pthread_barrier_wait(&shared->together);
        sem_post(&g->done);
    }
}

/* Ranks that work, then meet; one of them works longer, or after half of the steps for pause_s. */
static unsigned pause_s;
static const char *algorithm; /* of their collectives; NULL: rings */

static void rank_trains(int version, int rank, int slow, int steps)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    struct gpu g = { .p = &p, .comm = &world };
    pthread_t thread;

    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    p.algorithm = algorithm;
    sem_init(&g.begin, 0, 0);
    sem_init(&g.done, 0, 0);
    if (pthread_create(&thread, NULL, gpu_runs, &g))
        _exit(1);
    for (int i = 0; i < 2 * steps; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = rank == slow && !pause_s ? 15000000 : 5000000 }, NULL);
        if (rank == slow && i == steps)
            sleep(pause_s);
        g.operation = played_enqueue(&p, &world, NCCL_EVENT_COLL, i % 2 ? &all_reduce : &reduce_scatter,
                                     i % 2 ? 64 : 4096, 0, CHANNELS);
        p.stop(g.operation);
        sem_post(&g.begin);
        while (sem_wait(&g.done) < 0)
            ;
    }
    g.end = true;
    sem_post(&g.begin);
    pthread_join(thread, NULL);
    p.finalize(world.context);
}

/* ---- a run ---- */

static void share(void)
{
    pthread_barrierattr_t a;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        bail_out("cannot share memory");
    pthread_barrierattr_init(&a);
    pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->together, &a, RANKS);
}

static void run_begin(void)
{
    snprintf(dir, sizeof(dir), "/dev/shm/syncguard-test-XXXXXX");
    if (!mkdtemp(dir))
        bail_out("cannot create a folder in /dev/shm");
    share();
}

static void run_end(void)
{
    ranks_remove_dir(dir);
    munmap(shared, sizeof(*shared));
}

static void rank_start(pid_t *pid, int rank, void (*run)(int version, int rank, int a, int b), int version,
                       int a, int b)
{
    fflush(stdout);
    *pid = fork();
    if (*pid < 0)
        bail_out("cannot fork");
    if (*pid)
        return;
    setenv(RING_ENV_DIR, dir, 1);
    unsetenv("SLURM_PROCID");
    set_number("RANK", rank);
    set_number("WORLD_SIZE", RANKS);
    run(version, rank, a, b);
    exit(0); /* the plugin's rings say that the rank has finished */
}

/* How many still run; those that ended are reaped. */
static int running(pid_t pid[RANKS])
{
    int n = 0, status;

    for (int i = 0; i < RANKS; i++) {
        if (pid[i] && waitpid(pid[i], &status, WNOHANG) == pid[i]) {
            expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            pid[i] = 0;
        }
        n += pid[i] != 0;
    }
    return n;
}

static struct ring *ring_of(int rank)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%d.0.0.ring", dir, rank);
    return ring_open(path, false);
}

/* ---- are all matched? ---- */

struct matched {
    uint32_t limit;
    struct {
        uint8_t ranks, op;
        uint64_t bytes;
    } * of[COMMS];
    uint32_t expected[COMMS]; /* ranks of each, as bits */
    uint64_t collectives, odd, sent[RANKS], received[RANKS], comms;
};

static void match(struct matched *m, int rank, const struct ring_event *e)
{
    uint64_t at = e->comm - world_hash;

    if (e->op == RING_OP_SEND || e->op == RING_OP_RECV) {
        uint64_t *n = e->op == RING_OP_SEND ? m->sent : m->received;
        int other = e->op == RING_OP_SEND ? (rank + 1) % RANKS : (rank + RANKS - 1) % RANKS;

        m->odd += e->root != other || e->seq != n[rank]++ || e->comm != world_hash || e->bytes != 40;
        return;
    }
    m->collectives++;
    if (at >= COMMS || e->seq >= m->limit) {
        m->odd++;
        return;
    }
    if (m->of[at][e->seq].ranks) {
        m->odd += m->of[at][e->seq].op != e->op || m->of[at][e->seq].bytes != e->bytes;
        m->odd += m->of[at][e->seq].ranks >> rank & 1;
    }
    m->of[at][e->seq].ranks |= (uint8_t)(1u << rank);
    m->of[at][e->seq].op = e->op;
    m->of[at][e->seq].bytes = e->bytes;
    m->odd += e->leave < e->enter || !(e->flags & RING_EVENT_NONBLOCKING);
}

static void enqueue(int version, int rank, int collectives, int nothing)
{
    (void)nothing;
    rank_enqueues(version, rank, (uint32_t)collectives);
}

static void check_matched(int version, uint32_t collectives)
{
    static struct ring_event events[512];
    static const uint8_t members[COMMS] = { 0xf, 0x3, 0xc };
    struct matched m = { .limit = collectives };
    struct ring *ring[RANKS] = { NULL };
    struct ring_counts counts;
    pid_t pid[RANKS];
    uint64_t lost = 0, single = 0, whole = 0, messages = (collectives + MESSAGE_EVERY - 1) / MESSAGE_EVERY;
    bool more = true;

    run_begin();
    for (int i = 0; i < COMMS; i++)
        m.of[i] = xcalloc(collectives, sizeof(*m.of[i]));
    for (int i = 0; i < RANKS; i++)
        rank_start(&pid[i], i, enqueue, version, (int)collectives, 0);
    while (more) {
        more = running(pid) > 0;
        for (int i = 0; i < RANKS; i++) {
            size_t n;

            if (!ring[i])
                ring[i] = ring_of(i);
            while (ring[i] && (n = ring_drain(ring[i], events, ARRAY_SIZE(events))) > 0) {
                for (size_t k = 0; k < n; k++)
                    match(&m, i, &events[k]);
                shared->drained[i] += n;
                more = true;
            }
        }
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    for (int i = 0; i < RANKS; i++) {
        struct ring_comm comms[RING_COMMS_MAX];
        struct ring_info info = { 0 };

        if (!ring[i])
            continue;
        ring_counts_get(ring[i], &counts);
        ring_info_get(ring[i], &info);
        lost += counts.dropped + counts.missed + counts.messages_missed;
        m.comms += ring_comms_get(ring[i], &(uint64_t){ 0 }, comms);
        m.odd +=
            info.state != RING_STATE_FINALIZED || info.world_size != RANKS || strcmp(info.library, "NCCL");
        m.odd += m.sent[i] != messages || m.received[i] != messages;
        ring_close(ring[i]);
    }
    for (int c = 0; c < COMMS; c++) {
        for (uint32_t k = 0; k < collectives; k++) {
            single += m.of[c][k].ranks && m.of[c][k].ranks != members[c];
            whole += m.of[c][k].ranks == members[c];
        }
        free(m.of[c]);
    }
    is_int((long long)shared->bad, 0, "version %d: each call of the plugin returns what NCCL expects",
           version);
    is_int((long long)m.collectives, (long long)collectives * RANKS,
           "version %d: the rings have each collective of %d ranks once", version, RANKS);
    ok(!single && !m.odd && !lost,
       "version %d: the collectives of 3 communicators are matched on all their ranks\n%llu, %llu on some only, %llu odd, %llu lost",
       version, (unsigned long long)whole, (unsigned long long)single, (unsigned long long)m.odd,
       (unsigned long long)lost);
    is_int((long long)m.comms, 2 * RANKS, "version %d: each rank describes its two communicators", version);
    run_end();
}

/* ---- who is named? ---- */

static struct view *view;

static void put(const struct telemetry_item *item, void *arg)
{
    (void)arg;
    view_item(view, now_s(), item);
}

static void note(const char *text, void *arg)
{
    (void)arg;
    printf("# %s\n", text);
}

static void train(int version, int rank, int slow, int steps)
{
    setenv("SYNCGUARD_NCCL_EVENTS", "device", 1);
    rank_trains(version, rank, slow, steps);
}

static void judge(struct ranks *rs, pid_t pid[RANKS])
{
    double second_s = now_s();

    ranks_control(rs, 1000, (struct call_window){ 0 });
    while (running(pid) > 0) {
        ranks_scan(rs);
        ranks_drain(rs);
        view_tick(view, now_s());
        if (now_s() > second_s + 1) {
            ranks_second(rs);
            second_s = now_s();
        }
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    ranks_settle(rs);
    ranks_scan(rs);
    while (ranks_drain(rs))
        ;
    ranks_flush(rs);
    view_tick(view, now_s());
}

static bool is_named(int version, int slow)
{
    struct view_params params = { .min_slowdown = 1.05, .hang_timeout_s = 60 };
    const struct view_verdict *v;
    struct ranks *rs;
    pid_t pid[RANKS];
    char sentence[512], want[16];
    bool named;

    run_begin();
    view = view_new(&params, now_s());
    for (uint32_t i = 0; i < RANKS; i++)
        view_rank_add(view, i, 0, "n0", NULL);
    rs = ranks_new(dir, 1000, put, note, NULL);
    for (int i = 0; i < RANKS; i++)
        rank_start(&pid[i], i, train, version, slow, 300);
    judge(rs, pid);
    snprintf(want, sizeof(want), "r%d", slow);
    named = view_verdicts_get(view, &v) && v[0].n_culprits == 1 && !strcmp(v[0].culprit[0], want);
    printf("# %s\n", view_sentence(view, now_s(), sentence, sizeof(sentence)));
    is_int((long long)shared->bad, 0,
           "version %d, with parts: each call of the plugin returns what NCCL expects", version);
    ranks_free(rs);
    view_free(view);
    run_end();
    return named;
}

/* Where other processes take the cores another rank may be the slow one for a while. */
static void check_named(int version, int slow, const char *by)
{
    bool named = false;

    algorithm = by;
    for (int run = 0; run < 3 && !named; run++)
        named = is_named(version, slow);
    ok(named, "version %d, with parts, %s: rank %d, which works longer, is named first", version,
       by ? by : "rings", slow);
}

/* ---- without a guard ---- */

static void play_unguarded(int version, int rank, int a, int b)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    void *handle;

    (void)a;
    (void)b;
    unsetenv(RING_ENV_DIR);
    expect(played_load(&p, plugin, version) && !played_init(&p, &world) && !world.context && !p.mask);
    handle = played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1);
    expect(!handle);
    p.stop(NULL);
    p.finalize(world.context);
}

static void check_unguarded(int version)
{
    pid_t pid[RANKS] = { 0 };

    run_begin();
    rank_start(&pid[0], 0, play_unguarded, version, 0, 0);
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    is_int((long long)shared->bad, 0,
           "version %d: in a process that is not guarded it wants no event and takes none", version);
    run_end();
}

/* More operations are under way than there is room for: the others are counted, and those that end make room.
 */
static void play_full(int version, int rank, int a, int b)
{
    static void *handle[5000];
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    uint32_t had = 0;

    (void)a;
    (void)b;
    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    for (size_t i = 0; i < ARRAY_SIZE(handle); i++)
        had += (handle[i] = played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1)) != NULL;
    for (size_t i = 0; i < ARRAY_SIZE(handle); i++)
        if (handle[i])
            p.stop(handle[i]);
    expect(had >= 512 && had < ARRAY_SIZE(handle));
    handle[0] = played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1);
    expect(handle[0] != NULL);
    p.stop(handle[0]);
    /* a stray handle and one of another kind */
    p.stop(&p);
    expect(!played_around(&p, &world, PLAYED_GROUP_API));
    if (version >= 5)
        expect(!played_around(&p, &world, PLAYED_KERNEL_PHASE));
}

/* NCCL announces more parts than it reports: what has passed makes room, and others go on. */
static void play_short(int version, int rank, int a, int b)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    void *of_old = NULL;

    (void)a;
    (void)b;
    setenv("SYNCGUARD_NCCL_EVENTS", "device", 1);
    expect(played_load(&p, plugin, version) && !played_init(&p, &world) && (p.mask & NCCL_EVENT_KERNEL));
    for (int i = 0; i < 3000; i++) {
        void *handle = played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, i % 3 ? 1 : 2);
        union played_event e = { .room = { 0 } };
        void *part = played_start(&p, &world, NCCL_EVENT_KERNEL, handle, &e);

        expect(handle && part && handle != part);
        p.stop(handle);
        p.stop(part);
        if (i % 3) {
            /* one more than announced, and late */
            expect(!played_start(&p, &world, NCCL_EVENT_KERNEL, handle, &e));
            p.stop(part);
        } else if (i == 0) {
            of_old = handle;
        }
    }
    expect(!played_start(&p, &world, NCCL_EVENT_KERNEL, of_old, &(union played_event){ .room = { 0 } }));
    p.finalize(world.context);
}

static void check_short(int version)
{
    pid_t pid[RANKS] = { 0 };
    struct ring_counts counts = { 0 };
    struct ring *r;

    run_begin();
    rank_start(&pid[0], 0, play_short, version, 0, 0);
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    r = ring_of(0);
    if (r)
        ring_counts_get(r, &counts);
    is_int((long long)shared->bad, 0, "version %d: parts that never come take no room from later collectives",
           version);
    is_int((long long)counts.events, 2000, "version %d: whose parts all came, is recorded", version);
    ok(counts.missed > 500 && counts.missed <= 1000, "version %d: what was given up is counted\n%llu",
       version, (unsigned long long)counts.missed);
    ring_close(r);
    run_end();
}

/* ---- more communicators than there is room for ---- */

static void play_many(int version, int rank, int a, int b)
{
    static struct played_comm comm[RECORD_COMMS_MAX + 1];
    struct played p;

    (void)a;
    (void)b;
    expect(played_load(&p, plugin, version));
    for (size_t i = 0; i < ARRAY_SIZE(comm); i++) {
        comm[i] = (struct played_comm){ .hash = 100 + i, .ranks = RANKS, .rank = rank };
        expect(!played_init(&p, &comm[i]));
    }
    p.stop(played_enqueue(&p, &comm[0], NCCL_EVENT_COLL, &all_reduce, 1, 0, 1));
    expect(!played_enqueue(&p, &comm[RECORD_COMMS_MAX], NCCL_EVENT_COLL, &all_reduce, 1, 0, 1));
}

static void check_many(int version)
{
    pid_t pid[RANKS] = { 0 };
    struct ring_counts counts = { 0 };
    struct ring *r;

    run_begin();
    rank_start(&pid[0], 0, play_many, version, 0, 0);
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    r = ring_of(0);
    if (r)
        ring_counts_get(r, &counts);
    is_int((long long)shared->bad, 0,
           "version %d: NCCL goes on when it has more communicators than there is room for", version);
    ok(counts.events == 1 && counts.missed == 1, "version %d: collectives on those without room are counted",
       version);
    ring_close(r);
    run_end();
}

/* ---- what becomes of communicators ---- */

/* All that the ranks of a run have recorded. */
static struct recorded {
    int rank;
    struct ring_event e;
} recorded[1 << 14];
static size_t n_recorded;
static struct ring_counts counted; /* of all rings */
static bool inside;                /* a thread is in a collective */

static void collect(void)
{
    static struct ring_event events[4096];
    char path[128];

    n_recorded = 0;
    counted = (struct ring_counts){ 0 };
    inside = false;
    for (int i = 0; i < RANKS * (int)RING_NCCL_MAX; i++) {
        struct ring_counts counts;
        struct ring_live live;
        struct ring *r;
        size_t n;

        snprintf(path, sizeof(path), "%s/%d.0.%d.ring", dir, i / (int)RING_NCCL_MAX, i % (int)RING_NCCL_MAX);
        r = ring_open(path, false);
        if (!r)
            continue;
        ring_counts_get(r, &counts);
        counted.events += counts.events;
        counted.missed += counts.missed;
        counted.messages_missed += counts.messages_missed;
        counted.dropped += counts.dropped;
        inside |= ring_live_get(r, &live) && live.op != RING_OP_NONE;
        while ((n = ring_drain(r, events, ARRAY_SIZE(events))) > 0)
            for (size_t k = 0; k < n && n_recorded < ARRAY_SIZE(recorded); k++)
                recorded[n_recorded++] = (struct recorded){ i / (int)RING_NCCL_MAX, events[k] };
        ring_close(r);
    }
}

/* The collectives of a communicator that each of its members has once, and alike; odd: all others. */
static uint32_t whole_of(uint64_t comm, uint8_t members, uint32_t *odd)
{
    static struct {
        uint8_t ranks, op;
        uint64_t bytes;
        bool odd;
    } of[512];
    uint32_t whole = 0;

    memset(of, 0, sizeof(of));
    *odd = 0;
    for (size_t i = 0; i < n_recorded; i++) {
        const struct ring_event *e = &recorded[i].e;
        uint8_t rank = (uint8_t)(1u << recorded[i].rank);

        if (e->comm != comm || e->op == RING_OP_SEND || e->op == RING_OP_RECV)
            continue;
        if (e->seq >= ARRAY_SIZE(of)) {
            (*odd)++;
            continue;
        }
        of[e->seq].odd |= of[e->seq].ranks & rank || e->leave < e->enter ||
                          (of[e->seq].ranks && (of[e->seq].op != e->op || of[e->seq].bytes != e->bytes));
        of[e->seq].ranks |= rank;
        of[e->seq].op = e->op;
        of[e->seq].bytes = e->bytes;
    }
    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        whole += of[i].ranks == members && !of[i].odd;
        *odd += of[i].ranks && (of[i].ranks != members || of[i].odd);
    }
    return whole;
}

/* The rank's parts of an operation, one after another, as a GPU that waits for nobody. */
static void run_parts(struct played *p, struct played_comm *c, void *operation)
{
    void *part[CHANNELS] = { NULL };

    for (int i = 0; i < CHANNELS && operation && p->mask & NCCL_EVENT_KERNEL; i++) {
        union played_event e = { .room = { 0 } };

        part[i] = played_start(p, c, NCCL_EVENT_KERNEL, operation, &e);
        expect(part[i] != NULL);
    }
    for (int i = 0; i < CHANNELS; i++)
        if (part[i])
            p->stop(part[i]);
}

static void run_some(struct played *p, struct played_comm *c, const struct played_function *f, int times)
{
    for (int i = 0; i < times; i++) {
        void *handle = played_enqueue(p, c, NCCL_EVENT_COLL, f, 100 + (size_t)i % 5, 0, CHANNELS);

        expect(handle != NULL);
        p->stop(handle);
        run_parts(p, c, handle);
    }
}

/* What is in a group starts before any of it stops. */
static void run_group(struct played *p, struct played_comm *world, struct played_comm *other)
{
    void *group = played_around(p, world, NCCL_EVENT_GROUP), *of[5];
    int next = (world->rank + 1) % RANKS, before = (world->rank + RANKS - 1) % RANKS;

    expect((group != NULL) == ((p->mask & NCCL_EVENT_KERNEL) != 0));
    of[0] = played_enqueue(p, world, NCCL_EVENT_COLL, &all_reduce, 7, 0, CHANNELS);
    of[1] = played_enqueue(p, world, NCCL_EVENT_COLL, &all_gather, 9, 0, CHANNELS);
    of[2] = played_enqueue(p, other, NCCL_EVENT_COLL, &all_reduce, 11, 0, CHANNELS);
    of[3] = played_enqueue(p, world, NCCL_EVENT_P2P, &send_to, 10, next, CHANNELS);
    of[4] = played_enqueue(p, world, NCCL_EVENT_P2P, &receive, 10, before, CHANNELS);
    for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
        expect(of[i] != NULL);
        p->stop(of[i]);
    }
    if (group)
        p->stop(group);
    for (size_t i = 0; i < ARRAY_SIZE(of); i++)
        run_parts(p, i == 2 ? other : world, of[i]);
}

/* A GPU that begins what never ends, and its thread, which ends with the communicator. */
struct broken {
    struct played *p;
    struct played_comm *comm;
    void *operation, *part[CHANNELS];
};

static void *gpu_hangs(void *arg)
{
    struct broken *b = arg;

    for (int i = 0; i < CHANNELS; i++) {
        union played_event e = { .room = { 0 } };

        b->part[i] = played_start(b->p, b->comm, NCCL_EVENT_KERNEL, b->operation, &e);
        expect((b->part[i] != NULL) == ((b->p->mask & NCCL_EVENT_KERNEL) != 0));
    }
    return NULL;
}

enum { LIFE_WORLD = 30, LIFE_SPLIT = 20, LIFE_BEFORE = 10, LIFE_AFTER = 12, LIFE_GROUPS = 8 };
static const uint64_t three_hash = 0x333, alone_hash = 0x111, broken_hash = 0xbad, again_hash = 0x900d;

static void want_parts(int parts)
{
    if (parts)
        setenv("SYNCGUARD_NCCL_EVENTS", "device", 1);
}

static void play_lives(int version, int rank, int parts, int nothing)
{
    struct played p;
    bool three = rank < 3;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank },
                       split = { .hash = three ? three_hash : alone_hash,
                                 .ranks = three ? 3 : 1,
                                 .rank = three ? rank : 0 },
                       first = { .hash = broken_hash, .ranks = RANKS, .rank = rank },
                       again = { .hash = again_hash, .ranks = RANKS, .rank = rank };
    struct broken b = { .p = &p, .comm = &first };
    pthread_t thread;

    (void)nothing;
    want_parts(parts);
    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    run_some(&p, &world, &all_reduce, LIFE_WORLD);
    expect(!played_init(&p, &split) && !played_init(&p, &first));
    run_some(&p, &split, &reduce_scatter, LIFE_SPLIT);
    for (int i = 0; i < LIFE_GROUPS; i++)
        run_group(&p, &world, &split);
    run_some(&p, &first, &all_reduce, LIFE_BEFORE);
    /* it is aborted while its GPU is inside, and made again */
    b.operation = played_enqueue(&p, &first, NCCL_EVENT_COLL, &all_reduce, 1, 0, CHANNELS);
    p.stop(b.operation);
    if (pthread_create(&thread, NULL, gpu_hangs, &b))
        _exit(1);
    pthread_join(thread, NULL);
    p.finalize(first.context);
    expect(!played_init(&p, &again));
    for (int i = 0; i < CHANNELS; i++) {
        union played_event e = { .room = { 0 } };

        if (b.part[i])
            p.stop(b.part[i]);
        expect(!played_start(&p, &again, NCCL_EVENT_KERNEL, b.operation, &e));
    }
    run_some(&p, &again, &all_reduce, LIFE_AFTER);
    p.finalize(split.context);
    p.finalize(again.context);
    p.finalize(world.context);
}

static pid_t started[RANKS];

/* Start `ranks` processes and wait for them. */
static void run_all(int ranks, void (*run)(int version, int rank, int a, int b), int version, int a, int b)
{
    pid_t pid[RANKS] = { 0 };

    run_begin();
    for (int i = 0; i < ranks; i++)
        rank_start(&pid[i], i, run, version, a, b);
    memcpy(started, pid, sizeof(started));
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    collect();
}

static const char *mode(int parts)
{
    return parts ? "device" : "host";
}

static void check_lives(int version, int parts)
{
    const struct {
        uint64_t hash;
        const char *name;
        uint8_t members;
        uint32_t times;
    } comms[] = {
        { world_hash, "of all ranks, with groups,", 0xf, LIFE_WORLD + 2 * LIFE_GROUPS },
        { three_hash, "split off with three ranks", 0x7, LIFE_SPLIT + LIFE_GROUPS },
        { alone_hash, "split off with one", 0x8, LIFE_SPLIT + LIFE_GROUPS },
        { broken_hash, "that is aborted", 0xf, LIFE_BEFORE },
        { again_hash, "that is made again", 0xf, LIFE_AFTER },
    };
    uint64_t messages = 0;

    run_all(RANKS, play_lives, version, parts, 0);
    is_int((long long)shared->bad, 0, "version %d, %s: communicators come and go as NCCL expects", version,
           mode(parts));
    for (size_t i = 0; i < ARRAY_SIZE(comms); i++) {
        /* On the host the one that never ended was enqueued like the others. */
        uint32_t odd, times = comms[i].times + (comms[i].hash == broken_hash && !parts),
                      whole = whole_of(comms[i].hash, comms[i].members, &odd);

        ok(whole == times && !odd,
           "version %d, %s: what a communicator %s does is matched on all of its ranks\n%u of %u, %u odd",
           version, mode(parts), comms[i].name, whole, times, odd);
    }
    for (size_t i = 0; i < n_recorded; i++)
        messages += recorded[i].e.op == RING_OP_SEND || recorded[i].e.op == RING_OP_RECV;
    is_int((long long)messages, 2 * RANKS * LIFE_GROUPS,
           "version %d, %s: each message of the groups is there", version, mode(parts));
    is_int((long long)counted.missed, parts ? RANKS : 0,
           "version %d, %s: the collective that an abort cut off is counted where it had begun", version,
           mode(parts));
    ok(!inside && !counted.dropped && !counted.messages_missed,
       "version %d, %s: no rank seems to be inside of it any more, and nothing else is missing", version,
       mode(parts));
    run_end();
}

/* ---- graphs ---- */

enum { GRAPH_BEFORE = 5, GRAPH_LAUNCHES = 10, GRAPH_BETWEEN = 5 };

static void run_one(struct played *p, struct played_comm *c, const struct played_function *f)
{
    void *handle = played_enqueue(p, c, NCCL_EVENT_COLL, f, 100, 0, CHANNELS);

    if (handle)
        p->stop(handle);
    run_parts(p, c, handle);
}

/* Without parts, only ranks that reach others over the network report what a graph enqueues. */
static void play_graph(int version, int rank, int parts, int nothing)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    void *call;

    (void)nothing;
    want_parts(parts);
    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    for (int i = 0; i < GRAPH_BEFORE; i++)
        run_one(&p, &world, &all_reduce);
    call = played_capture(&p, &world);
    expect((call != NULL) == (version >= 5));
    for (int i = 0; i < GRAPH_LAUNCHES; i++) {
        if (parts || rank < 2)
            run_parts(&p, &world, played_launch(&p, &world, call, &all_reduce, 100, CHANNELS));
        if (i % (GRAPH_LAUNCHES / GRAPH_BETWEEN))
            continue;
        run_one(&p, &world, &all_reduce);
        run_one(&p, &world, &all_gather);
    }
    p.finalize(world.context);
}

static void check_graph(int version, int parts)
{
    /* Version 4 does not tell what is a graph's: it takes the number of the next one, once, and the last
     * launch finds none behind it. */
    uint32_t odd, own = GRAPH_BEFORE + 2 * GRAPH_BETWEEN, unpaired = version == 4 && !parts,
                  times = own + (parts ? GRAPH_LAUNCHES : 0), whole;

    run_all(RANKS, play_graph, version, parts, 0);
    whole = whole_of(world_hash, 0xf, &odd);
    is_int((long long)shared->bad, 0, "version %d, %s: a graph is captured and launched as NCCL expects",
           version, mode(parts));
    ok(whole == times && odd == unpaired,
       "version %d, %s: collectives beside launches of a graph are matched on all ranks, %s\n%u of %u, %u odd",
       version, mode(parts), parts ? "and those of each launch, too" : "and no launch is taken for one",
       whole, times, odd);
    run_end();
}

/* ---- copy engines ---- */

/* NCCL gives each the number of its last synchronisation (ncclProfilerStartCeCollEvent()). */
static void *copy_engines(struct played *p, struct played_comm *c, void *call, uint64_t *synchronised)
{
    union played_event e = { .v5.ce_coll = { .seq = *synchronised,
                                             .func = all_gather.name,
                                             .count = 100,
                                             .datatype = "ncclFloat32" } };

    *synchronised += 2; /* before it and after it */
    return played_start(p, c, NCCL_EVENT_CE_COLL, call, &e);
}

static void play_copies(int version, int rank, int a, int b)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    uint64_t synchronised = 0;
    void *handle;

    (void)a, (void)b;
    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    expect(p.mask & NCCL_EVENT_CE_COLL);
    expect(!copy_engines(&p, &world, played_capture(&p, &world), &synchronised));
    for (int i = 0; i < GRAPH_LAUNCHES; i++) {
        run_one(&p, &world, &all_reduce);
        handle = copy_engines(&p, &world, NULL, &synchronised);
        expect(handle != NULL);
        p.stop(handle);
    }
    p.finalize(world.context);
}

static void check_copies(int version)
{
    uint32_t odd, whole, gathers = 0;

    run_all(RANKS, play_copies, version, 0, 0);
    whole = whole_of(world_hash, 0xf, &odd);
    is_int((long long)shared->bad, 0, "version %d: collectives by copy engines begin and end", version);
    for (size_t i = 0; i < n_recorded; i++)
        gathers += recorded[i].e.op == RING_OP_ALLGATHER && recorded[i].e.seq < 2 * GRAPH_LAUNCHES;
    ok(whole == 2 * GRAPH_LAUNCHES && !odd && gathers == RANKS * GRAPH_LAUNCHES,
       "version %d: they are numbered without gaps, and not where a graph captures them\n%u of %d, %u odd",
       version, whole, 2 * GRAPH_LAUNCHES, odd);
    run_end();
}

/* ---- the GPU's timer ---- */

/* A rank each: what its GPU's timer is like. */
enum { TIMER_GOOD, TIMER_BACKWARDS, TIMER_SILENT, TIMER_COARSE };
enum { TIMED_BEFORE = 20, TIMED_AFTER = 60, PAIRS = 20, WORK_NS = 300000, LATE_NS = 1500000 };

static uint64_t timer_of(int kind, uint64_t ns)
{
    static const uint64_t began = 123456789;
    uint64_t units = ns * 5 / 2;

    switch (kind) {
    case TIMER_BACKWARDS:
        return UINT64_MAX / 2 - units;
    case TIMER_SILENT:
        return 0;
    case TIMER_COARSE:
        return began + units / 25000000 * 25000000; /* 10 ms */
    default:
        return began + units / 80 * 80; /* 32 ns */
    }
}

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* One collective: the thread that polls sees late that it began, and later that it ended.  Returns for how
 * long the GPU was in it. */
static uint64_t run_timed(struct played *p, struct played_comm *c, int kind)
{
    void *operation = played_enqueue(p, c, NCCL_EVENT_COLL, &all_reduce, 1, 0, CHANNELS), *part[CHANNELS];
    uint64_t from, to;

    p->stop(operation);
    from = clock_monotonic_ns();
    sleep_ns(WORK_NS);
    to = clock_monotonic_ns();
    for (int i = 0; i < CHANNELS; i++)
        part[i] = played_part(p, c, operation, timer_of(kind, from + (uint64_t)i * 1000));
    sleep_ns(LATE_NS);
    for (int i = 0; i < CHANNELS; i++) {
        expect(part[i] != NULL);
        played_part_end(p, part[i], timer_of(kind, to));
    }
    return to - from;
}

static struct ring_event events[RING_CAPACITY_MAIN];

/* The recorded lengths of the rank's newest collectives, up to max; it drains its own ring, whose writer it
 * is. */
static size_t lengths_of(int rank, uint64_t *ns, size_t max)
{
    static struct ring_clock_map map;
    struct ring *r = ring_of(rank);
    struct ring_info info;
    size_t n, first;

    if (!r)
        return 0;
    if (!map.ns_per_tick)
        ring_clock_start(&map);
    while (!ring_clock_ready(&map))
        sleep_ns(5000000);
    ring_info_get(r, &info);
    n = ring_drain(r, events, ARRAY_SIZE(events));
    first = n > max ? n - max : 0;
    for (size_t i = first; i < n; i++)
        ns[i - first] = ring_clock_ns(&map, info.clock, events[i].leave) -
                        ring_clock_ns(&map, info.clock, events[i].enter);
    ring_close(r);
    return n - first;
}

static bool is_about(uint64_t ns, uint64_t truth)
{
    return ns > truth / 4 * 3 && ns < truth / 4 * 5;
}

static void run_and_compare(struct played *p, struct played_comm *c, int times)
{
    static uint64_t truth[TIMED_AFTER], ns[TIMED_AFTER];

    for (int i = 0; i < times; i++)
        truth[i] = run_timed(p, c, c->rank);
    expect(lengths_of(c->rank, ns, (size_t)times) == (size_t)times);
    for (int i = 0; i < times; i++) {
        shared->by_host[c->rank] += ns[i] >= LATE_NS / 10 * 9;
        shared->by_timer[c->rank] += is_about(ns[i], truth[i]);
    }
}

/* The GPU is in two collectives of one stream, and the thread that polls sees all of it afterwards;
 * overtaken: that the second began before that the first ended. */
static void run_behind(struct played *p, struct played_comm *c, int kind, bool overtaken)
{
    void *operation[2], *part[2];
    uint64_t at[3];

    for (int i = 0; i < 2; i++) {
        operation[i] = played_enqueue(p, c, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1);
        p->stop(operation[i]);
    }
    for (int i = 0; i < 3; i++) {
        at[i] = clock_monotonic_ns();
        sleep_ns(WORK_NS);
    }
    for (int i = 0; i < 2; i++) {
        part[i] = played_part(p, c, operation[i], timer_of(kind, at[i]));
        expect(part[i] != NULL);
        if (!overtaken)
            played_part_end(p, part[i], timer_of(kind, at[i + 1]));
    }
    for (int i = 0; i < 2 && overtaken; i++)
        played_part_end(p, part[i], timer_of(kind, at[i + 1]));
}

/* The GPU is in a message to another rank and in one from it; that one ends first. */
static void run_exchange(struct played *p, struct played_comm *c, int kind)
{
    const struct played_function *f[2] = { &send_to, &receive };
    void *operation[2], *part[2];

    for (int i = 0; i < 2; i++) {
        operation[i] = played_enqueue(p, c, NCCL_EVENT_P2P, f[i], 1, (c->rank + 1) % c->ranks, 1);
        p->stop(operation[i]);
    }
    for (int i = 0; i < 2; i++)
        part[i] = played_part(p, c, operation[i], timer_of(kind, clock_monotonic_ns()));
    for (int i = 2; i-- > 0;) {
        sleep_ns(WORK_NS);
        played_part_end(p, part[i], timer_of(kind, clock_monotonic_ns()));
    }
}

/* What is written of these: one behind the other, and in order. */
static void run_pairs(struct played *p, struct played_comm *c)
{
    struct ring *r = ring_of(c->rank);
    const struct ring_event *e = events;

    expect(r != NULL);
    for (int i = 0; i < PAIRS && r; i++) {
        run_behind(p, c, c->rank, false);
        run_exchange(p, c, c->rank);
        run_behind(p, c, c->rank, true);
        if (ring_drain(r, events, ARRAY_SIZE(events)) != 6)
            continue;
        shared->pairs[c->rank]++;
        shared->beside[c->rank] += e[0].flags || e[1].flags || e[1].enter < e[0].leave;
        shared->ordered[c->rank] += e[2].op == RING_OP_SEND && e[3].op == RING_OP_RECV &&
                                    e[2].leave < e[3].leave && e[3].wait >= e[3].enter &&
                                    e[3].wait <= e[3].leave;
        shared->overtaken[c->rank] += !e[4].flags && !e[5].flags && e[5].enter >= e[4].leave;
    }
    ring_close(r);
}

/* Before the timer's rate can be known, and when it is. */
static void play_timer(int version, int rank, int nothing, int b)
{
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank };
    uint64_t from = clock_monotonic_ns(), now_ns = from, truth, ns = 0;

    (void)nothing;
    (void)b;
    want_parts(1);
    expect(played_load(&p, plugin, version) && !played_init(&p, &world));
    run_and_compare(&p, &world, TIMED_BEFORE);
    /* A machine that has no time makes the rate known later. */
    do {
        truth = run_timed(&p, &world, rank);
        now_ns = clock_monotonic_ns();
    } while (now_ns < from + 2500000000u ||
             (rank == TIMER_GOOD && now_ns < from + 60000000000u &&
              !(lengths_of(rank, &ns, 1) && ns < LATE_NS / 10 * 9 && is_about(ns, truth))));
    lengths_of(rank, &ns, 1);
    run_and_compare(&p, &world, TIMED_AFTER);
    run_pairs(&p, &world);
    p.finalize(world.context);
}

static void check_timer(int version)
{
    static const char *const kinds[RANKS] = { "which is right", "which runs backwards", "which says nothing",
                                              "which steps by a hundredth of a second" };

    run_all(RANKS, play_timer, version, 0, 0);
    is_int((long long)shared->bad, 0, "version %d: a GPU's timer is told as NCCL does", version);
    for (int i = 0; i < RANKS; i++)
        ok(i == TIMER_GOOD ? shared->by_host[i] >= TIMED_BEFORE && shared->by_timer[i] > TIMED_AFTER / 2
                           : shared->by_host[i] == TIMED_BEFORE + TIMED_AFTER,
           "version %d: by a timer %s a collective is %s\n%u as long as the host saw it, %u as the GPU was in it",
           version, kinds[i],
           i == TIMER_GOOD ? "as long as the GPU was in it, once its rate is known"
                           : "as long as the host saw it",
           shared->by_host[i], shared->by_timer[i]);
    for (int i = 0; i < RANKS; i++) {
        ok(shared->pairs[i] == PAIRS && !shared->beside[i],
           "version %d: by a timer %s collectives of one stream are begun one after the other\n%u of %u not",
           version, kinds[i], shared->beside[i], shared->pairs[i]);
        ok(shared->pairs[i] == PAIRS && shared->ordered[i] == PAIRS,
           "version %d: by a timer %s messages of a group are left in the order of the program\n%u of %u",
           version, kinds[i], shared->ordered[i], shared->pairs[i]);
    }
    ok(shared->overtaken[TIMER_GOOD] == PAIRS,
       "version %d: by a timer which is right collectives of one stream are begun one after the other, also where the "
       "second is seen before the end of the first\n%u of %u",
       version, shared->overtaken[TIMER_GOOD], PAIRS);
    run_end();
}

/* ---- several ranks in a process ---- */

enum { SEVERAL_PROCESSES = 2, SEVERAL_TIMES = 40 };

struct one_of {
    struct played *p;
    struct played_comm comm;
};

static void *enqueue_some(void *arg)
{
    struct one_of *o = arg;

    for (int i = 0; i < SEVERAL_TIMES; i++) {
        void *handle = played_enqueue(o->p, &o->comm, NCCL_EVENT_COLL, &all_reduce, 1, 0, CHANNELS);

        if (handle)
            o->p->stop(handle);
    }
    return NULL;
}

/* As ncclCommInitAll() makes them; one thread enqueues for both in groups, or one for each. */
static void play_several(int version, int rank, int parts, int by_threads)
{
    struct played p;
    struct one_of of[2];
    pthread_t thread[2];
    void *handle[2];

    want_parts(parts);
    set_number("WORLD_SIZE", SEVERAL_PROCESSES);
    expect(played_load(&p, plugin, version));
    for (int g = 0; g < 2; g++) {
        of[g] = (struct one_of){
            .p = &p, .comm = { .hash = world_hash, .ranks = 2 * SEVERAL_PROCESSES, .rank = 2 * rank + g }
        };
        expect(!played_init(&p, &of[g].comm) && of[g].comm.context);
    }
    expect((p.mask & NCCL_EVENT_COLL) && !(p.mask & NCCL_EVENT_KERNEL));
    for (int i = 0; i < SEVERAL_TIMES && !by_threads; i++) {
        for (int g = 0; g < 2; g++)
            handle[g] = played_enqueue(&p, &of[g].comm, NCCL_EVENT_COLL, &all_reduce, 1, 0, CHANNELS);
        for (int g = 0; g < 2; g++)
            if (handle[g])
                p.stop(handle[g]);
    }
    for (int g = 0; g < 2 && by_threads; g++)
        if (pthread_create(&thread[g], NULL, enqueue_some, &of[g]))
            _exit(1);
    for (int g = 0; g < 2 && by_threads; g++)
        pthread_join(thread[g], NULL);
    for (int g = 0; g < 2; g++)
        p.finalize(of[g].comm.context);
}

/* Collectives that one rank has twice. */
static size_t repeated(void)
{
    size_t n = 0;

    for (size_t i = 0; i < n_recorded; i++)
        for (size_t k = 0; k < i; k++)
            n += recorded[i].rank == recorded[k].rank && recorded[i].e.comm == recorded[k].e.comm &&
                 recorded[i].e.seq == recorded[k].e.seq;
    return n;
}

static void check_several(int version)
{
    for (int by_threads = 0; by_threads <= 1; by_threads++) {
        const char *who = by_threads ? "threads of a process" : "groups of one thread";
        uint32_t noted = 0;

        run_all(SEVERAL_PROCESSES, play_several, version, version >= 4 && by_threads, by_threads);
        for (int i = 0; i < SEVERAL_PROCESSES; i++) {
            char name[32], text[NOTE_MAX];

            snprintf(name, sizeof(name), "%d" NOTE_SUFFIX, (int)started[i]);
            noted +=
                note_read(dir, name, text) &&
                strstr(text, "NCCL's collectives are not recorded: processes of replay have several ranks");
        }
        is_int((long long)shared->bad, 0,
               "version %d: two ranks in %s enqueue as NCCL expects, and no parts are wanted", version, who);
        /* Before version 4 the first event of the second one tells that there are two. */
        ok(!repeated() && (version < 4 || !n_recorded) && (by_threads || n_recorded <= SEVERAL_PROCESSES),
           "version %d: two ranks in %s are not taken for one that calls twice\n%zu recorded, %zu twice",
           version, who, n_recorded, repeated());
        is_int((long long)(counted.events + counted.missed), 2 * SEVERAL_PROCESSES * SEVERAL_TIMES,
               "version %d: what two ranks in %s do is counted", version, who);
        is_int(noted, SEVERAL_PROCESSES, "version %d: and each process leaves a note of two ranks in %s",
               version, who);
        run_end();
    }
}

/* ---- names ---- */

static const struct {
    const char *name;
    enum ring_op op;
    uint64_t bytes; /* of 10 floats a rank, with 4 ranks */
} names[] = {
    { "AllReduce", RING_OP_ALLREDUCE, 40 },
    { "AllGather", RING_OP_ALLGATHER, 40 },
    { "AlltoAll", RING_OP_ALLTOALL, 160 },
    { "AllToAll", RING_OP_ALLTOALL, 160 },
    { "AlltoAllv", RING_OP_ALLTOALLV, 40 },
    { "Broadcast", RING_OP_BCAST, 40 },
    { "Gather", RING_OP_GATHER, 40 },
    { "Scatter", RING_OP_SCATTER, 160 },
    { "Reduce", RING_OP_REDUCE, 40 },
    { "ReduceScatter", RING_OP_REDUCE_SCATTER_BLOCK, 160 },
    { "AllGatherV", RING_OP_NONE, 0 },
    { "SendRecv", RING_OP_NONE, 0 },
    { "PutSignal", RING_OP_NONE, 0 },
    { "Invalid", RING_OP_NONE, 0 },
    { "", RING_OP_NONE, 0 },
    { "A", RING_OP_NONE, 0 },
    { "Allt", RING_OP_NONE, 0 },
};

static void play_names(int version, int rank, int a, int b)
{
    struct played p;

    (void)a;
    (void)b;
    expect(played_load(&p, plugin, version));
    /* a communicator each, so that each is the first of its function */
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct played_comm c = { .hash = 100 + i, .ranks = RANKS, .rank = rank };
        const struct played_function f = { names[i].name, 0 };
        void *handle;

        expect(!played_init(&p, &c));
        handle = played_enqueue(&p, &c, NCCL_EVENT_COLL, &f, 10, 0, 1);
        expect((handle != NULL) == (names[i].op != RING_OP_NONE));
        if (handle)
            p.stop(handle);
    }
}

static void check_names(int version)
{
    size_t right = 0, known = 0;

    run_all(1, play_names, version, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        known += names[i].op != RING_OP_NONE;
    for (size_t i = 0; i < n_recorded; i++) {
        size_t at = recorded[i].e.comm - 100;

        right += at < ARRAY_SIZE(names) && recorded[i].e.op == names[at].op &&
                 recorded[i].e.bytes == names[at].bytes;
    }
    is_int((long long)shared->bad, 0, "version %d: functions are recorded by their names, others are not",
           version);
    ok(right == known && n_recorded == known,
       "version %d: what has a name is recorded as that, with its bytes\n%zu of %zu, %zu right", version,
       n_recorded, known, right);
    run_end();
}

/* ---- a longer table ---- */

static void check_table(void)
{
    void *lib = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    const struct nccl_profiler_v7 *table = lib ? dlsym(lib, "ncclProfiler_v7") : NULL;
    size_t n = 0;

    while (table && n < ARRAY_SIZE(table->further) && !table->further[n])
        n++;
    ok(table && n == ARRAY_SIZE(table->further), "who looks for further functions in version 7 finds none");
    if (lib)
        dlclose(lib);
}

/* ---- other company ---- */

/* The process has a ring of the probe's, and forks while it communicates. */
static void play_beside(int version, int rank, int a, int b)
{
    struct ring_info mpi = {
        .rank = (uint32_t)rank, .world_rank = (uint32_t)rank, .world_size = RANKS, .library = "an MPI"
    };
    static struct ring *probe, *ours; /* not lost in the child */
    struct played p;
    struct played_comm world = { .hash = world_hash, .ranks = RANKS, .rank = rank },
                       other = { .hash = 7, .ranks = RANKS, .rank = rank };
    struct ring_counts counts = { 0 };
    char path[128];
    void *handle;
    pid_t child;
    int status;

    (void)a;
    (void)b;
    probe = ring_create(dir, &mpi, RING_CAPACITY_MAIN);
    expect(probe && played_load(&p, plugin, version) && !played_init(&p, &world));
    p.stop(played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1));
    handle = played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1);
    child = fork();
    if (child == 0) {
        expect(!played_enqueue(&p, &world, NCCL_EVENT_COLL, &all_reduce, 1, 0, 1));
        p.stop(handle);
        expect(!played_init(&p, &other) && !other.context);
        exit(0);
    }
    expect(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    p.stop(handle);
    snprintf(path, sizeof(path), "%s/%d.0.%u.ring", dir, rank, RING_NCCL_FIRST);
    ours = ring_open(path, true);
    if (ours)
        ring_counts_get(ours, &counts);
    expect(counts.events == 2 && !counts.missed);
    ring_counts_get(probe, &counts);
    expect(!counts.events && !counts.missed);
}

static void check_beside(int version)
{
    pid_t pid[RANKS] = { 0 };

    run_begin();
    rank_start(&pid[0], 0, play_beside, version, 0, 0);
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    is_int((long long)shared->bad, 0,
           "version %d: its ring stands beside that of MPI, and a forked child records nothing", version);
    run_end();
}

/* ---- threads ---- */

enum { POLLERS = 12, POLLED_TIMES = 5 };

/* A communicator, and NCCL's thread that polls for it. */
struct polled {
    struct played *p;
    struct played_comm comm;
    pthread_barrier_t *all;
};

static void *poll_for(void *arg)
{
    struct polled *c = arg;

    for (int i = 0; i < POLLED_TIMES; i++) {
        void *to = played_enqueue(c->p, &c->comm, NCCL_EVENT_P2P, &send_to, 10, 1 - c->comm.rank, CHANNELS);

        expect(to != NULL);
        c->p->stop(to);
        run_parts(c->p, &c->comm, to);
        run_some(c->p, &c->comm, &all_reduce, 1);
    }
    pthread_barrier_wait(c->all); /* all of them are there at the same time */
    return NULL;
}

static void play_pollers(int version, int rank, int a, int b)
{
    static struct polled c[POLLERS];
    struct played p;
    pthread_barrier_t all;
    pthread_t thread[POLLERS];

    (void)a;
    (void)b;
    want_parts(1);
    expect(played_load(&p, plugin, version));
    pthread_barrier_init(&all, NULL, POLLERS);
    for (int i = 0; i < POLLERS; i++) {
        c[i] = (struct polled){ .p = &p,
                                .comm = { .hash = 100 + (uint64_t)i, .ranks = 2, .rank = rank },
                                .all = &all };
        expect(!played_init(&p, &c[i].comm));
        if (pthread_create(&thread[i], NULL, poll_for, &c[i]))
            _exit(1);
    }
    for (int i = 0; i < POLLERS; i++)
        pthread_join(thread[i], NULL);
}

static void check_pollers(int version)
{
    uint32_t ordered = 0;

    run_all(2, play_pollers, version, 0, 0);
    for (size_t i = 0; i < n_recorded; i++)
        for (size_t k = 0; k < i; k++)
            ordered += recorded[i].rank == recorded[k].rank && recorded[i].e.comm == recorded[k].e.comm &&
                       recorded[i].e.op == recorded[k].e.op && recorded[i].e.seq == recorded[k].e.seq + 1;
    is_int((long long)shared->bad, 0, "version %d: each of %d communicators has a thread that polls for it",
           version, POLLERS);
    is_int((long long)n_recorded, 2 * POLLERS * 2 * POLLED_TIMES,
           "version %d: the collectives and messages of all threads are recorded", version);
    is_int(ordered, 2 * POLLERS * 2 * (POLLED_TIMES - 1),
           "version %d: and in each communicator they have their numbers", version);
    is_int((long long)(counted.missed + counted.messages_missed), 0,
           "version %d: none of what threads do is missed", version);
    run_end();
}

static void check_full(int version)
{
    pid_t pid[RANKS] = { 0 };
    struct ring_counts counts = { 0 };
    struct ring *r;

    run_begin();
    rank_start(&pid[0], 0, play_full, version, 0, 0);
    while (running(pid))
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    r = ring_of(0);
    if (r)
        ring_counts_get(r, &counts);
    is_int((long long)shared->bad, 0,
           "version %d: NCCL goes on when more operations are under way than there is room for", version);
    is_int((long long)(counts.events + counts.dropped + counts.missed), 5001,
           "version %d: what had no room is counted", version);
    ring_close(r);
    run_end();
}

/* Under a guard that was started by others, with the plugin that NCCL would load: replay train VERSION SLOW
 * STEPS [PAUSE [ALGORITHM]] */
static int train_guarded(char **argv)
{
    pid_t pid[RANKS];
    const char *guard = getenv(RING_ENV_DIR), *named = getenv("NCCL_PROFILER_PLUGIN");

    if (!guard || !named) {
        fprintf(stderr, "replay: there is no guard, or NCCL is not told of a plugin\n");
        return 1;
    }
    pause_s = argv[3] ? (unsigned)atoi(argv[3]) : 0;
    algorithm = argv[3] ? argv[4] : NULL;
    share();
    snprintf(dir, sizeof(dir), "%s", guard);
    snprintf(plugin, sizeof(plugin), "%s", named);
    for (int i = 0; i < RANKS; i++)
        rank_start(&pid[i], i, rank_trains, atoi(argv[0]), atoi(argv[1]), atoi(argv[2]));
    while (running(pid) > 0)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    return shared->bad > 0;
}

int main(int argc, char **argv)
{
    const char *top = getenv("top_builddir");
    uint32_t collectives = argc == 2 ? (uint32_t)atoi(argv[1]) : 100000;

    if (argc >= 5 && !strcmp(argv[1], "train"))
        return train_guarded(argv + 2);
    snprintf(plugin, sizeof(plugin), "%s/.libs/libsyncguard_nccl.so", top ? top : ".");
    for (int version = 1; version <= VERSIONS; version++) {
        check_unguarded(version);
        check_matched(version, collectives);
        check_several(version);
    }
    check_table();
    check_names(2);
    check_names(VERSIONS);
    check_full(4);
    check_full(VERSIONS);
    check_many(4);
    check_pollers(4);
    check_pollers(VERSIONS);
    for (int version = 4; version <= VERSIONS; version++) {
        check_short(version);
        check_beside(version);
        for (int parts = 0; parts <= 1; parts++) {
            check_lives(version, parts);
            check_graph(version, parts);
        }
    }
    check_copies(6);
    check_copies(VERSIONS);
    check_timer(4);
    check_timer(VERSIONS);
    for (int version = 4; version <= VERSIONS; version++)
        check_named(version, version % RANKS, NULL);
    check_named(4, 0, "TREE");
    check_named(VERSIONS, 2, "NVLS");
    return done_testing();
}
