/* torch.profiler's timelines, one rank a file: {"distributedInfo":{"rank":..,"world_size":..},
 * "traceEvents":[..]}.
 *
 * On a GPU the rank is its device.  A collective is its kernel (category "kernel", name ncclDevKernel_...,
 * args "Collective name", "In msg nelems", "dtype", "Process Group Name", "Process Group Ranks", "Src Rank",
 * "Dst Rank"): it begins when the streams before it are done, spins until the others come, and ends with the
 * collective.  Other kernels are work: while one runs, the collective holds nobody.  A batch of messages is
 * one kernel, "coalesced"; what it consists of are the record_param_comms that precede it on the CPU.  Older
 * profilers give kernels no arguments: then the record_param_comms of the same "External id" has them, else
 * the annotation ("nccl:all_to_all") in which it was launched, by its "correlation", or its own name the
 * operation.  Of these the group is not known: they are taken as of all ranks, and counted.
 *
 * "pg_config" in distributedInfo has the groups' ranks, where events write them out no more (of more than
 * some 30 ranks).
 *
 * Without kernels, as with Gloo, a call is the annotation "gloo:all_reduce", and the operations of the CPU
 * that are no communication are work. */
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/names.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "trace/import_dialect.h"
#include "trace/spans.h"
#include "view/view.h"
#include "wire/json.h"

#define POOL_MAX (1u << 22) /* ranks in the groups of a file's distributedInfo */

/* A communication, as a kernel, a record_param_comms or an annotation has it. */
struct op {
    struct call call;    /* times are the event's; comm: in the trace */
    int64_t id;          /* External id; -1 */
    int64_t correlation; /* of a kernel, with its launch; -1 */
    uint64_t thread;
    bool described; /* the call's operation and group are known */
    bool coalesced;
    uint32_t size; /* of the group; 0: unknown */
};

struct ops {
    struct op *op;
    size_t n, cap;
};

/* A call of the host that starts a kernel. */
struct launch {
    uint64_t correlation, thread, at_ns;
};

/* Of distributedInfo. */
struct group {
    size_t first, n; /* of the pool of ranks */
};

struct kineto {
    struct calls *calls;
    struct import_skipped *skipped;
    const struct import_file *file;
    uint32_t rank, world; /* world 0: unknown */
    struct names *names;  /* of the groups, by their numbers */
    struct group *group;
    size_t groups, groups_cap;
    uint32_t *pool;
    size_t pooled, pool_cap;
    struct ops kernels, records, annotations, marks; /* marks: NCCL's annotations */
    struct launch *launch;
    size_t launches, launches_cap;
    struct spans device, host; /* work */
};

struct kineto *kineto_new(struct calls *calls, struct import_skipped *skipped)
{
    struct kineto *k = xcalloc(1, sizeof(*k));

    k->calls = calls;
    k->skipped = skipped;
    return k;
}

void kineto_free(struct kineto *k)
{
    names_free(k->names);
    free(k->group);
    free(k->pool);
    free(k->kernels.op);
    free(k->records.op);
    free(k->annotations.op);
    free(k->marks.op);
    free(k->launch);
    spans_free(&k->device);
    spans_free(&k->host);
    free(k);
}

void kineto_begin(struct kineto *k, const struct import_file *file)
{
    k->file = file;
    k->rank = IMPORT_RANK_UNKNOWN;
    k->world = 0;
    k->kernels.n = k->records.n = k->annotations.n = k->marks.n = k->launches = 0;
    k->device.n = k->host.n = 0;
    k->groups = k->pooled = 0;
    names_free(k->names);
    k->names = names_new();
}

static void take_group(struct kineto *k, const json_t *item)
{
    const json_t *ranks = json_object_get(item, "ranks");
    size_t most = json_is_array(ranks) ? json_array_size(ranks) : json_string_length(ranks);
    struct group g = { .first = k->pooled };
    char name[TRACE_NAME_MAX + 1];

    if (!most || most > VIEW_RANKS_MAX * 8 || k->groups >= VIEW_COMMS_MAX || k->pooled + most > POOL_MAX)
        return;
    json_get_text(item, "pg_name", name, sizeof(name));
    if (!*name || names_find(k->names, name, strlen(name)) != NAMES_NONE)
        return;
    k->pool = xgrow(k->pool, &k->pool_cap, k->pooled + most, sizeof(*k->pool));
    g.n = import_ranks(ranks, k->pool + k->pooled, most);
    k->pooled += g.n;
    k->group = xgrow(k->group, &k->groups_cap, k->groups + 1, sizeof(*k->group));
    k->group[names_add(k->names, name, strlen(name))] = g;
    k->groups++;
}

static const struct group *group_find(const struct kineto *k, const char *name)
{
    uint32_t number = names_find(k->names, name, strlen(name));

    return number == NAMES_NONE ? NULL : &k->group[number];
}

void kineto_info(struct kineto *k, const json_t *info)
{
    const json_t *groups = json_get_array(info, "pg_config");

    for (size_t i = 0; i < json_array_size(groups); i++)
        take_group(k, json_array_get(groups, i));
    k->rank = (uint32_t)json_get_int(info, "rank", 0, VIEW_RANKS_MAX - 1, IMPORT_RANK_UNKNOWN);
    k->world = (uint32_t)json_get_int(info, "world_size", 1, VIEW_RANKS_MAX, 0);
}

/* ---- events ---- */

static int64_t comm_of(struct kineto *k, const json_t *args, uint32_t *size, struct err *err)
{
    char name[TRACE_NAME_MAX + 1];
    uint32_t written[64];
    const uint32_t *rank = written;
    size_t n = import_ranks(json_object_get(args, "Process Group Ranks"), written, ARRAY_SIZE(written));
    const struct group *g;

    *size = (uint32_t)json_get_int(args, "Group size", 1, VIEW_RANKS_MAX, 0);
    if (n == ARRAY_SIZE(written) || (*size && n != *size)) /* cut */
        n = 0;
    g = n ? NULL : group_find(k, json_get_word(args, "Process Group Name"));
    if (g && g->n && (!*size || *size == g->n)) {
        rank = &k->pool[g->first];
        n = g->n;
        *size = (uint32_t)g->n;
    }
    if (*size && *size == k->world && !n)
        n = *size; /* all of them: no rank is written out */
    import_group_name(name, sizeof(name), json_get_word(args, "Process Group Name"),
                      json_get_word(args, "Process Group Description"), rank, n, k->world);
    return calls_comm(k->calls, name, err);
}

/* Operation, size and group out of the arguments that c10d gives.  1: they are there, 0: they are not, -1:
 * too many groups. */
static int describe(struct kineto *k, const json_t *args, struct op *op, struct err *err)
{
    const char *name = json_get_word(args, "Collective name");
    int64_t elements = json_get_int(args, "In msg nelems", 0, (int64_t)1 << 50, -1), comm;
    unsigned size = import_dtype_bytes(json_get_word(args, "dtype"));

    if (!*name)
        return 0;
    comm = comm_of(k, args, &op->size, err);
    if (comm < 0)
        return -1;
    op->call.comm = (uint64_t)comm;
    op->call.bytes = elements < 0 || !size ? CALLS_UNSIZED : (uint64_t)elements * size;
    op->call.seq = (uint32_t)json_get_int(args, "Seq", 0, UINT32_MAX - 1, CALLS_IN_ORDER);
    op->call.op = (uint8_t)import_op(name);
    op->coalesced = strstr(name, "coalesced") && op->call.op == RING_OP_NONE;
    /* The sender's and the receiver's event have both ranks, or only the other one. */
    if (op->call.op == RING_OP_NONE && (strstr(name, "send") || strstr(name, "recv"))) {
        bool send = strstr(name, "send") != NULL;

        op->call.op = send ? RING_OP_SEND : RING_OP_RECV;
        op->call.seq = CALLS_IN_ORDER;
        op->call.peer = (uint32_t)json_get_int(args, send ? "Dst Rank" : "Src Rank", 0, VIEW_RANKS_MAX - 1,
                                               IMPORT_RANK_UNKNOWN);
    }
    op->described = true;
    return 1;
}

static int keep_op(struct ops *ops, const struct op *op, struct err *err)
{
    if (ops->n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u communications", IMPORT_ITEMS_MAX);
    ops->op = xgrow(ops->op, &ops->cap, ops->n + 1, sizeof(*ops->op));
    ops->op[ops->n++] = *op;
    return 1;
}

static int take_kernel(struct kineto *k, const struct timeline_event *e, struct op *op, struct err *err)
{
    if (strncmp(e->name, "nccl", 4) != 0 && strncmp(e->name, "mscclKernel", 11) != 0) {
        if (k->device.n >= IMPORT_ITEMS_MAX)
            return err_set(err, "more than %u kernels", IMPORT_ITEMS_MAX);
        spans_add(&k->device, e->begin_ns, e->end_ns);
        return 1;
    }
    if (describe(k, e->args, op, err) < 0)
        return -1;
    /* ncclDevKernel_AllReduce_Sum_f32_RING_LL(...): what it does is behind the first _ */
    if (!op->described) {
        const char *name = strchr(e->name, '_');

        op->call.op = (uint8_t)import_op(name ? name : e->name);
    }
    return keep_op(&k->kernels, op, err);
}

static int keep_launch(struct kineto *k, const struct timeline_event *e, struct err *err)
{
    int64_t correlation = json_get_int(e->args, "correlation", 0, INT64_MAX, -1);

    if (correlation < 0)
        return 0;
    if (k->launches >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u launches", IMPORT_ITEMS_MAX);
    k->launch = xgrow(k->launch, &k->launches_cap, k->launches + 1, sizeof(*k->launch));
    k->launch[k->launches++] = (struct launch){ (uint64_t)correlation, e->tid, e->begin_ns };
    return 0;
}

/* Bytes of an operation's first argument, from its shape and type. */
static uint64_t input_bytes(const json_t *args)
{
    const json_t *shape = json_array_get(json_get_array(args, "Input Dims"), 0);
    const char *type = json_string_value(json_array_get(json_get_array(args, "Input type"), 0));
    uint64_t bytes = type ? import_dtype_bytes(type) : 0;

    for (size_t i = 0; i < json_array_size(shape) && bytes; i++) {
        json_int_t side = json_integer_value(json_array_get(shape, i));

        bytes = side > 0 && (uint64_t)side < ((uint64_t)1 << 50) / bytes ? bytes * (uint64_t)side : 0;
    }
    return bytes && json_array_size(shape) ? bytes : CALLS_UNSIZED;
}

int kineto_event(struct kineto *k, const struct timeline_event *e, struct err *err)
{
    int64_t id = json_get_int(e->args, "External id", 0, INT64_MAX, -1);
    struct op op = { .call = { .seq = CALLS_IN_ORDER,
                               .bytes = CALLS_UNSIZED,
                               .enter_ns = e->begin_ns,
                               .leave_ns = e->end_ns },
                     .id = id >= 0 ? id : json_get_int(e->args, "external id", 0, INT64_MAX, -1),
                     .correlation = json_get_int(e->args, "correlation", 0, INT64_MAX, -1),
                     .thread = e->tid };

    if (!strcmp(e->category, "kernel") || !strcmp(e->category, "gpu_memcpy") ||
        !strcmp(e->category, "gpu_memset"))
        return take_kernel(k, e, &op, err);
    if (!strcmp(e->name, "record_param_comms"))
        return describe(k, e->args, &op, err) < 0 ? -1 : keep_op(&k->records, &op, err);
    if (!strncmp(e->name, "gloo:", 5) || !strncmp(e->name, "mpi:", 4) || !strncmp(e->name, "ucc:", 4)) {
        op.call.op = (uint8_t)import_op(e->name);
        return keep_op(&k->annotations, &op, err);
    }
    if ((!strncmp(e->category, "cuda_", 5) || !strncmp(e->category, "hip_", 4)) && strstr(e->name, "Launch"))
        return keep_launch(k, e, err);
    /* what the GPU does meanwhile has the same names, in category gpu_user_annotation */
    if (!strncmp(e->name, "nccl:", 5) && !strcmp(e->category, "user_annotation")) {
        op.call.op = (uint8_t)import_op(e->name);
        op.call.bytes = input_bytes(e->args);
        return keep_op(&k->marks, &op, err) < 0 ? -1 : 0;
    }
    if (strcmp(e->category, "cpu_op") != 0 || !strncmp(e->name, "c10d::", 6) || !strncmp(e->name, "nccl:", 5))
        return 0;
    if (k->host.n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u operations", IMPORT_ITEMS_MAX);
    spans_add(&k->host, e->begin_ns, e->end_ns);
    return 1;
}

/* ---- the file's end ---- */

static int by_begin(const void *left, const void *right)
{
    const struct op *a = left, *b = right;

    return a->call.enter_ns < b->call.enter_ns ? -1 : a->call.enter_ns > b->call.enter_ns;
}

static void sort_ops(struct ops *ops)
{
    if (ops->n)
        qsort(ops->op, ops->n, sizeof(*ops->op), by_begin);
}

/* All are begun, and waited for later, so that every step has the same calls: a call that communicates while
 * the rank works holds it only from the end of that work on. */
static int add_op(struct kineto *k, const struct op *op, const struct spans *work, struct err *err)
{
    struct call c = op->call;
    const struct span *before = spans_before(work, c.leave_ns);

    if (op->size == 1) { /* with itself */
        k->skipped->other++;
        return 0;
    }
    if (call_is_message(&c) && (c.peer == IMPORT_RANK_UNKNOWN || c.peer == k->rank)) {
        import_unclear(k->skipped, "a message without \"Src Rank\" and \"Dst Rank\"");
        return 0;
    }
    c.rank = k->rank;
    c.begin_ns = c.enter_ns;
    c.flags = RING_EVENT_NONBLOCKING;
    if (before && before->end_ns > c.enter_ns)
        c.enter_ns = before->end_ns < c.leave_ns ? before->end_ns : c.leave_ns;
    return calls_add(k->calls, &c, err);
}

/* What a record says, which is of the launch, at the times of what was launched. */
static struct op at_times_of(const struct op *record, const struct op *launched)
{
    struct op op = *record;

    op.call.enter_ns = launched->call.enter_ns;
    op.call.leave_ns = launched->call.leave_ns;
    return op;
}

/* The messages of a batch, with the times of its kernel: those recorded since the batch before.  *at: the
 * first of them. */
static int add_batch(struct kineto *k, const struct op *kernel, size_t *at, struct err *err)
{
    bool some = false;

    for (; *at < k->records.n && !k->records.op[*at].coalesced; ++*at) {
        struct op op = at_times_of(&k->records.op[*at], kernel);

        if (!op.described || !call_is_message(&op.call) || op.call.comm != kernel->call.comm)
            continue;
        some = true;
        if (add_op(k, &op, &k->device, err) < 0)
            return -1;
    }
    *at += *at < k->records.n;
    if (!some)
        import_unclear(k->skipped, "a batch of messages of which no record_param_comms tells the parts");
    return 0;
}

static int by_thread(const void *left, const void *right)
{
    const struct op *a = left, *b = right;

    return a->thread != b->thread ? (a->thread < b->thread ? -1 : 1) : by_begin(left, right);
}

/* The annotation within which the kernel was launched; NULL: there is none. */
static const struct op *mark_of(const struct kineto *k, const struct map *launches, const struct op *kernel)
{
    uint32_t at = kernel->correlation < 0 ? MAP_NONE : map_get(launches, (uint64_t)kernel->correlation);
    const struct launch *l = at == MAP_NONE ? NULL : &k->launch[at];
    size_t low = 0, high = k->marks.n;

    while (l && low < high) { /* the last one of the thread that began by then */
        size_t mid = (low + high) / 2;
        const struct op *m = &k->marks.op[mid];

        if (m->thread < l->thread || (m->thread == l->thread && m->call.enter_ns <= l->at_ns))
            low = mid + 1;
        else
            high = mid;
    }
    if (!l || !low || k->marks.op[low - 1].thread != l->thread ||
        k->marks.op[low - 1].call.leave_ns < l->at_ns)
        return NULL;
    return &k->marks.op[low - 1];
}

/* What the kernel's own arguments do not say: by the record of the same id, else by where it was launched. */
static void complete_kernel(struct kineto *k, const struct map *records, const struct map *launches,
                            struct op *kernel, uint32_t world)
{
    uint32_t at = kernel->id < 0 ? MAP_NONE : map_get(records, (uint64_t)kernel->id);
    const struct op *mark;

    if (kernel->described)
        return;
    if (at != MAP_NONE && k->records.op[at].described) {
        *kernel = at_times_of(&k->records.op[at], kernel);
        return;
    }
    mark = mark_of(k, launches, kernel);
    if (mark && kernel->call.op == RING_OP_NONE)
        kernel->call.op = mark->call.op;
    if (mark && kernel->call.op == mark->call.op)
        kernel->call.bytes = mark->call.bytes;
    kernel->call.comm = world;
    k->skipped->ungrouped += kernel->call.op != RING_OP_NONE;
}

static int add_kernels(struct kineto *k, uint32_t world, struct err *err)
{
    struct map records = { 0 }, launches = { 0 };
    size_t batch = 0;
    int rc = 0;

    for (size_t i = 0; i < k->records.n; i++)
        if (k->records.op[i].id >= 0)
            map_put(&records, (uint64_t)k->records.op[i].id, (uint32_t)i);
    for (size_t i = 0; i < k->launches; i++)
        map_put(&launches, k->launch[i].correlation, (uint32_t)i);
    if (k->marks.n)
        qsort(k->marks.op, k->marks.n, sizeof(*k->marks.op), by_thread);
    for (size_t i = 0; i < k->kernels.n && rc == 0; i++) {
        struct op kernel = k->kernels.op[i];

        complete_kernel(k, &records, &launches, &kernel, world);
        if (kernel.coalesced)
            rc = add_batch(k, &kernel, &batch, err);
        else if (kernel.call.op == RING_OP_NONE)
            import_unclear(k->skipped, "a kernel of NCCL of which the operation is not known");
        else
            rc = add_op(k, &kernel, &k->device, err);
    }
    map_free(&records);
    map_free(&launches);
    return rc;
}

/* Without kernels: annotations, with what the records say where there is one for each. */
static int add_annotations(struct kineto *k, uint32_t world, struct err *err)
{
    bool paired = k->records.n == k->annotations.n;

    for (size_t i = 0; i < k->annotations.n; i++) {
        struct op op = k->annotations.op[i];

        if (paired && k->records.op[i].described) {
            op = at_times_of(&k->records.op[i], &op);
        } else if (op.call.op == RING_OP_NONE) {
            import_unclear(k->skipped, "a call whose operation or partner is not known");
            continue;
        } else {
            op.call.comm = world;
            k->skipped->ungrouped++;
        }
        if (add_op(k, &op, &k->host, err) < 0)
            return -1;
    }
    return 0;
}

/* What the file has instead of communication. */
static void say_nothing(struct kineto *k)
{
    char *text = k->skipped->nothing;
    size_t size = sizeof(k->skipped->nothing);
    bool unknown = k->rank == IMPORT_RANK_UNKNOWN && !k->world;

    if (*text)
        return;
    if (k->device.n)
        snprintf(text, size, "%.100s has kernels, and none of NCCL's is among them", k->file->name);
    else if (k->host.n)
        snprintf(
            text, size,
            "%.100s has operations of the CPU alone, and none of them is a collective: profile the GPU, too "
            "(ProfilerActivity.CUDA)",
            k->file->name);
    else
        snprintf(text, size, "%.100s has neither kernels nor operations", k->file->name);
    if (unknown)
        text_append(text, size, "; nor has it distributedInfo, as the profile of a rank of a group has");
}

int kineto_end(struct kineto *k, struct err *err)
{
    int64_t world;

    if (!k->kernels.n && !k->records.n && !k->annotations.n) {
        say_nothing(k);
        return 0;
    }
    if (k->rank == IMPORT_RANK_UNKNOWN)
        k->rank = k->file->name_rank;
    if (k->rank == IMPORT_RANK_UNKNOWN)
        return err_set(
            err,
            "the timeline has no distributedInfo with its rank, and its name has no number: name it like rank3.json");
    calls_size(k->calls, k->world);
    world = calls_comm(k->calls, "world", err);
    if (world < 0 || calls_rank(k->calls, k->rank, k->file->number, "", err) < 0)
        return -1;
    spans_merge(&k->device);
    spans_merge(&k->host);
    sort_ops(&k->kernels);
    sort_ops(&k->records);
    sort_ops(&k->annotations);
    if (k->kernels.n)
        return add_kernels(k, (uint32_t)world, err);
    if (k->annotations.n)
        return add_annotations(k, (uint32_t)world, err);
    import_unclear(k->skipped, "a collective of which only the launch was recorded");
    return 0;
}
