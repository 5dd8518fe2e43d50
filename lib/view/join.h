/* join.h - the collectives of one communicator, put together from the samples of its ranks.
 *
 * The ranks' clocks need not agree: a synchronising collective ends everywhere at about the
 * same moment, so the rank that stayed shortest came last. lateness = longest stay - own stay; wait = own
 * stay - shortest stay; transfer = shortest stay; skew = longest - shortest.
 *
 * Ranks arrive in any order and some never: a collective is done when all announced members reported it, or
 * when newer ones push it out; then it counts if at least half of them are there. Memory is fixed once the
 * members are known: JOIN_OPEN collectives at a time. */
#ifndef SYNCGUARD_VIEW_JOIN_H
#define SYNCGUARD_VIEW_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/telemetry.h"

#define JOIN_OPEN        32u
#define JOIN_MEMBERS_MAX 65536u

struct join;

struct joined {
    uint64_t comm, bytes;
    uint32_t seq, n; /* the first of a block of n: what it shows stands for n */
    uint8_t op, flags;
    uint32_t present; /* members that reported it */
    bool complete;    /* all announced members reported it */
    uint32_t last;    /* the rank that came last */
    double stay_min_s, stay_max_s, stay_sum_s;
    /* Lent for the call: rank[i] stayed stay_s[i]; i < slots; stay_s is NaN where a member reported nothing.
     */
    const uint32_t *rank;
    const float *stay_s;
    uint32_t slots;
};

typedef void join_sink(const struct joined *j, void *arg);

/* Whether join_new() takes it, and the memory that it takes then. */
bool join_fits(const struct comm_item *c);
double join_bytes(const struct comm_item *c);
/* size members with ranks first..last. NULL when that cannot be (size 0, more than JOIN_MEMBERS_MAX, last <
 * first). */
struct join *join_new(const struct comm_item *c);
void join_free(struct join *j); /* NULL is fine */

/* rank is a member, and comm_rank its place.  Called once for each guarded member. */
void join_member(struct join *j, uint32_t rank, uint32_t comm_rank);
/* rank ended or was lost: no longer waited for. */
void join_leave(struct join *j, uint32_t rank);
uint32_t join_announced(const struct join *j);            /* members that join_member() announced */
uint32_t join_place(const struct join *j, uint32_t rank); /* among the members; UINT32_MAX: not one */

uint32_t join_rank(const struct join *j, uint32_t place); /* UINT32_MAX: not announced, or none */

/* Take a sample of a synchronising operation; false: not a member, or too late. */
bool join_sample(struct join *j, const struct sample *s, join_sink *sink, void *arg);
/* No more members will be announced: pass those that all announced ones reported. */
void join_finish(struct join *j, join_sink *sink, void *arg);

#endif
