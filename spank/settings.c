#include "spank/settings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void override(char *path, size_t size, const char *with)
{
    if (*with && strlen(with) < size)
        memcpy(path, with, strlen(with) + 1);
}

int settings_load(struct config *c, const struct args *args, const char *inherited, struct err *err)
{
    const char *path = *args->conf ? args->conf : CONFIG_DEFAULT_PATH;
    bool missing = access(path, F_OK) < 0 && errno == ENOENT;
    int rc;

    if (missing && *inherited)
        rc = config_parse(c, SETTINGS_ENV, inherited, strlen(inherited), err);
    else
        rc = config_load(c, path, err);
    if (rc < 0 && config_parse(c, "built-in", "", 0, NULL) < 0)
        memset(c, 0, sizeof(*c));
    override(c->agent, sizeof(c->agent), args->agent);
    override(c->probe, sizeof(c->probe), args->probe);
    return rc;
}

bool settings_export(const struct config *c, const struct config_policy *policy, char *out, size_t size)
{
    static const char *const passed[] = { "MinSlowdown", "HangTimeout", "SampleRate", "Pacing",
                                          "PaceLevers" };
    const struct key *keys = config_keys(CONFIG_POLICY);
    char value[128];
    int n = snprintf(out, size,
                     "Controller=%s Port=%d AgentPath=\"%s\" ProbePath=\"%s\" DefaultPolicy=%s%s%s%s\n"
                     "Policy=%s",
                     c->controller, c->port, c->agent, c->probe, policy->name,
                     *c->munge_socket ? " AuthInfo=\"socket=" : "", c->munge_socket,
                     *c->munge_socket ? "\"" : "", policy->name);

    for (size_t i = 0; n > 0 && (size_t)n < size && i < sizeof(passed) / sizeof(passed[0]); i++)
        n += snprintf(out + n, size - (size_t)n, " %s=%s", passed[i],
                      key_write(key_find(keys, passed[i]), policy, value, sizeof(value)));
    if (n > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, "\n");

    return n > 0 && (size_t)n < size && !strpbrk(c->agent, "\"\\") && !strpbrk(c->probe, "\"\\") &&
           !strpbrk(c->munge_socket, "\"\\");
}

const struct config_policy *settings_policy(const struct config *c, const struct choice *choice)
{
    return config_policy_find(c, choice->kind == CHOICE_POLICY ? choice->policy : c->default_policy);
}
