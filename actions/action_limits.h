/* action_limits.h - how long and how often an action is tried; tests set shorter limits. */
#ifndef SYNCGUARD_ACTIONS_ACTION_LIMITS_H
#define SYNCGUARD_ACTIONS_ACTION_LIMITS_H

struct actions;

struct action_limits {
    double first_s, longest_s; /* wait after the first try, which doubles after each; longest wait */
    double stale_s;            /* an action requested longer ago is not tried any more */
    double answer_s;           /* time limit for answers of slurmrestd and the webhook */
    double program_s; /* time limit for the command and the helper; libslurm waits about 20 s per call */
    unsigned tries;
};
/* Eight tries over about four minutes. */
#define ACTION_LIMITS                                                                               \
    {                                                                                               \
        .first_s = 2, .longest_s = 120, .stale_s = 600, .answer_s = 10, .program_s = 60, .tries = 8 \
    }

void actions_limit(struct actions *as, const struct action_limits *l);

/* Seconds to wait after this many tries.  random in [0, 1) scales the wait by 0.5 to 1.5, so that actions that failed
 * together are not tried again together. */
double action_wait_s(const struct action_limits *l, unsigned tries, double random);

#endif
