/* create.c - calls that make and free communicators.  Making one is a collective over its parent and is recorded
 * as such.  It is named at once, because the order of making is part of the name. */
#include "probe/call.h"

/*  CREATE(name, parent communicator, new communicator, root, parameters, arguments) */
#define CREATIONS                                                                                           \
    CREATE(Comm_dup, comm, made, -1, (handle comm, void *made), (comm, made))                               \
    CREATE(Comm_dup_with_info, comm, made, -1, (handle comm, handle info, void *made), (comm, info, made))  \
    CREATE(Comm_create, comm, made, -1, (handle comm, handle group, void *made), (comm, group, made))       \
    CREATE(Comm_split, comm, made, -1, (handle comm, int color, int key, void *made),                       \
           (comm, color, key, made))                                                                        \
    CREATE(Comm_split_type, comm, made, -1, (handle comm, int type, int key, handle info, void *made),      \
           (comm, type, key, info, made))                                                                   \
    CREATE(Cart_create, comm, made, -1,                                                                     \
           (handle comm, int ndims, const int *dims, const int *periods, int reorder, void *made),          \
           (comm, ndims, dims, periods, reorder, made))                                                     \
    CREATE(Cart_sub, comm, made, -1, (handle comm, const int *remain, void *made), (comm, remain, made))    \
    CREATE(Graph_create, comm, made, -1,                                                                    \
           (handle comm, int n, const int *index, const int *edges, int reorder, void *made),               \
           (comm, n, index, edges, reorder, made))                                                          \
    CREATE(Dist_graph_create, comm, made, -1,                                                               \
           (handle comm, int n, const int *sources, const int *degrees, const int *destinations,            \
            const int *weights, handle info, int reorder, void *made),                                      \
           (comm, n, sources, degrees, destinations, weights, info, reorder, made))                         \
    CREATE(Dist_graph_create_adjacent, comm, made, -1,                                                      \
           (handle comm, int in, const int *sources, const int *in_weights, int out,                        \
            const int *destinations, const int *out_weights, handle info, int reorder, void *made),         \
           (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made))            \
    CREATE(Intercomm_create, comm, made, -1,                                                                \
           (handle comm, int leader, handle peer_comm, int remote_leader, int tag, void *made),             \
           (comm, leader, peer_comm, remote_leader, tag, made))                                             \
    CREATE(Intercomm_merge, comm, made, -1, (handle comm, int high, void *made), (comm, high, made))        \
    CREATE(Comm_spawn, comm, made, root,                                                                    \
           (const char *command, char **argv, int maxprocs, handle info, int root, handle comm, void *made, \
            int *errcodes),                                                                                 \
           (command, argv, maxprocs, info, root, comm, made, errcodes))                                     \
    CREATE(Comm_spawn_multiple, comm, made, root,                                                           \
           (int count, char **commands, char ***argvs, const int *maxprocs, const void *infos, int root,    \
            handle comm, void *made, int *errcodes),                                                        \
           (count, commands, argvs, maxprocs, infos, root, comm, made, errcodes))                           \
    CREATE(Comm_accept, comm, made, root,                                                                   \
           (const char *port, handle info, int root, handle comm, void *made),                              \
           (port, info, root, comm, made))                                                                  \
    CREATE(Comm_connect, comm, made, root,                                                                  \
           (const char *port, handle info, int root, handle comm, void *made),                              \
           (port, info, root, comm, made))

/* Collective over a group rather than a communicator: they have no sequence number, and so no event.
 *  CREATE_APART(name, parameters, arguments) */
#define CREATIONS_APART                                                                                     \
    CREATE_APART(Comm_create_group, (handle comm, handle group, int tag, void *made),                       \
                 (comm, group, tag, made))                                                                  \
    CREATE_APART(Comm_join, (int fd, void *made), (fd, made))                                               \
    CREATE_APART(Comm_create_from_group,                                                                    \
                 (handle group, const char *tag, handle info, handle errhandler, void *made),               \
                 (group, tag, info, errhandler, made))                                                      \
    CREATE_APART(Intercomm_create_from_groups,                                                              \
                 (handle local, int leader, handle remote, int remote_leader, const char *tag, handle info, \
                  handle errhandler, void *made),                                                           \
                 (local, leader, remote, remote_leader, tag, info, errhandler, made))

#define CREATE_AS(symbol, comm, made, root, params, args)            \
    EXPORT int symbol params;                                        \
    int symbol params                                                \
    {                                                                \
        static struct next next = { #symbol, NULL };                 \
        struct call k;                                               \
        int rc;                                                      \
                                                                     \
        if (call_begin_shared(&k, comm, __builtin_frame_address(0))) \
            call_enter_shared(&k, RING_OP_COMM_CREATE, 0, 0, root);  \
        else                                                         \
            call_skip(&k);                                           \
        rc = ((int(*) params)next_get(&next))args;                   \
        call_leave_shared(&k, rc);                                   \
        if (k.comm && !rc)                                           \
            comm_made(handle_at(made, 0));                           \
        return rc;                                                   \
    }

#define CREATE_APART_AS(symbol, params, args)        \
    EXPORT int symbol params;                        \
    int symbol params                                \
    {                                                \
        static struct next next = { #symbol, NULL }; \
        void *frame = __builtin_frame_address(0);    \
        bool ours = call_wanted(frame);              \
        int rc;                                      \
                                                     \
        if (ours)                                    \
            self.frame = frame;                      \
        rc = ((int(*) params)next_get(&next))args;   \
        if (ours) {                                  \
            self.frame = NULL;                       \
            if (!rc)                                 \
                comm_made(handle_at(made, 0));       \
        }                                            \
        return rc;                                   \
    }

#define CREATE(name, comm, made, root, params, args)      \
    CREATE_AS(MPI_##name, comm, made, root, params, args) \
    CREATE_AS(PMPI_##name, comm, made, root, params, args)
#define CREATE_APART(name, params, args)      \
    CREATE_APART_AS(MPI_##name, params, args) \
    CREATE_APART_AS(PMPI_##name, params, args)

CREATIONS
CREATIONS_APART

/* ---- nonblocking duplication ----
 * Both libraries store the new handle when they post.  It is named at once, because Open MPI's Fortran layer
 * passes a temporary variable that does not exist later. */

static inline int idup_leave(struct call *k, int rc, const void *made, const void *request)
{
    call_posted(k, rc, request);
    if (k->comm && !rc)
        comm_made(handle_at(made, 0));
    return rc;
}

typedef int (*idup_fn)(handle, void *, void *);
typedef int (*idup_info_fn)(handle, handle, void *, void *);

static int idup(struct next *next, handle comm, void *made, void *request, void *frame)
{
    struct call k;

    if (call_begin_shared(&k, comm, frame))
        call_enter_shared(&k, RING_OP_COMM_CREATE, RING_EVENT_NONBLOCKING, 0, -1);
    else
        call_skip(&k);
    return idup_leave(&k, ((idup_fn)next_get(next))(comm, made, request), made, request);
}

static int idup_info(struct next *next, handle comm, handle info, void *made, void *request, void *frame)
{
    struct call k;

    if (call_begin_shared(&k, comm, frame))
        call_enter_shared(&k, RING_OP_COMM_CREATE, RING_EVENT_NONBLOCKING, 0, -1);
    else
        call_skip(&k);
    return idup_leave(&k, ((idup_info_fn)next_get(next))(comm, info, made, request), made, request);
}

#define IDUP(symbol)                                                         \
    EXPORT int symbol(handle comm, void *made, void *request);               \
    int symbol(handle comm, void *made, void *request)                       \
    {                                                                        \
        static struct next next = { #symbol, NULL };                         \
                                                                             \
        return idup(&next, comm, made, request, __builtin_frame_address(0)); \
    }
#define IDUP_INFO(symbol)                                                               \
    EXPORT int symbol(handle comm, handle info, void *made, void *request);             \
    int symbol(handle comm, handle info, void *made, void *request)                     \
    {                                                                                   \
        static struct next next = { #symbol, NULL };                                    \
                                                                                        \
        return idup_info(&next, comm, info, made, request, __builtin_frame_address(0)); \
    }
IDUP(MPI_Comm_idup)
IDUP(PMPI_Comm_idup)
IDUP_INFO(MPI_Comm_idup_with_info)
IDUP_INFO(PMPI_Comm_idup_with_info)

/* ---- the end of a communicator ---- */

typedef int (*free_fn)(void *);

static int comm_end(struct next *next, void *comm, void *frame)
{
    bool ours = call_wanted(frame);
    handle h = NULL;
    struct comm *c = NULL;
    int rc;

    if (ours) {
        h = handle_at(comm, 0);
        c = comm_forget(h);
        self.frame = frame;
    }
    rc = ((free_fn)next_get(next))(comm);
    if (ours) {
        self.frame = NULL;
        if (rc)
            comm_keep(c, h);
    }
    return rc;
}

#define COMM_END(symbol)                                          \
    EXPORT int symbol(void *comm);                                \
    int symbol(void *comm)                                        \
    {                                                             \
        static struct next next = { #symbol, NULL };              \
                                                                  \
        return comm_end(&next, comm, __builtin_frame_address(0)); \
    }
COMM_END(MPI_Comm_free)
COMM_END(PMPI_Comm_free)
COMM_END(MPI_Comm_disconnect)
COMM_END(PMPI_Comm_disconnect)
