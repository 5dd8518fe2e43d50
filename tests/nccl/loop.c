/* loop.c - collectives of NCCL in a tight loop, for what recording them costs.  One process a rank, with RANK
 * and WORLD_SIZE set:
 *
 *     loop ID BYTES CALLS ROUNDS
 *
 * ID is a file by which the ranks meet.  Rank 0 prints a line for each round: nanoseconds a call until all
 * are enqueued, and until all have ended.  Not built with the project: cc -O2 loop.c -lnccl -lcudart, with
 * CUDA's and NCCL's headers. */
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TRY(call)                                             \
    do {                                                      \
        int result = (int)(call);                             \
        if (result) {                                         \
            fprintf(stderr, "loop: " #call ": %d\n", result); \
            exit(1);                                          \
        }                                                     \
    } while (0)

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void meet(const char *file, int rank, ncclUniqueId *id)
{
    char name[4096];
    FILE *f;

    if (rank == 0) {
        TRY(ncclGetUniqueId(id));
        snprintf(name, sizeof(name), "%s.new", file);
        f = fopen(name, "wb");
        TRY(!f || fwrite(id, sizeof(*id), 1, f) != 1 || fclose(f) || rename(name, file));
        return;
    }
    while (!(f = fopen(file, "rb")))
        usleep(10000);
    TRY(fread(id, sizeof(*id), 1, f) != 1 || fclose(f));
}

int main(int argc, char **argv)
{
    const char *rank_text = getenv("RANK"), *size_text = getenv("WORLD_SIZE");

    if (argc != 5 || !rank_text || !size_text)
        return 2;
    int rank = atoi(rank_text), calls = atoi(argv[3]), rounds = atoi(argv[4]);
    size_t bytes = strtoul(argv[2], NULL, 10);
    char host[32];
    ncclUniqueId id;
    ncclComm_t comm;
    cudaStream_t stream;
    void *data;

    snprintf(host, sizeof(host), "host%d",
             rank); /* NCCL takes ranks on one GPU only for ranks of several hosts */
    setenv("NCCL_HOSTID", host, 1);
    meet(argv[1], rank, &id);
    TRY(cudaSetDevice(0));
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&data, bytes));
    TRY(cudaMemset(data, 0, bytes));
    TRY(ncclCommInitRank(&comm, atoi(size_text), id, rank));
    for (int round = -1; round < rounds; round++) { /* the first one warms up */
        double begin = now();
        for (int i = 0; i < calls; i++)
            TRY(ncclAllReduce(data, data, bytes, ncclInt8, ncclMax, comm, stream));
        double enqueued = now();
        TRY(cudaStreamSynchronize(stream));
        if (rank == 0 && round >= 0)
            printf("%.0f %.0f\n", (enqueued - begin) / calls, (now() - begin) / calls);
    }
    TRY(ncclCommDestroy(comm));
    return 0;
}
