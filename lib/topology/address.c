#include "topology/address.h"

#include <stdio.h>
#include <string.h>

#include "common/hostlist.h"

#define STEPS_MAX 100000u /* bounds an address of dots */

struct cut {
    const struct topology *t;
    const char *address;
    size_t levels, *begins;
    unsigned ways, steps;
    size_t here[TOPOLOGY_LEVELS_MAX]; /* as far as it is cut */
    uint32_t height;                  /* of the level that is looked at */
};

static int is_switch(void *arg, const char *name, struct err *err)
{
    const struct cut *c = arg;
    uint32_t at = topology_find_switch(c->t, name);

    return at != TOPOLOGY_NONE && c->t->a_switch[at].height == c->height ? 0 : err_set(err, "unknown");
}

static bool is_level(struct cut *c, const char *text, size_t bytes)
{
    char name[HOSTLIST_NAME_MAX + 1];

    if (bytes >= sizeof(name))
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
    return is_switch(c, name, NULL) == 0 || hostlist_each(name, TOPOLOGY_LINKS_MAX, is_switch, c, NULL) == 0;
}

static void cut_from(struct cut *c, size_t level, size_t begin)
{
    size_t left = c->levels - level, end = begin;

    c->here[level] = begin;
    for (;; end++) {
        bool last = !c->address[end];

        if (!last && c->address[end] != '.')
            continue;
        if (c->ways > 1 || ++c->steps > STEPS_MAX)
            return;
        c->height = (uint32_t)left - 1;
        if ((left == 1) == last && is_level(c, c->address + begin, end - begin)) {
            if (left > 1)
                cut_from(c, level + 1, end + 1);
            else if (c->ways++ == 0)
                memcpy(c->begins, c->here, c->levels * sizeof(*c->here));
        }
        if (last)
            return;
    }
}

bool address_cut(const struct topology *t, const char *address, size_t levels,
                 size_t begins[TOPOLOGY_LEVELS_MAX])
{
    struct cut c = { .t = t, .address = address, .levels = levels, .begins = begins };

    if (!levels || levels > TOPOLOGY_LEVELS_MAX)
        return false;
    cut_from(&c, 0, 0);
    return c.ways == 1 && c.steps <= STEPS_MAX;
}
