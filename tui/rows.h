/* rows.h - which rows of a list are shown, in what order, and where its cursor stands.
 * Jobs and nodes are filtered and sorted here, a job's ranks by the controller. */
#ifndef SYNCGUARD_TUI_ROWS_H
#define SYNCGUARD_TUI_ROWS_H

#include "tui/ui_state.h"

/* The first row when the last one is seen. */
int rows_last_top(const struct ui_list *l);
/* Keep cursor and first row within what is there. */
void rows_clamp(struct ui_list *l);

/* Remember what the cursor stands on. */
void rows_hold(struct ui *ui, enum screen s);

/* Filter and sort again; the cursor follows the row that it was on.  At the top it stays at the top: there is
 * the worst. */
void rows_arrange(struct ui *ui, enum screen s);

#endif
