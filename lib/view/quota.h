/* quota.h - how much a view may hold, by its caller's bound, and how much came that it turned away. */
#ifndef SYNCGUARD_VIEW_QUOTA_H
#define SYNCGUARD_VIEW_QUOTA_H

#include "view/view.h"

/* What lasts longer is no time of a program's. */
#define QUOTA_TIME_MAX_NS (30ull * 24 * 3600 * 1000000000u)

enum quota_part { QUOTA_RANKS, QUOTA_PLACES, QUOTA_COMMS, QUOTA_CONNECTIONS, QUOTA_CALLS, QUOTA_PARTS };

struct quota {
    double bytes;             /* that may be held */
    double held[QUOTA_PARTS]; /* bytes, estimated from above */
    struct view_rejected rejected;
    uint64_t refused; /* items out of bounds */
};

double quota_held(const struct quota *q); /* bytes, with what every view holds */

/* Whether it may hold that much more; the second counts a refusal. */
bool quota_fits(const struct quota *q, double bytes);
bool quota_allows(struct quota *q, double bytes);

#endif
