/* action_way.h - the ways by which an action is done: slurmrestd, libslurm in a child, the webhook, the
 * command.  One try at a time and action; retrying is action.c's. */
#ifndef SYNCGUARD_ACTIONS_ACTION_WAY_H
#define SYNCGUARD_ACTIONS_ACTION_WAY_H

#include <stdbool.h>

#include "actions/action_record.h"
#include "actions/attempt.h"

struct action_limits;
struct config;
struct event_base;
struct action_ways;
struct action_try;

struct action_ways *action_ways_new(struct event_base *base);
void action_ways_limit(struct action_ways *w, const struct action_limits *l);
void action_ways_configure(struct action_ways *w, const struct config *c);
void action_ways_free(struct action_ways *w); /* NULL is fine; no try may be under way */

/* 0, or -1 with what is missing. */
int action_ways_can(const struct action_ways *w, enum action_kind kind, struct err *err);

/* So many of the like may be under way at once, kinds of the same lane together. */
enum action_lane { LANE_SLURM, LANE_WEBHOOK, LANE_COMMAND, LANES };
enum action_lane action_lane(enum action_kind kind);

/* May it be tried again when it is not known whether the try before did it? Those that are looked up first,
 * and the webhook, whose receiver knows the key. */
bool action_repeatable(enum action_kind kind);

/* The nth try; r is lent until the end.  Never ATTEMPT_CANNOT.  Never NULL. */
struct action_try *action_try_start(struct action_ways *w, const struct action_record *r, unsigned n,
                                    attempt_fn *fn, void *arg);
void action_try_cancel(struct action_try *t); /* fn is not called; NULL is fine */

#endif
