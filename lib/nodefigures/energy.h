/* energy.h - energy used by the node's processors and memory, from their counters (powercap, RAPL).
 *
 * It includes everything that runs on the node, and excludes boards, disks, fans and GPUs.  Since
 * CVE-2020-8694 only root can read the counters, unless the administrator changes their permissions; the
 * energy is then unknown.
 *
 * Units: joules. */
#ifndef SYNCGUARD_NODEFIGURES_ENERGY_H
#define SYNCGUARD_NODEFIGURES_ENERGY_H

struct energy;

/* root: prefix of every path, "" except in tests.  Never NULL; without counters the energy is unknown. */
struct energy *energy_open(const char *root);
void energy_close(struct energy *e); /* NULL is fine */

/* Energy since energy_open().  NaN when there is no counter, or once one of them could not be read.  Call it
 * at least every few minutes: a counter that wraps twice between two calls loses a full range. */
double energy_j(struct energy *e);

#endif
