/* report_print.h - a controller's answer printed as one JSON object while its long lists arrive.
 *
 * An answer with "rows_later" lacks the rows of the lists named there (doc/protocol.md); they are asked for
 * page by page and printed in their places, so that memory does not grow with the job.  An answer without it
 * is printed as it is: of a small object, a history, or an earlier release.  All output is ASCII: a name in
 * it cannot drive a terminal. */
#ifndef SYNCGUARD_REPORT_REPORT_PRINT_H
#define SYNCGUARD_REPORT_REPORT_PRINT_H

#include <jansson.h>
#include <stdio.h>

#include "common/err.h"

/* The answer to a question, the caller's; NULL with the reason. */
typedef json_t *report_ask(const json_t *question, void *arg, struct err *err);

/* The question for all of a job. */
json_t *report_print_question(const char *job);
/* -1 with the reason when a page does not come or makes no sense: what was printed is no whole object then.
 */
int report_print(FILE *out, const json_t *answer, report_ask *ask, void *arg, struct err *err);

#endif
