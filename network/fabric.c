#include "network/fabric.h"

#include <math.h>
#include <stdio.h>

void fabric_flat(struct fabric_shape *s, uint32_t nodes, double latency_s, double bytes_per_s)
{
    *s = (struct fabric_shape){ .nodes = nodes,
                                .ranks_per_node = 1,
                                .rails = 1,
                                .levels = 1,
                                .level = { { nodes, 1, 1, latency_s, bytes_per_s } } };
}

void fabric_leafspine(struct fabric_shape *s, uint32_t nodes, uint32_t children, uint32_t spines,
                      double latency_s, double bytes_per_s)
{
    uint32_t leaves = children ? (nodes + children - 1) / children : 0;

    fabric_flat(s, nodes, latency_s, bytes_per_s);
    s->levels = 2;
    s->level[0].children = children;
    s->level[1] = (struct fabric_level){ leaves, spines, 1, latency_s, bytes_per_s };
}

/* ---- checking a shape ---- */

static bool is_latency(double v)
{
    return isfinite(v) && v >= 0;
}

static bool is_bandwidth(double v)
{
    return isfinite(v) && v > 0;
}

static int check_node(const struct fabric_shape *s, struct err *err)
{
    if (!s->nodes || !s->ranks_per_node || s->nodes > FABRIC_RANKS_MAX / s->ranks_per_node)
        return err_set(err, "%u nodes of %u ranks: 1 to %u ranks are accepted", s->nodes, s->ranks_per_node,
                       FABRIC_RANKS_MAX);
    if (!s->rails || s->rails > s->ranks_per_node)
        return err_set(err, "%u rails: 1 to the %u ranks of a node are accepted", s->rails,
                       s->ranks_per_node);
    if (s->ranks_per_node > 1 && (!is_latency(s->node_latency_s) || !is_bandwidth(s->node_bytes_per_s)))
        return err_set(err,
                       "link within a node: a latency of 0 or more and a bandwidth above 0 are accepted, not "
                       "%g s and %g bytes/s",
                       s->node_latency_s, s->node_bytes_per_s);
    if (!s->levels || s->levels > FABRIC_LEVELS_MAX)
        return err_set(err, "%u levels of switches: 1 to %u are accepted", s->levels, FABRIC_LEVELS_MAX);
    return 0;
}

static int check_level(const struct fabric_shape *s, uint32_t l, struct err *err)
{
    const struct fabric_level *level = &s->level[l];

    if (!level->children || !level->parents || !level->parallel)
        return err_set(err, "level %u: children, parents and cables must be 1 or more, not %u, %u and %u", l,
                       level->children, level->parents, level->parallel);
    if (!l && (level->parents != 1 || level->parallel != 1))
        return err_set(err,
                       "level 0: a node has one parent and one cable to it (more NICs are `rails`), not %u "
                       "and %u",
                       level->parents, level->parallel);
    if (!is_latency(level->latency_s) || !is_bandwidth(level->bytes_per_s))
        return err_set(err,
                       "level %u: a latency of 0 or more and a bandwidth above 0 are accepted, not %g s "
                       "and %g bytes/s",
                       l, level->latency_s, level->bytes_per_s);
    return 0;
}

int fabric_init(struct fabric *f, const struct fabric_shape *s, struct err *err)
{
    struct fabric made = { .shape = *s };
    uint64_t below = 1, radix = 1, links, ports;

    if (check_node(s, err) < 0)
        return -1;
    made.ranks = s->nodes * s->ranks_per_node;
    links = s->ranks_per_node > 1 ? 2 * (uint64_t)made.ranks : 0;
    for (uint32_t l = 0; l < s->levels; l++) {
        if (check_level(s, l, err) < 0)
            return -1;
        ports = l ? (uint64_t)s->level[l].parents * s->level[l].parallel : s->rails;
        made.level[l].below = (uint32_t)below;
        made.level[l].radix = (uint32_t)radix;
        /* Children without nodes below them need no cable. */
        uint64_t cables = radix * ((s->nodes + below - 1) / below);

        if (ports > FABRIC_LINKS_MAX || cables > FABRIC_LINKS_MAX || cables * ports > FABRIC_LINKS_MAX)
            return err_set(err, "level %u: more than %u links", l, FABRIC_LINKS_MAX);
        made.level[l].cables = (uint32_t)(cables * ports);
        made.level[l].up = (uint32_t)links;
        made.level[l].down = (uint32_t)(links + cables * ports);
        links += 2 * cables * ports;
        if (links > FABRIC_LINKS_MAX)
            return err_set(err, "level %u: more than %u links", l, FABRIC_LINKS_MAX);
        below *= s->level[l].children;
        if (below > FABRIC_LINKS_MAX)
            below = FABRIC_LINKS_MAX; /* larger than any valid fabric */
        radix *= l ? s->level[l].parents : (s->planes ? s->rails : 1);
    }
    if (below < s->nodes)
        return err_set(err, "%u nodes do not fit under one tree: its levels have room for %u", s->nodes,
                       (uint32_t)below);
    made.links = (uint32_t)links;
    *f = made;
    return 0;
}

/* ---- routes ---- */

static void cross(struct fabric_route *route, uint32_t link, double latency_s)
{
    route->link[route->hops++] = link;
    route->latency_s += latency_s;
}

static void route_within(const struct fabric *f, uint32_t from, uint32_t to, struct fabric_route *route)
{
    cross(route, from, f->shape.node_latency_s / 2);
    cross(route, f->ranks + to, f->shape.node_latency_s / 2);
}

void fabric_route(const struct fabric *f, uint32_t from, uint32_t to, struct fabric_route *route)
{
    const struct fabric_shape *s = &f->shape;
    uint32_t a = from / s->ranks_per_node, b = to / s->ranks_per_node;
    uint32_t rail_a = from % s->ranks_per_node % s->rails, rail_b = to % s->ranks_per_node % s->rails;
    uint32_t down[FABRIC_LEVELS_MAX], top = 1, chosen, source, key;

    route->hops = 0;
    route->latency_s = 0;
    if (a == b) {
        if (from != to)
            route_within(f, from, to, route);
        return;
    }
    /* With planes a message stays on the sender's plane. */
    if (s->planes)
        rail_b = rail_a;
    cross(route, f->level[0].up + a * s->rails + rail_a, s->level[0].latency_s);
    down[0] = f->level[0].down + b * s->rails + rail_b;
    /* Every NIC is a separate destination; with planes, each plane is a separate tree. */
    source = s->planes ? a : a * s->rails + rail_a;
    key = s->planes ? b : b * s->rails + rail_b;
    chosen = s->planes ? rail_a : 0; /* which of the equivalent switches */
    for (uint32_t l = 1; l < s->levels && a / f->level[l].below != b / f->level[l].below; l++, top++) {
        const struct fabric_level *level = &s->level[l];
        uint32_t ports = level->parents * level->parallel, port = key % ports, parent = port % level->parents;
        uint32_t up = chosen + f->level[l].radix * (a / f->level[l].below);
        uint32_t back = chosen + f->level[l].radix * (b / f->level[l].below);

        cross(route, f->level[l].up + up * ports + port, level->latency_s);
        down[l] = f->level[l].down + back * ports + parent + level->parents * (source % level->parallel);
        chosen += f->level[l].radix * parent;
        key /= ports;
    }
    while (top--)
        cross(route, down[top], s->level[top].latency_s);
}

/* ---- places ---- */

uint32_t fabric_node(const struct fabric *f, uint32_t rank)
{
    return rank / f->shape.ranks_per_node;
}

/* The level of a link, or -1 within a node. */
static int link_level(const struct fabric *f, uint32_t link)
{
    int l = (int)f->shape.levels - 1;

    while (l >= 0 && link < f->level[l].up)
        l--;
    return l;
}

double fabric_link_bytes_per_s(const struct fabric *f, uint32_t link)
{
    int l = link_level(f, link);

    return l < 0 ? f->shape.node_bytes_per_s : f->shape.level[l].bytes_per_s;
}

uint32_t fabric_rank_link(const struct fabric *f, uint32_t rank, bool out)
{
    if (f->shape.ranks_per_node == 1 || rank >= f->ranks)
        return FABRIC_NO_LINK;
    return out ? rank : f->ranks + rank;
}

uint32_t fabric_nic_link(const struct fabric *f, uint32_t node, uint32_t rail, bool up)
{
    if (node >= f->shape.nodes || rail >= f->shape.rails)
        return FABRIC_NO_LINK;
    return (up ? f->level[0].up : f->level[0].down) + node * f->shape.rails + rail;
}

uint32_t fabric_switches(const struct fabric *f, uint32_t level)
{
    if (!level || level > f->shape.levels)
        return 0;
    if (level == f->shape.levels)
        return f->level[level - 1].radix * (level > 1         ? f->shape.level[level - 1].parents
                                            : f->shape.planes ? f->shape.rails
                                                              : 1);
    return f->level[level].cables / (f->shape.level[level].parents * f->shape.level[level].parallel);
}

uint32_t fabric_switch_link(const struct fabric *f, uint32_t level, uint32_t position, uint32_t port, bool up)
{
    uint32_t ports;

    if (!level || level >= f->shape.levels)
        return FABRIC_NO_LINK;
    ports = f->shape.level[level].parents * f->shape.level[level].parallel;
    if (position >= fabric_switches(f, level) || port >= ports)
        return FABRIC_NO_LINK;
    return (up ? f->level[level].up : f->level[level].down) + position * ports + port;
}
