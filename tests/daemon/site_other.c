/* A site's policy as a later version of the interface would have it. */
#include "policies/site.h"

static void decide(const struct site_view *v, struct site_decision *d)
{
    (void)v;
    d->act = 1;
}

__attribute__((visibility("default"))) const struct site_policy syncguard_site_policy = {
    .version = 99, .name = "later", .text = "", .decide = decide
};
