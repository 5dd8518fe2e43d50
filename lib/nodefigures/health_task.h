/* health_task.h - one rank's process: how long it waits for a CPU, its context switches and page faults, the
 * CPUs it may run on, and the signals that do not end it.  Times are in seconds, by the caller's clock. */
#ifndef SYNCGUARD_NODEFIGURES_HEALTH_TASK_H
#define SYNCGUARD_NODEFIGURES_HEALTH_TASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/cpuset.h"
#include "wire/telemetry.h"

struct health_task;

/* root: prefix of every path, "" except in tests; lent.  pid: as this node counts; -1: not known. */
struct health_task *health_task_new(const char *root, uint32_t rank, uint16_t app, pid_t pid);
void health_task_free(struct health_task *t); /* NULL is fine */

/* Read figures over the time since the last call, for health_task_item().  False when the process is not
 * visible or not the same as before; nothing is known of it then. */
bool health_task_look(struct health_task *t, double now_s);
/* Lends the item.  The caller fills in what depends on other ranks (flags, foreign_ratio) or on devices. */
struct task_item *health_task_item(struct health_task *t);
const struct cpuset *health_task_cpus(const struct health_task *t); /* empty: not known */
/* Whether the process was seen, and may run on CPUs that do not fit into a set. */
bool health_task_too_many_cpus(const struct health_task *t);
/* The signals that do not end the process, as in signals_item; false: not known. */
bool health_task_signals(const struct health_task *t, uint64_t *endured);

#endif
