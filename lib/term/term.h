/* term.h - the terminal, by ncurses: the only place that knows colours and key codes.
 * It shows canvases; ncurses sends what changed and nothing else.  The terminal is put back on every way out,
 * also when the program crashes. */
#ifndef SYNCGUARD_TERM_TERM_H
#define SYNCGUARD_TERM_TERM_H

#include <stdbool.h>

#include "common/err.h"
#include "term/canvas.h"

/* Whether the terminal on standard output can place its cursor, as a dumb one cannot.  Of a type that is not
 * known here: it may, and term_open() has the reason. */
bool term_can_draw(void);

/* Takes standard input and output.  -1 with the reason when TERM cannot do it. */
int term_open(bool mono, struct err *err);
void term_close(void); /* also when it was not open, and twice */

void term_size(int *width, int *height);
void term_resized(void); /* after SIGWINCH */
/* Only cells that differ from the last picture are touched; false: nothing changed, nothing sent. */
bool term_show(const struct canvas *c);
void term_repaint(void); /* the content of the screen is unknown: send all of it next time */

/* Around being stopped (Ctrl-Z). */
void term_suspend(void);
void term_resume(void);

/* Keys that are no characters. */
enum {
    TERM_KEY_UP = 0x110000,
    TERM_KEY_DOWN,
    TERM_KEY_LEFT,
    TERM_KEY_RIGHT,
    TERM_KEY_PAGE_UP,
    TERM_KEY_PAGE_DOWN,
    TERM_KEY_HOME,
    TERM_KEY_END,
    TERM_KEY_BACKTAB,
    TERM_KEY_BACKSPACE,
    TERM_KEY_F1,
};
#define TERM_KEY_ESC   27
#define TERM_KEY_ENTER '\n'

struct term_input {
    int key;         /* a character, or one of the keys above; 0: the mouse */
    int y, x, wheel; /* wheel: rows to move by; 0: a click */
};
/* The next thing typed, false when there is none now. */
bool term_read(struct term_input *in);

#endif
