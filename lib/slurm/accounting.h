/* accounting.h - asks Slurm's accounting how often the nodes of each partition go down (outages.h).
 *
 * It runs sacctmgr and sinfo, one child at a time: at start, every six hours, and an hour after a failure.
 * Nothing waits for it; a command that is missing, fails or hangs is reported once, and the earlier answer
 * stays valid.
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_SLURM_ACCOUNTING_H
#define SYNCGUARD_SLURM_ACCOUNTING_H

#include <stdbool.h>

#include "common/err.h"
#include "slurm/outages.h"

struct accounting;
struct config;
struct event_base;

struct accounting *accounting_new(struct event_base *base);
void accounting_free(struct accounting *a); /* NULL is fine */
void accounting_configure(struct accounting *a, const struct config *c);
/* Call it about every quarter of a second.  true: there is a new answer.  news: a sentence for the log, why
 * there is none or that there is one again; "": nothing new. */
bool accounting_tick(struct accounting *a, double now_s, struct err *news);

/* See outages_see(); false also for NULL. */
bool accounting_see(struct accounting *a, const char *partition, double job_nodes, struct outages_seen *out);

#endif
