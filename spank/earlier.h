/* earlier.h - what the controller knows of a job's earlier runs, for the order of the next one's ranks and
 * the algorithm of its all-reduces: what they communicated, and which of them were held out, that is, left as
 * they would have been, to compare with. */
#ifndef SYNCGUARD_SPANK_EARLIER_H
#define SYNCGUARD_SPANK_EARLIER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/algorithm.h"
#include "topology/pattern.h"

#define EARLIER_STARTS_MAX 65536u

/* Starts that are compared: with a choice, or held out from it; at most EARLIER_STARTS_MAX each. */
struct earlier_turns {
    uint32_t placed, held_out;
    bool held_out_last; /* the newest of them was held out */
};

struct earlier {
    bool patterned; /* pattern is what the last run communicated */
    struct pattern pattern;
    struct earlier_turns order, algorithm;
    /* of the newest run whose MPI library chose the algorithm of its all-reduces itself; "": none is known */
    char library[64];
    double step_s; /* of that run */
    struct algorithm_size size[ALGORITHM_SIZES];
    size_t n;
};

/* sgctl's answer: a line for each thing that is known, its name and its value; a line for each size of
 * all-reduces; lines with other names are skipped.  Of the pattern, bytes are the caller's to set before.
 * False: a value is none, or twice there, or there are too many sizes, and e is unchanged. */
bool earlier_parse(const char *answer, struct earlier *e);
/* Ask for runs of this name of the user's (question.h).  False also if there is no answer in limit_s.  A
 * pattern that so many ranks do not fit is as none. */
bool earlier_ask(const char *conf, double limit_s, const char *name, uint32_t ranks, uint32_t nodes,
                 struct earlier *e);
/* Is the next start held out, where one in `every` is?  One of each `every` starts, drawn by the job's key,
 * so that neither order is always the first: what changes from week to week is in both.  Where too few were
 * held out, every second one. */
bool earlier_holds_out(const struct earlier_turns *e, uint64_t key, uint32_t every);

#endif
