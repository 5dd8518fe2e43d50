/* messages.h - what the agent says to the controller in JSON, see doc/protocol.md. */
#ifndef SYNCGUARD_AGENT_MESSAGES_H
#define SYNCGUARD_AGENT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/arguments.h"
#include "ring/control_page.h"

/* A string as JSON, whatever its bytes are (what is no UTF-8 becomes '?'); null for NULL. */
json_t *message_text(const char *text);

/* life: of this agent; notes: lent. */
json_t *message_hello(const struct arguments *o, const char *life, uint64_t first_batch, json_t *notes);

struct agent_stats {
    double cpu_s, wall_s;
    uint64_t rss_bytes, backlog_bytes, lost_batches;
    double energy_j; /* NaN: unknown */
};
json_t *message_stats(const struct agent_stats *s);

/* What the controller says.  Absent parts are left as they are; what cannot be is bounded. */
struct control_request {
    bool record, whole;
    double rate_hz;
    struct control_page_pace pace; /* its generation is not used */
};
void message_control(const json_t *control, struct control_request *c);

#endif
