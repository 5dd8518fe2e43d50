/* line.h - a line of a scenario file, read by a table of its keys.
 *
 * The table defines the values that a key accepts; parsing, error messages and the list of keys use it. */
#ifndef SYNCGUARD_SIM_LINE_H
#define SYNCGUARD_SIM_LINE_H

#include <stddef.h>
#include <stdio.h>

#include "common/conf.h"
#include "common/err.h"

#define LINE_NAME_MAX 31u
#define LINE_TEXT_MAX 255u

enum line_kind {
    LINE_NAME,    /* char[LINE_NAME_MAX + 1] */
    LINE_TEXT,    /* char[LINE_TEXT_MAX + 1] */
    LINE_CHOICE,  /* int, index of one of the choices */
    LINE_SET,     /* int, a bit for each of the choices; "none": 0 */
    LINE_INTEGER, /* int */
    LINE_RATIO,   /* double, as are the others */
    LINE_SECONDS,
    LINE_BYTES,
    LINE_RATE,
    LINE_REFERENCE, /* the name of something in another line: goes into struct line_reference */
};

/* A key of a line.  A table ends with a key without name. */
struct line_key {
    const char *name;
    enum line_kind kind;
    size_t offset; /* of its place */
    double min, max;
    const char *standard; /* default, as written in a file; NULL: must be given */
    const char *text;
    const char *const *choices; /* ended by NULL */
};

/* A reference that is resolved once all lines are read. */
struct line_reference {
    char name[LINE_NAME_MAX + 1]; /* "" not given */
    char place[160];              /* "FILE:LINE: KEY=VALUE" of the line's first pair, for reasons */
};

/* All pairs of the line into base, defaults first.  -1 with a reason that names file, line, key and what is
 * accepted. */
int line_load(const struct conf_line *line, const struct line_key *keys, void *base,
              struct line_reference *ref, struct err *err);

/* The accepted values, such as "a number from 1 to 10".  Returns buf. */
const char *line_accepts(const struct line_key *key, char *buf, size_t size);

/* The key, its meaning, what it accepts, its default. */
void line_print(FILE *out, const struct line_key *key);
void line_print_mdoc(FILE *out, const struct line_key *key);

#endif
