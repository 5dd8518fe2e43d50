/* pace.c - see pace.h */
#include "probe/pace.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "pacing/pace.h"
#include "pacing/pacer.h"
#include "probe/comm.h"
#include "ring/pacing.h"

/* a rank held at the gate lets the library make progress this often */
#define SLICE_NS 1000000u
/* collectives until the leader looks: the other ranks have published by then */
#define LOOK_AFTER 2u
/* pacing rests where collectives follow each other faster than this, ... */
#define SHORT_NS    100000u
#define SHORT_REST  31u         /* ... for this many times the time that one look spans */
#define FRESH_AGAIN 1000000000u /* least extension of a plan's expiry: all ranks read it */
/* a plan expires after this time plus that of FRESH_CYCLES collectives */
#define FRESH_NS     10000000000u
#define FRESH_CYCLES 16u
#define GONE_NS      120000000000u /* a rank silent for this long is not counted */
#define LEADER_NS    20000000000u  /* a plan expired for this long has lost its leader */
#define LEARNT       32u           /* collectives of a step whose waits are remembered */

atomic_bool pace_engaged;
_Atomic uint64_t pace_rest_until;
const _Atomic uint64_t *pace_plan;
static atomic_bool releasing;  /* a waiting rank yields its core */
static atomic_bool polls_seen; /* the library polls by ucp_worker_progress() (MPICH over UCX) */

/* How long this rank stays in one collective of the step, measured without a lever. */
struct waits {
    uint64_t signature;
    struct pace_stays stays;
};

static struct {
    char dir[PATH_MAX];
    struct pacing_page *page;
    struct pacing_slot *slot;
    uint32_t slots; /* number of our slot, from 1 */
    bool failed;    /* no page, or no slot: never paced */
    uint32_t able;  /* levers that work here, PACER_... */
    bool (*yield_set)(bool);

    uint64_t engaged_ns;                 /* pacing has been on without a gap since then */
    uint64_t look_ns, stay_ns, switches; /* time of the last look; wait since then; switches until then */
    uint64_t look_tick;                  /* time of the last look, by the ring's clock */
    uint32_t in_row;                     /* collectives in a row without a lever */
    uint32_t look_at;                    /* collectives until the leader looks at all ranks */

    uint64_t sampled_by; /* the plan's communicator, and the number of its next collective */
    uint32_t sampled_next;
    struct waits waits[LEARNT];

    /* used by the leader only */
    bool leads;
    struct pacer pacer;
    struct pacer_sight sight;
} me;

/* ---- release ---- */

static void release_set(bool on)
{
    if (on == atomic_load_explicit(&releasing, memory_order_relaxed))
        return;
    if (me.yield_set)
        me.yield_set(on);
    atomic_store_explicit(&releasing, on, memory_order_relaxed);
}

/* A process may have two copies of UCX, the system's and one that a Python package brought, each for the
 * modules that were linked with it.  Both call the functions here, so each worker remembers whose it is. What
 * is global is everybody's, as without the probe. */
#define UCX_CREATE   "ucp_worker_create"
#define UCX_PROGRESS "ucp_worker_progress"
/* Slots, 64 KiB of zero pages, and those of them in which a worker may be.  For one that finds no room the
 * first copy that is found is called. */
#define WORKERS        4096u
#define WORKERS_NEARBY 16u
typedef signed char create_fn(void *context, const void *params, void **worker); /* ucs_status_t: one byte */
typedef unsigned progress_fn(void *worker);

static struct {
    void *_Atomic worker; /* also one that has ended: its address is given to another one */
    progress_fn *_Atomic progress;
} workers[WORKERS];

static inline size_t worker_slot(const void *worker, size_t i)
{
    return (size_t)(((uintptr_t)worker * 0x9e3779b97f4a7c15u >> 52) + i) % WORKERS;
}

static void worker_made(void *worker, progress_fn *progress)
{
    for (size_t i = 0; i < WORKERS_NEARBY; i++) {
        size_t slot = worker_slot(worker, i);
        void *at = NULL;

        if (!atomic_compare_exchange_strong(&workers[slot].worker, &at, worker) && at != worker)
            continue;
        atomic_store_explicit(&workers[slot].progress, progress, memory_order_release);
        return;
    }
}

static inline progress_fn *progress_of(const void *worker)
{
    for (size_t i = 0; i < WORKERS_NEARBY; i++) {
        size_t slot = worker_slot(worker, i);
        void *at = atomic_load_explicit(&workers[slot].worker, memory_order_acquire);

        if (at == worker)
            return atomic_load_explicit(&workers[slot].progress, memory_order_acquire);
        if (!at)
            return NULL;
    }
    return NULL;
}

EXPORTED(signed char ucp_worker_create(void *context, const void *params, void **worker))
{
    static struct next next = { UCX_CREATE, NULL };
    void *create = next_meant(__builtin_return_address(0), UCX_CREATE), *progress;
    signed char status;

    if (!create)
        create = (void *)next_get(&next);
    status = ((create_fn *)create)(context, params, worker);
    if (status)
        return status;
    progress = next_meant(create, UCX_PROGRESS);
    if (progress)
        worker_made(*worker, (progress_fn *)progress);
    return status;
}

/* MPICH (ch4 over UCX) calls this in a loop while it waits, and has no switch for yielding
 * (POLLS_BEFORE_YIELD is for ch3), so the probe yields here. */
EXPORTED(unsigned ucp_worker_progress(void *worker))
{
    static struct next next = { UCX_PROGRESS, NULL };
    progress_fn *own = progress_of(worker);
    unsigned done = (own ? own : (progress_fn *)next_get(&next))(worker);

    if (!done && atomic_load_explicit(&releasing, memory_order_relaxed))
        sched_yield();
    if (__builtin_expect(!atomic_load_explicit(&polls_seen, memory_order_relaxed), 0))
        atomic_store_explicit(&polls_seen, probe.abi.kind != ABI_OPENMPI, memory_order_relaxed);
    return done;
}

/* ---- joining ---- */

void pace_setup(const char *dir)
{
    me.failed = snprintf(me.dir, sizeof(me.dir), "%s", dir) >= (int)sizeof(me.dir);
}

static void cpus_publish(struct pacing_slot *s)
{
    cpu_set_t set;
    uint64_t word[PACING_CPUS / 64] = { 0 };

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        for (unsigned i = 0; i < CPU_SETSIZE && i < PACING_CPUS; i++)
            if (CPU_ISSET(i, &set))
                word[i / 64] |= 1ull << i % 64;
    for (unsigned i = 0; i < PACING_CPUS / 64; i++)
        atomic_store_explicit(&s->cpus[i], word[i], memory_order_relaxed);
}

/* Take a slot that is free or whose rank has been silent for GONE_NS: a step may run one program after
 * another. */
static struct pacing_slot *slot_take(uint64_t now)
{
    for (uint32_t i = 0; i < PACING_SLOTS; i++) {
        struct pacing_slot *s = &me.page->slot[i];
        uint32_t pid = atomic_load_explicit(&s->pid, memory_order_relaxed), n;

        if (pid && now < atomic_load_explicit(&s->seen_ns, memory_order_relaxed) + GONE_NS)
            continue;
        atomic_store_explicit(&s->seen_ns, now, memory_order_relaxed);
        if (!atomic_compare_exchange_strong(&s->pid, &pid, (uint32_t)getpid()))
            continue;
        atomic_store_explicit(&s->switches_mhz, UINT64_MAX, memory_order_relaxed);
        atomic_store_explicit(&s->wait_permille, UINT64_MAX, memory_order_relaxed);
        me.slots = i + 1;
        n = atomic_load(&me.page->slots);
        while (n < i + 1 && !atomic_compare_exchange_weak(&me.page->slots, &n, i + 1))
            ;
        return s;
    }
    return NULL;
}

static bool join_page(uint64_t now)
{
    bool yields;

    if (me.page || me.failed)
        return !me.failed;
    me.failed = true;
    me.page = pacing_join(me.dir);
    me.slot = me.page ? slot_take(now) : NULL;
    if (!me.slot)
        return false;
    pace_plan = &me.page->plan;
    cpus_publish(me.slot);
    me.able = PACER_GATE | PACER_DELAY | PACER_STAGGER;
    if (probe.abi.kind == ABI_OPENMPI)
        me.yield_set = (bool (*)(bool))next_symbol("opal_progress_set_yield_when_idle");
    if (me.yield_set) { /* Open MPI's own switch; where the user has set it, it is left alone */
        yields = me.yield_set(true);
        me.yield_set(yields);
        me.able |= yields ? 0 : PACER_RELEASE;
    }
    me.failed = false;
    return true;
}

static void lead_set(bool on)
{
    if (!on && me.leads) {
        atomic_store_explicit(&me.page->plan, 0, memory_order_relaxed);
        atomic_store_explicit(&me.page->leader, 0, memory_order_release);
    }
    if (on && !me.leads) {
        memset(&me.pacer, 0, sizeof(me.pacer));
        me.sight = (struct pacer_sight){ 0 };
        me.look_at = PACER_LOOK;
    }
    me.leads = on;
}

/* Undo what pacing changed, after it was switched off. */
static void disengage(void)
{
    release_set(false);
    if (me.page)
        lead_set(false);
    atomic_store_explicit(&pace_engaged, false, memory_order_relaxed);
}

void pace_finish(void)
{
    disengage();
    if (me.slot)
        atomic_store_explicit(&me.slot->pid, 0, memory_order_release);
}

/* ---- how busy the node is ---- */

static void look_publish(double s, uint64_t switches, uint64_t stay_ns)
{
    if (!(s > 0))
        return;
    atomic_store_explicit(&me.slot->switches_mhz, (uint64_t)(1e3 * (double)switches / s),
                          memory_order_relaxed);
    atomic_store_explicit(&me.slot->wait_permille, (uint64_t)((double)stay_ns * 1e-6 / s),
                          memory_order_relaxed);
    if (atomic_load_explicit(&polls_seen, memory_order_relaxed))
        me.able |= PACER_RELEASE;
    me.look_at = me.look_at < LOOK_AFTER ? me.look_at : LOOK_AFTER;
}

/* Measure this rank without a lever, over PACER_LOOK collectives in a row.  The first of a row is left out: a
 * lever may have been in force when its time began. */
static void look_at_me(const struct collective *k, uint64_t now, bool paced, uint64_t stay_ns)
{
    struct rusage usage = { 0 };
    uint64_t switches;

    me.stay_ns += stay_ns;
    if (paced)
        me.in_row = 0;
    else if (me.in_row++ % PACER_LOOK == 0) {
        getrusage(RUSAGE_SELF, &usage);
        switches = (uint64_t)usage.ru_nivcsw;
        if (me.in_row > 1) {
            look_publish((double)(now - me.look_ns) * 1e-9, switches - me.switches, me.stay_ns);
            if (now - me.look_ns < PACER_LOOK * SHORT_NS)
                atomic_store_explicit(&pace_rest_until,
                                      k->event.enter + SHORT_REST * (k->event.enter - me.look_tick),
                                      memory_order_release);
        }
        me.look_tick = k->event.enter;
        me.switches = switches;
        me.stay_ns = 0;
        me.look_ns = now;
    }
}

/* The leader adds up what all live ranks published. */
static void look_at_all(uint64_t now)
{
    uint32_t n = atomic_load_explicit(&me.page->slots, memory_order_relaxed), known = 0;
    uint64_t cpus[PACING_CPUS / 64] = { 0 }, figure;
    struct pacer_sight s = { .able = me.able };

    for (uint32_t i = 0; i < n && i < PACING_SLOTS; i++) {
        struct pacing_slot *slot = &me.page->slot[i];

        if (!atomic_load_explicit(&slot->pid, memory_order_relaxed) ||
            now > atomic_load_explicit(&slot->seen_ns, memory_order_relaxed) + GONE_NS)
            continue;
        s.ranks++;
        for (unsigned w = 0; w < PACING_CPUS / 64; w++)
            cpus[w] |= atomic_load_explicit(&slot->cpus[w], memory_order_relaxed);
        figure = atomic_load_explicit(&slot->switches_mhz, memory_order_relaxed);
        if (figure == UINT64_MAX)
            continue;
        known++;
        s.switches_hz += (double)figure * 1e-3;
        s.wait_ratio += (double)atomic_load_explicit(&slot->wait_permille, memory_order_relaxed) * 1e-3;
    }
    for (unsigned w = 0; w < PACING_CPUS / 64; w++)
        s.cores += (uint32_t)__builtin_popcountll(cpus[w]);
    s.switches_hz = known ? s.switches_hz / known : NAN;
    s.wait_ratio = known ? s.wait_ratio / known : NAN;
    s.spans = probe.world_size > s.ranks;
    me.sight = s;
}

/* ---- leading ---- */

static void report_put(void)
{
    uint32_t n = atomic_load_explicit(&me.page->slots, memory_order_relaxed);
    struct pacing_report r = { .mode = me.pacer.mode,
                               .lever = pacer_current(&me.pacer),
                               .ranks = me.sight.ranks,
                               .cores = me.sight.cores,
                               .collectives = me.pacer.at,
                               .with = me.pacer.epochs[1],
                               .without = me.pacer.epochs[0],
                               .switches_hz = me.sight.switches_hz,
                               .wait_ratio = me.sight.wait_ratio };

    for (uint32_t i = 0; i < n && i < PACING_SLOTS; i++) /* those of ranks that have ended, too */
        r.late += atomic_load_explicit(&me.page->slot[i].late, memory_order_relaxed);
    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        const struct pacer_lever *l = &me.pacer.lever[i];
        struct pacing_lever *out = &r.levers[i];

        out->why = l->why;
        out->compared = l->seen.n;
        out->log_mean = holdout_mean(&l->seen);
        if (!holdout_interval(&l->seen, 0.05, &out->log_low, &out->log_high))
            out->log_low = out->log_high = NAN;
    }
    pacing_report_put(me.page, &r);
}
_Static_assert(PACING_LEVERS == PACER_LEVERS, "a report has a line for each lever");

/* Whether this rank leads.  The first rank to come does, or the one that finds the leader gone. */
static bool do_i_lead(uint64_t now)
{
    uint32_t leader = atomic_load_explicit(&me.page->leader, memory_order_relaxed);

    if (leader == me.slots && me.leads)
        return true;
    lead_set(false);
    if (leader && now < atomic_load_explicit(&me.page->fresh_ns, memory_order_relaxed) + LEADER_NS)
        return false;
    atomic_store_explicit(&me.page->fresh_ns, now + FRESH_NS, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&me.page->leader, &leader, me.slots))
        lead_set(true);
    return me.leads;
}

static void lead_tick(uint64_t now, const struct pacer_collective *collective)
{
    const struct control_page_pace *c = &probe.control->pace;
    const struct pacer_params params = { .levers = __atomic_load_n(&c->levers, __ATOMIC_RELAXED),
                                         .epoch = __atomic_load_n(&c->epoch, __ATOMIC_RELAXED),
                                         .every = __atomic_load_n(&c->every, __ATOMIC_RELAXED) };
    uint64_t fresh_ns = now + FRESH_NS + (uint64_t)(FRESH_CYCLES * 1e9 * collective->cycle_s), plan = 0;
    struct pacing_page *page = me.page;
    uint8_t mode = me.pacer.mode;
    uint32_t lever;

    if (me.look_at-- == 0) {
        me.look_at = PACER_LOOK;
        look_at_all(now);
        report_put();
    }
    pacer_tick(&me.pacer, &params, &me.sight, collective);
    lever = pacer_current(&me.pacer);
    if (lever)
        plan = pacing_plan(lever | pacing_communicator(me.pacer.comm), pacer_epoch(&me.pacer),
                           pacer_every(&me.pacer, &params));
    /* Every rank of the node reads these: they are written only when they change. */
    if (fresh_ns > atomic_load_explicit(&page->fresh_ns, memory_order_relaxed) + FRESH_AGAIN)
        atomic_store_explicit(&page->fresh_ns, fresh_ns, memory_order_relaxed);
    if (plan != atomic_load_explicit(&page->plan, memory_order_relaxed))
        atomic_store_explicit(&page->plan, plan, memory_order_relaxed);
    if (mode != me.pacer.mode)
        report_put();
}

/* ---- the levers ---- */

/* The collective whose sample decides about this one.  On the plan's communicator it is this one; on others,
 * the next one on the plan's communicator, because this one falls into its time.  False when there was none
 * yet. */
static bool sample_of(const struct collective *k, uint32_t comm, uint64_t *key, uint32_t *seq)
{
    if (!comm || comm == pacing_communicator(k->event.comm)) {
        me.sampled_by = k->event.comm;
        me.sampled_next = k->event.seq + 1;
        *key = k->event.comm;
        *seq = k->event.seq;
        return true;
    }
    *key = me.sampled_by;
    *seq = me.sampled_next;
    return comm == pacing_communicator(me.sampled_by);
}

/* The lever for this collective; 0: none. */
static uint32_t lever_for(const struct collective *k, uint64_t now)
{
    uint64_t plan = atomic_load_explicit(&me.page->plan, memory_order_relaxed);
    uint32_t levers = __atomic_load_n(&probe.control->pace.levers, __ATOMIC_RELAXED);
    uint32_t lever = (uint32_t)plan & levers & me.able, epoch = plan >> 32 & 0xffff,
             every = (uint32_t)(plan >> 48), seq;
    uint64_t key;

    if (!lever || !sample_of(k, (uint32_t)plan & ~0xffu, &key, &seq) ||
        now > atomic_load_explicit(&me.page->fresh_ns, memory_order_relaxed))
        return 0;
    return holdout_paced(key, seq, epoch, every) ? lever : 0;
}

/* Whether no rank can leave the operation before all have entered.  Without operations in which a rank's
 * contribution may be empty. */
static bool synchronises(const struct ring_event *e)
{
    switch (e->op) {
    case RING_OP_BARRIER:
        return true;
    case RING_OP_ALLREDUCE:
    case RING_OP_ALLGATHER:
    case RING_OP_ALLTOALL:
    case RING_OP_REDUCE_SCATTER_BLOCK:
        return e->bytes > 0;
    default:
        return false;
    }
}

static void hold_at_gate(struct collective *k, uint64_t now)
{
    static struct next iprobe = { "PMPI_Iprobe", NULL };
    uint64_t end = now + 1000ull * __atomic_load_n(&probe.control->pace.max_delay_us, __ATOMIC_RELAXED);
    struct comm *c = k->comm;
    uint32_t seq = k->event.seq;
    int found = 0;

    if (!synchronises(&k->event))
        return;
    if (c->gate_of != c->name) {
        c->gate = pacing_gate_join(me.page, c->name);
        c->gate_of = c->name;
    }
    if (!c->gate || pacing_gate_arrive(c->gate, seq))
        return;
    while (now < end) {
        if (pacing_gate_sleep(c->gate, seq, end - now < SLICE_NS ? end - now : SLICE_NS))
            return;
        /* Let the library progress sends and receives that were posted before.  Probing for a message from
         * oneself is local and finds nothing, but runs the library's progress engine. */
        ((int (*)(int, int, handle, int *, void *))next_get(&iprobe))(
            probe.abi.any_source, probe.abi.any_tag, probe.abi.self_comm, &found, probe.abi.status_ignore);
        now = clock_monotonic_ns();
    }
    atomic_fetch_add_explicit(&me.slot->late, 1, memory_order_relaxed);
}

static uint64_t signature_of(const struct collective *k)
{
    return (k->event.comm ^ k->event.bytes * 0x9e3779b97f4a7c15u) + k->event.op;
}

static struct waits *waits_of(uint64_t signature)
{
    struct waits *w = &me.waits[signature % LEARNT];

    if (w->signature != signature)
        *w = (struct waits){ .signature = signature };
    return w;
}

static void sleep_s(double s)
{
    const struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - (double)(time_t)s) * 1e9) };

    if (s > 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void sleep_before(const struct collective *k)
{
    const struct control_page_pace *c = &probe.control->pace;
    const struct pace_params p = { .max_delay_s = 1e-6 * __atomic_load_n(&c->max_delay_us, __ATOMIC_RELAXED),
                                   .share = 1e-3 * __atomic_load_n(&c->share, __ATOMIC_RELAXED) };
    const struct pace_stays *w = &waits_of(signature_of(k))->stays;

    if (k->lever == PACER_DELAY)
        sleep_s(pace_delay_s(&w->early, &p));
    else if (w->early.n)
        sleep_s(pace_stagger_s(me.slots - 1, me.page->slots, w->least_s, &p));
}

/* ---- a collective ---- */

static void collective_took(const struct collective *k, uint64_t now, bool paced, uint64_t stay_ns)
{
    uint64_t cycle_ns = k->comm->left_ns >= me.engaged_ns ? now - k->comm->left_ns : 0;

    k->comm->left_ns = now;
    atomic_store_explicit(&me.slot->seen_ns, now, memory_order_relaxed);
    look_at_me(k, now, paced, stay_ns);
    if (do_i_lead(now))
        lead_tick(now, &(struct pacer_collective){ .paced = paced,
                                                   .comm = k->event.comm,
                                                   .seq = k->event.seq,
                                                   .signature = signature_of(k),
                                                   .cycle_s = (double)cycle_ns * 1e-9 });
}

void pace_enter(struct collective *k, bool posted)
{
    int saved = errno;
    uint64_t now;

    if (self.ring != probe.main || k->comm->size < 2)
        return;
    now = clock_monotonic_ns();
    if (atomic_load_explicit(&pace_rest_until, memory_order_relaxed)) {
        atomic_store_explicit(&pace_rest_until, 0, memory_order_relaxed);
        me.engaged_ns = now;
        me.in_row = 0;
    }
    if (!__atomic_load_n(&probe.control->pace.levers, __ATOMIC_RELAXED)) {
        disengage();
    } else if (join_page(now)) {
        if (!atomic_load_explicit(&pace_engaged, memory_order_relaxed)) {
            atomic_store_explicit(&pace_engaged, true, memory_order_relaxed);
            me.engaged_ns = now;
        }
        k->lever = lever_for(k, now);
        k->paced_ns = posted ? 0 : now;
        if (posted) /* the time since the last collective belongs to that one's lever */
            collective_took(k, now, atomic_load_explicit(&releasing, memory_order_relaxed), 0);
        release_set(k->lever == PACER_RELEASE);
        if (k->lever == PACER_GATE && !posted)
            hold_at_gate(k, now);
        else if (k->lever & (PACER_DELAY | PACER_STAGGER) && !posted)
            sleep_before(k);
    }
    errno = saved;
}

void pace_leave(struct collective *k)
{
    int saved = errno;
    uint64_t now = clock_monotonic_ns();

    if (!k->lever)
        pace_stayed(&waits_of(signature_of(k))->stays, (double)(now - k->paced_ns) * 1e-9);
    collective_took(k, now, k->lever != 0, now - k->paced_ns);
    errno = saved;
}
