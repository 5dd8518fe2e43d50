#include "agent/unseen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define ENVIRONMENT_BYTES (1u << 18)
#define MAPS_BYTES        (1u << 21) /* a process with PyTorch has some 300 KB */

struct search {
    const char *member; /* SYNCGUARD_DIR=... */
    char *room, *text;
    size_t size;
    bool found;
};

/* The first that is mapped decides. */
static const struct {
    const char *file, *name, *calls;
} libraries[] = {
    { "/libmpi.so", "MPI", "of MPI" },
    { "/libmpich.so", "MPI", "of MPI" },
    { "/libtorch_cpu.so", "PyTorch", "by which it communicates over Gloo, NCCL or MPI" },
    { "/libgloo.so", "Gloo", "of Gloo" },
    { "/libnccl.so", "NCCL", "of NCCL" },
};

static void judge(struct search *s, const char *process)
{
    char name[32] = "";
    bool probed = strstr(s->room, "syncguard_probe");

    for (size_t i = 0; i < ARRAY_SIZE(libraries) && !s->found; i++) {
        if (!strstr(s->room, libraries[i].file))
            continue;
        proc_read(name, sizeof(name), "%s/comm", process);
        name[strcspn(name, "\n")] = '\0';
        if (probed)
            snprintf(
                s->text, s->size,
                "%s has loaded %s, and no function %s was seen: it calls none yet, or they are hidden in its libraries",
                name, libraries[i].name, libraries[i].calls);
        else
            snprintf(s->text, s->size,
                     "%s has loaded %s, but not the probe: something removed it from LD_PRELOAD", name,
                     libraries[i].name);
        s->found = true;
    }
}

static void look(const char *process, void *arg)
{
    struct search *s = arg;
    const char *name = strrchr(process, '/') + 1;

    if (s->found || *name < '0' || *name > '9' ||
        !proc_read(s->room, ENVIRONMENT_BYTES, "%s/environ", process))
        return;
    /* What an earlier process left behind the end does not have it either. */
    if (memmem(s->room, ENVIRONMENT_BYTES, s->member, strlen(s->member) + 1) &&
        proc_read(s->room, MAPS_BYTES, "%s/maps", process))
        judge(s, process);
}

bool unseen_find(const char *root, const char *dir, char *text, size_t size)
{
    char *member = xasprintf(RING_ENV_DIR "=%s", dir), *room = xcalloc(MAPS_BYTES, 1);
    struct search s = { member, room, text, size, false };

    proc_each(look, &s, "%s/proc", root);
    free(room);
    free(member);
    return s.found;
}
