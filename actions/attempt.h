/* attempt.h - one try at an action, by whatever way, and what came of it. */
#ifndef SYNCGUARD_ACTIONS_ATTEMPT_H
#define SYNCGUARD_ACTIONS_ATTEMPT_H

enum attempt_result {
    ATTEMPT_DONE,    /* it is so now, or was already */
    ATTEMPT_REFUSED, /* it will not be done, however often it is tried */
    ATTEMPT_AGAIN,   /* nothing was done this time; later it may be */
    ATTEMPT_UNSURE,  /* it may have been done, or not */
    ATTEMPT_CANNOT,  /* this way cannot do it; another one might */
};

/* Called once, never from within the function that began the attempt; text is a sentence, lent. */
typedef void attempt_fn(void *arg, enum attempt_result result, const char *text);

#endif
