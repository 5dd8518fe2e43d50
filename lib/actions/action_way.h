/* action_way.h - makes one try at an action by slurmrestd, libslurm in a child, the webhook or the command.
 * action.c repeats tries, and makes one at a time per action. */
#ifndef SYNCGUARD_ACTIONS_ACTION_WAY_H
#define SYNCGUARD_ACTIONS_ACTION_WAY_H

#include <stdbool.h>

#include "actions/attempt.h"
#include "history/action_record.h"

struct config;
struct event_base;
struct action_ways;
struct action_try;

/* c and l are borrowed. */
struct action_ways *action_ways_new(struct event_base *base, const struct config *c,
                                    const struct attempt_limits *l);
void action_ways_configured(struct action_ways *w); /* the content of c has changed */
void action_ways_free(struct action_ways *w);       /* NULL is fine; no try may be under way */

/* Whether there is a way for this kind: 0, or -1 with a reason that names what is missing. */
int action_ways_can(const struct action_ways *w, enum action_kind kind, struct err *err);

/* Kinds of actions that share a limit on simultaneous tries. */
enum action_lane { LANE_SLURM, LANE_WEBHOOK, LANE_COMMAND, LANES };
enum action_lane action_lane(enum action_kind kind);

/* Whether an action of this kind may be tried again if it is not known whether the last try took effect:
 * those whose effect Slurm is asked for first, and the webhook, whose receiver can recognise the key. */
bool action_repeatable(enum action_kind kind);

/* Start the nth try; r must be valid until its end.  fn never gets ATTEMPT_CANNOT.  Never returns NULL. */
struct action_try *action_try_start(struct action_ways *w, const struct action_record *r, unsigned n,
                                    attempt_fn *fn, void *arg);
void action_try_cancel(struct action_try *t); /* fn is not called; NULL is fine */

#endif
