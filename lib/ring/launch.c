#include "ring/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASK_NAME      32          /* proc(5): at most 15 characters are kept */
#define STEPS_OF_SLURM 0xfffffff0u /* slurm.h: the least of them is SLURM_INTERACTIVE_STEP, 0xfffffffa */

static bool read_number(const char *name, uint32_t *out)
{
    const char *text = getenv(name);
    char *end;
    unsigned long n;

    if (!text || *text < '0' || *text > '9')
        return false;
    n = strtoul(text, &end, 10);
    *out = (uint32_t)n;
    return !*end && n < UINT32_MAX;
}

void launch_process(struct ring_info *info)
{
    const char *topology = getenv("SLURM_TOPOLOGY_ADDR");

    if (!read_number("SLURM_PROCID", &info->task))
        info->task = UINT32_MAX;
    snprintf(info->program, sizeof(info->program), "%s", program_invocation_short_name);
    snprintf(info->topology, sizeof(info->topology), "%s", topology ? topology : "");
}

/* The name of the process that Slurm started as this task, which others may have come from.  False: it is not
 * known. */
static bool read_task_name(char name[TASK_NAME])
{
    char path[64];
    uint32_t pid;
    ssize_t n;
    int fd;

    if (!read_number("SLURM_TASK_PID", &pid))
        return false;
    snprintf(path, sizeof(path), "/proc/%u/comm", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, name, TASK_NAME - 1);
    close(fd);
    name[n > 0 ? n : 0] = 0;
    name[strcspn(name, "\n")] = 0;
    return true;
}

/* Is the process a task of srun's?  A batch script, or a shell in an allocation, is a step of Slurm's own,
 * and the daemon that mpirun has started by srun on each node is a task, but those that either of them starts
 * are not, though they inherit its numbers.  Who calls srun as a rank of mpirun gets tasks of srun's again.
 */
static bool is_task_of_srun(void)
{
    static const char *const daemons[] = { "hydra_pmi_proxy", "hydra_bstrap_pr", "orted", "prted" };
    char name[TASK_NAME];
    uint32_t step;

    if (!read_number("SLURM_STEP_ID", &step) || step >= STEPS_OF_SLURM)
        return false;
    if (!read_task_name(name))
        return true;
    for (size_t i = 0; i < sizeof(daemons) / sizeof(daemons[0]); i++)
        if (!strcmp(name, daemons[i]))
            return false;
    return true;
}

bool launch_rank(struct ring_info *info, uint32_t ranks_max)
{
    static const struct {
        const char *rank, *size;
        bool srun; /* only where it set them */
    } names[] = { { "RANK", "WORLD_SIZE", false },
                  { "SLURM_PROCID", "SLURM_NTASKS", true },
                  { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false },
                  { "PMI_RANK", "PMI_SIZE", false },
                  { "SLURM_PROCID", "SLURM_NTASKS", false } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((!names[i].srun || is_task_of_srun()) && read_number(names[i].rank, &info->world_rank) &&
            read_number(names[i].size, &info->world_size) && info->world_rank < info->world_size &&
            info->world_size <= ranks_max) {
            info->rank = info->world_rank;
            return true;
        }
    return false;
}

bool launch_has_rings(const char *dir, struct ring_info *info)
{
    struct ring_info theirs;
    char path[PATH_MAX + 64];
    uint32_t missing = 0; /* in a row: a spawned world leaves out the incarnations of those before it */

    for (uint32_t i = 0; missing < RING_SPAWNED_MAX; i++) {
        struct ring *r;

        snprintf(path, sizeof(path), "%s/%u.%u.0.ring", dir, info->rank, i);
        r = ring_open(path, true);
        if (!r) {
            missing++;
            continue;
        }
        missing = 0;
        ring_info_get(r, &theirs);
        ring_close(r);
        if (theirs.pid == getpid()) {
            info->incarnation = i;
            return true;
        }
    }
    return false;
}

void launch_note(const char *dir, const char *text)
{
    char name[32];

    snprintf(name, sizeof(name), "%ld", (long)getpid());
    note_leave(dir, name, text, true);
}
