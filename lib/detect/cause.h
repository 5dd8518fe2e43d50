/* cause.h - which figure of a rank's or a node's health stands out from the others', and the sentence about
 * it.
 *
 * Pure.  A figure stands out when its modified z-score, 0.6745 (x - median) / MAD over the others, is
 * above 3.5 (Iglewicz & Hoaglin, How to Detect and Handle Outliers, 1993) and it is worse than their median
 * by a floor of its own: what all ranks suffer from explains no rank's lateness, and what is small explains
 * nothing. A node's network counters include whatever else runs there, and whether the job is alone on the
 * node is not known: they are reported as the node's, and as a possible cause only. */
#ifndef SYNCGUARD_DETECT_CAUSE_H
#define SYNCGUARD_DETECT_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cause_kind {
    CAUSE_RUN_DELAY,  /* of a rank: share of the time that it was ready and another ran */
    CAUSE_FAULTS,     /* major faults a second */
    CAUSE_GPU_CLOCK,  /* of its GPU: clock over its largest */
    CAUSE_GPU_FAR,    /* 1: its GPU is on another NUMA node than its CPUs, 0: not */
    CAUSE_GPU_ERRORS, /* uncorrected ones of its GPU's memory since its agent began */
    CAUSE_STEAL,      /* of a node: see struct node_item */
    CAUSE_CLOCK,      /* Hz */
    CAUSE_THROTTLED,
    CAUSE_QUOTA,
    CAUSE_MEMORY,
    CAUSE_IO,
    CAUSE_SWAP,
    CAUSE_RETRANSMITS,
    CAUSE_NIC_ERRORS,
    CAUSE_KINDS
};
#define CAUSE_OF_NODE CAUSE_STEAL /* the first of those that are a node's */

/* What the others have.  n 0: nothing is known of them. */
struct cause_norm {
    double median, mad;
    uint32_t n;
};
/* Of n known values, which it changes.  The lower of two middle values counts, so that of two members the
 * worse one can stand out even when it is in the norm itself. */
struct cause_norm cause_norm(enum cause_kind kind, float *value, size_t n);

/* How much a value stands out: the share of the time that it may explain (a count that stands out is worth
 * 0.05 to 0.1, less than most shares that do).  0: it does not, or is not known. */
double cause_score(enum cause_kind kind, double value, const struct cause_norm *others);

/* The share of their time that a figure takes from the typical rank or node, where all have it alike.  0:
 * less than what matters for a culprit, not known, or the figure is no share of the time. */
double cause_common_ratio(enum cause_kind kind, const struct cause_norm *all);

/* A culprit's GPU: of several culprits, the one that is held down most, or has most errors.  NaN: not known.
 */
struct cause_gpu {
    uint32_t rank;
    int index; /* NVML's; -1: not known, as is the rest then */
    double clock_mhz, clock_max_mhz, temperature_c;
    double corrected, uncorrected; /* errors of its memory since its agent began */
    bool parts, several;           /* it is divided by MIG; it is one of several of its rank's */
};

/* Words for what was found. */
struct cause {
    enum cause_kind kind;
    double value, others; /* the culprits' and the others' median */
    uint32_t ranks;       /* culprits: "it" or "they" */
    bool shared;          /* CPUs: with other ranks */
    double foreign_ratio; /* CPUs: used by other processes */
    double threads_ratio; /* CPUs: used by its own threads */
    double follows;       /* correlation of its lateness with this figure; NaN not known */
    const char *node;     /* "node07", "3 nodes" */
    const char *nic;      /* "" not known */
    uint32_t throttle;    /* GPU: NVML's reasons */
    struct cause_gpu gpu;
};
/* The weightiest of NVML's reasons for a lower clock: "thermal"; "" none. */
const char *cause_throttle_name(uint32_t bits);
/* "its CPU is shared with other ranks: ..."; returns buf. */
char *cause_text(const struct cause *c, char *buf, size_t size);
/* "the ranks wait 58.0 % of the time for a CPU"; returns buf.  Of run delay, steal and quota; "" for the
 * others. */
char *cause_common_text(enum cause_kind kind, double ratio, char *buf, size_t size);

#endif
