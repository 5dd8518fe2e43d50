#include "network/network_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"

struct network *network_new(const struct fabric *f)
{
    struct network *n = xcalloc(1, sizeof(*n));

    n->fabric = *f;
    n->share = share_new(f->links);
    for (uint32_t l = 0; l < f->links; l++)
        share_set_capacity(n->share, l, fabric_link_bytes_per_s(f, l));
    return n;
}

void network_free(struct network *n)
{
    if (!n)
        return;
    share_free(n->share);
    gate_queues_free(n->gates);
    free(n->incast.flows);
    free(n->incast.own);
    free(n->link_extra_s);
    free(n);
}

/* A link's part of the hash of all faults; 0 for a healthy link. */
static uint64_t mixed(uint64_t place, double slowdown, double extra_latency_s)
{
    uint64_t part[3] = { place }, x = 0;

    memcpy(&part[1], &slowdown, sizeof(slowdown));
    memcpy(&part[2], &extra_latency_s, sizeof(extra_latency_s));
    for (int i = 0; i < 3; i++)
        x = hash_mix(x + part[i] + 0x9e3779b97f4a7c15u);
    return x;
}

void network_weigh_latency(struct network *n, bool weigh)
{
    n->faults ^= n->weighs_latency != weigh ? mixed(UINT64_MAX, 1, 0) : 0;
    n->weighs_latency = weigh;
}

/* ---- incast ---- */

/* Only ports of switches lose messages; a rank or node does not send faster than its own link. */
static void incast_apply(struct network *n, uint32_t link)
{
    double capacity = n->incast.own[link];
    uint32_t flows = n->incast.flows[link];

    if (link >= fabric_nic_link(&n->fabric, 0, 0, false) && flows > n->incast.buffer)
        capacity /= 1 + n->incast.loss * (flows - n->incast.buffer) / flows;
    if (capacity != share_capacity(n->share, link))
        share_set_capacity(n->share, link, capacity);
}

static uint64_t incast_name(const struct network *n)
{
    return n->incast.loss > 0 ? mixed(UINT64_MAX - 1, n->incast.loss, n->incast.buffer) : 0;
}

void network_set_incast(struct network *n, uint32_t buffer, double loss)
{
    n->faults ^= incast_name(n);
    n->incast.buffer = buffer;
    n->incast.loss = loss;
    n->faults ^= incast_name(n);
    if (!n->incast.flows && loss > 0) {
        n->incast.flows = xcalloc(n->fabric.links, sizeof(*n->incast.flows));
        n->incast.own = xcalloc(n->fabric.links, sizeof(*n->incast.own));
        for (uint32_t l = 0; l < n->fabric.links; l++)
            n->incast.own[l] = share_capacity(n->share, l);
    }
    for (uint32_t l = 0; n->incast.flows && l < n->fabric.links; l++)
        incast_apply(n, l);
}

static void incast_count(struct network *n, const struct network_way *way, int change)
{
    for (uint32_t h = 0; n->incast.flows && h < way->hops; h++) {
        n->incast.flows[way->link[h]] += (uint32_t)change;
        incast_apply(n, way->link[h]);
    }
}

bool network_flow_add(struct network *n, uint32_t flow, const struct network_way *way)
{
    incast_count(n, way, 1);
    return share_add(n->share, flow, way->link, way->hops, way->weight);
}

void network_flow_remove(struct network *n, uint32_t flow, const struct network_way *way)
{
    share_remove(n->share, flow);
    incast_count(n, way, -1);
}

void network_flows_clear(struct network *n)
{
    share_clear(n->share);
    for (uint32_t l = 0; n->incast.flows && l < n->fabric.links; l++) {
        if (!n->incast.flows[l])
            continue;
        n->incast.flows[l] = 0;
        incast_apply(n, l);
    }
}

/* ---- gates ---- */

void network_set_gate(struct network *n, uint32_t link, uint32_t limit, double gap_s)
{
    if (!n->gates)
        n->gates = gate_queues_new(n->fabric.links);
    gate_queues_set(n->gates, link, limit, gap_s);
}

/* ---- faults ---- */

static uint64_t link_name(const struct network *n, uint32_t link)
{
    double extra_s = n->link_extra_s ? n->link_extra_s[link] : 0;
    double capacity = n->incast.own ? n->incast.own[link] : share_capacity(n->share, link); /* without loss */

    if (capacity == fabric_link_bytes_per_s(&n->fabric, link) && extra_s == 0)
        return 0;
    return mixed(link, capacity, extra_s);
}

void network_set_link(struct network *n, uint32_t link, double slowdown, double extra_latency_s)
{
    double capacity = fabric_link_bytes_per_s(&n->fabric, link) / slowdown;

    if (!n->link_extra_s && extra_latency_s > 0)
        n->link_extra_s = xcalloc(n->fabric.links, sizeof(*n->link_extra_s));
    n->faults ^= link_name(n, link);
    if (n->link_extra_s)
        n->link_extra_s[link] = extra_latency_s;
    if (n->incast.own) {
        n->incast.own[link] = capacity;
        incast_apply(n, link);
    } else if (share_capacity(n->share, link) != capacity) {
        share_set_capacity(n->share, link, capacity);
    }
    n->faults ^= link_name(n, link);
}

void network_heal(struct network *n)
{
    for (uint32_t l = 0; l < n->fabric.links; l++)
        network_set_link(n, l, 1, 0);
}

void network_way(const struct network *n, uint32_t from_rank, uint32_t to_rank, struct network_way *way)
{
    struct fabric_route route;

    fabric_route(&n->fabric, from_rank, to_rank, &route);
    way->hops = route.hops;
    memcpy(way->link, route.link, sizeof(way->link));
    way->latency_s = route.latency_s;
    way->weight = 1;
    for (uint32_t h = 0; n->link_extra_s && h < way->hops; h++)
        way->latency_s += n->link_extra_s[way->link[h]];
    if (n->weighs_latency && way->latency_s > 0)
        way->weight = 1 / way->latency_s;
}
