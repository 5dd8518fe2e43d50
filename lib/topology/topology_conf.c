#include "topology/topology_conf.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/conf.h"
#include "topology/slurm_conf.h"
#include "topology/topology_yaml.h"

enum { SWITCH_NAME, BLOCK_NAME, NODES, SWITCHES, LINK_SPEED, BLOCK_SIZES, KEYS };
static const char *const keys[KEYS] = { "SwitchName", "BlockName", "Nodes",
                                        "Switches",   "LinkSpeed", "BlockSizes" };

struct reading {
    struct topology *t;
    bool trees, blocks;
};

/* As Slurm reads its numbers of 32 bits: 10, 010 is 8, 0x10 is 16, 10K is 10240, and the largest is
 * UNLIMITED. */
static int read_speed(const char *text, double *speed)
{
    unsigned long n;
    char *end;

    *speed = 0; /* says nothing */
    if (!strcasecmp(text, "UNLIMITED") || !strcasecmp(text, "INFINITE"))
        return 0;
    if (!isdigit((unsigned char)text[*text == '+']))
        return -1;
    errno = 0;
    n = strtoul(text, &end, 0);
    if (errno || n > UINT32_MAX)
        return -1;
    if (*end == 'k' || *end == 'K') {
        n *= 1024;
        end++;
    }
    *speed = n == UINT32_MAX ? 0 : (double)n;
    return *end || n > UINT32_MAX ? -1 : 0;
}

static int read_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct reading *r = arg;
    const struct conf_pair *given[KEYS] = { NULL }, *first = &line->pairs[0], *name;
    const char *text[KEYS] = { NULL };
    double speed = NAN;

    for (size_t i = 0; i < line->n; i++) {
        int k = 0;

        while (k < KEYS && strcasecmp(line->pairs[i].key, keys[k]) != 0)
            k++;
        if (k == KEYS)
            return conf_error(
                line, &line->pairs[i], err,
                "SwitchName with Nodes or Switches and LinkSpeed, BlockName with Nodes, and BlockSizes are accepted");
        if (given[k] && (k == SWITCH_NAME || k == BLOCK_NAME))
            return conf_error(line, &line->pairs[i], err, "%s is given twice", keys[k]);
        given[k] = &line->pairs[i];
        text[k] = given[k]->value;
    }
    if (given[BLOCK_SIZES] && line->n == 1)
        return 0;
    name = given[SWITCH_NAME] ? given[SWITCH_NAME] : given[BLOCK_NAME];
    if (!name || !*name->value || given[BLOCK_SIZES] || (given[SWITCH_NAME] && given[BLOCK_NAME]))
        return conf_error(line, first, err, "SwitchName=NAME or BlockName=NAME is needed, one per line");
    if (name != first)
        return conf_error(line, first, err, "%s= comes first", name->key);
    r->trees |= !!given[SWITCH_NAME];
    r->blocks |= !!given[BLOCK_NAME];
    if (r->trees && r->blocks)
        return conf_error(line, name, err, "switches or blocks are accepted, and not both in one file");
    if (given[BLOCK_NAME] && (!text[NODES] || given[SWITCHES] || given[LINK_SPEED]))
        return conf_error(line, name, err, "a block has Nodes=, and nothing else");
    if (text[NODES] && text[SWITCHES])
        return conf_error(line, name, err, "a switch has Nodes= or Switches=, one of both");
    if (given[LINK_SPEED] && read_speed(text[LINK_SPEED], &speed) < 0)
        return conf_error(line, given[LINK_SPEED], err,
                          "a whole number from 0 to 4294967295 is accepted, with K for 1024");
    if (given[NODES] && !*text[NODES] && !given[NODES]->quoted)
        return conf_error(line, given[NODES], err, "a list of names is accepted, or \"\" for none");
    if (text[SWITCHES] && !text[SWITCHES][strspn(text[SWITCHES], ",")])
        return conf_error(line, given[SWITCHES], err, "a list of names is accepted");
    return topology_add(r->t, name->value, text[NODES], text[SWITCHES], speed, name->line, err);
}

/* text NULL: the file itself. */
static struct topology *read_from(const char *name, const char *text, size_t bytes, struct err *err)
{
    struct reading r = { .t = topology_new(name) };
    int rc = r.t ? 0 : err_set(err, "out of memory");

    if (rc == 0)
        rc = conf_load_slurm(name, text, bytes, read_line, &r, err);
    if (rc == 0 && r.blocks)
        rc = topology_join(r.t, err);
    if (rc == 0 && topology_finish(r.t, err) == 0) {
        topology_assume(r.t, &topology_usual);
        return r.t;
    }
    topology_free(r.t);
    return NULL;
}

struct topology *topology_conf_read(const char *path, const char *name, struct err *err)
{
    return topology_yaml_is(path) ? topology_yaml_read(path, name, err) : read_from(path, NULL, 0, err);
}

struct topology *topology_conf_parse(const char *name, const char *text, size_t bytes, struct err *err)
{
    return read_from(name, text, bytes, err);
}

void topology_conf_locate(char *path, size_t size)
{
    slurm_conf_locate("topology.yaml", path, size);
    if (access(path, F_OK) < 0)
        slurm_conf_locate("topology.conf", path, size);
}
