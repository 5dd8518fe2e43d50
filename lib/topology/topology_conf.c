#include "topology/topology_conf.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "topology/slurm_conf.h"

/* Stands above all blocks: no switch of a file can be called this. */
#define BLOCKS_ROOT "(between blocks)"

enum { SWITCH_NAME, BLOCK_NAME, NODES, SWITCHES, LINK_SPEED, BLOCK_SIZES, KEYS };
static const char *const keys[KEYS] = { "SwitchName", "BlockName", "Nodes",
                                        "Switches",   "LinkSpeed", "BlockSizes" };

struct reading {
    struct topology *t;
    bool trees, blocks;
};

static int read_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct reading *r = arg;
    const struct conf_pair *given[KEYS] = { NULL }, *first = &line->pairs[0], *name;
    const char *text[KEYS] = { NULL };
    double speed = NAN;
    char *end;

    for (size_t i = 0; i < line->n; i++) {
        int k = 0;

        while (k < KEYS && strcasecmp(line->pairs[i].key, keys[k]) != 0)
            k++;
        if (k == KEYS)
            return conf_error(
                line, &line->pairs[i], err,
                "SwitchName with Nodes or Switches and LinkSpeed, BlockName with Nodes, and BlockSizes are accepted");
        if (given[k])
            return conf_error(line, &line->pairs[i], err, "%s is given twice", keys[k]);
        given[k] = &line->pairs[i];
        text[k] = given[k]->value;
    }
    if (given[BLOCK_SIZES] && line->n == 1)
        return 0;
    name = given[SWITCH_NAME] ? given[SWITCH_NAME] : given[BLOCK_NAME];
    if (!name || !*name->value || given[BLOCK_SIZES] || (given[SWITCH_NAME] && given[BLOCK_NAME]))
        return conf_error(line, first, err, "SwitchName=NAME or BlockName=NAME is needed, one per line");
    if (strpbrk(name->value, "[], \t"))
        return conf_error(line, name, err, "one name is accepted");
    r->trees |= !!given[SWITCH_NAME];
    r->blocks |= !!given[BLOCK_NAME];
    if (r->trees && r->blocks)
        return conf_error(line, name, err, "switches or blocks are accepted, and not both in one file");
    if (given[BLOCK_NAME] && (!text[NODES] || given[SWITCHES] || given[LINK_SPEED]))
        return conf_error(line, name, err, "a block has Nodes=, and nothing else");
    if (!text[NODES] == !text[SWITCHES])
        return conf_error(line, name, err, "a switch has Nodes= or Switches=, one of both");
    if (given[LINK_SPEED]) { /* a whole number for Slurm */
        speed = strtod(text[LINK_SPEED], &end);
        if (*end || !(speed > 0) || speed > 4294967295.0)
            return conf_error(line, given[LINK_SPEED], err, "a number from 1 to 4294967295 is accepted");
    }
    if (!*(text[NODES] ? text[NODES] : text[SWITCHES]))
        return conf_error(line, given[NODES] ? given[NODES] : given[SWITCHES], err,
                          "a list of names is accepted");
    return topology_add(r->t, name->value, text[NODES], text[SWITCHES], speed, name->line, err);
}

/* Jobs span blocks, so something joins them. */
static int join_blocks(struct topology *t, struct err *err)
{
    size_t bytes = 1, used = 0;
    char *names;
    int rc;

    for (size_t i = 0; i < t->n_switches; i++)
        bytes += strlen(t->a_switch[i].name) + 1;
    names = malloc(bytes);
    if (!names)
        return err_set(err, "out of memory");
    for (size_t i = 0; i < t->n_switches; i++)
        used += (size_t)snprintf(names + used, bytes - used, "%s%s", i ? "," : "", t->a_switch[i].name);
    rc = topology_add(t, BLOCKS_ROOT, NULL, names, NAN, 0, err);
    free(names);
    return rc;
}

/* text NULL: the file itself. */
static struct topology *read_from(const char *name, const char *text, size_t bytes, struct err *err)
{
    struct reading r = { .t = topology_new(name) };
    int rc = r.t ? 0 : err_set(err, "out of memory");

    if (rc == 0)
        rc = conf_load(name, text, bytes, read_line, &r, err);
    if (rc == 0 && r.blocks)
        rc = join_blocks(r.t, err);
    if (rc == 0 && topology_finish(r.t, err) == 0) {
        topology_assume(r.t, &topology_usual);
        return r.t;
    }
    topology_free(r.t);
    return NULL;
}

struct topology *topology_conf_read(const char *path, struct err *err)
{
    return read_from(path, NULL, 0, err);
}

struct topology *topology_conf_parse(const char *name, const char *text, size_t bytes, struct err *err)
{
    return read_from(name, text, bytes, err);
}

void topology_conf_locate(char *path, size_t size)
{
    slurm_conf_locate("topology.conf", path, size);
}
