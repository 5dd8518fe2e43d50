#include "view/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "model/statistics.h"
#include "ring/ring.h"

#define SKIPPED     8u     /* first ones, which set up connections */
#define TAKEN       24u    /* that are looked at */
#define BYTES_MIN   65536  /* smaller ones show latency and noise */
#define SMALLER_MIN 1024   /* to compare with */
#define SHORT_MIN_S 200e-6 /* a smaller difference may be that of clocks and exits */
#define PEERS_MIN   3u
/* times the slower quarter of the peers: their own spread is no fault of one */
#define PEERS_APART 2.0
/* latency of a slow hop: what an algorithm may take beside the bytes */
#define HOP_S 20e-6

struct baseline_kind {
    uint64_t comm;
    uint8_t op;
    uint32_t size; /* bytes, as a power of two */
    uint32_t ranks, nodes, switches, seen;
    double bytes; /* mean */
    float time_s[TAKEN];
    float fast_s, median_s; /* valid when TAKEN are there */
};

struct baseline {
    struct baseline_kind *kind[BASELINE_KINDS_MAX];
    uint32_t n, known;
    struct map by_key;
};

struct baseline *baseline_new(void)
{
    return xcalloc(1, sizeof(struct baseline));
}

void baseline_free(struct baseline *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++)
        free(r->kind[i]);
    map_free(&r->by_key);
    free(r);
}

static bool is_known(const struct baseline_kind *k)
{
    return k->seen >= SKIPPED + TAKEN;
}

struct baseline_kind *baseline_kind_get(struct baseline *r, uint64_t comm, uint8_t op, double bytes)
{
    uint32_t size = bytes >= 1 ? (uint32_t)ilogb(bytes) : 0, at;
    uint64_t words[] = { comm, op, size }, key = hash_bytes(HASH_START, words, sizeof(words));
    struct baseline_kind *k;

    at = map_get(&r->by_key, key);
    if (at != MAP_NONE)
        return is_known(r->kind[at]) ? NULL : r->kind[at];
    if (r->n == BASELINE_KINDS_MAX)
        return NULL;
    k = r->kind[r->n] = xcalloc(1, sizeof(*k));
    k->comm = comm;
    k->op = op;
    k->size = size;
    map_put(&r->by_key, key, r->n++);
    return k;
}

bool baseline_is_new(const struct baseline_kind *k)
{
    return !k->ranks;
}

void baseline_shape(struct baseline_kind *k, uint32_t ranks, uint32_t nodes, uint32_t switches)
{
    k->ranks = ranks;
    k->nodes = nodes;
    k->switches = switches;
}

void baseline_take(struct baseline *r, struct baseline_kind *k, double bytes, double transfer_s)
{
    float v[TAKEN];

    if (is_known(k) || !(transfer_s > 0))
        return;
    k->seen++;
    k->bytes += (bytes - k->bytes) / k->seen;
    if (k->seen <= SKIPPED)
        return;
    k->time_s[k->seen - SKIPPED - 1] = (float)transfer_s;
    if (!is_known(k))
        return;
    memcpy(v, k->time_s, sizeof(v));
    k->fast_s = statistics_quantilef(v, TAKEN, 0.25);
    k->median_s = statistics_medianf(v, TAKEN);
    r->known++;
}

uint32_t baseline_known(const struct baseline *r)
{
    return r->known;
}

/* ---- what was expected ---- */

static struct baseline_shortfall short_of(const struct baseline_kind *k, enum baseline_source source,
                                          double expected_s)
{
    return (struct baseline_shortfall){ .comm = k->comm,
                                        .op = k->op,
                                        .ranks = k->ranks,
                                        .nodes = k->nodes,
                                        .bytes = k->bytes,
                                        .time_s = k->median_s,
                                        .expected_s = expected_s,
                                        .source = source };
}

static double times(const struct baseline_shortfall *s)
{
    return s->expected_s > 0 ? s->time_s / s->expected_s : 0;
}

static bool falls_short(const struct baseline_kind *k, double expected_s, double margin)
{
    return expected_s > 0 && k->fast_s > margin * expected_s && k->fast_s > expected_s + SHORT_MIN_S;
}

static bool by_adapter(const struct baseline_kind *k, double bytes_per_s, struct baseline_shortfall *out)
{
    double expected_s;

    if (!(bytes_per_s > 0) || k->op != RING_OP_ALLREDUCE || k->nodes < 2)
        return false;
    expected_s = 2.0 * (k->nodes - 1) / k->nodes * k->bytes / bytes_per_s;
    if (!falls_short(k, expected_s + 2 * (k->ranks - 1) * HOP_S / BASELINE_ADAPTER, BASELINE_ADAPTER))
        return false;
    *out = short_of(k, BASELINE_BY_ADAPTER, expected_s);
    return true;
}

/* peer[n]: all of its shape, in order of their medians. */
static bool by_peers(const struct baseline_kind *k, const struct baseline_kind *const *peer, size_t n,
                     struct baseline_shortfall *out)
{
    double expected_s = peer[(n - 1) / 2]->median_s, slower_s = peer[3 * (n - 1) / 4]->median_s;

    if (n < PEERS_MIN + 1 || k->fast_s < PEERS_APART * slower_s)
        return false;
    if (!falls_short(k, expected_s, BASELINE_TIMES))
        return false;
    *out = short_of(k, BASELINE_BY_PEERS, expected_s);
    out->peers = (uint32_t)n - 1;
    return true;
}

static bool by_sizes(const struct baseline *r, const struct baseline_kind *k, struct baseline_shortfall *out)
{
    const struct baseline_kind *best = NULL;
    double expected_s = INFINITY;

    for (uint32_t size = 10; size < k->size; size++) {
        uint64_t words[] = { k->comm, k->op, size };
        uint32_t at = map_get(&r->by_key, hash_bytes(HASH_START, words, sizeof(words)));
        const struct baseline_kind *s = at == MAP_NONE ? NULL : r->kind[at];

        if (!s || !is_known(s) || s->bytes < SMALLER_MIN || s->median_s * k->bytes / s->bytes >= expected_s)
            continue;
        expected_s = s->median_s * k->bytes / s->bytes;
        best = s;
    }
    if (!best || !falls_short(k, expected_s, BASELINE_TIMES))
        return false;
    *out = short_of(k, BASELINE_BY_SIZES, expected_s);
    out->smaller_bytes = best->bytes;
    out->smaller_s = best->median_s;
    return true;
}

static int compare_shapes(const struct baseline_kind *x, const struct baseline_kind *y)
{
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    if (x->nodes != y->nodes)
        return x->nodes < y->nodes ? -1 : 1;
    return (x->switches > y->switches) - (x->switches < y->switches);
}

static int by_shape(const void *a, const void *b)
{
    const struct baseline_kind *x = *(const struct baseline_kind *const *)a,
                               *y = *(const struct baseline_kind *const *)b;
    int shapes = compare_shapes(x, y);

    return shapes ? shapes : (x->median_s > y->median_s) - (x->median_s < y->median_s);
}

/* Into the list in order, unless another of its shape is there for the same reason and is worse. */
static size_t put_shortfall(struct baseline_shortfall *out, size_t n, size_t max,
                            const struct baseline_shortfall *s)
{
    size_t at;

    for (size_t i = 0; i < n; i++)
        if (out[i].source == s->source && out[i].op == s->op && out[i].ranks == s->ranks &&
            out[i].nodes == s->nodes && s->source != BASELINE_BY_PEERS) {
            if (times(&out[i]) >= times(s))
                return n;
            memmove(out + i, out + i + 1, (--n - i) * sizeof(*out));
            break;
        }
    for (at = n; at > 0 && times(s) > times(&out[at - 1]); at--)
        ;
    if (at == max)
        return n;
    n = n < max ? n + 1 : n;
    memmove(out + at + 1, out + at, (n - 1 - at) * sizeof(*out));
    out[at] = *s;
    return n;
}

size_t baseline_find(const struct baseline *r, double adapter_bytes_per_s, struct baseline_shortfall *out,
                     size_t max)
{
    const struct baseline_kind **k = xcalloc(r->n + 1, sizeof(*k));
    size_t n_kinds = 0, n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (is_known(r->kind[i]) && r->kind[i]->bytes >= BYTES_MIN)
            k[n_kinds++] = r->kind[i];
    if (n_kinds)
        qsort(k, n_kinds, sizeof(*k), by_shape);
    for (size_t i = 0, end = 0, begin = 0; i < n_kinds && max; i++) {
        struct baseline_shortfall s;

        if (i == end) {
            begin = end;
            while (end < n_kinds && !compare_shapes(k[begin], k[end]))
                end++;
        }
        if (by_adapter(k[i], adapter_bytes_per_s, &s) || by_peers(k[i], k + begin, end - begin, &s) ||
            by_sizes(r, k[i], &s))
            n = put_shortfall(out, n, max, &s);
    }
    free(k);
    return n;
}
