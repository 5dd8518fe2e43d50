/* look.h - how facts look: colours and letters of severities and of classes of verdicts, and the shares of
 * the time. */
#ifndef SYNCGUARD_TUI_LOOK_H
#define SYNCGUARD_TUI_LOOK_H

#include <stddef.h>

#include "term/canvas.h"
#include "report/report.h"

enum style look_severity_style(enum severity s);
enum style look_severity_tag_style(enum severity s); /* as a filled label */
/* How bad it is now: SEVERITY_NONE of a job that has ended, and of a verdict that is over. */
enum severity look_job_severity(const struct report_row *j);
enum severity look_verdict_severity(const struct report_verdict *v);
enum style look_class_style(const char *class);

/* A class of verdicts in one column, in its colour: "S" of a straggler; "?" of one that is unknown here. */
void look_class_draw(struct canvas *c, int y, int x, const char *class);
/* "S straggler  D drift ...", in their colours, over as many rows as it takes; returns how many. */
int look_classes_draw(struct canvas *c, int y, int x, int width);
/* Shares of the time as one stacked bar. */
void look_shares_draw(struct canvas *c, int y, int x, int width, const double share[SHARES]);

#endif
