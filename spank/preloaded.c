#include "spank/preloaded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "common/preload.h"
#include "ring/note.h"
#include "ring/ring.h"

static bool variable(spank_t sp, const char *name, char *buf, size_t size)
{
    return spank_getenv(sp, name, buf, (int)size) == ESPANK_SUCCESS && *buf;
}

static void take_out(spank_t sp, const char *probe)
{
    char list[16384], rest[16384];

    if (!variable(sp, "LD_PRELOAD", list, sizeof(list)) || !preload_remove(list, probe, rest, sizeof(rest)))
        return;
    if (*rest)
        spank_setenv(sp, "LD_PRELOAD", rest, 1);
    else
        spank_unsetenv(sp, "LD_PRELOAD");
}

void preloaded_remove(spank_t sp)
{
    char probe[4096];

    if (variable(sp, PRELOAD_ENV_ADDED, probe, sizeof(probe)))
        take_out(sp, probe);
    spank_unsetenv(sp, PRELOAD_ENV_ADDED);
}

void preloaded_check(spank_t sp)
{
    char probe[4096], dir[4096], text[NOTE_MAX];
    int saved = errno;

    if (variable(sp, PRELOAD_ENV_ADDED, probe, sizeof(probe)) && access(probe, R_OK) < 0) {
        take_out(sp, probe);
        snprintf(
            text, sizeof(text),
            "the probe was not loaded: the tasks are in a container without %.120s; bind it and /dev/shm",
            probe);
        if (variable(sp, RING_ENV_DIR, dir, sizeof(dir)))
            note_leave(dir, "probe", text, false);
    }
    errno = saved;
}
