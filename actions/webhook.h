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
struct event_base;
struct http;
struct webhook;
struct webhook_call;

struct webhook *webhook_new(struct event_base *base, struct http *http);
void webhook_configure(struct webhook *w, const struct config *c);
void webhook_patience(struct webhook *w, double answer_s);
void webhook_free(struct webhook *w); /* NULL is fine */

/* Whether there is a URL, and a template that can be filled in: 0, or -1 with a reason. */
int webhook_can(const struct webhook *w, struct err *err);
/* Start a try; r must be valid until its end. Never returns NULL. */
struct webhook_call *webhook_start(struct webhook *w, const struct action_record *r, attempt_fn *fn,
                                   void *arg);
void webhook_cancel(struct webhook_call *c); /* fn is not called; NULL is fine */

/* The body for an action; the caller frees it; NULL with a reason.  template: a name or a file. */
char *webhook_body(const char *template, const struct action_record *r, const char *token, struct err *err);

#endif
