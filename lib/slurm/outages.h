/* outages.h - how often nodes of a partition failed, by Slurm's accounting.
 *
 * An outage is a node that Slurm itself set down (state DOWN by SlurmUser: not responding, unexpectedly
 * rebooted). Excluded are what an administrator did (drain, maintenance, requested reboot, set down by hand),
 * starts of slurmctld without its state, and power saving. Adjacent events of a node are one outage of the
 * kind of the first: Slurm writes "Not responding" and then "Node unexpectedly rebooted" for one crash
 * (doc/decisions/0019).
 *
 * Pure. Times: Unix seconds. */
#ifndef SYNCGUARD_SLURM_OUTAGES_H
#define SYNCGUARD_SLURM_OUTAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTAGES_EVENTS "NodeName,Start,End,State,User,Reason" /* sacctmgr's format= */
/* sinfo's --format, a line a node (-N) */
#define OUTAGES_NODES "%R|%N"

struct outages;

/* The outages between from_s and now_s.  events: the text of `sacctmgr -nP show event`; purge: of `sacctmgr
 * show configuration`; nodes: of `sinfo -ahN`; slurm_user: as in slurm.conf.  Malformed lines are skipped. */
struct outages *outages_new(const char *events, const char *purge, const char *nodes, const char *slurm_user,
                            double from_s, double now_s);
void outages_free(struct outages *o);        /* NULL is fine */
bool outages_known(const struct outages *o); /* false: the period that the events cover is unknown */

/* The failures that a job would have had. */
struct outages_seen {
    double failures; /* of its nodes: see below */
    double node_s;   /* node-seconds in which they occurred */
    uint32_t events; /* nodes that went down together are one */
    uint32_t nodes;  /* of the partition */
    double span_s;   /* time that the accounting covers */
};
/* For a job on job_nodes nodes of the partition.  Nodes that went down together, as with a switch or the
 * power, fail a job once, so that an event of k of N nodes counts as N/n times the probability that it meets
 * n nodes chosen at random: k for a job on one node, 1 for a job on all.  false: unknown, and *out is
 * unchanged. */
bool outages_see(struct outages *o, const char *partition, double job_nodes, struct outages_seen *out);

#endif
