#include "spank/profiler.h"

#include <stdio.h>

#include "common/nccl_conf.h"
#include "ring/note.h"
#include "ring/ring.h"

void profiler_unset(spank_t sp)
{
    char set[8];

    if (spank_getenv(sp, PROFILER_ENV_OURS, set, sizeof(set)) != ESPANK_SUCCESS)
        return;
    spank_unsetenv(sp, PROFILER_ENV);
    spank_unsetenv(sp, PROFILER_ENV_OURS);
    spank_unsetenv(sp, PROFILER_ENV_EVENTS);
}

static const char *variable(spank_t sp, const char *name, char *buf, size_t size)
{
    return spank_getenv(sp, name, buf, (int)size) == ESPANK_SUCCESS ? buf : "";
}

void profiler_give_way(spank_t sp)
{
    char named[4096], home[4096], ours[4096], mark[8], dir[4096], path[4200], text[NOTE_MAX];
    const struct nccl_conf_files files = {
        .named = variable(sp, "NCCL_CONF_FILE", named, sizeof(named)),
        .home = variable(sp, "HOME", home, sizeof(home)),
        .etc = "/etc",
        .variable = PROFILER_ENV,
        .ours = variable(sp, PROFILER_ENV, ours, sizeof(ours)),
    };

    if (!*variable(sp, PROFILER_ENV_OURS, mark, sizeof(mark)) || !nccl_conf_find(&files, path, sizeof(path)))
        return;
    profiler_unset(sp);
    snprintf(text, sizeof(text), "NCCL's collectives are not recorded: %.160s sets " PROFILER_ENV, path);
    if (*variable(sp, RING_ENV_DIR, dir, sizeof(dir)))
        note_leave(dir, "nccl", text, false);
}
