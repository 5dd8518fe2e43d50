#include "doctor/slurm_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "common/tool.h"
#include "common/xalloc.h"

#define ANSWER_BYTES_MAX (64u << 20)

/* The value of KEY= in a line of them, the caller's; NULL: not there. A key begins its line or follows a
 * blank. */
static char *value_of(const char *line, const char *end, const char *key)
{
    size_t length = strlen(key);

    for (const char *s = line; (size_t)(end - s) > length; s++) {
        const char *from = s + length + 1, *to = from;

        if ((s > line && s[-1] != ' ') || strncmp(s, key, length) != 0 || s[length] != '=')
            continue;
        while (to < end && *to != ' ')
            to++;
        return strndup(from, (size_t)(to - from));
    }
    return NULL;
}

/* 0: it is none. */
static uint16_t port_in(const char *text)
{
    char *end;
    unsigned long port = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

    return port <= UINT16_MAX && (!port || !*end || strchr(" \n", *end)) ? (uint16_t)port : 0;
}

static int by_name(const void *a, const void *b)
{
    const struct slurm_node *one = a, *two = b;

    return strcmp(one->name, two->name);
}

static int add_node(struct slurm_nodes *s, const char *line, const char *end, struct err *err)
{
    struct slurm_node n = { .name = value_of(line, end, "NodeName") };
    char *port;

    if (!n.name || !*n.name) { /* a line that belongs to the node before, or is empty */
        free(n.name);
        return 0;
    }
    if (s->n == SLURM_NODES_MAX) {
        free(n.name);
        return err_set(err, "scontrol lists more than %u nodes", SLURM_NODES_MAX);
    }
    n.address = value_of(line, end, "NodeAddr");
    n.state = value_of(line, end, "State");
    n.partitions = value_of(line, end, "Partitions");
    port = value_of(line, end, "Port");
    n.port = port ? port_in(port) : 0;
    free(port);
    s->node = xgrow(s->node, &s->cap, s->n + 1, sizeof(*s->node));
    s->node[s->n++] = n;
    for (char **text = &s->node[s->n - 1].address; text <= &s->node[s->n - 1].partitions; text++)
        if (!*text)
            *text = xstrdup("");
    return 0;
}

int slurm_nodes_parse(struct slurm_nodes *s, const char *text, struct err *err)
{
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        if (add_node(s, line, end, err) < 0)
            return -1;
    }
    if (!s->n)
        return err_set(err, "scontrol lists no node");
    qsort(s->node, s->n, sizeof(*s->node), by_name);
    for (size_t i = 1; i < s->n; i++)
        if (!strcmp(s->node[i - 1].name, s->node[i].name))
            return err_set(err, "scontrol lists node %.80s twice", s->node[i].name);
    return 0;
}

struct slurm_node *slurm_nodes_find(const struct slurm_nodes *s, const char *name)
{
    struct slurm_node key = { .name = (char *)name };

    return s->n ? bsearch(&key, s->node, s->n, sizeof(*s->node), by_name) : NULL;
}

struct leaf {
    struct slurm_nodes *s;
    const char *name;
};

static int put_below(void *arg, const char *name, struct err *err)
{
    const struct leaf *leaf = arg;
    struct slurm_node *n = slurm_nodes_find(leaf->s, name);

    (void)err;
    if (n && !n->leaf)
        n->leaf = xstrdup(leaf->name);
    return 0;
}

int slurm_nodes_leaves(struct slurm_nodes *s, const char *text, struct err *err)
{
    int rc = 0;

    for (const char *line = text, *end; *line && rc == 0; line = *end ? end + 1 : end) {
        char *name, *level, *nodes;

        end = strchrnul(line, '\n');
        name = value_of(line, end, "SwitchName");
        level = value_of(line, end, "Level");
        nodes = value_of(line, end, "Nodes");
        if (name && nodes && level && !strcmp(level, "0")) {
            struct leaf leaf = { s, name };

            s->tree = true;
            rc = hostlist_each_written(nodes, SLURM_NODES_MAX, put_below, &leaf, err);
        }
        free(name);
        free(level);
        free(nodes);
    }
    return rc;
}

uint16_t slurm_nodes_port(const char *text)
{
    static const char key[] = "SlurmdPort";

    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        if (!strncmp(line, key, sizeof(key) - 1)) {
            line += sizeof(key) - 1;
            return port_in(line + strspn(line, " ="));
        }
    }
    return 0;
}

int slurm_nodes_ask(struct slurm_nodes *s, double limit_s, struct err *err)
{
    static const char *const nodes[] = { "scontrol", "-o", "show", "nodes", NULL };
    static const char *const topology[] = { "scontrol", "-o", "show", "topology", NULL };
    static const char *const config[] = { "scontrol", "show", "config", NULL };
    char *text = tool_run(nodes, limit_s, ANSWER_BYTES_MAX, err);
    int rc = text ? slurm_nodes_parse(s, text, err) : -1;
    uint16_t port;

    free(text);
    if (rc < 0)
        return -1;
    text = tool_run(topology, limit_s, ANSWER_BYTES_MAX, NULL); /* it fails where there are no switches */
    rc = text ? slurm_nodes_leaves(s, text, err) : 0;
    free(text);
    text = tool_run(config, limit_s, ANSWER_BYTES_MAX, NULL);
    port = text ? slurm_nodes_port(text) : 0;
    for (size_t i = 0; i < s->n; i++)
        if (!s->node[i].port) /* of its own: then it has the one of the configuration */
            s->node[i].port = port;
    free(text);
    return rc;
}

void slurm_nodes_free(struct slurm_nodes *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->node[i].name);
        free(s->node[i].address);
        free(s->node[i].state);
        free(s->node[i].partitions);
        free(s->node[i].leaf);
    }
    free(s->node);
    *s = (struct slurm_nodes){ 0 };
}
