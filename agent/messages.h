/* messages.h - JSON messages between agent and controller, see doc/protocol.md.  The caller frees those returned. */
#ifndef SYNCGUARD_AGENT_MESSAGES_H
#define SYNCGUARD_AGENT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/arguments.h"
#include "agent/unseen.h"
#include "agent/rank.h"
#include "ring/control_page.h"

/* instance: id of this agent process; notes, unseen: lent; unseen of message_unseen(), or NULL. */
json_t *message_hello(const struct agent_arguments *o, const char *instance, uint64_t first_batch, json_t *notes, json_t *unseen);
/* Of what nothing is recorded; after_s: how long after the agent's start. */
json_t *message_unseen(enum unseen_reason reason, const struct unseen *u, double after_s);

struct agent_stats {
    double cpu_s, wall_s;
    uint64_t rss_bytes, backlog_bytes, lost_batches;
    double energy_j; /* NaN: unknown */
};
json_t *message_stats(const struct agent_stats *s);

/* Read a control message.  Keys that are missing leave their field as it is; values out of range are bounded. */
struct control_request {
    bool record;
    double rate_hz;
    struct call_window calls;
    struct control_page_pace pace; /* its generation is not used */
};
void message_control(const json_t *control, struct control_request *c);

#endif
