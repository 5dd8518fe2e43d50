#include "ring/note.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ring/shared.h"

void note_leave(const char *dir, const char *name, const char *text, bool replace)
{
    char file[64];

    if (snprintf(file, sizeof(file), "%s" NOTE_SUFFIX, name) < (int)sizeof(file))
        shared_publish(dir, file, text, strnlen(text, NOTE_MAX - 1), NOTE_MAX, replace);
}

bool note_read(const char *dir, const char *file, char text[NOTE_MAX])
{
    void *map = shared_map(dir, file, NOTE_MAX, false);

    if (!map)
        return false;
    memcpy(text, map, NOTE_MAX);
    munmap(map, NOTE_MAX);
    text[NOTE_MAX - 1] = '\0';
    return *text;
}
