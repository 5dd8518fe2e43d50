/* overview.h - the jobs as short cells side by side, for many of them: in each the job, and what the worst
 * verdict costs or, where that is not the point, how the job is.  The cells are the list's rows, in its
 * order, down and then to the right. */
#ifndef SYNCGUARD_TUI_OVERVIEW_H
#define SYNCGUARD_TUI_OVERVIEW_H

#include "term/canvas.h"
#include "tui/ui_state.h"

/* Cells side by side in that width, 1 at least. */
int overview_across(const struct ui *ui, int width);
/* How many jobs there are of each kind, in row y, and as many rows of cells below it. */
void overview_draw(struct canvas *c, const struct ui *ui, int y, int rows);

#endif
