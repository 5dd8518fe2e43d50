/* locality.h - the NUMA nodes of CPUs, network adapters and PCI devices, from /sys.  -1: not known. */
#ifndef SYNCGUARD_AGENT_LOCALITY_H
#define SYNCGUARD_AGENT_LOCALITY_H

#include "agent/cpuset.h"

struct locality;

/* Read the NUMA nodes and network adapters, once.  root: prefix of every path, "" except in tests; lent. */
struct locality *locality_new(const char *root);
void locality_free(struct locality *l); /* NULL is fine */

/* -1 also when the CPUs are on several nodes. */
int locality_cpus(const struct locality *l, const struct cpuset *cpus);
/* NUMA node of the adapter for ranks on node numa: numa if it has an adapter, else the first node that has one. */
int locality_nic(const struct locality *l, int numa);
/* bus: "00000000:3B:00.0" as NVML writes it, or with the kernel's four digits. */
int locality_pci(const struct locality *l, const char *bus);

#endif
