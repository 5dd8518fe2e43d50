/* screen.h - the screens: each draws a part of the state and owns no data.
 * The title and the bottom line are the frame's (frame.h); a screen has the rows between. */
#ifndef SYNCGUARD_TUI_SCREEN_H
#define SYNCGUARD_TUI_SCREEN_H

#include "term/table.h"
#include "tui/ui_state.h"

struct screen_ops {
    const char *title;
    const struct table_column *columns;
    int n_columns;
    int sort; /* the column to begin with */
    void (*draw)(struct canvas *c, const struct ui *ui);
    unsigned (*hidden)(const struct ui *ui,
                       int width); /* a bit for each column that is not shown at that width */
    int (*rows)(const struct ui *ui, int width, int height); /* room for rows of the table */
    int (*natural)(const struct ui *ui, int width);          /* the height at which it shows everything */
};

extern const struct screen_ops screen_jobs, screen_job, screen_nodes;
extern const struct screen_ops *const screens[SCREENS];

/* The help, from ui->help_scroll.top on; all rows that it has at that width. */
void screen_help_draw(struct canvas *c, const struct ui *ui);
int screen_help_rows(const struct ui *ui, int width);

/* Rows of cells that the overview of jobs has. */
int screen_jobs_cell_rows(int height);

/* Columns of the heat map at that width: as many as are asked for. */
int screen_job_heat_columns(const struct ui *ui, int width);

/* Rows that its table can have at most on this screen: as many as are asked for. */
int screen_job_rows_max(const struct ui *ui);

/* Ranks that a drawn step has room for, so that all of it is seen at once. */
int screen_job_picture_rows(const struct ui *ui);

/* Rows above a panel: the title, the sentence, what was found. */
int screen_job_head_rows(const struct ui *ui);

/* A screen that is one table, that of ops: titles, rows, and the text empty where there are none. */
void screen_list_draw(struct canvas *c, const struct ui *ui, const struct screen_ops *ops,
                      const void *(*row)(const struct ui *ui, int i), const char *empty);

/* The rows of the list, with cursor and clicks; row gives the i-th row's data, context goes to its columns.
 * The first plain columns of each are reversed under the cursor. */
struct screen_rows {
    int y, height;
    const struct table_layout *layout;
    const struct table_column *columns;
    const void *(*row)(const struct ui *ui, int i);
    const void *context;
    int plain;
};
void screen_rows_draw(struct canvas *c, const struct ui *ui, const struct screen_rows *r);

#endif
