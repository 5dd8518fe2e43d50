#include "analysis/finding.h"

#include <math.h>

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
};
static const char *const scopes[] = {
    [SCOPE_RANK] = "rank",
    [SCOPE_NODE] = "node",
    [SCOPE_SWITCH] = "switch",
    [SCOPE_NONE] = "none",
    [SCOPE_LINK] = "link",
    [SCOPE_RANKS] = "ranks",
};

const char *finding_class_name(enum finding_class c)
{
    return c < ARRAY_SIZE(classes) ? classes[c] : "unknown";
}

const char *finding_scope_name(enum finding_scope s)
{
    return s < ARRAY_SIZE(scopes) ? scopes[s] : "unknown";
}

double finding_slowdown(double of_s, double saved_s)
{
    return of_s > saved_s ? of_s / (of_s - saved_s) : NAN;
}
