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
    bool known, silent; /* silent: it has no file, others wait for it or exchange messages with it */
    uint32_t clock, queued;
    char node[TRACE_NAME_MAX + 1];
};

/* Of clocks that are joined by calls which their ranks met in: how far each is ahead of the first one of its
 * group. */
struct clock {
    uint32_t parent;
    int64_t ahead_ns; /* of the parent */
};

struct member {
    uint32_t rank;
    int64_t left, called;
};

struct comm {
    struct member *member; /* as they were given; none: those that have a call */
    size_t members, cap;
    bool stuck; /* a call in it was never left */
};

struct calls {
    char job[TRACE_NAME_MAX + 1];
    uint32_t size; /* of the job; 0: not known */
    bool untimed;
    struct rank *rank; /* by number */
    size_t ranks, ranks_cap;
    struct names *comms;
    struct comm *comm; /* by number */
    size_t comm_cap;
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
    for (uint32_t i = 0; i < names_count(c->comms); i++)
        free(c->comm[i].member);
    names_free(c->comms);
    free(c->comm);
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

void calls_size(struct calls *c, uint32_t ranks)
{
    c->size = ranks > c->size ? ranks : c->size;
}

void calls_untimed(struct calls *c)
{
    c->untimed = true;
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
    number = names_add(c->comms, clean, strlen(clean));
    c->comm = xgrow(c->comm, &c->comm_cap, number + 1, sizeof(*c->comm));
    c->comm[number] = (struct comm){ .members = 0 };
    return number;
}

int calls_member(struct calls *c, int64_t comm, uint32_t rank, int64_t left, int64_t called, struct err *err)
{
    struct comm *k = &c->comm[comm];

    if (rank >= VIEW_RANKS_MAX)
        return err_set(err, "rank %u: ranks are 0 to %u", rank, VIEW_RANKS_MAX - 1);
    k->member = xgrow(k->member, &k->cap, k->members + 1, sizeof(*k->member));
    k->member[k->members++] = (struct member){ rank, left, called };
    return 0;
}

void calls_queued(struct calls *c, uint32_t rank, uint32_t n)
{
    c->rank[rank].queued = n;
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

/* Collectives of a communicator with one rank, unless there is but one rank, whose steps they show, or the
 * rank is stuck there and others should be. */
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
        if ((f->ranks > 1 || c->untimed) && !call_is_message(&c->call[i]) &&
            member[c->call[i].comm] != UINT32_MAX &&
            (!is_stuck(&c->call[i]) || c->comm[c->call[i].comm].members < 2))
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

static bool is_of_one(const struct calls *c)
{
    size_t i = 1;

    while (i < c->n && c->call[i].rank == c->call[0].rank)
        i++;
    return i == c->n;
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

static json_t *number_or_null(int64_t number)
{
    return number < 0 ? json_null() : json_integer(number);
}

/* The members of communicators in which a call was never left, and how far they have come there. */
static json_t *comms_json(const struct calls *c)
{
    json_t *comms = json_array();

    for (uint32_t i = 0; i < names_count(c->comms); i++) {
        const struct comm *k = &c->comm[i];
        json_t *comm, *ranks, *left, *called;

        if (!k->stuck || !k->members)
            continue;
        comm = json_object();
        ranks = json_array();
        left = json_array();
        called = json_array();
        for (size_t at = 0; at < k->members; at++) {
            json_array_append_new(ranks, json_integer(k->member[at].rank));
            json_array_append_new(left, number_or_null(k->member[at].left));
            json_array_append_new(called, number_or_null(k->member[at].called));
        }
        json_put_text(comm, "name", names_text(c->comms, i));
        json_put_json(comm, "ranks", ranks);
        json_put_json(comm, "left", left);
        json_put_json(comm, "called", called);
        json_array_append_new(comms, comm);
    }
    return comms;
}

static int write_header(const struct calls *c, FILE *out, struct err *err)
{
    json_t *ranks = json_array(), *comms = comms_json(c), *header;
    char *text;
    int rc;

    for (size_t i = 0; i < c->ranks; i++) {
        json_t *rank;

        if (!c->rank[i].known)
            continue;
        rank = json_pack("{s:i}", "rank", (int)i);
        if (c->rank[i].node[0])
            json_put_text(rank, "node", c->rank[i].node);
        if (c->rank[i].silent)
            json_object_set_new(rank, "recorded", json_false());
        if (c->rank[i].queued)
            json_object_set_new(rank, "queued", json_integer(c->rank[i].queued));
        json_array_append_new(ranks, rank);
    }
    header = json_pack("{s:s, s:i}", "format", "syncguard-trace", "version", 2);
    json_put_text(header, "job", c->job);
    if (c->size > json_array_size(ranks))
        json_put_int(header, "size", c->size);
    if (c->untimed)
        json_put_bool(header, "untimed", true);
    json_put_json(header, "ranks", ranks);
    if (json_array_size(comms))
        json_put_json(header, "comms", comms);
    else
        json_decref(comms);
    text = json_dumps(header, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(header);
    if (!text || strlen(text) >= TRACE_HEADER_MAX)
        rc = err_set(err, "the ranks and the members of communicators take more than %u bytes",
                     TRACE_HEADER_MAX);
    else
        rc = fputs(text, out) == EOF || fputc('\n', out) == EOF
                 ? err_set(err, "cannot write: %s", strerror(errno))
                 : 0;
    free(text);
    return rc;
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

static int add_rank(struct calls *c, uint32_t rank, struct err *err)
{
    if (rank < c->ranks && c->rank[rank].known)
        return 0;
    if (calls_rank(c, rank, (uint32_t)c->clocks, "", err) < 0)
        return -1;
    c->rank[rank].silent = true;
    return 0;
}

/* Ranks without a file: the other end of a message, or members of a communicator in which somebody is stuck.
 */
static int add_silent(struct calls *c, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < c->n && rc == 0; i++) {
        const struct call *k = &c->call[i];

        if (is_stuck(k))
            c->comm[k->comm].stuck = true;
        if (call_is_message(k))
            rc = add_rank(c, k->peer, err);
    }
    for (uint32_t i = 0; i < names_count(c->comms); i++)
        for (size_t at = 0; at < c->comm[i].members && c->comm[i].stuck && rc == 0; at++)
            rc = add_rank(c, c->comm[i].member[at].rank, err);
    return rc;
}

int calls_write(struct calls *c, FILE *out, struct calls_figures *f, struct err *err)
{
    uint32_t first_known = UINT32_MAX;
    int64_t ahead_ns;

    *f = (struct calls_figures){ .comms = names_count(c->comms), .size = c->size, .untimed = c->untimed };
    for (size_t i = 0; i < c->ranks; i++)
        f->ranks += c->rank[i].known;
    number_calls(c);
    drop_alone(c, f);
    drop_repeated(c, f);
    if (c->n && c->size > 1 && is_of_one(c))
        return err_set(
            err,
            "all calls are of rank %u of %u, and who is late shows beside the others only: give the files "
            "of all ranks at once",
            c->call[0].rank, c->size);
    if (!c->n)
        return err_set(err, "no collective and no message between ranks");
    if (add_silent(c, err) < 0)
        return -1;
    for (size_t i = 0; i < c->ranks; i++)
        f->silent += c->rank[i].known;
    f->silent -= f->ranks;
    disentangle(c);
    compare_met(c, f);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t first =
            is_stuck(&c->call[i]) ? first_known : first_clock(c, c->rank[c->call[i].rank].clock, &ahead_ns);

        f->one_clock_apart |= first_known != UINT32_MAX && first != first_known;
        first_known = first;
    }
    shift_clocks(c, false);
    qsort(c->call, c->n, sizeof(*c->call), by_time);
    shift_clocks(c, true);
    return write_header(c, out, err) < 0 ? -1 : write_calls(c, out, f, err);
}
