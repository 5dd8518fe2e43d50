/* pattern.h - what a job communicates in a step, and the messages of its ranks.
 *
 *   ring           an all-reduce over all ranks, as a ring (Patarasuk & Yuan 2009)
 *   halving        the same by recursive halving and doubling (Thakur, Rabenseifner & Gropp 2005)
 *   doubling       the same by recursive doubling, the whole vector in each round (the same)
 *   groups:G       a two-level all-reduce: a ring in each group of G ranks that follow one another, rings of all
 *                  ranks with the same place in their groups between them (MODELS: two-level ring with G
 *                  rails)
 *   pipeline:SxR   S stages of R replicas; rank s R + r is replica r of stage s, as DeepSpeed and Megatron-LM
 *                  number them. In the steady state each replica sends activations to the next stage and
 *                  gradients back (Narayanan et al. 2021), and the replicas of a stage sum their gradients
 *                  in a ring
 *
 * The messages of the all-reduces are those that the simulator sends (network/schedule.h). They come in
 * phases: rounds in which the same ranks send as many bytes to the same partners. Pure but for memory; never
 * aborts. */
#ifndef SYNCGUARD_TOPOLOGY_PATTERN_H
#define SYNCGUARD_TOPOLOGY_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define PATTERN_RANKS_MAX 262144u

enum pattern_kind { PATTERN_RING, PATTERN_HALVING, PATTERN_DOUBLING, PATTERN_GROUPS, PATTERN_PIPELINE };

struct pattern {
    enum pattern_kind kind;
    uint32_t group;            /* groups: ranks of one */
    uint32_t stages, replicas; /* pipeline */
    double bytes; /* of the all-reduced vector, and of a pipeline's messages to the next stage in a step */
};

#define PATTERN_ACCEPTS "ring, halving, doubling, groups:G or pipeline:SxR"

/* Sets all but bytes; "groups=8" is groups:8. 0, or -1 with the reason. */
int pattern_parse(struct pattern *p, const char *text, struct err *err);
/* As pattern_parse() reads it; returns buf. */
#define PATTERN_NAME_SIZE 32
char *pattern_name(const struct pattern *p, char buf[PATTERN_NAME_SIZE]);
/* Can so many ranks communicate so?  0, or -1 with the reason. */
int pattern_check(const struct pattern *p, uint32_t ranks, struct err *err);
/* The ranks of a row: the ranks of a group, the replicas of a stage; ranks of the same place in their rows
 * communicate. 0: no rows. */
uint32_t pattern_row(const struct pattern *p);

/* ---- messages ---- */

/* Messages between slots: a slot is a number of ranks that follow one another. */
struct flow {
    uint32_t from, to; /* different slots */
    uint32_t messages;
};

#define PHASES_MAX 80u /* SCHEDULE_STAGES_MAX */

struct phase {
    double rounds, bytes; /* bytes: of one message, in each round */
    struct flow *flow;
    size_t n_flows;
};

struct flows {
    uint32_t slots;
    struct phase *phase;
    size_t n_phases;
};

/* per_slot divides ranks; the pattern was checked.  NULL: no memory. */
struct flows *flows_new(const struct pattern *p, uint32_t ranks, uint32_t per_slot);
void flows_free(struct flows *f); /* NULL is fine */

#endif
