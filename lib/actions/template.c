#include "actions/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define DEPTH_MAX  16
#define FILLED_MAX (256u << 10)

static const struct {
    const char *name, *text;
} builtins[] = {
    { "generic",
      "{\"source\":\"syncguard\",\"controller\":\"${controller}\",\"key\":\"${key}\",\"text\":\"${text}\","
      "\"job\":\"${job}\",\"nodes\":\"${nodes}\",\"rule\":\"${rule}\",\"policy\":\"${policy}\",\"reason\":\"$"
      "{reason}\","
      "\"next\":\"${next}\",\"time\":\"${time}\",\"figures\":\"${figures}\"}" },
    { "slack", "{\"text\":\"${mrkdwn}\"}" },
    { "alertmanager",
      "[{\"labels\":{\"alertname\":\"SyncGuard\",\"severity\":\"warning\",\"rule\":\"${rule}\",\"job\":\"${"
      "job}\","
      "\"node\":\"${nodes}\",\"policy\":\"${policy}\",\"controller\":\"${controller}\"},"
      "\"annotations\":{\"summary\":\"${text}\",\"description\":\"${reason}\"},\"startsAt\":\"${time}\"}]" },
    { "pagerduty",
      "{\"routing_key\":\"${token}\",\"event_action\":\"trigger\",\"dedup_key\":\"${key}\","
      "\"payload\":{\"summary\":\"${text}\",\"source\":\"${controller}\",\"severity\":\"warning\","
      "\"timestamp\":\"${time}\",\"component\":\"${nodes}\",\"group\":\"${job}\",\"class\":\"${rule}\","
      "\"custom_details\":\"${figures}\"}}" },
};

const char *template_builtin(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
        if (!strcmp(builtins[i].name, name))
            return builtins[i].text;
    return NULL;
}

char *template_names(char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(builtins) && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", builtins[i].name);
    return buf;
}

bool template_uses(const char *text, const char *name)
{
    char *place = xasprintf("${%s}", name);
    bool uses = strstr(text, place) != NULL;

    free(place);
    return uses;
}

/* ---- filling in ---- */

struct filling {
    const json_t *values;
    struct err *err;
    size_t bytes; /* text so far; bounded, because a template may use ${figures} a thousand times */
};

static json_t *fill_value(struct filling *f, const json_t *v, int depth);

/* The value of "${NAME}" at s; *after points behind it.  NULL with a reason. */
static const json_t *value_at(struct filling *f, const char *s, const char **after)
{
    size_t n = strcspn(s + 2, "}");
    char name[32];
    const json_t *v;

    if (s[2 + n] != '}' || n >= sizeof(name)) {
        err_set(f->err, "invalid placeholder '%.20s': expected ${NAME}", s);
        return NULL;
    }
    snprintf(name, sizeof(name), "%.*s", (int)n, s + 2);
    *after = s + 2 + n + 1;
    v = json_object_get(f->values, name);
    if (!v)
        err_set(f->err, "unknown placeholder ${%s}", name);
    return v;
}

/* Append n bytes to *out, which is reallocated. */
static int append_text(struct filling *f, char **out, const char *text, size_t n)
{
    char *longer;

    f->bytes += n;
    if (f->bytes > FILLED_MAX)
        return err_set(f->err, "longer than %u bytes when filled in", FILLED_MAX);
    longer = xasprintf("%s%.*s", *out, (int)n, text);
    free(*out);
    *out = longer;
    return 0;
}

static int append_value(struct filling *f, char **out, const json_t *v)
{
    char *text = json_is_string(v) ? xstrdup(json_string_value(v))
                 : json_is_null(v) ? xstrdup("")
                                   : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    int rc = text ? append_text(f, out, text, strlen(text)) : err_set(f->err, "cannot write a value as text");

    free(text);
    return rc;
}

/* Whether the string consists of one ${NAME}. */
static bool is_place(const char *s)
{
    size_t n = strcspn(s, "}");

    return !strncmp(s, "${", 2) && s[n] && !s[n + 1];
}

static json_t *fill_string(struct filling *f, const char *s)
{
    const char *at, *after;
    char *out;
    json_t *filled = NULL;

    if (is_place(s)) {
        const json_t *v = value_at(f, s, &after);

        f->bytes += v ? json_dumpb(v, NULL, 0, JSON_ENCODE_ANY) : 0;
        return v ? json_deep_copy(v) : NULL;
    }
    out = xstrdup("");
    for (; (at = strstr(s, "${")); s = after) {
        const json_t *v = value_at(f, at, &after);

        if (!v || append_text(f, &out, s, (size_t)(at - s)) < 0 || append_value(f, &out, v) < 0)
            goto out;
    }
    if (append_text(f, &out, s, strlen(s)) == 0)
        filled = json_string(out);
out:
    free(out);
    return filled;
}

static json_t *fill_object(struct filling *f, const json_t *v, int depth)
{
    json_t *out = json_object(), *item;
    const char *key;

    json_object_foreach((json_t *)v, key, item) {
        json_t *filled = fill_value(f, item, depth + 1);

        if (!filled) {
            json_decref(out);
            return NULL;
        }
        json_object_set_new(out, key, filled);
    }
    return out;
}

static json_t *fill_array(struct filling *f, const json_t *v, int depth)
{
    json_t *out = json_array(), *item;
    size_t i;

    json_array_foreach(v, i, item) {
        json_t *filled = fill_value(f, item, depth + 1);

        if (!filled) {
            json_decref(out);
            return NULL;
        }
        json_array_append_new(out, filled);
    }
    return out;
}

static json_t *fill_value(struct filling *f, const json_t *v, int depth)
{
    if (depth > DEPTH_MAX || f->bytes > FILLED_MAX) {
        err_set(f->err, depth > DEPTH_MAX ? "nested too deeply" : "too long when filled in");
        return NULL;
    }
    if (json_is_object(v))
        return fill_object(f, v, depth);
    if (json_is_array(v))
        return fill_array(f, v, depth);
    return json_is_string(v) ? fill_string(f, json_string_value(v)) : json_deep_copy(v);
}

char *template_fill(const char *text, const json_t *values, struct err *err)
{
    struct filling f = { .values = values, .err = err };
    json_error_t e;
    json_t *parsed = strlen(text) <= TEMPLATE_MAX ? json_loads(text, JSON_REJECT_DUPLICATES, &e) : NULL,
           *filled;
    char *out = NULL;

    if (strlen(text) > TEMPLATE_MAX) {
        err_set(err, "longer than %u bytes", TEMPLATE_MAX);
        return NULL;
    }
    if (!parsed) {
        err_set(err, "line %d: %s", e.line, e.text);
        return NULL;
    }
    filled = fill_value(&f, parsed, 0);
    json_decref(parsed);
    if (filled)
        out = json_dumps(filled, JSON_COMPACT);
    json_decref(filled);
    if (filled && !out)
        err_set(err, "cannot be encoded as JSON");
    return out;
}
