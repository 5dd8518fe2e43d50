/* marks.h - what a rank's program marks of its steps (ring/marks.h), as telemetry: how long the phases of its
 * steps took, and the values that it reports.
 *
 * The job itself writes them: sums that shrink are not believed, the controller bounds the rest. */
#ifndef SYNCGUARD_AGENT_MARKS_H
#define SYNCGUARD_AGENT_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/marks.h"
#include "sampling/flow.h"

struct marks_sent { /* of a rank; initially all zero */
    struct marks_figures f;
    unsigned quiet_s; /* since all of it was sent */
};

/* Is there anything to send?  due: a second has passed since it last was true; otherwise only whether a value
 * ceased or began to be finite, which the controller learns at once. */
bool marks_news(const struct marks_sent *s, const struct marks_figures *f, bool due);
/* Puts it; now_ns: CLOCK_MONOTONIC.  To be called when there is news, and when due, with that. */
void marks_send(struct marks_sent *s, const struct marks_figures *f, uint32_t rank, uint16_t app,
                uint64_t now_ns, bool due, flow_sink *put, void *arg);

#endif
