/* bounds.h - counts what each user and each address takes of the controller, and limits it, so that nobody
 * can keep the controller from the others.
 *
 * Counted for a user are connections, steps, recordings, the memory of the user's steps, answers that wait to
 * be read, frames that have begun to arrive, and the time that messages and steps took; operators are
 * counted, but not limited.  Counted for an address are connections that have not finished the handshake, and
 * the rate of new ones.  The limits are keys of syncguard.conf, and a refusal names the key.
 *
 * This module counts and decides; the caller refuses.  now_s is a monotonic clock's. */
#ifndef SYNCGUARD_DAEMON_BOUNDS_H
#define SYNCGUARD_DAEMON_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/config.h"
#include "common/err.h"

#define BOUNDS_TIME_S 4.0 /* a user who took little time until now may take this much at once */

struct bounds;

struct bounds_user {
    uid_t uid;
    bool free; /* an operator: not bound */
    size_t connections, steps, recordings;
    double bytes;          /* of the steps and connections */
    double waiting_bytes;  /* answers not yet read */
    double arriving_bytes; /* frames begun and not complete */
    double time_s;         /* that telemetry and questions may take now; below 0: none */
    uint64_t left_out; /* batches and messages that were not processed, because they would have taken more */
};

struct bounds *bounds_new(void);
void bounds_free(struct bounds *b); /* NULL is fine */
/* Borrowed until the next call. */
void bounds_configure(struct bounds *b, const struct config *c);

/* ---- addresses ---- */

struct bounds_address {
    unsigned char key[16]; /* of IPv6, or of IPv4 as IPv6 has it */
    double left, at_s;     /* connections that may come at once, and when they were counted */
    size_t unfinished;     /* that have not finished the handshake */
};

/* Lent until there are no unfinished connections.  The address of a local socket is one of its own. */
struct bounds_address *bounds_address(struct bounds *b, const struct sockaddr *from, double now_s);
/* Whether one more connection may begin now; it is counted. */
bool bounds_connects(struct bounds *b, struct bounds_address *a, double now_s);
/* Whether the address has as many unfinished ones as it may: its oldest has to give way. */
bool bounds_crowded(const struct bounds_address *a);

/* ---- users ---- */

/* Lent until bounds_tick() finds that the user has nothing any more. */
struct bounds_user *bounds_user(struct bounds *b, uid_t uid);
/* -1 with the reason when the user may not have one more. */
int bounds_connection(const struct bounds *b, const struct bounds_user *u, struct err *err);
int bounds_step(const struct bounds *b, const struct bounds_user *u, struct err *err);
int bounds_recording(const struct bounds_user *u, struct err *err);
int bounds_question(const struct bounds *b, const struct bounds_user *u, struct err *err);
/* Whether a connection may stay on which so much has arrived of a frame; the user's arriving_bytes include
 * it. */
int bounds_arriving(const struct bounds_user *u, double bytes, struct err *err);
/* Bytes that a step may have that has these now. */
double bounds_step_bytes(const struct bounds *b, const struct bounds_user *u, double has_bytes);
/* Whether the user's telemetry may take time now. */
bool bounds_time(const struct bounds_user *u);
void bounds_took(struct bounds_user *u, double seconds);
/* Memory that a step or a connection has more than before, or less. */
void bounds_holds(struct bounds *b, struct bounds_user *u, double bytes);

/* Time passes; users and addresses with nothing are forgotten.  Call it several times a second. */
void bounds_tick(struct bounds *b, double now_s);

/* For sgctl status. */
struct bounds_sums {
    size_t users, unfinished;
    double bytes;
    uint64_t refused, left_out; /* since the start: connections, steps and questions; batches and messages */
};
struct bounds_sums bounds_sums_get(const struct bounds *b);
void bounds_refused(struct bounds *b); /* counts one */

#endif
