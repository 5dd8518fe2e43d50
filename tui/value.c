#include "tui/value.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define COUNT_MAX ((int64_t)1 << 53) /* beyond it a JSON number of another program may have lost digits */

/* C0, DEL and C1 controls, and the invisible characters that turn or join text: a job's name is its user's.
 */
static bool dangerous(const unsigned char *s)
{
    if (s[0] < 0x20 || s[0] == 0x7f)
        return true;
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f)
        return true;
    if (s[0] == 0xe2 && s[1] == 0x80 && ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae)))
        return true;
    return s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf;
}

/* Bytes of the UTF-8 character at s; 0 when it is none. */
static size_t char_bytes(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void value_clean(char *to, size_t size, const char *from)
{
    const unsigned char *s = (const unsigned char *)from;
    size_t at = 0;

    while (*s) {
        size_t n = char_bytes(s);
        bool bad = n == 0 || dangerous(s);
        size_t bytes = bad ? 1 : n;

        if (at + bytes >= size)
            break;
        if (bad)
            to[at] = '?';
        else
            memcpy(to + at, s, n);
        at += bytes;
        s += n ? n : 1;
    }
    to[at] = '\0';
}

void value_text(const json_t *o, const char *key, char *to, size_t size)
{
    const char *s = json_string_value(json_object_get(o, key));

    value_clean(to, size, s ? s : "");
}

double value_number_of(const json_t *v)
{
    double x;

    if (!json_is_number(v))
        return NAN;
    x = json_number_value(v);
    return isfinite(x) && fabs(x) <= 1e18 ? x : NAN;
}

double value_number(const json_t *o, const char *key)
{
    return value_number_of(json_object_get(o, key));
}

/* Times, rates, sizes: below zero makes no sense. */
double value_amount(const json_t *o, const char *key)
{
    double x = value_number(o, key);

    return x >= 0 ? x : NAN;
}

double value_share(const json_t *o, const char *key)
{
    double x = value_amount(o, key);

    return x <= 1.001 ? fmin(x, 1) : NAN; /* what was computed may be a little above */
}

int64_t value_count(const json_t *o, const char *key)
{
    double x = value_amount(o, key);

    return x <= (double)COUNT_MAX ? (int64_t)x : -1;
}

/* The array under key, and how many of its items are looked at. */
const json_t *value_list(const json_t *o, const char *key, size_t max, size_t *n)
{
    const json_t *a = json_object_get(o, key);

    *n = json_is_array(a) ? json_array_size(a) : 0;
    if (*n > max)
        *n = max;
    return a;
}

/* "a, b, c" of an array of strings (a bare string is one). */
void value_join(const json_t *v, char *to, size_t size)
{
    size_t n = json_is_array(v) ? json_array_size(v) : 0, at = 0;

    to[0] = '\0';
    if (json_is_string(v))
        value_clean(to, size, json_string_value(v));
    for (size_t i = 0; i < n && at + 3 < size; i++) {
        const char *s = json_string_value(json_array_get(v, i));

        if (!s)
            continue;
        if (at) {
            memcpy(to + at, ", ", 3);
            at += 2;
        }
        value_clean(to + at, size - at, s);
        at += strlen(to + at);
    }
}
