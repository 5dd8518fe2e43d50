/* slow_links.h - links that a measurement found slower than others of their kind, in a file.
 *
 *   Measured=2026-11-25T05:00:00Z Nodes=64        when, and between how many nodes; the first line
 *   Node=node[05-06] Slower=8.4                   their own links reach that many times less than others
 *   Node=node07 Delay=1.1ms                       round trips with it take that much longer
 *   Node=node08 Below=leaf2                       it is below this switch, whatever was declared
 *   Switch=leaf1 Slower=10 Delay=300us            its link up
 *   Pair=node01,node09 Slower=3.2                 the way between two nodes, whose own links are as usual
 *
 * In the syntax of slurm.conf (common/conf.h), so that the plugin reads it in srun.  Ratios and not rates:
 * what one connection of sockets reaches is not what a job's library does, but what slows one slows both.
 * Where nothing is said a link is as it was declared. `sgctl doctor --cluster --probe --measured FILE` writes
 * such a file.
 *
 * Never aborts and never prints. */
#ifndef SYNCGUARD_TOPOLOGY_SLOW_LINKS_H
#define SYNCGUARD_TOPOLOGY_SLOW_LINKS_H

#include <stddef.h>
#include <stdio.h>

#include "topology/topology.h"

#define SLOW_LINKS_MAX        4096u
#define SLOW_LINKS_SLOWER_MAX 1e6
#define SLOW_LINKS_DELAY_S    10.0 /* the longest that is accepted */
/* srun believes a file for so long: a cable is replaced within days, and a site that measures each night may
 * miss one. */
#define SLOW_LINKS_AGE_S (48 * 3600.0)

enum slow_link_kind { SLOW_NODE, SLOW_SWITCH, SLOW_PAIR };

struct slow_link {
    enum slow_link_kind kind;
    /* other: the second node of a pair, or the switch that a node is below; NULL: neither */
    char *name, *other;
    double slower;  /* at least 1 */
    double delay_s; /* of a round trip; at least 0 */
};

struct slow_links {
    double measured_s; /* since 1970; NaN: nothing was read */
    unsigned nodes;
    struct slow_link *link;
    size_t n, cap;
};

/* 0, or -1 with a reason that names file, line and what is accepted; then it is empty. */
int slow_links_read(struct slow_links *s, const char *path, struct err *err);
int slow_links_parse(struct slow_links *s, const char *name, const char *text, size_t bytes, struct err *err);
/* A copy of it.  0, or -1 with the reason: not a name, SLOW_LINKS_MAX of them, or no memory. */
int slow_links_add(struct slow_links *s, const struct slow_link *link, struct err *err);
void slow_links_write(const struct slow_links *s, FILE *out);
void slow_links_free(struct slow_links *s); /* leaves it empty */

/* Before topology_assume().  Names that the topology lacks are skipped: more was measured than was declared.
 * How many links of it are slow now, or -1 with the reason. */
int slow_links_apply(const struct slow_links *s, struct topology *t, struct err *err);

#endif
