/* report_seen.h - how much of a job is seen, as it is reported: what its probes recorded and lost, agents
 * that are not heard, processes of which nothing is recorded (sgctl(1), "probe", "agents_silent",
 * "agents_missing" and "unseen").  A key is a member, a row of report_seen.c's tables, and where it is
 * filled.
 *
 * Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_SEEN_H
#define SYNCGUARD_REPORT_REPORT_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/json.h"

struct report_probe {
    bool known;
    int64_t events, dropped, missed, messages_missed, streams_forgotten, comms_missed;
    int64_t messages_unplaced, comms_disputed;
    int64_t tasks; /* of the step; a launcher that is one starts several ranks */
    int64_t ranks_guarded, ranks_total;
    double overhead_ratio; /* of the ranks' time */
};

/* Agents that are not heard and did not end in good order; nodes of which no agent was ever heard. */
struct report_silent {
    int64_t number;
    struct json_texts nodes; /* of the first */
};
/* "n1, n2 and 12 more": at most max of their names, and how many there are beside these; empty where no name
 * is known.  Returns buf. */
char *report_silent_names(const struct report_silent *s, size_t max, char *buf, size_t size);

struct report_unseen {
    bool known;
    char reason[16];
    int64_t processes, nodes;
    char node[64], text[352]; /* of the first */
};

extern const struct json_field report_probe_fields[], report_silent_fields[], report_unseen_fields[];

#endif
