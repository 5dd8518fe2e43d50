/* health_task.h - how one rank's process fares: waiting for its CPU, switches, faults, where it may run. */
#ifndef SYNCGUARD_AGENT_HEALTH_TASK_H
#define SYNCGUARD_AGENT_HEALTH_TASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/cpuset.h"
#include "wire/telemetry.h"

struct health_task;

/* root: put before every path; "" but in tests.  Lent words. */
struct health_task *health_task_new(const char *root, uint32_t rank, uint16_t app, pid_t pid);
void health_task_free(struct health_task *t); /* NULL is fine */

/* Look; the figures of health_task_item() are over the time since the last look.  false: the process cannot
 * be seen, or is not the one that it was (in a container its number means another one here); nothing is known
 * of it then. */
bool health_task_look(struct health_task *t, double now_s);
/* Lent; what needs the others (flags, foreign_ratio) or the devices is the caller's to fill in. */
struct task_item *health_task_item(struct health_task *t);
const struct cpuset *health_task_cpus(const struct health_task *t);

#endif
