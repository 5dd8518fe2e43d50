#include "tui/keymap.h"

#include <stddef.h>

#include "term/term.h"
#include "tui/ui_state.h"

const struct keymap_entry keymap[] = {
    { KEY_ACTION_HELP, 0, { '?', 'h', TERM_KEY_F1 }, "? h F1", "help", "this help" },
    { KEY_ACTION_ON_JOB, USER_ACTION_EXCLUDE, { 'X' }, "X A C", "exclude", "exclude; seen; checkpoint" },
    { KEY_ACTION_ON_JOB, USER_ACTION_ACKNOWLEDGE, { 'A' }, NULL, "seen", NULL },
    { KEY_ACTION_ON_JOB, USER_ACTION_CHECKPOINT, { 'C' }, NULL, "checkpoint", NULL },
    { KEY_ACTION_ON_JOB, USER_ACTION_PACE, { 'P' }, "P Z", "pacing", "pacing, policy: on or off" },
    { KEY_ACTION_ON_JOB, USER_ACTION_PAUSE, { 'Z' }, NULL, "pause", NULL },
    { KEY_ACTION_PANEL, PANEL_EVIDENCE, { 'v' }, "v", "evidence", "evidence for the verdicts" },
    { KEY_ACTION_PANEL, PANEL_STEP, { 't' }, "t", "step", "one step, drawn" },
    { KEY_ACTION_PANEL, PANEL_PATH, { 'c' }, "c", "path", "the critical path" },
    { KEY_ACTION_PANEL, PANEL_SCALING, { 'x' }, "x", "scaling", "the job on more ranks" },
    { KEY_ACTION_PANEL, PANEL_WAYS, { 'w' }, "w", "ways", "other ways to run it" },
    { KEY_ACTION_PANEL, PANEL_POLICY, { 'p' }, "p", "policy", "policy, what was done" },
    { KEY_ACTION_PANEL, PANEL_SWITCHES, { 'T' }, "T", "switches", "the job on its switches" },
    { KEY_ACTION_FILTER, 0, { '/' }, "/", "filter", "rows with: alice cost>10" },
    { KEY_ACTION_SORT_MENU, 0, { 'o' }, "o s S > < r", "sort", "sort menu; next; reverse" },
    { KEY_ACTION_SORT_NEXT, 0, { 's', '>' }, NULL, NULL, NULL },
    { KEY_ACTION_SORT_PREVIOUS, 0, { 'S', '<' }, NULL, NULL, NULL },
    { KEY_ACTION_REVERSE, 0, { 'r' }, NULL, NULL, NULL },
    { KEY_ACTION_OVERVIEW, 0, { 'm' }, "m e", "overview", "overview; ended or not" },
    { KEY_ACTION_FINISHED, 0, { 'e' }, NULL, NULL, NULL },
    { KEY_ACTION_FREEZE, 0, { ' ' }, "Space", "freeze", "freeze the picture; go on" },
    { KEY_ACTION_OPEN,
      0,
      { TERM_KEY_ENTER, '\r', TERM_KEY_RIGHT },
      "Enter Right",
      "open",
      "open the job (of a node)" },
    { KEY_ACTION_BACK,
      0,
      { TERM_KEY_ESC, 'q', TERM_KEY_LEFT },
      "Esc q Left",
      "back",
      "drop filter; back; quit" },
    { KEY_ACTION_QUIT, 0, { 'Q', 'C' & 0x1f }, "Q Ctrl-C", "quit", "quit" },
    { KEY_ACTION_UP, 0, { TERM_KEY_UP, 'k' }, "Up Down k j", NULL, "one row" },
    { KEY_ACTION_DOWN, 0, { TERM_KEY_DOWN, 'j' }, NULL, NULL, NULL },
    { KEY_ACTION_PAGE_UP, 0, { TERM_KEY_PAGE_UP, 'b' }, "PgUp PgDn b f", NULL, "one page" },
    { KEY_ACTION_PAGE_DOWN, 0, { TERM_KEY_PAGE_DOWN, 'f' }, NULL, NULL, NULL },
    { KEY_ACTION_HOME, 0, { TERM_KEY_HOME, 'g' }, "Home End g G", NULL, "the first row, the last" },
    { KEY_ACTION_END, 0, { TERM_KEY_END, 'G' }, NULL, NULL, NULL },
    { KEY_ACTION_NEXT_SCREEN, 0, { '\t' }, "Tab 1 2 3", "screen", "next; jobs, job, nodes" },
    { KEY_ACTION_PREVIOUS_SCREEN, 0, { TERM_KEY_BACKTAB }, NULL, NULL, NULL },
    { KEY_ACTION_SCREEN, 0, { '1' }, NULL, NULL, NULL },
    { KEY_ACTION_SCREEN, 1, { '2' }, NULL, NULL, NULL },
    { KEY_ACTION_SCREEN, 2, { '3' }, NULL, NULL, NULL },
    { KEY_ACTION_REDRAW, 0, { 'L' & 0x1f }, "Ctrl-L", NULL, "paint all again" },
    { 0 },
};

const struct keymap_entry keymap_replay[] = {
    { KEY_ACTION_PAUSE, 0, { ' ' }, "Space", "pause", "pause the replay; go on" },
    { KEY_ACTION_SPEED, 1, { '+', '=' }, "+ -", "speed", "faster, slower" },
    { KEY_ACTION_SPEED, -1, { '-', '_' }, NULL, NULL, NULL },
    { KEY_ACTION_SEEK, -1, { TERM_KEY_LEFT }, "Left Right", "seek", "10 s back, 10 s on" },
    { KEY_ACTION_SEEK, 1, { TERM_KEY_RIGHT }, NULL, NULL, NULL },
    { KEY_ACTION_SEEK_STEP, -1, { 'p' }, "p n", NULL, "one step back, one on" },
    { KEY_ACTION_SEEK_STEP, 1, { 'n' }, NULL, NULL, NULL },
    { KEY_ACTION_SEEK_BEGIN, 0, { TERM_KEY_HOME }, "Home End", NULL, "the beginning, the end" },
    { KEY_ACTION_SEEK_END, 0, { TERM_KEY_END }, NULL, NULL, NULL },
    { 0 },
};

static const struct keymap_entry *find(const struct keymap_entry *table, int key)
{
    for (const struct keymap_entry *e = table; e->action; e++)
        for (size_t i = 0; i < sizeof(e->key) / sizeof(*e->key) && e->key[i]; i++)
            if (e->key[i] == key)
                return e;
    return NULL;
}

enum key_action keymap_find(int key, bool replay, int *arg)
{
    const struct keymap_entry *e = replay ? find(keymap_replay, key) : NULL;

    if (!e)
        e = find(keymap, key);
    *arg = e ? e->arg : 0;
    return e ? e->action : KEY_ACTION_NONE;
}

bool keymap_replaced(const struct keymap_entry *e)
{
    const struct keymap_entry *other = find(keymap_replay, e->key[0]);

    return other && other->action != e->action;
}

void keymap_print_help(const struct keymap_entry *table, FILE *out)
{
    for (const struct keymap_entry *e = table; e->action; e++)
        if (e->keys)
            fprintf(out, "  %-26s %s\n", e->keys, e->text);
}
