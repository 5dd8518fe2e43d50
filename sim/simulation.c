#include "sim/simulation.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/asynchronous.h"

struct simulation {
    const struct scenario *s;
    struct job_hooks hooks; /* the caller's */
    struct fabric fabric;
    struct network *network;
    struct placement *place[SCENARIO_JOBS_MAX];
    struct job *job[SCENARIO_JOBS_MAX]; /* NULL: asynchronous */
    struct job_result asynchronous[SCENARIO_JOBS_MAX];
    bool on[SCENARIO_FAULTS_MAX]; /* faults of links, now */
    struct network_count played;
};

/* ---- fabric ---- */

static void shape_of(struct fabric_shape *shape, const struct scenario *s)
{
    const struct scenario_fabric *f = &s->fabric;

    if (f->kind == FABRIC_FLAT)
        fabric_flat(shape, (uint32_t)f->nodes, f->latency_s, f->link_bytes_per_s);
    else
        fabric_leafspine(shape, (uint32_t)f->nodes, (uint32_t)f->nodes_per_switch, (uint32_t)f->spines,
                         f->latency_s, f->link_bytes_per_s);
    if (f->kind == FABRIC_LEAFSPINE)
        shape->level[1].bytes_per_s = f->uplink_bytes_per_s;
    shape->ranks_per_node = placement_node_ranks(s);
    shape->rails = (uint32_t)f->rails;
    shape->node_latency_s = f->local_latency_s;
    shape->node_bytes_per_s = f->local_bytes_per_s;
}

/* ---- faults of links ---- */

static bool fault_is_on(const struct scenario_fault *f, uint64_t step)
{
    return step >= (uint64_t)f->from && (!f->until || step < (uint64_t)f->until);
}

/* What all faults that are on do to one link together: each link is set by the first of them. */
static void set_link(struct simulation *m, const struct scenario_fault *f, uint32_t link)
{
    double slowdown = f->kind == FAULT_LINK ? 1 / f->ratio : 1;
    double extra_s = f->kind == FAULT_LATENCY ? f->time_s : 0;

    for (size_t k = 0; k < m->s->n_faults; k++) {
        const struct scenario_fault *g = &m->s->faults[k];

        if (!m->on[k] || g == f || g->node != f->node || g->where_switch != f->where_switch)
            continue;
        if (g->kind == FAULT_LINK)
            slowdown /= g->ratio;
        else
            extra_s += g->time_s;
    }
    if (link != FABRIC_NO_LINK)
        network_set_link(m->network, link, slowdown, extra_s);
}

static void set_fault(struct simulation *m, const struct scenario_fault *f)
{
    const struct fabric_shape *shape = &m->fabric.shape;
    uint32_t ports = shape->level[1].parents * shape->level[1].parallel;

    if (f->node >= 0) {
        for (uint32_t rail = 0; rail < shape->rails; rail++) {
            set_link(m, f, fabric_nic_link(&m->fabric, (uint32_t)f->node, rail, true));
            set_link(m, f, fabric_nic_link(&m->fabric, (uint32_t)f->node, rail, false));
        }
        return;
    }
    for (uint32_t port = 0; port < ports; port++) {
        set_link(m, f, fabric_switch_link(&m->fabric, 1, (uint32_t)f->where_switch, port, true));
        set_link(m, f, fabric_switch_link(&m->fabric, 1, (uint32_t)f->where_switch, port, false));
    }
}

static void on_step(void *arg, size_t job, uint64_t step)
{
    struct simulation *m = arg;
    bool changed = false;

    for (size_t k = 0; k < m->s->n_faults; k++) {
        const struct scenario_fault *f = &m->s->faults[k];
        bool on = (f->kind == FAULT_LINK || f->kind == FAULT_LATENCY) && fault_is_on(f, step);

        if ((size_t)f->job != job)
            continue;
        changed = changed || on != m->on[k];
        m->on[k] = on;
    }
    if (changed) {
        network_heal(m->network);
        for (size_t k = 0; k < m->s->n_faults; k++) {
            if (m->on[k])
                set_fault(m, &m->s->faults[k]);
        }
    }
    if (m->hooks.step)
        m->hooks.step(m->hooks.arg, job, step);
}

static int on_collective(void *arg, const struct job_collective *c, struct err *err)
{
    struct simulation *m = arg;

    return m->hooks.collective ? m->hooks.collective(m->hooks.arg, c, err) : 0;
}

/* ---- life ---- */

static int open_job(struct simulation *m, size_t i, struct err *err)
{
    struct job_hooks hooks = { on_step, on_collective, m };

    m->place[i] = placement_new(m->s, i);
    if (m->s->jobs[i].sync == SYNC_ASYNCHRONOUS) {
        job_result_init(&m->asynchronous[i], m->place[i]->ranks);
        return 0;
    }
    m->job[i] = job_new(m->s, i, m->place[i], m->network, (enum network_mode)m->s->network, &hooks, err);
    return m->job[i] ? 0 : -1;
}

struct simulation *simulation_new(const struct scenario *s, const struct job_hooks *hooks, struct err *err)
{
    struct simulation *m = xcalloc(1, sizeof(*m));
    struct fabric_shape shape;

    m->s = s;
    if (hooks)
        m->hooks = *hooks;
    shape_of(&shape, s);
    if (fabric_init(&m->fabric, &shape, err) < 0) {
        err_prefix(err, "fabric");
        goto fail;
    }
    m->network = network_new(&m->fabric, 0);
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (open_job(m, i, err) < 0)
            goto fail;
    }
    return m;
fail:
    simulation_free(m);
    return NULL;
}

void simulation_free(struct simulation *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->s->n_jobs; i++) {
        job_free(m->job[i]);
        job_result_clear(&m->asynchronous[i]);
        placement_free(m->place[i]);
    }
    network_free(m->network);
    free(m);
}

/* ---- running ---- */

static int play(struct simulation *m, struct err *err)
{
    struct network_job jobs[SCENARIO_JOBS_MAX];
    struct err why;
    size_t n = 0;

    for (size_t i = 0; i < m->s->n_jobs; i++) {
        if (m->job[i])
            jobs[n++] = (struct network_job){ m->place[i]->ranks, job_next, m->job[i] };
    }
    /* Without an end: ranks wait for one that died, which is what job_played() finds. */
    network_play(m->network, jobs, n, INFINITY, &m->played, &why);
    for (size_t i = 0; i < m->s->n_jobs; i++) {
        if (m->job[i] && job_played(m->job[i], err) < 0)
            return -1;
    }
    return 0;
}

int simulation_run(struct simulation *m, struct err *err)
{
    struct job *alone = NULL;
    size_t n = 0;

    for (size_t i = 0; i < m->s->n_jobs; i++) {
        if (m->job[i]) {
            alone = m->job[i];
            n++;
        } else {
            asynchronous_run(m->s, i, m->place[i], &m->asynchronous[i]);
        }
    }
    if (n > 1)
        return play(m, err);
    return alone ? job_run(alone, err) : 0;
}

const struct job_result *simulation_result(const struct simulation *m, size_t job)
{
    return m->job[job] ? job_result_get(m->job[job]) : &m->asynchronous[job];
}

const struct placement *simulation_placement(const struct simulation *m, size_t job)
{
    return m->place[job];
}

struct network_count simulation_network(const struct simulation *m)
{
    struct network_count sum = m->played;

    for (size_t i = 0; i < m->s->n_jobs; i++) {
        const struct network_count *c;

        if (!m->job[i])
            continue;
        c = &job_result_get(m->job[i])->network;
        sum.mode = c->mode ? c->mode : sum.mode;
        sum.closed |= c->closed;
        sum.shared |= c->shared;
        sum.messages += c->messages;
        sum.walked += c->walked;
        sum.events += c->events;
        sum.solves += c->solves;
    }
    return sum;
}
