#include "tui/keymap.h"

#include <stddef.h>

#include "tui/ui.h"

const struct keymap_entry keymap[] = {
    { ACTION_HELP, 0, { '?', 'h', KEYMAP_F1 }, "? h F1", "help", "this help" },
    { ACTION_PANEL, PANEL_EVIDENCE, { 'v' }, "v", "evidence", "evidence for the verdicts" },
    { ACTION_PANEL, PANEL_PATH, { 'c' }, "c", "path", "the critical path" },
    { ACTION_FILTER, 0, { '/' }, "/", "filter", "only rows with a text" },
    { ACTION_SORT_NEXT, 0, { 's', '>' }, "s S > <", "sort", "sort by next column; back" },
    { ACTION_SORT_PREVIOUS, 0, { 'S', '<' }, NULL, NULL, NULL },
    { ACTION_REVERSE, 0, { 'r' }, "r", NULL, "reverse the order" },
    { ACTION_FREEZE, 0, { ' ' }, "Space", "freeze", "freeze the picture; go on" },
    { ACTION_OPEN,
      0,
      { KEYMAP_ENTER, '\r', KEYMAP_RIGHT },
      "Enter Right",
      "open",
      "open the job (of a node)" },
    { ACTION_BACK, 0, { KEYMAP_ESC, 'q', KEYMAP_LEFT }, "Esc q Left", "back", "drop filter; back; quit" },
    { ACTION_UP, 0, { KEYMAP_UP, 'k' }, "Up Down k j", NULL, "one row" },
    { ACTION_DOWN, 0, { KEYMAP_DOWN, 'j' }, NULL, NULL, NULL },
    { ACTION_PAGE_UP, 0, { KEYMAP_PAGE_UP, 'b' }, "PgUp PgDn b f", NULL, "one page" },
    { ACTION_PAGE_DOWN, 0, { KEYMAP_PAGE_DOWN, 'f' }, NULL, NULL, NULL },
    { ACTION_HOME, 0, { KEYMAP_HOME, 'g' }, "Home End g G", NULL, "the first row, the last" },
    { ACTION_END, 0, { KEYMAP_END, 'G' }, NULL, NULL, NULL },
    { ACTION_NEXT_SCREEN, 0, { '\t' }, "Tab Shift-Tab", "screen", "next screen, one before" },
    { ACTION_PREVIOUS_SCREEN, 0, { KEYMAP_BACKTAB }, NULL, NULL, NULL },
    { ACTION_SCREEN, 0, { '1' }, "1 2 3", NULL, "jobs, the job, nodes" },
    { ACTION_SCREEN, 1, { '2' }, NULL, NULL, NULL },
    { ACTION_SCREEN, 2, { '3' }, NULL, NULL, NULL },
    { ACTION_FINISHED, 0, { 'e' }, "e", NULL, "show or hide ended jobs" },
    { ACTION_REDRAW, 0, { 'L' & 0x1f }, "Ctrl-L", NULL, "paint all again" },
    { ACTION_QUIT, 0, { 'Q', 'C' & 0x1f }, "Q Ctrl-C", "quit", "quit" },
    { 0 },
};

enum action keymap_find(int key, int *arg)
{
    for (const struct keymap_entry *e = keymap; e->action; e++)
        for (size_t i = 0; i < sizeof(e->key) / sizeof(*e->key) && e->key[i]; i++)
            if (e->key[i] == key) {
                *arg = e->arg;
                return e->action;
            }
    *arg = 0;
    return ACTION_NONE;
}

void keymap_print_mdoc(FILE *out)
{
    for (const struct keymap_entry *e = keymap; e->action; e++)
        if (e->keys)
            fprintf(out, ".It Ic %s\n%s\n", e->keys, e->text);
}

void keymap_print_help(FILE *out)
{
    for (const struct keymap_entry *e = keymap; e->action; e++)
        if (e->keys)
            fprintf(out, "  %-26s %s\n", e->keys, e->text);
}
