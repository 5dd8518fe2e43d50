#include "doctor/findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/xalloc.h"
#include "wire/json.h"

static const char *const states[] = {
    [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_UNKNOWN] = "unknown", [FINDING_FAULT] = "fault"
};

/* A copy for a terminal: names come from files and from other users' jobs. */
static char *clean_copy(const char *text)
{
    json_t *value = json_of_text(text);
    size_t size = strlen(text) + 1;
    char *copy = xcalloc(1, size);

    json_show_value(value, copy, size);
    json_decref(value);
    return copy;
}

void findings_add(struct findings *f, enum finding_state state, const char *check, json_t *nodes,
                  const char *next, const char *fmt, ...)
{
    struct cluster_finding *to;
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    f->finding = xgrow(f->finding, &f->cap, f->n + 1, sizeof(*f->finding));
    to = &f->finding[f->n++];
    *to = (struct cluster_finding){ .state = state, .check = check, .nodes = nodes ? nodes : json_array() };
    to->text = clean_copy(text);
    to->next = next ? clean_copy(next) : NULL;
}

size_t findings_count(const struct findings *f, enum finding_state state)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->finding[i].state == state;
    return n;
}

bool findings_has(const struct findings *f, const char *check, const char *node)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct cluster_finding *one = &f->finding[i];
        json_t *name;
        size_t k;

        if (one->state != FINDING_FAULT || strcmp(one->check, check) != 0)
            continue;
        json_array_foreach(one->nodes, k, name)
            if (!strcmp(json_string_value(name), node))
                return true;
    }
    return false;
}

void findings_print(const struct findings *f, FILE *out)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct cluster_finding *one = &f->finding[i];

        fprintf(out, "%-8s %-14s %s\n", states[one->state], one->check, one->text);
        if (one->next)
            fprintf(out, "%-8s %-14s next: %s\n", "", "", one->next);
    }
}

json_t *findings_json(const struct findings *f)
{
    json_t *list = json_array(), *answer = json_object();

    for (size_t i = 0; i < f->n; i++) {
        const struct cluster_finding *one = &f->finding[i];
        json_t *o = json_object();

        json_put_text(o, "state", states[one->state]);
        json_put_text(o, "check", one->check);
        json_put_json(o, "nodes", json_incref(one->nodes));
        json_put_text(o, "text", one->text);
        json_put_text(o, "next", one->next);
        json_array_append_new(list, o);
    }
    json_put_int(answer, "faults", (int64_t)findings_count(f, FINDING_FAULT));
    json_put_int(answer, "unknown", (int64_t)findings_count(f, FINDING_UNKNOWN));
    json_put_json(answer, "findings", list);
    if (f->clocks)
        json_put_json(answer, "clocks", json_incref(f->clocks));
    return answer;
}

void findings_free(struct findings *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->finding[i].text);
        free(f->finding[i].next);
        json_decref(f->finding[i].nodes);
    }
    free(f->finding);
    json_decref(f->clocks);
    *f = (struct findings){ 0 };
}
