/* flight_groups.h - the process groups of a set of dumps of PyTorch's flight recorder: which ranks are in
 * each, and how far each rank has come there.
 *
 * A dump names the groups that its rank is in, with all their ranks (pg_config), and has the numbers of the
 * newest calls that the rank has enqueued and seen completed (pg_status), by a number that the group has in
 * its process alone.  Entries have both a group's name and that number; where a dump has no entry of a group,
 * the k-th name and the k-th number belong together, for a process makes its groups in the order of their
 * names. A status counts a group's messages, too, so it is used only for groups in which no dump shows a
 * message, and in which each dump with entries has its newest entry's number as the newest enqueued one. */
#ifndef SYNCGUARD_TRACE_FLIGHT_GROUPS_H
#define SYNCGUARD_TRACE_FLIGHT_GROUPS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "trace/calls.h"

#define FLIGHT_NO_GROUP UINT32_MAX

struct flight_groups;

struct flight_groups *flight_groups_new(void);
void flight_groups_free(struct flight_groups *g); /* NULL is fine */

/* A dump begins: what follows is of it, in any order, until flight_groups_end(). */
void flight_groups_begin(struct flight_groups *g);
void flight_groups_config(struct flight_groups *g, const json_t *config); /* pg_config */
void flight_groups_status(struct flight_groups *g, const json_t *status); /* pg_status */
/* The group of an entry, a number; FLIGHT_NO_GROUP: there are too many. */
uint32_t flight_groups_entry(struct flight_groups *g, const json_t *entry);
/* The entry is of a collective with that number, or after so many messages. */
void flight_groups_collective(struct flight_groups *g, uint32_t group, uint32_t seq, bool over);
void flight_groups_message(struct flight_groups *g, uint32_t group);
void flight_groups_end(struct flight_groups *g, uint32_t rank);

/* Once all dumps were read. */
size_t flight_groups_count(const struct flight_groups *g);
/* Ranks by place, lent; *n 0: not known. */
const uint32_t *flight_groups_ranks(const struct flight_groups *g, uint32_t group, size_t *n);
/* The ranks of the job, as its default group has them; *n 0: not known. */
const uint32_t *flight_groups_world(const struct flight_groups *g, size_t *n);
/* Give the groups to calls, each with its members; comm[group] becomes the communicator.  world: ranks of the
 * job.  -1 with the reason. */
int flight_groups_give(const struct flight_groups *g, struct calls *calls, size_t world, int64_t *comm,
                       struct err *err);

#endif
