/* hosts.h - "host[:port][,host[:port]...]": addresses of the controllers, and the delay between attempts.
 *
 * Commas or blanks separate; an IPv6 address with a port is written "[fe80::1]:6825", without one also
 * bare.  Pure: names are not resolved here (see wire/lookup.h). */
#ifndef SYNCGUARD_COMMON_HOSTS_H
#define SYNCGUARD_COMMON_HOSTS_H

#include <stddef.h>

#include "common/err.h"

struct host {
    char name[256];
    int port;
};

/* Returns the number of hosts and stores the one at index, modulo that number, in *host (NULL: only count).
 * -1 with the reason when a host is malformed or the list is empty. */
int hosts_pick(const char *hosts, unsigned index, int default_port, struct host *host, struct err *err);

/* Write the same list with default_port added to hosts without a port, e.g. "a:6825,[::1]:5".  0, or -1 with
 * the reason. */
int hosts_complete(const char *hosts, int default_port, char *out, size_t size, struct err *err);

/* Seconds to wait before the next attempt after `failures` consecutive failures: 0.2 s, doubled after every
 * round through all n hosts, at most 2 s; times 0.75 to 1.25 for a chance from 0 to 1.  Agents that were
 * refused at the same moment would otherwise return at the same moment. */
double hosts_retry_s(unsigned failures, int n, double chance);

#endif
