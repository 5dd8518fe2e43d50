/* report_agent.h - a node's agent as it is reported: filled by the controller, written as JSON, and read from
 * it by pages and screens (sgctl(1), "agents").
 *
 * Units: seconds, bytes; unknown is NaN or "". */
#ifndef SYNCGUARD_REPORT_REPORT_AGENT_H
#define SYNCGUARD_REPORT_REPORT_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/report_health.h"

struct report_agent {
    char node[64], switch_name[64], version[32];
    bool connected, ended; /* ended: in good order */
    double cpu_ratio;      /* of a core */
    double rss_bytes, backlog_bytes, lost_batches;
    double age_s;                /* since it was last heard */
    struct report_health health; /* of its node */
};
json_t *report_agent_json(const struct report_agent *a); /* the caller's */
void report_agent_read(struct report_agent *a, const json_t *o);

#endif
