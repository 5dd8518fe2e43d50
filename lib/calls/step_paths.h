/* step_paths.h - the critical path of each step of a program, one step after another, from calls whose times
 * are those of one clock.
 *
 * Where steps end is found from the calls (boundary.h).  Where workers do not wait for one another
 * (updates.h) there are none, and no path: nobody waits for anybody.  Of what comes before it is found, and
 * before the first end, there is no path.  A step lasts from the end of the one before it to its own, and the
 * path (path.h) is cut to that: what a rank did of it beside the step before is left out, and where the path
 * is not known back to there it is PATH_UNKNOWN.  So slices fill each step without a gap, and steps follow
 * each other.  Where a step is missing between two, the later one begins where its path does, and never
 * before the earlier one's end.
 *
 * Memory: that of a graph (graph/graph.h).  Units: nanoseconds of the one clock.  How long a transfer took is
 * exact to 0.05 %. */
#ifndef SYNCGUARD_CALLS_STEP_PATHS_H
#define SYNCGUARD_CALLS_STEP_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/path.h"

struct step_slice {
    uint8_t kind; /* enum path_kind */
    /* of a transfer: of a message, or op is the collective, enum ring_op */
    bool message;
    uint8_t op;
    /* whose it is.  A transfer is to it, from another: of a collective the one that entered it last */
    uint32_t rank, from;
    uint64_t begin_ns, end_ns;
};

struct step_path {
    uint32_t number; /* of the step; increases as long as steps end with the same call */
    uint64_t begin_ns, end_ns;
    const struct step_slice *slice; /* n, earliest first, lent during the call */
    size_t n;
    uint64_t sum_ns[PATH_KINDS]; /* of the slices, by kind */
};

/* Of one more step. */
typedef void step_paths_take(const struct step_path *path, void *arg);

struct step_paths;
struct boundary;

/* All times are later than origin_ns.  error_s: as graph_share_clock() takes it.  boundary: it becomes this
 * one's; after an earlier pass over the same calls it knows from the first one on where steps end. */
struct step_paths *step_paths_new(uint64_t origin_ns, double error_s, struct boundary *boundary,
                                  step_paths_take *take, void *arg);
void step_paths_free(struct step_paths *s); /* NULL is fine */

void step_paths_rank(struct step_paths *s, uint32_t rank, uint32_t node); /* before its first call */
/* Of a rank that was given, in the order in which it left them; calls of others are ignored. */
void step_paths_call(struct step_paths *s, const struct call *c);
void step_paths_lost(struct step_paths *s, uint32_t rank); /* calls are missing before its next one */
void step_paths_finish(struct step_paths *s);              /* no more calls come */

#endif
