#include "spank/binding.h"

#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX LOCALITY_NODES_MAX
#define FEW       "a NUMA node has too few CPUs for its tasks"

/* The step's CPUs, by NUMA node. */
struct parts {
    int numa[NODES_MAX]; /* their numbers */
    struct cpuset cpus[NODES_MAX];
    uint32_t n, all;
    int gpu[BINDING_GPUS_MAX]; /* on which part each is; -1: not known */
};

static bool no(char *text, size_t size, const char *why)
{
    snprintf(text, size, "%s", why);
    return false;
}

static void split_cpus(struct parts *p, const struct locality *l, const struct binding_step *s)
{
    p->n = p->all = 0;
    for (int i = 0; i < NODES_MAX; i++) {
        const struct cpuset *node = locality_node(l, i);

        if (!node)
            continue;
        p->cpus[p->n] = *node;
        cpuset_and(&p->cpus[p->n], &s->allowed);
        p->numa[p->n] = i;
        p->all += p->cpus[p->n].n;
        p->n += p->cpus[p->n].n > 0;
    }
    for (size_t i = 0; i < s->n_gpus; i++) {
        int numa = locality_gpu(l, s->gpu[i]);

        p->gpu[i] = -1;
        for (uint32_t part = 0; part < p->n; part++)
            if (p->numa[part] == numa)
                p->gpu[i] = (int)part;
    }
}

/* The part where all GPUs of the task are; -1: not known, on several, or GPUs cannot be dealt evenly. */
static int by_gpus(const struct parts *p, const struct binding_step *s, uint32_t task)
{
    size_t first = task * s->n_gpus / s->tasks, each = s->n_gpus > s->tasks ? s->n_gpus / s->tasks : 1;

    if (!s->n_gpus || (s->n_gpus % s->tasks && s->tasks % s->n_gpus))
        return -1;
    for (size_t i = first + 1; i < first + each; i++)
        if (p->gpu[i] != p->gpu[first])
            return -1;
    return p->gpu[first];
}

/* The part that has the task's share of all CPUs. */
static int in_order(const struct parts *p, const struct binding_step *s, uint32_t task)
{
    uint32_t cpu = (uint32_t)((uint64_t)task * p->all / s->tasks);
    int i = 0;

    while (cpu >= p->cpus[i].n)
        cpu -= p->cpus[i++].n;
    return i;
}

/* The part of the task; -1: some part would have too few CPUs for its tasks, or not all tasks have one. */
static int deal_part(const struct parts *p, const struct binding_step *s, bool gpus, uint32_t local)
{
    uint32_t tasks[NODES_MAX] = { 0 };
    int mine = -1;

    for (uint32_t task = 0; task < s->tasks; task++) {
        int part = gpus ? by_gpus(p, s, task) : in_order(p, s, task);

        if (part < 0 || (uint64_t)++tasks[part] * s->cpus > p->cpus[part].n)
            return -1;
        if (task == local)
            mine = part;
    }
    return mine;
}

/* Fewer tasks than parts. */
static bool take_several(struct cpuset *cpus, char *text, size_t size, const struct parts *p,
                         const struct binding_step *s, uint32_t local)
{
    uint32_t each = p->n / s->tasks;

    if (p->n % s->tasks)
        return no(text, size, "NUMA nodes cannot be shared out evenly");
    *cpus = (struct cpuset){ 0 };
    for (uint32_t i = local * each; i < (local + 1) * each; i++)
        cpuset_or(cpus, &p->cpus[i]);
    snprintf(text, size, "NUMA nodes %d to %d", p->numa[local * each], p->numa[(local + 1) * each - 1]);
    return cpus->n >= s->cpus || no(text, size, FEW);
}

static bool choose_cpus(struct cpuset *cpus, char *text, size_t size, const struct parts *p,
                        const struct binding_step *s, uint32_t local)
{
    int part;

    if (p->n < 2 || p->all != s->allowed.n)
        return no(text, size,
                  !p->n      ? "NUMA nodes are not known"
                  : p->n < 2 ? "there is one NUMA node"
                             : "some CPUs are on no NUMA node");
    part = deal_part(p, s, true, local);
    if (part >= 0) {
        snprintf(text, size, "NUMA node %d (its GPU's)", p->numa[part]);
    } else {
        if (s->tasks < p->n)
            return take_several(cpus, text, size, p, s, local);
        part = deal_part(p, s, false, local);
        if (part < 0)
            return no(text, size, FEW);
        snprintf(text, size, "NUMA node %d", p->numa[part]);
    }
    *cpus = p->cpus[part];
    return true;
}

bool binding_choose(struct cpuset *cpus, char *text, size_t size, const struct locality *l,
                    const struct binding_step *s, uint32_t local)
{
    struct parts *p;
    bool chosen;

    if (s->tasks < 2 || s->tasks > BINDING_TASKS_MAX || local >= s->tasks || s->n_gpus > BINDING_GPUS_MAX)
        return no(text, size, s->tasks < 2 ? "there is one task" : "its number of tasks is out of range");
    p = calloc(1, sizeof(*p)); /* too large for a stack that is not ours */
    if (!p)
        return no(text, size, "out of memory");
    split_cpus(p, l, s);
    chosen = choose_cpus(cpus, text, size, p, s, local);
    free(p);
    return chosen;
}
