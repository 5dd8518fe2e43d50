/* job_line.h - a job as a line of a list, for sgtop and `sgctl jobs`: how it is in a word, its state, what
 * its worst verdict costs and whom that names; the order of the lines, and which of them a filter keeps.
 *
 * Of a job that has ended the verdicts are those of its run.  Unknown is NaN or "". */
#ifndef SYNCGUARD_REPORT_JOB_LINE_H
#define SYNCGUARD_REPORT_JOB_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report_row.h"

/* "OK", "SLOW", "HUNG", "LOST", ...: how bad it is, for those who see no colours. */
const char *job_line_tag(const struct report_row *j);

/* "running", "ended 3m ago", "lost 12 s ago".  Returns buf. */
char *job_line_state(const struct report_row *j, char *buf, size_t size);

/* The share of the step time that would be saved without the worst verdict, 0 to 1: that is the figure of the
 * sentence; 1 of a job in which nothing moves.  NaN: there is no verdict, or its price is not known. */
double job_line_cost(const struct report_row *j);

/* Whom the worst verdict names, "r3, r9 +14", or its class where it names nobody.  Returns buf. */
char *job_line_culprit(const struct report_row *j, char *buf, size_t size);

/* < 0: a stands above b.  Running jobs come before those that ended, of which a lost one is one; of the
 * running ones those that do no work, then the costliest; of the others the newest. */
int job_line_compare(const struct report_row *a, const struct report_row *b);

/* Is the job in the state that the word begins, in any case?  "ended" is finished or lost. */
bool job_line_in_state(const struct report_row *j, const char *word);

struct job_filter {
    const char *state; /* NULL: any */
    double cost;       /* at least that, a ratio; NaN: any */
};
bool job_line_wanted(const struct report_row *j, const struct job_filter *f);

#endif
