/* Timelines of pipeline-parallel trainings, all workers in one file, as those that ByteDance published with
 * "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025;
 * github.com/ByteDance-Seed/StragglerAnalysis): complete events named by Megatron's timers (forward-compute,
 * forward-send, grads-reduce-scatter ...), with args "step" and "model_chunk".  Processes are named "DP rank
 * [0]", threads "PP rank 0, TP rank 0, compute": that tells the worker and who its partners are.
 *
 * Of a communication such a timeline has the transfer alone, from when the last one came; who came earlier
 * waits since its own operation before.  So a communication holds its worker from the end of that operation
 * on.  Steps that were not recorded are missing, and the time between steps is not the job's: each step
 * begins when the one before it ended on all workers. */
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "trace/import_dialect.h"
#include "trace/spans.h"
#include "view/view.h"
#include "wire/json.h"

#define LANES_MAX   (1u << 18)
#define WORKERS_MAX VIEW_RANKS_MAX
#define LANES_SEEN  66u  /* the first so many lanes include every kind */
#define TOGETHER_NS 1000 /* between the begins of messages that are of one batch */

enum group { STAGES, REPLICAS, ENDS, TENSOR, MODEL }; /* who meets: see group_name() */

/* One event can be two messages. */
static const struct operation {
    const char *name;
    enum what { WORK, MESSAGES, COLLECTIVE } what;
    int send,
        receive; /* messages: 1: to the next stage, or from the one before (forward); -1: back; 0: none */
    enum ring_op op;
    enum group group;
} operations[] = {
    { "forward-compute", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "backward-compute", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "backward-wgrad-compute", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "optimizer", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "optimizer-inner-step", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "data-load", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "gc", WORK, 0, 0, RING_OP_NONE, STAGES },
    { "forward-send", MESSAGES, 1, 0, RING_OP_NONE, STAGES },
    { "forward-recv", MESSAGES, 0, 1, RING_OP_NONE, STAGES },
    { "backward-send", MESSAGES, -1, 0, RING_OP_NONE, STAGES },
    { "backward-recv", MESSAGES, 0, -1, RING_OP_NONE, STAGES },
    { "forward-send-backward-recv", MESSAGES, 1, -1, RING_OP_NONE, STAGES },
    { "backward-send-forward-recv", MESSAGES, -1, 1, RING_OP_NONE, STAGES },
    { "forward-send-forward-recv", MESSAGES, 1, 1, RING_OP_NONE, STAGES },
    { "backward-send-backward-recv", MESSAGES, -1, -1, RING_OP_NONE, STAGES },
    { "grads-sync", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, REPLICAS },
    { "params-sync", COLLECTIVE, 0, 0, RING_OP_ALLGATHER, REPLICAS },
    { "grads-all-reduce", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, REPLICAS },
    { "grads-reduce-scatter", COLLECTIVE, 0, 0, RING_OP_REDUCE_SCATTER, REPLICAS },
    { "grads-reduce-scatter-nonoverlapping", COLLECTIVE, 0, 0, RING_OP_REDUCE_SCATTER, REPLICAS },
    { "separate-grads-all-reduce", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, REPLICAS },
    { "params-all-gather", COLLECTIVE, 0, 0, RING_OP_ALLGATHER, REPLICAS },
    { "params-all-gather-nonoverlapping", COLLECTIVE, 0, 0, RING_OP_ALLGATHER, REPLICAS },
    { "embedding-grads-all-reduce", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, ENDS },
    { "layernorm-grads-all-reduce", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, TENSOR },
    { "tp-allreduce", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE, TENSOR },
    { "tp-allgather", COLLECTIVE, 0, 0, RING_OP_ALLGATHER, TENSOR },
    { "tp-reducescatter", COLLECTIVE, 0, 0, RING_OP_REDUCE_SCATTER, TENSOR },
    { "optimizer-clip-main-grad", COLLECTIVE, 0, 0, RING_OP_ALLREDUCE,
      MODEL }, /* the norm of all gradients */
};

struct lane {
    uint64_t pid, tid;
    unsigned stage, tensor;
    char kind[32];
};

struct worker {
    unsigned replica, stage, tensor;
    uint64_t first_lane;
    uint32_t rank;
};

struct event {
    uint64_t pid, tid, begin_ns, end_ns;
    uint32_t operation, worker;
    int64_t step; /* -1: unknown */
};

struct pipeline_step {
    int64_t number;
    uint64_t begin_ns, end_ns;
    int64_t shift_ns;
};

/* Of one operation, or of several: the smallest end, and the smallest begin of those that hold the worker. */
struct least {
    uint64_t end_ns, begin_ns;
};

struct pipeline {
    struct calls *calls;
    struct import_skipped *skipped;
    struct lane *lane;
    size_t lanes, lanes_cap;
    struct map replicas; /* by pid */
    struct event *event;
    size_t n, cap;
    struct worker *worker;
    size_t workers, workers_cap;
    struct map worker_at; /* by worker_key() */
    unsigned stages;
    bool several[MODEL + 1]; /* false: all workers are of one replica, of one tensor rank */
    /* a tree over one worker's operations: number i is leaves + i, and k is of both 2 k and 2 k + 1 */
    struct least *least;
    size_t leaves, least_cap;
    uint64_t seen[ARRAY_SIZE(operations)],
        hidden[ARRAY_SIZE(operations)]; /* events, and those of them that mostly ran beside work */
    bool sharded;                       /* the optimiser's state is spread over the replicas */
};

struct pipeline *pipeline_new(struct calls *calls, struct import_skipped *skipped)
{
    struct pipeline *p = xcalloc(1, sizeof(*p));

    p->calls = calls;
    p->skipped = skipped;
    return p;
}

void pipeline_free(struct pipeline *p)
{
    free(p->lane);
    map_free(&p->replicas);
    free(p->event);
    free(p->worker);
    map_free(&p->worker_at);
    free(p->least);
    free(p);
}

bool pipeline_has_calls(const struct pipeline *p)
{
    return p->n;
}

/* ---- what comes ---- */

void pipeline_name(struct pipeline *p, bool thread, uint64_t pid, uint64_t tid, const char *name)
{
    struct lane lane = { .pid = pid, .tid = tid };
    unsigned number;

    if (!thread && (sscanf(name, "DP rank [%u]", &number) == 1 || sscanf(name, "DP rank %u", &number) == 1) &&
        number != MAP_NONE && p->replicas.n < LANES_MAX && map_get(&p->replicas, pid) == MAP_NONE)
        map_put(&p->replicas, pid, number);
    if (!thread || p->lanes >= LANES_MAX ||
        sscanf(name, "PP rank %u, TP rank %u, %31s", &lane.stage, &lane.tensor, lane.kind) < 2)
        return;
    if (lane.stage >= WORKERS_MAX || lane.tensor >= WORKERS_MAX)
        return;
    p->lane = xgrow(p->lane, &p->lanes_cap, p->lanes + 1, sizeof(*p->lane));
    p->lane[p->lanes++] = lane;
}

int pipeline_event(struct pipeline *p, const struct timeline_event *e, struct err *err)
{
    size_t i = 0;

    while (i < ARRAY_SIZE(operations) && strcmp(operations[i].name, e->name) != 0)
        i++;
    if (i == ARRAY_SIZE(operations))
        return 0;
    if (p->n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u operations", IMPORT_ITEMS_MAX);
    p->event = xgrow(p->event, &p->cap, p->n + 1, sizeof(*p->event));
    p->event[p->n++] = (struct event){ .pid = e->pid,
                                       .tid = e->tid,
                                       .begin_ns = e->begin_ns,
                                       .end_ns = e->end_ns,
                                       .operation = (uint32_t)i,
                                       .step = json_get_int(e->args, "step", 0, INT64_MAX, -1) };
    return 1;
}

/* ---- workers ---- */

static int by_lane(const void *left, const void *right)
{
    const struct lane *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static unsigned replica_of(const struct pipeline *p, uint64_t pid)
{
    uint32_t number = map_get(&p->replicas, pid);

    return number == MAP_NONE ? (unsigned)(pid % WORKERS_MAX) : number;
}

_Static_assert(WORKERS_MAX <= 1u << 16, "the number of a stage, or in a tensor group, has 16 bits");

static uint64_t worker_key(unsigned replica, unsigned stage, unsigned tensor)
{
    return (uint64_t)replica << 32 | stage << 16 | tensor;
}

/* MAP_NONE: there is no such worker. */
static uint32_t worker_find(const struct pipeline *p, unsigned replica, unsigned stage, unsigned tensor)
{
    return map_get(&p->worker_at, worker_key(replica, stage, tensor));
}

/* Ranks by the numbers of their lanes where these are such, otherwise in the order of the lanes. */
static void number_workers(struct pipeline *p)
{
    bool *taken = xcalloc(VIEW_RANKS_MAX, sizeof(*taken)), good = true;
    size_t kinds = 0;

    /* Kinds of lanes that a worker has, all of which are seen soon: where threads are numbered rank * kinds +
     * kind, that gives the rank. */
    for (size_t i = 0; i < p->lanes && i < LANES_SEEN; i++) {
        size_t j = 0;

        while (strcmp(p->lane[j].kind, p->lane[i].kind) != 0)
            j++;
        kinds += j == i;
    }
    for (size_t i = 0; i < p->workers && good; i++) {
        uint64_t rank = p->worker[i].first_lane / kinds;

        good = p->worker[i].first_lane % kinds == 0 && rank < VIEW_RANKS_MAX && !taken[rank];
        if (good)
            taken[rank] = true;
    }
    for (size_t i = 0; i < p->workers; i++)
        p->worker[i].rank = (uint32_t)(good ? p->worker[i].first_lane / kinds : i);
    free(taken);
}

static int find_workers(struct pipeline *p, struct err *err)
{
    if (!p->lanes)
        return err_set(
            err,
            "its operations are those of a pipeline, but no thread is named \"PP rank 0, TP rank 0, ...\", so it is not known whose they are");
    qsort(p->lane, p->lanes, sizeof(*p->lane), by_lane);
    for (size_t i = 0; i < p->lanes; i++) {
        const struct lane *l = &p->lane[i];
        unsigned replica = replica_of(p, l->pid);

        p->stages = l->stage >= p->stages ? l->stage + 1 : p->stages;
        if (worker_find(p, replica, l->stage, l->tensor) != MAP_NONE)
            continue;
        if (p->workers >= WORKERS_MAX)
            return err_set(err, "more than %u workers", WORKERS_MAX);
        p->several[REPLICAS] |= p->workers && p->worker[0].replica != replica;
        p->several[TENSOR] |= p->workers && p->worker[0].tensor != l->tensor;
        map_put(&p->worker_at, worker_key(replica, l->stage, l->tensor), (uint32_t)p->workers);
        p->worker = xgrow(p->worker, &p->workers_cap, p->workers + 1, sizeof(*p->worker));
        p->worker[p->workers++] = (struct worker){
            .replica = replica, .stage = l->stage, .tensor = l->tensor, .first_lane = l->tid
        };
    }
    number_workers(p);
    return 0;
}

static void find_owners(struct pipeline *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++) {
        struct event e = p->event[i];
        const struct lane wanted = { .pid = e.pid, .tid = e.tid };
        const struct lane *l = bsearch(&wanted, p->lane, p->lanes, sizeof(*p->lane), by_lane);

        if (!l) {
            import_unclear(p->skipped, "an operation in a thread without a name");
            continue;
        }
        e.worker = worker_find(p, replica_of(p, l->pid), l->stage, l->tensor);
        p->sharded |=
            operations[e.operation].op == RING_OP_REDUCE_SCATTER && operations[e.operation].group == REPLICAS;
        p->event[kept++] = e;
    }
    p->n = kept;
}

/* ---- steps ---- */

static int by_step(const void *left, const void *right)
{
    const struct pipeline_step *a = left, *b = right;

    return a->number < b->number ? -1 : a->number > b->number;
}

static int by_event_step(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

static void close_gaps(struct pipeline *p)
{
    struct pipeline_step *step;
    size_t n = 0;

    if (!p->n)
        return;
    qsort(p->event, p->n, sizeof(*p->event), by_event_step);
    step = xcalloc(p->n, sizeof(*step));
    for (size_t i = 0; i < p->n; i++) {
        const struct event *e = &p->event[i];

        if (!n || step[n - 1].number != e->step)
            step[n++] =
                (struct pipeline_step){ .number = e->step, .begin_ns = e->begin_ns, .end_ns = e->end_ns };
        else if (e->end_ns > step[n - 1].end_ns)
            step[n - 1].end_ns = e->end_ns;
    }
    for (size_t i = 1; i < n; i++) {
        int64_t gap_ns = (int64_t)(step[i].begin_ns - step[i - 1].end_ns);

        step[i].shift_ns = step[i - 1].shift_ns + (step[i - 1].number >= 0 && gap_ns > 0 ? gap_ns : 0);
    }
    for (size_t i = 0; i < p->n; i++) {
        const struct pipeline_step wanted = { .number = p->event[i].step };
        const struct pipeline_step *s = bsearch(&wanted, step, n, sizeof(*step), by_step);

        p->event[i].begin_ns -= (uint64_t)s->shift_ns;
        p->event[i].end_ns -= (uint64_t)s->shift_ns;
    }
    free(step);
}

/* ---- calls ---- */

/* Of a distributed optimiser the norm is one of all ranks, otherwise of the ranks of one replica. */
static void group_name(const struct pipeline *p, const struct worker *w, enum group group, char *buf,
                       size_t size)
{
    switch (group) {
    case REPLICAS:
        snprintf(buf, size, "replicas of stage %u, tensor %u", w->stage, w->tensor);
        break;
    case ENDS:
        snprintf(buf, size, "embedding of replica %u, tensor %u", w->replica, w->tensor);
        break;
    case TENSOR:
        snprintf(buf, size, "tensor group of replica %u, stage %u", w->replica, w->stage);
        break;
    case MODEL:
        if (p->sharded)
            snprintf(buf, size, "world");
        else
            snprintf(buf, size, "replica %u", w->replica);
        break;
    default:
        snprintf(buf, size, "stages");
    }
}

static int add_message(struct pipeline *p, const struct worker *w, const struct call *made, bool send,
                       int direction, struct err *err)
{
    struct call k = *made;
    /* What is sent forward goes to the next stage, what is received forward comes from the one before; of
     * chunks, round. */
    unsigned stage = (w->stage + p->stages + (unsigned)((send ? 1 : -1) * direction)) % p->stages;
    uint32_t peer = worker_find(p, w->replica, stage, w->tensor);

    if (peer == MAP_NONE || stage == w->stage) {
        import_unclear(p->skipped, "a message to or from stage %u of replica %u, which has no operations",
                       stage, w->replica);
        return 0;
    }
    k.op = send ? RING_OP_SEND : RING_OP_RECV;
    k.peer = p->worker[peer].rank;
    k.tag = direction > 0 ? 1 : 2;
    return calls_add(p->calls, &k, err);
}

/* Of its group the file has this worker alone: whom it waits for is not known.  It holds the worker as a part
 * of what it does next. */
static bool is_alone(const struct pipeline *p, const struct event *e)
{
    switch (operations[e->operation].group) {
    case REPLICAS:
        return !p->several[REPLICAS];
    case TENSOR:
        return !p->several[TENSOR];
    case ENDS:
        return p->stages == 1;
    case MODEL:
        return p->workers == 1;
    default:
        return false;
    }
}

/* For last_of_note(), of all of one worker's operations. */
static void note_least(struct pipeline *p, const struct event *e, size_t n)
{
    for (p->leaves = 1; p->leaves < n;)
        p->leaves *= 2;
    p->least = xgrow(p->least, &p->least_cap, 2 * p->leaves, sizeof(*p->least));
    for (size_t i = 0; i < p->leaves; i++) {
        bool holds = i < n && operations[e[i].operation].what != WORK && !is_alone(p, &e[i]);

        p->least[p->leaves + i] = (struct least){ .end_ns = i < n ? e[i].end_ns : UINT64_MAX,
                                                  .begin_ns = holds ? e[i].begin_ns : UINT64_MAX };
    }
    for (size_t k = p->leaves; k-- > 1;) {
        const struct least *a = &p->least[2 * k], *b = a + 1;

        p->least[k] = (struct least){ .end_ns = a->end_ns < b->end_ns ? a->end_ns : b->end_ns,
                                      .begin_ns = a->begin_ns < b->begin_ns ? a->begin_ns : b->begin_ns };
    }
}

static bool is_of_note(const struct least *l, uint64_t over_ns, uint64_t begun_ns)
{
    return l->end_ns <= over_ns || l->begin_ns < begun_ns;
}

/* The last operation before number i that was over by then, or that holds the worker and had begun by then;
 * i: none. */
static size_t last_of_note(const struct pipeline *p, size_t i, uint64_t over_ns, uint64_t begun_ns)
{
    size_t k = p->leaves + i;

    while (k > 1 && !(k % 2 && is_of_note(&p->least[k - 1], over_ns, begun_ns)))
        k /= 2;
    if (k <= 1)
        return i;
    for (k--; k < p->leaves;)
        k = 2 * k + is_of_note(&p->least[2 * k + 1], over_ns, begun_ns);
    return k - p->leaves;
}

/* When a communication that the worker does nothing beside holds it from: the end of what it did before.
 * Those of a batch begin together. */
static uint64_t held_from(const struct pipeline *p, const struct event *e, size_t i, const struct spans *work)
{
    const struct span *last = spans_before(work, e[i].begin_ns);
    uint64_t from_ns = last ? last->end_ns : 0,
             begun_ns = e[i].begin_ns > TOGETHER_NS ? e[i].begin_ns - TOGETHER_NS : 0;

    for (size_t j = i, next; from_ns < e[i].begin_ns; j = next) {
        next = last_of_note(p, j, from_ns, begun_ns);
        if (next == j || e[next].end_ns <= from_ns) /* so have all before it */
            break;
        from_ns = e[next].end_ns;
    }
    return from_ns && from_ns < e[i].begin_ns ? from_ns : e[i].begin_ns;
}

/* The end of the work that hides it; its own end where there is work until then.  What begins in its second
 * half is rather what it held. */
static uint64_t hidden_until(const struct event *e, const struct spans *work)
{
    const struct span *last = spans_before(work, e->begin_ns + (e->end_ns - e->begin_ns) / 2);

    if (!last || last->end_ns < e->begin_ns)
        return e->begin_ns;
    return last->end_ns < e->end_ns ? last->end_ns : e->end_ns;
}

static int add_event(struct pipeline *p, const struct event *e, size_t i, const struct spans *work,
                     struct err *err)
{
    const struct operation *o = &operations[e[i].operation];
    const struct worker *w = &p->worker[e[i].worker];
    struct call k = { .rank = w->rank,
                      .seq = CALLS_IN_ORDER,
                      .op = (uint8_t)o->op,
                      .bytes = CALLS_UNSIZED,
                      .leave_ns = e[i].end_ns };
    char name[TRACE_NAME_MAX + 1];
    int64_t comm;

    if (2 * p->hidden[e[i].operation] > p->seen[e[i].operation]) {
        k.begin_ns = e[i].begin_ns;
        k.flags = RING_EVENT_NONBLOCKING;
        k.enter_ns = hidden_until(&e[i], work);
    } else {
        k.enter_ns = held_from(p, e, i, work);
    }
    if (is_alone(p, &e[i])) {
        import_unclear(p->skipped, "a collective of a group of which the file has one worker");
        return 0;
    }
    group_name(p, w, o->group, name, sizeof(name));
    comm = calls_comm(p->calls, name, err);
    if (comm < 0)
        return -1;
    k.comm = (uint64_t)comm;
    if (o->what == COLLECTIVE)
        return calls_add(p->calls, &k, err);
    if (o->send && add_message(p, w, &k, true, o->send, err) < 0)
        return -1;
    return o->receive ? add_message(p, w, &k, false, o->receive, err) : 0;
}

static int by_worker(const void *left, const void *right)
{
    const struct event *a = left, *b = right;

    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Messages that begin at one moment: the newest of them, which the others are joined to. */
struct start {
    uint64_t begin_ns;
    bool over;       /* they end at that moment, too, and overlap none that begins then */
    uint32_t newest; /* 1 + its number; 0: none yet, or it is joined to another */
};

static int by_start(const void *left, const void *right)
{
    const struct start *a = left, *b = right;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->over - b->over;
}

static struct start start_of(const struct event *e)
{
    return (struct start){ .begin_ns = e->begin_ns, .over = e->end_ns == e->begin_ns };
}

/* Each start of messages once, in order; how many there are. */
static size_t find_starts(const struct event *e, size_t n, struct start *start)
{
    size_t found = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        if (operations[e[i].operation].what == MESSAGES)
            start[found++] = start_of(&e[i]);
    if (found)
        qsort(start, found, sizeof(*start), by_start);
    for (size_t i = 0; i < found; i++)
        if (!kept || by_start(&start[kept - 1], &start[i]) != 0)
            start[kept++] = start[i];
    return kept;
}

/* Join to message i those before it that it overlaps and that begin together with it. */
static void join_message(const struct event *e, size_t i, struct start *start, size_t starts, uint32_t *with)
{
    const struct start wanted = start_of(&e[i]);
    struct start *own = bsearch(&wanted, start, starts, sizeof(*start), by_start), *s = own;

    while (s > start && own->begin_ns - s[-1].begin_ns < TOGETHER_NS)
        s--;
    for (; s < start + starts && (s <= own || s->begin_ns - own->begin_ns < TOGETHER_NS); s++) {
        if (!s->newest || (s != own && e[s->newest - 1].end_ns <= e[i].begin_ns))
            continue;
        with[s->newest - 1] = (uint32_t)i;
        s->newest = 0;
    }
    own->newest = (uint32_t)i + 1;
}

/* A batch of messages is waited for as a whole: each has the times of the one that ends last. */
static void join_batches(struct event *e, size_t n)
{
    struct start *start = xcalloc(n, sizeof(*start));
    uint32_t *with = xcalloc(n, sizeof(*with)); /* a later one that it is joined to; 0: none */
    size_t starts = find_starts(e, n, start);

    for (size_t i = 0; i < n; i++)
        if (operations[e[i].operation].what == MESSAGES)
            join_message(e, i, start, starts, with);
    for (size_t i = n; i-- > 0;)
        if (with[i]) {
            e[i].begin_ns = e[with[i]].begin_ns;
            e[i].end_ns = e[with[i]].end_ns;
        }
    free(start);
    free(with);
}

/* One worker's operations, in the order in which they ended.  Looked at: whether a kind of communication runs
 * beside work is one thing for all of its events, so that all steps have the same calls.  Then added. */
static int take_worker(struct pipeline *p, struct event *e, size_t n, struct spans *work, bool add,
                       struct err *err)
{
    if (!add)
        join_batches(e, n);
    work->n = 0;
    for (size_t i = 0; i < n; i++)
        if (operations[e[i].operation].what == WORK && e[i].end_ns > e[i].begin_ns)
            spans_add(work, e[i].begin_ns, e[i].end_ns);
    spans_merge(work);
    if (add)
        note_least(p, e, n);
    for (size_t i = 0; i < n; i++) {
        if (!add) {
            p->seen[e[i].operation]++;
            p->hidden[e[i].operation] +=
                hidden_until(&e[i], work) - e[i].begin_ns > (e[i].end_ns - e[i].begin_ns) / 2;
        } else if (operations[e[i].operation].what != WORK && add_event(p, e, i, work, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static int each_worker(struct pipeline *p, bool add, struct err *err)
{
    struct spans work = { 0 };
    int rc = 0;

    for (size_t i = 0, next; i < p->n && rc == 0; i = next) {
        for (next = i; next < p->n && p->event[next].worker == p->event[i].worker; next++)
            ;
        rc = take_worker(p, &p->event[i], next - i, &work, add, err);
    }
    spans_free(&work);
    return rc;
}

int pipeline_close(struct pipeline *p, uint32_t clock, struct err *err)
{
    if (find_workers(p, err) < 0)
        return -1;
    for (size_t i = 0; i < p->workers; i++)
        if (calls_rank(p->calls, p->worker[i].rank, clock, "", err) < 0)
            return -1;
    find_owners(p);
    close_gaps(p);
    if (p->n)
        qsort(p->event, p->n, sizeof(*p->event), by_worker);
    return each_worker(p, false, err) < 0 ? -1 : each_worker(p, true, err);
}
