/* answer.h - sgplan's answer to a question: figures with a key, a unit and a description, and tables of them.
 *
 * Printed as text or as one JSON object.  Keys are stable, descriptions may change.  An unknown value (NaN)
 * is printed as "?", an infinite one as "never" (times) or "inf"; both are null in JSON. */
#ifndef SYNCGUARD_PLAN_ANSWER_H
#define SYNCGUARD_PLAN_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum answer_unit {
    ANSWER_NUMBER,
    ANSWER_COUNT,   /* a whole number */
    ANSWER_SHARE,   /* a ratio, printed in percent */
    ANSWER_TIMES,   /* a factor: 1.23x */
    ANSWER_SECONDS, /* inf: never */
    ANSWER_HOURS,   /* the value is in hours */
    ANSWER_BYTES,
    ANSWER_RATE,
    ANSWER_WORDS, /* text */
    ANSWER_FLAG,  /* 1: yes, 0: no */
};

struct answer_column {
    const char *key, *title; /* title NULL: only in JSON; not for the first column */
    enum answer_unit unit;
};

struct answer;
struct answer *answer_new(void);
void answer_free(struct answer *a); /* NULL is fine */
bool answer_empty(const struct answer *a);

/* First line of the text: what was asked. */
__attribute__((format(printf, 2, 3))) void answer_title(struct answer *a, const char *fmt, ...);
/* fmt is the description; "" where the key needs none. */
__attribute__((format(printf, 5, 6))) void answer_figure(struct answer *a, const char *key, double value,
                                                         enum answer_unit unit, const char *fmt, ...);
/* A word instead of a number; NULL: unknown. */
__attribute__((format(printf, 4, 5))) void answer_word(struct answer *a, const char *key, const char *word,
                                                       const char *fmt, ...);

/* A table: in JSON an array of objects.  columns is borrowed; cells follow left to right, row by row. */
void answer_table(struct answer *a, const char *key, const char *title, const struct answer_column *columns,
                  size_t n_columns);
void answer_cell(struct answer *a, double value);
/* Several cells: answer_cells(a, 1.5, NAN). */
#define answer_cells(a, ...)                           \
    answer_numbers(a, (const double[]){ __VA_ARGS__ }, \
                   sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))
void answer_numbers(struct answer *a, const double *values, size_t n);
__attribute__((format(printf, 2, 3))) void answer_cell_words(struct answer *a, const char *fmt, ...);

/* A sentence that explains the figures; in JSON an element of the array "notes". */
#define answer_note(a, ...) answer_sentence(a, "notes", __VA_ARGS__)
/* Source of the formulas, and their assumptions: at most one call of each, one line. */
#define answer_source(a, ...)  answer_sentence(a, "source", __VA_ARGS__)
#define answer_assumes(a, ...) answer_sentence(a, "assumes", __VA_ARGS__)
__attribute__((format(printf, 3, 4))) void answer_sentence(struct answer *a, const char *key, const char *fmt,
                                                           ...);

void answer_print(const struct answer *a, FILE *out, int columns);
void answer_print_json(const struct answer *a, FILE *out);

#endif
