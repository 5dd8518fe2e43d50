#include "ring/note.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring/shared.h"

void note_leave(const char *dir, const char *name, const char *text, bool replace)
{
    char path[PATH_MAX], temporary[PATH_MAX], target[NOTE_MAX];

    if (shared_path(path, "%s/%s" NOTE_SUFFIX, dir, name) < 0 ||
        shared_path(temporary, "%s/.%s" NOTE_SUFFIX ".%ld.tmp", dir, name, (long)getpid()) < 0)
        return;
    snprintf(target, sizeof(target), "%s", text);
    if (symlink(target, path) == 0 || !replace)
        return;
    unlink(temporary);
    if (symlink(target, temporary) < 0 || rename(temporary, path) < 0)
        unlink(temporary);
}

bool note_read(const char *dir, const char *file, char text[NOTE_MAX])
{
    char path[PATH_MAX];
    ssize_t n = shared_path(path, "%s/%s", dir, file) < 0 ? -1 : readlink(path, text, NOTE_MAX - 1);

    if (n < 0)
        return false;
    text[n] = '\0';
    return true;
}
