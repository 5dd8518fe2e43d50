/* locality.h - which NUMA node CPUs, network adapters and PCI devices belong to, out of /sys.  -1: not known.
 */
#ifndef SYNCGUARD_AGENT_LOCALITY_H
#define SYNCGUARD_AGENT_LOCALITY_H

#include "agent/cpuset.h"

struct locality;

/* Reads the NUMA nodes and network adapters once.  root: put before every path; "" but in tests.  Lent words.
 */
struct locality *locality_new(const char *root);
void locality_free(struct locality *l); /* NULL is fine */

/* -1 also where they are on several. */
int locality_cpus(const struct locality *l, const struct cpuset *cpus);
/* Of the adapter that is nearest to a NUMA node: that node where one is there, else the first that has one. */
int locality_nic(const struct locality *l, int numa);
/* bus: "00000000:3B:00.0" as NVML writes it, or as the kernel does. */
int locality_pci(const struct locality *l, const char *bus);

#endif
