#include "trace/calls.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/names.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "view/view.h"
#include "wire/json.h"

#define TOUCH_NS 50000u /* calls that overlap by less follow each other */

struct rank {
    bool known;
    uint32_t clock;
    char node[TRACE_NAME_MAX + 1];
};

/* Of clocks that are joined by calls which their ranks met in: how far each is ahead of the first one of its
 * group. */
struct clock {
    uint32_t parent;
    int64_t ahead_ns; /* of the parent */
};

struct calls {
    char job[TRACE_NAME_MAX + 1];
    struct rank *rank; /* by number */
    size_t ranks, ranks_cap;
    struct names *comms;
    struct call *call;
    size_t n, cap;
    struct clock *clock;
    size_t clocks, clocks_cap;
};

struct calls *calls_new(void)
{
    struct calls *c = xcalloc(1, sizeof(*c));

    c->comms = names_new();
    return c;
}

void calls_free(struct calls *c)
{
    if (!c)
        return;
    names_free(c->comms);
    free(c->rank);
    free(c->call);
    free(c->clock);
    free(c);
}

/* ---- what comes ---- */

void calls_job(struct calls *c, const char *name)
{
    utf8_clean(c->job, sizeof(c->job), name);
}

int calls_rank(struct calls *c, uint32_t rank, uint32_t clock, const char *node, struct err *err)
{
    if (rank >= VIEW_RANKS_MAX)
        return err_set(err, "rank %u: ranks are 0 to %u", rank, VIEW_RANKS_MAX - 1);
    if (rank >= c->ranks) {
        c->rank = xgrow(c->rank, &c->ranks_cap, rank + 1, sizeof(*c->rank));
        c->ranks = rank + 1;
    }
    if (c->rank[rank].known && c->rank[rank].clock != clock)
        return err_set(err, "rank %u has calls in two files", rank);
    while (c->clocks <= clock) {
        c->clock = xgrow(c->clock, &c->clocks_cap, c->clocks + 1, sizeof(*c->clock));
        c->clock[c->clocks] = (struct clock){ .parent = (uint32_t)c->clocks };
        c->clocks++;
    }
    c->rank[rank].known = true;
    c->rank[rank].clock = clock;
    utf8_clean(c->rank[rank].node, sizeof(c->rank[rank].node), node);
    return 0;
}

int64_t calls_comm(struct calls *c, const char *name, struct err *err)
{
    char clean[TRACE_NAME_MAX + 1];
    uint32_t number;

    utf8_clean(clean, sizeof(clean), *name ? name : "unnamed");
    number = names_find(c->comms, clean, strlen(clean));
    if (number != NAMES_NONE)
        return number;
    if (names_count(c->comms) >= VIEW_COMMS_MAX)
        return err_set(err, "more than %u communicators", VIEW_COMMS_MAX);
    return names_add(c->comms, clean, strlen(clean));
}

static bool is_stuck(const struct call *k)
{
    return k->leave_ns == CALLS_STUCK;
}

int calls_add(struct calls *c, const struct call *call, struct err *err)
{
    if (call->enter_ns >= CALLS_TIME_MAX || call_begin_ns(call) > call->enter_ns ||
        (!is_stuck(call) && (call->leave_ns >= CALLS_TIME_MAX || call->leave_ns < call->enter_ns)))
        return err_set(err, "a call of rank %u has times that are not possible", call->rank);
    if (call_is_message(call) && (call->peer >= VIEW_RANKS_MAX || call->tag < 0))
        return err_set(err, "a message of rank %u has no possible other end", call->rank);
    if (call->bytes != CALLS_UNSIZED && call->bytes >= CALLS_TIME_MAX)
        return err_set(err, "a call of rank %u has too many bytes", call->rank);
    if (c->n >= CALLS_MAX)
        return err_set(err, "more than %u calls: import fewer steps at a time", CALLS_MAX);
    c->call = xgrow(c->call, &c->cap, c->n + 1, sizeof(*c->call));
    c->call[c->n++] = *call;
    return 0;
}

size_t calls_count(const struct calls *c)
{
    return c->n;
}

/* ---- numbers ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_made(const void *left, const void *right)
{
    const struct call *a = left, *b = right;

    if (a->rank != b->rank)
        return compare_numbers(a->rank, b->rank);
    if (call_begin_ns(a) != call_begin_ns(b))
        return compare_numbers(call_begin_ns(a), call_begin_ns(b));
    if (a->leave_ns != b->leave_ns)
        return compare_numbers(a->leave_ns, b->leave_ns);
    return compare_numbers(call_side(a->op), call_side(b->op));
}

/* What counts its own numbers: a rank in a communicator, or its messages to or from one rank with one tag. */
static uint64_t counter_key(const struct call *k)
{
    bool message = call_is_message(k);
    const uint32_t words[] = { k->rank, (uint32_t)k->comm, call_side(k->op), message ? k->peer : 0,
                               message ? (uint32_t)k->tag : 0 };

    return hash_bytes(HASH_START, words, sizeof(words));
}

static void number_calls(struct calls *c)
{
    struct map counters = { 0 };

    if (c->n)
        qsort(c->call, c->n, sizeof(*c->call), by_made);
    for (size_t i = 0; i < c->n; i++) {
        struct call *k = &c->call[i];
        uint64_t key = counter_key(k);
        uint32_t next = map_get(&counters, key);

        if (k->seq != CALLS_IN_ORDER)
            continue;
        k->seq = next == MAP_NONE ? 0 : next;
        map_put(&counters, key, k->seq + 1);
    }
    map_free(&counters);
}

/* ---- what does not belong there ---- */

/* Collectives of a communicator with one rank, unless there is but one rank. */
static void drop_alone(struct calls *c, struct calls_figures *f)
{
    uint32_t *member =
        xcalloc(names_count(c->comms) + 1, sizeof(*member)); /* its rank and 1; UINT32_MAX: several */
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct call *k = &c->call[i];

        member[k->comm] = !member[k->comm] || member[k->comm] == k->rank + 1 ? k->rank + 1 : UINT32_MAX;
    }
    for (size_t i = 0; i < c->n; i++)
        if (f->ranks > 1 && !call_is_message(&c->call[i]) && member[c->call[i].comm] != UINT32_MAX)
            f->alone++;
        else
            c->call[kept++] = c->call[i];
    c->n = kept;
    free(member);
}

static void drop_repeated(struct calls *c, struct calls_figures *f)
{
    struct map seen = { 0 };
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct call *k = &c->call[i];
        uint64_t key = hash_bytes(counter_key(k), &k->seq, sizeof(k->seq));

        if (map_get(&seen, key) != MAP_NONE) {
            f->repeated++;
            continue;
        }
        map_put(&seen, key, 0);
        c->call[kept++] = *k;
    }
    c->n = kept;
    map_free(&seen);
}

/* ---- each rank's order, and that of all ---- */

static int by_left(const void *left, const void *right)
{
    const struct call *a = left, *b = right;

    if (a->rank != b->rank)
        return compare_numbers(a->rank, b->rank);
    if (a->leave_ns != b->leave_ns)
        return compare_numbers(a->leave_ns, b->leave_ns);
    return by_made(a, b);
}

/* A rank is held by one call at a time: one that it entered while another held it was begun then, and waited
 * for afterwards. */
static void disentangle(struct calls *c)
{
    qsort(c->call, c->n, sizeof(*c->call), by_left);
    for (size_t i = 1; i < c->n; i++) {
        const struct call *before = &c->call[i - 1];
        struct call *k = &c->call[i];

        if (before->rank != k->rank || is_stuck(before) || is_stuck(k) || k->enter_ns >= before->leave_ns)
            continue;
        /* Clocks that are read at different times overlap a little where one call follows another. */
        if (call_begin_ns(k) == call_begin_ns(before) || before->leave_ns - k->enter_ns > TOUCH_NS) {
            k->begin_ns = call_begin_ns(k);
            k->flags |= RING_EVENT_NONBLOCKING;
        }
        k->enter_ns = before->leave_ns;
    }
}

uint64_t calls_meeting(const struct call *k, uint64_t comm)
{
    bool send = k->op == RING_OP_SEND, message = call_is_message(k);
    uint32_t what[5] = { k->seq, message };

    if (message) {
        what[2] = send ? k->rank : k->peer;
        what[3] = send ? k->peer : k->rank;
        what[4] = (uint32_t)k->tag;
    }
    return hash_mix(hash_bytes(comm, what, sizeof(what)));
}

/* The first clock of the group, and how far this one is ahead of it. */
static uint32_t first_clock(const struct calls *c, uint32_t clock, int64_t *ahead_ns)
{
    for (*ahead_ns = 0; c->clock[clock].parent != clock; clock = c->clock[clock].parent)
        *ahead_ns += c->clock[clock].ahead_ns;
    return clock;
}

/* Compare the calls that ranks met in: their operations, and their clocks. */
static void compare_met(struct calls *c, struct calls_figures *f)
{
    struct map met = { 0 };

    for (size_t i = 0; i < c->n; i++) {
        const struct call *k = &c->call[i], *other;
        uint64_t key = calls_meeting(k, hash_mix(k->comm));
        uint32_t at = map_get(&met, key), first, other_first;
        int64_t ahead_ns, other_ahead_ns;

        if (at == MAP_NONE) {
            map_put(&met, key, (uint32_t)i);
            continue;
        }
        other = &c->call[at];
        f->strange += !call_is_message(k) && k->op != other->op;
        if (is_stuck(k) || is_stuck(other))
            continue;
        first = first_clock(c, c->rank[k->rank].clock, &ahead_ns);
        other_first = first_clock(c, c->rank[other->rank].clock, &other_ahead_ns);
        if (first == other_first)
            continue;
        /* both left it at about the same moment */
        c->clock[first].parent = other_first;
        c->clock[first].ahead_ns = (int64_t)(k->leave_ns - other->leave_ns) + other_ahead_ns - ahead_ns;
    }
    map_free(&met);
}

/* By the merged clock; only for the order of records, so whole ranks may be moved. */
static void shift_clocks(struct calls *c, bool back)
{
    for (size_t i = 0; i < c->n; i++) {
        struct call *k = &c->call[i];
        int64_t ahead_ns;

        first_clock(c, c->rank[k->rank].clock, &ahead_ns);
        if (!is_stuck(k))
            k->leave_ns = back ? k->leave_ns + (uint64_t)ahead_ns : k->leave_ns - (uint64_t)ahead_ns;
    }
}

/* Stuck calls stand last, for no record of their rank may follow. */
static int by_time(const void *left, const void *right)
{
    const struct call *a = left, *b = right;

    if (is_stuck(a) != is_stuck(b))
        return is_stuck(a) ? 1 : -1;
    if (a->leave_ns != b->leave_ns) /* as signed numbers: a moved clock may be before its own zero */
        return (int64_t)a->leave_ns < (int64_t)b->leave_ns ? -1 : 1;
    if (a->rank != b->rank)
        return compare_numbers(a->rank, b->rank);
    return by_made(a, b);
}

/* ---- the trace ---- */

static int write_header(const struct calls *c, FILE *out, struct err *err)
{
    json_t *ranks = json_array(), *header;
    int rc;

    for (size_t i = 0; i < c->ranks; i++) {
        json_t *rank;

        if (!c->rank[i].known)
            continue;
        rank = json_pack("{s:i}", "rank", (int)i);
        if (c->rank[i].node[0])
            json_put_text(rank, "node", c->rank[i].node);
        json_array_append_new(ranks, rank);
    }
    header = json_pack("{s:s, s:i}", "format", "syncguard-trace", "version", 2);
    json_put_text(header, "job", c->job);
    json_put_json(header, "ranks", ranks);
    rc = json_dumpf(header, out, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(header);
    return rc < 0 || fputc('\n', out) == EOF ? err_set(err, "cannot write: %s", strerror(errno)) : 0;
}

static int write_calls(const struct calls *c, FILE *out, struct calls_figures *f, struct err *err)
{
    char **name = xcalloc(names_count(c->comms) + 1, sizeof(*name));

    for (uint32_t i = 0; i < names_count(c->comms); i++) {
        json_t *text = json_string(names_text(c->comms, i));

        name[i] = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        json_decref(text);
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct call *k = &c->call[i];
        bool message = call_is_message(k), unsized = k->bytes == CALLS_UNSIZED;

        fprintf(out, "{\"r\":%u,\"c\":%s,\"s\":%u,\"o\":\"%s\",\"b\":%llu", k->rank, name[k->comm], k->seq,
                k->op == RING_OP_NONE ? "collective" : ring_op_name((enum ring_op)k->op),
                unsized ? 0 : (unsigned long long)k->bytes);
        if (message)
            fprintf(out, ",\"p\":%u,\"g\":%d", k->peer, k->tag);
        if (call_is_nonblocking(k))
            fprintf(out, ",\"ti\":%llu", (unsigned long long)k->begin_ns);
        fprintf(out, ",\"t0\":%llu,\"t1\":", (unsigned long long)k->enter_ns);
        if (is_stuck(k))
            fputs("null}\n", out);
        else
            fprintf(out, "%llu}\n", (unsigned long long)k->leave_ns);
        f->messages += message;
        f->collectives += !message;
        f->stuck += is_stuck(k);
        f->unsized += unsized && k->op != RING_OP_BARRIER;
    }
    for (uint32_t i = 0; i < names_count(c->comms); i++)
        free(name[i]);
    free(name);
    return ferror(out) || fflush(out) != 0 ? err_set(err, "cannot write: %s", strerror(errno)) : 0;
}

int calls_write(struct calls *c, FILE *out, struct calls_figures *f, struct err *err)
{
    uint32_t first_known = UINT32_MAX;
    int64_t ahead_ns;

    *f = (struct calls_figures){ .comms = names_count(c->comms) };
    for (size_t i = 0; i < c->ranks; i++)
        f->ranks += c->rank[i].known;
    number_calls(c);
    drop_alone(c, f);
    drop_repeated(c, f);
    if (!c->n)
        return err_set(err, "no collective and no message between ranks");
    /* A message to a rank whose calls are not here has one end. */
    for (size_t i = 0; i < c->n; i++) {
        uint32_t peer = c->call[i].peer;

        if (call_is_message(&c->call[i]) && (peer >= c->ranks || !c->rank[peer].known) &&
            calls_rank(c, peer, (uint32_t)c->clocks, "", err) < 0)
            return -1;
    }
    disentangle(c);
    compare_met(c, f);
    for (size_t i = 0; i < c->ranks; i++) {
        uint32_t first = c->rank[i].known ? first_clock(c, c->rank[i].clock, &ahead_ns) : first_known;

        f->one_clock_apart |= first_known != UINT32_MAX && first != first_known;
        first_known = first;
    }
    shift_clocks(c, false);
    qsort(c->call, c->n, sizeof(*c->call), by_time);
    shift_clocks(c, true);
    return write_header(c, out, err) < 0 ? -1 : write_calls(c, out, f, err);
}
