#include "daemon/operators.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

bool operators_has(const struct operators *o, uid_t uid)
{
    if (uid == 0 || uid == geteuid())
        return true;
    for (size_t i = 0; i < o->n; i++)
        if (o->uid[i] == uid)
            return true;
    return false;
}

enum found { FOUND, UNKNOWN, TOO_MANY };

static enum found look_up(struct operators *o, const char *name)
{
    const struct passwd *user = getpwnam(name);

    if (!user) {
        o->incomplete = true;
        return UNKNOWN;
    }
    if (operators_has(o, user->pw_uid))
        return FOUND;
    if (o->n == OPERATORS_MAX)
        return TOO_MANY;
    o->uid[o->n++] = user->pw_uid;
    return FOUND;
}

static void look_all_up(struct operators *o, const struct config *c, bool say)
{
    char names[sizeof(c->operators)], *rest = names, *name;

    o->incomplete = false;
    if (*c->slurm_user)
        look_up(o, c->slurm_user); /* "slurm" where nothing is configured: it need not be there */
    snprintf(names, sizeof(names), "%s", c->operators);
    while ((name = strsep(&rest, ", "))) {
        enum found found = *name ? look_up(o, name) : FOUND;

        if (found == UNKNOWN && say)
            log_warn("Operators: user %s is not known here: no operator until that changes", name);
        else if (found == TOO_MANY && say)
            log_warn("Operators: more than %d users: %s is ignored", OPERATORS_MAX, name);
    }
}

void operators_configure(struct operators *o, const struct config *c)
{
    *o = (struct operators){ .n = 0 };
    look_all_up(o, c, true);
}

void operators_complete(struct operators *o, const struct config *c)
{
    size_t before = o->n;

    look_all_up(o, c, false);
    if (o->n > before)
        log_info("users of SlurmUser and Operators that were not known are known now");
}
