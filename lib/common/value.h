/* value.h - a typed value as text: its kind, its range, what is accepted, and how it is parsed and printed.
 *
 * Keys of syncguard.conf and of scenarios (key.h), options (options.h) and figures of rules (rules/figures.h)
 * describe their values by a struct value_type. Numbers are written with their units and are SI once they are
 * parsed. Never aborts and never prints: guests use it. */
#ifndef SYNCGUARD_COMMON_VALUE_H
#define SYNCGUARD_COMMON_VALUE_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

enum value_kind {
    VALUE_ANY, /* any text, checked by the program */
    /* text; max is its number of characters, 0: no limit; empty only with min 0 */
    VALUE_TEXT, /* printable */
    VALUE_NAME,
    VALUE_PATH,
    VALUE_HOSTS,
    VALUE_ADDRESS,
    VALUE_AUTHINFO, /* socket=PATH, stored without "socket=" */
    VALUE_LIST,     /* of names, with commas */
    VALUE_RESTD,    /* where slurmrestd is */
    VALUE_WEBHOOK,  /* a URL, or a file that holds one */
    VALUE_NAME_OR_PATH,
    /* whole numbers that fit an int */
    VALUE_INTEGER,
    VALUE_WORD, /* the index of one of words */
    VALUE_SET,  /* some of words, with commas, or "none": a bit for each, the first 1 */
    /* other numbers */
    VALUE_COUNT,  /* whole: 64, 175e9, 7B */
    VALUE_NUMBER, /* 0.08, 1e-3 */
    VALUE_RATIO,  /* 0.05, 5% */
    VALUE_SECONDS,
    VALUE_HERTZ,
    VALUE_BYTES,
    VALUE_RATE, /* bytes per second */
};

#define VALUE_POSITIVE DBL_MIN /* as min: more than zero */

struct value_type {
    enum value_kind kind;
    double min, max;          /* of numbers; max may be INFINITY */
    const char *const *words; /* of VALUE_WORD and VALUE_SET; ends with NULL */
    const char *unit;         /* of VALUE_INTEGER; NULL: none */
};

/* For tables. */
#define VALUE(kind)            \
    {                          \
        kind, 0, 0, NULL, NULL \
    }
#define VALUE_RANGE(kind, min, max) \
    {                               \
        kind, min, max, NULL, NULL  \
    }
#define VALUE_UNITS(min, max, unit)         \
    {                                       \
        VALUE_INTEGER, min, max, NULL, unit \
    }
#define VALUE_ONE_OF(words)           \
    {                                 \
        VALUE_WORD, 0, 0, words, NULL \
    }
#define VALUE_SOME_OF(words)         \
    {                                \
        VALUE_SET, 0, 0, words, NULL \
    }
#define VALUE_WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

bool value_is_text(const struct value_type *t);   /* not a number, word or set */
bool value_is_number(const struct value_type *t); /* not a text, word or set */

/* Parse text; *number becomes NaN for a text, the index of a word, the bits of a set.  -1: text is not
 * accepted, the reason lists what is; *number is unchanged. */
int value_parse(const struct value_type *t, const char *text, double *number, struct err *err);
/* The accepted values, such as "a ratio from 1 to 10", or "a ratio such as 0.05 or 5%" of any size.  Returns
 * buf. */
char *value_accepts(const struct value_type *t, char *buf, size_t size);
/* The range of a number: "from 1 to 64", "at least 1 B", "more than zero"; "": none.  Returns buf. */
char *value_range(const struct value_type *t, char *buf, size_t size);
/* A number, word or set in the form that value_parse accepts: "30s", "1.02", "dryrun".  Returns buf. */
char *value_write(const struct value_type *t, double number, char *buf, size_t size);
/* "s", "ratio", "1/s", "bytes", or the unit of the type; "": none. */
const char *value_unit(const struct value_type *t);

/* Is s a valid name: letters, digits, '_', '-', '.', the first a letter or digit? */
bool value_is_name(const char *s);

#endif
