/* comms.h - what a view knows of its communicators: what they do, which are slow from the start, what hides
 * their time. */
#ifndef SYNCGUARD_VIEW_COMMS_H
#define SYNCGUARD_VIEW_COMMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/overlap.h"
#include "detect/efficiency.h"
#include "view/baseline.h"

struct view;

struct view_comm {
    uint64_t name;
    uint32_t size, instances; /* how many communicators of that size are shown as this one (inner groups) */
    bool main;
    double collectives_per_s, bytes_per_s; /* of one of them, one rank */
    double skew_s, transfer_s;
    /* What its collectives cost: all that its members do outside of them counts as useful. */
    struct efficiency recent, run;
};
/* The name of a communicator for people: what view_comm_call() gave it, or "world", "world.1" (its dup),
 * "4@8" (4 ranks, the first is 8), "4@8.1".  Returns buf. */
char *view_comm_label(const struct view *v, uint64_t name, char *buf, size_t size);
uint32_t view_comm_size(const struct view *v, uint64_t name); /* guarded members; 0: not known */
/* Communicators of one size are shown as one row; largest first; returns how many. */
size_t view_comms_get(const struct view *v, double now_s, struct view_comm *out, size_t max);

/* What it communicates, as calls/exchange.h names it, by its newest steps.  False: that is not certain, and
 * name is "". */
#define VIEW_EXCHANGE_SIZE 32
bool view_exchange_get(const struct view *v, char name[VIEW_EXCHANGE_SIZE]);

/* Communicators that are slower from the start than they should be (baseline.h), the worst first; lent. They
 * are no verdicts: they have no price. */
#define VIEW_SHORTFALLS_MAX 8u
struct view_shortfall {
    struct baseline_shortfall s;
    char text[400]; /* one sentence */
};
size_t view_shortfalls_get(const struct view *v, const struct view_shortfall **list);

/* What of the communication holds ranks, and what runs beside their work (calls/overlap.h): of the newest
 * steps. */
struct view_overlap_group {
    uint64_t comm;            /* one of its communicators */
    uint32_t size, instances; /* as in struct view_comm; size 0: messages */
};
struct view_overlap {
    /* from its calls one by one; else every call blocks, and what they take is known from all samples */
    bool calls;
    struct overlap o;
    struct view_overlap_group group[OVERLAP_GROUPS_MAX]; /* o.n */
};
/* NULL, or what is missing. Replays the newest steps some times: some 10 ms. */
const char *view_overlap_get(const struct view *v, double now_s, struct view_overlap *out);

#endif
