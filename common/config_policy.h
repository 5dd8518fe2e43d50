/* config_policy.h - the tables of keys on lines Policy=, PolicyFor= and Rule=, private to config.c.
 *
 * A parameter of a policy is a row of config_policy.c and a field of struct config_policy; nothing else need
 * know it for it to be read, checked, listed, documented, set by `sgctl policy set` and shown by sgtop. */
#ifndef SYNCGUARD_COMMON_CONFIG_POLICY_H
#define SYNCGUARD_COMMON_CONFIG_POLICY_H

#include "common/config.h"

/* Of CONFIG_POLICY, CONFIG_SELECTION or CONFIG_RULE. */
const struct config_key *config_policy_keys(enum config_table table, size_t *n);

#endif
