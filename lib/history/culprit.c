#include "history/culprit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "history/store.h"
#include "job/job.h"
#include "report/report_nodes.h"
#include "view/verdicts.h"

#define TIMES_MAX ((size_t)(VIEW_RAISED_MAX + VIEW_VERDICTS_MAX) * VIEW_CULPRITS_MAX)

/* A period in which a node was the culprit. */
struct guilt {
    const char *node; /* lent by the view */
    double from_s, to_s, lost_s, slowdown;
    const char *class;
};

static size_t add_guilt(const struct job *j, const struct view_verdict *d, bool stands, double end_s,
                        struct guilt *out, size_t n)
{
    double from_s = fmax(j->start_s, view_verdict_from_s(d)), to_s = stands ? end_s : fmin(end_s, d->over_s);

    /* The program causes uneven work on any node, so that no node is its culprit. */
    if (d->finding.class == FINDING_IMBALANCE)
        return n;
    for (uint32_t c = 0; c < d->n_culprits && n < TIMES_MAX && to_s > from_s; c++) {
        const char *node = report_culprit_node(j->view, d, c, end_s);
        double lost_s =
            isnan(d->finding.slowdown) ? to_s - from_s : (end_s - j->start_s) * (1 - 1 / d->finding.slowdown);

        if (*node)
            out[n++] = (struct guilt){
                node, from_s, to_s, lost_s, d->finding.slowdown, finding_class_name(d->finding.class)
            };
    }
    return n;
}

static int by_node_and_time(const void *a, const void *b)
{
    const struct guilt *x = a, *y = b;
    int d = strcmp(x->node, y->node);

    return d ? d : (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

/* Add the union of the periods in which the node was the culprit: simultaneous verdicts count once. */
static void add_up(struct store_part *part, const struct guilt *g, size_t n)
{
    double until_s = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(g[i].node, part->node))
            continue;
        part->culprit_s += fmax(0, g[i].to_s - fmax(until_s, g[i].from_s));
        until_s = fmax(until_s, g[i].to_s);
        if (!(g[i].lost_s <= part->lost_s) || !part->class) {
            part->lost_s = fmax(0, g[i].lost_s);
            part->slowdown = g[i].slowdown;
            part->class = g[i].class;
        }
    }
}

/* The periods of all nodes, ordered by node; the caller frees them. */
static struct guilt *guilt_of(const struct job *j, double end_s, size_t *n)
{
    struct guilt *guilt = xcalloc(TIMES_MAX, sizeof(*guilt));
    const struct view_verdict *d;
    size_t n_verdicts = view_verdicts_get(j->view, &d);

    *n = 0;
    /* Standing verdicts come first, since they may be missing from the full list of the whole run. */
    for (size_t i = 0; i < n_verdicts; i++)
        *n = add_guilt(j, &d[i], true, end_s, guilt, *n);
    n_verdicts = view_verdicts_raised(j->view, &d);
    for (size_t i = 0; i < n_verdicts; i++)
        *n = add_guilt(j, &d[i], d[i].finding.standing, end_s, guilt, *n);
    qsort(guilt, *n, sizeof(*guilt), by_node_and_time);
    return guilt;
}

static struct store_part part_of(const struct job *j, const char *node, double end_s, const struct guilt *g,
                                 size_t n)
{
    struct store_part part = { .node = node, .seconds = end_s - j->start_s, .slowdown = NAN };

    add_up(&part, g, n);
    return part;
}

struct store_part *culprit_parts(const struct job *j, double end_s)
{
    struct store_part *part = xcalloc(j->n_agents, sizeof(*part));
    size_t n;
    struct guilt *guilt = guilt_of(j, end_s, &n);

    for (size_t i = 0; i < j->n_agents; i++)
        part[i] = part_of(j, j->agent[i]->node, end_s, guilt, n);
    free(guilt);
    return part;
}

/* The newest verdict that names the node, or NULL. */
static const struct view_verdict *newest(const struct job *j, const char *node, double end_s)
{
    const struct view_verdict *d, *found = NULL;
    size_t n = view_verdicts_raised(j->view, &d);

    for (size_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < d[i].n_culprits; c++)
            if ((!found || d[i].found_s > found->found_s) &&
                !strcmp(report_culprit_node(j->view, &d[i], c, end_s), node))
                found = &d[i];
    return found;
}

void culprit_node_step(const struct job *j, const char *node, double now_s, struct report_node_step *r)
{
    double end_s = job_over(j) ? j->end_s : now_s;
    size_t n;
    struct guilt *guilt = guilt_of(j, end_s, &n);
    struct store_part part = part_of(j, node, end_s, guilt, n);
    const struct view_verdict *d = newest(j, node, end_s);

    *r = (struct report_node_step){ .running = !job_over(j),
                                    .at = wall_s() - (now_s - end_s),
                                    .age_s = NAN,
                                    .seconds = part.seconds,
                                    .culprit_s = part.culprit_s,
                                    .lost_s = part.lost_s,
                                    .slowdown = part.slowdown };
    snprintf(r->id, sizeof(r->id), "%s", j->text_id);
    snprintf(r->user, sizeof(r->user), "%s", j->user);
    snprintf(r->name, sizeof(r->name), "%s", j->name);
    snprintf(r->class, sizeof(r->class), "%s", part.class ? part.class : "");
    snprintf(r->verdict, sizeof(r->verdict), "%s", d ? d->text : "");
    free(guilt);
}
