/* topology_yaml.h - reads topology.yaml, with which Slurm 25.05 and newer replace topology.conf.
 *
 *   - topology: ib                    # its name, first
 *     cluster_default: true           # the first such one is the default; without any, the first
 *     tree:
 *       switches:
 *         - switch: root
 *           children: leaf[1-2]       # or
 *         - switch: leaf1
 *           nodes: node[01-16]
 *   - topology: nvl
 *     block:
 *       block_sizes: [4, 16]          # no matter here
 *       blocks:
 *         - block: b1
 *           nodes: node[17-32]
 *   - topology: eth
 *     flat: true
 *
 * Of several topologies the one that a partition names (Topology= in slurm.conf) or the default one is taken,
 * if the default one is flat the first that is not; flat ones alone are a topology without switches.  The
 * file is parsed by libyaml, which is loaded when there is one, so that the plugin starts without it. Anchors
 * and aliases are not accepted.  Never aborts and never prints. */
#ifndef SYNCGUARD_TOPOLOGY_TOPOLOGY_YAML_H
#define SYNCGUARD_TOPOLOGY_TOPOLOGY_YAML_H

#include <stdbool.h>

#include "topology/topology.h"

/* Its name ends with ".yaml". */
bool topology_yaml_is(const char *path);

/* A finished topology: the one that is called `wanted`, NULL: the default one.  NULL with a reason that names
 * the file, the line and what is accepted. */
struct topology *topology_yaml_read(const char *path, const char *wanted, struct err *err);
/* The same for text in memory. */
struct topology *topology_yaml_parse(const char *name, const char *text, size_t bytes, const char *wanted,
                                     struct err *err);

#endif
