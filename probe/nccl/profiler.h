/* profiler.h - NCCL's profiler interface, versions 1 to 7: what NCCL calls, and the parts of its descriptors
 * that are read.
 *
 * Own declarations of the layouts in NCCL's folder src/include/plugin/profiler, which has a header for each
 * version: version 1 came with NCCL 2.23, 2 with 2.24, 3 with 2.26, 4 with 2.27, 5 with 2.28, 6 with 2.29 and
 * 7 after 2.30.7.  tests/nccl/layout.c compares them with NCCL's.  Descriptors are NCCL's memory
 * and end where the last member that is declared here ends, or later.  Results are 0 for success.
 *
 * RCCL has the same interface under the same names. */
#ifndef SYNCGUARD_NCCL_PROFILER_H
#define SYNCGUARD_NCCL_PROFILER_H

#include <stddef.h>
#include <stdint.h>

/* Events, bits of the mask that init() sets.  A bit that a version does not know is not set for it.  Those
 * that others belong to come without being asked for. */
enum {
    NCCL_EVENT_GROUP = 1 << 0,    /* what is enqueued at once; belongs to none */
    NCCL_EVENT_COLL = 1 << 1,     /* a collective is enqueued */
    NCCL_EVENT_P2P = 1 << 2,      /* a send or a receive is enqueued */
    NCCL_EVENT_KERNEL = 1 << 6,   /* from 4: a collective or message runs on the GPU, on one channel */
    NCCL_EVENT_COLL_API = 1 << 9, /* from 5: the program calls a collective, ... */
    NCCL_EVENT_P2P_API = 1 << 10, /* ... a send or a receive */
    NCCL_EVENT_CE_COLL = 1 << 12, /* from 6: a collective that copy engines carry out is enqueued */
};

/* Descriptors of events: a head, then what depends on the type. */
#define NCCL_HEAD(type_of_type)                                               \
    type_of_type type;                                                        \
    void *parent; /* handle of the event that this one belongs to, or NULL */ \
    int rank      /* in the communicator */

struct nccl_event_v1 {
    NCCL_HEAD(uint8_t);
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            uint8_t func; /* enum ncclFunc_t */
            const void *send;
            void *recv;
            size_t count;
            int root;
            uint8_t datatype; /* ncclDataType_t */
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            uint8_t func;
            void *buffer;
            uint8_t datatype;
            size_t count;
            int peer;
        } p2p;
    };
};

struct nccl_event_v2 { /* and 3 */
    NCCL_HEAD(uint8_t);
    union {
        struct {
            const char *name;
            uint64_t comm, seq;
            const char *func;
            const void *send;
            void *recv;
            size_t count;
            int root;
            const char *datatype;
        } coll;
        struct {
            const char *name;
            uint64_t comm;
            const char *func;
            void *buffer;
            const char *datatype;
            size_t count;
            int peer;
        } p2p;
    };
};

struct nccl_coll_v4 {
    uint64_t seq;
    const char *func;
    const void *send;
    void *recv;
    size_t count;
    int root;
    const char *datatype;
    uint8_t channels, warps;
    const char *algorithm;
};

struct nccl_p2p_v4 {
    const char *func;
    void *buffer;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t channels;
};

struct nccl_kernel_v4 {
    uint8_t channel;
    uint64_t timer; /* of the GPU, when it began; 0: not known */
};

struct nccl_event_v4 {
    NCCL_HEAD(uint8_t);
    union {
        struct nccl_coll_v4 coll;
        struct nccl_p2p_v4 p2p;
        struct nccl_kernel_v4 kernel;
    };
};

/* Of 5 to 7.  ce_coll, from 6, has the members of coll before channels. */
struct nccl_event_v5 {
    NCCL_HEAD(uint64_t);
    union {
        struct {
            const char *func;
            size_t count;
            const char *datatype;
            int root;
            void *stream;
            uint8_t captured; /* in a graph: not 0 */
        } coll_api;
        struct {
            const char *func;
            size_t count;
            const char *datatype;
            void *stream;
            uint8_t captured;
        } p2p_api;
        struct nccl_coll_v4 coll, ce_coll;
        struct nccl_p2p_v4 p2p;
        struct nccl_kernel_v4 kernel;
    };
};

/* States that an event comes to, from 4 on, with arguments; of others nothing is read. */
enum { NCCL_STATE_KERNEL_STOP = 22 };
union nccl_state_v4 {
    struct {
        uint64_t timer; /* of the GPU, when it ended */
    } kernel;
};

/* What the plugin exports as ncclProfiler_vN. */
typedef int nccl_end_fn(void *event);
typedef int nccl_record_fn(void *event, int state, void *arguments);
typedef int nccl_finalize_fn(void *context);

struct nccl_profiler_v1 { /* and 2 and 3 */
    const char *name;
    int (*init)(void **context, int *mask);
    int (*start)(void *context, void **event, void *descriptor);
    nccl_end_fn *stop;
    nccl_record_fn *record;
    nccl_finalize_fn *finalize;
};

struct nccl_profiler_v4 {
    const char *name;
    int (*init)(void **context, int *mask, const char *comm_name, uint64_t comm, int nodes, int ranks,
                int rank, void *log);
    int (*start)(void *context, void **event, void *descriptor);
    nccl_end_fn *stop;
    nccl_record_fn *record;
    nccl_finalize_fn *finalize;
};

struct nccl_profiler_v5 { /* and 6 */
    const char *name;
    int (*init)(void **context, uint64_t comm, int *mask, const char *comm_name, int nodes, int ranks,
                int rank, void *log);
    int (*start)(void *context, void **event, void *descriptor);
    nccl_end_fn *stop;
    nccl_record_fn *record;
    nccl_finalize_fn *finalize;
};

/* Others than NVIDIA have given version 7 further functions of theirs behind these, which a plugin need not
 * have: they find NULL there, not what happens to lie behind the table. */
struct nccl_profiler_v7 {
    struct nccl_profiler_v5 nvidia;
    void (*further[8])(void);
};

#endif
