/* rest.h - changes in Slurm through slurmrestd; the state is read before and after each change.
 *
 * slurmrestd can set a job's Comment, from v0.0.39 on its AdminComment, and from v0.0.40 on comment, drain
 * and resume nodes.  No version requeues a job, and none signals a single step (newer ones signal the batch
 * script, too). A change has succeeded when slurmrestd shows the new state, whatever it answered to the
 * change. */
#ifndef SYNCGUARD_ACTIONS_REST_H
#define SYNCGUARD_ACTIONS_REST_H

#include <stdbool.h>

#include "actions/attempt.h"
#include "rules/action.h"

struct action_record;
struct config;
struct event_base;
struct http;
struct rest;
struct rest_call;

struct rest *rest_new(struct event_base *base, struct http *http, const struct config *c, double answer_s);
void rest_configured(struct rest *r); /* the content of c has changed */
void rest_free(struct rest *r);       /* NULL is fine */

/* Whether slurmrestd is configured and some version of it can carry out this kind of action. */
bool rest_can(const struct rest *r, enum action_kind kind);
/* Start an action, which must be valid until the end. Never returns NULL; fn is called once, later. */
struct rest_call *rest_start(struct rest *r, const struct action_record *action, attempt_fn *fn, void *arg);
void rest_cancel(struct rest_call *c); /* fn is not called; NULL is fine */

#endif
