#include "report/report_print.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/json.h"

#define FLAGS      (JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)
#define LISTS_MAX  8
#define NAME_BYTES 64

struct print {
    FILE *out;
    report_ask *ask;
    void *arg;
    const char *job;
    size_t n;
    char list[LISTS_MAX][NAME_BYTES];
};

json_t *report_print_question(const char *job)
{
    return json_pack("{s:s, s:s, s:b}", "query", "job", "job", job, "rows_later", 1);
}

/* Where the line breaks of a value end up; there are none within its texts. */
static void put_indented(FILE *out, const json_t *value, int depth)
{
    char *text = json_dumps(value, FLAGS), *rest = text, *line;

    while ((line = strsep(&rest, "\n")))
        fprintf(out, "%s%s%*s", line, rest ? "\n" : "", rest ? 2 * depth : 0, "");
    free(text);
}

/* One page's rows; the next page's beginning, -1 after the last. */
static int64_t put_page(struct print *p, const char *path, int64_t from, bool *any, int depth,
                        struct err *err)
{
    json_t *question = json_pack("{s:s, s:s, s:s, s:I}", "query", "rows", "job", p->job, "list", path, "from",
                                 (json_int_t)from);
    json_t *answer = p->ask(question, p->arg, err);
    const json_t *row;
    int64_t next = -1;
    size_t i;

    json_decref(question);
    if (!answer)
        return -2;
    json_array_foreach(json_get_array(answer, "rows"), i, row) {
        fprintf(p->out, "%s\n%*s", *any ? "," : "", 2 * depth + 2, "");
        put_indented(p->out, row, depth + 1);
        *any = true;
    }
    next = json_get_count(answer, "next");
    if (json_check_answer(answer, "rows", JSON_ARRAY, err) < 0 || (next >= 0 && next <= from)) {
        err_set(err, "the controller's answer has no valid page of %s", path);
        next = -2;
    }
    json_decref(answer);
    return next;
}

static int put_list(struct print *p, const char *path, int depth, struct err *err)
{
    int64_t from = 0;
    bool any = false;

    fputc('[', p->out);
    while (from >= 0)
        from = put_page(p, path, from, &any, depth, err);
    if (from < -1)
        return -1;
    if (any)
        fprintf(p->out, "\n%*s", 2 * depth, "");
    fputc(']', p->out);
    return 0;
}

static bool is_list(const struct print *p, const char *path)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->list[i], path))
            return true;
    return false;
}

static bool holds_list(const struct print *p, const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < p->n; i++)
        if (!strncmp(p->list[i], path, n) && p->list[i][n] == '.')
            return true;
    return false;
}

static int put_object(struct print *p, const json_t *o, const char *path, int depth, struct err *err)
{
    bool any = false;
    const char *key;
    json_t *value;

    fputc('{', p->out);
    json_object_foreach((json_t *)o, key, value) {
        json_t *name;
        char below[2 * NAME_BYTES];
        int rc = 0;

        if (!depth && !strcmp(key, "rows_later"))
            continue;
        name = json_string(key);
        fprintf(p->out, "%s\n%*s", any ? "," : "", 2 * depth + 2, "");
        put_indented(p->out, name, 0);
        fputs(": ", p->out);
        json_decref(name);
        any = true;
        snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "", key);
        if (is_list(p, below))
            rc = put_list(p, below, depth + 1, err);
        else if (holds_list(p, below) && json_is_object(value))
            rc = put_object(p, value, below, depth + 1, err);
        else
            put_indented(p->out, value, depth + 1);
        if (rc < 0)
            return -1;
    }
    if (any)
        fprintf(p->out, "\n%*s", 2 * depth, "");
    fputc('}', p->out);
    return 0;
}

int report_print(FILE *out, const json_t *answer, report_ask *ask, void *arg, struct err *err)
{
    struct print p = { .out = out, .ask = ask, .arg = arg, .job = json_get_word(answer, "id") };

    p.n = json_get_lines(p.list[0], sizeof(p.list[0]), LISTS_MAX, answer, "rows_later");
    if (put_object(&p, answer, "", 0, err) < 0)
        return -1;
    fputc('\n', out);
    return 0;
}
