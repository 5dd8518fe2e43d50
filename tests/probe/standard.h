/* standard.h - what the test of the standard's ABI uses of its mpi.h (MPI 5.0, appendix A). */
#ifndef SYNCGUARD_TESTS_PROBE_STANDARD_H
#define SYNCGUARD_TESTS_PROBE_STANDARD_H

#include <stdint.h>

typedef struct abi_comm *MPI_Comm;
typedef struct abi_group *MPI_Group;
typedef struct abi_type *MPI_Datatype;
typedef struct abi_op *MPI_Op;
typedef struct abi_request *MPI_Request;
typedef struct abi_errhandler *MPI_Errhandler;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int internal[5];
} MPI_Status;

#define MPI_COMM_NULL       ((MPI_Comm)0x100)
#define MPI_COMM_WORLD      ((MPI_Comm)0x101)
#define MPI_COMM_SELF       ((MPI_Comm)0x102)
#define MPI_GROUP_NULL      ((MPI_Group)0x108)
#define MPI_ERRORS_RETURN   ((MPI_Errhandler)0x142)
#define MPI_REQUEST_NULL    ((MPI_Request)0x180)
#define MPI_DATATYPE_NULL   ((MPI_Datatype)0x200)
#define MPI_INT             ((MPI_Datatype)0x209)
#define MPI_BYTE            ((MPI_Datatype)0x247)
#define MPI_SUM             ((MPI_Op)0x21)
#define MPI_IN_PLACE        ((void *)1)
#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

enum {
    MPI_ANY_SOURCE = -1,
    MPI_ANY_TAG = -2,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766,
    MPI_THREAD_MULTIPLE = 4096,
    MPI_COMBINER_NAMED = 101,
    MPI_COMBINER_CONTIGUOUS = 103,
    MPI_ERR_ARG = 13,
    MPI_ERR_OTHER = 16,
    MPI_ERR_IN_STATUS = 19
};

#define MPI_FUNCTIONS(F)                                                                                    \
    F(Init, (int *argc, char ***argv))                                                                      \
    F(Finalize, (void))                                                                                     \
    F(Query_thread, (int *provided))                                                                        \
    F(Abi_get_version, (int *major, int *minor))                                                            \
    F(Get_library_version, (char *text, int *length))                                                       \
    F(Error_class, (int code, int *class))                                                                  \
    F(Comm_rank, (MPI_Comm comm, int *rank))                                                                \
    F(Comm_size, (MPI_Comm comm, int *size))                                                                \
    F(Comm_group, (MPI_Comm comm, MPI_Group * group))                                                       \
    F(Comm_remote_group, (MPI_Comm comm, MPI_Group * group))                                                \
    F(Comm_test_inter, (MPI_Comm comm, int *flag))                                                          \
    F(Comm_get_parent, (MPI_Comm * parent))                                                                 \
    F(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler))                                         \
    F(Comm_call_errhandler, (MPI_Comm comm, int code))                                                      \
    F(Comm_dup, (MPI_Comm comm, MPI_Comm * made))                                                           \
    F(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made))                                      \
    F(Comm_free, (MPI_Comm * comm))                                                                         \
    F(Topo_test, (MPI_Comm comm, int *kind))                                                                \
    F(Group_size, (MPI_Group group, int *size))                                                             \
    F(Group_translate_ranks, (MPI_Group group, int n, const int *ranks, MPI_Group to, int *out))            \
    F(Group_free, (MPI_Group * group))                                                                      \
    F(Type_size_x, (MPI_Datatype type, int64_t * bytes))                                                    \
    F(Type_get_envelope, (MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner))     \
    F(Type_contiguous, (int n, MPI_Datatype of, MPI_Datatype *type))                                        \
    F(Type_commit, (MPI_Datatype * type))                                                                   \
    F(Type_free, (MPI_Datatype * type))                                                                     \
    F(Barrier, (MPI_Comm comm))                                                                             \
    F(Bcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm))                                \
    F(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm))           \
    F(Ibarrier, (MPI_Comm comm, MPI_Request * request))                                                     \
    F(Send, (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm))                    \
    F(Recv, (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status))    \
    F(Isend,                                                                                                \
      (const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request))    \
    F(Irecv, (void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)) \
    F(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status))                            \
    F(Wait, (MPI_Request * request, MPI_Status * status))                                                   \
    F(Waitall, (int n, MPI_Request *requests, MPI_Status *statuses))                                        \
    F(Cancel, (MPI_Request * request))                                                                      \
    F(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))                             \
    F(Test_cancelled, (const MPI_Status *status, int *flag))                                                \
    F(Get_count_c, (const MPI_Status *status, MPI_Datatype type, int64_t *n))

#define MPI_DECLARE(name, params) \
    int MPI_##name params;        \
    int PMPI_##name params;
MPI_FUNCTIONS(MPI_DECLARE)

#endif
