/* energy.h - what the node uses, from the counters of its processors and memory (powercap, RAPL).
 *
 * It is the node's: whatever else runs there is in it, and boards, disks, fans and GPUs are not. The kernel
 * lets root alone read the counters since CVE-2020-8694, unless the administrator says otherwise; what cannot
 * be read is unknown.
 *
 * Units: joules. */
#ifndef SYNCGUARD_AGENT_ENERGY_H
#define SYNCGUARD_AGENT_ENERGY_H

struct energy;

/* root: put before every path; "" but in tests. Never NULL: with nothing to read it knows nothing. */
struct energy *energy_open(const char *root);
void energy_close(struct energy *e); /* NULL is fine */

/* Since energy_open(). NaN: there is no counter, or one of them cannot be read (from then on). Call it at
 * least every few minutes: a counter that wraps twice in between loses a round. */
double energy_j(struct energy *e);

#endif
