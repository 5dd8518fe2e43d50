/* survey.h - what measurements between pairs of nodes say of their links, and of the switches that were
 * declared.
 *
 * A node that was slow with all its partners is one finding of the node, not one of each pair. What a finding
 * compares with is measured in the same survey: the median of the pairs that are as far apart on the declared
 * tree, and how far pairs and nodes usually are from it. It finds nothing where the measurements scatter too
 * widely, or are too few, to tell.
 *
 * A pair can be slow by chance, while others use its links: survey_suspects() says which pairs to measure
 * again, and only pairs that were measured SURVEY_CONFIRMED times become findings. A round trip has no
 * direction: which way is delayed is not known, which way has the lower rate is.
 *
 * What is found depends on how much was measured (doc/decisions/0042): of all pairs every fault that
 * tests/unit/survey.c puts in, and nothing else. Of the first third of the rounds slow or delayed nodes all
 * the same; but a slow pair only if it was measured, and a node below another switch only by chance.
 *
 * Never aborts and never prints. Seconds, bytes per second; NaN is not measured. */
#ifndef SYNCGUARD_TOPOLOGY_SURVEY_H
#define SYNCGUARD_TOPOLOGY_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "topology/topology.h"

#define SURVEY_NODES_MIN 6u /* fewer say too little about what is usual: nothing is found */
#define SURVEY_NODES_MAX 1024u
/* A chance of 1 % that a measurement is disturbed leaves 1e-10 that all of a pair's are, of which 1,024 nodes
 * have a million. */
#define SURVEY_CONFIRMED 5

/* From one node to another. */
struct survey_cell {
    double rtt_s;       /* the shortest round trip; the same in both directions */
    double bytes_per_s; /* the highest rate, this way */
    unsigned times;     /* measured */
};

struct survey {
    size_t n;
    uint32_t *leaf;           /* of each node: its leaf switch; TOPOLOGY_NONE: not declared */
    struct survey_cell *cell; /* n * n, by from and to */
    const struct topology *t; /* lent; NULL: no switches are declared */
};

enum survey_kind {
    SURVEY_NODE_DELAY, /* round trips with node a take value, usual is usual */
    SURVEY_NODE_RATE,  /* node a sends and receives at value */
    SURVEY_NODE_OUT,   /* node a sends at value, and receives at other */
    SURVEY_NODE_IN,    /* node a receives at value, and sends at other */
    SURVEY_PAIR_DELAY, /* between a and b */
    SURVEY_PAIR_RATE,  /* from a to b; other: from b to a */
    /* the slower of two groups of rates: a has value, the faster group usual; count nodes are as slow as a */
    SURVEY_MIXED,
    /* of all pairs with one node below switch `declared`, which are as usual among themselves */
    SURVEY_UPLINK_DELAY,
    SURVEY_UPLINK_RATE, /* value: the slower direction, other: the other one */
    /* node a is declared below switch `declared`, and as near as usual to those below `measured`; other: 0
     * when value and usual are round trips to either, 1 when they are rates */
    SURVEY_SWITCH,
};

struct survey_finding {
    enum survey_kind kind;
    uint32_t a, b;               /* nodes; b TOPOLOGY_NONE: of one node */
    uint32_t declared, measured; /* switches */
    double value, usual, other;  /* seconds or bytes per second */
    size_t count;                /* pairs it rests on; SURVEY_MIXED: nodes */
};

/* Which pairs to measure at the same time: in each of survey_rounds(n) rounds a node has at most one partner,
 * TOPOLOGY_NONE: none, and in all of them together each other node once. The first rounds alone are a sample:
 * they are no neighbours. */
size_t survey_rounds(size_t n);
uint32_t survey_partner(size_t n, size_t round, uint32_t a);

/* All cells not measured.  t is lent; leaf is looked up by the names.  NULL: no memory, or too many nodes. */
struct survey *survey_new(const struct topology *t, const char *const *name, size_t n);
void survey_free(struct survey *s); /* NULL is fine */
/* One more measurement between a and b: the best one counts. NaN: not measured now. */
void survey_add(struct survey *s, uint32_t a, uint32_t b, double rtt_s, double a_to_b, double b_to_a);

/* The findings, at most max; *n of them.  0, or -1 with the reason: no memory. */
int survey_judge(const struct survey *s, struct survey_finding *out, size_t max, size_t *n, struct err *err);
/* The same of pairs that were not measured often enough for a finding: measure them again. */
int survey_suspects(const struct survey *s, struct survey_finding *out, size_t max, size_t *n,
                    struct err *err);

/* What is usual in all of the survey. */
struct survey_summary {
    size_t pairs;              /* measured */
    double rtt_s, bytes_per_s; /* medians; NaN: none */
    /* nodes below one switch are so near to each other that one below another would have been seen */
    bool tells_switches;
};
/* 0, or -1 with the reason: no memory. */
int survey_summarize(const struct survey *s, struct survey_summary *to, struct err *err);

#endif
