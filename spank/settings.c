#include "spank/settings.h"

#include <string.h>

#include "common/trust.h"

static const char *conf_path(const struct args *args)
{
    return *args->conf ? args->conf : CONFIG_DEFAULT_PATH;
}

static void override(char *path, size_t size, const char *with)
{
    if (*with && strlen(with) < size)
        memcpy(path, with, strlen(with) + 1);
}

int settings_load(struct config *c, const struct args *args, struct err *err)
{
    int rc = config_load(c, conf_path(args), err);

    if (rc < 0 && config_parse(c, "built-in", "", 0, NULL) < 0)
        memset(c, 0, sizeof(*c));
    override(c->agent, sizeof(c->agent), args->agent);
    override(c->probe, sizeof(c->probe), args->probe);
    return rc;
}

int settings_trusted(const struct config *c, const struct args *args, struct err *err)
{
    return trust_check(conf_path(args), err) < 0 || trust_check(c->agent, err) < 0 ? -1 : 0;
}

const struct config_policy *settings_policy(const struct config *c, const struct choice *choice)
{
    return config_policy_find(c, choice->kind == CHOICE_POLICY ? choice->policy : c->default_policy);
}

int settings_placement(const struct config_policy *policy, const struct args *args, const struct choice *choice)
{
    return choice->placement != ARGS_UNSAID ? choice->placement :
           args->placement != ARGS_UNSAID   ? args->placement :
           policy                           ? policy->placement :
                                              CONFIG_PLACEMENT_OFF;
}
