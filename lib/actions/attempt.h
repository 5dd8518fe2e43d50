/* attempt.h - one try at an action: its result, how long it may take, and how often there is one. */
#ifndef SYNCGUARD_ACTIONS_ATTEMPT_H
#define SYNCGUARD_ACTIONS_ATTEMPT_H

enum attempt_result {
    ATTEMPT_DONE,    /* it took effect, now or before */
    ATTEMPT_REFUSED, /* further tries would fail, too */
    ATTEMPT_AGAIN,   /* it had no effect; a later try may succeed */
    ATTEMPT_UNSURE,  /* not known whether it took effect */
    ATTEMPT_CANNOT,  /* this way cannot do it; another one may */
};

/* Tests set shorter limits. */
struct attempt_limits {
    double first_s, longest_s; /* wait after the first try, which doubles after each; longest wait */
    double stale_s;            /* an action requested longer ago is not tried any more */
    double answer_s;           /* time limit for answers of slurmrestd and the webhook */
    double program_s; /* time limit for the command and the helper; libslurm waits about 20 s per call */
    unsigned tries;
};

/* Called once, never from within the function that started the attempt; text is a sentence, valid during the
 * call. */
typedef void attempt_fn(void *arg, enum attempt_result result, const char *text);

#endif
