/* webhook.h - notifies a URL: each try is one POST of JSON from a template (template.h).
 *
 * The header Idempotency-Key has the action's key, the same in every try.  The URL's path and the tokens are
 * secrets and do not occur in any outcome or error. */
#ifndef SYNCGUARD_ACTIONS_WEBHOOK_H
#define SYNCGUARD_ACTIONS_WEBHOOK_H

#include "actions/attempt.h"
#include "common/err.h"

struct action_record;
struct config;
struct http;
struct webhook_call;

/* Whether there is a URL, and a template that can be filled in: 0, or -1 with a reason. */
int webhook_can(const struct config *c, struct err *err);
/* Start a try, which may take answer_s; fn is called once, never from within this function.  NULL with a
 * reason: further tries would fail, too. */
struct webhook_call *webhook_start(struct http *http, const struct config *c, double answer_s,
                                   const struct action_record *r, attempt_fn *fn, void *arg, struct err *err);
void webhook_cancel(struct webhook_call *c); /* fn is not called; NULL is fine */

/* The body for an action; the caller frees it; NULL with a reason.  template: a name or a file. */
char *webhook_body(const char *template, const struct action_record *r, const char *token, struct err *err);

#endif
