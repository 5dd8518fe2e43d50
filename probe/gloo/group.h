/* group.h - process groups of PyTorch, and names for them that all their ranks agree on without
 * communicating.
 *
 * A group's ranks find each other in a store of keys, and each group has a prefix of its own there, which
 * PyTorch makes the same on all of its ranks. The name is a hash of the prefix, the size, and how many groups
 * with both were made before.  A group has one or more contexts of Gloo, on which its collectives run in
 * turn. */
#ifndef SYNCGUARD_GLOO_GROUP_H
#define SYNCGUARD_GLOO_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gloo/layout.h"

/* collectives of a group that are posted and not over; a power of two */
#define GROUP_FLIGHTS 256u

struct group_collective {
    uint64_t bytes; /* as in ring_event */
    int32_t root;   /* -1: none */
    uint32_t tag;
    uint8_t op;  /* enum ring_op */
    bool of_all; /* bytes are all ranks' */
};

/* A collective from its posting to its event. */
struct group_flight {
    enum { FLIGHT_FREE, FLIGHT_POSTED, FLIGHT_RUNNING, FLIGHT_ENDED } state;
    bool failed;
    uint32_t tag;
    uint64_t posted, began, wait, ended; /* ticks */
    struct group_collective collective;  /* once it runs */
};

struct group {
    const void *at; /* PyTorch's object */
    uint64_t prefix, name;
    uint32_t rank, size;
    uint32_t instance; /* n-th with this prefix and size */
    uint32_t next,
        newest;          /* tags: of the collective that is to be recorded next; after the last one posted */
    uint64_t last_leave; /* of the last one recorded */
    struct group_flight flight[GROUP_FLIGHTS];
};

/* All but group_of_context() are called under the guest's lock. */

/* A view of parent with this prefix is made, maybe where another one was. */
void group_store(const void *store, const void *parent, const char *prefix, size_t length);
/* The name of a group that this thread begins to make.  NULL: there are too many. */
struct group *group_new(const void *at, const void *store, uint32_t rank, uint32_t size);
/* One of its contexts (gloo::rendezvous::Context) is made; then all of them are connected with the other
 * ranks, and the group is ready.  False: no context of it was seen. */
void group_context(struct group *g, const void *context);
bool group_connected(const struct group *g);

/* NULL: unknown. */
struct group *group_at(const void *at);
struct group *group_of_context(const void *context);     /* gloo::Context */
struct group *group_of_transport(const void *transport); /* of its messages */
/* The n-th; NULL behind the last. */
struct group *group_number(size_t n);

#endif
