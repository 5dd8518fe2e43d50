/* metrics.h - the controller's metrics over HTTP, for Prometheus: `GET /metrics` on an address of its own.
 *
 * Off until MetricsPort is set.  It only reads, asks for no credential and shows the names of all jobs and
 * their users: who can reach the address sees them.  libmicrohttpd parses HTTP, on the controller's loop;
 * connections, memory and time of each are bounded, and an answer is made once per METRICS_AGE_S however
 * often it is asked for. */
#ifndef SYNCGUARD_DAEMON_METRICS_H
#define SYNCGUARD_DAEMON_METRICS_H

#include "daemon/controller.h"

#define METRICS_JOBS_MAX        1000
#define METRICS_AGE_S           1.0
#define METRICS_CONNECTIONS_MAX 32
#define METRICS_ADDRESS_MAX     16 /* connections from one address */
#define METRICS_TIMEOUT_S       10

struct metrics;

/* Listen as the controller's configuration says.  NULL with the reason; NULL and err->text "" if off. */
struct metrics *metrics_start(struct controller *s, struct err *err);
void metrics_stop(struct metrics *m); /* NULL is fine */

#endif
