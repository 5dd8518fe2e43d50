#include "spank/advice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology/slurm_conf.h"
#include "topology/topology_conf.h"
#include "topology/topology_yaml.h"

char *advice_variable(enum command_program program, const char *name, char buf[ADVICE_NAME_SIZE])
{
    static const char *const prefixes[] = { "SLURM", "SBATCH", "SALLOC" };

    snprintf(buf, ADVICE_NAME_SIZE, "%s_%s", prefixes[program], name);
    return buf;
}

const char *advice_partition(const struct command *c, tasks_env_fn *env)
{
    char name[ADVICE_NAME_SIZE];

    return c->partition ? c->partition : env(advice_variable(c->program, "PARTITION", name));
}

static int check_user(const struct command *c, tasks_env_fn *env, struct err *err)
{
    static const char *const decides[] = {
        "REQ_SWITCH",         "WAIT4SWITCH", "CONSTRAINT", "CLUSTERS",
        "CLUSTER_CONSTRAINT", "RESERVATION", "SPREAD_JOB", "USE_MIN_NODES"
    };
    static const char *const shared[] = { "SLURM_HOSTFILE", "SLURM_CLUSTERS" };
    char name[ADVICE_NAME_SIZE];

    if (c->switches)
        return err_set(err, "--switches is given");
    if (c->decided)
        return err_set(err, "--%s is given", c->decided);
    if (c->limits)
        return err_set(err, "--%s is given", c->limits);
    for (size_t i = 0; i < sizeof(decides) / sizeof(decides[0]); i++)
        if (env(advice_variable(c->program, decides[i], name)))
            return err_set(err, "%s is set", name);
    for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
        if (env(shared[i]))
            return err_set(err, "%s is set", shared[i]);
    if (c->unsure && !strcmp(c->unsure, ":"))
        return err_set(err, "the job is heterogeneous");
    if (c->unsure)
        return err_set(err, "the number of nodes is not certain with --%s", c->unsure);
    return 0;
}

/* The least number of nodes that the job gets; 0: not known. */
static uint32_t nodes_of(const struct command *c, tasks_env_fn *env)
{
    bool srun = c->program == COMMAND_SRUN;
    const char *nodes = c->nodes                             ? c->nodes
                        : srun && env("SLURM_JOB_NUM_NODES") ? env("SLURM_JOB_NUM_NODES")
                        : srun                               ? env("SLURM_NNODES")
                                                             : NULL;
    const char *tasks = c->tasks || !srun ? c->tasks : env("SLURM_NTASKS");
    const char *per_node = c->tasks_per_node || !srun ? c->tasks_per_node : env("SLURM_NTASKS_PER_NODE");

    if (nodes)
        return tasks_number(nodes);
    if (!tasks_number(tasks) || !tasks_number(per_node))
        return 0;
    return (tasks_number(tasks) + tasks_number(per_node) - 1) / tasks_number(per_node);
}

static int count_leaves(struct advice *a, const struct command *c, const struct advice_files *files,
                        tasks_env_fn *env, struct err *err)
{
    struct slurm_partition p = { .nodes = NULL };
    struct topology *t = NULL;
    int rc = -1;

    a->result = ADVICE_FAILED;
    if (slurm_conf_read(files->slurm, advice_partition(c, env), &p, err) == 0 &&
        (t = topology_conf_read(files->topology, p.topology, err)))
        rc = 0;
    if (t) {
        a->result = ADVICE_NONE;
        if (topology_needed(t, err) < 0)
            rc = -1;
        else if (p.nodes && !*p.nodes)
            rc = err_set(err, "%s: the partition has no nodes", files->slurm);
        else if (p.nodes && strchr(p.nodes, '{'))
            rc = err_set(err, "%s: functions in a partition's Nodes= are not read", files->slurm);
        else if (topology_yaml_is(files->topology) ? t->blocks : !p.tree)
            rc = err_set(err, "Slurm does not use topology/tree");
        else
            rc = leaves_count(t, p.nodes, a->nodes, &a->leaves, err);
    }
    topology_free(t);
    slurm_partition_free(&p);
    return rc;
}

static int find_leaves(struct advice *a, const struct command *c, const struct advice_files *files,
                       tasks_env_fn *env, struct err *err)
{
    const char *const needed[] = { files->topology, files->slurm };
    char name[ADVICE_NAME_SIZE];
    const char *partition = advice_partition(c, env),
               *set = env(advice_variable(c->program, "PARTITION", name));

    if (check_user(c, env, err) < 0)
        return -1;
    if (partition && strchr(partition, ','))
        return err_set(err, "several partitions are given");
    if (partition && set && strcmp(partition, set) != 0)
        /* a script's gives way to the variable, and a command line's does not */
        return err_set(err, "two partitions are given");
    a->nodes = nodes_of(c, env);
    if (a->nodes == 0)
        return err_set(err, "the number of nodes is not certain: -N says it");
    if (a->nodes == 1)
        return err_set(err, "the job asks for one node");
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (access(needed[i], F_OK) < 0 && errno == ENOENT)
            return err_set(err, "there is no %.200s", needed[i]);
    if (count_leaves(a, c, files, env, err) < 0)
        return -1;
    if (a->leaves.fewest == a->leaves.all)
        return a->leaves.all == 1 ? err_set(err, "all nodes are below one switch")
                                  : err_set(err, "the job needs all %u leaf switches", a->leaves.all);
    return 0;
}

void advice_choose(struct advice *a, const struct command *c, const struct advice_files *files,
                   tasks_env_fn *env)
{
    struct err err = { "" };

    memset(a, 0, sizeof(*a));
    if (find_leaves(a, c, files, env, &err) == 0)
        a->result = ADVICE_FITS;
    else
        snprintf(a->text, sizeof(a->text), "%s", err.text);
}
