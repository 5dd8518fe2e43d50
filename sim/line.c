#include "sim/line.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/suggest.h"
#include "common/units.h"

/* ---- what a key accepts ---- */

static bool is_name(const char *s)
{
    return isalnum((unsigned char)*s) && strlen(s) <= LINE_NAME_MAX &&
           !s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")];
}

static int choice_of(const char *const *choices, const char *word)
{
    for (int i = 0; choices[i]; i++) {
        if (!strcasecmp(choices[i], word))
            return i;
    }
    return -1;
}

/* "one,two": a bit for each, or -1. */
static int set_of(const char *const *choices, const char *words)
{
    int set = 0;

    if (!strcasecmp(words, "none"))
        return 0;
    for (;; words++) {
        size_t length = strcspn(words, ",");
        int i = 0;

        while (choices[i] && (strlen(choices[i]) != length || strncasecmp(choices[i], words, length) != 0))
            i++;
        if (!choices[i])
            return -1;
        set |= 1 << i;
        words += length;
        if (!*words)
            return set;
    }
}

static void list_choices(const char *const *choices, char *buf, size_t size)
{
    size_t at = 0;

    for (int i = 0; choices[i] && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s",
                               !i               ? ""
                               : choices[i + 1] ? ", "
                                                : " or ",
                               choices[i]);
}

/* "a ratio from 1 to 10": what would have been right. */
const char *line_accepts(const struct line_key *key, char *buf, size_t size)
{
    char low[32], high[32];
    size_t at;

    switch (key->kind) {
    case LINE_NAME:
        snprintf(buf, size, "a name of at most %u letters, digits, '_', '-' and '.'", LINE_NAME_MAX);
        break;
    case LINE_TEXT:
        snprintf(buf, size, "at most 255 printable characters");
        break;
    case LINE_CHOICE:
        list_choices(key->choices, buf, size);
        break;
    case LINE_SET:
        at = (size_t)snprintf(buf, size, "none, or with commas some of ");
        list_choices(key->choices, buf + at, size - at);
        break;
    case LINE_INTEGER:
        snprintf(buf, size, "a whole number from %.0f to %.0f", key->min, key->max);
        break;
    case LINE_RATIO:
        snprintf(buf, size, "a number from %g to %g", key->min, key->max);
        break;
    case LINE_SECONDS:
        snprintf(buf, size, "a time from %s to %s", units_format_s(low, sizeof(low), key->min),
                 units_format_s(high, sizeof(high), key->max));
        break;
    case LINE_BYTES:
        snprintf(buf, size, "a size such as 25MiB or 700MB, up to %s",
                 units_format_bytes(high, sizeof(high), key->max));
        break;
    case LINE_RATE:
        snprintf(buf, size, "a bandwidth such as 25GB/s or 400Gbit/s, from %g to %g bytes per second",
                 key->min, key->max);
        break;
    case LINE_REFERENCE:
        snprintf(buf, size, "the name of a job");
        break;
    }
    return buf;
}

static int number_of(const struct line_key *key, const char *value, double *number)
{
    switch (key->kind) {
    case LINE_SECONDS:
        return units_seconds(value, number, NULL);
    case LINE_BYTES:
        return units_bytes(value, number, NULL);
    case LINE_RATE:
        return units_rate(value, number, NULL);
    case LINE_INTEGER: /* a ratio's "%" makes no sense here */
        return strchr(value, '%') ? -1 : units_ratio(value, number, NULL);
    default:
        return units_ratio(value, number, NULL);
    }
}

static int store_number(const struct line_key *key, char *place, const char *value)
{
    double number;

    if (number_of(key, value, &number) < 0 || !(number >= key->min && number <= key->max))
        return -1;
    if (key->kind != LINE_INTEGER)
        memcpy(place, &number, sizeof(number));
    else if (number == floor(number))
        memcpy(place, &(int){ (int)number }, sizeof(int));
    else
        return -1;
    return 0;
}

static bool is_printable(const char *s)
{
    while (*s && (unsigned char)*s >= ' ')
        s++;
    return !*s;
}

/* Write value to its place in base.  -1 when it is not accepted. */
static int key_store(const struct line_key *key, void *base, struct line_reference *ref, const char *value)
{
    char *place = (char *)base + key->offset;
    int choice;

    switch (key->kind) {
    case LINE_NAME:
        if (!is_name(value))
            return -1;
        memcpy(place, value, strlen(value) + 1);
        return 0;
    case LINE_REFERENCE:
        if (!is_name(value))
            return -1;
        memcpy(ref->name, value, strlen(value) + 1);
        return 0;
    case LINE_TEXT:
        if (strlen(value) > 255 || !is_printable(value))
            return -1;
        memcpy(place, value, strlen(value) + 1);
        return 0;
    case LINE_CHOICE:
    case LINE_SET:
        choice = key->kind == LINE_SET ? set_of(key->choices, value) : choice_of(key->choices, value);
        if (choice < 0)
            return -1;
        memcpy(place, &choice, sizeof(choice));
        return 0;
    default:
        return store_number(key, place, value);
    }
}

static const struct line_key *key_find(const struct line_key *keys, const char *name)
{
    for (; keys->name; keys++) {
        if (!strcasecmp(keys->name, name))
            return keys;
    }
    return NULL;
}

static const char *key_near(const struct line_key *keys, const char *name)
{
    struct suggestion near = suggest_for(name);

    for (; keys->name; keys++)
        suggest_offer(&near, keys->name);
    return near.best;
}

static char *key_names(const struct line_key *keys, char *buf, size_t size)
{
    size_t at = 0;

    for (size_t i = 0; keys[i].name && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", keys[i].name);
    return buf;
}

static int store_pair(const struct conf_line *line, const struct conf_pair *pair, const struct line_key *key,
                      void *base, struct line_reference *ref, struct err *err)
{
    char accepted[200];

    if (key_store(key, base, ref, pair->value) == 0)
        return 0;
    line_accepts(key, accepted, sizeof(accepted));
    if (key->standard && *key->standard)
        return conf_error(line, pair, err, "%s (default %s)", accepted, key->standard);
    return conf_error(line, pair, err, "%s", accepted);
}

/* All pairs of one line into base, which keeps nothing of what it was. */
int line_load(const struct conf_line *line, const struct line_key *keys, void *base,
              struct line_reference *ref, struct err *err)
{
    bool seen[64] = { false };
    char names[400];

    snprintf(ref->place, sizeof(ref->place), "%.100s:%u: %s=%s", line->file, line->pairs[0].line,
             line->pairs[0].key, line->pairs[0].value);
    for (size_t k = 0; keys[k].name; k++) {
        if (keys[k].standard && *keys[k].standard)
            key_store(&keys[k], base, ref, keys[k].standard);
    }
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_pair *pair = &line->pairs[i];
        const struct line_key *key = key_find(keys, pair->key);

        if (!key && key_near(keys, pair->key))
            return conf_error(line, pair, err, "unknown key. Did you mean '%s'?", key_near(keys, pair->key));
        if (!key)
            return conf_error(line, pair, err, "unknown key; a %s line has %s", keys[0].name,
                              key_names(keys, names, sizeof(names)));
        if (seen[key - keys])
            return conf_error(line, pair, err, "set twice on this line");
        seen[key - keys] = true;
        if (store_pair(line, pair, key, base, ref, err) < 0)
            return -1;
    }
    for (size_t k = 0; keys[k].name; k++) {
        if (!keys[k].standard && !seen[k]) {
            line_accepts(&keys[k], names, sizeof(names));
            return conf_error(line, &line->pairs[0], err, "%s= is missing: %s", keys[k].name, names);
        }
    }
    return 0;
}

void line_print(FILE *out, const struct line_key *key)
{
    char accepted[200];

    fprintf(out, "  %s=\n      %s\n      %s", key->name, key->text,
            line_accepts(key, accepted, sizeof(accepted)));
    if (key->standard && *key->standard)
        fprintf(out, "; default %s", key->standard);
    fputc('\n', out);
}

static const char *value_name(enum line_kind kind)
{
    switch (kind) {
    case LINE_NAME:
    case LINE_REFERENCE:
        return "NAME";
    case LINE_TEXT:
    case LINE_CHOICE:
    case LINE_SET:
        return "WORDS";
    default:
        return "VALUE";
    }
}

void line_print_mdoc(FILE *out, const struct line_key *key)
{
    char accepted[200];

    line_accepts(key, accepted, sizeof(accepted));
    fprintf(out, ".It Cm %s= Ns Ar %s\n%s\n", key->name, value_name(key->kind), key->text);
    if (key->kind == LINE_CHOICE)
        fprintf(out, "One of %s", accepted);
    else
        fprintf(out, "%c%s", toupper((unsigned char)accepted[0]), accepted + 1);
    if (!key->standard)
        fputs("; needed", out);
    else if (*key->standard)
        fprintf(out, "; default %s", key->standard);
    fputs(".\n", out);
}
