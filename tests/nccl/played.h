/* played.h - the plugin as NCCL uses it: loaded by dlopen(), called through the table of one version of the
 * interface, with that version's descriptors and in the order of NCCL's calls (src/plugin/profiler.cc
 * of 2.30.7, and with version 7). */
#ifndef SYNCGUARD_TESTS_NCCL_PLAYED_H
#define SYNCGUARD_TESTS_NCCL_PLAYED_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl/profiler.h"

/* Events that are of no interest; the last is one of version 7's own. */
enum { PLAYED_GROUP_API = 1 << 8, PLAYED_KERNEL_PHASE = 1 << 15 };

/* A function of NCCL's: its name, and its number in version 1. */
struct played_function {
    const char *name;
    unsigned number;
};

struct played {
    int version, mask;
    const char *algorithm; /* of collectives, from version 4 on; NULL: a ring */
    int (*start)(void *, void **, void *);
    nccl_end_fn *stop;
    nccl_record_fn *record;
    nccl_finalize_fn *finalize;
    void *lib;
};

struct played_comm {
    void *context;
    uint64_t hash, seq[8]; /* by the function's number */
    int ranks, rank;
};

static inline bool played_load(struct played *p, const char *path, int version)
{
    char name[32];
    void *table;

    *p = (struct played){ .version = version };
    snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
    p->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    table = p->lib ? dlsym(p->lib, name) : NULL;
    if (!table)
        return false;
    /* The members have the same places in all versions. */
    p->start = ((struct nccl_profiler_v1 *)table)->start;
    p->stop = ((struct nccl_profiler_v1 *)table)->stop;
    p->record = ((struct nccl_profiler_v1 *)table)->record;
    p->finalize = ((struct nccl_profiler_v1 *)table)->finalize;
    return true;
}

static inline int played_init(struct played *p, struct played_comm *c)
{
    char name[32];
    void *table;

    snprintf(name, sizeof(name), "ncclProfiler_v%d", p->version);
    table = dlsym(p->lib, name);
    if (p->version <= 3)
        return ((struct nccl_profiler_v1 *)table)->init(&c->context, &p->mask);
    if (p->version == 4)
        return ((struct nccl_profiler_v4 *)table)
            ->init(&c->context, &p->mask, "a name", c->hash, 1, c->ranks, c->rank, NULL);
    return ((struct nccl_profiler_v5 *)table)
        ->init(&c->context, c->hash, &p->mask, NULL, 1, c->ranks, c->rank, NULL);
}

union played_event {
    struct nccl_event_v1 v1;
    struct nccl_event_v2 v2;
    struct nccl_event_v4 v4;
    struct nccl_event_v5 v5;
    uint64_t room[32]; /* NCCL's descriptors are longer */
};

static inline void *played_start(struct played *p, struct played_comm *c, uint64_t type, void *parent,
                                 union played_event *e)
{
    void *handle = NULL;

    if (p->version >= 5)
        e->v5.type = type;
    else
        e->v4.type = (uint8_t)type;
    e->v4.parent = parent;
    e->v4.rank = c->rank;
    p->start(c->context, &handle, e);
    return handle;
}

/* A collective of count floats is enqueued (NCCL_EVENT_COLL, root) or a message (NCCL_EVENT_P2P, root is the
 * other rank).  parent: the handle of the call that it belongs to, before version 5 of the group; NULL. */
static inline void *played_enqueue_in(struct played *p, struct played_comm *c, uint64_t type,
                                      const struct played_function *f, size_t count, int root, int channels,
                                      void *parent)
{
    union played_event e = { .room = { 0 } };
    bool coll = type != NCCL_EVENT_P2P;
    uint64_t seq = coll ? c->seq[f->number]++ : 0;

    if (p->version == 1 && coll) {
        e.v1.coll.comm = c->hash;
        e.v1.coll.seq = seq;
        e.v1.coll.func = (uint8_t)f->number;
        e.v1.coll.count = count;
        e.v1.coll.root = root;
        e.v1.coll.datatype = 7;
    } else if (p->version == 1) {
        e.v1.p2p.comm = c->hash;
        e.v1.p2p.func = (uint8_t)f->number;
        e.v1.p2p.count = count;
        e.v1.p2p.peer = root;
        e.v1.p2p.datatype = 7;
    } else if (p->version <= 3 && coll) {
        e.v2.coll.comm = c->hash;
        e.v2.coll.seq = seq;
        e.v2.coll.func = f->name;
        e.v2.coll.count = count;
        e.v2.coll.root = root;
        e.v2.coll.datatype = "ncclFloat32";
    } else if (p->version <= 3) {
        e.v2.p2p.comm = c->hash;
        e.v2.p2p.func = f->name;
        e.v2.p2p.count = count;
        e.v2.p2p.peer = root;
        e.v2.p2p.datatype = "ncclFloat32";
    } else if (coll) {
        e.v4.coll.seq = seq;
        e.v4.coll.func = f->name;
        e.v4.coll.count = count;
        e.v4.coll.root = root;
        e.v4.coll.datatype = "ncclFloat32";
        e.v4.coll.channels = (uint8_t)channels;
        e.v4.coll.algorithm = p->algorithm ? p->algorithm : "RING";
    } else {
        e.v4.p2p.func = f->name;
        e.v4.p2p.count = count;
        e.v4.p2p.peer = root;
        e.v4.p2p.datatype = "ncclFloat32";
        e.v4.p2p.channels = (uint8_t)channels;
    }
    return played_start(p, c, type, parent, &e);
}

static inline void *played_enqueue(struct played *p, struct played_comm *c, uint64_t type,
                                   const struct played_function *f, size_t count, int root, int channels)
{
    return played_enqueue_in(p, c, type, f, count, root, channels, NULL);
}

/* Events of types that belong to others: NCCL starts them too, where the mask has the others. */
static inline void *played_around(struct played *p, struct played_comm *c, uint64_t type)
{
    union played_event e = { .room = { 0 } };

    return played_start(p, c, type, NULL, &e);
}

/* A channel of an operation is seen to have begun on the GPU, and to have ended there; its timer's times. */
static inline void *played_part(struct played *p, struct played_comm *c, void *operation, uint64_t timer)
{
    union played_event e = { .room = { 0 } };

    if (p->version == 4)
        e.v4.kernel.timer = timer;
    else
        e.v5.kernel.timer = timer;
    return played_start(p, c, NCCL_EVENT_KERNEL, operation, &e);
}

static inline void played_part_end(struct played *p, void *part, uint64_t timer)
{
    union {
        union nccl_state_v4 v4;
        uint64_t room[4]; /* NCCL's are longer */
    } arguments = { .v4.kernel.timer = timer };

    p->record(part, NCCL_STATE_KERNEL_STOP, &arguments);
    p->stop(part);
}

/* The program calls a collective that a graph captures: the call's handle, from version 5 on. */
static inline void *played_capture(struct played *p, struct played_comm *c)
{
    union played_event e = { .room = { 0 } };
    void *call;

    if (p->version < 5)
        return NULL;
    e.v5.coll_api.captured = true;
    call = played_start(p, c, NCCL_EVENT_COLL_API, NULL, &e);
    if (call)
        p->stop(call);
    return call;
}

/* The graph is launched.  NCCL counts its collective only where parts are reported, in a group or for a call
 * that has a handle (ncclProfilerStartTaskEvents()); before 2.26, which is version 3, always. */
static inline void *played_launch(struct played *p, struct played_comm *c, void *call,
                                  const struct played_function *f, size_t count, int channels)
{
    void *group = played_around(p, c, NCCL_EVENT_GROUP), *handle;
    bool counts = p->version < 3 || ((group || call) && p->mask & NCCL_EVENT_KERNEL);

    handle = played_enqueue_in(p, c, NCCL_EVENT_COLL, f, count, 0, channels, p->version < 5 ? group : call);
    if (!counts)
        c->seq[f->number]--;
    if (handle)
        p->stop(handle);
    if (group)
        p->stop(group);
    return handle;
}

#endif
