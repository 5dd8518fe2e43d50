#include "spank/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
