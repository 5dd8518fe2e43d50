/* phase.h - where in the step somebody's work is too long: in front of which calls.
 *
 * Each piece of work is compared with the same piece of the other ranks of the role, in the newest steps.
 * The phase is the fewest of those that are surely longer that together have most of the excess.  Pure;
 * memory 64 bytes a role and piece while it looks. */
#ifndef SYNCGUARD_CALLS_PHASE_H
#define SYNCGUARD_CALLS_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct slow_phase {
    double share; /* of the excess, 0 to 1, that lies in these pieces */
    /* how many they are, and of how many in a step of one rank: of the role with most of their excess */
    uint32_t pieces, n;
    /* The calls that they are in front of; false: different ones. Then n are the pieces in front of such a
     * call. */
    bool alike;
    bool message, sends; /* it is a message, and its sending */
    uint8_t op;          /* else of a collective: enum ring_op */
};

/* By how much the pieces of the phase are longer than the same ones of others, 1 is twice as long; 0 of all
 * other pieces.  Begins as zeroes; phase_excess_free() frees what is in it. */
struct phase_excess {
    float *of; /* roles rows of pieces, in the order of a rank's step */
    uint32_t roles, pieces;
    size_t cap;
};
void phase_excess_free(struct phase_excess *e);

/* Of ranks that slow() says true of, with arg, over `steps` newest steps or fewer where they are large;
 * false: no part of the step stands out, or nobody does the same. excess NULL: it is not asked for. */
bool phase_find(const struct graph *g, uint32_t steps, bool (*slow)(uint32_t rank, const void *arg),
                const void *arg, struct slow_phase *found, struct phase_excess *excess);
/* The same by place, of the ranks that slow() says true of; what is there of other places stays. */
void phase_excess_by_place(const struct phase_excess *e, const struct graph *g,
                           bool (*slow)(uint32_t rank, const void *arg), const void *arg, float *by_place);

#endif
