#include "common/preload.h"

#include <stdio.h>
#include <string.h>

/* The loader accepts both colons and spaces. */
static const char separators[] = ": \t\n";

bool preload_remove(const char *list, const char *path, char *out, size_t size)
{
    size_t len = strlen(path), at = 0;
    bool removed = false;

    if (size == 0)
        return false;
    out[0] = '\0';
    while (*(list += strspn(list, separators))) {
        size_t entry = strcspn(list, separators);

        if (entry == len && !memcmp(list, path, len))
            removed = true;
        else if (at + entry + 2 <= size)
            at += (size_t)snprintf(out + at, size - at, "%s%.*s", at ? ":" : "", (int)entry, list);
        list += entry;
    }
    return removed;
}

bool preload_add(const char *list, const char *path, char *out, size_t size)
{
    size_t len;

    /* Separators cannot be quoted in LD_PRELOAD. */
    if (path[strcspn(path, separators)] || strlen(list) + strlen(path) + 2 > size)
        return false;
    preload_remove(list, path, out, size);
    len = strlen(out);
    snprintf(out + len, size - len, "%s%s", len ? ":" : "", path);
    return true;
}

bool preload_allow(const char *options, char *out, size_t size)
{
    static const char option[] = "verify_asan_link_order";
    int n;

    if (strstr(options, option))
        return false;
    n = snprintf(out, size, "%s%s%s=0", options, *options ? ":" : "", option);
    return n > 0 && (size_t)n < size;
}
