#include "wire/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#define NUMBER_MAX 1e18 /* beyond any count or time that we show */
/* beyond it a JSON number of another program may have lost digits */
#define COUNT_MAX ((int64_t)1 << 53)

/* ---- reading ---- */

double json_get_real(const json_t *o, const char *key, double min, double max)
{
    const json_t *value = json_object_get(o, key);
    double x = json_is_number(value) ? json_number_value(value) : NAN;

    return x >= min && x <= max ? x : NAN;
}

double json_number_of(const json_t *value)
{
    double x = json_is_number(value) ? json_number_value(value) : NAN;

    return fabs(x) <= NUMBER_MAX ? x : NAN;
}

double json_get_number(const json_t *o, const char *key)
{
    return json_get_real(o, key, -NUMBER_MAX, NUMBER_MAX);
}

double json_get_amount(const json_t *o, const char *key)
{
    return json_get_real(o, key, 0, NUMBER_MAX);
}

double json_get_share(const json_t *o, const char *key)
{
    double x = json_get_real(o, key, 0, 1.001); /* what was computed may be a little above */

    return x > 1 ? 1 : x;
}

int64_t json_get_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t otherwise)
{
    const json_t *value = json_object_get(o, key);
    int64_t n = json_integer_value(value);

    return json_is_integer(value) && n >= min && n <= max ? n : otherwise;
}

int64_t json_get_count(const json_t *o, const char *key)
{
    double x = json_get_real(o, key, 0, (double)COUNT_MAX);

    return isnan(x) ? -1 : (int64_t)x;
}

bool json_get_true(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

const char *json_get_string(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

const char *json_get_word(const json_t *o, const char *key)
{
    const char *text = json_get_string(o, key);

    return text ? text : "";
}

const json_t *json_get_object(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    return json_is_object(value) ? value : NULL;
}

const json_t *json_get_array(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    return json_is_array(value) ? value : NULL;
}

const json_t *json_get_list(const json_t *o, const char *key, size_t max, size_t *n)
{
    const json_t *array = json_get_array(o, key);

    *n = json_array_size(array);
    if (*n > max)
        *n = max;
    return array;
}

void json_get_text(const json_t *o, const char *key, char *buf, size_t size)
{
    utf8_clean(buf, size, json_get_word(o, key));
}

char *json_show_value(const json_t *value, char *buf, size_t size)
{
    if (json_is_string(value) && json_string_length(value) > 0)
        utf8_clean(buf, size, json_string_value(value));
    else if (json_is_integer(value))
        snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(buf, size, "-");
    return buf;
}

char *json_show_text(const json_t *o, const char *key, char *buf, size_t size)
{
    return json_show_value(json_object_get(o, key), buf, size);
}

char *json_show_list(const json_t *array, size_t max, char *buf, size_t size)
{
    size_t n = json_array_size(array), shown = n < max ? n : max, at = 0;
    char word[128];

    snprintf(buf, size, "-");
    for (size_t i = 0; i < shown && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
                               json_show_value(json_array_get(array, i), word, sizeof(word)));
    if (n > shown && at < size)
        snprintf(buf + at, size - at, " and %zu more", n - shown);
    return buf;
}

const json_t *json_get_owner(const json_t *o, const char **key)
{
    const char *dot;
    char part[64];

    while ((dot = strchr(*key, '.'))) {
        snprintf(part, sizeof(part), "%.*s", (int)(dot - *key), *key);
        o = json_object_get(o, part);
        *key = dot + 1;
    }
    return o;
}

#define TEXTS_MAX 4096u
#define ROWS_MAX  16384u

void json_texts_add(struct json_texts *t, const char *text)
{
    t->text = xrealloc(t->text, t->n + 1, sizeof(*t->text));
    t->text[t->n++] = xstrdup(text);
}

void json_texts_free(struct json_texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->text[i]);
    free(t->text);
    *t = (struct json_texts){ 0 };
}

char *json_texts_show_of(const struct json_texts *t, size_t max, size_t total, char *buf, size_t size)
{
    size_t shown = t->n < max ? t->n : max;

    buf[0] = '\0';
    for (size_t i = 0; i < shown; i++)
        text_append(buf, size, "%s%s", i ? ", " : "", t->text[i]);
    if (shown && total > shown)
        text_append(buf, size, " and %zu more", total - shown);
    return buf;
}

char *json_texts_show(const struct json_texts *t, size_t max, char *buf, size_t size)
{
    return json_texts_show_of(t, max, t->n, buf, size);
}

static void get_texts(struct json_texts *t, const json_t *list)
{
    char text[1024];

    for (size_t i = 0; i < json_array_size(list) && i < TEXTS_MAX; i++)
        json_texts_add(t, json_show_value(json_array_get(list, i), text, sizeof(text)));
}

static void get_series(struct json_series *s, const json_t *list)
{
    size_t have = json_array_size(list);

    s->n = have < JSON_SERIES_MAX ? have : JSON_SERIES_MAX;
    for (size_t i = 0; i < s->n; i++) {
        double x = json_number_of(json_array_get(list, have - s->n + i));

        s->value[i] = x >= 0 ? x : NAN;
    }
}

struct rows { /* any of a FIELD_ROWS */
    size_t n;
    void *list;
};

static void get_list_of(struct rows *r, const json_t *list, const struct json_field *f)
{
    r->n = json_array_size(list) < ROWS_MAX ? json_array_size(list) : ROWS_MAX;
    r->list = list ? xcalloc(r->n, f->size) : NULL;
    for (size_t i = 0; i < r->n; i++)
        json_get_fields((char *)r->list + i * f->size, json_array_get(list, i), f->part);
}

static const char *const range_keys[] = { "p5", "p50", "p95" }, *const reach_keys[] = { "p10", "p50", "p90" },
                         *const estimate_keys[] = { "value", "low", "high" };

static enum field_kind kind_of(const struct json_field *f)
{
    return (enum field_kind)(f->kind & ~FIELD_OPTIONAL);
}

static void get_field(char *to, const json_t *o, const char *key, const struct json_field *f)
{
    struct rows rows;

    switch (kind_of(f)) {
    case FIELD_NUMBER:
        *(double *)to = json_get_number(o, key);
        break;
    case FIELD_AMOUNT:
        *(double *)to = json_get_amount(o, key);
        break;
    case FIELD_SHARE:
        *(double *)to = json_get_share(o, key);
        break;
    case FIELD_COUNT:
        *(int64_t *)to = json_get_count(o, key);
        break;
    case FIELD_INTEGER:
        *(int64_t *)to = json_get_int(o, key, -COUNT_MAX, COUNT_MAX, 0);
        break;
    case FIELD_TRUE:
        *(bool *)to = json_get_true(o, key);
        break;
    case FIELD_NOT_FALSE:
        *(bool *)to = !json_is_false(json_object_get(o, key));
        break;
    case FIELD_TERNARY:
        *(int *)to = json_is_boolean(json_object_get(o, key)) ? json_get_true(o, key) : -1;
        break;
    case FIELD_TEXTS:
        *(struct json_texts *)to = (struct json_texts){ 0 };
        get_texts((struct json_texts *)to, json_get_array(o, key));
        break;
    case FIELD_SERIES:
        get_series((struct json_series *)to, json_get_array(o, key));
        break;
    case FIELD_KNOWN:
        *(bool *)to = json_get_object(o, key) != NULL;
        break;
    case FIELD_TEXT:
    case FIELD_STRING:
        json_get_text(o, key, to, f->size);
        break;
    case FIELD_RANGE:
    case FIELD_REACH:
        for (int i = 0; i < 3; i++)
            ((double *)to)[i] = json_get_amount(json_get_object(o, key),
                                                f->kind == FIELD_RANGE ? range_keys[i] : reach_keys[i]);
        break;
    case FIELD_ESTIMATE:
        for (int i = 0; i < 3; i++)
            ((double *)to)[i] = json_get_number(json_get_object(o, key), estimate_keys[i]);
        break;
    case FIELD_PART:
        *(bool *)to = json_get_object(o, key) != NULL;
        json_get_fields(to, json_get_object(o, key), f->part);
        break;
    case FIELD_OBJECT:
        json_get_fields(to, json_get_object(o, key), f->part);
        break;
    case FIELD_ROWS:
        get_list_of(&rows, json_get_array(o, key), f);
        memcpy(to, &rows, sizeof(rows));
        break;
    }
}

void json_get_fields(void *to, const json_t *o, const struct json_field *field)
{
    for (const struct json_field *f = field; f->key; f++) {
        const char *key = f->key;
        const json_t *from = json_get_owner(o, &key);

        get_field((char *)to + f->offset, from, key, f);
    }
}

size_t json_get_rows(void *to, size_t size, size_t max, const json_t *o, const char *key,
                     const struct json_field *field)
{
    size_t n;
    const json_t *list = json_get_list(o, key, max, &n);

    for (size_t i = 0; i < n; i++)
        json_get_fields((char *)to + i * size, json_array_get(list, i), field);
    return n;
}

size_t json_get_lines(char *to, size_t size, size_t max, const json_t *o, const char *key)
{
    size_t n;
    const json_t *list = json_get_list(o, key, max, &n);

    for (size_t i = 0; i < n; i++) {
        const char *line = json_string_value(json_array_get(list, i));

        utf8_clean(to + i * size, size, line ? line : "");
    }
    return n;
}

int json_check_answer(const json_t *answer, const char *key, json_type type, struct err *err)
{
    static const char *const names[] = { [JSON_OBJECT] = "an object",
                                         [JSON_ARRAY] = "a list",
                                         [JSON_STRING] = "a text",
                                         [JSON_INTEGER] = "a number" };
    const json_t *value = json_object_get(answer, key);

    if (!json_is_object(answer))
        return err_set(err, "the controller's answer is not a JSON object");
    if (value && json_typeof(value) == type)
        return 0;
    if (json_get_string(answer, "error")) {
        char reason[256];

        json_get_text(answer, "error", reason, sizeof(reason));
        return err_set(err, "%s", reason);
    }
    return err_set(err, "the controller's answer has no '%s' that is %s", key,
                   (size_t)type < ARRAY_SIZE(names) && names[type] ? names[type] : "as expected");
}

/* ---- writing ---- */

json_t *json_of_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *string_json(const char *text)
{
    json_t *o = json_string(text);
    char *copy;

    if (o)
        return o;
    copy = utf8_mend(xstrdup(text));
    o = json_string(copy);
    free(copy);
    return o;
}

json_t *json_of_text(const char *text)
{
    return text && *text ? string_json(text) : json_null();
}

void json_put_real(json_t *o, const char *key, double value)
{
    json_object_set_new(o, key, json_of_real(value));
}

void json_put_int(json_t *o, const char *key, int64_t value)
{
    json_object_set_new(o, key, json_integer(value));
}

void json_put_count(json_t *o, const char *key, int64_t value)
{
    json_object_set_new(o, key, value < 0 ? json_null() : json_integer(value));
}

void json_put_bool(json_t *o, const char *key, bool value)
{
    json_object_set_new(o, key, json_boolean(value));
}

void json_put_text(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, json_of_text(text));
}

void json_put_string(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, string_json(text));
}

void json_put_json(json_t *o, const char *key, json_t *value)
{
    json_object_set_new(o, key, value ? value : json_null());
}

void json_put_known(json_t *o, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(o, key, json_real(value));
}

static void put_three(json_t *o, const char *key, const char *const names[3], const double *value)
{
    json_t *three = json_object();

    for (int i = 0; i < 3; i++)
        json_put_real(three, names[i], value[i]);
    json_put_json(o, key, three);
}

static void put_texts(json_t *o, const char *key, const struct json_texts *t)
{
    json_t *list = json_array();

    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(list, json_of_text(t->text[i]));
    json_put_json(o, key, list);
}

static bool is_unknown(const char *from, const struct json_field *f)
{
    switch (kind_of(f)) {
    case FIELD_NUMBER:
    case FIELD_AMOUNT:
    case FIELD_SHARE:
        return !isfinite(*(const double *)from);
    case FIELD_COUNT:
        return *(const int64_t *)from < 0;
    case FIELD_TEXT:
        return !*from;
    case FIELD_PART:
        return !*(const bool *)from;
    default:
        return false;
    }
}

static void put_series(json_t *o, const char *key, const struct json_series *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(list, json_of_real(s->value[i]));
    json_put_json(o, key, list);
}

static void put_field(json_t *o, const char *key, const char *from, const struct json_field *f)
{
    const double *part = (const double *)from;
    struct rows rows;

    switch (kind_of(f)) {
    case FIELD_NUMBER:
    case FIELD_AMOUNT:
    case FIELD_SHARE:
        json_put_real(o, key, *part);
        break;
    case FIELD_COUNT:
        json_put_count(o, key, *(const int64_t *)from);
        break;
    case FIELD_INTEGER:
        json_put_int(o, key, *(const int64_t *)from);
        break;
    case FIELD_TRUE:
    case FIELD_NOT_FALSE:
        json_put_bool(o, key, *(const bool *)from);
        break;
    case FIELD_TERNARY:
        json_put_json(o, key, *(const int *)from < 0 ? NULL : json_boolean(*(const int *)from));
        break;
    case FIELD_TEXT:
        json_put_text(o, key, from);
        break;
    case FIELD_STRING:
        json_put_string(o, key, from);
        break;
    case FIELD_TEXTS:
        put_texts(o, key, (const struct json_texts *)from);
        break;
    case FIELD_SERIES:
        put_series(o, key, (const struct json_series *)from);
        break;
    case FIELD_RANGE:
        put_three(o, key, range_keys, part);
        break;
    case FIELD_REACH:
        if (isnan(part[1]))
            json_put_json(o, key, NULL);
        else
            put_three(o, key, reach_keys, part);
        break;
    case FIELD_ESTIMATE:
        put_three(o, key, estimate_keys, part);
        break;
    case FIELD_OBJECT:
        json_put_json(o, key, json_of_fields(from, f->part));
        break;
    case FIELD_PART:
        json_put_json(o, key, *(const bool *)from ? json_of_fields(from, f->part) : NULL);
        break;
    case FIELD_ROWS:
        memcpy(&rows, from, sizeof(rows));
        json_put_rows(o, key, rows.list, f->size, rows.n, f->part);
        break;
    case FIELD_KNOWN:
        json_put_json(o, key, *(const bool *)from ? json_object() : NULL);
        break;
    }
}

void json_put_fields(json_t *o, const void *from, const struct json_field *field)
{
    for (const struct json_field *f = field; f->key; f++) {
        const char *key = f->key, *dot;
        json_t *to = o;
        char part[64];

        if (f->kind & FIELD_OPTIONAL && is_unknown((const char *)from + f->offset, f))
            continue;
        for (; (dot = strchr(key, '.')); key = dot + 1) {
            snprintf(part, sizeof(part), "%.*s", (int)(dot - key), key);
            if (!json_object_get(to, part))
                json_put_json(to, part, json_object());
            to = json_object_get(to, part); /* where it is null, nothing is put into it */
        }
        put_field(to, key, (const char *)from + f->offset, f);
    }
}

json_t *json_of_fields(const void *from, const struct json_field *field)
{
    json_t *o = json_object();

    json_put_fields(o, from, field);
    return o;
}

json_t *json_of_rows(const void *from, size_t size, size_t n, const struct json_field *field)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_of_fields((const char *)from + i * size, field));
    return list;
}

void json_put_rows(json_t *o, const char *key, const void *from, size_t size, size_t n,
                   const struct json_field *field)
{
    json_put_json(o, key, json_of_rows(from, size, n, field));
}

void json_put_lines(json_t *o, const char *key, const char *from, size_t size, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, string_json(from + i * size));
    json_put_json(o, key, list);
}

json_t *json_of_texts(const char *const *text, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        if (text[i])
            json_array_append_new(list, string_json(text[i]));
    return list;
}
