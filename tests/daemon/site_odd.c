/* A site's policy that says what cannot be: numbers, bytes, and an action that there is not. */
#include "policies/site.h"

#include <math.h>
#include <string.h>

static void decide(const struct site_view *v, struct site_decision *d)
{
    const char *class = v->text(v, "class");

    d->act = -7;
    if (class && strcmp(class, "hang") == 0)
        d->action = "dance";
    d->projected_ratio = v->number(v, "no such figure") > 0 ? 1 : -INFINITY;
    memset(d->reason, 0xff, sizeof(d->reason)); /* no UTF-8, no end */
    memcpy(d->reason, "\033[2J lost", strlen("\033[2J lost"));
}

__attribute__((visibility("default"))) const struct site_policy syncguard_site_policy = {
    .version = SITE_POLICY_VERSION, .name = "odd", .text = "", .decide = decide
};
