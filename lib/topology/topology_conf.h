/* topology_conf.h - reads topology.conf, of Slurm's plugins topology/tree and topology/block, or the
 * topology.yaml that has its place in newer versions (topology_yaml.h).
 *
 *   SwitchName=s1 Nodes=node[1-16] LinkSpeed=400 SwitchName=top Switches=s[1-4] BlockName=b1 Nodes=node[1-18]
 *   BlockSizes=18,36                     (no matter here)
 *
 * in the syntax of slurm.conf (common/conf.h), comments, continued lines and Include included; one of both
 * kinds per file. Leaves below several spines and nodes on several leaves are accepted (fold.h), and switches
 * with nothing below them, as newer versions of Slurm have them. */
#ifndef SYNCGUARD_TOPOLOGY_TOPOLOGY_CONF_H
#define SYNCGUARD_TOPOLOGY_TOPOLOGY_CONF_H

#include "topology/topology.h"

/* A finished topology, of a path that ends with ".yaml" as YAML: the one of that name, NULL: the default one.
 * NULL with a reason that names file, line and what is accepted. */
struct topology *topology_conf_read(const char *path, const char *name, struct err *err);
/* The same for text in memory. */
struct topology *topology_conf_parse(const char *name, const char *text, size_t bytes, struct err *err);
/* Where Slurm has it by default, topology.yaml before topology.conf: beside slurm.conf, or what slurmd or
 * sackd fetched from the controller. */
void topology_conf_locate(char *path, size_t size);

#endif
