/* init.c - MPI_Init, MPI_Finalize and MPI_Abort.  There is no constructor, so a process that never calls MPI
 * is not affected. */
#include "probe/comm.h"
#include "probe/message.h"
#include "probe/number.h"
#include "probe/pace.h"
#include "ring/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD_BYTE ((handle)0x247) /* MPI_BYTE of the standard's ABI */

typedef int (*ask_fn)(handle, void *);
typedef int (*envelope_fn)(handle, int *, int *, int *, int *);

/* ---- questions to the library ---- */

/* Raises the error that a library raises for an operation it does not support. */
static int unsupported(void)
{
    static struct next call_errhandler = { "PMPI_Comm_call_errhandler", NULL };
    ((int (*)(handle, int))next_get(&call_errhandler))(probe.abi.world, probe.abi.err_other);
    return probe.abi.err_other;
}

static int class_of(int error)
{
    static struct next error_class = { "PMPI_Error_class", NULL };
    int class = 0;

    return ((int (*)(int, int *))next_get(&error_class))(error, &class) ? INT_MAX : class;
}

bool status_in_status(int rc)
{
    return class_of(rc) == probe.abi.err_in_status;
}

bool status_pending(int error)
{
    return error && class_of(error) == probe.abi.err_pending;
}

bool call_took_part(int rc)
{
    return class_of(rc) > probe.abi.err_arg;
}

bool status_cancelled_ask(const void *status)
{
    static struct next test = { "PMPI_Test_cancelled", NULL };
    int flag = 0;

    return !((int (*)(const void *, int *))next_get(&test))(status, &flag) && flag;
}

uint64_t status_bytes_ask(const void *status)
{
    static struct next get_count = { "PMPI_Get_count_c", NULL };
    int64_t bytes = 0;

    if (((int (*)(const void *, handle, int64_t *))next_get(&get_count))(status, STANDARD_BYTE, &bytes) ||
        bytes < 0)
        return 0;
    return (uint64_t)bytes;
}

/* MPI_Type_size says MPI_UNDEFINED of what does not fit an int. */
uint64_t type_bytes_ask(handle type)
{
    static struct next size_x = { "PMPI_Type_size_x", NULL }, size = { "PMPI_Type_size", NULL },
                       envelope = { "PMPI_Type_get_envelope", NULL };
    bool large = next_get(&size_x) != next_missing;
    int few = 0, integers, addresses, types, combiner = -1;
    int64_t bytes = 0;

    if (!type || type == probe.abi.null_type ||
        ((ask_fn)next_get(large ? &size_x : &size))(type, large ? (void *)&bytes : &few))
        return 0;
    bytes += few;
    if (bytes < 0)
        return 0;
    if (!((envelope_fn)next_get(&envelope))(type, &integers, &addresses, &types, &combiner) &&
        combiner == probe.abi.combiner_named) { /* it is never freed */
        self.type = type;
        self.type_bytes = (uint64_t)bytes;
    }
    return (uint64_t)bytes;
}

/* ---- joining ---- */

/* From which incarnation on a spawned world looks for a free one, so that all its ranks find the same: only
 * the first of them have a rank of that number in the world before. Open MPI ends the name of a world with
 * its number, from 1 on: behind a @, or in the lower half of the number that the name is (before 5.0). Others
 * say nothing: there a second spawned world that is larger than the first is seen in part. */
static uint32_t spawned_incarnation(void)
{
    const char *name = getenv("PMIX_NAMESPACE"), *at = name ? strrchr(name, '@') : NULL;
    char *end;
    unsigned long n = name ? strtoul(at ? at + 1 : name, &end, 10) : 0;

    n = name && !*end ? n % 65536 : 0;
    return n > 1 && n <= RING_SPAWNED_MAX ? (uint32_t)n - 1 : 1;
}

/* The communicator with those that have spawned this world; NULL: nobody has. */
static handle parent(void)
{
    static struct next get_parent = { "PMPI_Comm_get_parent", NULL };
    uint64_t comm = 0;

    if (!next_symbol(get_parent.name) || ((int (*)(void *))next_get(&get_parent))(&comm))
        return NULL;
    return handle_at(&comm, 0) == probe.abi.null_comm ? NULL : handle_at(&comm, 0);
}

static bool who_am_i(struct ring_info *info)
{
    static struct next rank = { "PMPI_Comm_rank", NULL }, size = { "PMPI_Comm_size", NULL },
                       level = { "PMPI_Query_thread", NULL };
    int world_rank = 0, world_size = 0, provided = 0;

    if (((ask_fn)next_get(&rank))(probe.abi.world, &world_rank) ||
        ((ask_fn)next_get(&size))(probe.abi.world, &world_size))
        return false;
    probe.world_seed = 1;
    if (parent()) {
        /* What the processes of one MPI_Comm_spawn share, and no other's: PMIx's name of their world, or the
         * step that Slurm started for them.  Without either, spawned worlds of the same size share their
         * communicators' names. */
        probe.world_seed = comm_text(getenv("PMIX_NAMESPACE")) ^ comm_text(getenv("SLURM_STEP_ID")) ^ 2;
        info->incarnation = spawned_incarnation();
    }
    probe.concurrent = ((int (*)(int *))next_get(&level))(&provided) || provided >= probe.abi.thread_multiple;
    launch_process(info);
    info->world_rank = (uint32_t)world_rank;
    info->world_size = (uint32_t)world_size;
    info->rank = world_size == 1 && info->task != UINT32_MAX ? info->task : info->world_rank;
    probe.rank = info->rank;
    probe.world_size = info->world_size;
    return true;
}

/* What its user or the node's administrator can change; other reasons are none of theirs.  strerror() may
 * read files of another language. */
static void leave_why_no_ring(const char *dir, int error)
{
    static const struct {
        int error;
        const char *text;
    } causes[] = {
        { EFBIG, "unguarded: a ring is larger than the files that the program may write (ulimit -f)" },
        { ENOMEM, "unguarded: a ring is more than the memory that the program may still have (ulimit -v)" },
        { ENOSPC, "unguarded: there is no room for a ring in shared memory" },
    };

    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].error == error)
            launch_note(dir, causes[i].text);
}

/* Local only: joining sends no message.  A rank that fails to create its ring is unguarded, and says so where
 * it can. */
static void join_step(void)
{
    const char *dir = getenv(RING_ENV_DIR);
    struct ring_info info = { 0 };
    char note[NOTE_MAX];
    int saved = errno;

    if (!dir || !*dir || probe.main)
        return;
    if (abi_know(&probe.abi, info.library)) {
        next_missing = (next_fn)unsupported;
        if (who_am_i(&info) && !(probe.main = ring_create(dir, &info, RING_CAPACITY_MAIN)))
            leave_why_no_ring(dir, errno);
    } else {
        snprintf(note, sizeof(note), "unguarded: the ABI of this MPI library is not known: %s", info.library);
        launch_note(dir, note);
    }
    if (probe.main && thread_setup(dir, &info) == 0) {
        probe.control = control_page_follow(dir);
        comm_made(probe.abi.world, COMM_PREDEFINED, NULL);
        comm_made(probe.abi.self_comm, COMM_PREDEFINED, NULL);
        comm_made(parent(), COMM_PREDEFINED, NULL);
        pace_setup(dir);
        number_setup(&probe.main->file->streams_forgotten);
        atomic_store_explicit(&probe.active, true, memory_order_release);
    }
    errno = saved;
}

#define INIT(symbol, params, args)                     \
    EXPORTED(int symbol params)                        \
    {                                                  \
        static struct next next = { #symbol, NULL };   \
        int rc = ((int(*) params)next_get(&next))args; \
                                                       \
        if (!rc)                                       \
            join_step();                               \
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

#define INT_WRAPPER(symbol, ...) WRAPPER(int, symbol, __VA_ARGS__)
BOTH(INT_WRAPPER, Finalize, (void), finalize)
BOTH(INT_WRAPPER, Abort, (handle comm, int code), abort_all, comm, code)
