/* json.h - JSON where it enters and leaves a program: bounded reading, and writing that cannot fail.
 *
 * A value that is read is unknown if it has another type or is out of range.  Unknown is NaN, the caller's
 * `otherwise`, -1, NULL or "".  Every function accepts NULL or a value that is not an object; all of its keys
 * are unknown then.  Texts are cut at a character's boundary, and control characters become '?', so that a
 * job's name cannot move an operator's cursor.  Inside a process data is a struct, which a table of fields
 * fills.
 *
 * NaN, infinity, NULL and "" are written as null.  In text that is not UTF-8 invalid bytes become '?',
 * because otherwise one bad name would make a whole message impossible. */
#ifndef SYNCGUARD_WIRE_JSON_H
#define SYNCGUARD_WIRE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* ---- reading ---- */

double json_get_real(const json_t *o, const char *key, double min, double max);
double json_get_number(const json_t *o, const char *key); /* any that is not absurd */
double json_get_amount(const json_t *o, const char *key); /* a number not below zero: times, rates, sizes */
double json_get_share(const json_t *o, const char *key);  /* a number from 0 to 1 */
int64_t json_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t otherwise);
int64_t json_get_count(const json_t *o, const char *key); /* a number not below zero; -1: unknown */
bool json_get_true(const json_t *o, const char *key);     /* false when unknown */
/* Lent by o. */
const char *json_get_string(const json_t *o, const char *key); /* NULL when unknown */
const char *json_get_word(const json_t *o, const char *key);   /* "" when unknown */
const json_t *json_get_object(const json_t *o, const char *key);
const json_t *json_get_array(const json_t *o, const char *key);
/* The array under key, and how many of its items are looked at. */
const json_t *json_get_list(const json_t *o, const char *key, size_t max, size_t *n);
void json_get_text(const json_t *o, const char *key, char *buf, size_t size);
/* Of a key like "cost_s.value": the object in o that holds it, and of key its last part. */
const json_t *json_get_owner(const json_t *o, const char **key);
double json_number_of(const json_t *value);

/* For people, into buf, which is returned: a string as it is, an integer as digits, anything else "-". */
char *json_show_value(const json_t *value, char *buf, size_t size);
char *json_show_text(const json_t *o, const char *key, char *buf, size_t size);
/* "n1, n2, n3" of an array; at most max of them, then "and 12 more". */
char *json_show_list(const json_t *array, size_t max, char *buf, size_t size);

/* Texts whose number is not known before; all zero is none. */
struct json_texts {
    size_t n;
    char **text;
};
void json_texts_add(struct json_texts *t, const char *text); /* a copy */
void json_texts_free(struct json_texts *t);
/* "n1, n2 and 12 more": at most max of them.  Returns buf. */
char *json_texts_show(const struct json_texts *t, size_t max, char *buf, size_t size);
/* The same of total texts of which only t->n are kept. */
char *json_texts_show_of(const struct json_texts *t, size_t max, size_t total, char *buf, size_t size);

/* Amounts one after the other, such as columns of a history. */
#define JSON_SERIES_MAX 256
struct json_series {
    size_t n;
    double value[JSON_SERIES_MAX];
};

/* A struct out of an object, or an object of a struct, by a table that ends with { 0 }. */
enum field_kind {
    FIELD_NUMBER, /* double */
    FIELD_AMOUNT,
    FIELD_SHARE,
    FIELD_COUNT,     /* int64_t */
    FIELD_INTEGER,   /* int64_t, below zero, too; 0 when unknown */
    FIELD_TRUE,      /* bool */
    FIELD_NOT_FALSE, /* bool; true when unknown */
    FIELD_TERNARY,   /* int: 1 or 0; -1: unknown */
    FIELD_TEXT,      /* char[] */
    FIELD_STRING,    /* char[]; written as it is, not as null, where it is "" */
    FIELD_TEXTS,     /* struct json_texts, which the caller frees: an array of strings */
    FIELD_SERIES,    /* struct json_series: an array of amounts; of a longer one the last of them */
    FIELD_RANGE,     /* three doubles, amounts: {p5, p50, p95} */
    FIELD_REACH,     /* three doubles, amounts: {p10, p50, p90}; null where p50 is unknown */
    FIELD_ESTIMATE,  /* three doubles, numbers: {value, low, high} */
    FIELD_OBJECT,    /* a struct: an object */
    FIELD_PART,      /* a struct that begins with `bool known`: an object; null where it is not known */
    FIELD_ROWS, /* struct { size_t n; T *list; }, whose list the caller frees (NULL: unknown): an array of
                   objects */
    /* bool: there is an object.  Where it is written as null, rows after it for keys in that object are not
     * written. */
    FIELD_KNOWN,
};
/* With a kind (a number, a count, a text or a part): it is left out when unknown. */
#define FIELD_OPTIONAL 64
struct json_field {
    const char *key; /* "cost_s.value" is a key of an object in the object */
    enum field_kind kind;
    size_t offset, size;
    const struct json_field *part; /* the table of a FIELD_OBJECT or FIELD_PART, and of each of FIELD_ROWS */
};
#define FIELD(type, member)        offsetof(type, member), sizeof(((type *)0)->member), NULL
#define PART(type, member, fields) offsetof(type, member), sizeof(((type *)0)->member), fields
#define ROWS(type, member, fields) offsetof(type, member), sizeof(*((type *)0)->member.list), fields
void json_get_fields(void *to, const json_t *o, const struct json_field *field);
/* An array of objects under key into an array of structs; how many, at most max. */
size_t json_get_rows(void *to, size_t size, size_t max, const json_t *o, const char *key,
                     const struct json_field *field);
/* An array of strings into lines of size bytes each; how many, at most max. */
size_t json_get_lines(char *to, size_t size, size_t max, const json_t *o, const char *key);

/* 0 when the controller's answer is an object in which key has the given type; -1 with the reason: the
 * answer's own "error", or what it lacks. */
int json_check_answer(const json_t *answer, const char *key, json_type type, struct err *err);

/* ---- writing ---- */

json_t *json_of_real(double value); /* the caller's */
json_t *json_of_text(const char *text);

void json_put_real(json_t *o, const char *key, double value);
void json_put_int(json_t *o, const char *key, int64_t value);
void json_put_count(json_t *o, const char *key, int64_t value); /* below zero is null */
void json_put_bool(json_t *o, const char *key, bool value);
void json_put_text(json_t *o, const char *key, const char *text);
void json_put_string(json_t *o, const char *key, const char *text); /* "" stays "" */
void json_put_json(json_t *o, const char *key, json_t *value);      /* takes value; NULL is null */
/* Left out when unknown. */
void json_put_known(json_t *o, const char *key, double value);
void json_put_fields(json_t *o, const void *from, const struct json_field *field);
json_t *json_of_fields(const void *from,
                       const struct json_field *field); /* an object of them; the caller's */
/* An array of structs as an array of objects; the caller's. */
json_t *json_of_rows(const void *from, size_t size, size_t n, const struct json_field *field);
void json_put_rows(json_t *o, const char *key, const void *from, size_t size, size_t n,
                   const struct json_field *field);
void json_put_lines(json_t *o, const char *key, const char *from, size_t size, size_t n);
json_t *json_of_texts(const char *const *text, size_t n); /* those that are not NULL */

#endif
