/* period.h - the period of a communicator's sequence of collectives: a training step without markers.
 *
 * Fed with one token a collective (a hash of operation and size: the same on all ranks), it finds the
 * smallest P for which the last tokens repeat, and where in the cycle a step begins. The beginning is the
 * canonical one (the lexicographically least rotation of the cycle, Booth 1980), so that every rank, and an
 * agent that was restarted, names the same collective without having talked to anyone.
 *
 * A foreign stretch (evaluation, checkpoint, lost records) unlocks; the known cycle is recognised again after
 * one whole repetition, another one after three. Memory is fixed, a push is O(1) while locked and
 * O(PERIOD_MAX) while searching. */
#ifndef SYNCGUARD_ANALYSIS_PERIOD_H
#define SYNCGUARD_ANALYSIS_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#define PERIOD_MAX 512u /* collectives a step on one communicator */

struct period {
    uint32_t length; /* P of the known cycle; 0: none known yet */
    bool locked;     /* the last length tokens are one repetition of it */
    /* private */
    uint32_t at; /* locked: place of the next token in cycle; else: how much of it was seen again */
    uint32_t cycle[PERIOD_MAX];    /* from the step's beginning */
    uint32_t seen;                 /* repetitions of it */
    uint32_t doubt;                /* tokens for which other cycles are looked for */
    uint32_t run[PERIOD_MAX + 1];  /* searching: run[p] tokens in a row equal those p before */
    uint32_t last[2 * PERIOD_MAX]; /* a ring of the newest tokens */
    uint64_t pushed;
};

void period_reset(struct period *p);

/* Take the next token.  True when the collective it stands for begins a step (the first of the cycle, while
 * locked). */
bool period_push(struct period *p, uint32_t token);

/* The sequence has a hole: what follows need not connect. */
void period_gap(struct period *p);

/* The token of a collective: bytes are left out where they may differ between ranks (ring_op_irregular). */
uint32_t period_token(uint8_t op, uint64_t bytes, int32_t root);

#endif
