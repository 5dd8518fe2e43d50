#include "slurm/outages.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/xalloc.h"
#include "slurm/slurmtool.h"

#define GAP_S 300.0 /* a node that was up for less counts as down throughout */
/* slurmctld finds nodes that fell silent together within some pings of each other */
#define TOGETHER_S 120.0
#define MONTH_S    (30.4 * 86400)

/* A line of sacctmgr; its texts belong to outages.events_text. */
struct event {
    const char *node;
    double start_s, end_s;
    bool failure;
};

struct outage {
    double at_s;
    const char *node;
};

/* The numbers of nodes of a partition that went down together, computed once. */
struct counted {
    char *partition;
    uint32_t nodes, *down;
    size_t n, cap;
};

struct outages {
    char *events_text, *nodes_text;
    struct outage *outage; /* by time */
    size_t n, cap;
    const char **node; /* "PARTITION|NODE", sorted */
    size_t n_nodes, nodes_cap;
    struct counted *counted;
    size_t n_counted, counted_cap;
    double from_s, now_s; /* from_s NaN: the covered period is unknown */
};

/* ---- what an event is ---- */

/* "DOWN", "DOWN*", "DOWN+CLOUD"; a word or sign after it marks a node that is drained, reserved for
 * maintenance, about to reboot or saving power. */
static bool went_down(const char *state)
{
    static const char *const planned[] = { "DRAIN", "MAINT", "REBOOT", "POWER", "RES", "PLANNED", "FUTURE" };

    if (strncasecmp(state, "DOWN", 4) != 0 || isalpha((unsigned char)state[4]) || strpbrk(state, "$@^~#!%-"))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(planned); i++)
        if (strcasestr(state, planned[i]))
            return false;
    return true;
}

/* "slurm(64030)", "slurm" or "". */
static bool is_slurm(const char *user, const char *slurm_user)
{
    size_t n = strcspn(user, "(");

    return n == 0 || (strlen(slurm_user) == n && !strncmp(user, slurm_user, n));
}

/* Slurm set the node down, but it did not fail. */
static bool is_planned(const char *reason)
{
    static const char *const reasons[] = { "reboot ", "scheduled reboot", "ResumeTimeout" };

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
        if (!strncasecmp(reason, reasons[i], strlen(reasons[i])))
            return true;
    return false;
}

/* NODE|START|END|STATE|USER|REASON; without a node: of the cluster.  A start of slurmctld without its state
 * has an event for every node, which is ignored. */
static bool read_event(char *line, const char *slurm_user, struct event *e)
{
    char *field[6], *rest = line;

    for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
        field[i] = i + 1 < ARRAY_SIZE(field) ? strsep(&rest, "|") : rest;
        if (!field[i])
            return false;
    }
    *e = (struct event){ .node = field[0],
                         .start_s = slurmtool_time(field[1]),
                         .end_s = slurmtool_time(field[2]),
                         .failure =
                             went_down(field[3]) && is_slurm(field[4], slurm_user) && !is_planned(field[5]) };
    if (isnan(e->end_s)) /* "Unknown": it lasts */
        e->end_s = INFINITY;
    return !isnan(e->start_s) && strcasecmp(field[5], "cold-start") != 0;
}

/* ---- events to outages ---- */

static int by_node(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    int order = strcmp(x->node, y->node);

    return order ? order : (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static int by_time(const void *a, const void *b)
{
    const struct outage *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static void read_events(struct outages *o, const char *slurm_user)
{
    char *rest = o->events_text, *line;
    double cluster_s = INFINITY, node_s = INFINITY, end_s = -INFINITY;
    struct event *event = NULL, e;
    size_t n = 0, cap = 0;

    while ((line = strsep(&rest, "\n"))) {
        if (!read_event(line, slurm_user, &e))
            continue;
        if (!*e.node) {
            cluster_s = fmin(cluster_s, e.start_s);
            continue;
        }
        node_s = fmin(node_s, e.start_s);
        event = xgrow(event, &cap, n + 1, sizeof(*event));
        event[n++] = e;
    }
    /* The period begins with the cluster's first event, or with that of a node. */
    if (isinf(cluster_s))
        cluster_s = node_s;
    o->from_s = isinf(cluster_s) ? NAN : fmax(o->from_s, cluster_s);
    if (n)
        qsort(event, n, sizeof(*event), by_node);
    for (size_t i = 0; i < n; i++) {
        e = event[i];
        if (i == 0 || strcmp(e.node, event[i - 1].node) != 0)
            end_s = -INFINITY;
        if (e.start_s > end_s + GAP_S && e.failure && e.start_s >= o->from_s && e.start_s <= o->now_s) {
            o->outage = xgrow(o->outage, &o->cap, o->n + 1, sizeof(*o->outage));
            o->outage[o->n++] = (struct outage){ e.start_s, e.node };
        }
        end_s = fmax(end_s, e.end_s);
    }
    if (o->n)
        qsort(o->outage, o->n, sizeof(*o->outage), by_time);
    free(event);
}

/* "PurgeEventAfter = 12 months*", "30 days", "NONE": for how long events are kept. */
static double kept_s(const char *purge)
{
    const char *at = strcasestr(purge, "PurgeEventAfter");
    char unit[8];
    double n;

    if (!at || sscanf(at + strlen("PurgeEventAfter"), " = %9lf %7[a-zA-Z]", &n, unit) != 2 || !(n > 0))
        return INFINITY;
    return n * (tolower((unsigned char)*unit) == 'h'   ? 3600
                : tolower((unsigned char)*unit) == 'd' ? 86400
                                                       : MONTH_S);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct outages *outages_new(const char *events, const char *purge, const char *nodes, const char *slurm_user,
                            double from_s, double now_s)
{
    struct outages *o = xcalloc(1, sizeof(*o));
    char *rest, *line;

    o->events_text = xstrdup(events);
    o->nodes_text = rest = xstrdup(nodes);
    o->now_s = now_s;
    o->from_s = fmax(from_s, now_s - kept_s(purge));
    read_events(o, slurm_user);
    while ((line = strsep(&rest, "\n"))) {
        if (*line == '|' || !strchr(line, '|'))
            continue;
        o->node = xgrow(o->node, &o->nodes_cap, o->n_nodes + 1, sizeof(*o->node));
        o->node[o->n_nodes++] = line;
    }
    if (o->n_nodes)
        qsort(o->node, o->n_nodes, sizeof(*o->node), by_text);
    return o;
}

void outages_free(struct outages *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n_counted; i++) {
        free(o->counted[i].partition);
        free(o->counted[i].down);
    }
    free(o->counted);
    free(o->outage);
    free(o->node);
    free(o->events_text);
    free(o->nodes_text);
    free(o);
}

bool outages_known(const struct outages *o)
{
    return o && o->now_s > o->from_s; /* NaN: no */
}

/* ---- failures of a job ---- */

static bool is_in(const struct outages *o, const char *partition, const char *node)
{
    char key[512];
    const char *text = key;

    snprintf(key, sizeof(key), "%s|%s", partition, node);
    return bsearch(&text, o->node, o->n_nodes, sizeof(*o->node), by_text) != NULL;
}

/* Probability that none of k nodes is among n of all nodes (hypergeometric). */
static double missed(double k, double n, double all)
{
    double p = 1;

    for (double i = 0; i < k && p > 0; i++)
        p *= fmax(0, all - n - i) / fmax(1, all - i);
    return p;
}

/* NULL: unknown partition. */
static const struct counted *counted(struct outages *o, const char *partition)
{
    struct counted c = { .partition = NULL };
    size_t length = strlen(partition);

    for (size_t i = 0; i < o->n_counted; i++)
        if (!strcmp(o->counted[i].partition, partition))
            return &o->counted[i];
    for (size_t i = 0; i < o->n_nodes; i++)
        c.nodes += !strncmp(o->node[i], partition, length) && o->node[i][length] == '|' &&
                   (i == 0 || strcmp(o->node[i], o->node[i - 1]) != 0);
    if (!c.nodes)
        return NULL;
    c.partition = xstrdup(partition);
    for (size_t i = 0; i < o->n;) {
        double at_s = o->outage[i].at_s;
        uint32_t down = 0;

        for (; i < o->n && o->outage[i].at_s <= at_s + TOGETHER_S; i++)
            down += is_in(o, partition, o->outage[i].node);
        if (down == 0)
            continue;
        c.down = xgrow(c.down, &c.cap, c.n + 1, sizeof(*c.down));
        c.down[c.n++] = down;
    }
    o->counted = xgrow(o->counted, &o->counted_cap, o->n_counted + 1, sizeof(*o->counted));
    o->counted[o->n_counted] = c;
    return &o->counted[o->n_counted++];
}

bool outages_see(struct outages *o, const char *partition, double job_nodes, struct outages_seen *out)
{
    const struct counted *c;
    double n;

    if (!outages_known(o))
        return false;
    c = counted(o, partition);
    if (!c)
        return false;
    *out = (struct outages_seen){ .events = (uint32_t)c->n,
                                  .nodes = c->nodes,
                                  .span_s = o->now_s - o->from_s,
                                  .node_s = (o->now_s - o->from_s) * c->nodes };
    n = fmin(fmax(1, job_nodes), c->nodes);
    for (size_t i = 0; i < c->n; i++)
        out->failures += c->nodes / n * (1 - missed(c->down[i], n, c->nodes));
    return true;
}
