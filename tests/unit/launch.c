/* Which rank a process is, by what its launcher has set, with what it inherited from others. */
#include "ring/launch.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/tap.h"

static const struct {
    const char *what, *environment[10];
    long rank, size; /* -1: not known */
} cases[] = {
    { "nothing tells it", { NULL }, -1, -1 },
    { "torchrun tells it, under srun",
      { "RANK=5", "WORLD_SIZE=8", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=0" },
      5,
      8 },
    { "srun tells it", { "SLURM_PROCID=3", "SLURM_NTASKS=4", "SLURM_STEP_ID=0" }, 3, 4 },
    { "srun tells it, with PMI-2",
      { "SLURM_PROCID=3", "SLURM_NTASKS=4", "SLURM_STEP_ID=2", "PMI_RANK=3", "PMI_SIZE=4" },
      3,
      4 },
    { "srun was called by a rank of mpirun",
      { "SLURM_PROCID=3", "SLURM_NTASKS=4", "SLURM_STEP_ID=1", "OMPI_COMM_WORLD_RANK=1",
        "OMPI_COMM_WORLD_SIZE=2" },
      3,
      4 },
    { "srun was called by a rank of mpiexec",
      { "SLURM_PROCID=3", "SLURM_NTASKS=4", "SLURM_STEP_ID=1", "PMI_RANK=1", "PMI_SIZE=2" },
      3,
      4 },
    { "mpiexec was called by a batch script, which has no number of a step",
      { "SLURM_PROCID=0", "SLURM_NTASKS=4", "PMI_RANK=2", "PMI_SIZE=4" },
      2,
      4 },
    { "mpiexec was called by a batch script, which has a number of its own",
      { "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_ID=4294967291", "PMI_RANK=2", "PMI_SIZE=4" },
      2,
      4 },
    { "mpirun was called in an interactive step",
      { "SLURM_PROCID=0", "SLURM_NTASKS=4", "SLURM_STEP_ID=4294967290", "OMPI_COMM_WORLD_RANK=2",
        "OMPI_COMM_WORLD_SIZE=4" },
      2,
      4 },
    { "mpirun was called without Slurm", { "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4" }, 2, 4 },
    { "mpiexec has started its daemons by srun",
      { "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=0", "PMI_RANK=2", "PMI_SIZE=4",
        "TASK=hydra_pmi_proxy" },
      2,
      4 },
    { "mpirun has started its daemons by srun",
      { "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0", "OMPI_COMM_WORLD_RANK=2",
        "OMPI_COMM_WORLD_SIZE=4", "TASK=orted" },
      2,
      4 },
    { "srun, called by a rank of mpirun, has started a script",
      { "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=1", "OMPI_COMM_WORLD_RANK=3",
        "OMPI_COMM_WORLD_SIZE=4", "TASK=run.sh" },
      1,
      2 },
    { "a batch script is all there is", { "SLURM_PROCID=0", "SLURM_NTASKS=1" }, 0, 1 },
    { "a rank is none of its world", { "RANK=4", "WORLD_SIZE=4" }, -1, -1 },
    { "a world is larger than is recorded", { "RANK=4", "WORLD_SIZE=4000" }, -1, -1 },
    { "a rank is no number", { "RANK=-1", "WORLD_SIZE=4", "PMI_RANK=1", "PMI_SIZE=4" }, 1, 4 },
};

/* This process is the one that Slurm has started, of that name. */
static void become_task(const char *task)
{
    char pid[16];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("SLURM_TASK_PID", pid, 1);
    prctl(PR_SET_NAME, task);
}

static void check(size_t i)
{
    struct ring_info info = { 0 };
    char name[64];
    bool known;

    clearenv();
    for (size_t k = 0; cases[i].environment[k]; k++) {
        const char *e = cases[i].environment[k], *value = strchr(e, '=');

        snprintf(name, sizeof(name), "%.*s", (int)(value - e), e);
        if (strcmp(name, "TASK"))
            setenv(name, value + 1, 1);
        else
            become_task(value + 1);
    }
    known = launch_rank(&info, 1024);
    ok(known == (cases[i].rank >= 0) &&
           (!known || (info.rank == (uint32_t)cases[i].rank && info.world_rank == info.rank &&
                       info.world_size == (uint32_t)cases[i].size)),
       "%s: %s is the rank\n%d of %d", cases[i].what, cases[i].rank < 0 ? "nothing" : "what it says",
       known ? (int)info.rank : -1, known ? (int)info.world_size : -1);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check(i);
    return done_testing();
}
