#include "view/switches.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/xalloc.h"

struct switches {
    struct names *names;
    uint32_t *above; /* by number of the name */
    size_t cap;
};

struct switches *switches_new(void)
{
    struct switches *s = xcalloc(1, sizeof(*s));

    s->names = names_new();
    return s;
}

void switches_free(struct switches *s)
{
    if (!s)
        return;
    names_free(s->names);
    free(s->above);
    free(s);
}

void switches_add(struct switches *s, const char *path)
{
    const char *ends = strchr(path, ' ') ? " " : ".";
    uint32_t above = NAMES_NONE;

    for (;;) {
        uint32_t n = names_count(s->names), number;
        size_t bytes = strcspn(path, ends);

        if (!bytes || bytes > SWITCHES_NAME)
            return;
        number = n < SWITCHES_MAX ? names_add(s->names, path, bytes) : names_find(s->names, path, bytes);
        if (number == NAMES_NONE)
            return;
        if (number == n)
            s->above = xgrow(s->above, &s->cap, n + 1, sizeof(*s->above));
        s->above[number] = above;
        above = number;
        path += bytes;
        if (!*path++)
            return;
    }
}

char *switches_path(const struct switches *s, const char *name, char buf[SWITCHES_PATH])
{
    uint32_t up[SWITCHES_LEVELS], n = 0;
    size_t at = 0;

    for (uint32_t i = names_find(s->names, name, strlen(name)); i != NAMES_NONE && n < SWITCHES_LEVELS;
         i = s->above[i])
        up[n++] = i;
    if (!n)
        snprintf(buf, SWITCHES_PATH, "%s", name);
    while (n-- > 0 && at < SWITCHES_PATH)
        at += (size_t)snprintf(buf + at, SWITCHES_PATH - at, "%s%s", at ? "\n" : "",
                               names_text(s->names, up[n]));
    return buf;
}
