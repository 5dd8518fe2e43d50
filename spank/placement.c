#include "spank/placement.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "topology/arrange.h"
#include "topology/slow_links.h"
#include "topology/slurm_conf.h"
#include "topology/topology_conf.h"
#include "topology/topology_yaml.h"

/* What is gained is at least 1 %: less is beyond what the model knows. */
#define LEAST_GAIN 1.01
#define CLOCKS_S   300.0 /* that hosts may differ by: beyond, munge lets no job start */

static void write_hosts(struct placement *p, const struct layout *l, const uint32_t *order)
{
    FILE *f = open_memstream(&p->hosts, &p->hosts_bytes);

    if (!f)
        return;
    layout_write_hosts(l, order, f);
    if (fclose(f) != 0) {
        free(p->hosts);
        p->hosts = NULL;
    }
}

/* The links that the file names slow become slow; note says so. */
static int slow_down(struct topology *t, const char *path, char *note, size_t size, struct err *err)
{
    struct slow_links slow;
    double age_s;
    int n = 0;

    *note = '\0';
    if (!path || (access(path, F_OK) < 0 && errno == ENOENT))
        return 0;
    if (slow_links_read(&slow, path, err) < 0)
        return -1;
    age_s = wall_s() - slow.measured_s;
    if (age_s > SLOW_LINKS_AGE_S)
        snprintf(note, size, "; %.200s is %.0f hours old and was not used (limit: %.0f)", path, age_s / 3600,
                 SLOW_LINKS_AGE_S / 3600);
    else if (age_s < -CLOCKS_S)
        snprintf(note, size, "; %.200s is of the future and was not used", path);
    else if ((n = slow_links_apply(&slow, t, err)) > 0)
        snprintf(note, size, "; %d of the cluster's links %s slow %.0f hour%s ago", n,
                 n == 1 ? "was" : "were", fmax(0, age_s / 3600), lround(age_s / 3600) == 1 ? "" : "s");
    slow_links_free(&slow);
    topology_assume(t, &topology_usual);
    return n < 0 ? -1 : 0;
}

/* What each algorithm costs in Slurm's order and in this one. */
static int cost_algorithms(struct placement *p, struct layout *l, const uint32_t *order, struct err *err)
{
    static const enum pattern_kind kinds[ALGORITHMS] = { [ALGORITHM_DOUBLING] = PATTERN_DOUBLING,
                                                         [ALGORITHM_RABENSEIFNER] = PATTERN_HALVING,
                                                         [ALGORITHM_RING] = PATTERN_RING };
    uint32_t *slurm = calloc(l->nodes, sizeof(*slurm)), *slot_node = calloc(l->ranks, sizeof(*slot_node));
    struct {
        const uint32_t *order;
        struct algorithm_cost *cost;
    } both[] = { { slurm, p->slurm }, { order, p->chosen } };
    bool done = slurm && slot_node;

    for (uint32_t i = 0; done && i < l->nodes; i++)
        slurm[i] = i;
    for (size_t a = 0; done && a < ALGORITHMS; a++) {
        struct flows *f = layout_flows(l, &(struct pattern){ .kind = kinds[a], .bytes = 1 });

        done = f != NULL;
        for (size_t k = 0; done && k < 2; k++) {
            struct layout_cost c;

            layout_slots(l, f, both[k].order, slot_node);
            layout_cost(l, f, slot_node, &c);
            both[k].cost[a] = (struct algorithm_cost){ c.latency_s, c.time_s - c.latency_s };
        }
        flows_free(f);
    }
    free(slurm);
    free(slot_node);
    return done ? 0 : err_set(err, "out of memory");
}

static int choose_order(struct placement *p, const char *from, const char *note, const struct topology *t,
                        const struct tasks *tasks, bool algorithms, struct err *err)
{
    const struct pattern *pattern = &p->pattern;
    struct layout *l = layout_new(t, tasks->node, tasks->n, err);
    uint32_t *order = calloc(tasks->n, sizeof(*order));
    char name[PATTERN_NAME_SIZE];
    struct arranged a;
    int rc = -1;

    if (!order)
        err_set(err, "out of memory");
    if (!l || !order || arrange(l, pattern, PLACEMENT_WORK, order, &a, err) < 0 ||
        (algorithms && cost_algorithms(p, l, order, err) < 0))
        goto done;
    rc = 0;
    p->ranks = tasks->total;
    p->nodes = (uint32_t)tasks->n;
    p->slurm_s = a.slurm.time_s;
    p->chosen_s = a.chosen.time_s;
    pattern_name(pattern, name);
    p->result = PLACEMENT_SLURM;
    snprintf(p->text, sizeof(p->text),
             "%s%s, %u ranks on %zu nodes: no order of the nodes is known to cost less than Slurm's%s", name,
             from, tasks->total, tasks->n, note);
    if (!(p->chosen_s * LEAST_GAIN < p->slurm_s))
        goto done;
    write_hosts(p, l, order);
    if (!p->hosts) {
        rc = err_set(err, "out of memory");
        goto done;
    }
    p->result = PLACEMENT_BETTER;
    snprintf(
        p->text, sizeof(p->text),
        "%s%s, %u ranks on %zu nodes: a step's communication costs %.2f times less than in Slurm's order by the model%s",
        name, from, tasks->total, tasks->n, p->slurm_s / p->chosen_s, note);
done:
    free(order);
    layout_free(l);
    return rc;
}

/* The topology of the job's partition, by slurm.conf.  Where that is here and does not have it, Slurm's order
 * stays; without it the default topology is meant. */
static struct topology *read_topology(struct placement *p, const struct placement_files *files,
                                      tasks_env_fn *env, struct err *err)
{
    const char *partition = env("SLURM_JOB_PARTITION");
    struct slurm_partition its = { .nodes = NULL };
    struct topology *t;

    p->result = PLACEMENT_LEFT;
    if (partition && topology_yaml_is(files->topology) && access(files->slurm, F_OK) == 0 &&
        slurm_conf_read(files->slurm, partition, &its, err) < 0)
        return NULL;
    p->result = PLACEMENT_FAILED;
    t = topology_conf_read(files->topology, its.topology, err);
    slurm_partition_free(&its);
    if (!t || topology_needed(t, err) == 0)
        return t;
    p->result = PLACEMENT_LEFT;
    topology_free(t);
    return NULL;
}

void placement_choose(struct placement *p, const struct pattern *pattern, placement_earlier_fn *earlier,
                      const struct placement_files *files, bool algorithms, const char *words, size_t bytes,
                      tasks_env_fn *env)
{
    struct err err = { "" };
    struct tasks tasks = { 0 };
    const char *name, *from = "";
    struct topology *t = NULL;
    struct command c;
    char note[320];

    memset(p, 0, sizeof(*p));
    p->pattern = *pattern;
    p->result = PLACEMENT_LEFT;
    if (command_read(&c, words, bytes, &err) < 0 || tasks_read(&tasks, &c, env, &err) < 0)
        goto done;
    if (access(files->topology, F_OK) < 0 && errno == ENOENT) {
        err_set(&err, "there is no %s", files->topology);
        goto done;
    }
    p->nodes_given = c.nodes;
    t = read_topology(p, files, env, &err);
    name = c.job_name ? c.job_name : env("SLURM_JOB_NAME");
    if (t && earlier && name && earlier(&p->pattern, name, tasks.total, (uint32_t)tasks.n))
        from = " (from the job's last run)";
    if (t && (slow_down(t, files->measured, note, sizeof(note), &err) < 0 ||
              choose_order(p, from, note, t, &tasks, algorithms, &err) < 0))
        p->result = PLACEMENT_FAILED;
done:
    if (p->result <= PLACEMENT_FAILED)
        snprintf(p->text, sizeof(p->text), "%s", err.text);
    tasks_free(&tasks);
    topology_free(t);
}

void placement_free(struct placement *p)
{
    free(p->hosts);
    p->hosts = NULL;
}
