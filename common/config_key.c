#include "common/config_key.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/suggest.h"
#include "common/units.h"

static const char *const levels[] = { "error", "warning", "info", "debug", NULL };

/* ---- what a key accepts ---- */

/* -1: none of them. */
static int word_index(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (!strcasecmp(word, words[i]))
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

bool config_is_name(const char *s)
{
    if (!isalnum((unsigned char)*s))
        return false;
    return s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")] == '\0';
}

/* One host[:port], [address] or [address]:port, up to the comma. */
static bool is_host(const char *s, size_t len)
{
    const char *colon, *end = s + len;
    size_t host;
    long port;
    char *after;

    if (len > 0 && *s == '[') {
        host = 1 + strspn(s + 1, "0123456789abcdefABCDEF:.%");
        if (host < 3 || s[host] != ']')
            return false;
        colon = s + host + 1;
    } else {
        host = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.");
        if (host == 0)
            return false;
        colon = s + host;
    }
    if (colon == end)
        return true;
    if (*colon != ':' || !isdigit((unsigned char)colon[1]))
        return false;
    port = strtol(colon + 1, &after, 10);
    return after == end && port >= 1 && port <= 65535;
}

static bool is_hosts(const char *s)
{
    for (;;) {
        size_t len = strcspn(s, ",");

        if (!is_host(s, len))
            return false;
        if (!s[len])
            return true;
        s += len + 1;
    }
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

static bool text_fits(const struct config_key *key, const char *value)
{
    if (strlen(value) >= key->size || !is_printable(value))
        return false;
    if (!*value)
        return !*key->standard;
    switch (key->kind) {
    case CONFIG_NAME:
        return config_is_name(value);
    case CONFIG_PATH:
    case CONFIG_AUTHINFO:
        return *value == '/';
    case CONFIG_HOSTS:
        return is_hosts(value);
    case CONFIG_ADDRESS:
        return value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:%_")] ==
               '\0';
    case CONFIG_LIST:
        return is_list(value);
    case CONFIG_LEVEL:
        return word_index(levels, value) >= 0;
    case CONFIG_RESTD: /* a socket's path has room for 107 characters */
        return is_url(value) || (!strncmp(value, "unix:/", 6) && strlen(value) <= strlen("unix:") + 107);
    case CONFIG_WEBHOOK:
        return *value == '/' || is_url(value);
    case CONFIG_NAME_OR_PATH:
        return *value == '/' || config_is_name(value);
    default:
        return true;
    }
}

/* -1: something in the list is none of them. */
static int word_set(const char *const *words, const char *list)
{
    char word[32];
    int set = 0, i;

    for (;;) {
        size_t length = strcspn(list, ",");

        if (length >= sizeof(word))
            return -1;
        memcpy(word, list, length);
        word[length] = '\0';
        i = word_index(words, word);
        if (i < 0)
            return -1;
        set |= 1 << i;
        if (!list[length])
            return set;
        list += length + 1;
    }
}

static char *set_write(const char *const *words, int set, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (int i = 0; words[i] && at < size; i++)
        if (set & 1 << i)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "," : "", words[i]);
    return buf;
}

static char *set_accepts(const struct config_key *key, char *buf, size_t size)
{
    char list[120];

    snprintf(buf, size, "one or more of %s, with commas", word_list(key->words, list, sizeof(list)));
    return buf;
}

static char *integer_accepts(const struct config_key *key, char *buf, size_t size)
{
    snprintf(buf, size, "a whole number%s%s from %.0f to %.0f", key->unit ? " of " : "",
             key->unit ? key->unit : "", key->min, key->max);
    return buf;
}

char *config_key_accepts(const struct config_key *key, char *buf, size_t size)
{
    char low[32], high[32];

    switch (key->kind) {
    case CONFIG_TEXT:
        snprintf(buf, size, "at most %zu printable characters", key->size - 1);
        break;
    case CONFIG_NAME:
        snprintf(buf, size, "a name of at most %zu letters, digits, '_', '-' and '.'", key->size - 1);
        break;
    case CONFIG_PATH:
        snprintf(buf, size, "a path that begins with /");
        break;
    case CONFIG_HOSTS:
        snprintf(buf, size, "HOST[:PORT][,HOST[:PORT]...]");
        break;
    case CONFIG_ADDRESS:
        snprintf(buf, size, "an address or host name");
        break;
    case CONFIG_AUTHINFO:
        snprintf(buf, size, "socket=PATH, at most %zu characters of path", key->size - 1);
        break;
    case CONFIG_LIST:
        snprintf(buf, size, "NAME[,NAME...]");
        break;
    case CONFIG_LEVEL:
        return word_list(levels, buf, size);
    case CONFIG_RESTD:
        snprintf(buf, size, "unix:/PATH, http://HOST[:PORT] or https://HOST[:PORT]");
        break;
    case CONFIG_WEBHOOK:
        snprintf(buf, size,
                 "an http:// or https:// URL without user and password, or a path that begins with /");
        break;
    case CONFIG_NAME_OR_PATH:
        snprintf(buf, size, "a name, or a path that begins with /");
        break;
    case CONFIG_WORD:
        return word_list(key->words, buf, size);
    case CONFIG_SET:
        return set_accepts(key, buf, size);
    case CONFIG_INTEGER:
        return integer_accepts(key, buf, size);
    case CONFIG_RATIO:
        snprintf(buf, size, "a ratio from %g to %g", key->min, key->max);
        break;
    case CONFIG_SECONDS:
        snprintf(buf, size, "a time from %s to %s", units_format_s(low, sizeof(low), key->min),
                 units_format_s(high, sizeof(high), key->max));
        break;
    case CONFIG_HERTZ:
        snprintf(buf, size, "a rate from %g to %g a second", key->min, key->max);
        break;
    case CONFIG_BYTES:
        snprintf(buf, size, "a size from %s to %s", units_format_bytes(low, sizeof(low), key->min),
                 units_format_bytes(high, sizeof(high), key->max));
        break;
    case CONFIG_NUMBER:
        snprintf(buf, size, "a number from %g to %g%s%s", key->min, key->max, key->unit ? " " : "",
                 key->unit ? key->unit : "");
        break;
    }
    return buf;
}

const char *config_key_unit(const struct config_key *key)
{
    switch (key->kind) {
    case CONFIG_RATIO:
        return "ratio";
    case CONFIG_SECONDS:
        return "s";
    case CONFIG_HERTZ:
        return "1/s";
    case CONFIG_BYTES:
        return "bytes";
    default:
        return key->unit ? key->unit : "";
    }
}

/* ---- values ---- */

static int number_of(const struct config_key *key, const char *value, double *number)
{
    switch (key->kind) {
    case CONFIG_WORD:
        *number = word_index(key->words, value);
        return *number < 0 ? -1 : 0;
    case CONFIG_SET:
        *number = word_set(key->words, value);
        return *number < 0 ? -1 : 0;
    case CONFIG_SECONDS:
        return units_seconds(value, number, NULL);
    case CONFIG_BYTES:
        return units_bytes(value, number, NULL);
    case CONFIG_RATIO:
        return units_ratio(value, number, NULL);
    default: /* a ratio's "%" makes no sense here */
        return strchr(value, '%') ? -1 : units_ratio(value, number, NULL);
    }
}

static int store_number(const struct config_key *key, char *place, const char *value)
{
    double number;

    if (number_of(key, value, &number) < 0)
        return -1;
    if (!key->words && (number < key->min || number > key->max))
        return -1;
    if (key->kind > CONFIG_SET)
        memcpy(place, &number, sizeof(number));
    else if (number == floor(number))
        memcpy(place, &(int){ (int)number }, sizeof(int));
    else
        return -1;
    return 0;
}

int config_key_store(const struct config_key *key, void *base, const char *value)
{
    char *place = (char *)base + key->offset;

    if (key->kind >= CONFIG_INTEGER)
        return store_number(key, place, value);
    if (key->kind == CONFIG_AUTHINFO && *value) {
        if (strncasecmp(value, "socket=", strlen("socket=")) != 0)
            return -1;
        value += strlen("socket=");
    }
    if (!text_fits(key, value))
        return -1;
    memcpy(place, value, strlen(value) + 1);
    return 0;
}

void config_key_defaults(const struct config_key *keys, size_t n, void *base)
{
    for (size_t i = 0; i < n; i++)
        config_key_store(&keys[i], base, keys[i].standard);
}

static int integer_at(const struct config_key *key, const void *base)
{
    int integer;

    memcpy(&integer, (const char *)base + key->offset, sizeof(integer));
    return integer;
}

double config_key_number(const struct config_key *key, const void *base)
{
    double number = NAN;

    if (key->kind > CONFIG_SET)
        memcpy(&number, (const char *)base + key->offset, sizeof(number));
    else if (key->kind == CONFIG_INTEGER)
        number = integer_at(key, base);
    return number;
}

char *config_key_write(const struct config_key *key, const void *base, char *buf, size_t size)
{
    const char *place = (const char *)base + key->offset;

    if (key->kind < CONFIG_INTEGER)
        snprintf(buf, size, "%s%s", key->kind == CONFIG_AUTHINFO && *place ? "socket=" : "", place);
    else if (key->kind == CONFIG_INTEGER)
        snprintf(buf, size, "%d", integer_at(key, base));
    else if (key->kind == CONFIG_WORD)
        snprintf(buf, size, "%s", key->words[integer_at(key, base)]);
    else if (key->kind == CONFIG_SET)
        set_write(key->words, integer_at(key, base), buf, size);
    else
        snprintf(buf, size, "%.12g%s", config_key_number(key, base), key->kind == CONFIG_SECONDS ? "s" : "");
    return buf;
}

const struct config_key *config_key_find(const struct config_key *keys, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcasecmp(keys[i].name, name))
            return &keys[i];
    }
    return NULL;
}

const char *config_key_near(const struct config_key *keys, size_t n, const char *name)
{
    struct suggestion near = suggest_for(name);

    for (size_t i = 0; i < n; i++)
        suggest_offer(&near, keys[i].name);
    return near.best;
}

char *config_key_names(const struct config_key *keys, size_t n, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", keys[i].name);
    return buf;
}
