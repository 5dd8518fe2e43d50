/* Who is an operator, also where the service that knows the users is away when the controller looks them up.
 */
#include "daemon/operators.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define FIRST_UID 50000

static int known; /* so many of user0, user1 ... */

struct passwd *getpwnam(const char *name)
{
    static struct passwd user;
    int n = !strncmp(name, "user", 4) ? atoi(name + 4) : known;

    user = (struct passwd){ .pw_uid = (uid_t)(FIRST_UID + n) };
    return n < known ? &user : NULL;
}

static struct config config(const char *slurm_user, const char *operators)
{
    struct config c = { .port = 0 };

    snprintf(c.slurm_user, sizeof(c.slurm_user), "%s", slurm_user);
    snprintf(c.operators, sizeof(c.operators), "%s", operators);
    return c;
}

static bool has(const struct operators *o, int user)
{
    return operators_has(o, (uid_t)(FIRST_UID + user));
}

static void named_users(void)
{
    const struct config c = config("user0", "user1, user2,,user9"), none = config("", "");
    struct operators o = { .n = 0 };

    known = 5;
    ok(operators_has(&o, 0) && !has(&o, 0), "root is an operator without a configuration, nobody else");
    operators_configure(&o, &c);
    ok(has(&o, 0) && has(&o, 1) && has(&o, 2), "SlurmUser and those of Operators are");
    ok(!has(&o, 3) && !has(&o, 9), "a user who is not named is none, nor one who does not exist");
    ok(o.incomplete, "one is missing");
    operators_configure(&o, &none);
    ok(!has(&o, 0) && !has(&o, 1) && !o.incomplete, "another configuration forgets them");
}

static void service_away(void)
{
    const struct config c = config("user0", "user1,user2");
    struct operators o = { .n = 0 };

    known = 0;
    operators_configure(&o, &c);
    ok(o.n == 0 && o.incomplete, "nobody is known while the service is away");
    known = 2;
    operators_complete(&o, &c);
    ok(has(&o, 0) && has(&o, 1) && o.incomplete, "who is known later is an operator, one is still missing");
    known = 0;
    operators_complete(&o, &c);
    ok(has(&o, 0) && has(&o, 1), "nobody is forgotten when it is away again");
    known = 3;
    operators_complete(&o, &c);
    ok(has(&o, 2) && o.n == 3 && !o.incomplete, "each is there once when all are known");
}

static void many_users(void)
{
    struct config c = config("", "");
    struct operators o = { .n = 0 };
    size_t at = 0;

    known = OPERATORS_MAX + 1;
    for (int i = 0; i < known; i++)
        at += (size_t)snprintf(c.operators + at, sizeof(c.operators) - at, "%suser%d", i ? "," : "", i);
    operators_configure(&o, &c);
    is_int((long long)o.n, OPERATORS_MAX, "there is room for %d", OPERATORS_MAX);
    ok(has(&o, OPERATORS_MAX - 1) && !has(&o, OPERATORS_MAX), "one more is left out");
    ok(!o.incomplete, "which asking again would not change");
}

int main(void)
{
    named_users();
    service_away();
    many_users();
    return done_testing();
}
