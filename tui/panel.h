/* panel.h - what a key lays over the job's ranks: the evidence for what was found, one step, the critical
 * path, the job on more ranks, other ways to run it, its policy, its switches. A panel is drawn as long as
 * it needs on a page of its own; the screen shows a part of it. */
#ifndef SYNCGUARD_TUI_PANEL_H
#define SYNCGUARD_TUI_PANEL_H

#include "term/canvas.h"
#include "tui/ui_state.h"

struct panel_ops {
    const char *title;
    int (*draw)(struct canvas *page, const struct ui *ui); /* from row 0; returns the rows that it took */
    bool (*has_content)(const struct report *v);           /* reports leave out a panel without */
};

extern const struct panel_ops panel_evidence, panel_step, panel_path, panel_scaling, panel_ways, panel_policy,
    panel_switches;

/* NULL: the ranks. */
const struct panel_ops *panel_of(enum panel p);

/* Rows of the panel shown at that width, and how many of them fit into height rows of the screen. */
int panel_rows(const struct ui *ui, int width);
int panel_room(const struct ui *ui, int height);
/* Title and the part of the panel from ui->panel_scroll.top on, from row y to the screen's last. */
void panel_draw(struct canvas *c, const struct ui *ui, int y);

#endif
