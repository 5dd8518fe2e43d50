/* answer.h - reading what the controller said.
 *
 * The controller passes on names that users chose and words that agents sent: nothing of it is believed.  A
 * value of the wrong type or out of range is unknown, text is cut at the buffer's end and has no control
 * characters (a job's name cannot move the operator's cursor).  Unknown is NaN for numbers, NULL for objects
 * and arrays, "-" for text.  Every function takes NULL as object: all of it is unknown then. */
#ifndef SYNCGUARD_CTL_ANSWER_H
#define SYNCGUARD_CTL_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

double answer_number(const json_t *object, const char *key);
bool answer_true(const json_t *object, const char *key); /* false when unknown */
const json_t *answer_object(const json_t *object, const char *key);
const json_t *answer_array(const json_t *object, const char *key);
/* Into buf, which is returned. */
char *answer_text(const json_t *object, const char *key, char *buf, size_t size);
/* The same for an element: a string as it is, an integer as digits, anything else "-". */
char *answer_printable(const json_t *value, char *buf, size_t size);
/* "n1, n2, n3" of an array of strings; at most max of them, then "and 12 more". */
char *answer_list(const json_t *array, size_t max, char *buf, size_t size);

/* 0 when answer is an object in which `key` has the given type; otherwise -1 with a line that says so. */
int answer_check(const json_t *answer, const char *key, json_type type, struct err *err);

#endif
