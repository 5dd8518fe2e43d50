#include "common/key.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/suggest.h"

static const char socket_prefix[] = "socket="; /* of VALUE_AUTHINFO, in the file alone */

/* A text must fit into its place, and may be empty only if its default is. */
static struct value_type type_of(const struct key *key)
{
    struct value_type t = key->type;

    if (value_is_text(&t)) {
        t.min = key->standard && !*key->standard ? 0 : 1;
        t.max = (double)(key->size - 1 + (t.kind == VALUE_AUTHINFO ? strlen(socket_prefix) : 0));
    }
    return t;
}

char *key_accepts(const struct key *key, char *buf, size_t size)
{
    struct value_type t = type_of(key);

    return value_accepts(&t, buf, size);
}

int key_store(const struct key *key, void *base, const char *value, struct err *err)
{
    struct value_type t = type_of(key);
    char *place = (char *)base + key->offset;
    struct err reason;
    double number;

    if (value_parse(&t, value, &number, &reason) < 0)
        return key->standard && *key->standard ? err_set(err, "%s (default %s)", reason.text, key->standard)
                                               : err_set(err, "%s", reason.text);
    if (t.kind == VALUE_AUTHINFO && *value)
        value += strlen(socket_prefix);
    if (value_is_text(&t))
        memcpy(place, value, strlen(value) + 1);
    else if (t.kind <= VALUE_SET)
        memcpy(place, &(int){ (int)number }, sizeof(int));
    else
        memcpy(place, &number, sizeof(number));
    return 0;
}

void key_defaults(const struct key *keys, void *base)
{
    for (; keys->name; keys++)
        if (keys->standard && *keys->standard)
            key_store(keys, base, keys->standard, NULL);
}

/* Also of a word or a set. */
static double number_at(const struct key *key, const void *base)
{
    const char *place = (const char *)base + key->offset;
    double number;
    int integer;

    if (key->type.kind > VALUE_SET) {
        memcpy(&number, place, sizeof(number));
        return number;
    }
    memcpy(&integer, place, sizeof(integer));
    return integer;
}

double key_number(const struct key *key, const void *base)
{
    return value_is_number(&key->type) ? number_at(key, base) : NAN;
}

char *key_write(const struct key *key, const void *base, char *buf, size_t size)
{
    const char *place = (const char *)base + key->offset;

    if (!value_is_text(&key->type))
        return value_write(&key->type, number_at(key, base), buf, size);
    snprintf(buf, size, "%s%s", key->type.kind == VALUE_AUTHINFO && *place ? socket_prefix : "", place);
    return buf;
}

const struct key *key_find(const struct key *keys, const char *name)
{
    for (; keys->name; keys++)
        if (!strcasecmp(keys->name, name))
            return keys;
    return NULL;
}

char *key_names(const struct key *keys, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; keys[i].name && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", keys[i].name);
    return buf;
}

int key_unknown(const struct conf_line *line, const struct conf_pair *pair, const struct key *keys,
                const char *whose, struct err *err)
{
    struct suggestion near = suggest_for(pair->key);
    char names[512];

    for (const struct key *key = keys; key->name; key++)
        suggest_offer(&near, key->name);
    if (near.best)
        return conf_error(line, pair, err, "unknown key. Did you mean '%s'?", near.best);
    return conf_error(line, pair, err, "unknown key; %s %s", whose, key_names(keys, names, sizeof(names)));
}

int key_load(const struct conf_line *line, size_t i, const struct key *keys, const char *whose, void *base,
             struct err *err)
{
    bool seen[KEYS_MAX] = { false };
    char accepted[240];
    struct err reason;

    for (; i < line->n; i++) {
        const struct conf_pair *pair = &line->pairs[i];
        const struct key *key = key_find(keys, pair->key);

        if (!key)
            return key_unknown(line, pair, keys, whose, err);
        if (seen[key - keys])
            return conf_error(line, pair, err, "set twice on this line");
        seen[key - keys] = true;
        if (key_store(key, base, pair->value, &reason) < 0)
            return conf_error(line, pair, err, "%s", reason.text);
    }
    for (size_t k = 0; keys[k].name; k++)
        if (!keys[k].standard && !seen[k])
            return conf_error(line, &line->pairs[0], err, "%s= is missing: %s", keys[k].name,
                              key_accepts(&keys[k], accepted, sizeof(accepted)));
    return 0;
}
