/* cycle.h - how the newest calls of a rank repeat: the length of the program's outermost cycle, in calls, and
 * that of what repeats inside of it.
 *
 * One token a call, equal for calls of the same kind.  The outermost cycle is the shortest distance over
 * which the newest tokens repeat, seen at least twice (three times where it is short); its inner one, what
 * all of it repeats but for the marked calls: an exchange with the neighbours, of which every tenth is
 * followed by a reduction. Found by the prefix function (Knuth, Morris & Pratt 1977) over the newest tokens,
 * read backwards, whenever they have grown by a quarter: linear in the number of calls. */
#ifndef SYNCGUARD_CALLS_CYCLE_H
#define SYNCGUARD_CALLS_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CYCLE_MAX 16384u /* calls of the longest cycle looked for */

struct cycle {
    uint32_t length, inner; /* 0: not found; inner is at least 4 times in length, or equal to it */
    uint64_t name;          /* the same for the same tokens, whatever their order */
    /* the same for the same tokens in the same order, wherever they begin; 0: there is no inner one */
    uint64_t inner_name;
    /* private */
    uint32_t *token;          /* the newest */
    size_t n, cap, look, end; /* end: tokens up to the end of the cycle that was found */
    bool marked;              /* a marked token came */
};

/* All zero is a cycle that has seen nothing.  Frees what it holds, and makes it all zero. */
void cycle_free(struct cycle *c);
/* Take the next token.  A cycle has a marked one as soon as one came. */
void cycle_push(struct cycle *c, uint32_t token, bool mark);
/* How often the token is in the cycle. */
uint32_t cycle_count(const struct cycle *c, uint32_t token);

#endif
