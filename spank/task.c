#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity() */
#endif
#include "spank/task.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/config_policy.h"
#include "spank/binding.h"

static int planned = CONFIG_PLACEMENT_OFF;

void task_plan(int placement)
{
    planned = placement;
}

static uint32_t item(spank_t sp, spank_item_t which)
{
    uint32_t value = 0;

    return spank_get_item(sp, which, &value) == ESPANK_SUCCESS ? value : 0;
}

static bool affinity(struct cpuset *s)
{
    *s = (struct cpuset){ 0 };
    if (sched_getaffinity(0, sizeof(s->word), (cpu_set_t *)(void *)s->word) < 0)
        return false;
    cpuset_and(s, s); /* counts them */
    return s->n > 0;
}

static bool set_affinity(const struct cpuset *s)
{
    return sched_setaffinity(0, sizeof(s->word), (const cpu_set_t *)(const void *)s->word) == 0;
}

/* Where the task may run, if Slurm lets it run everywhere that the job has: the kernel leaves out what it has
 * not. */
static bool is_free(struct cpuset *own)
{
    struct cpuset all, most;
    bool known;

    memset(&all, 0xff, sizeof(all));
    if (!affinity(own) || !set_affinity(&all))
        return false;
    known = affinity(&most);
    set_affinity(own);
    return known && !memcmp(own->word, most.word, sizeof(own->word));
}

/* The user bound the task, or threads of his to CPUs by their numbers, or said that nothing is to be
 * bound. */
static const char *decided(spank_t sp)
{
    static const char *const names[] = { "SLURM_CPU_BIND_TYPE", "SLURM_MEM_BIND_TYPE", "OMP_PLACES",
                                         "GOMP_CPU_AFFINITY", "KMP_AFFINITY" };
    char value[4096];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        spank_err_t rc = spank_getenv(sp, names[i], value, sizeof(value));

        if (rc == ESPANK_NOSPACE || (rc == ESPANK_SUCCESS && *value))
            return names[i];
    }
    return NULL;
}

static uint32_t number_of(spank_t sp, const char *name, uint32_t otherwise)
{
    char value[32], *end;
    unsigned long n;

    if (spank_getenv(sp, name, value, sizeof(value)) != ESPANK_SUCCESS)
        return otherwise;
    n = strtoul(value, &end, 10);
    return *value && !*end && n > 0 && n <= CPUSET_MAX ? (uint32_t)n : otherwise;
}

/* "0,1,2,3"; none where it is not such a list. */
static void read_gpus(spank_t sp, struct binding_step *s)
{
    char value[512], *at = value, *end;

    s->n_gpus = 0;
    if (spank_getenv(sp, "SLURM_STEP_GPUS", value, sizeof(value)) != ESPANK_SUCCESS)
        return;
    while (*at >= '0' && *at <= '9' && s->n_gpus < BINDING_GPUS_MAX) {
        s->gpu[s->n_gpus++] = (uint32_t)strtoul(at, &end, 10);
        at = end + (*end == ',');
    }
    if (*at)
        s->n_gpus = 0;
}

void task_bind(spank_t sp)
{
    uint32_t local = item(sp, S_TASK_ID), rank = item(sp, S_TASK_GLOBAL_ID);
    struct binding_step s = { .tasks = item(sp, S_JOB_LOCAL_TASK_COUNT) };
    const char *by = planned == CONFIG_PLACEMENT_OFF ? NULL : decided(sp);
    struct locality *l;
    struct cpuset cpus;
    char text[96];
    bool chosen;

    if (planned == CONFIG_PLACEMENT_OFF)
        return;
    if (by || !is_free(&s.allowed)) {
        slurm_verbose("sync-guard: task %u is not bound to a NUMA node: %s", rank,
                      by ? by : "Slurm has bound it");
        return;
    }
    s.cpus = number_of(sp, "SLURM_CPUS_PER_TASK", 1);
    read_gpus(sp, &s);
    l = locality_new("");
    chosen = binding_choose(&cpus, text, sizeof(text), l, &s, local);
    locality_free(l);
    if (!chosen)
        slurm_verbose("sync-guard: task %u is not bound to a NUMA node: %s", rank, text);
    else if (planned == CONFIG_PLACEMENT_ADVISE)
        slurm_verbose("sync-guard: task %u would be bound to %s with placement=on", rank, text);
    else if (set_affinity(&cpus))
        slurm_verbose("sync-guard: task %u is bound to %s", rank, text);
}
