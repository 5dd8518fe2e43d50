/* config_key.h - a key of syncguard.conf: its kind, range, default and meaning.
 *
 * Rows of such keys make the tables of config.c and config_policy.c, which feed parsing, `sgctl config`, the
 * manual page, `sgctl policy` and sgtop alike. Values are parsed with their units and stored in SI. Never aborts,
 * and prints only in the functions that take a FILE: guests use it. */
#ifndef SYNCGUARD_COMMON_CONFIG_KEY_H
#define SYNCGUARD_COMMON_CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum config_kind {
    /* text: an array of char; empty only where the default is */
    CONFIG_TEXT,
    CONFIG_NAME,
    CONFIG_PATH,
    CONFIG_HOSTS,
    CONFIG_ADDRESS,
    CONFIG_AUTHINFO,
    CONFIG_LIST, /* of names, with commas */
    CONFIG_LEVEL,
    CONFIG_RESTD,   /* where slurmrestd is */
    CONFIG_WEBHOOK, /* a URL, or a file that holds one */
    CONFIG_NAME_OR_PATH,
    /* numbers: an int */
    CONFIG_INTEGER,
    CONFIG_WORD, /* the index of one of words */
    CONFIG_SET,  /* some of words, with commas: a bit for each, the first 1 */
    /* numbers: a double */
    CONFIG_RATIO,
    CONFIG_SECONDS,
    CONFIG_HERTZ,
    CONFIG_BYTES,
    CONFIG_NUMBER, /* in the unit of the table */
};

struct config_key {
    const char *name;
    enum config_kind kind;
    size_t offset, size;      /* of its place in the structure */
    double min, max;          /* of numbers */
    const char *const *words; /* of CONFIG_WORD and CONFIG_SET; ends with NULL */
    const char *unit;         /* of CONFIG_NUMBER and CONFIG_INTEGER; NULL: none */
    const char *standard;     /* default, as written in the file */
    const char *text;         /* meaning, one sentence */
};

/* For rows: where the value is, and what is accepted. */
#define CONFIG_AT(structure, field) offsetof(struct structure, field), sizeof(((struct structure *)0)->field)
#define CONFIG_ANY                  0, 0, NULL, NULL
#define CONFIG_RANGE(min, max)      min, max, NULL, NULL
#define CONFIG_OF(min, max, unit)   min, max, NULL, unit
#define CONFIG_WORDS(words)         0, 0, words, NULL

/* Case-insensitive.  NULL: unknown key. */
const struct config_key *config_key_find(const struct config_key *keys, size_t n, const char *name);
/* The key with the most similar name; NULL: none is similar. */
const char *config_key_near(const struct config_key *keys, size_t n, const char *name);
/* "A, B, C" into buf, cut at its end; returns buf. */
char *config_key_names(const struct config_key *keys, size_t n, char *buf, size_t size);

/* Parse value into its field of the structure at base.  Returns -1 and changes nothing if it is rejected. */
int config_key_store(const struct config_key *key, void *base, const char *value);
void config_key_defaults(const struct config_key *keys, size_t n, void *base);
/* The accepted values, such as "a ratio from 1 to 10".  Returns buf. */
char *config_key_accepts(const struct config_key *key, char *buf, size_t size);
/* The number at base, in SI; NaN for text and words. */
double config_key_number(const struct config_key *key, const void *base);
/* The value at base in the form that config_key_store accepts ("30s", "1.02", "dryrun").  Returns buf. */
char *config_key_write(const struct config_key *key, const void *base, char *buf, size_t size);
/* "s", "ratio", "1/s", "bytes", or the unit in the table; "": none. */
const char *config_key_unit(const struct config_key *key);

/* The table for people, and the same as a list of mdoc(7). */
void config_key_print(FILE *out, const struct config_key *keys, size_t n);
void config_key_mdoc(FILE *out, const struct config_key *keys, size_t n);

/* Is s a valid name of a policy or rule: letters, digits, '_', '-', '.', the first a letter or digit? */
bool config_is_name(const char *s);

#endif
