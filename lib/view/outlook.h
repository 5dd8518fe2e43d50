/* outlook.h - where a view's share of waiting is heading: its history in longer columns, for what changes
 * slowly. */
#ifndef SYNCGUARD_VIEW_OUTLOOK_H
#define SYNCGUARD_VIEW_OUTLOOK_H

#include "view/columns.h"
#include "view/timeline.h"

struct outlook;
struct outlook *outlook_new(void);
void outlook_free(struct outlook *s);
void outlook_forget(struct outlook *s);

void outlook_take(struct outlook *s, const struct column *c); /* one that is over */

/* waiting: its share now, NaN: not known; limit: as in struct view_projection.  Costs little until a column
 * of two seconds was taken. */
void outlook_get(struct outlook *s, double now_s, double waiting, double limit, struct view_projection *out);
size_t outlook_stretches(const struct outlook *s, struct view_stretches *out); /* as view_stretches_get() */

#endif
