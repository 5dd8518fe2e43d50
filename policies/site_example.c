/* site_example.c - a site's own policy: request a checkpoint when a culprit costs as much as one node of the
 * run or more.
 *
 *   cc -shared -fPIC -I/usr/include/syncguard -o /etc/syncguard/ours.so site_example.c
 *   syncguard.conf: PolicyModule=/etc/syncguard/ours.so
 *                   Rule=save Policy=large-train Module=node-equivalents Action=checkpoint Hold=2m
 *                   CoolDown=1h
 */
#include "site.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A node is one percent of a run on a hundred nodes, and ten percent of one on ten. */
static void decide(const struct site_view *v, struct site_decision *d)
{
    double nodes = v->number(v, "nodes"), slowdown = v->number(v, "slowdown");
    const char *class = v->text(v, "class");

    if (isnan(nodes) || isnan(slowdown) || !class)
        return;
    if (nodes * (1 - 1 / slowdown) < 1)
        return;
    d->act = 1;
    snprintf(d->reason, sizeof(d->reason), "%.1f of %.0f nodes are lost to %s", nodes * (1 - 1 / slowdown),
             nodes, class);
}

__attribute__((visibility("default"))) const struct site_policy syncguard_site_policy = {
    .version = SITE_POLICY_VERSION,
    .name = "node-equivalents",
    .text = "Acts when what the culprit costs comes to a node or more.",
    .decide = decide,
};
