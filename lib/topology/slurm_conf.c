#include "topology/slurm_conf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/conf.h"

struct node_set {
    struct node_set *next;
    char *name, *nodes;
};

struct reading {
    struct node_set *sets;
    const char *wanted; /* NULL: the default partition */
    struct slurm_partition *p;
    char *usual; /* Nodes= of PartitionName=DEFAULT, for the lines after it */
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

/* ---- NodeSet=NAME Nodes=LIST: NAME stands for LIST in a partition's Nodes ---- */

static void free_set(struct node_set *s)
{
    if (s) {
        free(s->name);
        free(s->nodes);
        free(s);
    }
}

static int keep_set(struct reading *r, const char *name, const char *nodes, struct err *err)
{
    struct node_set *s = calloc(1, sizeof(*s));

    if (!s || keep_text(&s->name, name, err) < 0 || keep_text(&s->nodes, nodes, err) < 0) {
        free_set(s);
        return err_set(err, "out of memory");
    }
    s->next = r->sets;
    r->sets = s;
    return 0;
}

/* What an item of a list stands for: itself, unless it is a set's name. */
static const char *nodes_of(const struct reading *r, const char *item, size_t *bytes)
{
    for (const struct node_set *s = r->sets; s; s = s->next)
        if (strlen(s->name) == *bytes && !strncmp(s->name, item, *bytes)) {
            *bytes = strlen(s->nodes);
            return s->nodes;
        }
    return item;
}

/* Up to the comma, or end, that is not between brackets. */
static size_t item_bytes(const char *list)
{
    size_t n = 0;

    for (bool inside = false; list[n] && (inside || list[n] != ','); n++)
        inside = list[n] == '[' || (inside && list[n] != ']');
    return n;
}

static int replace_sets(const struct reading *r, char **list, struct err *err)
{
    char *text = NULL;
    size_t size, bytes;
    FILE *out = *list ? open_memstream(&text, &size) : NULL;

    if (!out)
        return *list ? err_set(err, "out of memory") : 0;
    for (const char *at = *list; *at && ftell(out) <= CONF_FILE_MAX; at += bytes + (at[bytes] == ',')) {
        const char *nodes;
        size_t length = bytes = item_bytes(at);

        nodes = nodes_of(r, at, &length);
        fprintf(out, "%s%.*s", at > *list ? "," : "", (int)length, nodes);
    }
    if (fclose(out) != 0 || size > CONF_FILE_MAX) {
        free(text);
        return err_set(err, "a partition's list of nodes is too long");
    }
    free(*list);
    *list = text;
    return 0;
}

static int read_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct reading *r = arg;
    const char *name = value_of(line, "PartitionName"), *nodes = value_of(line, "Nodes"),
               *set = value_of(line, "NodeSet"), *plugin = value_of(line, "TopologyPlugin"),
               *standard = value_of(line, "Default");

    if (plugin)
        r->p->tree = !strcasecmp(plugin, "topology/tree");
    if (set && nodes)
        return keep_set(r, set, nodes, err);
    if (!name)
        return 0;
    if (!strcasecmp(name, "DEFAULT"))
        return nodes ? keep_text(&r->usual, nodes, err) : 0;
    if (r->wanted ? strcmp(name, r->wanted) != 0 : !standard || strcasecmp(standard, "YES") != 0)
        return 0;
    r->found = true;
    snprintf(r->p->name, sizeof(r->p->name), "%s", name);
    return keep_text(&r->p->nodes, nodes ? nodes : r->usual, err);
}

/* text NULL: the file itself. */
static int read_from(const char *name, const char *text, size_t bytes, const char *partition,
                     struct slurm_partition *p, struct err *err)
{
    struct reading r = { .wanted = partition, .p = p };
    int rc;

    *p = (struct slurm_partition){ .nodes = NULL };
    rc = conf_load_slurm(name, text, bytes, read_line, &r, err);
    if (rc == 0)
        rc = replace_sets(&r, &p->nodes, err);
    free(r.usual);
    for (struct node_set *s = r.sets, *next; s; s = next) {
        next = s->next;
        free_set(s);
    }
    if (rc == 0 && !r.found && partition)
        rc = err_set(err, "%s: there is no partition %.60s", name, partition);
    else if (rc == 0 && !r.found)
        rc = err_set(err, "%s: no partition is the default", name);
    else if (rc == 0 && (!p->nodes || !*p->nodes))
        rc = err_set(err, "%s: the partition has no nodes", name);
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
    p->nodes = NULL;
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
    while (at && *at) {
        size_t length = strcspn(at, ":");

        snprintf(program, sizeof(program), "%.*s/scontrol", (int)length, at);
        if (length && access(program, X_OK) == 0)
            return is_below_prefix(program, etc);
        at += length + (at[length] == ':');
    }
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
