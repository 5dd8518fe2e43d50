/* serving.h - the rate of workers that share one server: each works, sends a request, and waits until those
 * before it and its own are served.
 *
 * Mean value analysis of a closed queue (Reiser & Lavenberg, "Mean-value analysis of closed multichain
 * queuing networks", J. ACM 27, 1980), with the rest of a service that is found under way as it is where all
 * take the same time (Reiser, "A queueing network analysis of computer communication networks with window
 * flow control", IEEE Trans. Commun. 27, 1979).
 *
 * Pure.  Units: seconds, requests per second. */
#ifndef SYNCGUARD_MODEL_SERVING_H
#define SYNCGUARD_MODEL_SERVING_H

#include <stdint.h>

/* Of all workers together.  work_s: from an answer to the next request.  NaN: a time is negative or not
 * known, or both are zero. */
double serving_per_s(uint32_t workers, double work_s, double service_s);

#endif
