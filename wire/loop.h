/* loop.h - a program's event loop, with libevent's own messages in our log: by default libevent writes to standard
 * error, in the middle of a terminal's screen.  Its warnings and errors are logged as ours, the rest at debug level. */
#ifndef SYNCGUARD_WIRE_LOOP_H
#define SYNCGUARD_WIRE_LOOP_H

#include <sys/time.h>

struct event_base;

/* NULL on failure.  To be freed by event_base_free(). */
struct event_base *loop_new(void);

/* For event_add() and the like. */
struct timeval loop_timeval(double s);

#endif
