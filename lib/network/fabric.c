#include "network/fabric.h"

void fabric_flat(struct fabric_shape *s, uint32_t nodes, double latency_s, double bytes_per_s)
{
    *s = (struct fabric_shape){ .nodes = nodes,
                                .ranks_per_node = 1,
                                .rails = 1,
                                .levels = 1,
                                .level = { { nodes, 1, latency_s, bytes_per_s } } };
}

void fabric_leafspine(struct fabric_shape *s, uint32_t nodes, uint32_t children, uint32_t spines,
                      double latency_s, double bytes_per_s)
{
    uint32_t leaves = (nodes + children - 1) / children;

    fabric_flat(s, nodes, latency_s, bytes_per_s);
    s->levels = 2;
    s->level[0].children = children;
    s->level[1] = (struct fabric_level){ leaves, spines, latency_s, bytes_per_s };
}

int fabric_init(struct fabric *f, const struct fabric_shape *s, struct err *err)
{
    uint64_t below = 1, radix = 1, links;

    *f = (struct fabric){ .shape = *s };
    if (s->nodes > FABRIC_RANKS_MAX / s->ranks_per_node)
        return err_set(err, "%u nodes of %u ranks: at most %u ranks are accepted", s->nodes,
                       s->ranks_per_node, FABRIC_RANKS_MAX);
    f->ranks = s->nodes * s->ranks_per_node;
    links = s->ranks_per_node > 1 ? 2 * (uint64_t)f->ranks : 0;
    for (uint32_t l = 0; l < s->levels; l++) {
        /* Children without nodes below them need no cable. */
        uint64_t cables = radix * ((s->nodes + below - 1) / below) * (l ? s->level[l].parents : s->rails);

        f->level[l].below = (uint32_t)below;
        f->level[l].radix = (uint32_t)radix;
        f->level[l].up = (uint32_t)links;
        f->level[l].down = (uint32_t)(links + cables);
        links += 2 * cables;
        if (links > FABRIC_LINKS_MAX)
            return err_set(err, "level %u: more than %u links", l, FABRIC_LINKS_MAX);
        below *= s->level[l].children;
        radix *= l ? s->level[l].parents : 1;
    }
    f->links = (uint32_t)links;
    return 0;
}

/* ---- routes ---- */

static void cross(struct fabric_route *route, uint32_t link, double latency_s)
{
    route->link[route->hops++] = link;
    route->latency_s += latency_s;
}

void fabric_route(const struct fabric *f, uint32_t from, uint32_t to, struct fabric_route *route)
{
    const struct fabric_shape *s = &f->shape;
    uint32_t a = from / s->ranks_per_node, b = to / s->ranks_per_node;
    uint32_t rail_a = from % s->ranks_per_node % s->rails, rail_b = to % s->ranks_per_node % s->rails;
    uint32_t down[FABRIC_LEVELS_MAX], top = 1, key = b * s->rails + rail_b; /* every NIC is a destination */
    uint32_t chosen = 0; /* which of the equivalent switches */

    route->hops = 0;
    route->latency_s = 0;
    if (a == b) {
        if (from != to) {
            cross(route, from, s->node_latency_s / 2);
            cross(route, f->ranks + to, s->node_latency_s / 2);
        }
        return;
    }
    cross(route, f->level[0].up + a * s->rails + rail_a, s->level[0].latency_s);
    down[0] = f->level[0].down + key;
    for (uint32_t l = 1; l < s->levels && a / f->level[l].below != b / f->level[l].below; l++, top++) {
        uint32_t parents = s->level[l].parents, parent = key % parents;
        uint32_t up = chosen + f->level[l].radix * (a / f->level[l].below);
        uint32_t back = chosen + f->level[l].radix * (b / f->level[l].below);

        cross(route, f->level[l].up + up * parents + parent, s->level[l].latency_s);
        down[l] = f->level[l].down + back * parents + parent;
        chosen += f->level[l].radix * parent;
        key /= parents;
    }
    while (top--)
        cross(route, down[top], s->level[top].latency_s);
}

/* ---- places ---- */

double fabric_link_bytes_per_s(const struct fabric *f, uint32_t link)
{
    int l = (int)f->shape.levels - 1;

    while (l >= 0 && link < f->level[l].up)
        l--;
    /* below all levels: within a node */
    return l < 0 ? f->shape.node_bytes_per_s : f->shape.level[l].bytes_per_s;
}

uint32_t fabric_nic_link(const struct fabric *f, uint32_t node, uint32_t rail, bool up)
{
    return (up ? f->level[0].up : f->level[0].down) + node * f->shape.rails + rail;
}

uint32_t fabric_leaf_link(const struct fabric *f, uint32_t leaf, uint32_t parent, bool up)
{
    return (up ? f->level[1].up : f->level[1].down) + leaf * f->shape.level[1].parents + parent;
}
