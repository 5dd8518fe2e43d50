#include "trace/import_records.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "trace/calls.h"
#include "trace/reader.h"

#define NONE UINT32_MAX

static bool is_message(const struct record *r)
{
    return r->op == RING_OP_SEND || r->op == RING_OP_RECV;
}

/* Whose records stand in one order. */
static uint64_t stream_key(const struct record *r)
{
    const uint32_t words[] = { r->process, r->comm, r->rank };

    return hash_bytes(HASH_START, words, sizeof(words));
}

/* ---- one order of a communicator's collectives ---- */

struct meeting {
    uint32_t comm, number;
    uint8_t op;
    bool numbered;
    uint32_t seq;
    uint32_t waits; /* for so many that stand before it */
    uint32_t after; /* the first of what stands behind it, among the edges; NONE */
};

struct edge {
    uint32_t to, next;
};

struct order {
    struct meeting *meeting; /* in the order in which their first records came */
    size_t n, cap;
    struct edge *edge;
    size_t edges, edges_cap;
    uint32_t *of; /* the meeting of each record; NONE */
};

static void stand_before(struct order *o, uint32_t first, uint32_t then)
{
    o->edge = xgrow(o->edge, &o->edges_cap, o->edges + 1, sizeof(*o->edge));
    o->edge[o->edges] = (struct edge){ then, o->meeting[first].after };
    o->meeting[first].after = (uint32_t)o->edges++;
    o->meeting[then].waits++;
}

static void find_meetings(struct order *o, const struct record *record, size_t n)
{
    struct map known = { 0 }, last = { 0 };

    for (size_t i = 0; i < n; i++) {
        const struct record *r = &record[i];
        const uint32_t what[] = { r->comm, r->op, r->number };
        uint64_t key = hash_bytes(HASH_START, what, sizeof(what)), stream = stream_key(r);
        uint32_t at, before;

        o->of[i] = NONE;
        if (is_message(r) || r->number == CALLS_IN_ORDER)
            continue;
        at = map_get(&known, key);
        if (at == MAP_NONE) {
            at = (uint32_t)o->n;
            map_put(&known, key, at);
            o->meeting = xgrow(o->meeting, &o->cap, o->n + 1, sizeof(*o->meeting));
            o->meeting[o->n++] = (struct meeting){ r->comm, r->number, r->op, false, 0, 0, NONE };
        }
        before = map_get(&last, stream);
        if (before != MAP_NONE && before != at)
            stand_before(o, before, at);
        map_put(&last, stream, at);
        o->of[i] = at;
    }
    map_free(&known);
    map_free(&last);
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_number(const void *left, const void *right)
{
    const struct meeting *a = *(const struct meeting *const *)left,
                         *b = *(const struct meeting *const *)right;

    return a->comm != b->comm ? compare(a->comm, b->comm)
           : a->op != b->op   ? compare(a->op, b->op)
                              : compare(a->number, b->number);
}

/* Those of one operation are counted in order.  first: of each communicator, the first number of its only
 * operation, or 0 where it has several. */
static void chain_operations(struct order *o, uint32_t *first)
{
    const struct meeting **sorted = xcalloc(o->n + 1, sizeof(struct meeting *));

    for (size_t i = 0; i < o->n; i++)
        sorted[i] = &o->meeting[i];
    if (o->n)
        qsort(sorted, o->n, sizeof(struct meeting *), by_number);
    for (size_t i = 0; i < o->n; i++) {
        const struct meeting *m = sorted[i];

        if (!i || sorted[i - 1]->comm != m->comm)
            first[m->comm] = m->number;
        else if (sorted[i - 1]->op != m->op)
            first[m->comm] = 0;
        else
            stand_before(o, (uint32_t)(sorted[i - 1] - o->meeting), (uint32_t)(m - o->meeting));
    }
    free(sorted);
}

/* Kahn, "Topological sorting of large networks", CACM 1962.  Where ranks completed calls in different orders
 * there is none: then the one whose record came first goes on. */
static void sort_meetings(struct order *o, uint32_t *next)
{
    uint32_t *queue = xcalloc(o->n + 1, sizeof(*queue));
    size_t head = 0, tail = 0, first = 0;

    for (size_t i = 0; i < o->n; i++)
        if (!o->meeting[i].waits) {
            queue[tail++] = (uint32_t)i;
            o->meeting[i].numbered = true;
        }
    for (size_t done = 0; done < o->n; done++) {
        struct meeting *m;

        if (head == tail) {
            while (o->meeting[first].numbered)
                first++;
            queue[tail++] = (uint32_t)first;
            o->meeting[first].numbered = true;
        }
        m = &o->meeting[queue[head++]];
        m->seq = next[m->comm]++;
        for (uint32_t e = m->after; e != NONE; e = o->edge[e].next) {
            struct meeting *then = &o->meeting[o->edge[e].to];

            if (!--then->waits && !then->numbered) {
                queue[tail++] = o->edge[e].to;
                then->numbered = true;
            }
        }
    }
    free(queue);
}

void records_number(struct record *record, size_t n)
{
    struct order o = { .of = xcalloc(n + 1, sizeof(*o.of)) };
    uint32_t comms = 0, *next;

    for (size_t i = 0; i < n; i++)
        comms = record[i].comm >= comms ? record[i].comm + 1 : comms;
    next = xcalloc(comms + 1, sizeof(*next));
    find_meetings(&o, record, n);
    chain_operations(&o, next);
    sort_meetings(&o, next);
    for (size_t i = 0; i < n; i++)
        record[i].seq = o.of[i] == NONE ? CALLS_IN_ORDER : o.meeting[o.of[i]].seq;
    free(next);
    free(o.of);
    free(o.meeting);
    free(o.edge);
}

/* ---- times ---- */

/* So many lines must leave their call the time to run since the line before; and so much may what ranks are
 * apart by, when they write of the same call, change, as a part of the time between two calls. */
#define FRESH_SHARE  0.9
#define APART_SHARE  0.1
#define RECORDS_MIN  8u     /* with fewer nothing is known of that */
#define MEETINGS_MIN 3u     /* of two ranks */
#define BURST_NS     50000u /* lines that stand closer are written in one go: each takes microseconds */

/* By how much later than another rank this one wrote of the same collective. */
struct apart {
    uint64_t stream;
    size_t at; /* in the order of the records */
    int64_t ns;
};

static int by_stream(const void *left, const void *right)
{
    const struct apart *a = left, *b = right;

    return a->stream != b->stream ? compare(a->stream, b->stream) : compare(a->at, b->at);
}

static int by_ns(const void *left, const void *right)
{
    const struct apart *a = left, *b = right;

    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static bool is_written_only(const struct record *r)
{
    return !r->leave_ns;
}

static uint64_t held_ns(const struct record *r)
{
    return is_written_only(r) ? r->lasted_ns : r->leave_ns - r->enter_ns;
}

/* How much the moments at which ranks write of the same collective differ, of the two who differ most: what
 * nine of ten change by from one collective to the next, which leaves out how their clocks lie to each other
 * and drift apart. */
static int64_t spread_ns(struct apart *apart, size_t n)
{
    int64_t most = 0;

    if (n)
        qsort(apart, n, sizeof(*apart), by_stream);
    for (size_t i = 0, end; i < n; i = end) {
        size_t changes;

        for (end = i; end < n && apart[end].stream == apart[i].stream; end++)
            ;
        changes = end - i - 1;
        if (end - i < MEETINGS_MIN)
            continue;
        for (size_t j = i; j < i + changes; j++)
            apart[j].ns = llabs(apart[j + 1].ns - apart[j].ns);
        qsort(&apart[i], changes, sizeof(*apart), by_ns);
        if (apart[i + (changes - 1) * 9 / 10].ns > most)
            most = apart[i + (changes - 1) * 9 / 10].ns;
    }
    return most;
}

static int by_size(const void *left, const void *right)
{
    return compare(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Do the moments at which records were written show when their calls ended? */
static bool written_in_time(const struct record *record, size_t n)
{
    struct map last = { 0 }, met = { 0 };
    uint64_t *gap = xcalloc(n + 1, sizeof(*gap)), between_ns = 0;
    struct apart *apart = xcalloc(n + 1, sizeof(*apart));
    size_t gaps = 0, fresh = 0, aparts = 0;
    bool all = true;

    for (size_t i = 0; i < n && all; i++) {
        const struct record *r = &record[i];
        uint64_t stream = stream_key(r), where = (uint64_t)r->comm << 32 | r->seq;
        uint32_t before = map_get(&last, stream), other = map_get(&met, where);

        if (is_message(r))
            continue;
        if (!r->written_ns) {
            all = !is_written_only(r);
            continue;
        }
        if (before != MAP_NONE && record[before].written_ns <= r->written_ns) {
            gap[gaps] = r->written_ns - record[before].written_ns;
            fresh += gap[gaps] >= held_ns(r) && gap[gaps] >= BURST_NS;
            gaps++;
        }
        map_put(&last, stream, (uint32_t)i);
        if (other == MAP_NONE)
            map_put(&met, where, (uint32_t)i);
        else
            apart[aparts++] =
                (struct apart){ stream, i, (int64_t)(r->written_ns - record[other].written_ns) };
    }
    if (gaps) {
        qsort(gap, gaps, sizeof(*gap), by_size);
        between_ns = gap[gaps / 2];
    }
    all = all && gaps >= RECORDS_MIN && (double)fresh >= FRESH_SHARE * (double)gaps &&
          (double)spread_ns(apart, aparts) <= APART_SHARE * (double)between_ns;
    map_free(&last);
    map_free(&met);
    free(gap);
    free(apart);
    return all;
}

/* A call ends when its record is written; where the next one of its rank must have begun before that, by
 * then. */
static void take_written(struct record *record, size_t n)
{
    struct map next = { 0 };

    for (size_t i = n; i-- > 0;) {
        struct record *r = &record[i];
        uint64_t stream = stream_key(r);
        uint32_t after = map_get(&next, stream);

        if (is_written_only(r) && r->written_ns) {
            r->leave_ns = after != MAP_NONE && record[after].enter_ns < r->written_ns ? record[after].enter_ns
                                                                                      : r->written_ns;
            r->enter_ns = r->leave_ns > r->lasted_ns ? r->leave_ns - r->lasted_ns : 0;
        }
        if (!is_message(r))
            map_put(&next, stream, (uint32_t)i);
    }
    map_free(&next);
}

static int by_meeting(const void *left, const void *right)
{
    const struct record *a = *(struct record *const *)left, *b = *(struct record *const *)right;

    return a->comm != b->comm ? compare(a->comm, b->comm)
           : a->seq != b->seq ? compare(a->seq, b->seq)
                              : compare(a->process, b->process);
}

/* One collective after the other, each over when who came first had been held as long as it was. */
static int lay_out(struct record *record, size_t n, struct err *err)
{
    struct record **sorted = xcalloc(n + 1, sizeof(struct record *));
    uint64_t now_ns = 1;
    size_t m = 0;
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        if (is_message(&record[i]))
            record[i].leave_ns = 0;
        else
            sorted[m++] = &record[i];
    if (m)
        qsort(sorted, m, sizeof(struct record *), by_meeting);
    for (size_t i = 0, end; i < m && rc == 0; i = end) {
        uint64_t most_ns = 0;

        for (end = i; end < m && sorted[end]->comm == sorted[i]->comm && sorted[end]->seq == sorted[i]->seq;
             end++)
            most_ns = held_ns(sorted[end]) > most_ns ? held_ns(sorted[end]) : most_ns;
        now_ns += most_ns + 1;
        for (size_t j = i; j < end; j++) {
            sorted[j]->enter_ns = now_ns - held_ns(sorted[j]);
            sorted[j]->leave_ns = now_ns;
        }
        if ((double)now_ns > TRACE_SPAN_MAX_S * 1e9)
            rc = err_set(err,
                         "by their durations, the collectives take more than %.0f days one after the other",
                         TRACE_SPAN_MAX_S / 86400);
    }
    free(sorted);
    return rc;
}

int records_time(struct record *record, size_t n, struct err *err)
{
    bool calls = false, messages = false;

    for (size_t i = 0; i < n; i++) {
        calls = calls || (is_written_only(&record[i]) && !is_message(&record[i]));
        messages = messages || (is_written_only(&record[i]) && is_message(&record[i]));
    }
    if ((calls || messages) && written_in_time(record, n)) {
        take_written(record, n);
    } else if (calls) {
        return lay_out(record, n, err);
    }
    return 1;
}
