/* ends.h - an accepting end for tests: a controller that this process vouches for. */
#ifndef SYNCGUARD_TESTS_ENDS_H
#define SYNCGUARD_TESTS_ENDS_H

#include <stdlib.h>
#include <string.h>

#include "wire/identity.h"
#include "wire/link.h"
#include "wire/verifier.h"

struct test_end {
    struct link_end end;
    struct identity *identity;
};

/* False when munged does not answer. */
static inline bool test_end_open(struct test_end *t, struct event_base *base, const char *munge_socket)
{
    struct err err;

    t->end = (struct link_end){ .munge_socket = munge_socket };
    t->end.identity = t->identity = identity_new(munge_socket, IDENTITY_CONTROLLER, NULL, &err);
    t->end.verifier = verifier_new(base, munge_socket, &err);
    return t->identity && t->end.verifier;
}

/* After its links. */
static inline void test_end_close(struct test_end *t)
{
    verifier_free(t->end.verifier);
    identity_free(t->identity);
}

/* Takes the object. */
static inline void test_send_json(struct link *l, json_t *o)
{
    char *text = json_dumps(o, JSON_COMPACT);

    link_send(l, LINK_JSON, text, strlen(text));
    free(text);
    json_decref(o);
}

struct test_step {
    unsigned uid, job, step, tasks, nodes;
    const char *node, *ranks; /* ranks as "0-3,8" */
};

/* The identity of a step's agent, for which this process vouches as the plugin would; NULL: munged does not
 * answer. */
static inline struct identity *test_step_identity(const char *munge_socket, const struct test_step *s)
{
    json_t *claims = json_pack("{s:i,s:i,s:i,s:i,s:i,s:s,s:s}", "uid", (int)s->uid, "job", (int)s->job,
                               "step", (int)s->step, "tasks", (int)s->tasks, "nodes", (int)s->nodes, "node",
                               s->node, "ranks", s->ranks);
    struct identity *i;
    struct err err;

    i = identity_new(munge_socket, IDENTITY_STEP, claims, &err);
    json_decref(claims);
    return i;
}

#endif
