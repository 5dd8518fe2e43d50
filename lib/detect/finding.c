#include "detect/finding.h"

#include <math.h>
#include <stdio.h>

#include "common/xalloc.h"

static const char *const classes[FINDING_CLASSES] = {
    [FINDING_STRAGGLER] = "straggler",
    [FINDING_DRIFT] = "drift",
    [FINDING_JITTER] = "jitter",
    [FINDING_IMBALANCE] = "imbalance",
    [FINDING_COMMUNICATION] = "communication",
    [FINDING_CONGESTION] = "congestion",
    [FINDING_OSCILLATION] = "oscillation",
    [FINDING_HANG] = "hang",
    [FINDING_LOST] = "lost",
};
static const char *const scopes[] = {
    [SCOPE_RANK] = "rank", [SCOPE_NODE] = "node", [SCOPE_SWITCH] = "switch",
    [SCOPE_NONE] = "none", [SCOPE_LINK] = "link", [SCOPE_RANKS] = "ranks",
};

const char *finding_class_name(enum finding_class c)
{
    return c < ARRAY_SIZE(classes) ? classes[c] : "unknown";
}

const char *finding_scope_name(enum finding_scope s)
{
    return s < ARRAY_SIZE(scopes) ? scopes[s] : "unknown";
}

struct interval finding_slowdown_interval(const struct finding *f)
{
    double lost = 1 - 1 / f->slowdown;
    struct interval i = { 1 / (1 - lost * fmax(0, f->cost.low)), 1 / (1 - lost * f->cost.high) };

    return f->cost.low < f->cost.high && f->slowdown > 1 && lost * f->cost.high < 1 ? i : INTERVAL_UNKNOWN;
}

char *finding_share_text(double slowdown, struct interval of, bool list, char *buf, size_t size)
{
    /* no less than nothing, and no more than all */
    double lost = 100 * (1 - 1 / fmax(1, slowdown)), low = 100 * (1 - 1 / fmax(1, of.low)),
           high = 100 * (1 - 1 / fmax(1, of.high));
    int digits = lround(low) == lround(high);

    if (lround(10 * low) < lround(10 * high))
        snprintf(buf, size, list ? "%.*f %%, %.*f to %.*f %%" : "%.*f %% (%.*f to %.*f %%)", digits, lost,
                 digits, low, digits, high);
    else
        snprintf(buf, size, "%.0f %%", lost);
    return buf;
}

char *finding_lost_text(const struct finding *f, bool list, char *buf, size_t size)
{
    return finding_share_text(f->slowdown, finding_slowdown_interval(f), list, buf, size);
}

double finding_slowdown(double of_s, double saved_s)
{
    return of_s > saved_s ? of_s / (of_s - saved_s) : NAN;
}
