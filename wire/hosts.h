/* hosts.h - "host[:port][,host[:port]...]": where the controllers are, and how long to wait between tries.
 *
 * Commas or blanks separate; an IPv6 address with a port is written "[fe80::1]:6825", without one also
 * bare.  Pure: no name is looked up here (see lookup.h). */
#ifndef SYNCGUARD_WIRE_HOSTS_H
#define SYNCGUARD_WIRE_HOSTS_H

#include <stddef.h>

#include "common/err.h"

struct host {
    char name[256];
    int port;
};

/* How many there are, and the index-th modulo that many into *host (NULL: only count).
 * -1 with the reason when any of them is malformed or there is none. */
int hosts_pick(const char *hosts, unsigned index, int default_port, struct host *host, struct err *err);

/* The same list with default_port written out where a host has none, e.g. "a:6825,[::1]:5"; the caller's to
 * free. NULL with the reason. */
char *hosts_complete(const char *hosts, int default_port, struct err *err);

/* Seconds to wait before a try after `failures` failed ones in a row: 0.2 s, doubled with every round through
 * all n hosts, 2 s at most. */
double hosts_retry_s(unsigned failures, int n);

#endif
