/* inside.h - what this thread is inside of, of the calls that are recorded; a call inside of another one is a
 * part of it. */
#ifndef SYNCGUARD_GLOO_INSIDE_H
#define SYNCGUARD_GLOO_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "gloo/group.h"

extern _Thread_local struct inside {
    enum { INSIDE_NOTHING, INSIDE_COLLECTIVE, INSIDE_AWAIT, INSIDE_MESSAGE, INSIDE_GROUP } what;
    struct group *group; /* that it makes */
    const int32_t *from; /* rank of a message's sender, once it has come; NULL: not asked for */
} inside __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The call returned, or an exception ended it (done: false), and what is known of it is recorded. */
void inside_leave(bool done);

#endif
