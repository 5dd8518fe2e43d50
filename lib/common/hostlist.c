#include "common/hostlist.h"

#include <ctype.h>
#include <stdio.h>
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

/* Whether the number `value`, written with `digits` digits (zero: the first is a 0), is in a range before
 * `end`
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
            if (!n) /* "1-" is 1, as for Slurm */
                high = low;
            s += 1 + n;
        }
        /* "07" has two digits, "9-11" is 9, 10, 11: at least as many as the first number, and leading zeros
         * only for as many. */
        if (value >= low && value <= high && (digits == width || (digits > width && !zero)))
            in = true;
        if (s < end && *s++ != ',')
            return false;
    }
    return in;
}

/* Whether the item from s to end, "rack[1-2]node[1-3]", names the node. */
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

/* The end of the list's first item: a comma or blank that is not between brackets, or the end of the list. */
static const char *item_end(const char *list)
{
    const char *end = list;
    bool inside = false;

    for (; *end && (inside || !strchr(", \t\n", *end)); end++) {
        if (*end == '[' || *end == ']')
            inside = *end == '[';
    }
    return end;
}

bool hostlist_has(const char *list, const char *node)
{
    while (*list) {
        const char *end = item_end(list);

        if (end > list && item_is(list, end, node))
            return true;
        list = *end ? end + 1 : end;
    }
    return false;
}

/* ---- expanding ---- */

struct expansion {
    hostlist_fn *fn;
    void *arg;
    struct err *err;
    size_t left, max;
    const char *item; /* of the list */
    size_t bytes;
    char name[HOSTLIST_NAME_MAX + 1];
};

static int malformed(const struct expansion *x)
{
    return err_set(x->err,
                   "'%.*s' is not accepted: names such as node1 or node[1-3,07], with commas between them",
                   (int)(x->bytes < 80 ? x->bytes : 80), x->item);
}

static int too_long(const struct expansion *x)
{
    return err_set(x->err, "a name is longer than %u characters", HOSTLIST_NAME_MAX);
}

static int take_name(struct expansion *x)
{
    if (!x->left--)
        return err_set(x->err, "more than %zu names", x->max);
    return x->fn(x->arg, x->name, x->err);
}

static int expand(struct expansion *x, const char *s, const char *end, size_t length);

/* The ranges from s to close, "1-3,07", each number followed by what is behind close.  As in_ranges(). */
static int expand_ranges(struct expansion *x, const char *s, const char *close, const char *end,
                         size_t length)
{
    while (s < close) {
        unsigned long long low, high;
        size_t width = number(s, &low), n;

        high = low;
        s += width;
        if (width && *s == '-') {
            n = number(s + 1, &high);
            if (!n)
                high = low;
            s += 1 + n;
        }
        if (!width || high < low || (s < close && *s != ',') || s + 1 == close)
            return malformed(x);
        for (; low <= high; low++) {
            int digits = snprintf(x->name + length, sizeof(x->name) - length, "%0*llu", (int)width, low);

            if (length + (size_t)digits > HOSTLIST_NAME_MAX)
                return too_long(x);
            if (expand(x, close + 1, end, length + (size_t)digits) < 0)
                return -1;
        }
        s += s < close;
    }
    return 0;
}

/* Name has the first `length` characters, what follows is from s to end. */
static int expand(struct expansion *x, const char *s, const char *end, size_t length)
{
    for (; s < end && *s != '['; s++) {
        if (*s == ']' || !isgraph((unsigned char)*s))
            return malformed(x);
        if (length == HOSTLIST_NAME_MAX)
            return too_long(x);
        x->name[length++] = *s;
    }
    if (s < end) {
        const char *close = memchr(s, ']', (size_t)(end - s));

        /* a name with a bracket ends with one */
        if (!close || close == s + 1 || end[-1] != ']')
            return malformed(x);
        return expand_ranges(x, s + 1, close, end, length);
    }
    x->name[length] = '\0';
    return take_name(x);
}

/* A bracket that is not closed, not opened, or opened twice. */
static bool is_odd(const char *item, size_t n)
{
    const char *open = memchr(item, '[', n), *close = memchr(item, ']', n);

    if (!open || !close)
        return open != close;
    return close > open && memchr(open + 1, '[', (size_t)(close - open - 1));
}

static int expand_odd(struct expansion *x)
{
    if (x->bytes > HOSTLIST_NAME_MAX)
        return too_long(x);
    snprintf(x->name, sizeof(x->name), "%.*s", (int)x->bytes, x->item);
    return take_name(x);
}

static int each_item(struct expansion *x, const char *list, bool written)
{
    while (*list) {
        const char *end = item_end(list);
        bool odd = written && is_odd(list, (size_t)(end - list));

        if (odd && !memchr(list, ']', (size_t)(end - list)))
            end = list + strcspn(list, ",");
        x->item = list;
        x->bytes = (size_t)(end - list);
        if (end > list && (odd ? expand_odd(x) : expand(x, list, end, 0)) < 0) /* others are empty */
            return -1;
        list = end + !!*end;
    }
    return 0;
}

int hostlist_each(const char *list, size_t max, hostlist_fn *fn, void *arg, struct err *err)
{
    return each_item(&(struct expansion){ .fn = fn, .arg = arg, .err = err, .left = max, .max = max }, list,
                     false);
}

int hostlist_each_written(const char *list, size_t max, hostlist_fn *fn, void *arg, struct err *err)
{
    return each_item(&(struct expansion){ .fn = fn, .arg = arg, .err = err, .left = max, .max = max }, list,
                     true);
}

static int take_any(void *arg, const char *name, struct err *err)
{
    (void)arg, (void)name, (void)err;
    return 0;
}

int hostlist_check(const char *list, size_t max, struct err *err)
{
    for (const char *at = list, *end; *at; at = end + !!*end) {
        end = item_end(at);
        if (end == at || (*end && *end != ','))
            return malformed(&(struct expansion){ .item = list, .bytes = strlen(list), .err = err });
    }
    return hostlist_each(list, max, take_any, NULL, err);
}
