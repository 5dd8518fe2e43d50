/* init.c - MPI_Init, MPI_Finalize and MPI_Abort.  There is no constructor, so a process that never calls MPI is
 * not affected. */
#include "probe/comm.h"
#include "probe/message.h"
#include "probe/number.h"
#include "probe/pace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe probe;

typedef int (*ask_fn)(handle, void *);
typedef int (*envelope_fn)(handle, int *, int *, int *, int *);

/* ---- which library ---- */

/* Cut name and number out of "Open MPI v4.1.4, package: ..." or "MPICH Version:      4.0.2\n...". */
static void library_name(char out[64], const char *text)
{
    const char *number = text + strcspn(text, "0123456789\n"), *version = strstr(text, " Version");
    size_t name = (size_t)(number - text);

    if (version && version < number)
        name = (size_t)(version - text);
    else if (name > 2 && !strncmp(number - 2, " v", 2))
        name -= 2;
    snprintf(out, 64, "%.*s %.*s", (int)name, text, (int)strspn(number, "0123456789."), number);
}

/* Raises the error that a library raises for an operation it does not support. */
static int unsupported(void)
{
    static struct next call_errhandler = { "PMPI_Comm_call_errhandler", NULL };
    int code = probe.abi == ABI_MPICH ? 15 : 16; /* MPI_ERR_OTHER */

    ((int (*)(handle, int))next_get(&call_errhandler))(probe.world, code);
    return code;
}

static bool library_know(char name[64])
{
    static struct next version = { "PMPI_Get_library_version", NULL };
    static char text[16384]; /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 in MPICH */
    int length = 0;
    void *world = next_symbol("ompi_mpi_comm_world");

    if (!next_symbol(version.name) || ((int (*)(char *, int *))next_get(&version))(text, &length))
        return false;
    library_name(name, text);
    if (world) {
        probe.abi = ABI_OPENMPI;
        probe.handle_mask = UINTPTR_MAX;
        probe.world = world;
        probe.self_comm = next_symbol("ompi_mpi_comm_self");
        probe.null_comm = next_symbol("ompi_mpi_comm_null");
        probe.null_type = next_symbol("ompi_mpi_datatype_null");
        probe.null_request = next_symbol("ompi_request_null");
        probe.empty_request = next_symbol("ompi_request_empty");
        probe.in_place = (void *)1;
        return true;
    }
    /* MPICH and the libraries that share its ABI. */
    if (!strstr(text, "MPICH") && !strstr(text, "Intel") && !strstr(text, "MVAPICH"))
        return false;
    probe.abi = ABI_MPICH;
    probe.handle_mask = UINT32_MAX;
    probe.world = (handle)0x44000000;
    probe.self_comm = (handle)0x44000001;
    probe.null_comm = (handle)0x04000000;
    probe.null_type = (handle)0x0c000000;
    probe.null_request = probe.empty_request = (handle)0x2c000000;
    probe.in_place = (void *)-1;
    return true;
}

static int class_of(int error)
{
    static struct next error_class = { "PMPI_Error_class", NULL };
    int class = 0;

    return ((int (*)(int, int *))next_get(&error_class))(error, &class) ? INT_MAX : class;
}

bool status_in_status(int rc)
{
    return class_of(rc) == (probe.abi == ABI_MPICH ? 17 : 18);
}

bool status_pending(int error)
{
    return error && class_of(error) == (probe.abi == ABI_MPICH ? 18 : 19);
}

bool call_took_part(int rc)
{
    int class = class_of(rc);

    return class > (probe.abi == ABI_MPICH
                        ? 12
                        : 13); /* up to MPI_ERR_ARG: buffer, count, type, tag, communicator, rank, ... */
}

static bool is_predefined(handle type)
{
    static struct next envelope = { "PMPI_Type_get_envelope", NULL };
    int integers, addresses, types, combiner = -1;

    return !((envelope_fn)next_get(&envelope))(type, &integers, &addresses, &types, &combiner) &&
           combiner == (probe.abi == ABI_MPICH ? 1 : 0); /* MPI_COMBINER_NAMED */
}

/* MPI_Type_size says MPI_UNDEFINED of what does not fit an int. */
uint64_t type_bytes_ask(handle type)
{
    static struct next size_x = { "PMPI_Type_size_x", NULL }, size = { "PMPI_Type_size", NULL };
    bool large = next_symbol(size_x.name) != NULL;
    int64_t bytes = 0;
    int few = 0;

    if (!type || type == probe.null_type ||
        ((ask_fn)next_get(large ? &size_x : &size))(type, large ? (void *)&bytes : &few))
        return 0;
    bytes += few;
    if (bytes < 0)
        return 0;
    if (is_predefined(type)) {
        self.type = type;
        self.type_bytes = (uint64_t)bytes;
    }
    return (uint64_t)bytes;
}

/* ---- joining ---- */

static uint32_t task_number(void)
{
    const char *text = getenv("SLURM_PROCID");
    char *end;
    unsigned long n;

    if (!text || *text < '0' || *text > '9')
        return UINT32_MAX;
    n = strtoul(text, &end, 10);
    return *end || n >= UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* What the processes of one MPI_Comm_spawn share, and no other's: PMIx's name of their world, or the step that Slurm started for
 * them.  Without either, spawned worlds of the same size share their communicators' names. */
static uint64_t spawned_world(void)
{
    return comm_text(getenv("PMIX_NAMESPACE")) ^ comm_text(getenv("SLURM_STEP_ID")) ^ 2;
}

static bool who_am_i(struct ring_info *info)
{
    static struct next rank = { "PMPI_Comm_rank", NULL }, size = { "PMPI_Comm_size", NULL },
                       parent = { "PMPI_Comm_get_parent", NULL }, level = { "PMPI_Query_thread", NULL };
    const char *topology = getenv("SLURM_TOPOLOGY_ADDR");
    uint64_t parent_comm = 0;
    int world_rank = 0, world_size = 0, provided = 0;

    if (((ask_fn)next_get(&rank))(probe.world, &world_rank) ||
        ((ask_fn)next_get(&size))(probe.world, &world_size))
        return false;
    probe.world_seed = 1;
    if (next_symbol(parent.name) && ((int (*)(void *))next_get(&parent))(&parent_comm) == 0)
        if ((handle)(uintptr_t)parent_comm != probe.null_comm)
            probe.world_seed = spawned_world();
    probe.concurrent =
        ((int (*)(int *))next_get(&level))(&provided) || provided > 2; /* MPI_THREAD_SERIALIZED */
    info->world_rank = (uint32_t)world_rank;
    info->world_size = (uint32_t)world_size;
    info->task = task_number();
    info->rank = world_size == 1 && info->task != UINT32_MAX ? info->task : info->world_rank;
    snprintf(info->program, sizeof(info->program), "%s", program_invocation_short_name);
    snprintf(info->topology, sizeof(info->topology), "%s", topology ? topology : "");
    probe.rank = info->rank;
    probe.world_size = info->world_size;
    return true;
}

/* Local only: joining sends no message.  A rank that fails to create its ring is unguarded; the agent notices,
 * because it counts rings. */
static void join(void)
{
    const char *dir = getenv(RING_ENV_DIR);
    struct ring_info info = { 0 };
    int saved = errno;

    if (!dir || !*dir || probe.main)
        return;
    if (library_know(info.library)) {
        next_missing = (next_fn)unsupported;
        if (who_am_i(&info))
            probe.main = ring_create(dir, &info, RING_CAPACITY_MAIN);
    }
    if (probe.main && thread_setup(dir, &info) == 0) {
        probe.control = control_page_follow(dir);
        comm_find(probe.world);
        comm_find(probe.self_comm);
        pace_setup(dir);
        number_setup(&probe.main->file->streams_forgotten);
        atomic_store_explicit(&probe.active, true, memory_order_release);
    }
    errno = saved;
}

#define INIT(symbol, params, args)                     \
    EXPORT int symbol params;                          \
    int symbol params                                  \
    {                                                  \
        static struct next next = { #symbol, NULL };   \
        int rc = ((int(*) params)next_get(&next))args; \
                                                       \
        if (!rc)                                       \
            join();                                    \
        return rc;                                     \
    }

BOTH(INIT, Init, (int *argc, char ***argv), (argc, argv))
BOTH(INIT, Init_thread, (int *argc, char ***argv, int required, int *provided),
     (argc, argv, required, provided))

/* ---- leaving ---- */

static int finalize(struct next *n)
{
    bool ours = atomic_exchange_explicit(&probe.active, false, memory_order_relaxed);
    int rc;

    if (ours)
        pace_finish();
    rc = ((int (*)(void))next_get(n))();
    if (ours) {
        thread_states_set(RING_STATE_FINALIZED);
        scr_leave();
    }
    return rc;
}

static int abort_all(struct next *n, handle comm, int code)
{
    if (atomic_load_explicit(&probe.active, memory_order_relaxed))
        thread_states_set(RING_STATE_ABORTED);
    return ((int (*)(handle, int))next_get(n))(comm, code);
}

#define AS(symbol, function, params, ...)            \
    EXPORT int symbol params;                        \
    int symbol params                                \
    {                                                \
        static struct next next = { #symbol, NULL }; \
                                                     \
        return function(&next, ##__VA_ARGS__);       \
    }

BOTH(AS, Finalize, finalize, (void))
BOTH(AS, Abort, abort_all, (handle comm, int code), comm, code)
