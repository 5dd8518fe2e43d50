/* site.h - a policy that a site compiles itself, for the controller of SyncGuard to load.
 *
 * A shared object that exports `const struct site_policy syncguard_site_policy`, named by PolicyModule= in
 * syncguard.conf and by Module= of the rules that ask it. Once a second the controller shows it each job
 * whose policy has such a rule; what it decides goes the way of every rule: hold time, cool-down, budgets,
 * dry run, audit. It runs in the controller's one thread: decide() returns at once, does no input or output,
 * and keeps nothing of what it was lent. The file belongs to root and nobody else may write it. This header
 * needs no other.
 *
 *   cc -shared -fPIC -o mine.so mine.c
 */
#ifndef SYNCGUARD_SITE_H
#define SYNCGUARD_SITE_H

#include <stddef.h>

#define SITE_POLICY_VERSION 1u

/* A job at this moment; lent for the call.  A newer controller's may be larger: what is here stays. */
struct site_view {
    unsigned version;   /* of the controller's interface */
    const char *job;    /* "123.0" */
    const char *policy; /* of the job */
    double now_s;       /* a clock that only grows */
    /* A figure by its name, as `sgctl policy figures` lists them, in SI. NaN: unknown, or there is none such.
     * A flag is 0 or 1. */
    double (*number)(const struct site_view *v, const char *figure);
    /* A word or a text: "straggler". NULL: unknown, or there is none such. */
    const char *(*text)(const struct site_view *v, const char *figure);
    const char *const *node; /* of the culprits of the most costly verdict */
    size_t n_nodes;
    const void *controllers; /* not yours */
};

/* What should be done; comes with all set to "nothing". */
struct site_decision {
    int act;                /* not 0: the rule's condition is true, as long as this says so */
    const char *action;     /* another action than the rule's, such as "checkpoint"; NULL: the rule's */
    double projected_ratio; /* the step time afterwards over now, 0.001 to 1000; NaN: no idea */
    char reason[160];       /* a few words for people */
};

struct site_policy {
    unsigned version;        /* SITE_POLICY_VERSION as it was compiled */
    const char *name, *text; /* for Module= of rules; a sentence */
    void (*decide)(const struct site_view *v, struct site_decision *d);
};

#endif
