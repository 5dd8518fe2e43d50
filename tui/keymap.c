#include "tui/keymap.h"

#include <stddef.h>

const struct keymap_entry keymap[] = {
    { ACTION_HELP, 0, { '?', 'h', KEYMAP_F1 }, "? h F1", "help", "this help" },
    { ACTION_FILTER, 0, { '/' }, "/", "filter", "only rows with a text" },
    { ACTION_SORT_NEXT, 0, { 's', '>' }, "s >", "sort", "sort by the next column" },
    { ACTION_SORT_PREVIOUS, 0, { 'S', '<' }, "S <", NULL, "sort by the column before" },
    { ACTION_REVERSE, 0, { 'r' }, "r", NULL, "reverse the order" },
    { ACTION_FREEZE, 0, { ' ' }, "Space", "freeze", "freeze the picture; go on" },
    { ACTION_OPEN,
      0,
      { KEYMAP_ENTER, '\r', KEYMAP_RIGHT },
      "Enter Right",
      "open",
      "open the job (of the node)" },
    { ACTION_BACK, 0, { KEYMAP_ESC, 'q', KEYMAP_LEFT }, "Esc q Left", "back", "drop filter; back; q quits" },
    { ACTION_UP, 0, { KEYMAP_UP, 'k' }, "Up k", NULL, "one row up" },
    { ACTION_DOWN, 0, { KEYMAP_DOWN, 'j' }, "Down j", NULL, "one row down" },
    { ACTION_PAGE_UP, 0, { KEYMAP_PAGE_UP, 'b' }, "PageUp b", NULL, "one page up" },
    { ACTION_PAGE_DOWN, 0, { KEYMAP_PAGE_DOWN, 'f' }, "PageDown f", NULL, "one page down" },
    { ACTION_HOME, 0, { KEYMAP_HOME, 'g' }, "Home g", NULL, "the first row" },
    { ACTION_END, 0, { KEYMAP_END, 'G' }, "End G", NULL, "the last row" },
    { ACTION_NEXT_SCREEN, 0, { '\t' }, "Tab", "screen", "the next screen" },
    { ACTION_PREVIOUS_SCREEN, 0, { KEYMAP_BACKTAB }, "Shift-Tab", NULL, "the screen before" },
    { ACTION_SCREEN, 0, { '1' }, "1", NULL, "the list of jobs" },
    { ACTION_SCREEN, 1, { '2' }, "2", NULL, "the job" },
    { ACTION_SCREEN, 2, { '3' }, "3", NULL, "the nodes" },
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
    return ACTION_NONE;
}

const struct keymap_entry *keymap_of(enum action action)
{
    const struct keymap_entry *e = keymap;

    while (e->action && e->action != action)
        e++;
    return e->action ? e : NULL;
}

void keymap_print_mdoc(FILE *out)
{
    for (const struct keymap_entry *e = keymap; e->action; e++)
        fprintf(out, ".It Ic %s\n%s\n", e->keys, e->text);
}
