#include "ring/launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

bool launch_rank(struct ring_info *info, uint32_t ranks_max)
{
    static const char *const names[][2] = { { "RANK", "WORLD_SIZE" },
                                            { "SLURM_PROCID", "SLURM_NTASKS" },
                                            { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
                                            { "PMI_RANK", "PMI_SIZE" } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (read_number(names[i][0], &info->world_rank) && read_number(names[i][1], &info->world_size) &&
            info->world_rank < info->world_size && info->world_size <= ranks_max) {
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
