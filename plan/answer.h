/* answer.h - what sgplan says: figures with a key, a unit and a few words, and tables of them.
 *
 * Printed as a page for people or as one JSON object.  The keys stay, the words may change.  Unknown (NaN) is
 * "?" for people and null in JSON; what never happens (infinity) is "never" or "inf", and null in JSON. */
#ifndef SYNCGUARD_PLAN_ANSWER_H
#define SYNCGUARD_PLAN_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum answer_unit {
    ANSWER_NUMBER,
    ANSWER_COUNT,   /* whole */
    ANSWER_SHARE,   /* of one, as percent */
    ANSWER_TIMES,   /* a factor: 1.23x */
    ANSWER_SECONDS, /* inf: never */
    ANSWER_HOURS,   /* the value is in hours */
    ANSWER_BYTES,
    ANSWER_RATE,
    ANSWER_WORDS,   /* text */
    ANSWER_FLAG,    /* 1: yes, 0: no */
};

struct answer_column {
    const char *key, *title; /* title NULL: in JSON alone; never the first column */
    enum answer_unit unit;
};

struct answer;
struct answer *answer_new(void);
void answer_free(struct answer *a); /* NULL is fine */
bool answer_empty(const struct answer *a);

/* The first line for people: what was asked, in words. */
__attribute__((format(printf, 2, 3))) void answer_title(struct answer *a, const char *fmt, ...);
/* words may be "": the key says it all. */
__attribute__((format(printf, 5, 6))) void answer_figure(struct answer *a, const char *key, double value,
                                                         enum answer_unit unit, const char *fmt, ...);
/* A text instead of a figure; NULL: not known. */
__attribute__((format(printf, 4, 5))) void answer_word(struct answer *a, const char *key, const char *word,
                                                       const char *fmt, ...);
__attribute__((format(printf, 4, 5))) void answer_flag(struct answer *a, const char *key, bool yes,
                                                       const char *fmt, ...);

/* A table: in JSON an array of objects.  columns is borrowed; cells follow left to right, row by row. */
void answer_table(struct answer *a, const char *key, const char *title, const struct answer_column *columns,
                  size_t n_columns);
void answer_cell(struct answer *a, double value);
__attribute__((format(printf, 2, 3))) void answer_cell_words(struct answer *a, const char *fmt, ...);

/* A sentence that the figures do not say by themselves; in JSON the array "notes". */
__attribute__((format(printf, 2, 3))) void answer_note(struct answer *a, const char *fmt, ...);
/* Where the formulas come from, and what they take for granted: each once, one line. */
__attribute__((format(printf, 2, 3))) void answer_source(struct answer *a, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void answer_assumes(struct answer *a, const char *fmt, ...);

void answer_print(const struct answer *a, FILE *out, int columns);
void answer_print_json(const struct answer *a, FILE *out);

/* The figure under key, NaN when there is none: for tests. */
double answer_get(const struct answer *a, const char *key);

#endif
