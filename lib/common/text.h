/* text.h - figures and tables as text, the way sgctl and sgplan write them.
 * An unknown value (NaN, infinity) is "-"; columns are aligned as a terminal shows them; nothing depends
 * on the locale. */
#ifndef SYNCGUARD_COMMON_TEXT_H
#define SYNCGUARD_COMMON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A figure as a string by value, so that one printf can use several. */
struct text {
    char s[48];
};
struct text text_s(double seconds);       /* "1.23 ms" */
struct text text_about_s(double seconds); /* "1.2 ms": for values known to a few per cent */
/* "12 s", "3m05s": in whole seconds, because tenths would only flicker */
struct text text_age(double seconds);
struct text text_bytes(double bytes);   /* "1.50 MB" */
struct text text_percent(double ratio); /* "12.3 %" */
struct text text_number(double number); /* "4.56k" */
struct text text_count(double number);  /* "12345"; "-" also below zero */
struct text text_times(double factor);  /* "1.22x" */
const char *text_plural(int64_t n);     /* "s" behind a noun, except of one */
/* "1.22x (1.19x to 1.26x)"; "1.22x" where low and high are not known, or are that as well. */
struct text text_times_between(double factor, double low, double high);

/* Append to the text in buf, cut at size. */
__attribute__((format(printf, 3, 4))) void text_append(char *buf, size_t size, const char *fmt, ...);

#define TEXT_COLUMNS 100 /* paragraphs are not wider: longer lines are hard to read */

/* A paragraph, broken between words so that no line is longer than columns (a longer word stands alone).
 * columns 0, or more than TEXT_COLUMNS: TEXT_COLUMNS. */
void text_wrap(FILE *out, const char *paragraph, int indent, int columns);

/* The same behind a short head: "  1.19x  node3 is slow". */
void text_hang(FILE *out, int margin, const char *head, const char *paragraph, int indent, int columns);

/* The same for a manual page, mdoc(7): one sentence per line.  None may begin with a dot or a quote. */
void text_mdoc(FILE *out, const char *paragraph);

/* A sentence's text with a capital, unless it begins with a literal: not a word of lower-case letters. */
void text_capital(FILE *out, const char *text);

struct text_column {
    const char *title;
    bool right; /* numbers are flushed right, and never broken */
    /* where the table is too wide, the column with the highest number is left out first; 0: never */
    int spare;
};
struct table;

/* columns is borrowed until table_free. */
struct table *table_new(const struct text_column *columns, size_t n_columns);
/* The next cell, left to right, row by row. */
__attribute__((format(printf, 2, 3))) void table_cell(struct table *t, const char *fmt, ...);
/* Titles (unless they are all ""), then the rows.  Columns in which every cell is "-" are omitted.  columns
 * 0: as wide as needed.  Otherwise spare columns are left out, and named in a last line, and text is broken
 * into several lines, until the table is at most that wide; one that cannot become so narrow is wider. */
void table_print(const struct table *t, FILE *out, int indent, int columns);
void table_free(struct table *t); /* NULL is fine */

#endif
