/* finding.h - what a detector found: one type from the detector to the report.
 *
 * Ranks, nodes and switches are numbers here; a verdict (view/verdicts.h) adds their names and the sentence.
 * Units: seconds, ratios; NaN not known. */
#ifndef SYNCGUARD_DETECT_FINDING_H
#define SYNCGUARD_DETECT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/interval.h"

#define FINDINGS_MAX 32u /* of a run */

enum finding_class {
    FINDING_STRAGGLER, /* ranks, a node or a switch's nodes do their own work slower than the others */
    FINDING_DRIFT,     /* the same, growing slowly */
    FINDING_JITTER,    /* rare long delays, each at another rank */
    /* every rank's work varies widely from step to step; or the ranks of one role have more of it */
    FINDING_IMBALANCE,
    FINDING_COMMUNICATION, /* collectives or messages themselves became slower, and stayed so */
    FINDING_CONGESTION,    /* the collectives are slow in bursts */
    FINDING_OSCILLATION,   /* all ranks together alternate between fast and slow steps */
    FINDING_HANG,          /* some ranks do not enter a collective, the others wait for them */
    FINDING_LOST,          /* a node has gone silent, and the others wait for its ranks */
    FINDING_CLASSES
};
/* Of these nothing goes on as long as they stand: they have no price before they are over. */
static inline bool finding_stops(enum finding_class c)
{
    return c == FINDING_HANG || c == FINDING_LOST;
}

/* Where it is.  The first three are places of work (places.h), SCOPE_NONE is their number: it has no place */
enum finding_scope {
    SCOPE_RANK,
    SCOPE_NODE,
    SCOPE_SWITCH,
    SCOPE_NONE,
    SCOPE_LINK,  /* between two nodes */
    SCOPE_RANKS, /* of one role */
    SCOPES
};

/* "straggler", "none", ...; "unknown" for anything else. */
const char *finding_class_name(enum finding_class c);
const char *finding_scope_name(enum finding_scope s);

/* Whether a straggler's slow work holds all ranks back in each step, or it is one of a job without steps
 * (calls/updates.h): a worker, which holds back only itself, or a server, for which all workers wait:
 * slower than the others, or than it was itself. */
enum finding_duty { DUTY_STEPS, DUTY_WORKER, DUTY_SERVER, DUTY_SLOWED_SERVER };

struct finding;
/* Of the slowdown. */
struct interval finding_slowdown_interval(const struct finding *f);
/* The share of the time that is lost: "12 % (10 to 14 %)"; "12 %" where the interval is not known, or
 * narrower than a tenth of a percent. list: "12 %, 10 to 14 %".  Returns buf. */
char *finding_lost_text(const struct finding *f, bool list, char *buf, size_t size);
/* The same of a slowdown and its interval. */
char *finding_share_text(double slowdown, struct interval of, bool list, char *buf, size_t size);

/* Time with a cause over the time without it, which would be saved_s shorter; NaN: nothing would be left, or
 * one is not known. */
double finding_slowdown(double of_s, double saved_s);

struct finding {
    uint32_t id; /* the same as long as it is about the same thing */
    enum finding_class class;
    enum finding_scope scope;
    enum finding_duty duty;
    uint32_t place; /* rank, or number of a node, a switch or a role; WORK_PLACE_NONE without scope */
    uint32_t other; /* of a link: its other node */
    /* communication without a place: the communicator whose collectives are slow while those of others
       between the same nodes are as fast as before; 0: all */
    uint64_t comm;
    /* the place is where TCP connections became slower, and excess that of the collectives */
    bool by_connections;
    /* Straggler, drift: the finding that it is reported with.  One of several that are slow at the same time
     * costs next to nothing while the others stand; the price of the one that is reported is what they all
     * cost together.  Its own id: it is reported itself. */
    uint32_t with;
    /* of one that others are reported with: the slowdown that mending a single one would undo, at most; NaN:
     * there are no others */
    double alone;
    bool standing;
    bool unconfirmed; /* it has not lasted long enough to be named; see diagnosis.h */
    bool doubtful;    /* it may as well cost nothing, and no two looks in a row have shown otherwise */
    bool withdrawn;   /* what it was found by turned out to be another finding's: it never was */
    /* It came with another finding that explains it, and is listed behind: the collectives are slow because a
     * slow rank, node or switch is slow inside of them too. */
    bool follows;
    uint64_t onset_step, named_step, over_step; /* counted from 1 as diagnosis_steps() is */
    int64_t onset_seq; /* the main communicator's collective at which it began; -1 not known */
    int64_t named_seq; /* the newest one that was complete when it was first named; -1 not known */
    double onset_s;    /* when the onset's step began, the caller's clock; NaN: not remembered */
    double saved_s;    /* the run would be so much shorter without it, by now; NaN for what stops it */
    /* step time over the step time without it, over the newest steps; NaN for what stops it */
    double slowdown;
    /* 90 % interval of what it cost in these steps, over the estimate: 0.9 to 1.2 times that. Not known: the
     * price stands on too few steps, or on none at all. */
    struct interval cost;
    /* Straggler, drift: own work over the others'; jitter: length of a detour; imbalance: noise of the own
     * work, or what some of a group's ranks have more; oscillation: slow over fast; communication,
     * congestion: transfer over the usual; all minus 1. */
    double excess;
    double last_ratio; /* straggler, drift: share of the steps in which it came last */
    /* Jitter: detours a step; congestion: bursts; oscillation: steps a period; straggler: the share of the
     * steps in which it is late, NaN: all; imbalance without a place: the share of a group's ranks that have
     * more to do than the others, NaN: all vary; communication: the share of its messages that are slow
     * from the start, of those whose time is known, 0: all became slower. */
    double rate;
    uint32_t period; /* straggler that is late in some steps: from one to the next; 0: as it comes */
    double z;        /* evidence in standard errors; NaN: not of that kind */
};

/* Is it a link of which some messages are slow from the start, while others are not? */
static inline bool finding_has_two_speeds(const struct finding *f)
{
    return f->class == FINDING_COMMUNICATION && f->scope == SCOPE_LINK && !f->by_connections && f->rate > 0;
}

#endif
