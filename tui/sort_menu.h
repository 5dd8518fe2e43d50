/* sort_menu.h - the menu of what a list can be sorted by: its columns, also those that have no room on the
 * screen.  It stands in the list's place until one is chosen. */
#ifndef SYNCGUARD_TUI_SORT_MENU_H
#define SYNCGUARD_TUI_SORT_MENU_H

#include "term/canvas.h"
#include "tui/keymap.h"
#include "tui/ui_state.h"

/* Its cursor stands on the present order. */
void sort_menu_open(struct ui *ui);
/* What the key does to the open menu: another row, or it closes.  True: the row under the cursor was chosen
 * (ui->sort_menu.column). */
bool sort_menu_act(struct ui *ui, enum key_action action);
/* In the rows between title and bottom line; a click on a row is KEY_ACTION_SORT. */
void sort_menu_draw(struct canvas *c, const struct ui *ui);

#endif
