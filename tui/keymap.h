/* keymap.h - what the keys do: one table that the main loop, the `?` help, the bottom line, --help and the
 * manual page read. */
#ifndef SYNCGUARD_TUI_KEYMAP_H
#define SYNCGUARD_TUI_KEYMAP_H

#include <stdbool.h>
#include <stdio.h>

enum action {
    ACTION_NONE,
    ACTION_HELP,
    ACTION_FILTER,
    ACTION_SORT_NEXT,
    ACTION_SORT_PREVIOUS,
    ACTION_REVERSE,
    ACTION_FREEZE,
    ACTION_OPEN,
    ACTION_BACK,
    ACTION_UP,
    ACTION_DOWN,
    ACTION_PAGE_UP,
    ACTION_PAGE_DOWN,
    ACTION_HOME,
    ACTION_END,
    ACTION_NEXT_SCREEN,
    ACTION_PREVIOUS_SCREEN,
    ACTION_SCREEN, /* arg: which; 1, 2, 3 */
    ACTION_PANEL,  /* arg: enum panel of ui.h; again: the ranks */
    ACTION_DEED,   /* arg: enum deed_kind of deed.h */
    ACTION_FINISHED,
    ACTION_REDRAW,
    ACTION_QUIT,
    /* of a trace that is replayed */
    ACTION_PAUSE,
    ACTION_SPEED,     /* arg: +1 faster, -1 slower */
    ACTION_SEEK,      /* arg: +1 on, -1 back */
    ACTION_SEEK_STEP, /* the same by a step of the job */
    ACTION_SEEK_BEGIN,
    ACTION_SEEK_END,
    /* only the mouse has these */
    ACTION_ROW,   /* arg: which row; a second click opens it */
    ACTION_SORT,  /* arg: which column */
    ACTION_WHEEL, /* arg: rows, down positive */
};

/* Keys that are no character. */
enum {
    KEYMAP_UP = 0x110000,
    KEYMAP_DOWN,
    KEYMAP_LEFT,
    KEYMAP_RIGHT,
    KEYMAP_PAGE_UP,
    KEYMAP_PAGE_DOWN,
    KEYMAP_HOME,
    KEYMAP_END,
    KEYMAP_BACKTAB,
    KEYMAP_BACKSPACE,
    KEYMAP_F1,
};
#define KEYMAP_ESC   27
#define KEYMAP_ENTER '\n'

struct keymap_entry {
    enum action action;
    int arg;
    int key[4];        /* 0 ends */
    const char *keys;  /* as people write them; NULL: told of by the entry before */
    const char *label; /* for the bottom line, or NULL */
    const char *text;  /* what it does */
};

/* End with action ACTION_NONE. The second has the keys while a trace is replayed; they go before those of the
 * first. */
extern const struct keymap_entry keymap[], keymap_replay[];

/* The action of a key, ACTION_NONE for none. */
enum action keymap_find(int key, bool replay, int *arg);
/* While a trace is replayed, the entry's first key does something else. */
bool keymap_replaced(const struct keymap_entry *e);
/* A table as the manual page has it (mdoc), and as --help has it. */
void keymap_print_mdoc(const struct keymap_entry *table, FILE *out);
void keymap_print_help(const struct keymap_entry *table, FILE *out);

#endif
