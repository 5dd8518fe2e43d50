/* frame.h - the whole picture: title, screen or help, bottom line; and what stands in place of a screen that
 * has nothing to show yet.  Draws the state of the terminal and changes nothing in it. */
#ifndef SYNCGUARD_TUI_FRAME_H
#define SYNCGUARD_TUI_FRAME_H

#include "term/canvas.h"
#include "tui/ui_state.h"

/* Smaller canvases have only a line that says so, unless the picture is a report. */
#define FRAME_WIDTH_MIN  60
#define FRAME_HEIGHT_MIN 16

/* After ui_fit() to the size of c. */
void frame_draw(struct canvas *c, const struct ui *ui);
/* The height at which the screen shows everything that it has. */
int frame_natural_height(const struct ui *ui, int width);

#endif
