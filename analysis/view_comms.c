/* view_comms.c - a view's communicators: their samples are joined into collectives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define COMM_WINDOW_S 5.0

struct member_sums { /* a rank's stay in a communicator's collectives; kept when it has left */
    double recent_s, run_s;
    uint32_t rank;
    bool sampled;
};

#define UNSEEN_MIN 16u /* collectives that say what they never show */

struct comm_totals {
    double collectives, bytes, skew_s, transfer_s, over_s;
    uint64_t joined;
};

struct comm {
    uint64_t name;
    uint32_t size, first, last, instance; /* see struct ring_comm */
    char *label;                    /* NULL: its size and first rank name it */
    struct join *join;
    struct comm_totals now, before; /* the running and the last full window */
    struct joined_sums recent, run;
    struct member_sums *member; /* by place */
    double summed_bytes, other_bytes; /* of all members in the run: of view_exchange_sums(), of other collectives */
    double bytes;
};

struct comms {
    struct comm *comm; /* by name */
    size_t n, cap;
    double since_s; /* when the running window began */
    uint32_t main_size;
    uint64_t joined;
    uint64_t seen, unseen; /* complete ones: of how many it was seen who waited */
    double bytes; /* of all of them */
};

struct comms *view_comms_new(void)
{
    return xcalloc(1, sizeof(struct comms));
}

static double bytes_of(const struct comm_item *c)
{
    return join_bytes(c) + sizeof(struct comm) + (double)c->size * sizeof(struct member_sums);
}

static void comm_free(struct comm *c)
{
    join_free(c->join);
    free(c->label);
    free(c->member);
}

void view_comms_forget(struct view *v)
{
    struct comms *s = v->comms;

    for (size_t i = 0; i < s->n; i++)
        comm_free(&s->comm[i]);
    s->n = 0;
    s->main_size = 0;
    s->bytes = 0;
}

void view_comms_free(struct view *v)
{
    view_comms_forget(v);
    free(v->comms->comm);
    free(v->comms);
}

static struct comm *comm_find(const struct view *v, uint64_t name)
{
    const struct comms *s = v->comms;
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (s->comm[mid].name < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && s->comm[low].name == name ? &s->comm[low] : NULL;
}

void view_comm_forget(struct view *v, uint64_t name)
{
    struct comms *s = v->comms;
    struct comm *c = comm_find(v, name);

    if (!c)
        return;
    s->bytes -= c->bytes;
    comm_free(c);
    s->n--;
    memmove(c, c + 1, (size_t)(s->comm + s->n - c) * sizeof(*c));
}

void view_comm_call(struct view *v, uint64_t name, const char *label)
{
    struct comm *c = comm_find(v, name);

    if (!c)
        return;
    free(c->label);
    c->label = xstrdup(label);
}

static struct comm *comm_add(struct view *v, const struct comm_item *c)
{
    struct comms *s = v->comms;
    struct join *join;
    size_t at = s->n;

    if (s->n >= VIEW_COMMS_MAX)
        v->rejected.memory++;
    if (s->n >= VIEW_COMMS_MAX || !join_fits(c) || !view_has_room(v, bytes_of(c)) || !(join = join_new(c)))
        return NULL;
    s->comm = xgrow(s->comm, &s->cap, s->n + 1, sizeof(*s->comm));
    for (; at && s->comm[at - 1].name > c->name; at--)
        s->comm[at] = s->comm[at - 1];
    s->comm[at] = (struct comm){ .name = c->name,
                                 .size = c->size,
                                 .first = c->first,
                                 .last = c->last,
                                 .instance = c->instance,
                                 .join = join,
                                 .member = xcalloc(c->size, sizeof(struct member_sums)),
                                 .bytes = bytes_of(c) };
    s->bytes += s->comm[at].bytes;
    s->n++;
    return &s->comm[at];
}

double view_comms_bytes(const struct view *v)
{
    return v->comms->bytes;
}

void view_comms_take(struct view *v, const struct comm_item *c)
{
    struct comm *k = comm_find(v, c->name);

    if (!view_ranks_find(v, c->rank, c->app) || c->size < 2)
        return;
    if (c->size > v->bounds.ranks || c->last >= v->bounds.ranks) {
        v->rejected.ranks++;
        v->refused++;
        return;
    }
    if (!k)
        k = comm_add(v, c);
    if (!k || k->size != c->size) {
        v->refused++;
        return;
    }
    join_member(k->join, c->rank, c->comm_rank);
}

uint64_t view_comms_joined(const struct view *v)
{
    return v->comms->joined;
}

bool view_comms_unseen(const struct view *v)
{
    return v->comms->unseen >= UNSEEN_MIN && !v->comms->seen;
}

uint32_t view_comms_main_size(const struct view *v)
{
    return v->comms->main_size;
}

struct joined_arg {
    struct view *view;
    struct comm *comm;
};

static void on_joined(const struct joined *j, void *arg)
{
    struct joined_arg *a = arg;
    struct view *v = a->view;
    struct comm *c = a->comm;
    struct joined_sums sums;

    v->comms->joined++;
    c->now.collectives += j->n;
    c->now.bytes += (double)j->bytes * j->n;
    c->now.joined++;
    c->now.skew_s += j->stay_max_s - j->stay_min_s;
    c->now.transfer_s += j->stay_min_s;
    v->comms->unseen += j->complete && (j->flags & SAMPLE_UNWAITED);
    if (!j->complete || (j->flags & SAMPLE_UNWAITED))
        return; /* it does not show who waited for whom */
    v->comms->seen++;
    view_history_take_joined(v, j, c->size == v->comms->main_size);
    sums = view_sums_take_joined(v, j);
    view_joined_add(&c->recent, &sums);
    view_joined_add(&c->run, &sums);
    view_scaling_take_joined(v, c->size, j);
    view_reach_take_joined(v, c->size, j);
}

void view_comms_take_sample(struct view *v, const struct sample *s)
{
    struct joined_arg arg = { .view = v, .comm = comm_find(v, s->comm) };
    struct comm *c = arg.comm;
    uint32_t place = c ? join_place(c->join, s->rank) : UINT32_MAX;

    if (place != UINT32_MAX) {
        struct member_sums *m = &c->member[place];

        m->sampled = true;
        m->rank = s->rank;
        m->recent_s += (double)s->stay_sum_ns * 1e-9;
        m->run_s += (double)s->stay_sum_ns * 1e-9;
        if (!(s->flags & SAMPLE_WHOLE))
            *(view_exchange_sums(s->op) ? &c->summed_bytes : &c->other_bytes) += (double)s->bytes * s->n;
    }
    if (!c || !ring_op_synchronises(s->op) || (s->flags & (SAMPLE_INTER | SAMPLE_FAILED)))
        return;
    if (c->size > v->comms->main_size)
        v->comms->main_size = c->size;
    join_sample(c->join, s, on_joined, &arg);
}

void view_comms_end_rank(struct view *v, uint32_t rank)
{
    for (size_t i = 0; i < v->comms->n; i++)
        join_leave(v->comms->comm[i].join, rank);
}

void view_comms_fade(struct view *v)
{
    for (size_t at = 0; at < v->comms->n; at++) {
        struct comm *c = &v->comms->comm[at];

        view_joined_fade(&c->recent);
        for (uint32_t i = 0; i < c->size; i++)
            c->member[i].recent_s = view_fade(c->member[i].recent_s);
    }
}

void view_comms_roll(struct view *v, double now_s)
{
    struct comms *s = v->comms;

    if (now_s < s->since_s + COMM_WINDOW_S)
        return;
    for (size_t i = 0; i < s->n; i++) {
        s->comm[i].before = s->comm[i].now;
        s->comm[i].before.over_s = now_s - s->since_s;
        memset(&s->comm[i].now, 0, sizeof(s->comm[i].now));
    }
    s->since_s = now_s;
}

char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size)
{
    const struct comm *c = comm_find(v, name);
    char dup[16] = "";

    if (c && c->instance)
        snprintf(dup, sizeof(dup), ".%u", c->instance);
    if (!c)
        snprintf(buf, size, "%016llx", (unsigned long long)name);
    else if (c->label)
        snprintf(buf, size, "%s", c->label);
    else if (c->size == view_rank_limit(v))
        snprintf(buf, size, "world%s", dup);
    else
        snprintf(buf, size, "%u@%u%s", c->size, c->first, dup);
    return buf;
}

uint32_t view_comms_size(const struct view *v, uint64_t name)
{
    const struct comm *c = comm_find(v, name);

    return c ? c->size : 0;
}

bool view_comms_member(const struct view *v, uint64_t name, uint32_t rank)
{
    const struct comm *c = comm_find(v, name);

    return c && join_place(c->join, rank) != UINT32_MAX;
}

struct exchange_comm view_comms_shape(const struct view *v, uint64_t name)
{
    const struct comm *c = comm_find(v, name);
    struct exchange_comm shape = { .size = c ? c->size : 0, .first = c ? c->first : 0 };

    if (shape.size < 2 || c->last <= c->first || (c->last - c->first) % (c->size - 1))
        return shape;
    shape.stride = (c->last - c->first) / (c->size - 1);
    for (uint32_t i = 0; i < c->size && shape.stride; i++) {
        const struct member_sums *m = &c->member[i]; /* join.h forgets who has left */

        if (!m->sampled || m->rank < c->first || m->rank > c->last || (m->rank - c->first) % shape.stride)
            shape.stride = 0;
    }
    return shape;
}

size_t view_comms_exchanged(const struct view *v, uint64_t name, struct exchange_comm out[2])
{
    const struct comm *c = comm_find(v, name);

    if (!c)
        return 0;
    out[0] = out[1] = view_comms_shape(v, name);
    out[0].sums = true;
    out[0].bytes = c->summed_bytes;
    out[1].bytes = c->other_bytes;
    return 2;
}

uint32_t view_comms_of_size(const struct view *v, uint32_t size)
{
    uint32_t n = 0;

    for (size_t i = 0; i < v->comms->n; i++)
        n += v->comms->comm[i].size == size;
    return n;
}

uint32_t view_comm_size(const struct view *v, uint64_t name)
{
    const struct comm *c = comm_find(v, name);

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
    double over_s = t->over_s > 0 ? t->over_s : now_s - v->comms->since_s;

    row->instances++;
    row->main = row->main || c->name == view_steps_count(v)->comm;
    if (over_s > 0) {
        row->collectives_per_s += t->collectives / over_s;
        row->bytes_per_s += t->bytes / over_s;
    }
    row->skew_s += t->joined ? t->skew_s / (double)t->joined : 0;
    row->transfer_s += t->joined ? t->transfer_s / (double)t->joined : 0;
}

static void add_efficiency(const struct view *v, const struct comm *c, bool run, struct efficiency_sums *sums)
{
    const struct joined_sums *joined = run ? &c->run : &c->recent;

    for (uint32_t i = 0; i < c->size; i++) {
        const struct member_sums *m = &c->member[i];
        double stay_s = run ? m->run_s : m->recent_s, time_s = view_sums_rank(v, m->rank, run)->time_s;

        if (m->sampled)
            efficiency_rank(sums, time_s - stay_s, stay_s, time_s);
    }
    sums->wait_s += joined->wait_s;
    sums->transfer_s += joined->transfer_s;
    efficiency_group(sums);
}

/* Efficiencies of the communicators of one row together. */
static void row_efficiency(const struct view *v, struct view_comm *row)
{
    const struct comms *s = v->comms;
    struct efficiency_sums recent = { 0 }, run = { 0 };

    for (size_t i = 0; i < s->n; i++)
        if (s->comm[i].size == row->size) {
            add_efficiency(v, &s->comm[i], false, &recent);
            add_efficiency(v, &s->comm[i], true, &run);
        }
    row->recent = efficiency_of(&recent);
    row->run = efficiency_of(&run);
}

size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max)
{
    const struct comms *s = v->comms;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        size_t row;

        if (!s->comm[i].now.joined && !s->comm[i].before.joined)
            continue;
        row = comm_row(&s->comm[i], out, &n, max);
        if (row < max)
            add_to_row(v, &s->comm[i], now_s, &out[row]);
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
