/* put.h - keys of a JSON object, unknown values as null. */
#ifndef SYNCGUARD_JOB_PUT_H
#define SYNCGUARD_JOB_PUT_H

#include <jansson.h>
#include <stdint.h>

#include "job/report.h"

/* NaN and infinity are null. */
static inline void put_real(json_t *o, const char *key, double value)
{
    json_object_set_new(o, key, report_real(value));
}

static inline void put_int(json_t *o, const char *key, int64_t value)
{
    json_object_set_new(o, key, json_integer(value));
}

/* Below zero is null. */
static inline void put_count(json_t *o, const char *key, int64_t value)
{
    json_object_set_new(o, key, value < 0 ? json_null() : json_integer(value));
}

/* NULL and "" are null. */
static inline void put_text(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, report_words(text));
}

/* "" too is told. */
static inline void put_string(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, json_string(text));
}

#endif
