#include "report/report_pace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "wire/json.h"

#define NODES_MAX 4096

static const struct json_field control_fields[] = {
    { "levers", FIELD_STRING, FIELD(struct report_pace, levers) },
    { "max_delay_s", FIELD_NUMBER, FIELD(struct report_pace, max_delay_s) },
    { "share", FIELD_NUMBER, FIELD(struct report_pace, share) },
    { "epoch", FIELD_COUNT, FIELD(struct report_pace, epoch) },
    { "holdout", FIELD_COUNT, FIELD(struct report_pace, holdout) },
    { 0 },
};

static const struct json_field held_fields[] = {
    { "held", FIELD_TEXT, FIELD(struct report_pace, held) },
    { 0 },
};

static const struct json_field node_fields[] = {
    { "mode", FIELD_TEXT, FIELD(struct report_paced_node, mode) },
    { "lever", FIELD_TEXT, FIELD(struct report_paced_node, lever) },
    { "ranks", FIELD_COUNT, FIELD(struct report_paced_node, ranks) },
    { "cores", FIELD_COUNT, FIELD(struct report_paced_node, cores) },
    { "collectives", FIELD_COUNT, FIELD(struct report_paced_node, collectives) },
    { "with", FIELD_COUNT, FIELD(struct report_paced_node, with) },
    { "without", FIELD_COUNT, FIELD(struct report_paced_node, without) },
    { "late_holds", FIELD_COUNT, FIELD(struct report_paced_node, late_holds) },
    { "switches_hz", FIELD_NUMBER, FIELD(struct report_paced_node, switches_hz) },
    { "wait_ratio", FIELD_NUMBER, FIELD(struct report_paced_node, wait_ratio) },
    { 0 },
};

static const struct json_field lever_fields[] = {
    { "lever", FIELD_TEXT, FIELD(struct report_paced_lever, lever) },
    { "why", FIELD_TEXT, FIELD(struct report_paced_lever, why) },
    { "compared", FIELD_COUNT, FIELD(struct report_paced_lever, compared) },
    { "ratio", FIELD_NUMBER, FIELD(struct report_paced_lever, ratio) },
    { "low", FIELD_NUMBER, FIELD(struct report_paced_lever, low) },
    { "high", FIELD_NUMBER, FIELD(struct report_paced_lever, high) },
    { 0 },
};

/* ---- writing ---- */

json_t *report_pace_control_json(const struct report_pace *p)
{
    return json_of_fields(p, control_fields);
}

json_t *report_paced_node_json(const struct report_paced_node *n)
{
    json_t *o = json_of_fields(n, node_fields);

    json_put_rows(o, "levers", n->levers, sizeof(n->levers[0]), n->n_levers, lever_fields);
    json_put_text(o, "node", n->node);
    return o;
}

json_t *report_pace_json(const struct report_pace *p)
{
    json_t *o = report_pace_control_json(p), *nodes = json_array();

    json_put_fields(o, p, held_fields);
    for (size_t i = 0; i < p->n; i++)
        json_array_append_new(nodes, report_paced_node_json(&p->node[i]));
    json_put_json(o, "nodes", nodes);
    return o;
}

/* ---- reading ---- */

void report_paced_node_read(struct report_paced_node *n, const json_t *o)
{
    n->known = true;
    json_get_fields(n, o, node_fields);
    n->n_levers =
        json_get_rows(n->levers, sizeof(n->levers[0]), REPORT_LEVERS_MAX, o, "levers", lever_fields);
}

void report_pace_read(struct report_pace *p, const json_t *o)
{
    const json_t *nodes = json_get_list(o, "nodes", NODES_MAX, &p->n);

    p->known = json_is_object(o);
    json_get_fields(p, o, control_fields);
    json_get_fields(p, o, held_fields);
    p->node = xcalloc(p->n, sizeof(*p->node));
    for (size_t i = 0; i < p->n; i++) {
        report_paced_node_read(&p->node[i], json_array_get(nodes, i));
        json_get_text(json_array_get(nodes, i), "node", p->node[i].node, sizeof(p->node[i].node));
    }
}

void report_pace_free(struct report_pace *p)
{
    free(p->node);
    p->node = NULL;
    p->n = 0;
}

/* ---- over all nodes ---- */

static struct report_lever *lever_of(struct report_lever *lever, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(lever[i].name, name))
            return &lever[i];
    if (*n == REPORT_LEVERS_MAX || !*name)
        return NULL;
    lever[*n] = (struct report_lever){ .compared = -1, .ratio = NAN, .low = NAN, .high = NAN };
    snprintf(lever[*n].name, sizeof(lever[*n].name), "%s", name);
    return &lever[(*n)++];
}

size_t report_pace_levers(const struct report_pace *p, struct report_lever lever[REPORT_LEVERS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->node[i].n_levers; k++) {
            const struct report_paced_node *node = &p->node[i];
            const struct report_paced_lever *at = &node->levers[k];
            struct report_lever *l = lever_of(lever, &n, at->lever);

            if (!l)
                continue;
            if (!strcmp(l->name, node->lever)) {
                l->in_force += !strcmp(node->mode, "in force");
                l->trial += !strcmp(node->mode, "trial");
            }
            if (at->compared <= l->compared)
                continue;
            l->compared = at->compared;
            l->ratio = at->ratio;
            l->low = at->low;
            l->high = at->high;
            snprintf(l->why, sizeof(l->why), "%s", at->why);
        }
    return n;
}
