/* table.h - rows and columns on a canvas: which columns fit, where they stand, how they are sorted.
 * What a column shows is a function in a table of facts; the screens are those tables. */
#ifndef SYNCGUARD_TERM_TABLE_H
#define SYNCGUARD_TERM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "term/canvas.h"

#define TABLE_COLUMNS_MAX 24

struct table_column;

struct table_cell { /* where a value goes */
    const struct table_column *column;
    struct canvas *canvas;
    int y, x, width;
    const void *context; /* the screen's own, as given to table_row */
};

enum table_kind {
    TABLE_TEXT,
    TABLE_RANK, /* "r12", flush left as text is */
    TABLE_SECONDS,
    TABLE_ABOUT_SECONDS, /* two digits */
    TABLE_PERCENT,
    TABLE_TIMES,
    TABLE_NUMBER,
    TABLE_COUNT,
    TABLE_BYTES
};

struct table_column {
    const char *title;
    int width; /* its minimum */
    int grow;  /* how many more it can use */
    int spare; /* 0: always shown; of the others the highest goes first when the screen is narrow */
    enum table_kind kind;
    size_t field; /* offset in the row: char[], double or int64_t */
    void (*draw)(const struct table_cell *at, const void *row); /* NULL: the field, by kind */
    int (*compare)(const void *a, const void *b); /* < 0: a stands above b; NULL: large first, text A to Z */
    enum style (*style)(const void *row);         /* of the field; NULL: plain */
    enum style plain;
    bool unsorted;                     /* nothing to sort by */
    const char *key;                   /* its name in the controller's "sort", or NULL */
    const char *meaning;               /* for the help */
    double (*number)(const void *row); /* of a kind with figures; NULL: the field */
    /* Does what stands there begin with the text, in any case?  NULL: the field decides. */
    bool (*begins)(const void *row, const char *text);
};

struct table_layout {
    int n;
    int column[TABLE_COLUMNS_MAX], x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX];
};

/* hidden: a bit a column that is not to be shown now.  The answer has those, too, that do not fit into the
 * width. */
unsigned table_hidden(const struct table_column *columns, int n, int width, unsigned hidden);
void table_fit(struct table_layout *l, const struct table_column *columns, int n, int x, int width,
               unsigned hidden);
/* sort: the column's index, marked; a click on a title that can be sorted by gives action with its index;
 * action 0: the table has one order. */
void table_header(struct canvas *c, int y, const struct table_layout *l, const struct table_column *columns,
                  int sort, bool reverse, int action);
void table_row(struct canvas *c, int y, const struct table_layout *l, const struct table_column *columns,
               const void *row, const void *context);
/* Width of a column in the layout, 0 when it is not there. */
int table_width(const struct table_layout *l, int column);
/* Put text into the cell: figures to the right, text to the left, "-" for none. */
void table_put(const struct table_cell *at, enum style style, const char *text);
/* The figure of a column that has figures; NaN: unknown. */
double table_number(const struct table_column *column, const void *row);
/* The order of two rows by a column. */
int table_compare(const struct table_column *column, const void *a, const void *b);
/* Larger first, unknown last. */
int table_compare_number(double a, double b);
/* The next (by +1 or -1) column that is not hidden and can be sorted by. */
int table_sort_next(const struct table_column *columns, int n, unsigned hidden, int sort, int by);

#endif
