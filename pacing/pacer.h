/* pacer.h - which lever a node's early ranks use, if any: by cause, on trial, and only while it helps.
 *
 * Pure: no clock, no I/O, no memory of its own.  The probe calls it in one rank a node, tests and simulations
 * call it with a model of a job.
 *
 * A lever without a cause is not tried, and goes with its cause.  One that is tried has PACER_TRIAL
 * collectives, half of them without the lever, to prove by the hold-out (holdout.h) that it makes the job
 * faster; then it is in force with one epoch in `every` without it, else it is off for PACER_REST
 * collectives, twice as long each time.  One that proves harm, or would cost the time of PACER_LOSS
 * collectives, is off at once, and for longer: in force, too, twice that in a single epoch.  Trials together
 * are to cost PACER_COST of the time: after one that gained nothing no lever is tried for long enough, and
 * then at multiples of PACER_GRID alone; for each node decides by itself, and pays for all others' trials. In
 * force it is put on trial again as soon as the hold-out says that less than half of the gain is left (a
 * cumulative sum, Page 1954).  Times with the lever are compared with times without; none of them is ever the
 * measure of what is normal.
 *
 * Where ranks outnumber cores a lever acts at once, and epochs are of one collective.  Where somebody else
 * wants the cores, it acts through where the kernel puts whom, which stays for many steps: epochs are long,
 * their first half is left out, and a trial is a single comparison, which the next one adds to. */
#ifndef SYNCGUARD_PACING_PACER_H
#define SYNCGUARD_PACING_PACER_H

#include "pacing/holdout.h"

/* Levers, as bits.  In the order of preference where ranks outnumber cores; elsewhere gate comes first. */
#define PACER_RELEASE 1u /* the library gives the core away while it waits */
#define PACER_GATE    2u /* early ranks sleep until the last one of the node arrives */
#define PACER_DELAY   4u /* a rank sleeps part of what it is reliably early by (pace.h) */
#define PACER_STAGGER 8u /* ranks of a node enter one after another */
#define PACER_LEVERS  4u

#define PACER_TRIAL        32u /* collectives */
#define PACER_WARM         16u /* before the first trial, and between two */
#define PACER_REST         64u /* after a trial that came to nothing, at least */
#define PACER_REST_MAX     (1u << 20)
#define PACER_HARM_REST    8u   /* times as long after proven harm */
#define PACER_SWITCHES     20.0 /* involuntary switches of a rank and second: somebody else wants the core */
#define PACER_WAIT         0.02 /* share of the time spent in collectives: below that nothing can be gained */
#define PACER_PROOF        20.0 /* evidence to go by: one lever without effect in 20 gets so far, ever */
#define PACER_PROOF_HARM   6.0  /* harm need not be proven as well */
#define PACER_PROMISE      1.2  /* the next trial comes soon: one comparison can say no more than 2 */
#define PACER_EPOCH_MAX    16u  /* collectives: a pair fills a trial */
#define PACER_LOSS         2.0  /* nor at all once a trial has cost the time of so many collectives */
#define PACER_LOSS_AT_ONCE 1.0  /* ... where epochs are short, and none can be unlucky as a whole */
#define PACER_COST         0.005 /* of the time: what trials may cost, of all levers together */
#define PACER_GRID         128u  /* collectives: nodes that try at their own time make the job pay for each */
#define PACER_SLOTS        32u   /* collectives of a step that are told apart */
#define PACER_LOOK         15u   /* collectives without a lever in one sight: an epoch, less its first */
#define PACER_OTHERS       1024u /* collectives of others in a row: the communicator is not used any more */

/* "release", "gate", ...; NULL for what is no single lever. */
const char *pacer_lever_name(uint32_t lever);
/* Levers of a list "release,gate"; case does not matter.  0: something in it is none. */
uint32_t pacer_levers(const char *list);

enum pacer_mode { PACER_OFF, PACER_TRYING, PACER_IN_FORCE };

/* Why a lever is not in force. */
enum pacer_why {
    PACER_NO_CAUSE,  /* nothing that it could help against */
    PACER_UNABLE,    /* the MPI library does not let us, or does it by itself */
    PACER_UNALLOWED, /* the policy does not list it */
    PACER_ON_TRIAL,
    PACER_HELPS,   /* it is in force */
    PACER_NO_GAIN, /* tried: not proven to help within a trial */
    PACER_HARM,    /* tried: proven to harm */
    PACER_FADED,   /* it helped, and does no more */
};
const char *pacer_why_text(enum pacer_why why);

struct pacer_params {
    uint32_t levers; /* that may be used */
    uint32_t epoch;  /* collectives, where what a lever does outlasts one of them */
    uint32_t every;  /* in force, one epoch in so many goes without the lever */
};

/* What is seen on the node while no lever is used. */
struct pacer_sight {
    uint32_t able;         /* levers that can be used */
    uint32_t ranks, cores; /* that the ranks may run on */
    double switches_hz;    /* involuntary switches of a rank, mean */
    double wait_ratio;     /* share of a rank's time that is spent in collectives, mean */
    bool spans;            /* other nodes take part */
};

struct pacer_lever {
    struct holdout seen;
    uint64_t resume; /* not before that collective */
    uint32_t rest;
    uint8_t why, epoch; /* of the comparisons in seen */
};

/* A collective that has ended. */
struct pacer_collective {
    bool paced;         /* the lever that is current was used */
    uint64_t comm;      /* its communicator, and ... */
    uint32_t seq;       /* ... its number there, by which epochs are drawn */
    uint64_t signature; /* tells collectives of a step apart */
    double cycle_s;     /* since the one before on its communicator */
};

struct pacer_slot {
    uint64_t signature;
    double usual_s;  /* without a lever, lately; 0: not known */
    double log_s[2]; /* of this comparison, sums: without, with */
    uint32_t n[2];
};

/* All zero: a beginning. */
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
    bool crowded;              /* ranks outnumbered cores when the trial began */
    bool again;                /* the trial is of a lever that was in force */
    bool was;                  /* the last collective had the lever */
    uint32_t run;              /* so many have been like it */
};

/* A collective has ended. */
void pacer_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight,
                const struct pacer_collective *c);

/* What is current: the lever, 0 for none; how long its epochs are, and how often one goes without (2: on
 * trial; in force so often that 16 collectives see one, or two epochs do).  Epochs are drawn by the
 * collectives of `comm`; those of others go with the next one of it, in whose time they fall: by draws of
 * their own they would have the lever in what is compared with it and without it alike, and nobody would see
 * what that does. */
uint32_t pacer_current(const struct pacer *p);
uint32_t pacer_epoch(const struct pacer *p);
uint32_t pacer_every(const struct pacer *p, const struct pacer_params *params);

#endif
