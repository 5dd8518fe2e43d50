#include "topology/slurm_conf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/hostlist.h"
#include "common/path.h"
#include "topology/topology.h"

struct entry { /* a NodeSet= line, or one of NodeName= that has features */
    struct entry *next;
    char *name, *nodes, *features; /* of a set: one feature; NULL: none */
};

struct entries {
    struct entry *first, **last; /* as the file has them */
};

struct reading {
    struct entries sets, nodes;
    char *usual_features; /* of NodeName=DEFAULT, for the lines after it */
    const char *wanted;   /* NULL: the default partition */
    struct slurm_partition *p;
    /* Nodes= and Topology= of PartitionName=DEFAULT, for the lines after it */
    char *usual, *usual_topology;
    bool found;
};

static const char *value_of(const struct conf_line *line, const char *key)
{
    for (size_t i = 0; i < line->n; i++)
        if (!strcasecmp(line->pairs[i].key, key))
            return line->pairs[i].value;
    return NULL;
}

static int keep_text(char **text, const char *value, struct err *err)
{
    char *copy = value ? strdup(value) : NULL;

    if (value && !copy)
        return err_set(err, "out of memory");
    free(*text);
    *text = copy;
    return 0;
}

/* ---- NodeSet=NAME: it stands, in a partition's Nodes, for the nodes of its own list and those that have its
 * feature, as slurmctld resolves it (nodespec_to_hostlist()) ---- */

static void free_entry(struct entry *e)
{
    if (e) {
        free(e->name);
        free(e->nodes);
        free(e->features);
        free(e);
    }
}

static void free_entries(struct entries *all)
{
    for (struct entry *e = all->first, *next; e; e = next) {
        next = e->next;
        free_entry(e);
    }
}

static int keep_entry(struct entries *all, const char *name, const char *nodes, const char *features,
                      struct err *err)
{
    struct entry *e = calloc(1, sizeof(*e));

    if (!e || keep_text(&e->name, name, err) < 0 || keep_text(&e->nodes, nodes, err) < 0 ||
        keep_text(&e->features, features, err) < 0) {
        free_entry(e);
        return err_set(err, "out of memory");
    }
    *all->last = e;
    all->last = &e->next;
    return 0;
}

static int keep_nodes(struct reading *r, const struct conf_line *line, const char *name, struct err *err)
{
    const char *features = value_of(line, "Feature");

    if (!features)
        features = value_of(line, "Features");
    if (!strcasecmp(name, "DEFAULT"))
        return features ? keep_text(&r->usual_features, features, err) : 0;
    if (!features)
        features = r->usual_features;
    return features ? keep_entry(&r->nodes, name, name, features, err) : 0;
}

/* Up to what is between two items, or the end, that is not between brackets. */
#define BETWEEN ", \t\n"
static size_t item_bytes(const char *list)
{
    size_t n = 0;

    for (bool inside = false; list[n] && (inside || !strchr(BETWEEN, list[n])); n++)
        inside = list[n] == '[' || (inside && list[n] != ']');
    return n;
}

static void put_item(FILE *list, const char *item, size_t bytes)
{
    if (bytes && ftell(list) <= (long)CONF_FILE_MAX)
        fprintf(list, "%s%.*s", ftell(list) > 0 ? "," : "", (int)bytes, item);
}

static bool has_feature(const char *features, const char *wanted)
{
    size_t bytes = strlen(wanted);

    for (const char *at = features; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");

        if (length == bytes && !strncmp(at, wanted, bytes))
            return true;
        at += length;
    }
    return false;
}

static void put_set(const struct reading *r, const struct entry *set, FILE *list)
{
    for (const struct entry *e = r->nodes.first; e && set->features; e = e->next)
        if (has_feature(e->features, set->features))
            put_item(list, e->nodes, strlen(e->nodes));
    if (set->nodes)
        put_item(list, set->nodes, strlen(set->nodes));
}

struct others {
    const char *name;
    FILE *list;
};

static int put_other(void *arg, const char *name, struct err *err)
{
    const struct others *o = arg;

    (void)err;
    if (strcmp(name, o->name) != 0)
        put_item(o->list, name, strlen(name));
    return 0;
}

/* What is left of an item without the set's name, which may be one of several: "rack[1-3]".  False: it is not
 * in it. */
static bool put_others(const char *item, size_t bytes, const char *set, FILE *list)
{
    struct others o = { set, list };
    char *name;
    bool has;

    if (bytes == strlen(set) && !strncmp(item, set, bytes))
        return true;
    if (!memchr(item, '[', bytes) || !(name = strndup(item, bytes)))
        return false;
    has = hostlist_has(name, set) && hostlist_each(name, TOPOLOGY_NODES_MAX, put_other, &o, NULL) == 0;
    free(name);
    return has;
}

/* As Slurm does it, one set after the other in their order: what a set stands for may name a later one. */
static int replace_set(const struct reading *r, const struct entry *set, char **list, struct err *err)
{
    bool everything = false, used = false;
    char *text = NULL, *before = *list;
    size_t size, bytes;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return err_set(err, "out of memory");
    for (const char *at = *list; *at; at += bytes + (at[bytes] != '\0')) {
        bytes = item_bytes(at);
        if (!put_others(at, bytes, set->name, out)) {
            put_item(out, at, bytes);
            continue;
        }
        used = true;
        everything = set->nodes && !strcasecmp(set->nodes, "ALL");
        put_set(r, set, out);
    }
    if (fclose(out) != 0 || size > CONF_FILE_MAX) {
        free(text);
        return err_set(err, "a partition's list of nodes is too long");
    }
    if (used)
        *list = text;
    free(used ? before : text);
    return everything ? keep_text(list, "ALL", err) : 0;
}

static int replace_sets(const struct reading *r, char **list, struct err *err)
{
    int rc = 0;

    for (const struct entry *set = r->sets.first; set && *list && rc == 0; set = set->next)
        rc = replace_set(r, set, list, err);
    return rc;
}

static int read_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct reading *r = arg;
    const char *name = value_of(line, "PartitionName"), *nodes = value_of(line, "Nodes"),
               *set = value_of(line, "NodeSet"), *node = value_of(line, "NodeName"),
               *plugin = value_of(line, "TopologyPlugin"), *topology = value_of(line, "Topology"),
               *standard = value_of(line, "Default");

    if (plugin)
        r->p->tree = !strcasecmp(plugin, "topology/tree");
    if (set)
        return keep_entry(&r->sets, set, nodes, value_of(line, "Feature"), err);
    if (node)
        return keep_nodes(r, line, node, err);
    if (!name)
        return 0;
    if (!strcasecmp(name, "DEFAULT"))
        return (nodes && keep_text(&r->usual, nodes, err) < 0) ||
                       (topology && keep_text(&r->usual_topology, topology, err) < 0)
                   ? -1
                   : 0;
    if (r->wanted ? strcmp(name, r->wanted) != 0 : !standard || strcasecmp(standard, "YES") != 0)
        return 0;
    r->found = true;
    if (!topology)
        topology = r->usual_topology;
    snprintf(r->p->name, sizeof(r->p->name), "%s", name);
    return keep_text(&r->p->topology, topology, err) < 0 ||
                   keep_text(&r->p->nodes, nodes ? nodes : r->usual, err) < 0
               ? -1
               : 0;
}

/* text NULL: the file itself. */
static int read_from(const char *name, const char *text, size_t bytes, const char *partition,
                     struct slurm_partition *p, struct err *err)
{
    struct reading r = {
        .sets.last = &r.sets.first, .nodes.last = &r.nodes.first, .wanted = partition, .p = p
    };
    int rc;

    *p = (struct slurm_partition){ .nodes = NULL };
    rc = conf_load_slurm(name, text, bytes, read_line, &r, err);
    if (rc == 0)
        rc = replace_sets(&r, &p->nodes, err);
    free(r.usual);
    free(r.usual_topology);
    free(r.usual_features);
    free_entries(&r.sets);
    free_entries(&r.nodes);
    if (rc == 0 && !r.found && partition)
        rc = err_set(err, "%s: there is no partition %.60s", name, partition);
    else if (rc == 0 && !r.found)
        rc = err_set(err, "%s: no partition is the default", name);
    else if (rc == 0 && !p->nodes)
        rc = keep_text(&p->nodes, "", err);
    if (rc < 0)
        slurm_partition_free(p);
    else if (!strcasecmp(p->nodes, "ALL"))
        keep_text(&p->nodes, NULL, NULL);
    return rc;
}

int slurm_conf_read(const char *path, const char *partition, struct slurm_partition *p, struct err *err)
{
    return read_from(path, NULL, 0, partition, p, err);
}

int slurm_conf_parse(const char *name, const char *text, size_t bytes, const char *partition,
                     struct slurm_partition *p, struct err *err)
{
    return read_from(name, text, bytes, partition, p, err);
}

void slurm_partition_free(struct slurm_partition *p)
{
    free(p->nodes);
    free(p->topology);
    p->nodes = p->topology = NULL;
}

/* Where a Slurm looks that was built with a prefix of its own: etc beside the folder bin or sbin that the
 * program is in.  False: it has no slurm.conf there. */
static bool is_below_prefix(const char *program, char etc[PATH_MAX])
{
    char real[PATH_MAX], conf[PATH_MAX + 32], *name, *bin;

    if (!realpath(program, real))
        return false;
    name = strrchr(real, '/');
    *name = '\0';
    bin = strrchr(real, '/');
    if (!bin || (strcmp(bin, "/bin") != 0 && strcmp(bin, "/sbin") != 0))
        return false;
    snprintf(bin, sizeof(real) - (size_t)(bin - real), "/etc");
    snprintf(conf, sizeof(conf), "%s/" SLURM_CONF_NAME, real);
    snprintf(etc, PATH_MAX, "%s", real);
    return access(conf, F_OK) == 0;
}

/* By the program that this is, in which the plugin may be, or by the scontrol that is called from here. */
static bool find_prefix(char etc[PATH_MAX])
{
    const char *at = getenv("PATH");
    char program[PATH_MAX];

    if (is_below_prefix("/proc/self/exe", etc))
        return true;
    while (path_next(&at, "scontrol", program, sizeof(program)))
        if (access(program, X_OK) == 0)
            return is_below_prefix(program, etc);
    return false;
}

void slurm_conf_locate(const char *name, char *path, size_t size)
{
    const char *conf = getenv("SLURM_CONF"), *slash = conf ? strrchr(conf, '/') : NULL;
    char fetched[256], etc[PATH_MAX];

    snprintf(fetched, sizeof(fetched), "/run/slurm/conf/%s", name);
    snprintf(path, size, "/etc/slurm/%s", name);
    if (slash && !strcmp(name, SLURM_CONF_NAME))
        snprintf(path, size, "%s", conf);
    else if (slash)
        snprintf(path, size, "%.*s/%s", (int)(slash - conf), conf, name);
    else if (access(path, F_OK) < 0 && access(fetched, F_OK) == 0)
        snprintf(path, size, "%s", fetched);
    else if (access(path, F_OK) < 0 && access("/etc/slurm/" SLURM_CONF_NAME, F_OK) < 0 &&
             access("/run/slurm/conf/" SLURM_CONF_NAME, F_OK) < 0 && find_prefix(etc))
        snprintf(path, size, "%s/%s", etc, name);
}
