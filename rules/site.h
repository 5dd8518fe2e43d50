/* site.h - the policy that a site compiled itself (policies/site.h), loaded and asked.
 * Its owner and permissions are checked before it is loaded: whoever can write to it can run any code in the
 * controller. */
#ifndef SYNCGUARD_RULES_SITE_H
#define SYNCGUARD_RULES_SITE_H

#include "common/err.h"
#include "rules/rule.h"

struct site;

/* NULL with the reason: not there, not root's alone, no policy, of another version. */
struct site *site_open(const char *path, struct err *err);
void site_close(struct site *s);             /* NULL is fine */
const char *site_name(const struct site *s); /* "" of NULL */

struct site_question {
    const char *job, *policy;
    const struct figures *figures;
    double now_s;
};
/* What it says of a job now; texts are lent until the next call. */
void site_ask(struct site *s, const struct site_question *q, struct advice *out);

#endif
