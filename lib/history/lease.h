/* lease.h - decides which of several controllers on one state directory acts.
 *
 * DIR/lease/ has one file per epoch, named by its number; the highest is in force.  Its holder rewrites it
 * every third of valid_s.  A standby that sees it unchanged for longer than valid_s, by its own clock,
 * creates the next epoch with O_EXCL, which the server of a shared file system decides, and removes the file
 * before it.  A holder counts three quarters of valid_s from the beginning of its last successful renewal,
 * and never renews after that: it has stopped before a standby takes over.  Clocks of two hosts are not
 * compared, and locks are not used.
 *
 * It does not start or end anything: the caller does, by the state.  It blocks as long as the storage does.
 * Times: lease_now_s(), seconds of one host, which count while the host is suspended. */
#ifndef SYNCGUARD_HISTORY_LEASE_H
#define SYNCGUARD_HISTORY_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define LEASE_HOLDER_MAX 64
#define LEASE_BYTES      256u /* of a file, at most */

enum lease_state {
    LEASE_STANDBY,
    LEASE_HELD,
    LEASE_LOST /* for good */
};

struct lease;

/* The content of a lease file. */
struct lease_record {
    uint64_t epoch, renewals;
    bool released; /* its holder has ended: the next may take over at once */
    char holder[LEASE_HOLDER_MAX];
};

double lease_now_s(void);

/* Create DIR/lease if it is missing.  holder: a host's name.  NULL with a reason. */
struct lease *lease_open(const char *dir, const char *holder, double valid_s, struct err *err);
void lease_free(struct lease *l); /* NULL is fine; does not release */

/* Renew the lease or watch it; call it at least every twelfth of valid_s.  err has the reason if the storage
 * failed, the file is malformed or the lease was lost, else "". */
enum lease_state lease_tick(struct lease *l, double at_s, struct err *err);
/* Whether it is held by this host's clock.  Reads no file. */
bool lease_held(const struct lease *l, double at_s);
/* The same, and nobody has taken over: to be called right before something acts. */
bool lease_in_force(const struct lease *l, double at_s);
/* Let a standby take over at once.  Nothing happens if it is not held. */
void lease_release(struct lease *l, double at_s);

uint64_t lease_epoch(const struct lease *l);     /* the highest seen; 0: none */
const char *lease_holder(const struct lease *l); /* of that epoch; "": not known */

/* Read the content of a file.  -1 with a reason; r is unchanged. */
int lease_parse(const char *text, size_t bytes, struct lease_record *r, struct err *err);

#endif
