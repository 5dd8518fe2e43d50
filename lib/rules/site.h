/* site.h - loads the policy that a site compiled itself (policies/site.h), and asks it for advice.
 * Owner and permissions are checked before loading, because whoever can write to the file can run any code in
 * the controller. */
#ifndef SYNCGUARD_RULES_SITE_H
#define SYNCGUARD_RULES_SITE_H

#include "common/err.h"
#include "rules/rule.h"

struct site;

/* Load a policy.  NULL with a reason: missing, writable by others than root, not a policy, or of another
 * version. */
struct site *site_open(const char *path, struct err *err);
void site_close(struct site *s);             /* NULL is fine */
const char *site_name(const struct site *s); /* "" for NULL */

struct site_question {
    const char *job, *policy;
    const struct figures *figures;
    double now_s;
};
/* Ask for advice on a job; texts are valid until the next call.  ignored: what of it makes no sense and is
 * left out, once for an unknown action and once for an impossible projection; "": nothing new. */
void site_ask(struct site *s, const struct site_question *q, struct advice *out, struct err *ignored);

#endif
