#include "doctor/measure_mpi.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/now.h"
#include "common/text.h"
#include "common/xalloc.h"

#define PINGS      40
#define PINGS_MIN  5
#define PINGS_S    0.03
#define LONG_BYTES (1 << 20)
#define LONGS      8
#define LONGS_MIN  2
#define LONGS_S    0.05
#define TAG        7
#define NAME_BYTES 8192 /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the longer one */

/* What a first byte says: of A, whether it asks again; of B the same, and whether its processor was taken
 * meanwhile. */
enum word { MORE = 1, LAST = 2, TAKEN = 4 };

/* Handles are passed as pointers: Open MPI's are, MPICH's are integers, which take the same register in every
 * ABI of 64 bits that it is built for. */
typedef int send_fn(const void *, int, void *type, int to, int tag, void *comm);
typedef int recv_fn(void *, int, void *type, int from, int tag, void *comm, void *status);
typedef int number_fn(void *comm, int *);

struct measure_mpi {
    void *library, *world, *byte, *ignore;
    send_fn *send;
    recv_fn *recv;
    int (*finalize)(void);
    char *bytes; /* LONG_BYTES */
    char name[64];
};

#define MPICH_WORLD  0x44000000
#define MPICH_BYTE   0x4c00010d
#define MPICH_IGNORE 1

static int number(const struct measure_mpi *m, const char *function)
{
    number_fn *ask;
    int n = -1;

    *(void **)&ask = dlsym(m->library, function);
    return ask && ask(m->world, &n) == 0 ? n : -1;
}

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n...": what comes first. */
static void take_name(struct measure_mpi *m)
{
    int (*ask)(char *, int *), length = 0;
    char *text = xcalloc(1, NAME_BYTES + 1);

    *(void **)&ask = dlsym(m->library, "MPI_Get_library_version");
    if (ask && ask(text, &length) == 0)
        for (char *c = text; *c; c++)
            *c = *c == '\t' ? ' ' : *c;
    text[strcspn(text, ",\n")] = '\0';
    snprintf(m->name, sizeof(m->name), "%.60s", *text ? text : "an MPI without a name");
    free(text);
}

struct measure_mpi *measure_mpi_open(const char *type, uint32_t self, uint32_t tasks, struct err *err)
{
    static const char *const names[] = { "libmpi.so.40", "libmpi.so.20", "libmpi.so.12", "libmpich.so.12",
                                         "libmpi.so" };
    struct measure_mpi *m = xcalloc(1, sizeof(*m));
    /* Where ranks find each other by PMIx it is most likely Open MPI; by PMI2 it is MPICH. */
    size_t first = strstr(type, "pmi2") ? 2 : 0;
    int (*init)(int *, char ***);
    void *world;

    for (size_t i = 0; i < ARRAY_SIZE(names) && !m->library; i++)
        m->library = dlopen(names[(first + i) % ARRAY_SIZE(names)], RTLD_NOW | RTLD_GLOBAL);
    if (!m->library) {
        err_set(err, "no MPI library is found");
        goto fail;
    }
    world = dlsym(m->library, "ompi_mpi_comm_world");
    m->world = world ? world : (void *)(uintptr_t)MPICH_WORLD;
    m->byte = world ? dlsym(m->library, "ompi_mpi_byte") : (void *)(uintptr_t)MPICH_BYTE;
    m->ignore = world ? NULL : (void *)(uintptr_t)MPICH_IGNORE;
    *(void **)&m->send = dlsym(m->library, "MPI_Send");
    *(void **)&m->recv = dlsym(m->library, "MPI_Recv");
    *(void **)&m->finalize = dlsym(m->library, "MPI_Finalize");
    *(void **)&init = dlsym(m->library, "MPI_Init");
    if (!m->byte || !m->send || !m->recv || !m->finalize || !init || init(NULL, NULL) != 0) {
        err_set(err, "MPI does not start");
        goto fail;
    }
    take_name(m);
    if (number(m, "MPI_Comm_size") != (int)tasks || number(m, "MPI_Comm_rank") != (int)self) {
        err_set(err, "%.25s finds no other ranks", m->name);
        m->finalize();
        goto fail;
    }
    m->bytes = xcalloc(1, LONG_BYTES);
    return m;
fail: /* the library stays: it may have left threads */
    free(m);
    return NULL;
}

const char *measure_mpi_name(const struct measure_mpi *m)
{
    return m->name;
}

/* How often something else ran in the place of this process, which does not sleep while it waits. */
static long times_taken(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Who waits in MPI needs a processor: a round trip while that was taken, here or there, says nothing of the
 * way between. */
struct measured measure_mpi_call(const struct measure_mpi *m, uint32_t partner, bool rates)
{
    int bytes = rates ? LONG_BYTES : 1, most = rates ? LONGS : PINGS, least = rates ? LONGS_MIN : PINGS_MIN;
    double begin_s = now_s(), limit_s = rates ? LONGS_S : PINGS_S, best_s = NAN;
    struct measured out = { NAN, NAN, NAN, NAN, NULL };
    int undisturbed = 0;
    bool last = false;

    for (int i = 1; !last; i++) {
        long before = times_taken();
        double from_s = now_s(), took_s;

        last = undisturbed + 1 == most || (i >= least && from_s > begin_s + limit_s);
        m->bytes[0] = last ? LAST : MORE;
        if (m->send(m->bytes, bytes, m->byte, (int)partner, TAG, m->world) != 0 ||
            m->recv(m->bytes, bytes, m->byte, (int)partner, TAG, m->world, m->ignore) != 0) {
            out.why = "MPI fails";
            return out;
        }
        took_s = now_s() - from_s;
        if (times_taken() == before && !(m->bytes[0] & TAKEN)) {
            best_s = fmin(best_s, took_s);
            undisturbed++;
        }
    }
    if (!undisturbed)
        out.why = "its processor was taken";
    else if (rates)
        out.there_bytes_per_s = out.back_bytes_per_s = 2 * bytes / best_s;
    else
        out.rtt_s = best_s;
    return out;
}

void measure_mpi_answer(const struct measure_mpi *m, uint32_t partner, bool rates)
{
    int bytes = rates ? LONG_BYTES : 1;
    long before = times_taken(), now;

    do {
        if (m->recv(m->bytes, bytes, m->byte, (int)partner, TAG, m->world, m->ignore) != 0)
            return;
        now = times_taken();
        m->bytes[0] = (char)((m->bytes[0] & LAST) | (now != before ? TAKEN : 0));
        before = now;
        if (m->send(m->bytes, bytes, m->byte, (int)partner, TAG, m->world) != 0)
            return;
    } while (!(m->bytes[0] & LAST));
}

void measure_mpi_close(struct measure_mpi *m)
{
    m->finalize();
    free(m->bytes);
    free(m);
}
