/* messages.h - JSON messages between agent and controller, see doc/protocol.md.  The caller frees those
 * returned. */
#ifndef SYNCGUARD_AGENT_MESSAGES_H
#define SYNCGUARD_AGENT_MESSAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/arguments.h"
#include "agent/unseen.h"
#include "agent/rank.h"
#include "ring/control_page.h"

/* What nothing is recorded of, as it was seen after_s after the agent's start. */
struct unseen_news {
    enum unseen_reason reason; /* UNSEEN_REASONS: there is nothing of that kind */
    struct unseen found;
    double after_s;
};
json_t *message_unseen(const struct unseen_news *u); /* NULL: there is none */

/* instance: id of this agent process. */
json_t *message_hello(const struct agent_arguments *o, const char *instance, uint64_t first_batch,
                      char *const *note, size_t n_notes, const struct unseen_news *u);

struct agent_stats {
    double cpu_s, wall_s;
    uint64_t rss_bytes, backlog_bytes, lost_batches;
    double energy_j; /* NaN: unknown */
};
json_t *message_stats(const struct agent_stats *s);

/* Read a control message.  Missing keys leave their field as it is; values out of range are bounded. */
struct control_request {
    bool record;
    double rate_hz;
    struct call_window calls;
    struct control_page_pace pace; /* its generation is not used */
};
void message_control(const json_t *control, struct control_request *c);

#endif
