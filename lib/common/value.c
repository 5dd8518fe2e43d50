#include "common/value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/hosts.h"
#include "common/units.h"

#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define SOCKET       "socket=" /* of VALUE_AUTHINFO */

typedef int read_fn(const char *, double *, struct err *);
typedef char *format_fn(char *, size_t, double);

/* These two give no reason: the range is reported, and a whole number needs no example. */
static int read_plain(const char *text, double *number, struct err *err)
{
    (void)err;
    return units_number(text, number, NULL);
}

static int read_integer(const char *text, double *number, struct err *err)
{
    double value;

    if (read_plain(text, &value, err) < 0 || value != floor(value))
        return -1;
    *number = value;
    return 0;
}

static char *format_plain(char *buf, size_t size, double number)
{
    snprintf(buf, size, "%.10g", number);
    return buf;
}

static const struct {
    const char *noun, *unit;
    read_fn *read;
    format_fn *format;  /* of a bound */
    const char *behind; /* of a text: NULL, or what stands behind its maximum number of characters */
} kinds[] = {
    [VALUE_ANY] = { .noun = "any text" },
    [VALUE_TEXT] = { .noun = "at most ", .behind = " printable characters" },
    [VALUE_NAME] = { .noun = "a name of at most ", .behind = " letters, digits, '_', '-' and '.'" },
    [VALUE_PATH] = { .noun = "a path that begins with /" },
    [VALUE_HOSTS] = { .noun = "HOST[:PORT][,HOST[:PORT]...]" },
    [VALUE_ADDRESS] = { .noun = "an address or host name" },
    [VALUE_AUTHINFO] = { .noun = SOCKET "PATH, at most ", .behind = " characters of path" },
    [VALUE_LIST] = { .noun = "NAME[,NAME...]" },
    [VALUE_RESTD] = { .noun = "unix:/PATH, http://HOST[:PORT] or https://HOST[:PORT]" },
    [VALUE_WEBHOOK] = { .noun =
                            "an http:// or https:// URL without user and password, or a path that begins with /" },
    [VALUE_NAME_OR_PATH] = { .noun = "a name, or a path that begins with /" },
    [VALUE_INTEGER] = { "a whole number", "", read_integer, format_plain, "" },
    [VALUE_COUNT] = { "a whole number", "", units_count, format_plain, "" },
    [VALUE_NUMBER] = { "a number", "", units_number, format_plain, "" },
    [VALUE_RATIO] = { "a ratio", "ratio", units_ratio, format_plain, "" },
    [VALUE_SECONDS] = { "a time", "s", units_seconds, units_format_s, "" },
    [VALUE_HERTZ] = { "a rate", "1/s", read_plain, format_plain, " a second" },
    [VALUE_BYTES] = { "a size", "bytes", units_bytes, units_format_bytes, "" },
    [VALUE_RATE] = { "a bandwidth", "bytes/s", units_rate, units_format_rate, "" },
};

bool value_is_text(const struct value_type *t)
{
    return t->kind < VALUE_INTEGER;
}

bool value_is_number(const struct value_type *t)
{
    return t->kind == VALUE_INTEGER || t->kind > VALUE_SET;
}

/* ---- texts ---- */

bool value_is_name(const char *s)
{
    if (!isalnum((unsigned char)*s))
        return false;
    return s[strspn(s, ALPHANUMERIC "_-.")] == '\0';
}

static bool is_list(const char *s)
{
    return *s != ',' && !strstr(s, ",,") && s[strlen(s) - 1] != ',' && !strpbrk(s, " \t=\"");
}

static bool is_printable(const char *s)
{
    while (*s && (unsigned char)*s >= ' ')
        s++;
    return !*s;
}

/* http://HOST... or https://HOST..., without blanks, user and password. */
static bool is_url(const char *s)
{
    const char *host = !strncasecmp(s, "http://", 7) ? s + 7 : !strncasecmp(s, "https://", 8) ? s + 8 : "";
    size_t n = strcspn(host, "/?#");

    return n > 0 && !memchr(host, '@', n) && !strpbrk(s, " \t\"\\<>");
}

static bool text_fits(const struct value_type *t, const char *text)
{
    if ((t->max > 0 && strlen(text) > t->max) || !is_printable(text))
        return false;
    if (!*text)
        return t->min <= 0;
    switch (t->kind) {
    case VALUE_NAME:
        return value_is_name(text);
    case VALUE_PATH:
        return *text == '/';
    case VALUE_HOSTS:
        return is_list(text) && !text[strspn(text, ALPHANUMERIC "_-.:%[],")] &&
               hosts_pick(text, 0, 1, NULL, NULL) > 0;
    case VALUE_ADDRESS:
        return text[strspn(text, ALPHANUMERIC "-.:%_")] == '\0';
    case VALUE_AUTHINFO:
        return !strncasecmp(text, SOCKET "/", strlen(SOCKET "/"));
    case VALUE_LIST:
        return is_list(text);
    case VALUE_RESTD: /* a socket's path has room for 107 characters */
        return is_url(text) || (!strncmp(text, "unix:/", 6) && strlen(text) <= strlen("unix:") + 107);
    case VALUE_WEBHOOK:
        return *text == '/' || is_url(text);
    case VALUE_NAME_OR_PATH:
        return *text == '/' || value_is_name(text);
    default:
        return true;
    }
}

/* ---- words ---- */

/* The one of this length; -1: none. */
static int word_index(const char *const *words, const char *word, size_t length)
{
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == length && !strncasecmp(word, words[i], length))
            return i;
    return -1;
}

/* "error, warning, info or debug" */
static char *word_list(const char *const *words, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; words[i] && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
    return buf;
}

/* -1: something in the list is none of them. */
static int word_set(const char *const *words, const char *list)
{
    int set = 0, i;

    if (!strcasecmp(list, "none"))
        return 0;
    for (;; list++) {
        size_t length = strcspn(list, ",");

        i = word_index(words, list, length);
        if (i < 0)
            return -1;
        set |= 1 << i;
        list += length;
        if (!*list)
            return set;
    }
}

/* ---- what is accepted ---- */

char *value_range(const struct value_type *t, char *buf, size_t size)
{
    bool positive = t->min == VALUE_POSITIVE, bounded = !isinf(t->max);
    char low[32] = "zero", high[32] = "";

    *buf = '\0';
    if (!value_is_number(t) || (!bounded && t->min <= 0)) /* no number has a sign */
        return buf;
    if (!positive)
        kinds[t->kind].format(low, sizeof(low), t->min);
    if (bounded)
        kinds[t->kind].format(high, sizeof(high), t->max);
    snprintf(buf, size, "%s %s%s%s%s",
             positive  ? "more than"
             : bounded ? "from"
                       : "at least",
             low,
             !bounded   ? ""
             : positive ? ", at most "
                        : " to ",
             high, kinds[t->kind].behind);
    return buf;
}

char *value_accepts(const struct value_type *t, char *buf, size_t size)
{
    const char *of = t->unit ? " of " : "", *unit = t->unit ? t->unit : "";
    const char *noun = kinds[t->kind].noun;
    struct err reason = { "" };
    char list[160];
    double none;

    if (t->kind == VALUE_WORD)
        return word_list(t->words, buf, size);
    if (value_is_text(t) && kinds[t->kind].behind)
        snprintf(buf, size, "%s%.0f%s", noun, t->max - (t->kind == VALUE_AUTHINFO ? strlen(SOCKET) : 0),
                 kinds[t->kind].behind);
    else if (value_is_text(t))
        snprintf(buf, size, "%s", noun);
    else if (t->kind == VALUE_SET)
        snprintf(buf, size, "none, or one or more of %s, with commas",
                 word_list(t->words, list, sizeof(list)));
    else if (!*value_range(t, list, sizeof(list))) {
        /* "a ratio such as 0.05 or 5%": the reason for which the parser rejects an empty text. */
        kinds[t->kind].read("", &none, &reason);
        snprintf(buf, size, "%s", *reason.text ? reason.text : noun);
    } else
        snprintf(buf, size, "%s%s%s%s%s", noun, of, unit,
                 !strncmp(list, "from", 4) ? " "
                 : t->unit                 ? ", "
                                           : " of ",
                 list);
    return buf;
}

const char *value_unit(const struct value_type *t)
{
    return t->unit ? t->unit : value_is_number(t) ? kinds[t->kind].unit : "";
}

/* ---- values ---- */

static int refuse_text(const struct value_type *t, struct err *err)
{
    char accepted[240];

    return err_set(err, "%s", value_accepts(t, accepted, sizeof(accepted)));
}

static int parse_number(const struct value_type *t, const char *text, double *number, struct err *err)
{
    struct err reason = { "" };
    char range[96];
    double value;

    if (kinds[t->kind].read(text, &value, &reason) < 0) {
        value_range(t, range, sizeof(range));
        return *reason.text ? err_set(err, "%s%s%s", reason.text, *range ? "; " : "", range)
                            : refuse_text(t, err);
    }
    if (!(value >= t->min && value <= t->max))
        return refuse_text(t, err);
    *number = value;
    return 0;
}

int value_parse(const struct value_type *t, const char *text, double *number, struct err *err)
{
    int index = 0;

    if (value_is_number(t))
        return parse_number(t, text, number, err);
    if (t->kind == VALUE_WORD)
        index = word_index(t->words, text, strlen(text));
    else if (t->kind == VALUE_SET)
        index = word_set(t->words, text);
    if (index < 0 || (value_is_text(t) && t->kind != VALUE_ANY && !text_fits(t, text)))
        return refuse_text(t, err);
    *number = value_is_text(t) ? NAN : index;
    return 0;
}

char *value_write(const struct value_type *t, double number, char *buf, size_t size)
{
    size_t at = 0;

    if (t->kind == VALUE_WORD)
        snprintf(buf, size, "%s", t->words[(int)number]);
    else if (t->kind == VALUE_SET) {
        snprintf(buf, size, "none");
        for (int i = 0; t->words[i] && at < size; i++)
            if ((int)number & 1 << i)
                at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "," : "", t->words[i]);
    } else if (t->kind == VALUE_SECONDS && number > 0 && number < 1) /* as people write it: 20ms */
        snprintf(buf, size, "%.12g%s", number * (number < 1e-3 ? 1e6 : 1e3), number < 1e-3 ? "us" : "ms");
    else
        snprintf(buf, size, "%.12g%s", number,
                 t->kind == VALUE_SECONDS ? "s"
                 : t->kind == VALUE_RATE  ? "B/s"
                                          : "");
    return buf;
}
