/* standard_standin.c - a library with the standard's ABI: each call goes to MPICH, with its handles, numbers
 * and statuses in place of the standard's.  STANDIN_ABI: the version of the ABI that it says it has;
 * STANDIN_FORWARDER: what it says that it is, in front of MPICH's text. */
#include "tests/probe/standard.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *mpich(const char *name)
{
    static void *library;
    void *at;

    if (!library)
        library = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL);
    at = library ? dlsym(library, name) : NULL;
    if (!at) {
        fprintf(stderr, "standard_standin: no %s\n", name);
        exit(77);
    }
    return at;
}

#define MPICH(name, params) ((int(*) params)mpich("PMPI_" #name))

/* ---- handles ---- */

static const struct {
    uintptr_t standard;
    unsigned mpich;
} handles[] = {
    { 0x100, 0x04000000 }, { 0x101, 0x44000000 }, { 0x102, 0x44000001 }, { 0x108, 0x08000000 },
    { 0x142, 0x54000001 }, { 0x180, 0x2c000000 }, { 0x200, 0x0c000000 }, { 0x209, 0x4c000405 },
    { 0x247, 0x4c00010d }, { 0x21, 0x58000003 },
};
#define HANDLES (sizeof(handles) / sizeof(handles[0]))

static unsigned to(const void *h)
{
    for (size_t i = 0; i < HANDLES; i++)
        if (handles[i].standard == (uintptr_t)h)
            return handles[i].mpich;
    return (unsigned)(uintptr_t)h;
}

static void *from(unsigned h)
{
    for (size_t i = 0; i < HANDLES; i++)
        if (handles[i].mpich == h)
            return (void *)handles[i].standard;
    return (void *)(uintptr_t)h;
}

/* A call that makes an object, or frees it. */
#define MADE(of, call)        \
    do {                      \
        unsigned made = 0;    \
        int rc = call;        \
        if (!rc)              \
            *of = from(made); \
        return rc;            \
    } while (0)
#define FREED(of, name)                         \
    do {                                        \
        unsigned h = to(*of);                   \
        int rc = MPICH(name, (unsigned *))(&h); \
        *of = from(h);                          \
        return rc;                              \
    } while (0)

/* ---- numbers and statuses ---- */

static int peer(int rank)
{
    return rank == MPI_ANY_SOURCE ? -2 : rank == MPI_PROC_NULL ? -1 : rank == MPI_ROOT ? -3 : rank;
}

static int tag_to(int tag)
{
    return tag == MPI_ANY_TAG ? -1 : tag;
}

static void *buffer(const void *at)
{
    return at == MPI_IN_PLACE ? (void *)-1 : (void *)at;
}

static void status_from(MPI_Status *status, const int *mpich_status)
{
    if (!status)
        return;
    status->MPI_SOURCE = mpich_status[2] == -1   ? MPI_PROC_NULL
                         : mpich_status[2] == -2 ? MPI_ANY_SOURCE
                                                 : mpich_status[2];
    status->MPI_TAG = mpich_status[3] == -1 ? MPI_ANY_TAG : mpich_status[3];
    status->MPI_ERROR = mpich_status[4];
    status->internal[0] = mpich_status[0];
    status->internal[1] = mpich_status[1];
}

static void status_to(const MPI_Status *status, int *mpich_status)
{
    mpich_status[0] = status->internal[0];
    mpich_status[1] = status->internal[1];
    mpich_status[2] = status->MPI_SOURCE;
    mpich_status[3] = status->MPI_TAG;
    mpich_status[4] = status->MPI_ERROR;
}

/* ---- the library ---- */

int PMPI_Init(int *argc, char ***argv)
{
    return MPICH(Init, (int *, char ***))(argc, argv);
}

int PMPI_Finalize(void)
{
    return MPICH(Finalize, (void))();
}

int PMPI_Query_thread(int *provided)
{
    int rc = MPICH(Query_thread, (int *))(provided);

    *provided = *provided == 3 ? MPI_THREAD_MULTIPLE : *provided * 1024;
    return rc;
}

int PMPI_Abi_get_version(int *major, int *minor)
{
    const char *version = getenv("STANDIN_ABI");

    *major = version ? atoi(version) : 1;
    *minor = 0;
    return 0;
}

int PMPI_Get_library_version(char *text, int *length)
{
    const char *forwarder = getenv("STANDIN_FORWARDER");
    int before = forwarder ? sprintf(text, "%s, wrapping:\n", forwarder) : 0,
        rc = MPICH(Get_library_version, (char *, int *))(text + before, length);

    *length += before;
    return rc;
}

int PMPI_Error_class(int code, int *class)
{
    /* MPI_ERR_ROOT, _GROUP, _OP, _TOPOLOGY, _DIMS, _ARG, _UNKNOWN, _TRUNCATE, _OTHER, _INTERN, _IN_STATUS,
     * _PENDING, _REQUEST */
    static const int standard[] = {
        8, 9, 10, 11, 12, MPI_ERR_ARG, 14, 15, MPI_ERR_OTHER, 17, MPI_ERR_IN_STATUS, 18, 7
    };
    int rc = MPICH(Error_class, (int, int *))(code, class);

    if (*class >= 7 && *class < 20)
        *class = standard[*class - 7];
    return rc;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return MPICH(Comm_rank, (unsigned, int *))(to(comm), rank);
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    return MPICH(Comm_size, (unsigned, int *))(to(comm), size);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    MADE(group, MPICH(Comm_group, (unsigned, unsigned *))(to(comm), &made));
}

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    MADE(group, MPICH(Comm_remote_group, (unsigned, unsigned *))(to(comm), &made));
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    return MPICH(Comm_test_inter, (unsigned, int *))(to(comm), flag);
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    MADE(parent, MPICH(Comm_get_parent, (unsigned *))(&made));
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    return MPICH(Comm_set_errhandler, (unsigned, unsigned))(to(comm), to(handler));
}

int PMPI_Comm_call_errhandler(MPI_Comm comm, int code)
{
    return MPICH(Comm_call_errhandler, (unsigned, int))(to(comm), code);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *new)
{
    MADE(new, MPICH(Comm_dup, (unsigned, unsigned *))(to(comm), &made));
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *new)
{
    MADE(new, MPICH(Comm_split, (unsigned, int, int, unsigned *))(
                  to(comm), color == MPI_UNDEFINED ? -32766 : color, key, &made));
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    FREED(comm, Comm_free);
}

int PMPI_Topo_test(MPI_Comm comm, int *kind)
{
    int rc = MPICH(Topo_test, (unsigned, int *))(to(comm), kind);

    *kind = *kind == 1 ? 212 : *kind == 2 ? 211 : *kind == 3 ? 213 : MPI_UNDEFINED;
    return rc;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    return MPICH(Group_size, (unsigned, int *))(to(group), size);
}

int PMPI_Group_translate_ranks(MPI_Group group, int n, const int *ranks, MPI_Group in, int *out)
{
    return MPICH(Group_translate_ranks, (unsigned, int, const int *, unsigned, int *))(to(group), n, ranks,
                                                                                       to(in), out);
}

int PMPI_Group_free(MPI_Group *group)
{
    FREED(group, Group_free);
}

int PMPI_Type_size_x(MPI_Datatype type, int64_t *bytes)
{
    return MPICH(Type_size_x, (unsigned, int64_t *))(to(type), bytes);
}

int PMPI_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
{
    int rc = MPICH(Type_get_envelope, (unsigned, int *, int *, int *, int *))(to(type), integers, addresses,
                                                                              types, combiner);

    *combiner = *combiner == 1 ? MPI_COMBINER_NAMED : MPI_COMBINER_CONTIGUOUS;
    return rc;
}

int PMPI_Type_contiguous(int n, MPI_Datatype of, MPI_Datatype *type)
{
    MADE(type, MPICH(Type_contiguous, (int, unsigned, unsigned *))(n, to(of), &made));
}

int PMPI_Type_commit(MPI_Datatype *type)
{
    unsigned h = to(*type);

    return MPICH(Type_commit, (unsigned *))(&h);
}

int PMPI_Type_free(MPI_Datatype *type)
{
    FREED(type, Type_free);
}

int PMPI_Barrier(MPI_Comm comm)
{
    return MPICH(Barrier, (unsigned))(to(comm));
}

int PMPI_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    return MPICH(Bcast, (void *, int, unsigned, int, unsigned))(buf, n, to(type), peer(root), to(comm));
}

int PMPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return MPICH(Allreduce, (const void *, void *, int, unsigned, unsigned, unsigned))(
        buffer(in), out, n, to(type), to(op), to(comm));
}

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    MADE(request, MPICH(Ibarrier, (unsigned, unsigned *))(to(comm), &made));
}

int PMPI_Send(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    return MPICH(Send, (const void *, int, unsigned, int, int, unsigned))(buf, n, to(type), peer(dest), tag,
                                                                          to(comm));
}

int PMPI_Recv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int own[5];
    int rc = MPICH(Recv, (void *, int, unsigned, int, int, unsigned, int *))(buf, n, to(type), peer(source),
                                                                             tag_to(tag), to(comm), own);

    status_from(status, own);
    return rc;
}

int PMPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    MADE(request, MPICH(Isend, (const void *, int, unsigned, int, int, unsigned, unsigned *))(
                      buf, n, to(type), peer(dest), tag, to(comm), &made));
}

int PMPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    MADE(request, MPICH(Irecv, (void *, int, unsigned, int, int, unsigned, unsigned *))(
                      buf, n, to(type), peer(source), tag_to(tag), to(comm), &made));
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    int own[5];
    int rc =
        MPICH(Iprobe, (int, int, unsigned, int *, int *))(peer(source), tag_to(tag), to(comm), flag, own);

    if (*flag)
        status_from(status, own);
    return rc;
}

int PMPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    unsigned *h = malloc((size_t)n * sizeof(*h) + 1);
    int(*own)[5] = calloc((size_t)n + 1, sizeof(*own)), rc;

    if (!h || !own)
        abort();
    for (int i = 0; i < n; i++)
        h[i] = to(requests[i]);
    rc = MPICH(Waitall, (int, unsigned *, int(*)[5]))(n, h, own);
    for (int i = 0; i < n; i++) {
        requests[i] = from(h[i]);
        status_from(statuses ? &statuses[i] : NULL, own[i]);
    }
    free(h);
    free(own);
    return rc;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    unsigned h = to(*request);
    int own[5], rc = MPICH(Wait, (unsigned *, int *))(&h, own);

    *request = from(h);
    status_from(status, own);
    return rc;
}

int PMPI_Cancel(MPI_Request *request)
{
    unsigned h = to(*request);

    return MPICH(Cancel, (unsigned *))(&h);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    int own[5], rc = MPICH(Request_get_status, (unsigned, int *, int *))(to(request), flag, own);

    if (*flag)
        status_from(status, own);
    return rc;
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    int own[5];

    status_to(status, own);
    return MPICH(Test_cancelled, (const int *, int *))(own, flag);
}

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype type, int64_t *n)
{
    int own[5];

    status_to(status, own);
    return MPICH(Get_count_c, (const int *, unsigned, int64_t *))(own, to(type), n);
}

#define ALIAS(name, params) int MPI_##name params __attribute__((weak, alias("PMPI_" #name)));
MPI_FUNCTIONS(ALIAS)
