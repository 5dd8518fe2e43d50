/* accounting.h - Slurm's accounting, asked how often the nodes of each partition go down (outages.h).
 *
 * Asks sacctmgr and sinfo, one child at a time: at the start, every six hours, an hour after it failed.
 * Nothing waits for it; what is not there, refuses or hangs is logged once, and what was known before stays.
 * Times: now_s is the controller's monotonic clock. */
#ifndef SYNCGUARD_SLURM_ACCOUNTING_H
#define SYNCGUARD_SLURM_ACCOUNTING_H

#include <stdbool.h>

#include "slurm/outages.h"

struct accounting;
struct config;
struct event_base;

struct accounting *accounting_new(struct event_base *base);
void accounting_free(struct accounting *a); /* NULL is fine */
void accounting_configure(struct accounting *a, const struct config *c);
/* About every quarter second.  true: there is another answer than before. */
bool accounting_tick(struct accounting *a, double now_s);

/* As outages_see; false also of NULL. */
bool accounting_see(struct accounting *a, const char *partition, double job_nodes, struct outages_seen *out);

#endif
