/* period.h - the period of a communicator's sequence of collectives: a training step without markers.
 *
 * Fed with one token a collective (a hash of operation and size: the same on all ranks) and the rank's own
 * work before it, it finds the smallest P for which the last tokens repeat. Where the tokens are all alike
 * (buckets of one size) the work decides: a step begins with the longest one (a forward pass and an optimiser
 * are at least a third of the step, so at least twice what lies between two buckets), and P grows to the
 * distance between those. The beginning is there too; where no work stands out it is the lexicographically
 * least rotation of the tokens (Booth 1980), so that every rank, and an agent that was restarted, names the
 * same collective without having talked to anyone.
 *
 * A foreign stretch (evaluation, checkpoint) unlocks; the known cycle is taken up again where it begins.
 * Another one is believed after three repetitions. Lost records are counted over. Memory: 16 bytes a
 * collective of the longest period looked for, which grows from 32 to PERIOD_MAX while nothing is found; a
 * push is O(1) while locked and O(that) while searching. */
#ifndef SYNCGUARD_SAMPLING_PERIOD_H
#define SYNCGUARD_SAMPLING_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#define PERIOD_MAX 512u /* collectives a step on one communicator */

struct period {
    uint32_t length; /* P of the known cycle; 0: none known yet */
    bool locked;     /* the sequence is in it */
    /* private */
    uint32_t at;     /* locked: place of the next token in the cycle */
    uint32_t cap;    /* longest cycle looked for */
    uint16_t *cycle; /* cap tokens, from the step's beginning */
    uint16_t *run;   /* cap + 1; searching: run[p] tokens in a row equal those p before */
    uint16_t *last;  /* a ring of the newest 2 cap tokens */
    float *work;     /* and of the work before each; NaN not known */
    uint32_t seen;   /* repetitions */
    uint32_t doubt;  /* tokens for which other cycles are looked for */
    uint32_t whole;  /* newest tokens without a break; at most 2 cap */
    uint32_t look;   /* tokens until the work is looked at again */
    uint64_t pushed;
};

/* All zero is a period that saw nothing. */
void period_free(struct period *p); /* what it holds, not p; it saw nothing then */

/* Take the next token; work: the rank's own since the communicator's previous collective, any unit, NaN not
 * known. True when the collective it stands for is in the known cycle; its place there is then in *place (0:
 * it begins a step). */
bool period_push(struct period *p, uint16_t token, float work, uint32_t *place);

/* lost collectives are missing: the sequence goes on that much later. false: they are more than can be
 * counted over, and what follows need not connect. */
bool period_gap(struct period *p, uint32_t lost);

/* The token of a collective: bytes are left out where they may differ between ranks (ring_op_irregular). */
uint16_t period_token(uint8_t op, uint64_t bytes, int32_t root);

#endif
