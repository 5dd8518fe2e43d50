/* keymap.h - what the keys do: one table that the main loop, the `?` help, the bottom line and --help read;
 * the manual page is compared with it. */
#ifndef SYNCGUARD_TUI_KEYMAP_H
#define SYNCGUARD_TUI_KEYMAP_H

#include <stdbool.h>
#include <stdio.h>

enum key_action {
    KEY_ACTION_NONE,
    KEY_ACTION_HELP,
    KEY_ACTION_FILTER,
    KEY_ACTION_SORT_MENU,
    KEY_ACTION_SORT_NEXT,
    KEY_ACTION_SORT_PREVIOUS,
    KEY_ACTION_REVERSE,
    KEY_ACTION_FREEZE,
    KEY_ACTION_OPEN,
    KEY_ACTION_BACK,
    KEY_ACTION_UP,
    KEY_ACTION_DOWN,
    KEY_ACTION_PAGE_UP,
    KEY_ACTION_PAGE_DOWN,
    KEY_ACTION_HOME,
    KEY_ACTION_END,
    KEY_ACTION_NEXT_SCREEN,
    KEY_ACTION_PREVIOUS_SCREEN,
    KEY_ACTION_SCREEN, /* arg: which; 1, 2, 3 */
    KEY_ACTION_PANEL,  /* arg: enum panel of ui_state.h; again: the ranks */
    KEY_ACTION_ON_JOB, /* arg: enum user_action_kind of ui_state.h */
    KEY_ACTION_FINISHED,
    KEY_ACTION_OVERVIEW,
    KEY_ACTION_REDRAW,
    KEY_ACTION_QUIT,
    /* of a trace that is replayed */
    KEY_ACTION_PAUSE,
    KEY_ACTION_SPEED,     /* arg: +1 faster, -1 slower */
    KEY_ACTION_SEEK,      /* arg: +1 on, -1 back */
    KEY_ACTION_SEEK_STEP, /* the same by a step of the job */
    KEY_ACTION_SEEK_BEGIN,
    KEY_ACTION_SEEK_END,
    /* only the mouse has these */
    KEY_ACTION_ROW,   /* arg: which row; a second click opens it */
    KEY_ACTION_SORT,  /* arg: which column */
    KEY_ACTION_WHEEL, /* arg: rows, down positive */
};

struct keymap_entry {
    enum key_action action;
    int arg;
    int key[4];        /* as term/term.h names them; 0 ends */
    const char *keys;  /* as people write them; NULL: the entry before covers it in lists */
    const char *label; /* for the bottom line, or NULL */
    const char *text;  /* what it does */
};

/* End with action KEY_ACTION_NONE. The second has the keys while a trace is replayed; they go before those
 * of the first. */
extern const struct keymap_entry keymap[], keymap_replay[];

/* The action of a key, KEY_ACTION_NONE for none. */
enum key_action keymap_find(int key, bool replay, int *arg);
/* While a trace is replayed, the entry's first key does something else. */
bool keymap_replaced(const struct keymap_entry *e);
/* A table as --help has it. */
void keymap_print_help(const struct keymap_entry *table, FILE *out);

#endif
