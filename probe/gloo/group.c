#include "gloo/group.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "gloo/guest.h"
#include "probe/mix.h"

#define STORES   1024u
#define GROUPS   512u
#define CONTEXTS 1024u

/* Names of stores; the oldest gives way. */
static struct {
    const void *at;
    uint64_t name;
} stores[STORES];
static size_t n_stores;
static struct group *groups[GROUPS];
static size_t n_groups;
static struct {
    const void *at;
    const void *transport; /* NULL: not connected yet */
    struct group *group;
} contexts[CONTEXTS];
static atomic_size_t n_contexts; /* what is before has its address and group */

static uint64_t store_name(const void *at)
{
    for (size_t i = 0; at && i < n_stores && i < STORES; i++)
        if (stores[i].at == at)
            return stores[i].name;
    return 1;
}

void group_store(const void *store, const void *parent, const char *prefix, size_t length)
{
    uint64_t name = store_name(parent);
    size_t i = 0;

    for (size_t k = 0; k < length; k++)
        name = mix(name ^ ((uint64_t)(unsigned char)prefix[k] + 0x9e3779b97f4a7c15u));
    while (i < n_stores && i < STORES && stores[i].at != store)
        i++;
    if (i == n_stores || i == STORES)
        i = n_stores++ % STORES;
    stores[i].at = store;
    stores[i].name = mix(name ^ length);
}

struct group *group_new(const void *at, const void *store, uint32_t rank, uint32_t size)
{
    struct group *g = n_groups < GROUPS ? calloc(1, sizeof(*g)) : NULL;

    if (!g)
        return NULL;
    g->at = at;
    g->rank = rank;
    g->size = size;
    g->prefix = mix(store_name(store) ^ mix(size));
    for (size_t i = 0; i < n_groups; i++)
        g->instance += groups[i]->prefix == g->prefix;
    g->name = mix(g->prefix ^ mix(g->instance + 1));
    g->name += !g->name; /* 0 means no communicator */
    groups[n_groups++] = g;
    return g;
}

static size_t contexts_known(void)
{
    return atomic_load_explicit(&n_contexts, memory_order_acquire);
}

void group_context(struct group *g, const void *context)
{
    size_t n = contexts_known();

    if (n == CONTEXTS)
        return;
    contexts[n].at = context;
    contexts[n].group = g;
    atomic_store_explicit(&n_contexts, n + 1, memory_order_release);
}

/* Of memory that may not be there. */
static bool peek_memory(const void *at, void *out, size_t bytes)
{
    const struct iovec to = { out, bytes }, from = { (void *)(uintptr_t)at, bytes };

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

/* What lies where a transport would be is one if it has the group's rank and size. */
static const void *transport_of(const struct group *g, const void *context)
{
    static const size_t places[] = { offsetof(struct gloo_context, transport),
                                     offsetof(struct gloo_context_shared, transport) };
    const void *found = NULL;
    struct gloo_transport t;
    struct gloo_shared s;
    int saved = errno;

    for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found; i++)
        if (peek_memory((const char *)context + places[i], &s, sizeof(s)) &&
            peek_memory(s.at, &t, sizeof(t)) && t.rank == (int32_t)g->rank && t.size == (int32_t)g->size)
            found = s.at;
    errno = saved;
    return found;
}

bool group_connected(const struct group *g)
{
    bool any = false;

    for (size_t i = contexts_known(); i-- > 0 && contexts[i].group == g;) {
        contexts[i].transport = transport_of(g, contexts[i].at);
        any = true;
    }
    if (any)
        guest_join(g->rank, g->size);
    /* Every rank of the job may be in a group that has not all of them: PyTorch's object does not know
     * which. */
    if (any && guest.ring && g->size <= guest.world_size)
        ring_comm_add(guest.ring, &(struct ring_comm){ .name = g->name,
                                                       .membership = g->prefix,
                                                       .size = g->size,
                                                       .rank = g->rank,
                                                       .instance = g->instance,
                                                       .first = 0,
                                                       .last = guest.world_size - 1 });
    return any;
}

/* From the newest on: one that is gone may have had the same address. */
struct group *group_at(const void *at)
{
    for (size_t i = n_groups; i-- > 0;)
        if (groups[i]->at == at)
            return groups[i];
    return NULL;
}

struct group *group_of_context(const void *context)
{
    for (size_t i = contexts_known(); i-- > 0;)
        if (contexts[i].at == context || (const char *)contexts[i].at + GLOO_CONTEXT_BASE == context)
            return contexts[i].group;
    return NULL;
}

struct group *group_of_transport(const void *transport)
{
    for (size_t i = contexts_known(); transport && i-- > 0;)
        if (contexts[i].transport == transport)
            return contexts[i].group;
    return NULL;
}

struct group *group_number(size_t n)
{
    return n < n_groups ? groups[n] : NULL;
}
