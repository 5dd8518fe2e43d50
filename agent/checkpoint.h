/* checkpoint.h - the ranks of this node that tell of their steps (ring/steps.h): what they tell, and how they
 * hear that a checkpoint is due.
 *
 * Whatever stands in their pages is the job's own writing and is bounded here.  The controller's word is put
 * on the control page and acknowledged with the counts as they were afterwards; see doc/decisions/0019. */
#ifndef SYNCGUARD_AGENT_CHECKPOINT_H
#define SYNCGUARD_AGENT_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>

#include "ring/control_page.h"

#define CHECKPOINT_RANKS_MAX 4096u

struct checkpoint;

/* page: lent, NULL when there is none; note: as in ranks.h.  job: for %j in paths. */
struct checkpoint *checkpoint_new(const char *dir, int64_t job, struct control_page *page,
                                  void (*note)(const char *text, void *arg), void *arg);
void checkpoint_free(struct checkpoint *c); /* NULL is fine */

void checkpoint_scan(struct checkpoint *c);   /* look for ranks that are new */
void checkpoint_second(struct checkpoint *c); /* who is still there */

/* The object "checkpoint" of a control message: {"serial", "at", "app", "state"}, or {"signal"}, {"file"}.
 * kill: sends a signal to every rank of this node. */
void checkpoint_control(struct checkpoint *c, const json_t *asked, void (*kill)(int sig, void *arg));

/* {"checkpoint":{...}} when something happened since the last one, or when it is due; NULL: nothing to tell.
 */
json_t *checkpoint_report(struct checkpoint *c, bool due);

#endif
