/* sheet.h - a canvas that is filled from top to bottom: texts, headings, tables.
 * Each function draws at row y and returns the row below what it drew. */
#ifndef SYNCGUARD_TERM_SHEET_H
#define SYNCGUARD_TERM_SHEET_H

#include <stddef.h>

#include "term/canvas.h"
#include "term/table.h"

/* A text from column x on, over as many rows as it needs, at most 12. */
int sheet_text(struct canvas *c, int y, int x, enum style style, const char *text);
/* The heading of a part, below a blank row unless it is the first. */
int sheet_heading(struct canvas *c, int y, const char *text);
/* The titles of a table; its columns are fitted to the width of the canvas, into l. */
int sheet_titles(struct canvas *c, int y, struct table_layout *l, const struct table_column *columns, int n);
/* The titles and all n_rows rows, of size bytes each. */
int sheet_table(struct canvas *c, int y, const struct table_column *columns, int n, const void *rows,
                size_t n_rows, size_t size);

#endif
