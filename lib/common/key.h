/* key.h - a key of a file in the syntax of conf.h: its value, default, meaning and place in a structure.
 *
 * Tables of keys, ended by a key without a name, are what syncguard.conf (config.c, config_policy.c) and
 * scenarios (sim/scenario.c) are read by, and feed `sgctl config`, the manual pages, `sgctl policy` and sgtop
 * alike. Never aborts, and prints only in the functions that take a FILE: guests use it. */
#ifndef SYNCGUARD_COMMON_KEY_H
#define SYNCGUARD_COMMON_KEY_H

#include <stddef.h>
#include <stdio.h>

#include "common/conf.h"
#include "common/value.h"

#define KEYS_MAX 64 /* of a table */
/* After each table, which is an array that ends with a key without a name. */
#define KEYS_FIT(table) \
    _Static_assert(sizeof(table) / sizeof((table)[0]) <= KEYS_MAX + 1, #table " has too many keys")

struct key {
    const char *name;
    size_t offset, size;    /* of its place: an array of char, an int up to VALUE_SET, or a double */
    struct value_type type; /* its max of a text is that of the place */
    const char *standard; /* default, as written in the file; "": as the structure was; NULL: must be given */
    const char *text;     /* meaning, whole sentences */
};

/* For rows: where the value is. */
#define KEY_AT(structure, field) offsetof(struct structure, field), sizeof(((struct structure *)0)->field)

/* Case-insensitive.  NULL: unknown key. */
const struct key *key_find(const struct key *keys, const char *name);
/* "A, B, C" into buf, cut at its end; returns buf. */
char *key_names(const struct key *keys, char *buf, size_t size);
/* The reason for an unknown key: a similar one, or those that `whose`, such as "a policy has", are.  Returns
 * -1. */
int key_unknown(const struct conf_line *line, const struct conf_pair *pair, const struct key *keys,
                const char *whose, struct err *err);

/* Parse value into its field of the structure at base.  -1: it is rejected, nothing changes, and the reason
 * is what is accepted, and the default. */
int key_store(const struct key *key, void *base, const char *value, struct err *err);
void key_defaults(const struct key *keys, void *base);
/* The pairs of the line from the i-th on into base, each key at most once; then whether those without default
 * were given.  -1 with a reason that names file, line and key. */
int key_load(const struct conf_line *line, size_t i, const struct key *keys, const char *whose, void *base,
             struct err *err);

/* The accepted values, such as "a ratio from 1 to 10".  Returns buf. */
char *key_accepts(const struct key *key, char *buf, size_t size);
/* The number at base, in SI; NaN for text, words and sets. */
double key_number(const struct key *key, const void *base);
/* The value at base in the form that key_store accepts ("30s", "1.02", "dryrun").  Returns buf. */
char *key_write(const struct key *key, const void *base, char *buf, size_t size);

/* The table for people, and the same as a list of mdoc(7). */
void key_print(FILE *out, const struct key *keys, int columns); /* columns as in text_wrap() */
void key_mdoc(FILE *out, const struct key *keys);

#endif
