/* analyze.h - the verdicts and figures that the controller would have reported of a recorded trace.
 *
 * The report as JSON (sgctl(1), "analyze") has the keys of a job's answer, where they apply, so that a
 * program can read both. Nothing in it depends on this machine, its clock, or on how the file was read. */
#ifndef SYNCGUARD_CTL_ANALYZE_H
#define SYNCGUARD_CTL_ANALYZE_H

#include <stdbool.h>

#include "report/report.h"
#include "trace/reader.h"

/* What a reader has taken so far; report_free() while the reader is there, which lends it the picture. whole:
 * with all ranks and the newest step drawn, for a page.  Its timeline has minor verdicts, too. */
struct report *analyze_report(struct trace_reader *r, bool whole);
/* Does a verdict stand at the end that is not minor? */
bool analyze_stands(const struct report *report);

#endif
