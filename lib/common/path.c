#include "common/path.h"

#include <stdio.h>
#include <string.h>

bool path_next(const char **list, const char *name, char *file, size_t size)
{
    while (*list && **list) {
        const char *folder = *list;
        size_t length = strcspn(folder, ":");

        *list += length + (folder[length] == ':');
        if (length && (size_t)snprintf(file, size, "%.*s/%s", (int)length, folder, name) < size)
            return true;
    }
    return false;
}
