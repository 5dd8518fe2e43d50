/* presence.h - when a view's job ran, and what of it the view sees: ranks that nobody records, nodes that
 * have gone silent, times in which the job stood still, and what Slurm does with it. Times are by the
 * caller's clock. */
#ifndef SYNCGUARD_VIEW_PRESENCE_H
#define SYNCGUARD_VIEW_PRESENCE_H

#include "view/communicators.h"
#include "view/roster.h"
#include "view/view.h"

struct presence;
/* lent */
struct presence *presence_new(const struct roster *roster, const struct communicators *communicators);
void presence_free(struct presence *s);

/* An item came: the first one begins the run. */
void presence_begin(struct presence *s, double now_s);
double presence_began_s(const struct presence *s); /* NaN: not yet */
void presence_finish(struct presence *s);
bool presence_finished(const struct presence *s);
/* The run began in another view, and was suspended for so long since (NaN: not known). */
void presence_go_on(struct presence *s, double began_s, double suspended_s);
/* since it began, without the time in which it was suspended */
double presence_run_s(const struct presence *s, double now_s);

/* since_s NaN: the node is heard again. */
void presence_node_silent(struct presence *s, const char *node, double since_s);
double presence_silent_since_s(const struct presence *s, uint32_t place); /* infinite: the node is heard */
struct view_silence {
    uint32_t nodes, ranks; /* that are silent; that should run there */
    uint32_t first;        /* the node of the first of these ranks; WORK_PLACE_NONE: there is none */
};
struct view_silence presence_silence(const struct presence *s);
/* Members of the largest communicator that nobody reports; *first is the first of them, if there is one. */
uint32_t presence_missing(const struct presence *s, double now_s, uint32_t *first);
/* Either: who waits for whom, and how long transfers take, is known only where all ranks are seen. */
bool presence_is_partial(const struct presence *s, double now_s);

/* true: it goes on after a suspension, and what each rank called meanwhile is not known. */
bool presence_slurm_set(struct presence *s, double now_s, enum view_slurm slurm, const char *state);
enum view_slurm presence_slurm(const struct presence *s);
const char *presence_slurm_state(const struct presence *s);
/* for how long it has been; NaN: it is not */
double presence_suspended_s(const struct presence *s, double now_s);
/* Was the job suspended at any time in the last duration_s? */
bool presence_was_suspended(const struct presence *s, double now_s, double duration_s);

/* It was judged: does it stand still, stalled or suspended? */
void presence_stand_still(struct presence *s, double now_s, bool stalled, bool suspended);
/* What was measured before does not describe it. */
bool presence_stands_still(const struct presence *s);
/* at any time in the last duration_s */
bool presence_stood_still(const struct presence *s, double now_s, double duration_s);

#endif
