#include "actions/rest_answer.h"

#include <string.h>
#include <strings.h>

#include "wire/json.h"

#define RECORDS_MAX 10000u /* at most this many records are searched */

/* -1: missing */
static int64_t number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    if (json_is_object(v))
        v = json_is_false(json_object_get(v, "set")) ? NULL : json_object_get(v, "number");
    return json_is_integer(v) && json_integer_value(v) >= 0 ? (int64_t)json_integer_value(v) : -1;
}

static bool has_word(const json_t *o, const char *key, const char *word)
{
    const json_t *v = json_object_get(o, key), *item;
    size_t i;

    if (json_is_string(v))
        return strcasestr(json_string_value(v), word) != NULL;
    json_array_foreach(v, i, item)
        if (json_is_string(item) && !strcasecmp(json_string_value(item), word))
            return true;
    return false;
}

enum rest_answer rest_read(const char *body, size_t bytes, json_t **answer, struct err *err)
{
    json_error_t e;
    const json_t *first;
    const char *text;

    *answer = json_loadb(body, bytes, 0, &e);
    if (!json_is_object(*answer)) {
        json_decref(*answer);
        *answer = NULL;
        err_set(err, "the answer is not a JSON object");
        return REST_UNREADABLE;
    }
    first = json_array_get(json_object_get(*answer, "errors"), 0);
    if (!first)
        return REST_FINE;
    text =
        *json_get_word(first, "error") ? json_get_word(first, "error") : json_get_word(first, "description");
    err_set(err, "Slurm: %.300s", *text ? text : "an error without description");
    return REST_REFUSED;
}

static const json_t *record(const json_t *answer, const char *list, const char *key, int64_t id,
                            const char *name)
{
    const json_t *all = json_object_get(answer, list), *item;
    size_t i;

    json_array_foreach(all, i, item) {
        if (i == RECORDS_MAX)
            break;
        if (name ? !strcmp(json_get_word(item, key), name) : number(item, key) == id)
            return item;
    }
    return NULL;
}

enum rest_answer rest_job(const json_t *answer, uint32_t job, struct rest_job *out, struct err *err)
{
    const json_t *o = record(answer, "jobs", "job_id", job, NULL);
    int64_t uid = number(o, "user_id");

    if (!o || uid < 0 || uid >= UINT32_MAX) {
        err_set(err, "the answer is not about job %u", job);
        return REST_UNREADABLE;
    }
    *out = (struct rest_job){ .uid = (uint32_t)uid,
                              .comment = json_get_word(o, "comment"),
                              .admin_comment = json_get_word(o, "admin_comment"),
                              .nodes = json_get_word(o, "nodes") };
    return REST_FINE;
}

enum rest_answer rest_node(const json_t *answer, const char *name, struct rest_node *out, struct err *err)
{
    const json_t *o = record(answer, "nodes", "name", 0, name);

    if (!o) {
        err_set(err, "the answer is not about node %.64s", name);
        return REST_UNREADABLE;
    }
    *out =
        (struct rest_node){ .drained = has_word(o, "state", "DRAIN") || has_word(o, "state_flags", "DRAIN"),
                            .comment = json_get_word(o, "comment") };
    return REST_FINE;
}
