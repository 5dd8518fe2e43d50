/* checkpoint.h - ranks of this node that report their steps (ring/steps.h): what they report and mark, and
 * how they learn that a checkpoint is due.
 *
 * The job itself writes these pages, so their contents are bounded here.  A request of the controller is put
 * on the control page and acknowledged with the counts read afterwards; see doc/decisions/0019. */
#ifndef SYNCGUARD_AGENT_CHECKPOINT_H
#define SYNCGUARD_AGENT_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ring/control_page.h"
#include "sampling/flow.h"

#define CHECKPOINT_RANKS_MAX 4096u

struct checkpoint;

/* page: lent, NULL when there is none; note: as in ranks.h; job: replaces %j in paths. */
struct checkpoint *checkpoint_new(const char *dir, int64_t job, struct control_page *page,
                                  void (*note)(const char *text, void *arg), void *arg);
void checkpoint_free(struct checkpoint *c); /* NULL is fine */

void checkpoint_scan(struct checkpoint *c);   /* open the pages of new ranks */
void checkpoint_second(struct checkpoint *c); /* once a second: read all pages, find ranks that have ended */

/* Carry out the object "checkpoint" of a control message: {"serial", "at", "app", "state"}, {"signal"} or
 * {"file"}. kill: sends a signal to every rank of this node. */
void checkpoint_control(struct checkpoint *c, const json_t *asked, void (*kill)(int sig, void *arg));

/* Where the marks of programs go. */
struct checkpoint_sink {
    /* The names of a process in telemetry; false: it is no rank, or not yet. */
    bool (*name)(pid_t pid, uint32_t *rank, uint16_t *app, void *arg);
    flow_sink *put;
    void *arg;
};
/* What programs marked since the last call (agent/marks.h): once a second (due) all of it; otherwise, after
 * checkpoint_report(), only of ranks of which a value ceased or began to be finite.  Whether there was
 * anything. */
bool checkpoint_marks(struct checkpoint *c, bool due, const struct checkpoint_sink *to);

/* {"checkpoint":{...}} if due, or if something has changed since the last report; else NULL.  The caller
 * frees it. */
json_t *checkpoint_report(struct checkpoint *c, bool due);

#endif
