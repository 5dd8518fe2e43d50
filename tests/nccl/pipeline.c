/* pipeline.c - NCCL's calls of a training in two stages, played by ranks that are processes, under a guard
 * that others started and with the plugin that NCCL would load: pipeline VERSION SLOW STEPS [PAUSE]
 *
 * Ranks 0 and 1 are the first stage of two replicas, 2 and 3 the second.  Activations go up and gradients
 * down in a communicator of the two stages of a replica, and the replicas of a stage sum their gradients in
 * one of their own: none has all ranks.  What the GPU would do, a thread of each rank does, one operation
 * after the other, and the rank waits for it.  Rank SLOW, of the first stage, works longer; with PAUSE it
 * stops for so many seconds in the middle, where it should send. */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/nccl/played.h"

enum { RANKS = 4, REPLICAS = 2, MICROBATCHES = 4, CHANNELS = 2, WORK_NS = 2000000, SLOW_NS = 6000000 };

static const struct played_function all_reduce = { "AllReduce", 4 }, send_to = { "Send", 6 },
                                    receive = { "Recv", 7 };
static const uint64_t hash = 0x0ddba115ca1ab1e0u;

/* What all processes of a run share. */
static struct shared {
    sem_t mail[RANKS][RANKS]; /* messages on their way, from one rank to another */
    pthread_barrier_t stage[RANKS / REPLICAS];
    _Atomic uint32_t bad; /* calls that did not go as they must */
} * shared;

struct rank {
    int number, stage, replica, slow, steps;
    unsigned pause_s;
    struct played p;
    struct played_comm line, replicas; /* the stages of its replica; the replicas of its stage */
    /* what its GPU does, next to the plugin's handle of it */
    struct gpu {
        struct played_comm *comm;
        const struct played_function *f;
        void *operation;
        int channels;
        bool end;
        sem_t begin, done;
    } gpu;
};

static void expect(bool good)
{
    shared->bad += !good;
}

static void wait_for(sem_t *s)
{
    while (sem_wait(s) < 0)
        ;
}

/* The rank at the same place of the other stage. */
static int partner(const struct rank *r)
{
    return (r->number + REPLICAS) % RANKS;
}

/* Returns when those have come that the operation waits for. */
static void run_operation(struct rank *r)
{
    if (r->gpu.f == &send_to)
        sem_post(&shared->mail[r->number][partner(r)]);
    else if (r->gpu.f == &receive)
        wait_for(&shared->mail[partner(r)][r->number]);
    else
        pthread_barrier_wait(&shared->stage[r->stage]);
}

static void *gpu_runs(void *arg)
{
    struct rank *r = arg;
    struct gpu *g = &r->gpu;
    void *part[CHANNELS];

    for (;;) {
        wait_for(&g->begin);
        if (g->end)
            return NULL;
        for (int i = 0; i < g->channels; i++) {
            union played_event e = { .room = { 0 } };

            part[i] = played_start(&r->p, g->comm, NCCL_EVENT_KERNEL, g->operation, &e);
            expect(part[i] != NULL);
        }
        run_operation(r);
        for (int i = 0; i < g->channels; i++)
            r->p.stop(part[i]);
        sem_post(&g->done);
    }
}

/* peer: of a message, the other's rank in the communicator. */
static void call(struct rank *r, struct played_comm *c, uint64_t type, const struct played_function *f,
                 int peer)
{
    struct gpu *g = &r->gpu;

    g->comm = c;
    g->f = f;
    g->channels = type == NCCL_EVENT_P2P ? 1 : CHANNELS;
    g->operation = played_enqueue(&r->p, c, type, f, 4096, peer, g->channels);
    expect(g->operation != NULL);
    r->p.stop(g->operation);
    sem_post(&g->begin);
    wait_for(&g->done);
}

static void message(struct rank *r, const struct played_function *f)
{
    call(r, &r->line, NCCL_EVENT_P2P, f, 1 - r->stage);
}

static void work(const struct rank *r)
{
    bool slow = r->number == r->slow && !r->pause_s;

    nanosleep(&(struct timespec){ .tv_nsec = slow ? SLOW_NS : WORK_NS }, NULL);
}

static void first_stage(struct rank *r, int step)
{
    for (int m = 0; m < MICROBATCHES; m++) {
        work(r);
        if (r->number == r->slow && step == r->steps / 2 && m == 1)
            sleep(r->pause_s);
        message(r, &send_to);
    }
    for (int m = 0; m < MICROBATCHES; m++) {
        message(r, &receive);
        work(r);
    }
}

static void last_stage(struct rank *r)
{
    for (int m = 0; m < MICROBATCHES; m++) {
        message(r, &receive);
        work(r);
        message(r, &send_to);
    }
}

static void open_comms(struct rank *r)
{
    r->line = (struct played_comm){ .hash = hash + 1 + (uint64_t)r->replica, .ranks = 2, .rank = r->stage };
    r->replicas =
        (struct played_comm){ .hash = hash + 11 + (uint64_t)r->stage, .ranks = 2, .rank = r->replica };
    expect(!played_init(&r->p, &r->line) && !played_init(&r->p, &r->replicas));
    expect(r->line.context && r->replicas.context && (r->p.mask & NCCL_EVENT_KERNEL));
}

static void set_number(const char *name, int n)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", n);
    setenv(name, text, 1);
}

static void train(int number, const char *plugin, char **argv)
{
    static struct rank r;
    pthread_t thread;

    r.number = number;
    r.stage = number / REPLICAS;
    r.replica = number % REPLICAS;
    r.slow = atoi(argv[1]);
    r.steps = atoi(argv[2]);
    r.pause_s = argv[3] ? (unsigned)atoi(argv[3]) : 0;
    set_number("RANK", number);
    set_number("WORLD_SIZE", RANKS);
    if (!played_load(&r.p, plugin, atoi(argv[0])))
        _exit(1);
    open_comms(&r);
    sem_init(&r.gpu.begin, 0, 0);
    sem_init(&r.gpu.done, 0, 0);
    if (pthread_create(&thread, NULL, gpu_runs, &r))
        _exit(1);
    for (int step = 0; step < r.steps; step++) {
        if (r.stage == 0)
            first_stage(&r, step);
        else
            last_stage(&r);
        call(&r, &r.replicas, NCCL_EVENT_COLL, &all_reduce, 0);
    }
    r.gpu.end = true;
    sem_post(&r.gpu.begin);
    pthread_join(thread, NULL);
    r.p.finalize(r.replicas.context);
    r.p.finalize(r.line.context);
}

static bool share(void)
{
    pthread_barrierattr_t a;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    pthread_barrierattr_init(&a);
    pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    for (int i = 0; i < RANKS / REPLICAS; i++)
        pthread_barrier_init(&shared->stage[i], &a, REPLICAS);
    for (int i = 0; i < RANKS * RANKS; i++)
        sem_init(&shared->mail[i / RANKS][i % RANKS], 1, 0);
    return true;
}

int main(int argc, char **argv)
{
    const char *plugin = getenv("NCCL_PROFILER_PLUGIN");
    int status, failed = 0;

    if (argc < 4 || !plugin || !share()) {
        fprintf(stderr, "usage, under a guard: pipeline VERSION SLOW STEPS [PAUSE]\n");
        return 1;
    }
    for (int i = 0; i < RANKS; i++) {
        pid_t pid = fork();

        if (pid < 0)
            return 1;
        if (pid)
            continue;
        train(i, plugin, argv + 1);
        exit(0); /* the plugin's rings say that the rank has finished */
    }
    for (int i = 0; i < RANKS; i++)
        failed += wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed || shared->bad;
}
