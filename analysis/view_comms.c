/* view_comms.c - a view's communicators: samples into collectives, lateness of their ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "ring/ring.h"

static void comm_free(struct comm *c)
{
    join_free(c->join);
    free(c->label);
    free(c->member);
}

void view_forget_comms(struct view *v)
{
    for (size_t i = 0; i < v->n_comms; i++)
        comm_free(&v->comm[i]);
    v->n_comms = 0;
    free(v->delay);
    v->delay = NULL;
    v->delay_cap = 0;
}

struct comm *view_comm_find(const struct view *v, uint64_t name)
{
    size_t low = 0, high = v->n_comms;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (v->comm[mid].name < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low < v->n_comms && v->comm[low].name == name ? &v->comm[low] : NULL;
}

void view_comm_forget(struct view *v, uint64_t name)
{
    struct comm *c = view_comm_find(v, name);

    if (!c)
        return;
    comm_free(c);
    v->n_comms--;
    memmove(c, c + 1, (size_t)(v->comm + v->n_comms - c) * sizeof(*c));
}

void view_comm_call(struct view *v, uint64_t name, const char *label)
{
    struct comm *c = view_comm_find(v, name);

    if (!c)
        return;
    free(c->label);
    c->label = xstrdup(label);
}

static struct comm *comm_add(struct view *v, const struct comm_item *c)
{
    struct join *join;
    size_t at = 0;

    if (v->n_comms >= VIEW_COMMS_MAX || !(join = join_new(c)))
        return NULL;
    while (at < v->n_comms && v->comm[at].name < c->name)
        at++;
    v->comm = xgrow(v->comm, &v->comms_cap, v->n_comms + 1, sizeof(*v->comm));
    memmove(&v->comm[at + 1], &v->comm[at], (v->n_comms - at) * sizeof(*v->comm));
    v->comm[at] = (struct comm){ .name = c->name,
                                 .size = c->size,
                                 .first = c->first,
                                 .instance = c->instance,
                                 .join = join,
                                 .member = xcalloc(c->size, sizeof(struct member_sums)) };
    if (v->delay_cap < 2 * (size_t)c->size)
        v->delay = xgrow(v->delay, &v->delay_cap, 2 * (size_t)c->size, sizeof(*v->delay));
    v->n_comms++;
    return &v->comm[at];
}

void view_take_comm(struct view *v, const struct comm_item *c)
{
    struct comm *k = view_comm_find(v, c->name);

    if (!view_rank_told(v, c->rank, c->app) || c->size < 2)
        return;
    if (!k)
        k = comm_add(v, c);
    if (!k || k->size != c->size) {
        v->refused++;
        return;
    }
    join_member(k->join, c->rank, c->comm_rank);
}

/* Lateness spans decades: buckets of a constant ratio, from a microsecond up to 80 s. A quantile is the
 * middle of its bucket, so that it is off by 5 % at most: two digits can be shown. */
#define BUCKET_RATIO 1.1

static unsigned bucket_of(double s)
{
    double b = s > 1e-6 ? log(s * 1e6) / log(BUCKET_RATIO) : 0;

    return b < BUCKETS - 1 ? (unsigned)b : BUCKETS - 1;
}

/* Older ones fade by halves. What does not divide is carried to the next bucket: thrown away, the rare and
 * late ones would be missing from the upper quantiles. */
static void bucket_add(struct view_rank *k, double s)
{
    unsigned b = bucket_of(s), carry = 0;

    k->bucket[b]++;
    if (++k->bucketed < 4096)
        return;
    k->bucketed = 0;
    for (b = 0; b < BUCKETS; b++) {
        carry += k->bucket[b];
        k->bucket[b] = (uint16_t)(carry / 2);
        k->bucketed += k->bucket[b];
        carry %= 2;
    }
}

double view_lateness_quantile(const struct view_rank *k, double q)
{
    double want = q * k->bucketed, sum = 0;

    if (!k->bucketed)
        return NAN;
    for (unsigned b = 0; b < BUCKETS; b++) {
        if (sum + k->bucket[b] >= want && k->bucket[b])
            return b ? 1e-6 * pow(BUCKET_RATIO, b + 0.5) : 1e-6;
        sum += k->bucket[b];
    }
    return NAN;
}

static void remember_skew(struct view *v, double skew_s)
{
    v->skew_s[v->skews_kept++ % SKEWS] = (float)skew_s;
}

static void on_joined(const struct joined *j, void *arg)
{
    struct joined_arg *a = arg;
    struct view *v = a->view;
    struct comm *c = a->comm;
    double skew_s = j->stay_max_s - j->stay_min_s, wait_s = j->stay_sum_s - j->present * j->stay_min_s;
    bool tells = j->complete && !(j->flags & SAMPLE_UNWAITED);

    v->collectives++;
    c->now.collectives += j->n;
    c->now.bytes += (double)j->bytes * j->n;
    c->now.joined++;
    c->now.skew_s += skew_s;
    c->now.transfer_s += j->stay_min_s;
    if (!tells)
        return;
    v->now.wait_s += wait_s * j->n;
    v->now.transfer_s += j->stay_min_s * j->present * j->n;
    if (c->size == v->main_size) {
        v->now.skew_sum_s += skew_s;
        v->now.skews++;
        remember_skew(v, skew_s);
    }
    for (uint32_t i = 0; i < j->slots; i++) {
        uint32_t r = j->rank[i];

        if (r >= v->n_ranks || isnan(j->stay_s[i]))
            continue;
        double late_s = j->stay_max_s - j->stay_s[i];

        v->rank[r].now.lateness_s += (float)late_s;
        v->rank[r].now.joined++;
        bucket_add(&v->rank[r], late_s);
    }
    if (j->last < v->n_ranks)
        v->rank[j->last].now.last++;
    view_sum_joined(v, c, j);
    view_scaling_joined(v, c, j);
}

void view_take_sample(struct view *v, const struct sample *s)
{
    struct joined_arg arg = { .view = v };
    struct view_rank *k = view_rank_told(v, s->rank, s->app);

    if (!k)
        return;
    if (!s->n || s->n > 65536 || s->gap_sum_ns > TIME_MAX_NS || s->stay_sum_ns > TIME_MAX_NS ||
        s->stay_ns > TIME_MAX_NS || s->p2p_sum_ns > s->gap_sum_ns) {
        v->refused++;
        return;
    }
    if (s->comm == v->step_comm && s->seq + s->n - 1 > v->main_seq)
        v->main_seq = s->seq + s->n - 1;
    k->left_at_s = v->now_s;
    k->left_op = s->op;
    k->left_comm = s->comm;
    k->left_seq = s->seq + s->n - 1;
    k->inside_op = RING_OP_NONE; /* it left a collective since it was told to be inside of something */
    if (s->flags & SAMPLE_WHOLE)
        return; /* its block tells it too; whole ones are for traces */
    v->now.work_s += (double)(s->gap_sum_ns - s->p2p_sum_ns) * 1e-9;
    v->now.p2p_s += (double)s->p2p_sum_ns * 1e-9;
    v->now.stay_s += (double)s->stay_sum_ns * 1e-9;
    arg.comm = view_comm_find(v, s->comm);
    view_sum_sample(v, arg.comm, s);
    if (!arg.comm || !ring_op_synchronises(s->op) || (s->flags & (SAMPLE_INTER | SAMPLE_FAILED)))
        return;
    if (arg.comm->size > v->main_size)
        v->main_size = arg.comm->size;
    join_sample(arg.comm->join, s, on_joined, &arg);
}

void view_roll_comms(struct view *v, double now_s)
{
    if (now_s < v->comms_since_s + COMM_WINDOW_S)
        return;
    for (size_t i = 0; i < v->n_comms; i++) {
        v->comm[i].before = v->comm[i].now;
        v->comm[i].before.over_s = now_s - v->comms_since_s;
        memset(&v->comm[i].now, 0, sizeof(v->comm[i].now));
    }
    v->comms_since_s = now_s;
}

char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size)
{
    const struct comm *c = view_comm_find(v, name);
    char dup[16] = "";

    if (c && c->instance)
        snprintf(dup, sizeof(dup), ".%u", c->instance);
    if (!c)
        snprintf(buf, size, "%016llx", (unsigned long long)name);
    else if (c->label)
        snprintf(buf, size, "%s", c->label);
    else if (c->size == v->n_ranks)
        snprintf(buf, size, "world%s", dup);
    else
        snprintf(buf, size, "%u@%u%s", c->size, c->first, dup);
    return buf;
}

uint32_t view_comm_size(const struct view *v, uint64_t name)
{
    const struct comm *c = view_comm_find(v, name);

    return c ? join_announced(c->join) : 0;
}

static const struct comm_totals *comm_totals(const struct comm *c)
{
    return c->before.over_s > 0 ? &c->before : &c->now;
}

static int by_size(const void *a, const void *b)
{
    const struct view_comm *x = a, *y = b;

    return x->size == y->size ? 0 : x->size < y->size ? 1 : -1;
}

/* The place in out of the row of c's size; max: no row yet and no room. */
static size_t comm_row(const struct comm *c, struct view_comm *out, size_t *n, size_t max)
{
    size_t row = 0;

    while (row < *n && out[row].size != c->size)
        row++;
    if (row == *n && row < max)
        out[(*n)++] = (struct view_comm){ .name = c->name, .size = c->size };
    return row;
}

static void add_to_row(const struct view *v, const struct comm *c, double now_s, struct view_comm *row)
{
    const struct comm_totals *t = comm_totals(c);
    double over_s = t->over_s > 0 ? t->over_s : now_s - v->comms_since_s;

    row->instances++;
    row->main = row->main || c->name == v->step_comm;
    if (over_s > 0) {
        row->collectives_per_s += t->collectives / over_s;
        row->bytes_per_s += t->bytes / over_s;
    }
    row->skew_s += t->joined ? t->skew_s / (double)t->joined : 0;
    row->transfer_s += t->joined ? t->transfer_s / (double)t->joined : 0;
}

/* Efficiencies of the communicators of one row together. */
static void row_efficiency(const struct view *v, struct view_comm *row)
{
    struct efficiency_sums recent = { 0 }, run = { 0 };

    for (size_t i = 0; i < v->n_comms; i++)
        if (v->comm[i].size == row->size) {
            view_sum_comm(v, &v->comm[i], false, &recent);
            view_sum_comm(v, &v->comm[i], true, &run);
        }
    row->recent = efficiency_of(&recent);
    row->run = efficiency_of(&run);
}

size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_comms; i++) {
        size_t row;

        if (!v->comm[i].now.joined && !v->comm[i].before.joined)
            continue;
        row = comm_row(&v->comm[i], out, &n, max);
        if (row < max)
            add_to_row(v, &v->comm[i], now_s, &out[row]);
    }
    for (size_t i = 0; i < n; i++) {
        out[i].collectives_per_s /= out[i].instances;
        out[i].bytes_per_s /= out[i].instances;
        out[i].skew_s /= out[i].instances;
        out[i].transfer_s /= out[i].instances;
        row_efficiency(v, &out[i]);
    }
    qsort(out, n, sizeof(*out), by_size);
    return n;
}
