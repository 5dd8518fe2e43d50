/* outlook.h - a job in one line each: what was found, and where it is going. */
#ifndef SYNCGUARD_TUI_OUTLOOK_H
#define SYNCGUARD_TUI_OUTLOOK_H

#include "term/canvas.h"
#include "report/report.h"

/* All verdicts with their price and age, each in its severity's colour; without any, above what nothing was
 * found. */
void outlook_verdicts(struct canvas *c, int y, int x, int width, const struct report_row *j);

/* The command to type about it. */
void outlook_next(struct canvas *c, int y, int x, int width, const struct report_verdict *v);

void outlook_projection_draw(struct canvas *c, int y, int x, int width, const struct report_projection *p);

#endif
