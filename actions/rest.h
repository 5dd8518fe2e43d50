/* rest.h - changes in Slurm through slurmrestd, each looked up before it is made and after.
 *
 * It does what slurmrestd can: a job's Comment, from v0.0.39 on its AdminComment, from v0.0.40 on comments,
 * drains and resumes of nodes.  No version requeues a job, and none signals one step alone (the newer ones
 * reach the batch script too). A change counts as made when slurmrestd shows it, whatever it answered to the
 * change itself. */
#ifndef SYNCGUARD_ACTIONS_REST_H
#define SYNCGUARD_ACTIONS_REST_H

#include <jansson.h>
#include <stdbool.h>

#include "actions/attempt.h"
#include "rules/action.h"

struct config;
struct event_base;
struct http;
struct rest;
struct rest_call;

struct rest *rest_new(struct event_base *base, struct http *http);
void rest_configure(struct rest *r, const struct config *c);
void rest_patience(struct rest *r, double answer_s);
void rest_free(struct rest *r); /* NULL is fine */

/* Is it configured, and may it be able to do one of these? */
bool rest_can(const struct rest *r, enum action_kind kind);
/* request as in actions/slurm_helper.h, lent until the end. Never NULL; fn is called once, later. */
struct rest_call *rest_start(struct rest *r, enum action_kind kind, const json_t *request, attempt_fn *fn,
                             void *arg);
void rest_cancel(struct rest_call *c); /* fn is not called; NULL is fine */

#endif
