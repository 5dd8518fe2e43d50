/* path_shares.h - on whose work the critical path of a view's steps lies, step by step, and from which node
 * to which it moved. */
#ifndef SYNCGUARD_VIEW_PATH_SHARES_H
#define SYNCGUARD_VIEW_PATH_SHARES_H

#include "calls/path.h"
#include "view/events.h"
#include "view/figures.h"
#include "view/roster.h"
#include "view/steps.h"

struct path_shares;
/* lent */
struct path_shares *path_shares_new(const struct roster *roster, const struct steps *steps,
                                    struct events *events);
void path_shares_free(struct path_shares *s);
void path_shares_forget(struct path_shares *s);

void path_shares_take_path(struct path_shares *s, double now_s, const struct path *p); /* of one more step */
/* Of one more step of which only each of n ranks' own work is known (NaN: not known). */
void path_shares_take_work(struct path_shares *s, double now_s, const float *work_s, uint32_t n);

/* What the rank's work is of the newest steps' paths; NaN: they are not known. */
double path_shares_of(const struct path_shares *s, uint32_t rank);
/* the newest first */
size_t path_shares_moves(const struct path_shares *s, struct view_move out[VIEW_MOVES_MAX]);

#endif
