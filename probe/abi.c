#include "probe/abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe/next.h"

static const struct abi openmpi = {
    .kind = ABI_OPENMPI,
    .status_bytes = 24,
    .status_source = 0,
    .status_tag = 1,
    .status_error = 2,
    .any_source = -1,
    .any_tag = -1,
    .proc_null = -2,
    .thread_multiple = 3,
    .err_arg = 13,
    .err_other = 16,
    .err_pending = 19,
    .err_in_status = 18,
    .combiner_named = 0,
    .cart = 1,
    .graph = 2,
    .dist_graph = 3,
    .in_place = (void *)1,
    .status_ignore = NULL,
    .handle_mask = UINTPTR_MAX,
};

static const struct abi mpich = {
    .kind = ABI_MPICH,
    .status_bytes = 20,
    .status_source = 2,
    .status_tag = 3,
    .status_error = 4,
    .any_source = -2,
    .any_tag = -1,
    .proc_null = -1,
    .thread_multiple = 3,
    .err_arg = 12,
    .err_other = 15,
    .err_pending = 18,
    .err_in_status = 17,
    .combiner_named = 1,
    .graph = 1,
    .cart = 2,
    .dist_graph = 3,
    .in_place = (void *)-1,
    .status_ignore = (void *)1,
    .world = (void *)0x44000000,
    .self_comm = (void *)0x44000001,
    .null_comm = (void *)0x04000000,
    .null_type = (void *)0x0c000000,
    .null_request = (void *)0x2c000000,
    .empty_request = (void *)0x2c000000,
    .no_op = (void *)0x5800000e,
    .handle_mask = UINT32_MAX,
    .small_requests = true,
};

static const struct abi standard = {
    .kind = ABI_STANDARD,
    .status_bytes = 32,
    .status_source = 0,
    .status_tag = 1,
    .status_error = 2,
    .any_source = -1,
    .any_tag = -2,
    .proc_null = -3,
    .thread_multiple = 4096,
    .err_arg = 13,
    .err_other = 16,
    .err_pending = 18,
    .err_in_status = 19,
    .combiner_named = 101,
    .cart = 211,
    .graph = 212,
    .dist_graph = 213,
    .in_place = (void *)1,
    .status_ignore = NULL,
    .world = (void *)0x101,
    .self_comm = (void *)0x102,
    .null_comm = (void *)0x100,
    .null_type = (void *)0x200,
    .null_request = (void *)0x180,
    .no_op = (void *)0x3d,
    .handle_mask = UINTPTR_MAX,
};

/* Cut name and number out of "Open MPI v4.1.4, package: ..." or "MPICH Version:      4.0.2\n...". */
static void short_name(char out[64], const char *text)
{
    const char *number = text + strcspn(text, "0123456789\n"), *version = strstr(text, " Version");
    size_t name = (size_t)(number - text);

    if (version && version < number)
        name = (size_t)(version - text);
    else if (name > 2 && !strncmp(number - 2, " v", 2))
        name -= 2;
    snprintf(out, 64, "%.*s %.*s", (int)name, text, (int)strspn(number, "0123456789."), number);
}

/* The name of the file that the library is in. */
static const char *file_name(void)
{
    void *at = next_symbol("PMPI_Get_library_version");
    const char *slash;
    Dl_info info;

    if (!at || !dladdr(at, &info) || !info.dli_fname)
        return "";
    slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* The major version of the standard's ABI that the library knows; 0: it is older than that. */
static int standard_version(void)
{
    static struct next version = { "PMPI_Abi_get_version", NULL };
    int major = 0, minor = 0;

    if (!next_symbol(version.name) || ((int (*)(int *, int *))next_get(&version))(&major, &minor))
        return 0;
    return major;
}

/* Libraries with an ABI of their own that pass calls on to an MPI, whose version they tell, and whose symbols
 * the process has. */
static bool is_forwarder(const char *file, const char *text)
{
    return begins(text, "MPItrampoline") || begins(text, "MPIwrapper") || begins(file, "libmpitrampoline") ||
           begins(file, "libmpiwrapper") || begins(file, "libmuk") || begins(file, "libwi4mpi");
}

/* Of "MPICH Version:      3.3.2\n..."; 0: it says something else. */
static int mpich_major(const char *text)
{
    int major = 0;

    return sscanf(text, "MPICH Version: %d", &major) == 1 ? major : 0;
}

/* By the standard the library of its ABI has the name mpi_abi, whatever the library says of itself, and
 * inside it is Open MPI or MPICH. One of MPI 5 that is in no file of a known name may have either ABI. */
bool abi_know(struct abi *abi, char name[64])
{
    static struct next version = { "PMPI_Get_library_version", NULL };
    static char text[16384]; /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH */
    const char *file = file_name();
    const bool *fault_tolerant;
    void *world;
    int length = 0;

    snprintf(name, 64, "unknown");
    if (!next_symbol(version.name) || ((int (*)(char *, int *))next_get(&version))(text, &length))
        return false;
    short_name(name, text);
    if (is_forwarder(file, text))
        return false;
    world = next_symbol("ompi_mpi_comm_world");
    if (begins(file, "libmpi_abi")) {
        if (standard_version() != 1)
            return false;
        /* Handles that are not predefined are the library's own: Open MPI's pointers, or MPICH's numbers. */
        *abi = standard;
        abi->empty_request = next_symbol("ompi_request_empty");
        abi->small_requests = !abi->empty_request;
        if (!abi->empty_request)
            abi->empty_request = abi->null_request;
    } else if (world) {
        *abi = openmpi;
        abi->world = world;
        abi->self_comm = next_symbol("ompi_mpi_comm_self");
        abi->null_comm = next_symbol("ompi_mpi_comm_null");
        abi->null_type = next_symbol("ompi_mpi_datatype_null");
        abi->null_request = next_symbol("ompi_request_null");
        abi->empty_request = next_symbol("ompi_request_empty");
        abi->no_op = next_symbol("ompi_mpi_op_no_op");
        /* With its fault tolerance MPI_Waitall returns MPIX_ERR_PROC_FAILED itself, and MPI_ERR_IN_STATUS
         * where it has statuses to write. */
        fault_tolerant = next_symbol("ompi_ftmpi_enabled");
        abi->ignored_stay = fault_tolerant && *fault_tolerant;
    } else if (strstr(text, "MPICH") || strstr(text, "Intel") || strstr(text, "MVAPICH")) {
        if (standard_version() && !begins(file, "libmpi"))
            return false;
        *abi = mpich;
        /* Likewise any error of a request before MPICH 4. */
        abi->ignored_stay = !strncmp(text, "MVAPICH2", strlen("MVAPICH2")) || mpich_major(text) == 3;
    } else {
        return false;
    }
    return true;
}
