#include "spank/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

void strings_add(struct strings *s, const char *fmt, ...)
{
    char *item = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = s->n < STRINGS_MAX ? vasprintf(&item, fmt, ap) : -1;
    va_end(ap);
    if (n < 0)
        s->lost++;
    else
        s->item[s->n++] = item;
}

void strings_free(struct strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->item[i]);
    memset(s, 0, sizeof(*s));
}

void notes_add(struct notes *notes, const char *fmt, ...)
{
    size_t at = strlen(notes->text);
    va_list ap;

    if (at > 0 && at + 2 < sizeof(notes->text)) {
        notes->text[at++] = '\n';
        notes->text[at] = '\0';
    }
    va_start(ap, fmt);
    vsnprintf(notes->text + at, sizeof(notes->text) - at, fmt, ap);
    va_end(ap);
    notes->n++;
}
