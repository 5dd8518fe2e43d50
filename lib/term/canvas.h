/* canvas.h - a grid of character cells that screens draw on.
 *
 * The same drawing goes to ncurses (term.h), to text (--dump) and to tests.  A cell has one character and a
 * style that names a meaning; only term.c knows colours.  Whatever is put is clipped to the canvas; text that
 * does not fit its width ends in "…".  With ascii, every character beyond ASCII is put as its nearest plain
 * one.
 *
 * A canvas also remembers what a click on it would mean (struct canvas_hit), so that the mouse needs no
 * second knowledge of the layout. */
#ifndef SYNCGUARD_TERM_CANVAS_H
#define SYNCGUARD_TERM_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CANVAS_HEATS 9

enum style {
    STYLE_TEXT,
    STYLE_DIM,
    STYLE_BOLD,
    STYLE_TITLE,  /* the bars at the top and bottom */
    STYLE_TAB,    /* the chosen screen in the title */
    STYLE_HEADER, /* titles of a table's columns */
    STYLE_SORTED, /* ... of the one that it is sorted by */
    STYLE_KEY,
    STYLE_ACCENT,
    STYLE_GOOD,
    STYLE_WARN,
    STYLE_BAD,
    STYLE_GOOD_TAG, /* the same, as a filled label */
    STYLE_WARN_TAG,
    STYLE_BAD_TAG,
    STYLE_SHARE_COMPUTE, /* shares of the ranks' time */
    STYLE_SHARE_COMMUNICATION,
    STYLE_SHARE_SYNCHRONISATION,
    STYLE_SHARE_P2P,
    STYLE_HANG, /* classes of verdicts, as bars over time */
    STYLE_STRAGGLER,
    STYLE_DRIFT,
    STYLE_JITTER,
    STYLE_IMBALANCE,
    STYLE_COMMUNICATION,
    STYLE_CONGESTION,
    STYLE_OSCILLATION,
    STYLE_HEAT, /* the first of CANVAS_HEATS, from cold to hot */
    STYLE_COUNT = STYLE_HEAT + CANVAS_HEATS
};

struct cell {
    uint32_t ch; /* Unicode; 0 is the right half of a wide character */
    uint8_t style;
    uint8_t reversed; /* under the cursor: the same colours, the other way round */
    uint16_t unused;  /* no padding: cells are compared as bytes */
};

struct canvas_hit {
    int y, x, height, width;
    int action, arg; /* the program's own; arg + (row clicked - y) when it is many rows high */
};

struct canvas {
    int width, height;
    bool ascii;
    struct cell *cells;
    struct canvas_hit *hits;
    size_t n_hits, cap_hits;
};

struct canvas *canvas_new(int width, int height, bool ascii);
void canvas_free(struct canvas *c); /* NULL is fine */
void canvas_clear(struct canvas *c);
struct cell *canvas_at(const struct canvas *c, int y, int x); /* NULL outside */

/* Put UTF-8 text into width columns from x; "…" ends what is cut.  Returns the columns that it took. */
int canvas_put(struct canvas *c, int y, int x, int width, enum style style, const char *text);
int canvas_put_right(struct canvas *c, int y, int x, int width, enum style style, const char *text);
__attribute__((format(printf, 6, 7))) int canvas_printf(struct canvas *c, int y, int x, int width,
                                                        enum style style, const char *fmt, ...);
/* One character in each of width columns. */
void canvas_fill(struct canvas *c, int y, int x, int width, enum style style, uint32_t ch);
/* Put the cursor there. */
void canvas_reverse(struct canvas *c, int y, int x, int width);
/* Text over at most rows lines, broken between words; those after the first begin at column rest, and all end
 * where the first does.  Returns the rows that it took. */
int canvas_wrap(struct canvas *c, int y, int x, int rest, int width, int rows, enum style style,
                const char *text);

/* Rows that canvas_wrap() needs for all of the text, where the first has `first` columns and the others have
 * `width`. */
int canvas_text_rows(const char *text, int first, int width);

/* Rows of another canvas from its row from_y on, to row y; its hits do not come along. */
void canvas_copy(struct canvas *c, int y, int rows, const struct canvas *from, int from_y);

void canvas_hit(struct canvas *c, int y, int x, int height, int width, int action, int arg);
/* What a click at y, x means: the last hit put there, NULL for none. */
const struct canvas_hit *canvas_hit_at(const struct canvas *c, int y, int x);

/* As lines of text without trailing blanks. */
void canvas_print(const struct canvas *c, FILE *out);

/* Columns that UTF-8 text takes. */
int canvas_text_width(const char *text);

#endif
