/* PyTorch's flight recorder, as JSON: what torch._C._distributed_c10d._dump_nccl_trace_json() and
 * _dump_fr_trace_json() return, or a pickled dump that was written as JSON
 * (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp).
 *
 * An entry is a call of one rank: record_id, process_group, collective_seq_id, profiling_name
 * ("nccl:all_reduce", "nccl:send 0->1"), time_created_ns, time_discovered_completed_ns, state, is_p2p,
 * input_sizes, input_dtypes.  A dump is one rank's: its number is the member "rank" where a version has it,
 * else the last number in the file's name.
 *
 * A rank comes to a call when the call is created, on the CPU.  The recorder discovers that a call is over
 * when it looks, mostly each 100 ms: times are as coarse.  duration_ms, where it was measured, bounds how
 * long before that a call began.  Of the calls of a rank that are not over, the oldest started one, else the
 * oldest, is where it is stuck; the others are queued behind it and left out.
 *
 * Messages of a batch have no state of their own: they have that of the "coalesced" entry that follows
 * them. */
#include "trace/import_format.h"

#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/xalloc.h"
#include "view/view.h"
#include "wire/json.h"

struct entry {
    struct call call; /* comm: the group's number; peer: in the group */
    uint32_t other;   /* of a message: the rank in its group that made it */
    bool over, started, message, coalesced;
};

struct group {
    bool known;
    char description[64];
    uint32_t *rank; /* by place */
    size_t n;
};

struct dump {
    uint32_t rank;
    size_t first, n; /* entries */
    uint64_t begin_ns;
    bool wrapped; /* the recorder dropped older ones */
};

struct flight {
    struct calls *calls;
    struct import_skipped *skipped;
    const struct import_file *file;
    struct names *groups;
    struct group *group;
    size_t groups_cap;
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
    f->groups = names_new();
    return f;
}

static void flight_free(void *state)
{
    struct flight *f = state;

    for (uint32_t i = 0; i < names_count(f->groups); i++)
        free(f->group[i].rank);
    names_free(f->groups);
    free(f->group);
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
}

/* ---- groups ---- */

static uint32_t group_get(struct flight *f, const char *name)
{
    uint32_t number = names_find(f->groups, name, strlen(name));

    if (number != NAMES_NONE)
        return number;
    if (names_count(f->groups) >= VIEW_COMMS_MAX)
        return NAMES_NONE;
    number = names_add(f->groups, name, strlen(name));
    f->group = xgrow(f->group, &f->groups_cap, number + 1, sizeof(*f->group));
    f->group[number] = (struct group){ .known = false };
    return number;
}

/* {"0":{"name":"0","desc":"default_pg","ranks":"[0, 1]"}}: all groups of the job, the same in each dump. */
static void take_groups(struct flight *f, const json_t *config)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        uint32_t number = group_get(f, key), rank[4096];
        struct group *g;

        if (number == NAMES_NONE || f->group[number].known)
            continue;
        g = &f->group[number];
        g->n = import_ranks(json_object_get(value, "ranks"), rank, ARRAY_SIZE(rank));
        if (g->n == ARRAY_SIZE(rank)) /* there may be more */
            g->n = 0;
        g->rank = xcalloc(g->n + 1, sizeof(*g->rank));
        memcpy(g->rank, rank, g->n * sizeof(*rank));
        json_get_text(value, "desc", g->description, sizeof(g->description));
        g->known = true;
    }
}

static uint32_t group_of(struct flight *f, const json_t *entry)
{
    const json_t *pair = json_object_get(entry, "process_group");
    const char *name = json_string_value(json_array_get(pair, 0)),
               *description = json_string_value(json_array_get(pair, 1));
    char number[32];
    uint32_t group;

    if (!name) {
        snprintf(number, sizeof(number), "%lld", (long long)json_get_int(entry, "pg_id", 0, INT32_MAX, 0));
        name = number;
    }
    group = group_get(f, name);
    if (group != NAMES_NONE && description && !f->group[group].description[0])
        snprintf(f->group[group].description, sizeof(f->group[group].description), "%s", description);
    return group;
}

/* ---- entries ---- */

/* Of the input tensors; a broadcast's receivers and all-gathers have the sizes of what they give. */
static uint64_t bytes_of(const json_t *entry)
{
    const json_t *sizes = json_get_array(entry, "input_sizes"),
                 *dtypes = json_get_array(entry, "input_dtypes");
    double bytes = 0;

    if (!json_array_size(sizes) || json_array_size(sizes) != json_array_size(dtypes))
        return CALLS_UNSIZED;
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_t *dims = json_array_get(sizes, i);
        const char *dtype = json_string_value(json_array_get(dtypes, i));
        double elements = dtype ? import_dtype_bytes(dtype) : 0;

        if (!(elements > 0))
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

static bool read_entry(struct flight *f, const json_t *entry, struct entry *e)
{
    const char *name = json_get_word(entry, "profiling_name"), *state = json_get_word(entry, "state");
    uint64_t over_ns = ns_of(entry, "time_discovered_completed_ns");
    double lasted_ms = json_get_real(entry, "duration_ms", 0, 1e12);
    struct call *k = &e->call;

    *e = (struct entry){ .call = { .seq = CALLS_IN_ORDER } };
    k->enter_ns = ns_of(entry, "time_created_ns");
    k->comm = group_of(f, entry);
    if (!k->enter_ns || k->comm == NAMES_NONE) {
        import_unclear(f->skipped, "an entry without time_created_ns");
        return false;
    }
    e->coalesced = strstr(name, "coalesced") != NULL;
    e->message = json_get_true(entry, "is_p2p") || strstr(name, "->") || strstr(name, "<-");
    e->started = !strcmp(state, "started");
    e->over = over_ns >= k->enter_ns;
    k->leave_ns = over_ns;
    /* It cannot have begun earlier than its duration before it was seen to be over. */
    if (e->over && lasted_ms >= 0 && over_ns - k->enter_ns > lasted_ms * 1e6 && !e->message) {
        k->begin_ns = k->enter_ns;
        k->flags = RING_EVENT_NONBLOCKING;
        k->enter_ns = over_ns - (uint64_t)(lasted_ms * 1e6);
    }
    if (e->coalesced)
        return true;
    k->bytes = bytes_of(entry);
    if (e->message && !partners_of(name, e)) {
        import_unclear(f->skipped, "a message \"%.40s\" whose ranks are not in its name", name);
        return false;
    }
    if (!e->message) {
        k->op = (uint8_t)import_op(name);
        k->seq = (uint32_t)json_get_int(
            entry, json_object_get(entry, "collective_seq_id") ? "collective_seq_id" : "seq_id", 0,
            UINT32_MAX - 1, CALLS_IN_ORDER);
    }
    return true;
}

static int take_entry(struct flight *f, const json_t *entry, struct err *err)
{
    struct dump *d = &f->dump[f->dumps - 1];
    struct entry e;

    if (!d->n && !d->begin_ns) {
        d->wrapped = json_get_int(entry, "record_id", 0, INT64_MAX, 0) > 0;
        d->begin_ns = ns_of(entry, "time_created_ns");
    }
    if (!read_entry(f, entry, &e))
        return 0;
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

    if (piece->kind == JSON_ITEM && !strcmp(piece->key, "entries"))
        return json_is_object(value) ? take_entry(f, value, err) : 0;
    if (piece->kind != JSON_MEMBER)
        return 0;
    if (!strcmp(piece->key, "pg_config"))
        take_groups(f, value);
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
                e[i].call.leave_ns >= e[j].call.enter_ns) {
                e[j].over = e[i].over;
                e[j].started = e[i].started;
                e[j].call.leave_ns = e[i].call.leave_ns;
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

static int flight_end(void *state, struct err *err)
{
    struct flight *f = state;
    struct dump *d = &f->dump[f->dumps - 1];
    struct entry *e = f->n ? &f->entry[d->first] : NULL;
    size_t stuck;

    d->rank = f->rank != IMPORT_RANK_UNKNOWN ? f->rank : f->file->name_rank;
    if (d->rank == IMPORT_RANK_UNKNOWN)
        return err_set(
            err,
            "the dump does not say its rank, and its name has no number: name it like nccl_trace_rank_3.json");
    settle_batches(e, d->n);
    stuck = stuck_at(e, d->n);
    if (stuck < d->n)
        e[stuck].call.leave_ns = CALLS_STUCK;
    return calls_rank(f->calls, d->rank, f->file->number, "", err);
}

/* ---- calls ---- */

static bool translate_entry(struct flight *f, const struct entry *e, uint32_t self, struct call *k)
{
    const struct group *g = &f->group[e->call.comm];

    *k = e->call;
    k->rank = self;
    if (!e->message)
        return true;
    if (!g->n) /* ranks of the group are those of the job, or so it was in a dump without pg_config */
        return k->peer != self;
    if (k->peer >= g->n || e->other >= g->n || g->rank[e->other] != self) {
        import_unclear(f->skipped, "a message whose ranks are not in its group");
        return false;
    }
    k->peer = g->rank[k->peer];
    return true;
}

static int add_entry(struct flight *f, const struct entry *e, uint32_t self, const int64_t *comm,
                     struct err *err)
{
    struct call k;

    if (e->coalesced) /* of collectives: the group is one call, and its parts have the same number */
        return 0;
    if (!e->over && e->call.leave_ns != CALLS_STUCK) {
        import_unclear(f->skipped, "a call that is queued behind the one that its rank is stuck in");
        return 0;
    }
    if (!translate_entry(f, e, self, &k))
        return 0;
    k.comm = (uint64_t)comm[e->call.comm];
    return calls_add(f->calls, &k, err);
}

static int flight_close(void *state, struct err *err)
{
    struct flight *f = state;
    int64_t *comm = xcalloc(names_count(f->groups) + 1, sizeof(*comm));
    size_t world = 0;
    uint64_t from_ns = 0;
    char name[TRACE_NAME_MAX + 1];
    int rc = 0;

    /* Ranks of the job: those of the default group, or as many as there are dumps. */
    for (uint32_t i = 0; i < names_count(f->groups) && !world; i++)
        if (!strcmp(f->group[i].description, "default_pg"))
            world = f->group[i].n;
    if (!world && f->dumps > 1)
        world = f->dumps;
    /* Messages have no numbers that both ends agree on.  Where a recorder dropped old entries, those count
     * that were made when all dumps had begun. */
    for (size_t i = 0; i < f->dumps; i++)
        if (f->dump[i].wrapped && f->dump[i].begin_ns > from_ns)
            from_ns = f->dump[i].begin_ns;
    for (uint32_t i = 0; i < names_count(f->groups) && rc == 0; i++) {
        const struct group *g = &f->group[i];

        import_group_name(name, sizeof(name), names_text(f->groups, i), g->description, g->rank, g->n, world);
        comm[i] = calls_comm(f->calls, name, err);
        rc = comm[i] < 0 ? -1 : 0;
    }
    for (size_t d = 0; d < f->dumps; d++)
        for (size_t i = 0; i < f->dump[d].n && rc == 0; i++) {
            const struct entry *e = &f->entry[f->dump[d].first + i];

            if (!e->message || e->coalesced || call_begin_ns(&e->call) >= from_ns)
                rc = add_entry(f, e, f->dump[d].rank, comm, err);
        }
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
