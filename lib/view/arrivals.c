#include "view/arrivals.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/interval.h"

struct arrival {
    uint64_t comm;
    uint32_t seq, last;
    uint32_t what;   /* operation and size, as a power of two */
    double waited_s; /* for the last one alone */
};

void arrivals_forget(struct arrivals *a)
{
    free(a->list);
    *a = (struct arrivals){ 0 };
}

static uint32_t what_of(const struct joined *j)
{
    uint32_t size = 0;

    while (size < 64 && j->bytes >> size)
        size++;
    return size << 8 | j->op;
}

void arrivals_take(struct arrivals *a, const struct joined *j)
{
    double next_s = INFINITY;

    if (j->slots > a->size) {
        arrivals_forget(a);
        a->size = j->slots;
    }
    if (a->many || !j->complete || j->n != 1 || j->present < 2)
        return;
    if (a->n >= ARRIVALS_MAX) {
        arrivals_forget(a);
        a->size = j->slots;
        a->many = true;
        return;
    }
    /* Who came next to last stayed next to the shortest. */
    for (uint32_t i = 0; i < j->slots; i++)
        if (!isnan(j->stay_s[i]) && j->rank[i] != j->last)
            next_s = fmin(next_s, (double)j->stay_s[i]);
    a->list = xgrow(a->list, &a->cap, a->n + 1, sizeof(*a->list));
    a->list[a->n++] = (struct arrival){ .comm = j->comm,
                                        .seq = j->seq,
                                        .last = j->last,
                                        .what = what_of(j),
                                        .waited_s = fmax(0, next_s - j->stay_min_s) };
}

static int by_comm(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;

    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* After how many the same come again, all along; 0: they do not. */
static uint32_t period_of(const struct arrival *list, uint32_t n)
{
    for (uint32_t period = 1; period <= n / 2; period++) {
        uint32_t i = period;

        while (i < n && list[i].what == list[i - period].what)
            i++;
        if (i == n)
            return period;
    }
    return 0;
}

/* list[n]: a communicator's, in order.  Of the rank that its others waited for longest, if that is longer
 * than what is in out. */
static void take_latest(const struct arrival *list, uint32_t n, struct arrivals_latest *out)
{
    struct arrivals_latest l = { .of = n, .waited_s = -1, .each_s = NAN, .low_s = NAN, .high_s = NAN };
    double time_s[ARRIVALS_MAX] = { 0 }, square = 0; /* the same one may come again and again */
    struct interval interval;

    for (uint32_t i = 0; i < n; i++) {
        double waited_s = 0;
        uint32_t last = 0;

        for (uint32_t j = 0; j < n; j++)
            if (list[j].last == list[i].last) {
                waited_s += list[j].waited_s;
                last++;
            }
        if (waited_s <= l.waited_s)
            continue;
        l.rank = list[i].last;
        l.last = last;
        l.waited_s = waited_s;
    }
    if (l.waited_s <= out->waited_s)
        return;
    l.period = period_of(list, n);
    l.times = l.period ? n / l.period : 0;
    for (uint32_t i = 0; i < l.times * l.period; i++)
        if (list[i].last == l.rank)
            time_s[i / l.period] += list[i].waited_s;
    if (l.times) {
        l.each_s = 0;
        for (uint32_t i = 0; i < l.times; i++)
            l.each_s += time_s[i] / l.times;
        for (uint32_t i = 0; i < l.times; i++)
            square += (time_s[i] - l.each_s) * (time_s[i] - l.each_s);
        interval = interval_of(l.each_s, sqrt(square / (l.times - 1) / l.times), l.times - 1);
        l.low_s = interval.low;
        l.high_s = interval.high;
    }
    *out = l;
}

bool arrivals_latest(const struct arrivals *a, struct arrivals_latest *out)
{
    struct arrival *sorted = xcalloc(a->n + 1, sizeof(*sorted));

    *out = (struct arrivals_latest){ .waited_s = -1 };
    for (size_t i = 0; i < a->n; i++)
        sorted[i] = a->list[i];
    if (a->n)
        qsort(sorted, a->n, sizeof(*sorted), by_comm);
    for (size_t i = 0, end; i < a->n; i = end) {
        for (end = i; end < a->n && sorted[end].comm == sorted[i].comm; end++)
            ;
        take_latest(&sorted[i], (uint32_t)(end - i), out);
    }
    free(sorted);
    return a->n > 0;
}
