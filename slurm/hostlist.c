#include "slurm/hostlist.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define DIGITS_MAX 18

/* Read the number at s, of at most DIGITS_MAX digits; returns its digits, 0: none. */
static size_t number(const char *s, unsigned long long *value)
{
    size_t n = 0;

    for (*value = 0; isdigit((unsigned char)s[n]); n++) {
        if (n == DIGITS_MAX)
            return 0;
        *value = *value * 10 + (unsigned)(s[n] - '0');
    }
    return n;
}

/* Whether the number `value`, written with `digits` digits (zero: the first is a 0), is in a range before `end`
 * ("1-3,07"). */
static bool in_ranges(const char *s, const char *end, unsigned long long value, size_t digits, bool zero)
{
    bool in = false;

    while (s < end) {
        unsigned long long low, high;
        size_t width = number(s, &low), n;

        if (!width)
            return false;
        s += width;
        high = low;
        if (*s == '-') {
            n = number(s + 1, &high);
            if (!n)
                return false;
            s += 1 + n;
        }
        /* "07" has two digits, "9-11" is 9, 10, 11: at least as many as the first number, and leading zeros only
         * for as many. */
        if (value >= low && value <= high && (digits == width || (digits > width && !zero)))
            in = true;
        if (s < end && *s++ != ',')
            return false;
    }
    return in;
}

/* Whether the item from s to end, "node[1-3]x", names the node. */
static bool item_is(const char *s, const char *end, const char *node)
{
    while (s < end) {
        const char *close;
        unsigned long long value;
        size_t digits;

        if (*s != '[') {
            if (*s++ != *node++)
                return false;
            continue;
        }
        close = memchr(s, ']', (size_t)(end - s));
        digits = number(node, &value);
        if (!close || !digits || !in_ranges(s + 1, close, value, digits, *node == '0'))
            return false;
        node += digits;
        s = close + 1;
    }
    return !*node;
}

bool hostlist_has(const char *list, const char *node)
{
    while (*list) {
        const char *end = list;
        bool inside = false;

        for (; *end && (inside || *end != ','); end++) {
            if (*end == '[' || *end == ']')
                inside = *end == '[';
        }
        if (end > list && item_is(list, end, node))
            return true;
        list = *end ? end + 1 : end;
    }
    return false;
}
