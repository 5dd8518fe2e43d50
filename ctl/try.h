/* try.h - what a policy would have decided about a recorded job: `sgctl policy try`.
 * The very engine that decides live looks at the trace by the trace's own clock. */
#ifndef SYNCGUARD_CTL_TRY_H
#define SYNCGUARD_CTL_TRY_H

#include <jansson.h>

#include "common/config.h"
#include "common/err.h"

/* Rules and parameters of the file conf; name: which policy, NULL: the only one with rules of the file's own,
 * else the default one. trace: a file, or "-". {policy, seconds, decisions: [{at_s, state, rule, action,
 * signal, nodes, sentence, why_not, projected_ratio}], reasons: [why each rule decided nothing, if all of
 * them did]}, the caller's; NULL with the reason. */
json_t *try_policy(const char *conf, const char *trace, const char *name, struct err *err);

#endif
