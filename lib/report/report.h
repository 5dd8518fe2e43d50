/* report.h - what is said of a job, or of a recorded trace: one struct, filled where the job is known,
 * written as JSON (sgctl(1), JSON), and read from it by pages and screens.
 *
 * What is read is bounded before it is believed: arrays are cut at the limits below, strings at their field
 * (at a character's boundary, control and text-direction characters become '?'), numbers that are not finite
 * or absurd are unknown.  A value of another type is unknown too; keys that are not known are ignored.
 * Unknown is NaN, -1 or "", as the type has it. */
#ifndef SYNCGUARD_REPORT_REPORT_H
#define SYNCGUARD_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "report/report_agent.h"
#include "report/report_cadence.h"
#include "report/report_comm.h"
#include "report/report_control.h"
#include "report/report_diagnosis.h"
#include "report/report_event.h"
#include "report/report_health.h"
#include "report/report_history.h"
#include "report/report_launch.h"
#include "report/report_marks.h"
#include "report/report_nodes.h"
#include "report/report_overlap.h"
#include "report/report_pace.h"
#include "report/report_past.h"
#include "report/report_rank.h"
#include "report/report_row.h"
#include "report/report_scaling.h"
#include "report/report_seen.h"
#include "report/report_status.h"
#include "report/report_step.h"
#include "report/report_strategies.h"
#include "report/report_switches.h"
#include "report/report_trace.h"
#include "report/report_updates.h"
#include "report/report_verdict.h"
#include "report/report_view.h"

/* The parameters of its policy that verdicts depend on. */
struct report_judged_by {
    bool known;
    double min_slowdown, hang_timeout_s, sample_rate_hz;
};

struct report { /* of a job; of a trace where trace.known is set */
    struct report_row job;
    struct report_trace trace; /* of a recorded one */
    struct report_placement placement;
    struct report_algorithm algorithm;
    struct report_probe probe;
    int64_t agents_total;
    struct report_silent silent, missing;
    struct report_unseen unseen;
    struct json_texts notes; /* of its agents */
    size_t n_agents;         /* that the answer lists */
    struct report_agent *agent;
    struct report_efficiency efficiency;
    struct report_path path;
    /* Whether they were asked for; of the newest step; NULL: none is known. */
    bool has_picture, has_switches;
    const struct picture *picture;
    struct picture *own_picture; /* picture, where no view lends it */
    struct report_switches *switches;
    struct report_cpu_lack cpu_lack;
    struct report_projection projection;
    struct report_scaling scaling;
    struct report_strategies strategies;
    struct report_overlap overlap;
    struct report_updates updates;
    struct report_step_phases step_phases;
    struct report_values values;
    struct report_guarded guarded;
    struct report_past past;
    struct report_cadence cadence;
    struct report_pace pace;
    struct report_control control;
    struct report_judged_by judged_by;
    struct report_verdicts timeline; /* the newest last */
    int64_t rank_total;              /* rows of the whole table */
    int64_t offset; /* of the first row in that table; the caller sets it to what was asked for */
    size_t n_ranks;
    struct report_rank *rank;
    struct report_heat heat;
    size_t n_heat; /* rows of the heat map, of ranks that the table does not have */
    struct report_heat_row *heat_row;
    struct report_history history;
    struct report_comms comms;
    struct report_shortfalls shortfalls;
    struct report_events events;
};

/* NULL with the reason: no object, the answer's own "error", or no job and no trace in it. */
struct report *report_read(const json_t *answer, struct err *err);
json_t *report_json(const struct report *r); /* the caller's */
void report_free(struct report *s);          /* NULL is fine */
/* How bad it is: as its row, but a job with communicators below expectation is not healthy. */
enum severity report_severity(const struct report *r);

#endif
