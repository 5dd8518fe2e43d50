/* page_action.c - what the controller did, as a table. */
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

/* "requeue", "signal USR1", "drain node3" */
static char *what_cell(const void *action, char *buf, size_t size)
{
    struct shown more = shown(action, json_get_string(action, "signal") ? "signal" : "nodes");

    json_show_text(action, "action", buf, size);
    if (strcmp(more.s, "-"))
        text_append(buf, size, " %s", more.s);
    return buf;
}

/* A text, which may be broken on a narrow screen. */
static char *asked_cell(const void *action, char *buf, size_t size)
{
    snprintf(buf, size, "%s", page_at(json_get_number(action, "asked")).s);
    return buf;
}

/* The rule, or who asked by hand. */
static char *who_cell(const void *action, char *buf, size_t size)
{
    double by = json_get_number(action, "by");

    if (!(by >= 0))
        return json_show_text(action, "rule", buf, size);
    snprintf(buf, size, "%s", page_user(by).s);
    return buf;
}

static char *order_cell(const void *order, char *buf, size_t size)
{
    snprintf(buf, size, "%s", json_get_true(order, "applied") ? "along the switches" : "Slurm's, held out");
    return buf;
}

static char *told_cell(const void *choice, char *buf, size_t size)
{
    snprintf(buf, size, "%s", json_get_true(choice, "applied") ? "was told to" : "held out");
    return buf;
}

int page_actions(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column column[] = {
        { "ID", .key = "id", .words = text_count, .spare = 2 },
        { "ASKED", .cell = asked_cell },
        { "AGE", .key = "asked", .words = text_s, .when = true, .spare = 4 },
        { "JOB", .key = "job", .chars = 40 },
        { "ACTION", .cell = what_cell },
        { "BY", .cell = who_cell, .chars = 64 },
        { "STATE", .key = "state", .chars = 16 },
        { "TRIES", .key = "tries", .words = text_count, .spare = 3 },
        { "OUTCOME", .key = "outcome" },
        { "REASON", .key = "reason", .spare = 1 },
    };
    static const struct page_column order[] = {
        { "JOB", .key = "job", .chars = 40 },
        { "NAME", .key = "name", .chars = 40 },
        { "PATTERN", .key = "pattern", .chars = 40 },
        { "ORDER", .cell = order_cell },
        { "EFFECT", .key = "text" },
    };
    static const struct page_column algorithm[] = {
        { "JOB", .key = "job", .chars = 40 },
        { "NAME", .key = "name", .chars = 40 },
        { "ALGORITHM", .key = "pattern", .chars = 40 },
        { "LIBRARY", .cell = told_cell },
        { "EFFECT", .key = "text" },
    };
    const struct page page = { out, answer, form, NULL };

    if (json_check_answer(answer, "actions", JSON_ARRAY, err) < 0)
        return -1;
    if (json_array_size(json_get_array(answer, "actions")) == 0)
        page_line(&page, 0, "No actions yet. By hand: sgctl action JOB ..., sgctl node NODE ...");
    page_objects(&page, NULL, json_get_array(answer, "actions"), column, ARRAY_SIZE(column), 0);
    page_objects(&page, "Orders of ranks at launch", json_get_array(answer, "orders"), order,
                 ARRAY_SIZE(order), PAGE_INDENT);
    page_objects(&page, "Algorithms of all-reduces at launch", json_get_array(answer, "algorithms"),
                 algorithm, ARRAY_SIZE(algorithm), PAGE_INDENT);
    return 0;
}
