/* comm.c - see comm.h */
#include "probe/comm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "probe/mix.h"

#define BUCKETS    1024u /* a power of two */
#define MEMBERSETS 256u
#define FOREIGN    UINT64_MAX /* a member outside of this MPI_COMM_WORLD */

static struct comm *_Atomic buckets[BUCKETS];

/* Number of communicators made with one membership.  Never freed: the count must not restart. */
struct memberset {
    struct memberset *next;
    uint64_t membership;
    uint32_t instances;
};
static struct memberset *membersets[MEMBERSETS];

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static inline struct comm *_Atomic *bucket(handle h)
{
    return &buckets[(uint64_t)(uintptr_t)h * 0x9e3779b97f4a7c15u >> 54];
}
_Static_assert(BUCKETS == 1u << (64 - 54), "the hash has as many values as there are buckets");

static struct comm *find_comm(handle h)
{
    struct comm *c = atomic_load_explicit(bucket(h), memory_order_acquire);

    while (c && atomic_load_explicit(&c->at, memory_order_acquire) != h)
        c = c->next;
    return c;
}

/* ---- questions to the library, all answered locally ---- */

static struct next comm_group = { "PMPI_Comm_group", NULL },
                   comm_remote_group = { "PMPI_Comm_remote_group", NULL },
                   comm_rank = { "PMPI_Comm_rank", NULL }, comm_inter = { "PMPI_Comm_test_inter", NULL },
                   group_free = { "PMPI_Group_free", NULL }, group_size = { "PMPI_Group_size", NULL },
                   group_ranks = { "PMPI_Group_translate_ranks", NULL };
static struct next topo_cart = { "PMPI_Cartdim_get", NULL },
                   topo_graph = { "PMPI_Graph_neighbors_count", NULL },
                   topo_dist = { "PMPI_Dist_graph_neighbors_count", NULL },
                   topo_test = { "PMPI_Topo_test", NULL };

typedef int (*ask_fn)(handle, void *);

static int ask_library(struct next *n, handle h, int *answer)
{
    return ((ask_fn)next_get(n))(h, answer) ? -1 : 0;
}

/* The members' world ranks in order; the caller frees them.  NULL on failure. */
static uint64_t *members(handle h, bool remote, uint32_t *n_members)
{
    uint64_t group = 0, world = 0, *ids = NULL;
    int n = 0, *in = NULL, *out;

    if (((ask_fn)next_get(remote ? &comm_remote_group : &comm_group))(h, &group) ||
        ((ask_fn)next_get(&comm_group))(probe.abi.world, &world))
        goto done;
    if (ask_library(&group_size, (handle)(uintptr_t)group, &n) || n < 1)
        goto done;
    in = malloc(2 * (size_t)n * sizeof(*in));
    ids = malloc((size_t)n * sizeof(*ids));
    if (!in || !ids)
        goto fail;
    out = in + n;
    for (int i = 0; i < n; i++)
        in[i] = i;
    if (((int (*)(handle, int, int *, handle, int *))next_get(&group_ranks))((handle)(uintptr_t)group, n, in,
                                                                             (handle)(uintptr_t)world, out))
        goto fail;
    for (int i = 0; i < n; i++) {
        if (out[i] < 0)
            ids[i] = FOREIGN;
        else
            ids[i] = probe.world_size == 1 ? probe.rank : (uint64_t)out[i];
    }
    *n_members = (uint32_t)n;
    goto done;
fail:
    free(ids);
    ids = NULL;
done:
    free(in);
    if (group)
        ((int (*)(void *))next_get(&group_free))(&group);
    if (world)
        ((int (*)(void *))next_get(&group_free))(&world);
    return ids;
}

/* Number of neighbours that this rank sends to. */
static uint32_t destinations(handle h, const struct comm *c)
{
    int kind = 0, sources, n, weighted;

    if (c->flags & RING_EVENT_INTER || ask_library(&topo_test, h, &kind))
        return 0;
    if (kind == probe.abi.cart && !ask_library(&topo_cart, h, &n))
        return 2 * (uint32_t)n;
    if (kind == probe.abi.graph && !((int (*)(handle, int, int *))next_get(&topo_graph))(h, c->rank, &n))
        return (uint32_t)n;
    if (kind == probe.abi.dist_graph &&
        !((int (*)(handle, int *, int *, int *))next_get(&topo_dist))(h, &sources, &n, &weighted))
        return (uint32_t)n;
    return 0;
}

/* ---- naming ---- */

struct group {
    uint64_t *ids;
    uint32_t n;
};

static uint64_t group_hash(const struct group *g, uint64_t h)
{
    for (uint32_t i = 0; i < g->n; i++)
        h = mix(h ^ (g->ids[i] + 0x9e3779b97f4a7c15u));
    return h;
}

static uint32_t instance_of(uint64_t membership)
{
    struct memberset **at = &membersets[membership % MEMBERSETS];

    while (*at && (*at)->membership != membership)
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof(**at));
        if (!*at)
            return 0;
        (*at)->membership = membership;
    }
    return (*at)->instances++;
}

/* Keep the names of a group's members, unless they are called as their ranks.  False when out of memory. */
static bool keep_members(struct comm *c, const struct group *g)
{
    uint32_t same = 0;

    while (same < g->n && g->ids[same] == same)
        same++;
    if (same == g->n)
        return true;
    c->world = malloc(g->n * sizeof(*c->world));
    for (uint32_t i = 0; c->world && i < g->n; i++)
        c->world[i] = g->ids[i] == FOREIGN ? COMM_FOREIGN : (uint32_t)g->ids[i];
    return c->world != NULL;
}

/* The members outside of this world do not count: they describe the communicator by another name. */
static void describe_group(struct ring_comm *d, const struct group *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->ids[i] == FOREIGN)
            continue;
        d->size++;
        d->first = g->ids[i] < d->first ? (uint32_t)g->ids[i] : d->first;
        d->last = g->ids[i] > d->last ? (uint32_t)g->ids[i] : d->last;
    }
}

/* Both sides of an intercommunicator have the groups in the same order: first is the group whose members come
 * first. */
static void describe_comm(struct comm *c, const struct group g[2], int n_groups)
{
    int first = n_groups == 2 && g[1].ids[0] < g[0].ids[0];
    struct ring_comm *d = &c->described;

    *d = (struct ring_comm){ .first = UINT32_MAX, .flags = c->flags };
    d->membership = group_hash(&g[first], mix(probe.world_seed));
    describe_group(d, &g[first]);
    d->rank = first ? d->size : 0;
    if (n_groups == 2) {
        d->membership = group_hash(&g[!first], mix(d->membership ^ 1));
        describe_group(d, &g[!first]);
    }
    for (uint32_t i = 0; i < (uint32_t)c->rank && i < g[0].n; i++)
        d->rank += g[0].ids[i] != FOREIGN; /* who is not described has no place before this rank */
}

/* Fill in who is in it, as the library says.  False on failure. */
static bool ask_members(struct comm *c, handle h)
{
    struct group g[2] = { { NULL, 0 } };
    int inter = 0, rank = 0, n_groups;
    bool known = false;

    if (ask_library(&comm_inter, h, &inter) || ask_library(&comm_rank, h, &rank))
        return false;
    n_groups = inter ? 2 : 1;
    for (int k = 0; k < n_groups; k++)
        if (!(g[k].ids = members(h, k == 1, &g[k].n)))
            goto done;
    c->size = g[0].n + g[1].n;
    c->rank = rank;
    c->peers = inter ? g[1].n : g[0].n;
    c->flags = inter ? RING_EVENT_INTER : 0;
    c->destinations = destinations(h, c);
    describe_comm(c, g, n_groups);
    known = keep_members(c, &g[n_groups - 1]);
done:
    free(g[0].ids);
    free(g[1].ids);
    return known;
}

/* The same as in another one. */
static bool copy_members(struct comm *c, const struct comm *from)
{
    *c = (struct comm){ .size = from->size,
                        .rank = from->rank,
                        .peers = from->peers,
                        .flags = from->flags,
                        .destinations = from->destinations,
                        .described = from->described };
    if (!from->world)
        return true;
    c->world = malloc(from->peers * sizeof(*c->world));
    if (c->world)
        memcpy(c->world, from->world, from->peers * sizeof(*c->world));
    return c->world != NULL;
}

static struct comm *take_entry(handle h)
{
    struct comm *c = atomic_load_explicit(bucket(h), memory_order_relaxed);

    while (c && atomic_load_explicit(&c->at, memory_order_relaxed))
        c = c->next;
    if (!c && (c = calloc(1, sizeof(*c)))) {
        c->next = atomic_load_explicit(bucket(h), memory_order_relaxed);
        atomic_store_explicit(bucket(h), c, memory_order_release);
    }
    return c;
}

/* Name and register a communicator; like: one of the same members, NULL: the library is asked.  Call with the
 * lock held. */
static void name_comm(handle h, struct comm_origin origin, const struct comm *like)
{
    struct comm made = { .world = NULL }, *c;
    uint64_t key;

    if (!(like ? copy_members(&made, like) : ask_members(&made, h)) || !(c = take_entry(h))) {
        free(made.world);
        return;
    }
    free(c->world); /* nobody uses the names of a communicator that was freed */
    c->world = made.world;
    c->size = made.size;
    c->rank = made.rank;
    c->peers = made.peers;
    c->flags = made.flags;
    c->destinations = made.destinations;
    c->described = made.described;
    c->described.instance = instance_of(c->described.membership);
    key = c->described.membership ^ origin.hash;
    if (!origin.hash)
        key ^= mix(c->described.instance + 1);
    else if (origin.counted)
        key ^= mix(instance_of(key) + 1);
    c->name = mix(key);
    c->name += !c->name; /* 0 means no communicator */
    c->described.name = c->name;
    c->left_ns = 0;
    c->place = probe.main ? ring_comm_add(probe.main, &c->described) : -1;
    atomic_store_explicit(&c->seq, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->uses, 1, memory_order_relaxed);
    atomic_store_explicit(&c->at, h, memory_order_release);
}

/* Call with the lock held. */
static void forget_comm(struct comm *c)
{
    if (probe.main)
        ring_comm_end(probe.main, c->place);
    c->place = -1;
    atomic_store_explicit(&c->at, NULL, memory_order_release);
}

struct comm *comm_find(handle h)
{
    struct comm *c;

    h = handle_of(h);
    c = find_comm(h);
    if (__builtin_expect(c != NULL, 1))
        return c;
    if (h && h != probe.abi.null_comm)
        ring_missed(probe.main);
    return NULL;
}

struct comm_origin comm_child(uint64_t parent, uint32_t number)
{
    return (struct comm_origin){ mix(parent ^ mix((uint64_t)number + 1)), false };
}

struct comm_origin comm_tagged(uint64_t parent, uint64_t tag)
{
    return (struct comm_origin){ mix(parent ^ mix(~tag)), true };
}

uint64_t comm_text(const char *text)
{
    uint64_t h = 1;

    for (; text && *text; text++)
        h = mix(h ^ (unsigned char)*text);
    return h;
}

void comm_made(handle h, struct comm_origin origin, const struct comm *like)
{
    int saved = errno;
    struct comm *c;

    if (!h || h == probe.abi.null_comm)
        return;
    pthread_mutex_lock(&making);
    c = find_comm(h);
    if (c) /* freed by a call that the probe does not wrap, and its handle reused */
        forget_comm(c);
    name_comm(h, origin, like);
    pthread_mutex_unlock(&making);
    errno = saved;
}

struct comm_end comm_ending(handle h)
{
    struct comm *c = find_comm(h);

    return (struct comm_end){ c, h, c ? atomic_load_explicit(&c->uses, memory_order_relaxed) : 0 };
}

void comm_ended(struct comm_end end)
{
    struct comm *c = end.comm;

    if (!c)
        return;
    pthread_mutex_lock(&making);
    if (atomic_load_explicit(&c->at, memory_order_relaxed) == end.at &&
        atomic_load_explicit(&c->uses, memory_order_relaxed) == end.uses)
        forget_comm(c);
    pthread_mutex_unlock(&making);
}
