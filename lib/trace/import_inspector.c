/* NCCL Inspector's lines (ext-profiler/inspector in NCCL's sources, output format v4): an object for each
 * collective or message of a communicator, {"header":{id, rank, n_ranks, nnodes},
 * "metadata":{dump_timestamp_us, hostname, pid}, "coll_perf":{coll, coll_sn, coll_msg_size_bytes,
 * coll_exec_time_us, event_trace_ts}}; messages have "p2p_perf".  From v4.3 on, header and metadata stand
 * once, in a line with "dump_stats" before those that they belong to.
 *
 * Ranks are those of the largest communicator that a process is in.  The kernel's times are used where the
 * lines have them (verbose output): a kernel begins when its GPU comes to the collective, and ends with it.
 * Otherwise a call ends when its line was written, which is late by up to the interval of the dumps, and
 * lasts for its execution time. */
#include "trace/import_format.h"

#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/names.h"
#include "common/xalloc.h"
#include "view/view.h"
#include "wire/json.h"

struct process {
    uint32_t rank, of; /* in the largest communicator that it is in, and that one's size */
    uint32_t of_comm;  /* its number among comms */
    uint32_t number;   /* in the trace */
    char host[TRACE_NAME_MAX + 1];
};

struct inspector {
    struct calls *calls;
    struct import_skipped *skipped;
    uint32_t file;
    struct names *processes, *comms;
    struct map seats; /* of a communicator and a rank in it: which process that is */
    struct process *process;
    size_t n_processes, processes_cap;
    uint32_t *comm_size;
    size_t comms_cap;
    struct call *call; /* rank: the process, peer: the rank in the communicator */
    size_t n, cap;
    json_t *header, *metadata, *coll, *p2p; /* of the document */
    bool stats; /* it has dump_stats: header and metadata are of the documents that follow, too */
    json_t *kept_header, *kept_metadata;
};

static const char *const keys[] = { "header", "coll_perf", "p2p_perf", "dump_stats", "proxy_trace", NULL };

static void *inspector_open(struct calls *calls, struct import_skipped *skipped)
{
    struct inspector *f = xcalloc(1, sizeof(*f));

    f->calls = calls;
    f->skipped = skipped;
    f->processes = names_new();
    f->comms = names_new();
    return f;
}

static void let_go(json_t **value)
{
    json_decref(*value);
    *value = NULL;
}

static void forget_document(struct inspector *f)
{
    f->stats = false;
    let_go(&f->header);
    let_go(&f->metadata);
    let_go(&f->coll);
    let_go(&f->p2p);
}

static void inspector_free(void *state)
{
    struct inspector *f = state;

    forget_document(f);
    let_go(&f->kept_header);
    let_go(&f->kept_metadata);
    names_free(f->processes);
    names_free(f->comms);
    map_free(&f->seats);
    free(f->process);
    free(f->comm_size);
    free(f->call);
    free(f);
}

static void inspector_begin(void *state, const struct import_file *file)
{
    struct inspector *f = state;

    f->file = file->number;
    let_go(&f->kept_header);
    let_go(&f->kept_metadata);
}

/* ---- who made the call ---- */

static uint32_t process_of(struct inspector *f, const json_t *metadata)
{
    char name[160], host[TRACE_NAME_MAX + 1];
    uint32_t number;

    json_show_text(metadata, "hostname", host, sizeof(host));
    /* Without one, the file is the process. */
    if (json_get_int(metadata, "pid", 0, INT64_MAX, -1) < 0)
        snprintf(name, sizeof(name), "%s file %u", host, f->file);
    else
        snprintf(name, sizeof(name), "%s %lld", host,
                 (long long)json_get_int(metadata, "pid", 0, INT64_MAX, -1));
    number = names_add(f->processes, name, strlen(name));
    if (number < f->n_processes)
        return number;
    f->process = xgrow(f->process, &f->processes_cap, number + 1, sizeof(*f->process));
    f->n_processes = number + 1;
    f->process[number] = (struct process){ 0 };
    snprintf(f->process[number].host, sizeof(f->process[number].host), "%s", strcmp(host, "-") ? host : "");
    return number;
}

static uint64_t seat_of(uint64_t comm, uint32_t rank)
{
    return comm << 32 | rank;
}

/* ---- the call ---- */

static bool us_of(const json_t *o, const char *key, uint64_t *ns)
{
    return import_us(json_object_get(o, key), 0, ns) && *ns;
}

/* The kernels' times, over all channels. */
static bool kernel_times(const json_t *perf, struct call *k)
{
    const json_t *traced = json_get_object(perf, "event_trace_ts"),
                 *events = json_get_array(traced, "kernel_events");
    uint64_t first = UINT64_MAX, last = 0, ns;

    for (size_t i = 0; i < json_array_size(events); i++) {
        if (us_of(json_array_get(events, i), "kernel_start_ts", &ns) && ns < first)
            first = ns;
        if (us_of(json_array_get(events, i), "kernel_stop_ts", &ns) && ns > last)
            last = ns;
    }
    if (!last || first > last)
        return false;
    k->enter_ns = first;
    k->leave_ns = last;
    return true;
}

static int64_t comm_of(struct inspector *f, const json_t *header, uint32_t *rank, uint32_t *size)
{
    char id[TRACE_NAME_MAX + 1];
    int64_t r = json_get_int(header, "rank", 0, VIEW_RANKS_MAX - 1, -1),
            n = json_get_int(header, "n_ranks", 1, VIEW_RANKS_MAX, -1);
    uint32_t number;

    if (r < 0 || n <= r || !json_get_string(header, "id") || names_count(f->comms) >= VIEW_COMMS_MAX)
        return -1;
    json_get_text(header, "id", id, sizeof(id));
    number = names_add(f->comms, id, strlen(id));
    f->comm_size = xgrow(f->comm_size, &f->comms_cap, number + 1, sizeof(*f->comm_size));
    f->comm_size[number] = (uint32_t)n;
    *rank = (uint32_t)r;
    *size = (uint32_t)n;
    return number;
}

/* The end of a document: one call. */
static int take_call(struct inspector *f, const json_t *header, const json_t *metadata, struct err *err)
{
    const json_t *perf = f->coll ? f->coll : f->p2p;
    bool message = !f->coll;
    const char *name = json_get_word(perf, message ? "p2p" : "coll");
    int64_t bytes =
        json_get_int(perf, message ? "p2p_msg_size_bytes" : "coll_msg_size_bytes", 0, INT64_MAX / 4, -1);
    struct call k = { .bytes = bytes < 0 ? CALLS_UNSIZED : (uint64_t)bytes, .seq = CALLS_IN_ORDER };
    uint32_t rank = 0, size = 0;
    int64_t comm = comm_of(f, header, &rank, &size), peer = 0;
    struct process *p;
    uint64_t lasted_ns;
    bool timed;

    if (message)
        peer = json_get_int(perf, "p2p_peer", 0, VIEW_RANKS_MAX - 1, -1);
    else
        k.seq = (uint32_t)json_get_int(perf, "coll_sn", 0, UINT32_MAX - 1, CALLS_IN_ORDER);
    timed = kernel_times(perf, &k);
    if (!timed && us_of(metadata, "dump_timestamp_us", &k.leave_ns) &&
        import_us(json_object_get(perf, message ? "p2p_exec_time_us" : "coll_exec_time_us"), 0, &lasted_ns)) {
        timed = lasted_ns < k.leave_ns;
        k.enter_ns = k.leave_ns - lasted_ns;
    }
    if (comm < 0 || peer < 0 || !timed) {
        import_unclear(f->skipped, "a %.20s without communicator, rank, times or partner",
                       *name ? name : "call");
        return 0;
    }
    k.op = !message ? (uint8_t)import_op(name) : strcmp(name, "Recv") ? RING_OP_SEND : RING_OP_RECV;
    k.comm = (uint64_t)comm;
    k.peer = (uint32_t)peer;
    k.rank = process_of(f, metadata);
    p = &f->process[k.rank];
    if (size > p->of) {
        p->rank = rank;
        p->of = size;
        p->of_comm = (uint32_t)comm;
    }
    if (map_get(&f->seats, seat_of(k.comm, rank)) == MAP_NONE)
        map_put(&f->seats, seat_of(k.comm, rank), k.rank);
    if (f->n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u calls", IMPORT_ITEMS_MAX);
    f->call = xgrow(f->call, &f->cap, f->n + 1, sizeof(*f->call));
    f->call[f->n++] = k;
    return 0;
}

static void hold_value(json_t **kept, const json_t *value)
{
    let_go(kept);
    *kept = json_deep_copy(value);
}

static int end_document(struct inspector *f, struct err *err)
{
    int rc = 0;

    if (f->stats) {
        hold_value(&f->kept_header, f->header);
        hold_value(&f->kept_metadata, f->metadata);
    }
    if (f->coll || f->p2p)
        rc = take_call(f, f->header ? f->header : f->kept_header,
                       f->metadata ? f->metadata : f->kept_metadata, err);
    else
        f->skipped->other += !f->stats;
    forget_document(f);
    return rc;
}

static int inspector_piece(void *state, const struct json_piece *piece, const json_t *value, struct err *err)
{
    struct inspector *f = state;

    if (piece->kind == JSON_END)
        return end_document(f, err);
    if (piece->kind != JSON_MEMBER)
        return 0;
    if (!strcmp(piece->key, "header"))
        hold_value(&f->header, value);
    else if (!strcmp(piece->key, "metadata"))
        hold_value(&f->metadata, value);
    else if (!strcmp(piece->key, "coll_perf"))
        hold_value(&f->coll, value);
    else if (!strcmp(piece->key, "p2p_perf"))
        hold_value(&f->p2p, value);
    else if (!strcmp(piece->key, "dump_stats"))
        f->stats = true;
    return 0;
}

static int inspector_end(void *state, struct err *err)
{
    struct inspector *f = state;

    (void)err;
    forget_document(f); /* a line that was cut off while it was written */
    return 0;
}

/* ---- the ranks ---- */

static int inspector_close(void *state, struct err *err)
{
    struct inspector *f = state;
    uint32_t world = 0, next; /* world: the largest communicator */

    for (uint32_t i = 1; i < names_count(f->comms); i++)
        if (f->comm_size[i] > f->comm_size[world])
            world = i;
    /* Members of the largest communicator have its ranks, other processes numbers behind them. */
    next = names_count(f->comms) ? f->comm_size[world] : 0;
    for (size_t i = 0; i < f->n_processes; i++) {
        struct process *p = &f->process[i];

        p->number =
            map_get(&f->seats, seat_of(world, p->rank)) == i && p->of_comm == world ? p->rank : next++;
        if (calls_rank(f->calls, p->number, p->number, p->host, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < f->n; i++) {
        struct call k = f->call[i];
        int64_t comm =
            calls_comm(f->calls, k.comm == world ? "world" : names_text(f->comms, (uint32_t)k.comm), err);
        uint32_t peer = !call_is_message(&k) ? 0 : map_get(&f->seats, seat_of(k.comm, k.peer));

        if (comm < 0)
            return -1;
        if (peer == MAP_NONE) {
            import_unclear(f->skipped, "a message with rank %u of a communicator, which has no file", k.peer);
            continue;
        }
        k.comm = (uint64_t)comm;
        k.rank = f->process[k.rank].number;
        k.peer = !call_is_message(&k) ? 0 : f->process[peer].number;
        if (calls_add(f->calls, &k, err) < 0)
            return -1;
    }
    return 0;
}

const struct import_format import_inspector = { .word = "nccl-inspector",
                                                .title = "NCCL Inspector's lines",
                                                .keys = keys,
                                                .open = inspector_open,
                                                .begin = inspector_begin,
                                                .piece = inspector_piece,
                                                .end = inspector_end,
                                                .close = inspector_close,
                                                .free = inspector_free };
