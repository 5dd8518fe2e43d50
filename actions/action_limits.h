/* action_limits.h - how long and how often an action is tried: what it is, and for tests what it shall be. */
#ifndef SYNCGUARD_ACTIONS_ACTION_LIMITS_H
#define SYNCGUARD_ACTIONS_ACTION_LIMITS_H

struct actions;

struct action_limits {
    double first_s, longest_s; /* the wait after the first try; doubled each time, no longer than */
    double stale_s;            /* what was asked for so long ago is not begun, nor tried again */
    double answer_s;           /* of slurmrestd and the webhook */
    double program_s;          /* of the command, and of the helper: libslurm waits about 20 s a call */
    unsigned tries;
};
/* Eight tries over about four minutes. */
#define ACTION_LIMITS                                                                               \
    {                                                                                               \
        .first_s = 2, .longest_s = 120, .stale_s = 600, .answer_s = 10, .program_s = 60, .tries = 8 \
    }

void actions_limit(struct actions *as, const struct action_limits *l);

/* The wait after so many tries; random in [0, 1) spreads it from a half to one and a half, so that many that
 * failed together do not come back together. */
double action_wait_s(const struct action_limits *l, unsigned tries, double random);

#endif
