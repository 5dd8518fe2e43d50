#include "sim/simulation.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/asynchronous.h"
#include "sim/noise.h"

/* of a switch: as many spines as a scenario may have, both directions */
#define LINKS_MAX (2 * 4096u)

struct simulation {
    const struct scenario *s;
    struct sim_job_hooks hooks; /* the caller's */
    struct fabric fabric;
    struct network *network;
    struct placement *place[SCENARIO_JOBS_MAX];
    struct sim_job *job[SCENARIO_JOBS_MAX]; /* NULL: asynchronous */
    struct sim_job_result asynchronous[SCENARIO_JOBS_MAX];
    bool on[SCENARIO_FAULTS_MAX];        /* faults of links, now */
    double traffic[SCENARIO_NOISES_MAX]; /* noise of links, now: time over the usual */
    double normal[SCENARIO_NOISES_MAX];  /* its autoregression */
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
    if (f->kind != FABRIC_FLAT)
        shape->level[1].bytes_per_s = f->uplink_bytes_per_s;
    if (f->kind == FABRIC_FATTREE) { /* the level above the spines: leaves and spines become pods */
        uint32_t pods = (uint32_t)((scenario_switches(f) + f->leaves_per_pod - 1) / f->leaves_per_pod);

        shape->levels = 3;
        shape->level[1].children = (uint32_t)f->leaves_per_pod;
        shape->level[2] =
            (struct fabric_level){ pods, (uint32_t)f->top_cables, f->latency_s, f->top_bytes_per_s };
    }
    shape->ranks_per_node = placement_ranks_per_node(s);
    shape->rails = (uint32_t)f->rails;
    shape->node_latency_s = f->local_latency_s;
    shape->node_bytes_per_s = f->local_bytes_per_s;
}

/* ---- faults of links ---- */

/* Whether both name the same link. */
static bool same_place(int node, int where_switch, int other_node, int other_switch)
{
    return node == other_node && where_switch == other_switch;
}

/* Slowdown and extra latency of one place's links, by all its faults and noise. */
static void trouble(const struct simulation *m, int node, int where_switch, double *slowdown, double *extra_s)
{
    *slowdown = 1;
    *extra_s = 0;
    for (size_t k = 0; k < m->s->n_faults; k++) {
        const struct scenario_fault *f = &m->s->faults[k];

        if (!m->on[k] || !same_place(node, where_switch, f->node, f->where_switch))
            continue;
        if (f->kind == FAULT_LINK)
            *slowdown /= f->ratio;
        else
            *extra_s += f->time_s;
    }
    for (size_t k = 0; k < m->s->n_noises; k++) {
        const struct scenario_noise *n = &m->s->noises[k];

        if (n->scope == SCOPE_LINK && same_place(node, where_switch, n->node, n->where_switch))
            *slowdown *= m->traffic[k];
    }
}

/* List both directions of a node's links, or of a switch's uplinks. */
static uint32_t links_of(const struct simulation *m, int node, int where_switch, uint32_t *links)
{
    const struct fabric_shape *shape = &m->fabric.shape;
    uint32_t ports = node >= 0 ? shape->rails : shape->level[1].parents, n = 0;

    for (uint32_t port = 0; port < ports; port++) {
        for (int up = 0; up < 2; up++)
            links[n++] = node >= 0 ? fabric_nic_link(&m->fabric, (uint32_t)node, port, up)
                                   : fabric_leaf_link(&m->fabric, (uint32_t)where_switch, port, up);
    }
    return n;
}

static void set_links(struct simulation *m, int node, int where_switch)
{
    uint32_t links[LINKS_MAX], n = links_of(m, node, where_switch, links);
    double slowdown, extra_s;

    trouble(m, node, where_switch, &slowdown, &extra_s);
    for (uint32_t i = 0; i < n; i++)
        network_set_link(m->network, links[i], slowdown, extra_s);
}

/* Whether faults of links begin or end with this step of the job. */
static bool faults_change(struct simulation *m, size_t job, uint64_t step)
{
    bool changed = false;

    for (size_t k = 0; k < m->s->n_faults; k++) {
        const struct scenario_fault *f = &m->s->faults[k];
        bool on = (f->kind == FAULT_LINK || f->kind == FAULT_LATENCY) && noise_fault_is_on(f, step);

        if ((size_t)f->job != job)
            continue;
        changed = changed || on != m->on[k];
        m->on[k] = on;
    }
    return changed;
}

/* Apply noise to the fabric's loss. */
static void set_incast(struct simulation *m)
{
    double loss = m->s->fabric.loss;

    for (size_t k = 0; k < m->s->n_noises; k++)
        loss *= m->s->noises[k].scope == SCOPE_LOSS ? m->traffic[k] : 1;
    network_set_incast(m->network, (uint32_t)m->s->fabric.buffer, loss);
}

static bool traffic_changes(struct simulation *m, size_t job, uint64_t step)
{
    bool changed = false;

    for (size_t k = 0; k < m->s->n_noises; k++) {
        const struct scenario_noise *n = &m->s->noises[k];
        struct random r;

        if ((size_t)n->job != job || (n->scope != SCOPE_LINK && n->scope != SCOPE_LOSS))
            continue;
        r = noise_random(m->s, k);
        m->traffic[k] = noise_value(n, &r, 0, step, n->autocorrelation > 0 ? &m->normal[k] : NULL);
        changed = true;
    }
    return changed;
}

static void on_step(void *arg, size_t job, uint64_t step)
{
    struct simulation *m = arg;
    bool faults = faults_change(m, job, step), traffic = traffic_changes(m, job, step);

    if (faults || traffic) {
        network_heal(m->network);
        for (size_t k = 0; k < m->s->n_faults; k++) {
            if (m->on[k])
                set_links(m, m->s->faults[k].node, m->s->faults[k].where_switch);
        }
        for (size_t k = 0; k < m->s->n_noises; k++) {
            if (m->s->noises[k].scope == SCOPE_LINK)
                set_links(m, m->s->noises[k].node, m->s->noises[k].where_switch);
        }
        set_incast(m);
    }
    if (m->hooks.step)
        m->hooks.step(m->hooks.arg, job, step);
}

static int on_collective(void *arg, const struct sim_job_collective *c, struct err *err)
{
    struct simulation *m = arg;

    return m->hooks.collective ? m->hooks.collective(m->hooks.arg, c, err) : 0;
}

/* ---- new and free ---- */

struct simulation *simulation_new(const struct scenario *s, const struct sim_job_hooks *hooks,
                                  struct err *err)
{
    struct simulation *m = xcalloc(1, sizeof(*m));
    struct fabric_shape shape;

    m->s = s;
    for (size_t k = 0; k < s->n_noises; k++)
        m->traffic[k] = 1;
    if (hooks)
        m->hooks = *hooks;
    shape_of(&shape, s);
    if (fabric_init(&m->fabric, &shape, err) < 0) {
        err_prefix(err, "fabric");
        free(m);
        return NULL;
    }
    m->network = network_new(&m->fabric);
    for (size_t k = 0; k < s->n_gates; k++) {
        const struct scenario_gate *g = &s->gates[k];
        uint32_t links[LINKS_MAX], n = links_of(m, g->node, g->where_switch, links);

        for (uint32_t i = 0; i < n; i++)
            network_set_gate(m->network, links[i], (uint32_t)g->limit, g->gap_s);
    }
    set_incast(m);
    for (size_t i = 0; i < s->n_jobs; i++) {
        m->place[i] = placement_new(s, i);
        if (s->jobs[i].sync == SYNC_ASYNCHRONOUS)
            sim_job_result_init(&m->asynchronous[i], m->place[i]->ranks);
        else
            m->job[i] = sim_job_open(s, i, m->place[i], m->network,
                                     &(struct sim_job_hooks){ on_step, on_collective, m });
    }
    return m;
}

void simulation_free(struct simulation *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->s->n_jobs; i++) {
        sim_job_close(m->job[i]);
        sim_job_result_clear(&m->asynchronous[i]);
        placement_free(m->place[i]);
    }
    network_free(m->network);
    free(m);
}

/* ---- run ---- */

int simulation_run(struct simulation *m, struct err *err)
{
    struct network_job jobs[SCENARIO_JOBS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < m->s->n_jobs; i++) {
        if (m->job[i])
            jobs[n++] = (struct network_job){ sim_job_actors(m->job[i]), sim_job_next, m->job[i] };
        else
            asynchronous_run(m->s, i, m->place[i], &m->asynchronous[i]);
    }
    if (n < 2)
        return n ? sim_job_run(jobs[0].arg, err) : 0;
    network_play(m->network, jobs, n, &m->played);
    for (size_t i = 0; i < n; i++) {
        if (sim_job_played(jobs[i].arg, err) < 0)
            return -1;
    }
    return 0;
}

const struct sim_job_result *simulation_result(const struct simulation *m, size_t job)
{
    return m->job[job] ? sim_job_result_get(m->job[job]) : &m->asynchronous[job];
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
        c = &sim_job_result_get(m->job[i])->network;
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
