/* brief.h - a job in a few rows: what it is, what the costliest verdict costs, where, how that changes, and
 * what to do.  Each row says what the sentence of the report stands on, by the same verdict; what is not
 * known has no row.  Pure: reads the report of a job or of a trace. */
#ifndef SYNCGUARD_CTL_BRIEF_H
#define SYNCGUARD_CTL_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

#define BRIEF_ROWS 9

struct brief {
    bool healthy; /* it was judged, and there is nothing to be said but that */
    size_t n;
    struct brief_row {
        const char *label;
        char text[1024];
    } row[BRIEF_ROWS];
};
void brief_get(struct brief *b, const struct report *r);

/* What to do about a verdict; "": nothing is known to help.  Returns buf. */
char *brief_advice(char *buf, size_t size, const struct report *r, const struct report_verdict *verdict);

#endif
