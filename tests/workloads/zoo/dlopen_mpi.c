/* dlopen_mpi - finds MPI at run time, with RTLD_LOCAL: how Python modules and plugins come by it.
 * Built without any MPI; told which library, it makes a few all-reduces on MPI_COMM_WORLD and on a duplicate.
 * Prints "zoo: rank=R comm=... total=..." as mpizoo does, and "zoo: rank=R ok". */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Handles as the two libraries' binary interfaces have them: pointers to data, or integers. */
union handle {
    void *pointer;
    int number;
};

struct mpi {
    void *library;
    union handle world, integer, sum;
    int number_handles;
    int (*init)(int *, char ***), (*finalize)(void);
    void *size, *rank, *allreduce, *dup, *free;
};

static void *find(void *library, const char *name)
{
    void *at = dlsym(library, name);

    if (!at) {
        fprintf(stderr, "dlopen_mpi: %s: %s\n", name, dlerror());
        exit(1);
    }
    return at;
}

static void load(struct mpi *m, const char *which)
{
    m->number_handles = strcmp(which, "mpich") == 0;
    m->library = dlopen(m->number_handles ? "libmpich.so.12" : "libmpi.so.40", RTLD_NOW | RTLD_LOCAL);
    if (!m->library) {
        fprintf(stderr, "dlopen_mpi: %s\n", dlerror());
        exit(1);
    }
    if (m->number_handles) {
        m->world.number = 0x44000000;
        m->integer.number = 0x4c000405;
        m->sum.number = 0x58000003;
    } else {
        m->world.pointer = find(m->library, "ompi_mpi_comm_world");
        m->integer.pointer = find(m->library, "ompi_mpi_int");
        m->sum.pointer = find(m->library, "ompi_mpi_op_sum");
    }
    *(void **)&m->init = find(m->library, "MPI_Init");
    *(void **)&m->finalize = find(m->library, "MPI_Finalize");
    m->size = find(m->library, "MPI_Comm_size");
    m->rank = find(m->library, "MPI_Comm_rank");
    m->allreduce = find(m->library, "MPI_Allreduce");
    m->dup = find(m->library, "MPI_Comm_dup");
    m->free = find(m->library, "MPI_Comm_free");
}

static int ask(const struct mpi *m, void *function, union handle comm)
{
    int answer = -1;

    if (m->number_handles)
        ((int (*)(int, int *))function)(comm.number, &answer);
    else
        ((int (*)(void *, int *))function)(comm.pointer, &answer);
    return answer;
}

static int sum_over(const struct mpi *m, union handle comm, int own)
{
    int sum = -1;

    if (m->number_handles)
        ((int (*)(void *, void *, int, int, int, int))m->allreduce)(&own, &sum, 1, m->integer.number,
                                                                    m->sum.number, comm.number);
    else
        ((int (*)(void *, void *, int, void *, void *, void *))m->allreduce)(
            &own, &sum, 1, m->integer.pointer, m->sum.pointer, comm.pointer);
    return sum;
}

static union handle duplicate(const struct mpi *m, union handle comm)
{
    union handle copy = { NULL };

    if (m->number_handles)
        ((int (*)(int, int *))m->dup)(comm.number, &copy.number);
    else
        ((int (*)(void *, void **))m->dup)(comm.pointer, &copy.pointer);
    return copy;
}

int main(int argc, char **argv)
{
    struct mpi m = { 0 };
    union handle copy;
    int size, rank, good = 1;

    if (argc != 2 || (strcmp(argv[1], "openmpi") != 0 && strcmp(argv[1], "mpich") != 0)) {
        fputs("Usage: dlopen_mpi openmpi|mpich\n", stderr);
        return 2;
    }
    load(&m, argv[1]);
    m.init(&argc, &argv);
    size = ask(&m, m.size, m.world);
    rank = ask(&m, m.rank, m.world);
    copy = duplicate(&m, m.world);
    for (int i = 0; i < 10; i++)
        good &= sum_over(&m, i % 2 ? copy : m.world, rank + 1) == size * (size + 1) / 2;
    ((int (*)(void *))m.free)(&copy);
    for (int instance = 0; instance < 2; instance++)
        printf("zoo: rank=%d comm=%s size=%d place=%d first=0 last=%d instance=%d inter=0 total=%d "
               "nonblocking=0 persistent=0 failed=0 allreduce=5%s\n",
               rank, instance ? "dup" : "world", size, rank, size - 1, instance, instance ? 5 : 6,
               instance ? "" : " comm_create=1");
    printf("zoo: rank=%d %s\n", rank, good ? "ok" : "FAILED");
    m.finalize();
    return !good;
}
