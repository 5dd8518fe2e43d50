/* openmetrics.h - what the controller and its jobs do, as metrics for Prometheus and all who read its
 * formats.
 *
 * Formats: OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), and Prometheus' text
 * format 0.0.4, which names the families of counters differently.  What is unknown has no sample; nothing is
 * 0 for want of a figure.
 *
 * How many series there are is bounded: OPENMETRICS_JOB_SERIES a job whatever its size, since ranks and nodes
 * are no labels.  A job's label is job_id: Prometheus gives `job` to all that it scrapes, and would rename
 * ours. */
#ifndef SYNCGUARD_REPORT_OPENMETRICS_H
#define SYNCGUARD_REPORT_OPENMETRICS_H

#include <stddef.h>

#include "report/report_row.h"
#include "report/report_status.h"

#define OPENMETRICS_JOB_SERIES   19 /* at most */
#define OPENMETRICS_OWN_SERIES   20 /* of the controller, at most */
#define OPENMETRICS_VERDICTS_MAX 3  /* of a job, the most costly ones */

enum openmetrics_format { OPENMETRICS_1_0, OPENMETRICS_PROMETHEUS };

/* What to answer to a request whose Accept: header is this (NULL: none), and the type of content to answer
 * with. */
enum openmetrics_format openmetrics_accepted(const char *accept);
const char *openmetrics_type(enum openmetrics_format format);

/* Of the controller and of n running jobs.  Of more than jobs_max jobs those with the most ranks are written,
 * and the number of the others.  Text that the caller frees; *bytes is its length.  NULL: out of memory. */
char *openmetrics_text(const struct report_status *status, const struct report_row *job, size_t n,
                       size_t jobs_max, enum openmetrics_format format, size_t *bytes);

#endif
