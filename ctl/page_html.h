/* page_html.h - a report as a page for a browser, to be sent to somebody who has no SyncGuard: one file
 * without scripts and without anything from elsewhere, light or dark as the reader's system is.  It has the
 * rows of the short report, the verdicts with what to do, charts, the newest step drawn, and the whole report
 * in words.
 *
 * Bounded whatever the job's size: of the map of lateness a row is the latest of as many ranks as it takes to
 * have CHART_ROWS_MAX rows. What the answer lacks is said to be not measured. */
#ifndef SYNCGUARD_CTL_PAGE_HTML_H
#define SYNCGUARD_CTL_PAGE_HTML_H

#include <stdio.h>

struct report;

/* Of a job, with its picture, columns and all rows of heat (ctl/gather.h); or of a trace, likewise.  Without
 * minor verdicts. */
void page_html(FILE *out, const struct report *r);

#endif
