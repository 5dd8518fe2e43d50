#include "spank/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology/arrange.h"
#include "topology/topology_conf.h"

/* What is gained is at least 1 %: less is beyond what the model knows. */
#define LEAST_GAIN 1.01

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

static int choose_order(struct placement *p, const struct pattern *pattern, const struct topology *t, const struct tasks *tasks,
                        struct err *err)
{
    struct layout *l = layout_new(t, tasks->node, tasks->n, err);
    uint32_t *order = calloc(tasks->n, sizeof(*order));
    char name[PATTERN_NAME_SIZE];
    struct arranged a;
    int rc = -1;

    if (!order)
        err_set(err, "out of memory");
    if (!l || !order || arrange(l, pattern, PLACEMENT_WORK, order, &a, err) < 0)
        goto done;
    rc = 0;
    p->slurm_s = a.slurm.time_s;
    p->chosen_s = a.chosen.time_s;
    pattern_name(pattern, name);
    p->result = PLACEMENT_SLURM;
    snprintf(p->text, sizeof(p->text), "%s, %u ranks on %zu nodes: no order of the nodes is known to cost less than Slurm's", name,
             tasks->total, tasks->n);
    if (!(p->chosen_s * LEAST_GAIN < p->slurm_s))
        goto done;
    write_hosts(p, l, order);
    if (!p->hosts) {
        rc = err_set(err, "out of memory");
        goto done;
    }
    p->result = PLACEMENT_BETTER;
    snprintf(p->text, sizeof(p->text), "%s, %u ranks on %zu nodes: a step's communication costs %.2f times less than in Slurm's order by the model",
             name, tasks->total, tasks->n, p->slurm_s / p->chosen_s);
done:
    free(order);
    layout_free(l);
    return rc;
}

void placement_choose(struct placement *p, const struct pattern *pattern, const char *topology, const char *words, size_t bytes,
                      tasks_env_fn *env)
{
    struct err err = { "" };
    struct tasks tasks = { 0 };
    struct topology *t = NULL;
    struct command c;

    memset(p, 0, sizeof(*p));
    p->result = PLACEMENT_LEFT;
    if (command_read(&c, words, bytes, &err) < 0 || tasks_read(&tasks, &c, env, &err) < 0)
        goto done;
    if (access(topology, F_OK) < 0 && errno == ENOENT) {
        err_set(&err, "there is no %s", topology);
        goto done;
    }
    p->result = PLACEMENT_FAILED;
    t = topology_conf_read(topology, &err);
    if (t && choose_order(p, pattern, t, &tasks, &err) < 0)
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
