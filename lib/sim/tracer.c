#include "sim/tracer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sim/random.h"

#define PURPOSE_CLOCK 0xff02
#define PURPOSE_LOST  0xff03
#define OFFSET_MAX_S  2e4
#define RATE_MAX      50e-6
#define HELD          (1u << 16)
#define LINE_MAX_     256u

struct tracer {
    const struct scenario *s;
    size_t job;
    const struct placement *place;
    tracer_write *write;
    void *arg;
    double *offset_s, *rate; /* of the clock of a job's node */
    struct random lost;
    uint64_t *records; /* by rank, including lost ones */
    size_t held;
    char text[HELD];
};

struct tracer *tracer_new(const struct scenario *s, size_t job, const struct placement *p,
                          tracer_write *write, void *arg)
{
    struct random r = random_of((uint64_t)s->seed, (uint32_t)job, PURPOSE_CLOCK);
    struct tracer *t = xcalloc(1, sizeof(*t));

    t->s = s;
    t->job = job;
    t->place = p;
    t->write = write;
    t->arg = arg;
    t->offset_s = xcalloc(p->nodes, sizeof(*t->offset_s));
    t->rate = xcalloc(p->nodes, sizeof(*t->rate));
    t->lost = random_of((uint64_t)s->seed, (uint32_t)job, PURPOSE_LOST);
    t->records = xcalloc(p->ranks, sizeof(*t->records));
    for (uint32_t i = 0; i < p->nodes; i++) {
        bool own = s->clocks == CLOCKS_OWN;

        t->offset_s[i] = own ? OFFSET_MAX_S * random_uniform(&r, i, 0) : 0;
        t->rate[i] = own ? 1 + RATE_MAX * (2 * random_uniform(&r, i, 1) - 1) : 1;
    }
    return t;
}

void tracer_free(struct tracer *t)
{
    if (!t)
        return;
    free(t->offset_s);
    free(t->rate);
    free(t->records);
    free(t);
}

int tracer_flush(struct tracer *t, struct err *err)
{
    size_t held = t->held;

    t->held = 0;
    return held ? t->write(t->arg, t->text, held, err) : 0;
}

/* Make room for one more line. */
static int make_room(struct tracer *t, struct err *err)
{
    return t->held + LINE_MAX_ > HELD ? tracer_flush(t, err) : 0;
}

__attribute__((format(printf, 2, 3))) static void put_formatted(struct tracer *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->held += (size_t)vsnprintf(t->text + t->held, HELD - t->held, fmt, ap);
    va_end(ap);
}

int tracer_header(struct tracer *t, struct err *err)
{
    const struct scenario_fabric *f = &t->s->fabric;

    put_formatted(t,
                  "{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"%s\","
                  "\"adapter\":{\"bytes_per_s\":%.0f,\"number\":%d},\"ranks\":[",
                  t->s->jobs[t->job].name, f->link_bytes_per_s, f->rails);
    for (uint32_t i = 0; i < t->place->ranks; i++) {
        if (make_room(t, err) < 0)
            return -1;
        put_formatted(t, "%s{\"rank\":%u,\"node\":\"n%u\",\"switch\":\"s%u\"}", i ? "," : "", i,
                      t->place->fabric_node[i], t->place->switch_id[i]);
    }
    put_formatted(t, "]}\n");
    return 0;
}

static uint64_t clock_ns(const struct tracer *t, uint32_t rank, double at_s)
{
    uint32_t node = t->place->node[rank];

    return (uint64_t)((at_s * t->rate[node] + t->offset_s[node]) * 1e9);
}

/* Faster than printf; a trace of many ranks consists mostly of numbers. */
static void put_number(struct tracer *t, uint64_t number)
{
    char digits[20];
    size_t n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        t->text[t->held++] = digits[--n];
}

static void put_text(struct tracer *t, const char *text, size_t bytes)
{
    memcpy(t->text + t->held, text, bytes);
    t->held += bytes;
}

static int put_record(struct tracer *t, const struct sim_job_collective *c, uint32_t member, const char *same,
                      size_t same_bytes, struct err *err)
{
    uint32_t rank = c->rank ? c->rank[member] : member;
    uint64_t record = t->records[rank]++;

    if (t->s->lost_ratio > 0 && random_uniform(&t->lost, rank, record) < t->s->lost_ratio)
        return 0; /* it is one of those that are lost */
    if (make_room(t, err) < 0)
        return -1;
    put_text(t, "{\"r\":", 5);
    put_number(t, rank);
    put_text(t, same, same_bytes);
    put_number(t, clock_ns(t, rank, c->enter_s[member]));
    put_text(t, ",\"t1\":", 6);
    if (c->leave_s)
        put_number(t, clock_ns(t, rank, c->leave_s[member]));
    else
        put_text(t, "null", 4);
    put_text(t, "}\n", 2);
    return 0;
}

int tracer_collective(struct tracer *t, const struct sim_job_collective *c, struct err *err)
{
    char comm[32] = "world", same[128];
    int bytes;

    if (c->job != t->job)
        return 0;
    if (c->node >= 0)
        snprintf(comm, sizeof(comm), "node%" PRId64, c->node);
    bytes = snprintf(same, sizeof(same),
                     ",\"c\":\"%s\",\"s\":%u,\"o\":\"allreduce\",\"b\":%.0f,\"t0\":", comm, c->seq, c->bytes);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!(c->absent && c->absent[i]) && put_record(t, c, i, same, (size_t)bytes, err) < 0)
            return -1;
    }
    return 0;
}
