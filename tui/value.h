/* value.h - values out of an answer, bounded: what is not there, of another type or absurd is unknown
 * (NaN, -1, ""). */
#ifndef SYNCGUARD_TUI_VALUE_H
#define SYNCGUARD_TUI_VALUE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Copy UTF-8 into size bytes: cut at a character's boundary, what could derange a terminal becomes '?'. */
void value_clean(char *to, size_t size, const char *from);

void value_text(const json_t *o, const char *key, char *to, size_t size);
double value_number_of(const json_t *v);
double value_number(const json_t *o, const char *key);
double value_amount(const json_t *o, const char *key); /* a number not below zero */
double value_share(const json_t *o, const char *key);  /* a number from 0 to 1 */
int64_t value_count(const json_t *o, const char *key);

/* The array under key, and how many of its items are looked at. */
const json_t *value_list(const json_t *o, const char *key, size_t max, size_t *n);
/* "a, b, c" of an array of strings (a bare string is one). */
void value_join(const json_t *v, char *to, size_t size);

#endif
