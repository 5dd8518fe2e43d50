/* PyTorch's flight recorder: the dumps that a training writes when it times out or is asked to, which are
 * pickles, and what torch._C._distributed_c10d._dump_nccl_trace_json() and _dump_fr_trace_json() return
 * (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp; TraceUtils.h before PyTorch 2.6).
 *
 * An entry is a call of one rank: record_id, process_group, pg_id, collective_seq_id (seq_id before version
 * 2), p2p_seq_id, profiling_name ("nccl:all_reduce", "nccl:send 0->1"), time_created_ns (_us in the first
 * dumps, which are a list of entries), time_discovered_completed_ns, state, is_p2p, input_sizes,
 * input_dtypes.  A dump is one rank's: its number is the member "rank" where a version has it, else the last
 * number in the file's name.  A dump may have all entries that the recorder keeps, or those alone that are
 * not over.
 *
 * A rank comes to a call when the call is created, on the CPU.  The recorder discovers that a call is over
 * when it looks, mostly each 100 ms: times are only as exact.  duration_ms, where it was measured, bounds how
 * long before that a call began.  Of the calls of a rank that are not over, the oldest started one, else the
 * oldest, is where it is stuck; the others are queued behind it and left out.  How far the ranks have come in
 * their groups is in flight_groups.h.
 *
 * Messages of a batch have no state of their own: they have that of the "coalesced" entry that follows
 * them.  In a dump of what is not over a batch without that entry is over. */
#include "trace/import_format.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "trace/flight_groups.h"
#include "view/view.h"
#include "wire/json.h"

struct entry {
    struct call call; /* comm: the group's number; peer: in the group */
    uint32_t other;   /* of a message: the rank in its group that made it */
    uint32_t batch;   /* of a message: its p2p_seq_id, which those of a batch share */
    bool over, timed; /* timed: when it was seen to be over is known */
    bool measured;    /* how long it lasted is known, too */
    bool started, message;
    bool coalesced; /* the end of a batch of messages; coalesced collectives are one call, which has no parts
                     */
};

struct dump {
    uint32_t rank;
    size_t first, n; /* entries */
    uint64_t begin_ns;
    uint64_t seen; /* entries, with those that are left out */
    uint32_t lost; /* among those that are left out: not over */
    bool wrapped;  /* the recorder dropped older ones */
};

struct flight {
    struct calls *calls;
    struct import_skipped *skipped;
    const struct import_file *file;
    struct flight_groups *groups;
    struct entry *entry;
    size_t n, cap;
    struct dump *dump;
    size_t dumps, dumps_cap;
    uint32_t rank; /* of the file, as it says */
};

static const char *const keys[] = { "entries",          "pg_config",    "pg_status", "version",
                                    "comm_lib_version", "nccl_version", NULL };

static void *flight_open(struct calls *calls, struct import_skipped *skipped)
{
    struct flight *f = xcalloc(1, sizeof(*f));

    f->calls = calls;
    f->skipped = skipped;
    f->groups = flight_groups_new();
    return f;
}

static void flight_free(void *state)
{
    struct flight *f = state;

    flight_groups_free(f->groups);
    free(f->entry);
    free(f->dump);
    free(f);
}

static void flight_begin(void *state, const struct import_file *file)
{
    struct flight *f = state;

    f->file = file;
    f->rank = IMPORT_RANK_UNKNOWN;
    f->dump = xgrow(f->dump, &f->dumps_cap, f->dumps + 1, sizeof(*f->dump));
    f->dump[f->dumps++] = (struct dump){ .first = f->n };
    flight_groups_begin(f->groups);
}

/* ---- entries ---- */

#define TENSORS_MAX 65536u /* of a call */
#define DIMS_MAX    64u    /* of a tensor, as PyTorch has it */

/* Of the input tensors; a broadcast's receivers and all-gathers have the sizes of what they give. */
static uint64_t bytes_of(const json_t *entry)
{
    const json_t *sizes = json_get_array(entry, "input_sizes"),
                 *dtypes = json_get_array(entry, "input_dtypes");
    double bytes = 0;

    if (!json_array_size(sizes) || json_array_size(sizes) != json_array_size(dtypes) ||
        json_array_size(sizes) > TENSORS_MAX)
        return CALLS_UNSIZED;
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_t *dims = json_array_get(sizes, i);
        const char *dtype = json_string_value(json_array_get(dtypes, i));
        double elements = dtype ? import_dtype_bytes(dtype) : 0;

        if (!(elements > 0) || json_array_size(dims) > DIMS_MAX)
            return CALLS_UNSIZED;
        for (size_t d = 0; d < json_array_size(dims); d++)
            elements *= json_number_of(json_array_get(dims, d));
        bytes += elements;
    }
    return bytes >= 0 && bytes < 1e18 ? (uint64_t)bytes : CALLS_UNSIZED;
}

/* "nccl:send 0->1", "nccl:recv 0<-1": both ranks count in the group. */
static bool partners_of(const char *name, struct entry *e)
{
    unsigned self, peer;
    const char *space = strchr(name, ' ');

    if (space && sscanf(space, " %u->%u", &self, &peer) == 2)
        e->call.op = RING_OP_SEND;
    else if (space && sscanf(space, " %u<-%u", &self, &peer) == 2)
        e->call.op = RING_OP_RECV;
    else
        return false;
    e->other = self;
    e->call.peer = peer;
    return self < VIEW_RANKS_MAX && peer < VIEW_RANKS_MAX;
}

static uint64_t ns_of(const json_t *entry, const char *key)
{
    return (uint64_t)json_get_int(entry, key, 1, (int64_t)CALLS_TIME_MAX - 1, 0);
}

/* When the call was created; 0: unknown. */
static uint64_t created_ns(const json_t *entry)
{
    uint64_t ns = ns_of(entry, "time_created_ns");

    return ns ? ns
              : 1000 * (uint64_t)json_get_int(entry, "time_created_us", 1,
                                              (int64_t)(CALLS_TIME_MAX / 1000) - 1, 0);
}

/* Its number among its group's collectives. */
static uint32_t seq_of(const json_t *entry)
{
    const char *key = json_object_get(entry, "collective_seq_id") ? "collective_seq_id" : "seq_id";

    return (uint32_t)json_get_int(entry, key, 0, UINT32_MAX - 1, CALLS_IN_ORDER);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* In what an entry is left out for. */
struct place {
    char s[96];
};

static struct place place_of(const struct flight *f)
{
    struct place p;

    snprintf(p.s, sizeof(p.s), "%.60s, entry %llu", base_name(f->file->name),
             (unsigned long long)f->dump[f->dumps - 1].seen);
    return p;
}

/* It cannot have begun earlier than its duration before it was seen to be over. */
static void bound_begin(struct entry *e, double lasted_ms)
{
    struct call *k = &e->call;

    if (!(lasted_ms >= 0) || (double)(k->leave_ns - k->enter_ns) <= lasted_ms * 1e6)
        return;
    k->begin_ns = k->enter_ns;
    k->flags = RING_EVENT_NONBLOCKING;
    k->enter_ns = k->leave_ns - (uint64_t)(lasted_ms * 1e6);
}

static bool read_entry(struct flight *f, const json_t *entry, struct entry *e)
{
    const char *name = json_get_word(entry, "profiling_name"), *state = json_get_word(entry, "state");
    double lasted_ms = json_get_real(entry, "duration_ms", 0, 1e12);
    struct call *k = &e->call;

    *e = (struct entry){ .call = { .seq = CALLS_IN_ORDER, .enter_ns = created_ns(entry) } };
    k->leave_ns = ns_of(entry, "time_discovered_completed_ns");
    e->timed = k->enter_ns && k->leave_ns >= k->enter_ns;
    e->over = e->timed || !strcmp(state, "completed");
    e->measured = lasted_ms >= 0;
    k->comm = flight_groups_entry(f->groups, entry);
    if (!k->enter_ns || k->comm == FLIGHT_NO_GROUP) {
        import_unclear(f->skipped, "%s: %s", place_of(f).s,
                       k->enter_ns ? "too many groups" : "no time_created_ns");
        return false;
    }
    e->coalesced =
        strstr(name, "coalesced") && (json_get_true(entry, "is_p2p") || !json_object_get(entry, "is_p2p"));
    e->message = json_get_true(entry, "is_p2p") || strstr(name, "->") || strstr(name, "<-");
    e->started = !strcmp(state, "started");
    e->batch = (uint32_t)json_get_int(entry, "p2p_seq_id", 0, UINT32_MAX, 0);
    if (e->message || e->batch)
        flight_groups_message(f->groups, (uint32_t)k->comm);
    if (e->timed && !e->message)
        bound_begin(e, lasted_ms);
    if (!e->message && !e->coalesced && seq_of(entry) != CALLS_IN_ORDER)
        flight_groups_collective(f->groups, (uint32_t)k->comm, seq_of(entry), e->over);
    if (e->coalesced)
        return true;
    k->bytes = bytes_of(entry);
    if (e->message && !partners_of(name, e)) {
        import_unclear(f->skipped, "%s: a message \"%.40s\" whose ranks are not in its name", place_of(f).s,
                       name);
        return false;
    }
    if (!e->message) {
        k->op = (uint8_t)import_op(name);
        k->seq = seq_of(entry);
    }
    return true;
}

static int take_entry(struct flight *f, const json_t *entry, struct err *err)
{
    struct dump *d = &f->dump[f->dumps - 1];
    struct entry e;

    if (!d->seen++) {
        d->wrapped = json_get_int(entry, "record_id", 0, INT64_MAX, 0) > 0;
        d->begin_ns = created_ns(entry);
    }
    if (!read_entry(f, entry, &e)) {
        d->lost += !e.over;
        return 0;
    }
    if (f->n >= IMPORT_ITEMS_MAX)
        return err_set(err, "more than %u entries", IMPORT_ITEMS_MAX);
    f->entry = xgrow(f->entry, &f->cap, f->n + 1, sizeof(*f->entry));
    f->entry[f->n++] = e;
    d->n++;
    return 0;
}

static int flight_piece(void *state, const struct json_piece *piece, const json_t *value, struct err *err)
{
    struct flight *f = state;

    /* without a key: the first dumps are a list of entries */
    if (piece->kind == JSON_ITEM && (!*piece->key || !strcmp(piece->key, "entries")))
        return json_is_object(value) ? take_entry(f, value, err) : 0;
    if (piece->kind != JSON_MEMBER)
        return 0;
    if (!strcmp(piece->key, "pg_config"))
        flight_groups_config(f->groups, value);
    else if (!strcmp(piece->key, "pg_status"))
        flight_groups_status(f->groups, value);
    else if (!strcmp(piece->key, "rank") && json_is_integer(value) && json_integer_value(value) >= 0 &&
             json_integer_value(value) < VIEW_RANKS_MAX)
        f->rank = (uint32_t)json_integer_value(value);
    return 0;
}

/* ---- the file's end ---- */

static void settle_batches(struct entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; e[i].coalesced && j-- > 0 && !e[j].coalesced;)
            if (e[j].message && !e[j].over && e[j].call.comm == e[i].call.comm &&
                (!e[i].timed || e[i].call.leave_ns >= e[j].call.enter_ns)) {
                e[j].over = e[i].over;
                e[j].timed = e[i].timed;
                e[j].measured = e[i].measured;
                e[j].started = e[i].started;
                e[j].call.leave_ns = e[i].call.leave_ns;
            }
}

static bool same_batch(const struct entry *a, const struct entry *b)
{
    return a->message && b->message && a->batch == b->batch && a->call.comm == b->call.comm;
}

/* In a dump of what is not over alone: batches whose own entry is not there. */
static void settle_ended_batches(struct entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (e[i].over)
            return;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_batch(&e[i], &e[end]) && !e[end].coalesced;)
            end++;
        if (end - i < 2 || (end < n && e[end].coalesced && e[end].call.comm == e[i].call.comm))
            continue;
        for (size_t j = i; j < end; j++)
            e[j].over = true;
    }
}

/* Where the rank is stuck; n: nowhere. */
static size_t stuck_at(const struct entry *e, size_t n)
{
    size_t first = n;

    for (size_t i = 0; i < n; i++) {
        if (e[i].over || e[i].coalesced)
            continue;
        if (e[i].started)
            return i;
        first = first == n ? i : first;
    }
    return first;
}

/* It never left that call; of a batch of messages, none of them, in all of which it came at once. */
static void mark_stuck(struct entry *e, size_t n, size_t stuck)
{
    e[stuck].call.leave_ns = CALLS_STUCK;
    for (size_t i = stuck + 1; i < n && same_batch(&e[stuck], &e[i]) && !e[i].coalesced; i++)
        if (!e[i].over) {
            e[i].call.leave_ns = CALLS_STUCK;
            e[i].call.enter_ns = e[stuck].call.enter_ns;
        }
}

/* The number of the dump's rank, which must be one of its job. */
static int rank_of(const struct flight *f, uint32_t *rank, struct err *err)
{
    size_t n;
    const uint32_t *world = flight_groups_world(f->groups, &n);
    bool member = !n;

    *rank = f->rank != IMPORT_RANK_UNKNOWN ? f->rank : f->file->name_rank;
    if (*rank == IMPORT_RANK_UNKNOWN)
        return err_set(
            err,
            "the dump does not say its rank, and its name has no number: name it like nccl_trace_rank_3.json");
    for (size_t i = 0; i < n && !member; i++)
        member = world[i] == *rank;
    if (!member)
        return err_set(err,
                       "rank %u, by its %s, is not in the job's default group: name it like "
                       "nccl_trace_rank_%u.json",
                       *rank, f->rank != IMPORT_RANK_UNKNOWN ? "member \"rank\"" : "name", world[0]);
    return 0;
}

static int flight_end(void *state, struct err *err)
{
    struct flight *f = state;
    struct dump *d = &f->dump[f->dumps - 1];
    struct entry *e = f->n ? &f->entry[d->first] : NULL;
    size_t stuck;

    if (rank_of(f, &d->rank, err) < 0)
        return -1;
    flight_groups_end(f->groups, d->rank);
    settle_batches(e, d->n);
    settle_ended_batches(e, d->n);
    stuck = stuck_at(e, d->n);
    if (stuck < d->n)
        mark_stuck(e, d->n, stuck);
    return calls_rank(f->calls, d->rank, f->file->number, "", err);
}

/* ---- calls ---- */

static bool translate_entry(struct flight *f, const struct entry *e, uint32_t self, struct call *k)
{
    size_t n;
    const uint32_t *rank = flight_groups_ranks(f->groups, (uint32_t)e->call.comm, &n);

    *k = e->call;
    k->rank = self;
    if (!e->message)
        return true;
    if (!n) /* ranks of the group are those of the job, or so it was in a dump without pg_config */
        return k->peer != self;
    if (k->peer >= n || e->other >= n || rank[e->other] != self || rank[k->peer] == self) {
        import_unclear(f->skipped, "a message of rank %u whose ranks are not in its group", self);
        return false;
    }
    k->peer = rank[k->peer];
    return true;
}

static bool is_stuck(const struct entry *e)
{
    return e->call.leave_ns == CALLS_STUCK;
}

/* *added: it is one of the calls. */
static int add_entry(struct flight *f, const struct entry *e, uint32_t self, const int64_t *comm, bool *added,
                     struct err *err)
{
    struct call k;

    *added = false;
    if (e->coalesced)
        return 0;
    if (!is_stuck(e) && !e->timed) {
        import_unclear(f->skipped,
                       e->over ? "a call of rank %u that is over, and since when is not known"
                               : "a call that is queued behind the one that rank %u is stuck in",
                       self);
        return 0;
    }
    if (!translate_entry(f, e, self, &k))
        return 0;
    k.comm = (uint64_t)comm[e->call.comm];
    *added = true;
    if (calls_add(f->calls, &k, err) < 0)
        return -1;
    f->skipped->late += !is_stuck(e) && !e->measured;
    return 0;
}

/* Messages made before from_ns are left out. */
static int add_dump(struct flight *f, const struct dump *d, uint64_t from_ns, const int64_t *comm,
                    struct err *err)
{
    uint32_t queued = d->lost;
    int rc = 0;

    for (size_t i = 0; i < d->n && rc == 0; i++) {
        const struct entry *e = &f->entry[d->first + i];
        bool added = false;

        if (!e->message || e->coalesced || is_stuck(e) || call_begin_ns(&e->call) >= from_ns)
            rc = add_entry(f, e, d->rank, comm, &added, err);
        queued += !e->over && !(is_stuck(e) && added);
    }
    calls_queued(f->calls, d->rank, queued);
    return rc;
}

static int flight_close(void *state, struct err *err)
{
    struct flight *f = state;
    int64_t *comm = xcalloc(flight_groups_count(f->groups) + 1, sizeof(*comm));
    size_t world = 0;
    uint64_t from_ns = 0;
    int rc;

    /* Ranks of the job: those of the default group, or as many as there are dumps. */
    flight_groups_world(f->groups, &world);
    if (!world && f->dumps > 1)
        world = f->dumps;
    /* Messages have no numbers that both ends agree on.  Where a recorder dropped old entries, those count
     * that were made when all dumps had begun. */
    for (size_t i = 0; i < f->dumps; i++)
        if (f->dump[i].wrapped && f->dump[i].begin_ns > from_ns)
            from_ns = f->dump[i].begin_ns;
    rc = flight_groups_give(f->groups, f->calls, world, comm, err);
    for (size_t d = 0; d < f->dumps && rc == 0; d++)
        rc = add_dump(f, &f->dump[d], from_ns, comm, err);
    free(comm);
    return rc;
}

const struct import_format import_flight = { .word = "flight-recorder",
                                             .title = "dumps of PyTorch's flight recorder",
                                             .keys = keys,
                                             .open = flight_open,
                                             .begin = flight_begin,
                                             .piece = flight_piece,
                                             .end = flight_end,
                                             .close = flight_close,
                                             .free = flight_free };
