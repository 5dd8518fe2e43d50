/* course.h - on whose work the critical path of a view's steps lies, step by step, and from which node to which it moved. */
#ifndef SYNCGUARD_VIEW_COURSE_H
#define SYNCGUARD_VIEW_COURSE_H

#include "view/events.h"
#include "calls/path.h"
#include "view/figures.h"
#include "view/roster.h"
#include "view/steps.h"

struct course;
struct course *course_new(const struct roster *roster, const struct steps *steps, struct events *events); /* lent */
void course_free(struct course *s);
void course_forget(struct course *s);

void course_take_path(struct course *s, double now_s, const struct path *p); /* of one more step */
/* Of one more step of which only each of n ranks' own work is known (NaN: not known). */
void course_take_work(struct course *s, double now_s, const float *work_s, uint32_t n);

/* What the rank's work is of the newest steps' paths; NaN: they are not known. */
double course_share(const struct course *s, uint32_t rank);
size_t course_moves(const struct course *s, struct view_move out[VIEW_MOVES_MAX]); /* the newest first */

#endif
