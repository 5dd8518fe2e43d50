#include "spank/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "spank/stepdir.h"

/* ---- names ---- */

struct listing {
    struct tasks *t;
    size_t cap, used, room; /* nodes; bytes of names */
};

static int add_name(void *arg, const char *name, struct err *err)
{
    struct listing *l = arg;
    size_t bytes = strlen(name) + 1;

    if (l->t->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        struct layout_node *more = reallocarray(l->t->node, cap, sizeof(*more));

        if (!more)
            return err_set(err, "out of memory");
        l->t->node = more;
        l->cap = cap;
    }
    if (l->room - l->used < bytes) {
        size_t room = 2 * l->room + 4096;
        char *more = realloc(l->t->names, room);

        if (!more)
            return err_set(err, "out of memory");
        l->t->names = more;
        l->room = room;
    }
    memcpy(l->t->names + l->used, name, bytes);
    l->used += bytes;
    l->t->node[l->t->n++] = (struct layout_node){ NULL, 1 };
    return 0;
}

static int read_names(struct tasks *t, const char *list, struct err *err)
{
    struct listing l = { .t = t };
    const char *at;

    if (hostlist_each(list, TOPOLOGY_NODES_MAX, add_name, &l, err) < 0)
        return err_prefix(err, "SLURM_JOB_NODELIST");
    at = t->names;
    for (size_t i = 0; i < t->n; i++, at += strlen(at) + 1)
        t->node[i].name = at; /* now that they stay where they are */
    return 0;
}

/* ---- numbers ---- */

uint32_t tasks_number(const char *text)
{
    char *end;
    unsigned long n;

    if (!text || *text < '0' || *text > '9')
        return 0;
    n = strtoul(text, &end, 10);
    return *end || n > PATTERN_RANKS_MAX ? 0 : (uint32_t)n;
}

/* Slurm's "2(x3),1": into the ranks of the nodes, and *sum.  False: malformed, or not as many as nodes. */
static bool counts(const struct tasks *t, const char *text, uint32_t *count, uint32_t *sum)
{
    size_t i = 0;

    *sum = 0;
    while (text && *text >= '0' && *text <= '9') {
        char *end;
        unsigned long n = strtoul(text, &end, 10), times = 1;

        if (end[0] == '(' && end[1] == 'x') {
            times = strtoul(end + 2, &end, 10);
            if (*end++ != ')')
                return false;
        }
        if (n == 0 || n > PATTERN_RANKS_MAX || times == 0 || times > t->n - i ||
            n * times > PATTERN_RANKS_MAX - *sum)
            return false;
        *sum += (uint32_t)(n * times);
        while (times--)
            count[i++] = (uint32_t)n;
        if (!*end)
            return i == t->n;
        text = *end == ',' ? end + 1 : NULL;
    }
    return false;
}

/* ---- what was decided ---- */

static int check_user(const struct command *c, tasks_env_fn *env, struct err *err)
{
    static const char *const decides[] = { "SLURM_HOSTFILE", "SLURM_DISTRIBUTION", "SLURM_SRUN_MULTI",
                                           "SLURM_SPREAD_JOB" };
    static const char *const unsure[] = { "SLURM_HET_SIZE",          "SLURM_NTASKS_PER_CORE",
                                          "SLURM_NTASKS_PER_SOCKET", "SLURM_NTASKS_PER_GPU",
                                          "SLURM_THREADS_PER_CORE",  "SLURM_USE_MIN_NODES" };
    const char *step = env("SLURM_STEP_ID");

    if (c->decided)
        return err_set(err, "--%s is given", c->decided);
    for (size_t i = 0; i < sizeof(decides) / sizeof(decides[0]); i++)
        if (env(decides[i]))
            return err_set(err, "%s is set", decides[i]);
    if (c->unsure && !strcmp(c->unsure, ":"))
        return err_set(err, "the step is heterogeneous");
    if (c->unsure)
        return err_set(err, "the step's size is not certain with --%s", c->unsure);
    for (size_t i = 0; i < sizeof(unsure) / sizeof(unsure[0]); i++)
        if (env(unsure[i]))
            return err_set(err, "the step's size is not certain with %s", unsure[i]);
    if (step && strtoul(step, NULL, 10) < STEP_FIRST_SPECIAL)
        return err_set(err, "srun was started inside a step");
    return 0;
}

static int check_nodes(const struct tasks *t, const struct command *c, tasks_env_fn *env, struct err *err)
{
    const char *const given[] = { c->nodes, env("SLURM_JOB_NUM_NODES"), env("SLURM_NNODES") };

    if (t->n < 2)
        return err_set(err, "the allocation has one node");
    for (size_t i = c->nodes ? 0 : 1; i < (c->nodes ? 1 : 3); i++)
        if (given[i] && tasks_number(given[i]) != t->n)
            return err_set(err, "the step may have other nodes than the %zu of the allocation (%.40s)", t->n,
                           given[i]);
    return 0;
}

/* Fill in the ranks of each node; count is scratch. False: it is not certain what Slurm would do. */
static bool spread(struct tasks *t, const struct command *c, tasks_env_fn *env, uint32_t *count)
{
    const char *per_node = c->tasks_per_node ? c->tasks_per_node : env("SLURM_NTASKS_PER_NODE");
    uint32_t nodes = (uint32_t)t->n, sum;

    if (t->total == nodes || (t->total % nodes == 0 && tasks_number(per_node) == t->total / nodes)) {
        for (size_t i = 0; i < t->n; i++)
            count[i] = t->total / nodes;
    } else if (per_node || c->cpus || env("SLURM_CPUS_PER_TASK")) {
        return false;
    } else if (!(counts(t, env("SLURM_JOB_CPUS_PER_NODE"), count, &sum) && sum == t->total) &&
               !(counts(t, env("SLURM_TASKS_PER_NODE"), count, &sum) && sum == t->total)) {
        return false;
    }
    for (size_t i = 0; i < t->n; i++)
        t->node[i].ranks = count[i];
    return true;
}

static int read_tasks(struct tasks *t, const struct command *c, tasks_env_fn *env, struct err *err)
{
    const char *per_node = c->tasks_per_node ? c->tasks_per_node : env("SLURM_NTASKS_PER_NODE");
    const char *given = c->tasks ? c->tasks : env("SLURM_NTASKS") ? env("SLURM_NTASKS") : env("SLURM_NPROCS");
    uint32_t *count;
    bool certain;

    if (given)
        t->total = tasks_number(given);
    else if (!per_node || tasks_number(per_node) == 1) /* else Slurm would read the file's first lines only */
        t->total = (uint32_t)t->n;
    if (t->total == 0)
        return err_set(err, "the number of tasks is not certain: -n says it");
    if (t->total < t->n)
        return err_set(err, "there are fewer tasks than nodes");
    count = calloc(t->n, sizeof(*count));
    if (!count)
        return err_set(err, "out of memory");
    certain = spread(t, c, env, count);
    free(count);
    return certain ? 0
                   : err_set(err, "how many tasks each node gets is not certain: --ntasks-per-node says it");
}

int tasks_read(struct tasks *t, const struct command *c, tasks_env_fn *env, struct err *err)
{
    const char *list = env("SLURM_JOB_NODELIST");

    memset(t, 0, sizeof(*t));
    if (!env("SLURM_JOB_ID") || !list || !*list)
        return err_set(err, "srun was not started inside an allocation");
    if (check_user(c, env, err) == 0 && read_names(t, list, err) == 0 && check_nodes(t, c, env, err) == 0 &&
        read_tasks(t, c, env, err) == 0)
        return 0;
    tasks_free(t);
    return -1;
}

void tasks_free(struct tasks *t)
{
    free(t->node);
    free(t->names);
    memset(t, 0, sizeof(*t));
}
