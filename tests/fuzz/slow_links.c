/* Any bytes as a file of slow links; what is accepted is within its bounds, is written and read again as it
 * was, and leaves a tree on which the chosen order costs no more than Slurm's. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "topology/arrange.h"
#include "topology/slow_links.h"
#include "topology/topology_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char tree[] =
    "SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[4-6]\nSwitchName=top Switches=a,b\n";

static void check_bounds(const struct slow_links *s)
{
    if (isnan(s->measured_s) || s->nodes < 2 || s->n > SLOW_LINKS_MAX)
        abort();
    for (size_t i = 0; i < s->n; i++) {
        const struct slow_link *l = &s->link[i];

        if (!*l->name || (l->kind == SLOW_PAIR && !l->other) || (l->kind == SLOW_SWITCH && l->other) ||
            !(l->slower >= 1 && l->slower <= SLOW_LINKS_SLOWER_MAX) ||
            !(l->delay_s >= 0 && l->delay_s <= SLOW_LINKS_DELAY_S))
            abort();
    }
}

static void check_order(const struct slow_links *s)
{
    static const struct layout_node nodes[] = { { "n1", 1 }, { "n2", 1 }, { "n3", 1 },
                                                { "n4", 1 }, { "n5", 1 }, { "n6", 1 } };
    struct pattern p = { .kind = PATTERN_RING, .bytes = 1e6 };
    struct err err = { "" };
    struct topology *t = topology_conf_parse("tree", tree, strlen(tree), &err);
    struct arranged a;
    struct layout *l;
    uint32_t order[6];

    if (!t || slow_links_apply(s, t, &err) < 0)
        abort();
    topology_assume(t, &topology_usual);
    l = layout_new(t, nodes, 6, &err);
    if (!l || arrange(l, &p, 2000, order, &a, &err) < 0 || !(a.chosen.time_s <= a.slurm.time_s))
        abort();
    layout_free(l);
    topology_free(t);
}

static void check_again(const struct slow_links *s)
{
    struct slow_links again;
    struct err err = { "" };
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    slow_links_write(s, f);
    fclose(f);
    if (bytes < CONF_FILE_MAX &&
        (slow_links_parse(&again, "again", text, bytes, &err) < 0 || again.n != s->n))
        abort();
    if (bytes < CONF_FILE_MAX)
        slow_links_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { "" };
    struct slow_links s;

    if (slow_links_parse(&s, "slow", (const char *)data, size, &err) < 0) {
        if (!err.text[0] || s.n)
            abort(); /* a failure without a reason */
        return 0;
    }
    check_bounds(&s);
    check_order(&s);
    check_again(&s);
    slow_links_free(&s);
    return 0;
}
