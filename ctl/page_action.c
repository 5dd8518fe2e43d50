/* page_action.c - what the controller did, as a table. */
#include <math.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/page.h"
#include "wire/json.h"

/* "requeue", "signal USR1", "drain node3" */
static void what_cell(struct table *t, const json_t *action)
{
    char name[32], signal[32], nodes[64];
    const char *more = show_text(action, "signal", signal, sizeof(signal));

    if (!strcmp(more, "-"))
        more = show_text(action, "nodes", nodes, sizeof(nodes));
    show_text(action, "action", name, sizeof(name));
    table_cell(t, "%s%s%s", name, strcmp(more, "-") ? " " : "", strcmp(more, "-") ? more : "");
}

/* The rule, or who asked by hand. */
static void who_cell(struct table *t, const json_t *action)
{
    char rule[64];
    double by = get_number(action, "by");

    show_text(action, "rule", rule, sizeof(rule));
    if (by >= 0)
        table_cell(t, "user %.0f", by);
    else
        table_cell(t, "%s", rule);
}

static void row(struct table *t, const json_t *action, double now)
{
    double asked = get_number(action, "asked");
    char text[512];

    table_cell(t, "%s", text_count(get_number(action, "id")).s);
    table_cell(t, "%s%s", text_s(now - asked).s, isnan(now - asked) ? "" : " ago");
    table_cell(t, "%s", show_text(action, "job", text, 40));
    what_cell(t, action);
    who_cell(t, action);
    table_cell(t, "%s", show_text(action, "state", text, 16));
    table_cell(t, "%s", text_count(get_number(action, "tries")).s);
    table_cell(t, "%s", show_text(action, "outcome", text, 160));
    table_cell(t, "%s", show_text(action, "reason", text, 160));
}

int page_actions(FILE *out, const json_t *answer, int columns, struct err *err)
{
    static const struct text_column layout[] = {
        { "ID", true, 2 },      { "ASKED", true, 0 },    { "JOB", false, 0 },
        { "ACTION", false, 0 }, { "BY", false, 1 },      { "STATE", false, 0 },
        { "TRIES", true, 3 },   { "OUTCOME", false, 0 }, { "REASON", false, 0 },
    };
    const json_t *actions, *action;
    struct table *t;
    size_t i;

    if (check_answer(answer, "actions", JSON_ARRAY, err) < 0)
        return -1;
    actions = get_array(answer, "actions");
    if (json_array_size(actions) == 0) {
        text_wrap(out, "No actions yet. By hand: sgctl action JOB ..., sgctl node NODE ...", 0, columns);
        return 0;
    }
    t = table_new(layout, ARRAY_SIZE(layout));
    json_array_foreach(actions, i, action)
        row(t, action, get_number(answer, "now"));
    table_print(t, out, 0, columns);
    table_free(t);
    return 0;
}
