/* outages.h - how often nodes of a partition went down by themselves, as Slurm's accounting has it.
 *
 * Texts of sacctmgr and sinfo in, counts out; no clock, no I/O.  An outage is a node that Slurm itself set
 * down (state DOWN by SlurmUser: not responding, unexpectedly rebooted).  What an administrator did is none:
 * a drain, a reservation for maintenance, a reboot that was asked for, a node set down by hand; nor is a
 * start of slurmctld without its state, nor a node that power saving switched off.  Events of a node that
 * follow each other without a gap are one outage, of the kind of the first: Slurm writes "Not responding" and
 * then "Node unexpectedly rebooted" of one crash, and a node that was drained is switched off afterwards
 * (doc/decisions/0019).
 *
 * Times: Unix seconds. */
#ifndef SYNCGUARD_SLURM_OUTAGES_H
#define SYNCGUARD_SLURM_OUTAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTAGES_EVENTS "NodeName,Start,End,State,User,Reason" /* sacctmgr's format= */
#define OUTAGES_NODES  "%R|%N"                                /* sinfo's --format, a line a node (-N) */

struct outages;

/* From events, the text of `sacctmgr -nP show event`, purge, that of `sacctmgr show configuration`, and
 * nodes, that of `sinfo -ahN`: the outages between from_s and now_s.  Malformed lines are skipped.
 * slurm_user: as in slurm.conf. */
struct outages *outages_new(const char *events, const char *purge, const char *nodes, const char *slurm_user,
                            double from_s, double now_s);
void outages_free(struct outages *o);        /* NULL is fine */
bool outages_known(const struct outages *o); /* false: the period that the events cover is unknown */

/* The failures that a job would have had. */
struct outages_seen {
    double failures; /* of its nodes: see below */
    double node_s;   /* node-seconds that they are from */
    uint32_t events; /* nodes that went down together are one */
    uint32_t nodes;  /* of the partition */
    double span_s;   /* that the accounting covers */
};
/* Of the partition, for a job on job_nodes of its nodes.  Nodes that went down together, as with a switch or
 * the power, fail a job once, however many of them it has; so an event of k of N nodes counts as N/n times
 * the probability that it meets n nodes chosen at random: k for a job on one node, 1 for a job on all. false:
 * not known, out is untouched. */
bool outages_see(struct outages *o, const char *partition, double job_nodes, struct outages_seen *out);

#endif
