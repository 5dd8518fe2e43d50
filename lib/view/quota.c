#include "view/quota.h"

/* Of a view without ranks, from above; tests/unit/view_bounds compares it with what is allocated. */
#define VIEW_BYTES (512.0 * 1024)

double quota_held(const struct quota *q)
{
    double bytes = VIEW_BYTES;

    for (int i = 0; i < QUOTA_PARTS; i++)
        bytes += q->held[i];
    return bytes;
}

bool quota_fits(const struct quota *q, double bytes)
{
    return quota_held(q) + bytes <= q->bytes;
}

bool quota_allows(struct quota *q, double bytes)
{
    if (quota_fits(q, bytes))
        return true;
    q->rejected.memory++;
    return false;
}
