#include "sim/asynchronous.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/noise.h"

struct servers {
    const struct scenario_job *j;
    struct noise *noise;
    struct sim_job_result *r;
    double service_s, transit_s, wire_s; /* of an update: time at servers, in latencies, on the link */
    double free_s;
    double *ready_s;   /* by rank: when its work is done */
    double *begun_s;   /* when its iteration began */
    uint64_t *updates; /* number of updates begun */
    uint32_t *heap;    /* ranks; the first to be ready is on top */
    uint32_t n;
};

static bool before(const struct servers *q, uint32_t a, uint32_t b)
{
    return q->ready_s[a] < q->ready_s[b] || (q->ready_s[a] == q->ready_s[b] && a < b);
}

/* Restore the heap after the time of its top has grown. */
static void sink_rank(struct servers *q, uint32_t at)
{
    uint32_t rank = q->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= q->n)
            break;
        if (child + 1 < q->n && before(q, q->heap[child + 1], q->heap[child]))
            child++;
        if (!before(q, q->heap[child], rank))
            break;
        q->heap[at] = q->heap[child];
        at = child;
    }
    q->heap[at] = rank;
}

static void begin_work(struct servers *q, uint32_t rank, double now_s)
{
    double factor, delay_s, work_s;

    noise_rank_step(q->noise, rank, q->updates[rank]++, &factor, &delay_s);
    work_s = q->j->compute_s * factor + delay_s;
    q->begun_s[rank] = now_s;
    q->ready_s[rank] = now_s + work_s;
    q->r->work_s[rank] += work_s;
}

/* Serve the rank that is ready first. */
static void serve_first(struct servers *q)
{
    uint32_t rank = q->heap[0];
    double came_s = q->ready_s[rank] + q->transit_s / 2, start_s = fmax(came_s, q->free_s);
    double done_s = start_s + fmax(q->service_s, q->wire_s) + q->transit_s / 2;
    struct sim_job_result *r = q->r;

    q->free_s = start_s + q->service_s;
    r->compute_s += q->ready_s[rank] - q->begun_s[rank];
    r->sync_s += start_s - came_s;
    r->comm_s += done_s - q->ready_s[rank] - (start_s - came_s);
    spread_add(&r->step, done_s - q->begun_s[rank]);
    r->end_s = fmax(r->end_s, done_s);
    r->queue_events++;
    begin_work(q, rank, done_s);
    sink_rank(q, 0);
}

void asynchronous_run(const struct scenario *s, size_t job, const struct placement *p,
                      struct sim_job_result *r)
{
    const struct scenario_job *j = &s->jobs[job];
    struct servers q = { .j = j,
                         .noise = noise_new(s, job, p),
                         .r = r,
                         .n = (uint32_t)j->ranks,
                         .service_s = 2 * j->bytes / (j->servers * s->fabric.link_bytes_per_s),
                         .wire_s = 2 * j->bytes / s->fabric.link_bytes_per_s,
                         /* there and back */
                         .transit_s = 2 * scenario_cables(&s->fabric) * s->fabric.latency_s };
    uint64_t budget = (uint64_t)j->ranks * (uint64_t)j->steps;

    r->begin_s = r->end_s = j->start_s;
    q.ready_s = xcalloc(q.n, sizeof(*q.ready_s));
    q.begun_s = xcalloc(q.n, sizeof(*q.begun_s));
    q.updates = xcalloc(q.n, sizeof(*q.updates));
    q.heap = xcalloc(q.n, sizeof(*q.heap));
    for (uint32_t i = 0; i < q.n; i++) {
        q.heap[i] = i;
        begin_work(&q, i, j->start_s);
    }
    for (uint32_t i = q.n; i-- > 0;)
        sink_rank(&q, i);
    for (uint64_t i = 0; i < budget; i++)
        serve_first(&q);
    r->steps = r->simulated = (uint64_t)j->steps;
    r->state = SIM_JOB_DONE;
    noise_free(q.noise);
    free(q.ready_s);
    free(q.begun_s);
    free(q.updates);
    free(q.heap);
}
