#include "trace/line.h"

#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/xalloc.h"
#include "view/switches.h"
#include "view/view.h"
#include "wire/json.h"

#define BELOW       (1ull << 62) /* bytes and times */
#define SAFE_DIGITS 18           /* any number of this many digits fits into 64 bits */

/* A record before its values are checked. */
struct raw {
    uint64_t number[9]; /* by enum field */
    const char *comm, *op;
    size_t comm_bytes, op_bytes;
    bool left;
};

enum field { RANK, SEQ, BYTES, T0, T1, BEGIN, PEER, TAG, READ, COMM, OP, FIELDS };
#define MESSAGE (1u << PEER | 1u << TAG)                                   /* of messages alone ... */
#define ACCESS  (1u << PEER | 1u << READ)                                  /* ... and of accesses */
#define ALL     (((1u << FIELDS) - 1) & ~(MESSAGE | ACCESS | 1u << BEGIN)) /* of every record */

static const struct {
    const char *key;
    uint64_t max;
    const char *accepted;
} fields[FIELDS] = {
    [RANK] = { "r", VIEW_RANKS_MAX - 1, "0 to 65535" },
    [SEQ] = { "s", UINT32_MAX - 1, "0 to 4294967294" },
    [BYTES] = { "b", BELOW - 1, "0 to 2^62 - 1" },
    [T0] = { "t0", BELOW - 1, "nanoseconds, 0 to 2^62 - 1" },
    [T1] = { "t1", BELOW - 1, "nanoseconds, 0 to 2^62 - 1, or null" },
    [BEGIN] = { "ti", BELOW - 1, "nanoseconds, 0 to 2^62 - 1" },
    [PEER] = { "p", VIEW_RANKS_MAX - 1, "0 to 65535" },
    [TAG] = { "g", INT32_MAX, "0 to 2147483647" },
    [READ] = { "rb", BELOW - 1, "0 to 2^62 - 1" },
    [COMM] = { "c", 0, "1 to 63 bytes of text" },
    [OP] = { "o", 0, "1 to 63 bytes of text" },
};

static bool name_fits(size_t bytes)
{
    return bytes && bytes <= TRACE_NAME_MAX;
}

/* RING_OP_NONE: it is of a collective. */
static enum ring_op pairwise_of(const struct raw *raw)
{
    if (raw->op_bytes == 6 && !memcmp(raw->op, "access", 6))
        return RING_OP_ACCESS;
    if (raw->op_bytes != 4)
        return RING_OP_NONE;
    return !memcmp(raw->op, "send", 4)   ? RING_OP_SEND
           : !memcmp(raw->op, "recv", 4) ? RING_OP_RECV
                                         : RING_OP_NONE;
}

/* The fields that it needs beside those of every record. */
static unsigned more_of(const struct raw *raw)
{
    enum ring_op op = pairwise_of(raw);

    return op == RING_OP_ACCESS ? ACCESS : op == RING_OP_NONE ? 0 : MESSAGE;
}

/* As libraries and frameworks call them, in small letters and without what separates words. */
static const struct {
    const char *name;
    enum ring_op op;
} aliases[] = {
    { "allreduce", RING_OP_ALLREDUCE },
    { "allgather", RING_OP_ALLGATHER },
    { "allgatherbase", RING_OP_ALLGATHER },
    { "allgatherintotensor", RING_OP_ALLGATHER },
    { "alltoall", RING_OP_ALLTOALL },
    { "alltoallbase", RING_OP_ALLTOALL },
    { "alltoallsingle", RING_OP_ALLTOALL },
    { "broadcast", RING_OP_BCAST },
    { "bcast", RING_OP_BCAST },
    { "reduce", RING_OP_REDUCE },
    { "reducescatter", RING_OP_REDUCE_SCATTER },
    { "reducescatterbase", RING_OP_REDUCE_SCATTER },
    { "reducescattertensor", RING_OP_REDUCE_SCATTER },
    { "gather", RING_OP_GATHER },
    { "scatter", RING_OP_SCATTER },
    { "barrier", RING_OP_BARRIER },
};

/* Of a collective.  false: there is none of that name. */
static bool take_op(const struct raw *raw, uint8_t *op)
{
    char name[TRACE_NAME_MAX + 1], plain[TRACE_NAME_MAX + 1];
    size_t n = 0;

    memcpy(name, raw->op, raw->op_bytes);
    name[raw->op_bytes] = '\0';
    *op = (uint8_t)ring_op_from_name(name);
    /* A record cannot be of the operations that only a live slot has. */
    if (*op != RING_OP_NONE)
        return *op != RING_OP_POINT_TO_POINT && *op != RING_OP_WAIT;
    for (const char *c = name; *c; c++)
        if (*c != '_' && *c != '-')
            plain[n++] = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    plain[n] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
        if (!strcmp(plain, aliases[i].name)) {
            *op = (uint8_t)aliases[i].op;
            return true;
        }
    return !strcmp(name, "collective");
}

static bool take_raw(const struct raw *raw, struct trace_record *rec)
{
    enum ring_op pairwise = pairwise_of(raw);
    uint8_t op = (uint8_t)pairwise;

    if (pairwise == RING_OP_NONE && !take_op(raw, &op))
        return false;
    memcpy(rec->comm, raw->comm, raw->comm_bytes);
    rec->comm[raw->comm_bytes] = '\0';
    rec->comm_bytes = (uint32_t)raw->comm_bytes;
    rec->left = raw->left;
    rec->backward = raw->number[BEGIN] > raw->number[T0] || (raw->left && raw->number[T1] < raw->number[T0]);
    rec->call = (struct call){ .rank = (uint32_t)raw->number[RANK],
                               .op = op,
                               .flags = raw->number[BEGIN] ? RING_EVENT_NONBLOCKING : 0,
                               .seq = (uint32_t)raw->number[SEQ],
                               .root = -1,
                               .bytes = raw->number[BYTES],
                               .begin_ns = raw->number[BEGIN],
                               .enter_ns = raw->number[T0],
                               .leave_ns = raw->number[T1] };
    if (pairwise != RING_OP_NONE)
        rec->call.peer = (uint32_t)raw->number[PEER];
    if (pairwise == RING_OP_ACCESS) {
        rec->call.flags = 0;
        rec->call.read_bytes = raw->number[READ];
        rec->backward = raw->left && raw->number[T1] < raw->number[T0];
    } else if (pairwise != RING_OP_NONE) {
        rec->call.tag = (int32_t)raw->number[TAG];
    }
    return true;
}

/* ---- scanner ---- */

struct cursor {
    const char *at, *end;
};

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n'))
        c->at++;
}

static bool scan_char(struct cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* Printable ASCII without escapes. */
static bool scan_string(struct cursor *c, const char **text, size_t *bytes)
{
    const char *from;

    if (!scan_char(c, '"'))
        return false;
    for (from = c->at; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\' || (unsigned char)*c->at < 0x20 || (unsigned char)*c->at > 0x7e)
            return false;
    if (c->at == c->end)
        return false;
    *text = from;
    *bytes = (size_t)(c->at++ - from);
    return true;
}

static bool scan_number(struct cursor *c, uint64_t *number)
{
    const char *from;
    uint64_t n = 0;

    skip_space(c);
    for (from = c->at; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (c->at - from == SAFE_DIGITS)
            return false;
        n = 10 * n + (uint64_t)(*c->at - '0');
    }
    if (c->at == from || (*from == '0' && c->at - from > 1))
        return false;
    *number = n;
    /* Not an integer if a fraction or an exponent follows. */
    return c->at < c->end && *c->at != '.' && *c->at != 'e' && *c->at != 'E';
}

static bool scan_word(struct cursor *c, const char *word)
{
    size_t n = strlen(word);

    skip_space(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
        return false;
    c->at += n;
    return true;
}

static enum field field_of(const char *key, size_t bytes)
{
    if (bytes == 1)
        switch (*key) {
        case 'r':
            return RANK;
        case 's':
            return SEQ;
        case 'b':
            return BYTES;
        case 'p':
            return PEER;
        case 'g':
            return TAG;
        case 'c':
            return COMM;
        case 'o':
            return OP;
        default:
            return FIELDS;
        }
    if (bytes == 2 && key[0] == 'r' && key[1] == 'b')
        return READ;
    if (bytes == 2 && key[0] == 't')
        return key[1] == '0' ? T0 : key[1] == '1' ? T1 : key[1] == 'i' ? BEGIN : FIELDS;
    return FIELDS;
}

/* Skip the value of an unknown key. */
static bool scan_other(struct cursor *c)
{
    const char *text;
    uint64_t number;
    size_t bytes;

    skip_space(c);
    if (c->at == c->end)
        return false;
    if (*c->at == '"')
        return scan_string(c, &text, &bytes);
    if (*c->at >= '0' && *c->at <= '9')
        return scan_number(c, &number);
    return scan_word(c, "true") || scan_word(c, "false") || scan_word(c, "null");
}

static bool scan_value(struct cursor *c, enum field f, struct raw *raw)
{
    switch (f) {
    case COMM:
        return scan_string(c, &raw->comm, &raw->comm_bytes);
    case OP:
        return scan_string(c, &raw->op, &raw->op_bytes);
    case FIELDS:
        return scan_other(c);
    case T1:
        raw->left = !scan_word(c, "null");
        if (raw->left)
            return scan_number(c, &raw->number[T1]);
        raw->number[T1] = 0;
        return true;
    default:
        return scan_number(c, &raw->number[f]);
    }
}

bool trace_record_scan(const char *line, size_t bytes, struct trace_record *rec)
{
    struct cursor c = { line, line + bytes };
    struct raw raw = { .left = false };
    unsigned seen = 0; /* bits by enum field */

    if (!scan_char(&c, '{'))
        return false;
    do {
        const char *key;
        size_t n;
        enum field f;

        if (!scan_string(&c, &key, &n) || !scan_char(&c, ':'))
            return false;
        f = field_of(key, n);
        if (!scan_value(&c, f, &raw))
            return false;
        seen |= 1u << f;
    } while (scan_char(&c, ','));
    if (!scan_char(&c, '}'))
        return false;
    skip_space(&c);
    if (c.at != c.end || (seen & ALL) != ALL || !name_fits(raw.comm_bytes) || !name_fits(raw.op_bytes) ||
        (seen & more_of(&raw)) != more_of(&raw))
        return false;
    for (int f = RANK; f <= READ; f++)
        if (raw.number[f] > fields[f].max)
            return false;
    return take_raw(&raw, rec);
}

/* ---- parser ---- */

static json_t *parse_object(const char *line, size_t bytes, struct err *err)
{
    json_error_t why;
    json_t *o = json_loadb(line, bytes, 0, &why);

    if (!o) {
        /* The message quotes the line, which must not send control characters to a terminal. */
        for (char *c = why.text; *c; c++)
            if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
                *c = '?';
        err_set(err, "not JSON: %s", why.text);
        return NULL;
    }
    if (!json_is_object(o)) {
        err_set(err, "not a JSON object");
        json_decref(o);
        return NULL;
    }
    return o;
}

static int field_number(const json_t *o, enum field f, struct raw *raw, struct err *err)
{
    const json_t *value = json_object_get(o, fields[f].key);

    if (!json_is_integer(value))
        return err_set(err, "invalid \"%s\" in a record: an integer is expected, %s", fields[f].key,
                       fields[f].accepted);
    if (json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > fields[f].max)
        return err_set(err, "invalid \"%s\" in a record: %" JSON_INTEGER_FORMAT ", accepted: %s",
                       fields[f].key, json_integer_value(value), fields[f].accepted);
    raw->number[f] = (uint64_t)json_integer_value(value);
    return 0;
}

static int field_text(const json_t *o, enum field f, const char **text, size_t *bytes, struct err *err)
{
    const json_t *value = json_object_get(o, fields[f].key);

    *text = json_string_value(value);
    *bytes = json_string_length(value);
    if (!*text || !name_fits(*bytes))
        return err_set(err, "invalid \"%s\" in a record: a name is expected, %s", fields[f].key,
                       fields[f].accepted);
    return 0;
}

static int get_record(const json_t *o, struct raw *raw, struct err *err)
{
    for (int f = RANK; f < FIELDS; f++)
        if ((ALL & 1u << f) && !json_object_get(o, fields[f].key))
            return json_object_get(o, "format") ? err_set(err, "a second header: a file has one trace")
                                                : err_set(err, "a record has no \"%s\"", fields[f].key);
    for (int f = RANK; f <= T0; f++)
        if (field_number(o, (enum field)f, raw, err) < 0)
            return -1;
    raw->left = !json_is_null(json_object_get(o, "t1"));
    raw->number[T1] = 0;
    if (raw->left && field_number(o, T1, raw, err) < 0)
        return -1;
    if (field_text(o, COMM, &raw->comm, &raw->comm_bytes, err) < 0 ||
        field_text(o, OP, &raw->op, &raw->op_bytes, err) < 0)
        return -1;
    for (int f = PEER; f <= READ; f++)
        if ((more_of(raw) & 1u << f) && field_number(o, (enum field)f, raw, err) < 0)
            return -1;
    return json_object_get(o, fields[BEGIN].key) ? field_number(o, BEGIN, raw, err) : 0;
}

int trace_record_parse(const char *line, size_t bytes, struct trace_record *rec, struct err *err)
{
    json_t *o = parse_object(line, bytes, err);
    struct raw raw = { .left = false };
    char op[TRACE_NAME_MAX + 1];
    int rc = -1;

    if (o && (rc = get_record(o, &raw, err)) == 0 && !take_raw(&raw, rec)) {
        json_get_text(o, fields[OP].key, op, sizeof(op));
        rc = err_set(
            err,
            "unknown operation \"%s\": expected allreduce, allgather, alltoall, bcast, reduce, "
            "reduce_scatter, gather, scatter, barrier or a variant of them in MPI, send, recv, access, or "
            "\"collective\" for any other",
            op);
    }
    json_decref(o);
    return rc;
}

/* ---- the header ---- */

static int check_name(const json_t *rank, const char *key, size_t i, struct err *err)
{
    const json_t *name = json_object_get(rank, key);

    if (!name || json_is_null(name) || (json_is_string(name) && json_string_length(name) <= TRACE_NAME_MAX))
        return 0;
    return err_set(err, "ranks[%zu]: invalid \"%s\": a name of at most %u bytes is expected", i, key,
                   TRACE_NAME_MAX);
}

static int check_rank(const json_t *rank, size_t i, uint8_t *seen, struct err *err)
{
    int64_t r = json_get_int(rank, "rank", 0, VIEW_RANKS_MAX - 1, -1);

    if (r < 0)
        return err_set(err, "ranks[%zu] has no \"rank\" from 0 to %u", i, VIEW_RANKS_MAX - 1);
    if (seen[r]++)
        return err_set(err, "ranks[%zu]: duplicate rank %u", i, (unsigned)r);
    if (check_name(rank, "node", i, err) < 0)
        return -1;
    return check_name(rank, "switch", i, err);
}

static bool is_number(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) < TRACE_NUMBER_UNKNOWN;
}

/* As many as ranks, each a number or null; or it is not given. */
static bool has_numbers(const json_t *comm, const char *key, size_t n)
{
    const json_t *list = json_object_get(comm, key), *item;
    bool good = !list || (json_is_array(list) && json_array_size(list) == n);
    size_t i;

    json_array_foreach(list, i, item)
        good &= json_is_null(item) || is_number(item);
    return good;
}

/* known: by rank, whether the header has it; at: by rank, the communicator in which it stood last, and 1. */
static int check_comm(const json_t *comm, size_t i, const uint8_t *known, uint32_t *at, struct err *err)
{
    const json_t *name = json_object_get(comm, "name"), *ranks = json_object_get(comm, "ranks"), *item;
    size_t n = json_array_size(ranks), place;

    if (!json_is_string(name) || !name_fits(json_string_length(name)))
        return err_set(err, "comms[%zu]: invalid \"name\": %s is expected", i, fields[COMM].accepted);
    if (!n || !has_numbers(comm, "left", n) || !has_numbers(comm, "called", n))
        return err_set(
            err,
            "comms[%zu]: expected \"ranks\":[0,1,...], and as many numbers or null in \"left\" and "
            "\"called\"",
            i);
    json_array_foreach(ranks, place, item) {
        json_int_t rank = json_is_integer(item) ? json_integer_value(item) : -1;

        if (rank < 0 || rank >= VIEW_RANKS_MAX || !known[rank])
            return err_set(err, "comms[%zu]: ranks[%zu] is none of the header's ranks", i, place);
        if (at[rank] == i + 1)
            return err_set(err, "comms[%zu]: duplicate rank %u", i, (unsigned)rank);
        at[rank] = (uint32_t)i + 1;
    }
    return 0;
}

static int check_comms(const json_t *comms, const uint8_t *known, struct err *err)
{
    struct names *names;
    uint32_t *at;
    int rc = 0;

    if (!comms || json_is_null(comms))
        return 0;
    if (!json_is_array(comms) || json_array_size(comms) > VIEW_COMMS_MAX)
        return err_set(err, "invalid \"comms\": a list of at most %u is expected", VIEW_COMMS_MAX);
    names = names_new();
    at = xcalloc(VIEW_RANKS_MAX, sizeof(*at));
    for (size_t i = 0; i < json_array_size(comms) && rc == 0; i++) {
        const json_t *comm = json_array_get(comms, i);
        const char *name = json_get_word(comm, "name");

        rc = check_comm(comm, i, known, at, err);
        if (rc == 0 && names_find(names, name, strlen(name)) != NAMES_NONE)
            rc = err_set(err, "comms[%zu]: a second one of that name", i);
        names_add(names, name, strlen(name));
    }
    names_free(names);
    free(at);
    return rc;
}

static int check_header(const json_t *header, struct err *err)
{
    const json_t *job = json_object_get(header, "job"), *adapter = json_object_get(header, "adapter"),
                 *switches = json_object_get(header, "switches"), *ranks = json_object_get(header, "ranks"),
                 *size = json_object_get(header, "size"), *item;
    bool good = !switches || json_is_null(switches) || json_is_array(switches);
    uint8_t *seen;
    size_t i;
    int rc = 0;

    if (strcmp(json_get_word(header, "format"), "syncguard-trace") != 0)
        return err_set(err,
                       "no header: a trace begins with {\"format\":\"syncguard-trace\",\"version\":1,...}");
    if (!json_get_int(header, "version", 1, 2, 0))
        return err_set(err, "unknown \"version\": only 1 and 2 are supported");
    if (job && !json_is_null(job) && (!json_is_string(job) || json_string_length(job) > TRACE_NAME_MAX))
        return err_set(err, "invalid \"job\": a name of at most %u bytes is expected", TRACE_NAME_MAX);
    if (adapter && !json_is_null(adapter) &&
        !(json_get_real(adapter, "bytes_per_s", 0, VIEW_ADAPTER_MAX) > 0 &&
          json_get_int(adapter, "number", 1, VIEW_ADAPTERS_MAX, 0)))
        return err_set(err,
                       "invalid \"adapter\": expected {\"bytes_per_s\":25e9,\"number\":1}, at most %g and %u",
                       VIEW_ADAPTER_MAX, VIEW_ADAPTERS_MAX);
    json_array_foreach(switches, i, item)
        good &= json_is_string(item) && json_string_length(item) < SWITCHES_PATH;
    if (!good)
        return err_set(err,
                       "invalid \"switches\": expected [\"core.spine0.leaf0\",...], of at most %u bytes each",
                       SWITCHES_PATH - 1);
    if (!json_is_array(ranks) || !json_array_size(ranks))
        return err_set(err, "no ranks: \"ranks\":[{\"rank\":0,\"node\":\"n0\"},...] is expected");
    if (size && !json_is_null(size) && !trace_header_size(header))
        return err_set(err, "invalid \"size\": the number of the job's ranks is expected, at most %u",
                       VIEW_RANKS_MAX);
    seen = xcalloc(VIEW_RANKS_MAX, sizeof(*seen));
    for (i = 0; i < json_array_size(ranks) && rc == 0; i++)
        rc = check_rank(json_array_get(ranks, i), i, seen, err);
    if (rc == 0)
        rc = check_comms(json_object_get(header, "comms"), seen, err);
    free(seen);
    return rc;
}

json_t *trace_header_parse(const char *line, size_t bytes, struct err *err)
{
    json_t *header = parse_object(line, bytes, err);

    if (!header) {
        err_prefix(err, "no header");
        return NULL;
    }
    if (check_header(header, err) < 0) {
        json_decref(header);
        return NULL;
    }
    return header;
}

const char *trace_header_job(const json_t *header)
{
    return json_get_word(header, "job");
}

bool trace_header_has_messages(const json_t *header)
{
    return json_get_int(header, "version", 1, 2, 1) > 1;
}

uint32_t trace_header_size(const json_t *header)
{
    return (uint32_t)json_get_int(header, "size", 1, VIEW_RANKS_MAX, 0);
}

bool trace_header_is_untimed(const json_t *header)
{
    return json_get_true(header, "untimed");
}

size_t trace_header_ranks(const json_t *header)
{
    return json_array_size(json_object_get(header, "ranks"));
}

double trace_header_adapter(const json_t *header, unsigned *number)
{
    const json_t *adapter = json_object_get(header, "adapter");

    *number = (unsigned)json_get_int(adapter, "number", 1, VIEW_ADAPTERS_MAX, 0);
    return json_get_amount(adapter, "bytes_per_s");
}

const char *trace_header_switches(const json_t *header, size_t i)
{
    return json_string_value(json_array_get(json_object_get(header, "switches"), i));
}

struct trace_rank trace_header_rank(const json_t *header, size_t i)
{
    const json_t *rank = json_array_get(json_object_get(header, "ranks"), i);

    return (struct trace_rank){ (uint32_t)json_get_int(rank, "rank", 0, VIEW_RANKS_MAX - 1, 0),
                                json_get_word(rank, "node"), json_get_word(rank, "switch"),
                                !json_is_false(json_object_get(rank, "recorded")),
                                (uint32_t)json_get_int(rank, "queued", 0, UINT32_MAX, 0) };
}

static const json_t *header_comm(const json_t *header, size_t i)
{
    return json_array_get(json_object_get(header, "comms"), i);
}

size_t trace_header_comms(const json_t *header)
{
    return json_array_size(json_object_get(header, "comms"));
}

struct trace_comm trace_header_comm(const json_t *header, size_t i)
{
    const json_t *comm = header_comm(header, i);

    return (struct trace_comm){ json_get_word(comm, "name"),
                                (uint32_t)json_array_size(json_object_get(comm, "ranks")) };
}

static uint32_t number_at(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);

    return is_number(value) ? (uint32_t)json_integer_value(value) : TRACE_NUMBER_UNKNOWN;
}

struct trace_member trace_header_member(const json_t *header, size_t comm, size_t i)
{
    const json_t *of = header_comm(header, comm);

    return (struct trace_member){ number_at(json_object_get(of, "ranks"), i),
                                  number_at(json_object_get(of, "left"), i),
                                  number_at(json_object_get(of, "called"), i) };
}
