#include "nccl/record.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/control_page.h"
#include "ring/hot.h"
#include "ring/launch.h"

/* With rings: the program's, and NCCL's that poll, one for each communicator.  What a thread has takes memory
 * when it is used. */
#define THREADS RING_NCCL_MAX
/* operations of a thread that are under way; the CPU runs no further ahead of the GPU (CUDA's queue) */
#define POOL  1024u
#define TRIES 4u /* places looked at for a free one */
/* of an operation so much younger the end was seen: what did not end by then never will */
#define PASSED (POOL / 2)
/* of communicators that are open, together: one for each other rank and direction.  Chosen: 16 MiB, of which
 * only those in use take memory. */
#define COUNTERS_MAX (1u << 22)
#define RUNNING      8u /* operations on the GPU that a thread shows, one after the other; of more, the first */
#define APART        8u /* ticks: more than a nanosecond of any clock */

/* The rate of the GPU's timer is first measured over so long, and again each time that this has doubled: the
 * thread sees a beginning late by microseconds, at times by milliseconds. */
#define RATE_NS 1000000000u
/* So near must be what is measured next, or the first time was too late, or the timer was set anew. */
#define RATE_AGREES (1.0 / 64)
/* by so many parts it is known what the timer resolves */
#define STEPS 64u
/* so many times as long must last what it tells the length of */
#define LEAST 16u

/* The timer of a communicator's GPU beside our clock.  NVIDIA's counts nanoseconds, others need not, and none
 * says when it began.  One thread follows it: the first that sees a part. */
struct timer {
    const struct thread *_Atomic thread;
    uint64_t tick, gpu, ns; /* from where the rate is counted: by our clock, the GPU's, CLOCK_MONOTONIC */
    uint64_t span_ns;       /* over which it was measured; 0: it was not yet */
    double rate;            /* ticks a unit */
    bool agreed;            /* over twice the span it was the same: it is known */
    uint64_t newest, step;  /* what it resolves: all of its times lie multiples of that apart */
    uint32_t steps;         /* times by which that is known */
};

struct record_comm {
    bool used;
    uint64_t name; /* 0: not known yet */
    uint32_t ranks, rank;
    int place;                       /* its description's in the ring; -1: none */
    uint32_t seq;                    /* of the next collective */
    uint64_t next[RECORD_FUNCTIONS]; /* number that NCCL gives the next one of a function */
    uint32_t *sent, *received;       /* messages by the other's rank in it; NULL: messages are not recorded */
    struct timer timer;
};

/* An operation under way.  Its state is one word, so that who comes late finds another generation in it, not
 * another operation:
 *   bits 0-14   how many of its parts did not end
 *   bit 15      its enqueueing did not end.  Bits 0-15: 0, the place is free; CLAIMED, its event is being written;
 *               HELD, all of it ended, and its event is to be written behind others (write_held())
 *   bits 16-31  how many of its parts did not begin
 *   bits 32-63  generation, which no two operations of a place have one after another */
#define LEFT       0xffffu
#define CLAIMED    0xffffu
#define HELD       0xfffeu
#define PARTS      0x7fffu
#define PARTS_MAX  0x7ffdu /* so that no number of them looks like HELD */
#define ENQUEUES   0x8000u
#define ONE_BEGINS 0x10000u
#define BEGINS     (0xffffu * ONE_BEGINS)
struct operation {
    _Atomic uint64_t state;
    uint64_t enter, leave;        /* of enqueueing */
    _Atomic uint64_t first, last; /* of the parts */
    /* By the GPU's timer; how many parts it was told of when they began, and ended * TIMED_ENDS; what it was
     * when the first one began. */
    _Atomic uint64_t gpu_first, gpu_last;
    _Atomic uint32_t timed;
    double rate;
    uint64_t least; /* units */
    uint64_t comm, bytes;
    uint32_t seq, turn;
    int32_t root;
    uint16_t parts;
    uint8_t op;
    bool ends_early;
};
#define TIMED_ENDS 0x10000u

/* A handle is made of the place, the generation and whether it is a part's; it is never NULL. */
#define HANDLE_PART       1u
#define HANDLE_PLACE      1
#define HANDLE_GENERATION 15
#define GENERATIONS \
    (UINTPTR_MAX >> HANDLE_GENERATION < UINT32_MAX ? UINTPTR_MAX >> HANDLE_GENERATION : UINT32_MAX)
_Static_assert(THREADS *POOL == 1u << (HANDLE_GENERATION - HANDLE_PLACE), "each place has its handles");

struct thread {
    atomic_bool taken;
    struct ring *_Atomic ring;
    uint32_t next;           /* turn of the next operation: its place is the turn's remainder */
    _Atomic uint32_t passed; /* turn of the operation that ended last */
    struct running {
        struct operation *operation;
        uint32_t generation;
    } running[RUNNING];           /* the thread's own: what it saw begin on the GPU, the oldest first */
    struct running held[RUNNING]; /* its own: messages that ended, and are not written yet */
    uint32_t n_running, n_held;
    struct operation pool[POOL];
};

static struct {
    atomic_bool active;  /* there is a ring, and this is no forked child */
    atomic_bool several; /* ranks of one communicator are in this process: nothing is recorded any more */
    bool tried, parts;
    bool own; /* the process has no rings of another guest's */
    char dir[PATH_MAX];
    struct ring_info info;
    uint32_t first_thread; /* number of our first ring */
    const struct control_page *control;
    pthread_key_t ended;
    size_t counters; /* of messages */
    /* Latest ends on the GPU, as the threads saw them: of all operations, and of those without times of the
     * GPU's.  By its timer: of those that have them. */
    _Atomic uint64_t ended_last, ended_untold, gpu_ended;
    _Atomic uint64_t left_last; /* the latest end that was written */
} process;
static struct thread threads[THREADS];
static struct record_comm comms[RECORD_COMMS_MAX];
/* Held while communicators open and close, never in an operation. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct thread *self __attribute__((tls_model("initial-exec")));

/* ---- the process ---- */

static struct ring *ring_make(uint32_t i)
{
    struct ring_info info = process.info;
    struct ring *r;

    info.thread = process.first_thread + i;
    r = ring_create(process.dir, &info, info.thread == 0 ? RING_CAPACITY_MAIN : RING_CAPACITY_THREAD);
    if (r && info.thread == 0)
        process.info.incarnation = info.incarnation;
    atomic_store_explicit(&threads[i].ring, r, memory_order_release);
    return r;
}

static void forked(void)
{
    pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

    /* Another thread of the parent may have held the lock. */
    opening = unlocked;
    atomic_store_explicit(&process.active, false, memory_order_relaxed);
    self = NULL;
}

static void write_held(struct thread *t);

static void thread_end(void *arg)
{
    struct thread *t = arg;
    uint64_t entered = atomic_load_explicit(&t->ring->file->entered, memory_order_relaxed);

    self = NULL;
    t->n_running = 0; /* it sees nothing of them any more */
    if (atomic_load_explicit(&process.active, memory_order_relaxed)) {
        write_held(t);
        /* It is still inside of a collective whose communicator was aborted. */
        if (entered && hot_place(t->ring)->enter == entered)
            ring_leave(t->ring, ring_now(t->ring));
    }
    t->n_held = 0;
    atomic_store_explicit(&t->taken, false, memory_order_release);
}

/* Under the lock. */
static void join_step(void)
{
    const char *dir = getenv(RING_ENV_DIR), *events = getenv(RECORD_ENV_EVENTS);

    if (process.tried)
        return;
    process.tried = true;
    if (!dir || !*dir || snprintf(process.dir, sizeof(process.dir), "%s", dir) >= (int)sizeof(process.dir) ||
        !launch_rank(&process.info, RECORD_RANKS_MAX))
        return;
    launch_process(&process.info);
    snprintf(process.info.library, sizeof(process.info.library), "NCCL");
    process.own = !launch_has_rings(process.dir, &process.info);
    process.first_thread = process.own ? 0 : RING_NCCL_FIRST;
    if (pthread_key_create(&process.ended, thread_end) || pthread_atfork(NULL, NULL, forked) || !ring_make(0))
        return;
    process.control = control_page_follow(process.dir);
    process.parts = events && !strcmp(events, "device");
    atomic_store_explicit(&process.active, true, memory_order_release);
}

/* A program that ends in order has finished, whether it closed its communicators or not: few do. */
__attribute__((destructor)) static void leave_process(void)
{
    if (!atomic_exchange(&process.active, false) || !process.own)
        return;
    for (size_t i = 0; i < THREADS; i++)
        if (threads[i].ring)
            ring_state_set(threads[i].ring, RING_STATE_FINALIZED);
}

bool record_wants_parts(void)
{
    return process.parts && !atomic_load_explicit(&process.several, memory_order_relaxed);
}

/* ---- threads ---- */

static struct thread *thread_take(void)
{
    int saved = errno;

    for (uint32_t i = 0; i < THREADS && !self; i++) {
        struct thread *t = &threads[i];

        if (atomic_load_explicit(&t->taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&t->taken, true, memory_order_acquire))
            continue;
        if (!t->ring && !ring_make(i))
            break; /* stays taken: trying again at each event would cost a system call */
        if (pthread_setspecific(process.ended, t))
            break;
        self = t;
    }
    if (!self)
        ring_missed(threads[0].ring);
    errno = saved;
    return self;
}

static inline struct thread *thread_get(void)
{
    if (__builtin_expect(!atomic_load_explicit(&process.active, memory_order_relaxed), 0))
        return NULL;
    return __builtin_expect(self != NULL, 1) ? self : thread_take();
}

/* ---- communicators ---- */

static bool is_named_twice(const struct record_comm *c)
{
    for (size_t i = 0; i < RECORD_COMMS_MAX; i++)
        if (comms[i].used && comms[i].name == c->name && &comms[i] != c)
            return true;
    return false;
}

/* Nothing is told of communicators of which no collective follows. */
static void refuse_several(void)
{
    char text[NOTE_MAX];
    int saved = errno;

    if (atomic_exchange(&process.several, true))
        return;
    for (size_t i = 0; i < RECORD_COMMS_MAX; i++)
        if (comms[i].used) {
            ring_comm_end(threads[0].ring, comms[i].place);
            comms[i].place = -1;
        }
    snprintf(text, sizeof(text),
             "NCCL's collectives are not recorded: processes of %.64s have several ranks of one communicator",
             process.info.program);
    launch_note(process.dir, text);
    errno = saved;
}

/* Under the lock, as soon as it has a name. */
static void describe_comm(struct record_comm *c)
{
    if (is_named_twice(c))
        refuse_several();
    /* Which ranks of the job are in it, NCCL does not say: any may be.  Who hears of all of them knows. */
    if (c->ranks <= process.info.world_size && c->rank < c->ranks && !process.several)
        c->place = ring_comm_add(threads[0].ring, &(struct ring_comm){ .name = c->name,
                                                                       .membership = c->name,
                                                                       .size = c->ranks,
                                                                       .rank = c->rank,
                                                                       .last = process.info.world_size - 1,
                                                                       .flags = RING_COMM_BOUNDED });
}

/* Messages are recorded where there is room to count them. */
static void counters_make(struct record_comm *c)
{
    if (2 * (size_t)c->ranks > COUNTERS_MAX - process.counters)
        return;
    c->sent = calloc(2 * (size_t)c->ranks, sizeof(*c->sent));
    if (!c->sent)
        return;
    c->received = c->sent + c->ranks;
    process.counters += 2 * (size_t)c->ranks;
}

static void counters_free(struct record_comm *c)
{
    if (c->sent)
        process.counters -= 2 * (size_t)c->ranks;
    free(c->sent);
}

static struct record_comm *comm_new(uint64_t name, uint32_t ranks, uint32_t rank)
{
    struct record_comm *c = NULL;

    for (size_t i = 0; i < RECORD_COMMS_MAX && !c; i++)
        if (!comms[i].used)
            c = &comms[i];
    if (!c)
        return NULL;
    memset(c, 0, sizeof(*c));
    c->name = name;
    c->ranks = ranks ? ranks : process.info.world_size;
    c->rank = rank;
    c->place = -1;
    counters_make(c);
    c->used = true;
    if (name)
        describe_comm(c);
    return c;
}

struct record_comm *record_open(uint64_t name, uint32_t ranks, uint32_t rank)
{
    struct record_comm *c = NULL;
    int saved = errno;

    if (ranks > RECORD_RANKS_MAX || (ranks && !name))
        return NULL;
    pthread_mutex_lock(&opening);
    join_step();
    if (atomic_load_explicit(&process.active, memory_order_relaxed))
        c = comm_new(name, ranks, rank);
    pthread_mutex_unlock(&opening);
    errno = saved;
    return c;
}

void record_name(struct record_comm *c, uint64_t name, uint32_t rank)
{
    if (!c || c->name || !name)
        return;
    pthread_mutex_lock(&opening);
    c->name = name;
    c->rank = rank;
    if (atomic_load_explicit(&process.active, memory_order_relaxed))
        describe_comm(c);
    pthread_mutex_unlock(&opening);
}

uint32_t record_ranks(const struct record_comm *c)
{
    return c ? c->ranks : 0;
}

static bool give_up_operation(struct operation *p, uint64_t state)
{
    return (state & LEFT) && (state & LEFT) != CLAIMED &&
           atomic_compare_exchange_strong_explicit(&p->state, &state, state & ~(uint64_t)(BEGINS | LEFT),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

void record_close(struct record_comm *c)
{
    bool active;

    if (!c)
        return;
    pthread_mutex_lock(&opening);
    /* In a forked child the rings are its parent's. */
    active = atomic_load_explicit(&process.active, memory_order_relaxed);
    for (size_t i = 0; active && process.parts && i < (size_t)THREADS * POOL; i++) {
        struct operation *p = &threads[i / POOL].pool[i % POOL];
        uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);

        /* where it is aborted some parts never end, and what is held for them is not written */
        if ((state & LEFT) && p->comm == c->name && give_up_operation(p, state))
            ring_missed(threads[i / POOL].ring);
    }
    if (c->used && active)
        ring_comm_end(threads[0].ring, c->place);
    counters_free(c);
    memset(c, 0, sizeof(*c));
    pthread_mutex_unlock(&opening);
}

/* ---- operations ---- */

/* The number of a collective among all of its communicator: NCCL counts them by function.  False: this one
 * was numbered before, as those are that a graph was captured from, which NCCL does not count. */
static bool number_collective(struct record_comm *c, const struct record_operation *o, uint32_t *seq)
{
    uint64_t *next = &c->next[o->function % RECORD_FUNCTIONS], n = o->uncounted ? *next : o->seq;

    if (n < *next)
        return false;
    c->seq += (uint32_t)(n - *next);
    *next = n + 1;
    *seq = c->seq++;
    return true;
}

static bool number_message(struct record_comm *c, const struct record_operation *o, uint32_t *seq)
{
    if (!c->sent || o->root < 0 || (uint32_t)o->root >= c->ranks)
        return false;
    *seq = (o->op == RING_OP_SEND ? c->sent : c->received)[o->root]++;
    return true;
}

/* Only the thread whose pool it is takes a place. */
static struct operation *take_place(struct thread *t)
{
    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t turn = t->next++;
        struct operation *p = &t->pool[turn % POOL];
        uint64_t state = atomic_load_explicit(&p->state, memory_order_acquire);
        int32_t behind;

        if (__builtin_expect((state & LEFT) != 0, 0)) {
            behind = (int32_t)(atomic_load_explicit(&t->passed, memory_order_relaxed) - p->turn);
            if (behind < (int32_t)PASSED || !give_up_operation(p, state))
                continue;
            ring_missed(t->ring);
        }
        p->turn = turn;
        return p;
    }
    return NULL;
}

static void *handle_of(const struct operation *p, uint32_t generation, unsigned part)
{
    uintptr_t thread = ((uintptr_t)p - (uintptr_t)threads) / sizeof(threads[0]),
              at = (uintptr_t)(p - threads[thread].pool);

    return (void *)((uintptr_t)generation << HANDLE_GENERATION | (thread * POOL + at) << HANDLE_PLACE | part);
}

/* Did a part of it, or its enqueueing, not end? */
static bool is_open(uint64_t state)
{
    return (state & LEFT) && (state & LEFT) < HELD;
}

/* NULL: what it was given for is over.  *state: as it is now. */
static struct operation *operation_of(const void *handle, uint64_t *state)
{
    uintptr_t h = (uintptr_t)handle, at = h >> HANDLE_PLACE & (THREADS * POOL - 1);
    struct operation *p = &threads[at / POOL].pool[at % POOL];

    *state = atomic_load_explicit(&p->state, memory_order_acquire);
    return h >> HANDLE_GENERATION == *state >> 32 && is_open(*state) ? p : NULL;
}

/* For who looks, the rank is inside of a collective now. */
static void show_operation(struct thread *t, const struct operation *p, uint64_t now, uint8_t flags)
{
    if (!ring_op_is_message(p->op))
        hot_enter(t->ring, &(struct ring_event){ .enter = now,
                                                 .comm = p->comm,
                                                 .bytes = p->bytes,
                                                 .seq = p->seq,
                                                 .root = -1,
                                                 .op = p->op,
                                                 .flags = flags });
}

void *record_begin(struct record_comm *c, const struct record_operation *o)
{
    struct thread *t = thread_get();
    uint32_t seq, generation, parts;
    bool message = ring_op_is_message(o->op);
    bool known = c && c->name && !atomic_load_explicit(&process.several, memory_order_relaxed);
    /* also where it is not recorded: those behind it keep theirs */
    bool numbered = known && (message ? number_message(c, o, &seq) : number_collective(c, o, &seq));
    struct operation *p;

    if (!t)
        return NULL;
    if (__builtin_expect(!known, 0)) {
        (message ? ring_message_missed : ring_missed)(t->ring);
        return NULL;
    }
    if (!numbered) {
        if (message)
            ring_message_missed(t->ring);
        return NULL;
    }
    if (!__atomic_load_n(&process.control->record, __ATOMIC_RELAXED))
        return NULL;
    p = take_place(t);
    if (!p) {
        ring_missed(t->ring);
        return NULL;
    }
    p->enter = ring_now(t->ring);
    p->comm = c->name;
    p->bytes = o->bytes;
    p->seq = seq;
    p->root = o->root;
    p->op = (uint8_t)o->op;
    parts = process.parts && o->parts <= PARTS_MAX ? o->parts : 0;
    p->parts = (uint16_t)parts;
    p->ends_early = o->ends_early;
    p->rate = 0;
    atomic_store_explicit(&p->first, 0, memory_order_relaxed);
    atomic_store_explicit(&p->timed, 0, memory_order_relaxed);
    generation = (uint32_t)(atomic_load_explicit(&p->state, memory_order_relaxed) >> 32);
    generation = generation < GENERATIONS ? generation + 1 : 1;
    atomic_store_explicit(&p->state,
                          (uint64_t)generation << 32 | (uint64_t)parts * ONE_BEGINS | ENQUEUES | parts,
                          memory_order_release);
    if (!parts) /* else the rank is in it from when the GPU is */
        show_operation(t, p, p->enter, RING_EVENT_NONBLOCKING);
    if (message)
        hot_p2p_posted(t->ring, o->op == RING_OP_SEND ? o->bytes : 0);
    return handle_of(p, generation, 0);
}

/* ---- the GPU's timer ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static void restart_timer(struct timer *m, uint64_t tick, uint64_t gpu, uint64_t ns)
{
    m->tick = tick;
    m->gpu = gpu;
    m->ns = ns;
    m->span_ns = 0;
    m->agreed = false;
}

/* At this tick it was seen that a part had begun. */
static void follow_timer(struct timer *m, uint64_t tick, uint64_t gpu)
{
    struct timespec now;
    uint64_t ns;
    double rate;

    if (m->newest && m->steps < STEPS && gpu != m->newest) {
        m->step = divisor(gpu > m->newest ? gpu - m->newest : m->newest - gpu, m->step);
        m->steps++;
    }
    m->newest = gpu;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (!m->gpu || gpu <= m->gpu || tick <= m->tick) {
        restart_timer(m, tick, gpu, ns);
        return;
    }
    if (ns - m->ns < (m->span_ns ? 2 * m->span_ns : RATE_NS))
        return;
    rate = (double)(tick - m->tick) / (double)(gpu - m->gpu);
    if (m->span_ns && (rate > m->rate * (1 + RATE_AGREES) || rate < m->rate * (1 - RATE_AGREES))) {
        restart_timer(m, tick, gpu, ns);
        return;
    }
    m->agreed = m->span_ns > 0;
    m->rate = rate;
    m->span_ns = ns - m->ns;
}

static void time_begin(struct operation *p, struct record_comm *c, const struct thread *t, uint64_t tick,
                       uint64_t gpu)
{
    const struct thread *other = NULL;

    if (!c || !gpu || c->name != p->comm ||
        (!atomic_compare_exchange_strong(&c->timer.thread, &other, t) && other != t))
        return;
    follow_timer(&c->timer, tick, gpu);
    if (atomic_fetch_add_explicit(&p->timed, 1, memory_order_relaxed) % TIMED_ENDS == 0) {
        atomic_store_explicit(&p->gpu_first, gpu, memory_order_relaxed);
        p->rate = c->timer.agreed && c->timer.steps == STEPS ? c->timer.rate : 0;
        p->least = LEAST * c->timer.step;
    } else if (gpu < atomic_load_explicit(&p->gpu_first, memory_order_relaxed)) {
        atomic_store_explicit(&p->gpu_first, gpu, memory_order_relaxed);
    }
}

/* In ticks; 0: it is not told, or what is told cannot be. */
static uint64_t timed_length(const struct operation *p, uint64_t last)
{
    uint64_t from = atomic_load_explicit(&p->gpu_first, memory_order_relaxed),
             to = atomic_load_explicit(&p->gpu_last, memory_order_relaxed);
    double length;

    if (!(p->rate > 0) || to <= from || to - from < p->least ||
        atomic_load_explicit(&p->timed, memory_order_relaxed) != p->parts * (TIMED_ENDS + 1))
        return 0;
    length = (double)(to - from) * p->rate;
    return length <= (double)(last - p->enter) ? (uint64_t)length : 0;
}

/* ---- parts and ends ---- */

static void raise_to(_Atomic uint64_t *latest, uint64_t time)
{
    if (atomic_load_explicit(latest, memory_order_relaxed) < time)
        atomic_store_explicit(latest, time, memory_order_relaxed);
}

/* An operation began beside another one that ended between its own beginning and end, as in a group, whose
 * messages run together, or on another stream; it held the GPU alone only from then on.  Where the GPU timed
 * both, its timer decides: the thread often sees the next operation of a stream begin before it sees the last
 * one end.  Otherwise what the thread saw does. */
static bool began_beside(const struct operation *p, uint64_t first, bool timed)
{
    if (!timed)
        return atomic_load_explicit(&process.ended_last, memory_order_relaxed) > first;
    return atomic_load_explicit(&process.gpu_ended, memory_order_relaxed) >
               atomic_load_explicit(&p->gpu_first, memory_order_relaxed) ||
           atomic_load_explicit(&process.ended_untold, memory_order_relaxed) > first;
}

static void place_parts(struct ring_event *e, const struct operation *p)
{
    uint64_t first = atomic_load_explicit(&p->first, memory_order_relaxed),
             last = atomic_load_explicit(&p->last, memory_order_relaxed), length = timed_length(p, last),
             left = atomic_load_explicit(&process.left_last, memory_order_relaxed);
    bool beside = began_beside(p, first, length > 0);

    e->enter = length && last - length < first ? last - length : first;
    e->leave = length ? e->enter + length : last;
    e->flags = beside ? RING_EVENT_NONBLOCKING : 0;
    if (!beside && left > e->enter)
        e->enter = left;
    if (e->leave < e->enter)
        e->leave = e->enter;
    /* Messages are left in the order in which they are written. */
    if (ring_op_is_message(p->op) && e->leave < left + APART)
        e->leave = left + APART;
    if (beside) {
        e->wait = left > e->enter ? left : e->enter;
        e->wait = e->wait < e->leave ? e->wait : e->leave;
    }
    raise_to(&process.ended_last, last);
    if (length)
        raise_to(&process.gpu_ended, atomic_load_explicit(&p->gpu_last, memory_order_relaxed));
    else
        raise_to(&process.ended_untold, last);
    raise_to(&process.left_last, e->leave);
}

/* All of it ended: this thread writes the event. */
static void write_event(struct thread *t, const struct operation *p)
{
    struct ring_event e = { .enter = p->enter,
                            .leave = p->leave,
                            .comm = p->comm,
                            .bytes = p->bytes,
                            .seq = p->seq,
                            .root = p->root,
                            .op = p->op,
                            .flags = RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED };

    if (p->parts)
        place_parts(&e, p);
    if (p->ends_early && p->parts)
        e.flags |= RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED | RING_EVENT_EARLY;
    if (ring_op_is_message(p->op))
        e.flags |= RING_EVENT_MEMBER;
    ring_emit(t->ring, &e);
    if (p->parts && (e.flags & RING_EVENT_NONBLOCKING) && !ring_op_is_message(p->op)) {
        /* over now, though it is begun as a nonblocking one, which was left when it was begun */
        hot_enter(t->ring, &e);
        ring_leave(t->ring, e.leave);
    }
}

/* Does the GPU run a part of it? */
static bool runs(uint64_t state)
{
    return (state & PARTS) > (state & BEGINS) / ONE_BEGINS;
}

/* ---- what a thread shows: operations that it saw begin on the GPU, and that run ---- */

static void forget_ended(struct thread *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_running; i++) {
        struct running r = t->running[i];
        uint64_t state = atomic_load_explicit(&r.operation->state, memory_order_acquire);

        if (state >> 32 == r.generation && is_open(state) && runs(state))
            t->running[n++] = r;
    }
    t->n_running = n;
}

/* With whom the rank exchanges one of several messages that run together: any of them may be the one that
 * does not end. */
static void show_message(struct thread *t, const struct operation *p, bool alone)
{
    hot_enter_message(t->ring, atomic_load_explicit(&p->first, memory_order_relaxed), false,
                      hot_message_new(&(struct ring_event){ .comm = p->comm,
                                                            .bytes = p->bytes,
                                                            .seq = p->seq,
                                                            .root = alone ? p->root : -1,
                                                            .op = p->op,
                                                            .flags = RING_EVENT_MEMBER }));
}

/* The one that runs for longest; now: if none runs any more, it left the last one. */
static void show_running(struct thread *t, uint64_t now)
{
    const struct operation *p;
    uint32_t messages = 0;

    forget_ended(t);
    if (!t->n_running) {
        ring_leave(t->ring, now);
        return;
    }
    for (uint32_t i = 0; i < t->n_running; i++)
        messages += ring_op_is_message(t->running[i].operation->op);
    p = t->running[0].operation;
    if (ring_op_is_message(p->op))
        show_message(t, p, messages == 1);
    else
        show_operation(t, p, atomic_load_explicit(&p->first, memory_order_relaxed), 0);
}

static void begin_running(struct thread *t, struct operation *p, uint32_t generation)
{
    forget_ended(t);
    for (uint32_t i = 0; i < t->n_running; i++)
        if (t->running[i].operation == p)
            return;
    if (t->n_running < RUNNING)
        t->running[t->n_running++] = (struct running){ p, generation };
}

/* ---- ends ---- */

/* All of it ended, and its place is claimed: this thread writes the event, and the place is free. */
static void finish_operation(struct thread *t, struct operation *p)
{
    struct thread *of = &threads[((uintptr_t)p - (uintptr_t)threads) / sizeof(threads[0])];
    uint64_t generation = atomic_load_explicit(&p->state, memory_order_relaxed) >> 32;

    if (t)
        write_event(t, p);
    atomic_store_explicit(&of->passed, p->turn, memory_order_relaxed);
    atomic_store_explicit(&p->state, generation << 32, memory_order_release);
}

static bool is_beside(const struct thread *t, const struct operation *p)
{
    for (uint32_t i = 0; i < t->n_running; i++)
        if (t->running[i].operation->comm == p->comm && ring_op_is_message(t->running[i].operation->op))
            return true;
    return false;
}

/* Of those held that wait for none any more, the one enqueued first; t->n_held: none. */
static uint32_t next_held(const struct thread *t)
{
    uint32_t best = t->n_held;

    for (uint32_t i = 0; i < t->n_held; i++)
        if (!is_beside(t, t->held[i].operation) &&
            (best == t->n_held || (int32_t)(t->held[i].operation->turn - t->held[best].operation->turn) < 0))
            best = i;
    return best;
}

/* Messages of a communicator that the GPU is in together, as those of a group, end in any order, and in the
 * next step in another.  They are written in the order in which the program enqueued them, each as left after
 * the one before it: what a program repeats looks alike.  Until then they may be given up, as those of a
 * communicator that closes are. */
static void write_held(struct thread *t)
{
    forget_ended(t);
    for (uint32_t i; (i = next_held(t)) < t->n_held;) {
        struct running h = t->held[i];
        uint64_t held = (uint64_t)h.generation << 32 | HELD;

        t->held[i] = t->held[--t->n_held];
        if (atomic_compare_exchange_strong_explicit(&h.operation->state, &held, held | CLAIMED,
                                                    memory_order_acq_rel, memory_order_relaxed))
            finish_operation(t, h.operation);
    }
}

/* One of its parts, or its enqueueing, ended: t NULL if no ring can take the event. */
static void end_one(struct thread *t, struct operation *p, uint64_t state, uint32_t one)
{
    uint32_t generation = (uint32_t)(state >> 32);
    uint64_t left = 0;
    bool last, gpu_left, hold;

    if (t && one != ENQUEUES)
        left = atomic_load_explicit(&p->last, memory_order_relaxed);
    hold = t && one != ENQUEUES && ring_op_is_message(p->op) && t->n_held < RUNNING;
    do {
        /* given up meanwhile, or ended twice */
        if (state >> 32 != generation || !is_open(state) ||
            !(one == ENQUEUES ? state & ENQUEUES : runs(state)))
            return;
        last = (state & LEFT) == one;
    } while (!atomic_compare_exchange_weak_explicit(&p->state, &state,
                                                    !last  ? state - one
                                                    : hold ? (state & ~(uint64_t)LEFT) | HELD
                                                           : state | CLAIMED,
                                                    memory_order_acq_rel, memory_order_acquire));
    gpu_left = t && one != ENQUEUES && (last || !runs(state - one));
    if (last && hold)
        t->held[t->n_held++] = (struct running){ p, generation };
    else if (last)
        finish_operation(t, p);
    if (!gpu_left)
        return;
    write_held(t);
    show_running(t, left);
}

void *record_part(struct record_comm *c, void *operation, uint64_t gpu)
{
    uint64_t state, now, none = 0;
    struct operation *p = operation_of(operation, &state);
    struct thread *t = p ? thread_get() : NULL;
    uint32_t generation = (uint32_t)(state >> 32);

    if (!t)
        return NULL;
    do {
        if (state >> 32 != generation || !(state & BEGINS))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&p->state, &state, state - ONE_BEGINS,
                                                    memory_order_acq_rel, memory_order_acquire));
    now = ring_now(t->ring);
    time_begin(p, c, t, now, gpu);
    if (!runs(state)) {
        atomic_compare_exchange_strong_explicit(&p->first, &none, now, memory_order_relaxed,
                                                memory_order_relaxed);
        begin_running(t, p, generation);
        show_running(t, now); /* the GPU is in it */
    }
    return handle_of(p, generation, HANDLE_PART);
}

void record_part_stop(void *part, uint64_t gpu)
{
    uint64_t state;
    struct operation *p = (uintptr_t)part & HANDLE_PART ? operation_of(part, &state) : NULL;
    uint32_t before;

    if (!p || !gpu || !thread_get())
        return;
    before = atomic_fetch_add_explicit(&p->timed, TIMED_ENDS, memory_order_relaxed);
    if (before < TIMED_ENDS || gpu > atomic_load_explicit(&p->gpu_last, memory_order_relaxed))
        atomic_store_explicit(&p->gpu_last, gpu, memory_order_relaxed);
}

void record_end(void *handle)
{
    uint64_t state;
    struct operation *p = operation_of(handle, &state);
    struct thread *t = p ? thread_get() : NULL;

    if (!p)
        return;
    if ((uintptr_t)handle & HANDLE_PART) {
        if (t)
            atomic_store_explicit(&p->last, ring_now(t->ring), memory_order_relaxed);
    } else if (t) {
        p->leave = ring_now(t->ring);
        if (!ring_op_is_message(p->op) && !p->parts)
            ring_leave(t->ring, p->leave);
    }
    end_one(t, p, state, (uintptr_t)handle & HANDLE_PART ? 1 : ENQUEUES);
}
