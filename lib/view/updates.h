/* updates.h - what a view knows of workers that read parameters from servers and write updates to them
 * without waiting for one another (calls/updates.h), and what staleness the learning rate allows.
 *
 * Units: seconds, updates. NaN is unknown. */
#ifndef SYNCGUARD_VIEW_UPDATES_H
#define SYNCGUARD_VIEW_UPDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "calls/updates.h"

struct view;

struct view_updates {
    /* found: it is so now; else as it was before the ranks last met, or most workers stopped */
    struct updates_figures u;
    bool past;     /* it is so no more, or the job has ended */
    bool compared; /* it is known what the workers mostly do: a slow one would be named */
    /* Learning rate times curvature below which gradient descent on a quadratic loss converges
     * (model/staleness.h, staleness_limit() without momentum), with all gradients as old as they are on the
     * mean, as old as 95 % are at most, and with fresh ones. */
    double limit, limit_p95, limit_fresh;
};
/* false: the job is not seen to do that, and was not. */
bool view_updates_get(const struct view *v, struct view_updates *f);
/* The server that is the limit, if one is, and staleness beside these limits, without a capital and a full
 * stop; "": nothing is known.  Returns buf. */
char *view_updates_text(const struct view_updates *f, char *buf, size_t size);

#endif
