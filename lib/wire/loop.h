/* loop.h - a program's event loop, with libevent's own messages in our log: by default libevent writes to
 * standard error, in the middle of a terminal's screen.  Its warnings and errors are logged as ours, the rest
 * at debug level. */
#ifndef SYNCGUARD_WIRE_LOOP_H
#define SYNCGUARD_WIRE_LOOP_H

#include <sys/time.h>

struct event_base;

/* NULL on failure.  To be freed by event_base_free(). */
struct event_base *loop_new(void);

/* A loop with priorities.  Events are urgent unless they are given LOOP_BULK; then they are handled for
 * LOOP_BULK_S or LOOP_BULK_CALLS at a time, while no urgent event has come. */
enum { LOOP_URGENT = 1, LOOP_BULK };
#define LOOP_BULK_S     0.01
#define LOOP_BULK_CALLS 16
struct event_base *loop_new_priorities(void);

/* For event_add() and the like. */
struct timeval loop_timeval(double s);

#endif
