/* attempt.h - the result of one try at an action. */
#ifndef SYNCGUARD_ACTIONS_ATTEMPT_H
#define SYNCGUARD_ACTIONS_ATTEMPT_H

enum attempt_result {
    ATTEMPT_DONE,    /* it took effect, now or before */
    ATTEMPT_REFUSED, /* further tries would fail, too */
    ATTEMPT_AGAIN,   /* it had no effect; a later try may succeed */
    ATTEMPT_UNSURE,  /* not known whether it took effect */
    ATTEMPT_CANNOT,  /* this way cannot do it; another one may */
};

/* Called once, never from within the function that started the attempt; text is a sentence, valid during the call. */
typedef void attempt_fn(void *arg, enum attempt_result result, const char *text);

#endif
