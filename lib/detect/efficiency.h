/* efficiency.h - how much of a set of ranks' time is useful, and where the rest went.
 *
 * The model of the POP centre of excellence (Rosas, Gimenez & Labarta, "Scalability prediction for
 * fundamental performance factors", 2014), multiplicative, every factor in (0, 1]:
 *
 *     parallel efficiency      = load balance x communication efficiency = mean useful time / time
 *     load balance             = mean useful time / longest useful time
 *     communication efficiency = serialisation x transfer efficiency = longest useful time / time
 *     transfer efficiency      = time on an ideal network / time
 *     serialisation            = longest useful time / time on an ideal network
 *
 * Useful is what is spent outside of MPI. What is approximated:
 * - Each rank's useful time is taken as a share of the time that its own telemetry covers, so that a rank
 *   whose last block is still on its way does not look idle.
 * - The time on an ideal network is not simulated: it is the time less what the last arrivers stay in their
 *   collectives, when nobody is waited for any more. Operations that do not join the ranks (rooted ones) are
 *   divided in the same proportion, and point-to-point calls count as serialisation.
 * - Where this leaves less ideal time than the busiest rank computes, serialisation is 1 and transfer bears
 *   the whole of the communication efficiency.
 *
 * NaN is unknown. */
#ifndef SYNCGUARD_DETECT_EFFICIENCY_H
#define SYNCGUARD_DETECT_EFFICIENCY_H

#include <stdint.h>

struct efficiency {
    double parallel, load_balance, communication, serialisation, transfer;
};

/* What is known of the set; all 0 to begin with.  Some groups (inner communicators of one size) may be taken
 * together: efficiency_group() ends each, and the longest useful time is then their mean. */
struct efficiency_sums {
    double useful, longest, longest_sum; /* shares of time */
    uint32_t ranks, groups;
    double wait_s, transfer_s; /* of all ranks in the collectives that joined them */
    double stay_s, time_s;     /* of all ranks: in all collectives; in all */
};

/* A rank of the set: useful_s of its time_s.  One without time is left out. */
void efficiency_rank(struct efficiency_sums *s, double useful_s, double stay_s, double time_s);
void efficiency_group(struct efficiency_sums *s);
/* Two parts of a run, of which one may be empty: a share of time weighs as much as its part lasted.  The
 * longest useful time is the mean of the parts' longest ones, as if one rank had both. */
struct efficiency_sums efficiency_joined(const struct efficiency_sums *a, const struct efficiency_sums *b);
struct efficiency efficiency_of(const struct efficiency_sums *s);

#endif
