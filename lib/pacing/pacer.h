/* pacer.h - selects the lever that a node's early ranks use, if any: one with a cause, on trial, and only
 * while it helps.
 *
 * Pure: no clock, no I/O, no memory of its own.  The probe calls it in one rank per node, tests and
 * simulations call it with a model of a job.
 *
 * A lever is tried only if it has a cause, and is switched off when the cause disappears.  A trial lasts
 * PACER_TRIAL collectives, half of them without the lever, in which the hold-out (holdout.h) must prove that
 * it makes the job faster; then it is in force, with one epoch in `every` without it.  Otherwise it is off
 * for PACER_REST collectives, twice as long after each trial.  A lever that is proven to harm, or has cost
 * the time of PACER_LOSS collectives, is switched off at once and for longer; in force, the limit is twice
 * that in a single epoch.  All trials together may cost PACER_COST of the time: after a trial without gain,
 * no lever is tried for long enough, and then only at multiples of PACER_GRID, because each node decides on
 * its own but its trials delay all nodes.  A lever in force is put on trial again as soon as the hold-out
 * shows that less than half of the gain is left (a cumulative sum, Page 1954).  Times with the lever are only
 * compared with times without it; neither defines what is normal.
 *
 * Where ranks outnumber cores a lever acts at once, and an epoch is one collective.  Where other processes
 * compete for the cores, it acts through the kernel's placement of processes, which persists for many steps:
 * epochs are long, their first half is ignored, and a trial is a single comparison, to which later trials
 * add. */
#ifndef SYNCGUARD_PACING_PACER_H
#define SYNCGUARD_PACING_PACER_H

#include "pacing/holdout.h"

/* Levers, as bits.  In the order of preference where ranks outnumber cores; elsewhere gate comes first. */
#define PACER_RELEASE 1u /* the library yields the core while it waits */
#define PACER_GATE    2u /* early ranks sleep until the last one of the node arrives */
/* a rank sleeps part of the time that it is reliably early by (pace.h) */
#define PACER_DELAY   4u
#define PACER_STAGGER 8u /* ranks of a node enter one after another */
#define PACER_LEVERS  4u

#define PACER_TRIAL     32u /* collectives */
#define PACER_WARM      16u /* before the first trial, and between two */
#define PACER_REST      64u /* minimum after a trial without gain */
#define PACER_REST_MAX  (1u << 20)
#define PACER_HARM_REST 8u /* factor of the rest after proven harm */
/* involuntary switches per rank and second: others compete for the core */
#define PACER_SWITCHES 20.0
/* share of the time spent in collectives; below it nothing can be gained */
#define PACER_WAIT 0.02
/* required evidence: one in 20 levers without effect ever reaches it */
#define PACER_PROOF      20.0
#define PACER_PROOF_HARM 6.0 /* required evidence of harm */
/* evidence for an early next trial: one comparison yields at most 2 */
#define PACER_PROMISE   1.2
#define PACER_EPOCH_MAX 16u /* collectives: two epochs fill a trial */
#define PACER_LOSS      2.0 /* maximum cost of a trial, in times of a collective */
/* the same where epochs are short, and no whole epoch can be unlucky */
#define PACER_LOSS_AT_ONCE 1.0
/* maximum cost of all trials together, as a share of the time */
#define PACER_COST 0.005
/* collectives: nodes that try at different times delay the job once each */
#define PACER_GRID  128u
#define PACER_SLOTS 32u /* collectives of a step that are distinguished */
/* collectives without a lever in one observation: an epoch less its first */
#define PACER_LOOK 15u
/* consecutive collectives of others: the communicator is no longer used */
#define PACER_OTHERS 1024u

/* "release", "gate", ...; NULL unless it is a single lever. */
const char *pacer_lever_name(uint32_t lever);

enum pacer_mode { PACER_OFF, PACER_TRYING, PACER_IN_FORCE };

/* Why a lever is not in force. */
enum pacer_why {
    PACER_NO_CAUSE,  /* no condition that it could improve */
    PACER_UNABLE,    /* the MPI library does not support it, or does it already */
    PACER_UNALLOWED, /* the policy does not list it */
    PACER_ON_TRIAL,
    PACER_HELPS,   /* it is in force */
    PACER_NO_GAIN, /* not proven to help within a trial */
    PACER_HARM,    /* proven to harm */
    PACER_FADED,   /* it helped, and no longer does */
};
const char *pacer_why_text(enum pacer_why why);

struct pacer_params {
    uint32_t levers; /* that may be used */
    uint32_t epoch;  /* collectives, where a lever's effect outlasts one of them */
    uint32_t every;  /* in force, one epoch in `every` runs without the lever */
};

/* Observations on the node while no lever is used. */
struct pacer_sight {
    uint32_t able;         /* levers that can be used */
    uint32_t ranks, cores; /* that the ranks may run on */
    double switches_hz;    /* involuntary switches of a rank, mean */
    double wait_ratio;     /* share of a rank's time that is spent in collectives, mean */
    bool spans;            /* other nodes take part */
};

struct pacer_lever {
    struct holdout seen;
    uint64_t resume; /* no trial before that collective */
    uint32_t rest;
    uint8_t why, epoch; /* of the comparisons in seen */
};

/* A collective that has ended. */
struct pacer_collective {
    bool paced;         /* the current lever was used */
    uint64_t comm;      /* its communicator */
    uint32_t seq;       /* its number on comm, which determines the epoch */
    uint64_t signature; /* distinguishes collectives of a step */
    double cycle_s;     /* since the previous one on its communicator */
};

struct pacer_slot {
    uint64_t signature;
    double usual_s;  /* recently, without a lever; 0: not known */
    double log_s[2]; /* of this comparison, sums: without, with */
    uint32_t n[2];
};

/* Initially all zero. */
struct pacer {
    uint64_t at;        /* collectives so far */
    uint64_t comm;      /* on trial or in force: whose collectives are counted and compared */
    uint32_t ticks;     /* those of it since then */
    uint32_t others;    /* and of others since the last of them */
    uint64_t since;     /* when the mode was entered */
    uint64_t quiet;     /* no trial before that collective */
    uint64_t epochs[2]; /* collectives measured without and with a lever */
    struct pacer_lever lever[PACER_LEVERS];
    struct pacer_slot slot[PACER_SLOTS];
    double lost_s, usual_s;    /* on trial, or in this epoch: over what they usually take, and that */
    uint32_t counted;          /* those */
    double gain, drift, limit; /* in force: proven mean logarithm, cumulative sum, where it alarms */
    uint8_t mode, current;     /* which lever, its number */
    bool oversubscribed;       /* ranks outnumbered cores when the trial began */
    bool again;                /* the trial is of a lever that was in force */
    bool was;                  /* the last collective had the lever */
    uint32_t run;              /* length of the present run of such collectives */
};

/* To be called after each collective. */
void pacer_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight,
                const struct pacer_collective *c);

/* The current lever (0: none), the length of its epochs, and `every`: one epoch in `every` runs without it (2
 * on trial; in force, often enough that 16 collectives or two epochs contain one).  Epochs are sampled by the
 * collectives of `comm`; a collective of another communicator uses the epoch of comm's next collective, in
 * whose time it falls.  With samples of their own, the others would use the lever in both compared epochs
 * alike, and its effect on them would not be measured. */
uint32_t pacer_current(const struct pacer *p);
uint32_t pacer_epoch(const struct pacer *p);
uint32_t pacer_every(const struct pacer *p, const struct pacer_params *params);

#endif
