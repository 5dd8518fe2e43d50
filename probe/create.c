/* create.c - calls that make and free communicators.  Making one is a collective over its parent and is
 * recorded as such.  It is named at once, because the order of making is part of the name. */
#include "probe/call.h"

/* name: the statement that names it.  leave: call_leave_shared(&k, rc), or call_posted(&k, rc, 0, request)
 * where flags has RING_EVENT_NONBLOCKING. */
#define CREATE_AS(symbol, flags, leave, root, name, params, args)       \
    EXPORTED(int symbol params)                                         \
    {                                                                   \
        static struct next next = { #symbol, NULL };                    \
        struct collective k;                                            \
        int rc;                                                         \
                                                                        \
        if (call_begin_shared(&k, comm, ENTRY(symbol)))                 \
            call_enter_shared(&k, RING_OP_COMM_CREATE, flags, 0, root); \
        rc = ((int(*) params)next_get(&next))args;                      \
        leave;                                                          \
        if (k.comm && !rc)                                              \
            name;                                                       \
        return rc;                                                      \
    }

/*  BOTH(CREATE, name, root, parameters, arguments), with the parameters comm (parent) and made (new
 * communicator) */
#define CREATE(symbol, root, params, args)                                                            \
    CREATE_AS(symbol, 0, call_leave_shared(&k, rc), root, comm_made(handle_at(made, 0), CHILD, NULL), \
              params, args)
#define CHILD comm_child(k.event.comm, k.event.seq)

BOTH(CREATE, Comm_dup, -1, (handle comm, void *made), (comm, made))
BOTH(CREATE, Comm_dup_with_info, -1, (handle comm, handle info, void *made), (comm, info, made))
BOTH(CREATE, Comm_create, -1, (handle comm, handle group, void *made), (comm, group, made))
BOTH(CREATE, Comm_split, -1, (handle comm, int color, int key, void *made), (comm, color, key, made))
BOTH(CREATE, Comm_split_type, -1, (handle comm, int type, int key, handle info, void *made),
     (comm, type, key, info, made))
BOTH(CREATE, Cart_create, -1,
     (handle comm, int ndims, const int *dims, const int *periods, int reorder, void *made),
     (comm, ndims, dims, periods, reorder, made))
BOTH(CREATE, Cart_sub, -1, (handle comm, const int *remain, void *made), (comm, remain, made))
BOTH(CREATE, Graph_create, -1,
     (handle comm, int n, const int *index, const int *edges, int reorder, void *made),
     (comm, n, index, edges, reorder, made))
BOTH(CREATE, Dist_graph_create, -1,
     (handle comm, int n, const int *sources, const int *degrees, const int *destinations, const int *weights,
      handle info, int reorder, void *made),
     (comm, n, sources, degrees, destinations, weights, info, reorder, made))
BOTH(CREATE, Dist_graph_create_adjacent, -1,
     (handle comm, int in, const int *sources, const int *in_weights, int out, const int *destinations,
      const int *out_weights, handle info, int reorder, void *made),
     (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made))
/* Between two groups with a parent each. */
#define CREATE_BETWEEN(symbol, params, args)            \
    CREATE_AS(symbol, 0, call_leave_shared(&k, rc), -1, \
              comm_made(handle_at(made, 0), comm_tagged(0, (uint32_t)tag), NULL), params, args)

BOTH(CREATE_BETWEEN, Intercomm_create,
     (handle comm, int leader, handle peer_comm, int remote_leader, int tag, void *made),
     (comm, leader, peer_comm, remote_leader, tag, made))
BOTH(CREATE, Intercomm_merge, -1, (handle comm, int high, void *made), (comm, high, made))
BOTH(CREATE, Comm_spawn, root,
     (const char *command, char **argv, int maxprocs, handle info, int root, handle comm, void *made,
      int *errcodes),
     (command, argv, maxprocs, info, root, comm, made, errcodes))
BOTH(CREATE, Comm_spawn_multiple, root,
     (int count, char **commands, char ***argvs, const int *maxprocs, const void *infos, int root,
      handle comm, void *made, int *errcodes),
     (count, commands, argvs, maxprocs, infos, root, comm, made, errcodes))
BOTH(CREATE, Comm_accept, root, (const char *port, handle info, int root, handle comm, void *made),
     (port, info, root, comm, made))
BOTH(CREATE, Comm_connect, root, (const char *port, handle info, int root, handle comm, void *made),
     (port, info, root, comm, made))

/* Both libraries store the new handle when they post.  It is named at once, because Open MPI's Fortran layer
 * passes a temporary variable that does not exist later.  But the library is not asked who is in it: MPICH
 * keeps what it answers before the communicator is complete, and that is wrong. */
#define CREATE_POSTED(symbol, params, args)                                        \
    CREATE_AS(symbol, RING_EVENT_NONBLOCKING, call_posted(&k, rc, 0, request), -1, \
              comm_made(handle_at(made, 0), CHILD, k.comm), params, args)

BOTH(CREATE_POSTED, Comm_idup, (handle comm, void *made, void *request), (comm, made, request))
BOTH(CREATE_POSTED, Comm_idup_with_info, (handle comm, handle info, void *made, void *request),
     (comm, info, made, request))

/* Collective over a group rather than a communicator: they have no sequence number, and so no event.
 *  BOTH(CREATE_APART, name, communicator, origin, parameters, arguments) */
#define CREATE_APART(symbol, comm_used, origin, params, args) \
    EXPORTED(int symbol params)                               \
    {                                                         \
        static struct next next = { #symbol, NULL };          \
        struct entry e = ENTRY(symbol);                       \
        bool ours = call_wanted(e, comm_used);                \
        int rc;                                               \
                                                              \
        if (ours)                                             \
            call_entered(e, comm_used);                       \
        rc = ((int(*) params)next_get(&next))args;            \
        if (ours) {                                           \
            call_over();                                      \
            if (!rc)                                          \
                comm_made(handle_at(made, 0), origin, NULL);  \
        }                                                     \
        return rc;                                            \
    }

BOTH(CREATE_APART, Comm_create_group, comm,
     comm_tagged(comm_get(comm) ? comm_get(comm)->name : 0, (uint32_t)tag),
     (handle comm, handle group, int tag, void *made), (comm, group, tag, made))
BOTH(CREATE_APART, Comm_join, NULL, comm_tagged(0, 0), (int fd, void *made), (fd, made))
BOTH(CREATE_APART, Comm_create_from_group, NULL, comm_tagged(0, comm_text(tag)),
     (handle group, const char *tag, handle info, handle errhandler, void *made),
     (group, tag, info, errhandler, made))
BOTH(CREATE_APART, Intercomm_create_from_groups, NULL, comm_tagged(0, comm_text(tag)),
     (handle local, int leader, handle remote, int remote_leader, const char *tag, handle info,
      handle errhandler, void *made),
     (local, leader, remote, remote_leader, tag, info, errhandler, made))

/* ---- the end of a communicator ---- */

/* Its name is needed until the library has freed it: the callbacks of its attributes may use it, and free
 * others.  Then it is forgotten at once, because its handle may be that of another one by now. */
static int comm_end(struct next *next, void *comm)
{
    bool ours = comm && atomic_load_explicit(&probe.active, memory_order_relaxed);
    struct comm_end end = { .comm = NULL };
    int rc;

    if (ours)
        end = comm_ending(handle_at(comm, 0));
    rc = ((int (*)(void *))next_get(next))(comm);
    if (!rc)
        comm_ended(end);
    return rc;
}

#define COMM_END(symbol) WRAPPER(int, symbol, (void *comm), comm_end, comm)
BOTH(COMM_END, Comm_free)
BOTH(COMM_END, Comm_disconnect)
