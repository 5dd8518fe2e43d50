/* NCCL Inspector's lines (plugins/profiler/inspector in NCCL's sources, ext-profiler/inspector before, and
 * the same plugin of RCCL; output format v4): an object for each collective or message of a communicator,
 * {"header":{id, comm_name, rank, n_ranks, nnodes}, "metadata":{dump_timestamp_us, hostname, pid},
 * "coll_perf":{coll, coll_sn, coll_msg_size_bytes, coll_exec_time_us, coll_timing_source, event_trace_ts}};
 * messages have "p2p_perf".  Header and metadata may stand once, in a line with "dump_stats" before those
 * that they belong to, or their members beside "coll_perf".
 *
 * Ranks are those of the largest communicator that all processes are in.  A process has several where it
 * drives several GPUs.  coll_sn counts the calls of one operation, so the order of a communicator's
 * collectives is that of the lines (import_records.h).
 *
 * The kernel's times are used where the lines have them (verbose output): a kernel begins when its GPU comes
 * to the collective, and ends with it.  Plain lines say how long it was; when it ended follows from when the
 * line was written, if that was soon after it.  A time that is the host's ("collective_cpu") says when the
 * call was queued, not when the GPU came to it: it is left out. */
#include "trace/import_format.h"

#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/names.h"
#include "common/xalloc.h"
#include "trace/import_records.h"
#include "view/view.h"
#include "wire/json.h"

#define MEMBERS_NAMED 64u                            /* of a communicator, to name it by them */
#define LASTED_MAX_NS ((uint64_t)86400 * 1000000000) /* a call of more than a day: its time is not known */
#define TEXT_MAX      255u                           /* bytes of a member that stands beside a call */

struct process {
    uint32_t rank; /* in the trace, if it has one */
    bool several;  /* it has several ranks in one communicator */
    char host[TRACE_NAME_MAX + 1];
};

struct comm {
    uint32_t size;
    uint32_t processes; /* that have records in it */
    char name[TRACE_NAME_MAX + 1];
};

struct inspector {
    struct calls *calls;
    struct import_skipped *skipped;
    uint32_t file;
    struct names *processes, *comms;
    struct map seats; /* of a communicator and a rank in it: which process that is */
    struct map ranks; /* of a communicator and a process: its rank in it */
    struct process *process;
    size_t n_processes, processes_cap;
    struct comm *comm;
    size_t comms_cap;
    struct record *record; /* in the order of the lines */
    size_t n, cap;
    json_t *header, *metadata, *coll, *p2p; /* of the document */
    json_t *flat;                           /* its members of flat_keys */
    bool stats; /* it has dump_stats: header and metadata are of the documents that follow, too */
    json_t *kept_header, *kept_metadata;
};

static const char *const keys[] = { "header",      "coll_perf", "p2p_perf", "dump_stats",
                                    "proxy_trace", "proxy_op",  NULL };

/* What header and metadata have, where it stands beside the call. */
static const char *const flat_keys[] = { "id",  "comm_name",        "rank", "n_ranks", "hostname",
                                         "pid", "dump_timestamp_us" };

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
    let_go(&f->flat);
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
    map_free(&f->ranks);
    free(f->process);
    free(f->comm);
    free(f->record);
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
    char name[128], host[TRACE_NAME_MAX + 1];
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

/* A communicator's number, with the rank in it; -1: too little is known.  Another size is another
 * communicator. */
static int64_t comm_of(struct inspector *f, const json_t *header, uint32_t *rank)
{
    char id[TRACE_NAME_MAX + 1], name[TRACE_NAME_MAX + 24];
    int64_t r = json_get_int(header, "rank", 0, VIEW_RANKS_MAX - 1, -1),
            n = json_get_int(header, "n_ranks", 1, VIEW_RANKS_MAX, -1);
    uint32_t number;

    if (r < 0 || n <= r || !json_get_string(header, "id"))
        return -1;
    json_get_text(header, "id", id, sizeof(id));
    snprintf(name, sizeof(name), "%s %lld", id, (long long)n);
    number = names_find(f->comms, name, strlen(name));
    if (number == NAMES_NONE && names_count(f->comms) >= VIEW_COMMS_MAX)
        return -1;
    if (number == NAMES_NONE) {
        const char *given = json_get_word(header, "comm_name");

        number = names_add(f->comms, name, strlen(name));
        f->comm = xgrow(f->comm, &f->comms_cap, number + 1, sizeof(*f->comm));
        f->comm[number] = (struct comm){ .size = (uint32_t)n };
        snprintf(f->comm[number].name, sizeof(f->comm[number].name), "%.40s%s%.20s",
                 strcmp(given, "unknown") ? given : "", *given && strcmp(given, "unknown") ? " " : "", id);
    }
    *rank = (uint32_t)r;
    return number;
}

static uint64_t pair_of(uint64_t comm, uint32_t other)
{
    return comm << 32 | other;
}

/* 0, or -1: another process has that rank. */
static int take_seat(struct inspector *f, const struct record *r, struct err *err)
{
    struct process *p = &f->process[r->process];
    uint64_t seat = pair_of(r->comm, r->rank), pair = pair_of(r->comm, r->process);
    uint32_t who = map_get(&f->seats, seat), where = map_get(&f->ranks, pair);

    if (who != MAP_NONE && who != r->process)
        return err_set(err,
                       "rank %u of communicator %s is two processes (%s and %s): give the files of one run",
                       r->rank, f->comm[r->comm].name, names_text(f->processes, who),
                       names_text(f->processes, r->process));
    if (who == MAP_NONE)
        map_put(&f->seats, seat, r->process);
    if (where == MAP_NONE) {
        map_put(&f->ranks, pair, r->rank);
        f->comm[r->comm].processes++;
    }
    p->several |= where != MAP_NONE && where != r->rank;
    return 0;
}

/* ---- the call ---- */

static bool us_of(const json_t *o, const char *key, uint64_t *ns)
{
    return import_us(json_object_get(o, key), 0, ns) && *ns;
}

/* The kernels' times, over all channels. */
static bool kernel_times(const json_t *perf, struct record *r)
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
    if (first > last || last - first > LASTED_MAX_NS)
        return false;
    r->enter_ns = first;
    r->leave_ns = last;
    return true;
}

/* The end of a document: one call. */
static int take_call(struct inspector *f, const json_t *header, const json_t *metadata, struct err *err)
{
    const json_t *perf = f->coll ? f->coll : f->p2p;
    bool message = !f->coll;
    const char *name = json_get_word(perf, message ? "p2p" : "coll"),
               *source = json_get_word(perf, message ? "p2p_timing_source" : "coll_timing_source");
    int64_t bytes =
        json_get_int(perf, message ? "p2p_msg_size_bytes" : "coll_msg_size_bytes", 0, INT64_MAX / 4, -1);
    struct record r = { .bytes = bytes < 0 ? CALLS_UNSIZED : (uint64_t)bytes, .number = CALLS_IN_ORDER };
    int64_t comm = comm_of(f, header, &r.rank), peer = 0;
    bool known = true;

    if (message)
        known = (peer = json_get_int(perf, "p2p_peer", 0, VIEW_RANKS_MAX - 1, -1)) >= 0;
    else
        known = (r.number = (uint32_t)json_get_int(perf, "coll_sn", 0, UINT32_MAX - 1, CALLS_IN_ORDER)) !=
                CALLS_IN_ORDER;
    us_of(metadata, "dump_timestamp_us", &r.written_ns);
    if (!kernel_times(perf, &r)) {
        known = known &&
                import_us(json_object_get(perf, message ? "p2p_exec_time_us" : "coll_exec_time_us"), 0,
                          &r.lasted_ns) &&
                r.lasted_ns <= LASTED_MAX_NS;
        if (known && comm >= 0 && !strcmp(source, "collective_cpu")) {
            import_unclear(f->skipped, "a %.20s whose time is the host's (%s), not the kernel's",
                           *name ? name : "call", source);
            return 0;
        }
    }
    if (comm < 0 || !known) {
        import_unclear(f->skipped, "a %.20s without communicator, rank, number, duration or partner",
                       *name ? name : "call");
        return 0;
    }
    if (f->n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u calls", IMPORT_ITEMS_MAX);
    r.op = !message ? (uint8_t)import_op(name) : strcmp(name, "Recv") ? RING_OP_SEND : RING_OP_RECV;
    r.comm = (uint32_t)comm;
    r.peer = (uint32_t)peer;
    r.process = process_of(f, metadata);
    if (take_seat(f, &r, err) < 0)
        return -1;
    f->record = xgrow(f->record, &f->cap, f->n + 1, sizeof(*f->record));
    f->record[f->n++] = r;
    return 0;
}

static void hold_value(json_t **kept, const json_t *value)
{
    let_go(kept);
    *kept = json_deep_copy(value);
}

static int end_document(struct inspector *f, struct err *err)
{
    const json_t *flat = json_object_get(f->flat, "id") ? f->flat : NULL,
                 *header = f->header ? f->header
                           : flat    ? flat
                                     : f->kept_header,
                 *metadata = f->metadata ? f->metadata
                             : flat      ? flat
                                         : f->kept_metadata;
    int rc = 0;

    if (f->stats) {
        hold_value(&f->kept_header, f->header);
        hold_value(&f->kept_metadata, f->metadata);
    }
    if (f->coll || f->p2p)
        rc = take_call(f, header, metadata, err);
    else
        f->skipped->other += !f->stats;
    forget_document(f);
    return rc;
}

/* A document may have any number of members, each of any length: those that are read are kept. */
static void keep_flat(struct inspector *f, const char *key, const json_t *value)
{
    bool known = json_is_number(value) || (json_is_string(value) && json_string_length(value) <= TEXT_MAX);

    for (size_t i = 0; i < ARRAY_SIZE(flat_keys) && known; i++) {
        if (strcmp(key, flat_keys[i]) != 0)
            continue;
        if (!f->flat)
            f->flat = json_object();
        json_object_set_new(f->flat, key, json_deep_copy(value));
    }
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
    else
        keep_flat(f, piece->key, value);
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

/* The largest communicator that all processes are in; NAMES_NONE: there is none, and ranks are numbers in the
 * order in which processes came. */
static uint32_t find_world(const struct inspector *f)
{
    uint32_t world = NAMES_NONE;

    for (uint32_t i = 0; i < names_count(f->comms); i++)
        if (f->comm[i].processes == f->n_processes &&
            (world == NAMES_NONE || f->comm[i].size > f->comm[world].size))
            world = i;
    return world;
}

/* The rank in the trace of who has that rank in the communicator; IMPORT_RANK_UNKNOWN: it has no record, or
 * it is one of several of a process of which the communicator does not tell which. */
static uint32_t rank_of(const struct inspector *f, uint32_t world, uint32_t comm, uint32_t rank)
{
    uint32_t process = map_get(&f->seats, pair_of(comm, rank));

    if (process == MAP_NONE)
        return IMPORT_RANK_UNKNOWN;
    if (!f->process[process].several)
        return f->process[process].rank;
    return world != NAMES_NONE && f->comm[comm].size == f->comm[world].size ? rank : IMPORT_RANK_UNKNOWN;
}

/* Each rank has its own clock: their hosts' are read at different moments. */
static int number_ranks(struct inspector *f, uint32_t world, struct err *err)
{
    if (world != NAMES_NONE)
        calls_size(f->calls, f->comm[world].size);
    for (uint32_t i = 0; i < f->n_processes; i++)
        f->process[i].rank = world == NAMES_NONE ? i : map_get(&f->ranks, pair_of(world, i));
    for (size_t i = 0; i < f->n; i++) {
        uint32_t rank = rank_of(f, world, f->record[i].comm, f->record[i].rank);

        if (rank != IMPORT_RANK_UNKNOWN &&
            calls_rank(f->calls, rank, rank, f->process[f->record[i].process].host, err) < 0)
            return -1;
    }
    return 0;
}

/* By its members where all of them have records, and are few. */
static void name_comm(const struct inspector *f, uint32_t world, uint32_t comm, char *buf, size_t size)
{
    uint32_t rank[MEMBERS_NAMED], n = f->comm[comm].size <= MEMBERS_NAMED ? f->comm[comm].size : 0;

    for (uint32_t i = 0; i < n; i++) {
        rank[i] = rank_of(f, world, comm, i);
        if (rank[i] == IMPORT_RANK_UNKNOWN)
            n = 0;
    }
    if (comm == world)
        snprintf(buf, size, "world");
    else
        import_group_name(buf, size, f->comm[comm].name, "", rank, n, 0);
}

static int add_record(struct inspector *f, const struct record *r, uint32_t world, struct err *err)
{
    char name[TRACE_NAME_MAX + 1];
    bool message = r->op == RING_OP_SEND || r->op == RING_OP_RECV;
    struct call k = { .rank = rank_of(f, world, r->comm, r->rank),
                      .op = r->op,
                      .seq = message ? CALLS_IN_ORDER : r->seq,
                      .bytes = r->bytes,
                      .peer = message ? rank_of(f, world, r->comm, r->peer) : 0,
                      .enter_ns = r->enter_ns,
                      .leave_ns = r->leave_ns };
    int64_t comm;

    if (k.rank == IMPORT_RANK_UNKNOWN) {
        import_unclear(f->skipped, "a call of a process with several GPUs: of which one is not known");
        return 0;
    }
    if (message && !r->leave_ns) {
        import_unclear(f->skipped, "a message without the time at which it began");
        return 0;
    }
    if (k.peer == IMPORT_RANK_UNKNOWN) {
        import_unclear(f->skipped, "a message with rank %u of a communicator, which has no file", r->peer);
        return 0;
    }
    name_comm(f, world, r->comm, name, sizeof(name));
    comm = calls_comm(f->calls, name, err);
    if (comm < 0)
        return -1;
    k.comm = (uint64_t)comm;
    return calls_add(f->calls, &k, err);
}

static int inspector_close(void *state, struct err *err)
{
    struct inspector *f = state;
    uint32_t world = find_world(f);
    int timed;

    if (number_ranks(f, world, err) < 0)
        return -1;
    records_number(f->record, f->n);
    timed = records_time(f->record, f->n, err);
    if (timed < 0)
        return -1;
    if (!timed)
        calls_untimed(f->calls);
    for (size_t i = 0; i < f->n; i++)
        if (add_record(f, &f->record[i], world, err) < 0)
            return -1;
    if (calls_count(f->calls)) /* and not all were left out */
        snprintf(
            f->skipped->nothing, sizeof(f->skipped->nothing),
            "each call has the record of one rank alone (the first of rank %u of %u of communicator %s), and "
            "who is late shows beside the others only: give the files of all ranks at once",
            f->record[0].rank, f->comm[f->record[0].comm].size, f->comm[f->record[0].comm].name);
    return 0;
}

const struct import_format import_inspector = { .word = "nccl-inspector",
                                                .title = "NCCL Inspector's lines",
                                                .keys = keys,
                                                .lines = true,
                                                .open = inspector_open,
                                                .begin = inspector_begin,
                                                .piece = inspector_piece,
                                                .end = inspector_end,
                                                .close = inspector_close,
                                                .free = inspector_free };
