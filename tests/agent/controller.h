/* controller.h - a small controller for tests: accepts agents' links and records what they send.
 * Runs on the test's own loop; wait_until() turns it. */
#ifndef SYNCGUARD_TESTS_AGENT_CONTROLLER_H
#define SYNCGUARD_TESTS_AGENT_CONTROLLER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/ends.h"
#include "wire/telemetry.h"

struct event_base;

#define SEEN_ITEMS_MAX 400000u

struct controller {
    struct event_base *base;
    struct test_end end;
    char hosts[64];
    char id[32];     /* id of the agent's process */
    bool no_acks;    /* takes batches and says nothing */
    int newest_item; /* in its welcome; 0: left out */
    void *listener, *link;
    uint64_t batch;    /* the last one of this agent's instance */
    char instance[32]; /* of the agent */
    int hellos, batches, gaps, bad;
    json_t *hello, *ranks, *stats, *notes; /* ranks: "RANK.APP": the newest description */
    bool bye;
    struct telemetry_item *items; /* of batches that were not had before */
    size_t n_items;
};

void controller_init(struct controller *c, struct event_base *base, const char *munge_socket);
void controller_free(struct controller *c);
/* Begin to listen (on the same port as before); as a new instance, when id is given. */
bool controller_up(struct controller *c, const char *id);
void controller_down(struct controller *c);   /* stop listening, close the link */
void controller_forget(struct controller *c); /* what was heard so far */
void controller_send(struct controller *c, const char *text);

/* Run the loop until check() is true, or so many seconds. */
bool wait_until(struct controller *c, bool (*check)(const struct controller *c), double seconds);
void run_for(struct controller *c, double seconds);
double clock_s(void);

#endif
