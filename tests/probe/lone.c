/* lone.c - a library with the standard's ABI whose world is one rank.  It makes no system call, so that what
 * fails in an odd environment is the probe's, not a library's. */
#include "tests/probe/standard.h"

#include <string.h>

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

int PMPI_Finalize(void)
{
    return 0;
}

int PMPI_Query_thread(int *provided)
{
    *provided = 0;
    return 0;
}

int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = 1;
    *minor = 0;
    return 0;
}

int PMPI_Get_library_version(char *text, int *length)
{
    strcpy(text, "Lone 1.0");
    *length = (int)strlen(text);
    return 0;
}

int PMPI_Error_class(int code, int *class)
{
    *class = code;
    return 0;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return 0;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 1;
    return 0;
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    *group = (MPI_Group)comm;
    return 0;
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return 0;
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return 0;
}

int PMPI_Topo_test(MPI_Comm comm, int *kind)
{
    (void)comm;
    *kind = MPI_UNDEFINED;
    return 0;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    (void)group;
    *size = 1;
    return 0;
}

int PMPI_Group_translate_ranks(MPI_Group group, int n, const int *ranks, MPI_Group to, int *out)
{
    (void)group;
    (void)to;
    memcpy(out, ranks, (size_t)n * sizeof(*out));
    return 0;
}

int PMPI_Group_free(MPI_Group *group)
{
    *group = MPI_GROUP_NULL;
    return 0;
}

int PMPI_Type_size_x(MPI_Datatype type, int64_t *bytes)
{
    (void)type;
    *bytes = sizeof(int);
    return 0;
}

int PMPI_Type_get_envelope(MPI_Datatype type, int *integers, int *addresses, int *types, int *combiner)
{
    (void)type;
    *integers = *addresses = *types = 0;
    *combiner = MPI_COMBINER_NAMED;
    return 0;
}

int PMPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type;
    (void)op;
    (void)comm;
    if (in != MPI_IN_PLACE)
        memcpy(out, in, (size_t)n * sizeof(int));
    return 0;
}

#define ALIAS(name, params) int MPI_##name params __attribute__((weak, alias("PMPI_" #name)));
ALIAS(Init, (int *argc, char ***argv))
ALIAS(Finalize, (void))
ALIAS(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm))
