/* locality.h - the NUMA nodes of a host's CPUs, network adapters, PCI devices and GPUs, from /sys and /proc.
 * -1: not known.
 *
 * Never aborts: without memory, all is unknown. */
#ifndef SYNCGUARD_TOPOLOGY_LOCALITY_H
#define SYNCGUARD_TOPOLOGY_LOCALITY_H

#include "common/cpuset.h"

#define LOCALITY_NODES_MAX 64 /* NUMA nodes from this number on are ignored */

struct locality;

/* Read the NUMA nodes and network adapters, once.  root: prefix of every path, "" except in tests; lent. NULL
 * without memory; all functions take it. */
struct locality *locality_new(const char *root);
void locality_free(struct locality *l);

/* The CPUs of a NUMA node; NULL: there is no such node, or one of its CPUs does not fit into a set. */
const struct cpuset *locality_node(const struct locality *l, int numa);
/* -1 also when the CPUs are on several nodes. */
int locality_cpus(const struct locality *l, const struct cpuset *cpus);
/* NUMA node of the adapter for ranks on node numa: numa if it has an adapter, else the first node that has
 * one. */
int locality_nic(const struct locality *l, int numa);
/* bus: "00000000:3B:00.0" as NVML writes it, or with the kernel's four digits. */
int locality_pci(const struct locality *l, const char *bus);
/* number: of an NVIDIA GPU's device, as in /dev/nvidia0. */
int locality_gpu(const struct locality *l, uint32_t number);

#endif
