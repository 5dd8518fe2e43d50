#include "spank/settings.h"

#include <stdio.h>
#include <string.h>

#include "common/trust.h"
#include "topology/topology_conf.h"

const char *settings_conf_path(const struct args *args)
{
    return *args->conf ? args->conf : CONFIG_DEFAULT_PATH;
}

void settings_topology_path(const struct args *args, char *path, size_t size)
{
    if (*args->topology)
        snprintf(path, size, "%s", args->topology);
    else
        topology_conf_locate(path, size);
}

static void replace_path(char *path, size_t size, const char *with)
{
    if (*with && strlen(with) < size)
        memcpy(path, with, strlen(with) + 1);
}

int settings_load(struct config *c, const struct args *args, struct err *err)
{
    int rc = config_load(c, settings_conf_path(args), err);

    if (rc < 0 && config_parse(c, "built-in", "", 0, NULL) < 0)
        memset(c, 0, sizeof(*c));
    replace_path(c->agent, sizeof(c->agent), args->agent);
    replace_path(c->probe, sizeof(c->probe), args->probe);
    return rc;
}

int settings_trusted(const struct config *c, const struct args *args, struct err *err)
{
    return trust_check(settings_conf_path(args), err) < 0 || trust_check(c->agent, err) < 0 ? -1 : 0;
}

const struct config_policy *settings_policy(const struct config *c, const struct choice *choice)
{
    return config_policy_find(c, choice->kind == CHOICE_POLICY ? choice->policy : c->default_policy);
}

static int mode_of(int choice, int args, int policy)
{
    return choice != ARGS_UNSAID ? choice : args != ARGS_UNSAID ? args : policy;
}

int settings_placement(const struct config_policy *policy, const struct args *args,
                       const struct choice *choice)
{
    return mode_of(choice->placement, args->placement, policy ? policy->placement : CONFIG_PLACEMENT_OFF);
}

int settings_algorithm(const struct config_policy *policy, const struct args *args,
                       const struct choice *choice)
{
    int placement = settings_placement(policy, args, choice);
    int algorithm =
        mode_of(choice->algorithm, args->algorithm, policy ? policy->algorithm : CONFIG_PLACEMENT_OFF);

    return algorithm < placement ? algorithm : placement;
}
