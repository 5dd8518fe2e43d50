#include "ctl/answer.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 1e18 /* beyond any count or time that we show */

double answer_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_is_number(value) ? json_number_value(value) : NAN;

    return fabs(number) <= NUMBER_MAX ? number : NAN;
}

bool answer_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

const json_t *answer_object(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_object(value) ? value : NULL;
}

const json_t *answer_array(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_array(value) ? value : NULL;
}

/* How many bytes the UTF-8 character at p has; jansson has checked that it is one. */
static size_t character_bytes(const char *p)
{
    unsigned char c = (unsigned char)*p;

    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* C0, DEL and C1 (U+0080 to U+009F, which some terminals obey too). */
static bool is_control(const char *p)
{
    unsigned char c = (unsigned char)p[0], next = (unsigned char)p[1];

    return c < 0x20 || c == 0x7f || (c == 0xc2 && next < 0xa0);
}

static void copy_printable(char *buf, size_t size, const char *text)
{
    size_t at = 0;

    while (*text) {
        size_t n = character_bytes(text);

        if (is_control(text)) {
            if (at + 1 >= size)
                break;
            buf[at++] = '?';
        } else {
            if (at + n >= size)
                break;
            memcpy(buf + at, text, n);
            at += n;
        }
        text += n;
    }
    buf[at] = '\0';
}

char *answer_printable(const json_t *value, char *buf, size_t size)
{
    if (json_is_string(value) && json_string_length(value) > 0)
        copy_printable(buf, size, json_string_value(value));
    else if (json_is_integer(value))
        snprintf(buf, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(buf, size, "-");
    return buf;
}

char *answer_text(const json_t *object, const char *key, char *buf, size_t size)
{
    return answer_printable(json_object_get(object, key), buf, size);
}

char *answer_list(const json_t *array, size_t max, char *buf, size_t size)
{
    size_t n = json_array_size(array), shown = n < max ? n : max, at = 0;
    char word[128];

    snprintf(buf, size, "-");
    for (size_t i = 0; i < shown && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
                               answer_printable(json_array_get(array, i), word, sizeof(word)));
    if (n > shown && at < size)
        snprintf(buf + at, size - at, " and %zu more", n - shown);
    return buf;
}

int answer_check(const json_t *answer, const char *key, json_type type, struct err *err)
{
    static const char *const names[] = { [JSON_OBJECT] = "an object",
                                         [JSON_ARRAY] = "a list",
                                         [JSON_STRING] = "a text",
                                         [JSON_INTEGER] = "a number" };
    const json_t *value = json_object_get(answer, key);

    if (!json_is_object(answer))
        return err_set(err, "the controller's answer is no JSON object");
    if (!value || json_typeof(value) != type)
        return err_set(err, "the controller's answer has no '%s' that is %s", key,
                       (size_t)type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type]
                                                                                      : "as expected");
    return 0;
}
