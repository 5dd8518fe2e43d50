#include "ctl/gather.h"

#include "ctl/page.h"
#include "wire/json.h"

#define RANKS     64  /* in the table: of smaller jobs it has all of them, with their nodes */
#define COLUMNS   120 /* of history: as many as there are */
#define STEP_ROWS 24  /* ranks of the step that is drawn */

struct gather {
    const struct client_options *client;
    struct client_call *call; /* NULL before the first question */
    const char *job;
    int64_t run;
    double timeout_s;
};

/* Takes the question. */
static json_t *ask(struct gather *g, json_t *question, struct err *err)
{
    json_t *answer;

    if (g->run)
        json_object_set_new(question, "run", json_integer((json_int_t)g->run));
    answer = g->call ? client_call_ask(g->call, question, g->timeout_s, err)
                     : client_call(&g->call, g->client, question, g->timeout_s, err);
    json_decref(question);
    return answer;
}

/* A report of an ended step has it. */
static int add_picture(struct gather *g, json_t *answer, struct err *err)
{
    json_t *step;

    if (json_object_get(answer, "picture"))
        return 0;
    step = ask(g, json_pack("{s:s, s:s, s:i}", "query", "step", "job", g->job, "rows", STEP_ROWS), err);
    if (!step)
        return -1;
    json_object_set(answer, "picture", json_object_get(step, "picture"));
    json_decref(step);
    return 0;
}

/* All pages of the rows that belong to this connection's newest report; NULL with the reason. */
static json_t *heat_rows(struct gather *g, struct err *err)
{
    json_t *rows = json_array(), *page;
    int64_t from = 0, next;

    do {
        page = ask(g,
                   json_pack("{s:s, s:s, s:s, s:I}", "query", "rows", "job", g->job, "list", "heat.rows",
                             "from", (json_int_t)from),
                   err);
        if (!page || json_check_answer(page, "rows", JSON_ARRAY, err) < 0)
            goto fail;
        next = json_get_count(page, "next");
        if (next >= 0 && next <= from) {
            err_set(err, "the controller's answer has no valid page of heat.rows");
            goto fail;
        }
        json_array_extend(rows, json_object_get(page, "rows"));
        json_decref(page);
        from = next;
    } while (next >= 0);
    return rows;
fail:
    json_decref(page);
    json_decref(rows);
    return NULL;
}

/* Of a running job with more ranks than the table has.  Of an ended step there is what is there. */
static int add_heat(struct gather *g, json_t *answer, struct err *err)
{
    json_t *report, *rows, *heat;

    if (!json_get_object(answer, "heat") ||
        json_get_count(answer, "rank_table_total") <=
            (int64_t)json_array_size(json_get_array(answer, "rank_table")))
        return 0;
    report = ask(g,
                 json_pack("{s:s, s:s, s:b, s:{s:s, s:i}}", "query", "job", "job", g->job, "rows_later", 1,
                           "view", "sort", "rank", "columns", COLUMNS),
                 err);
    if (!report)
        return -1;
    heat = json_object_get(report, "heat");
    if (json_get_array(report, "rows_later") && json_is_object(heat)) {
        rows = heat_rows(g, err);
        if (!rows) {
            json_decref(report);
            return -1;
        }
        json_object_set_new(heat, "rows", rows);
        json_object_set(answer, "heat", heat);
    }
    json_decref(report);
    return 0;
}

json_t *gather_job(const struct client_options *client, const char *job, int64_t run, double timeout_s,
                   struct err *err)
{
    struct gather g = { .client = client, .job = job, .run = run, .timeout_s = timeout_s };
    json_t *question =
        json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i, s:i}}", "query", "job", "job", job, "view", "sort",
                  "lateness", "offset", 0, "count", RANKS, "columns", COLUMNS, "agents", PAGE_AGENTS);
    json_t *answer = ask(&g, question, err);

    if (answer && (add_picture(&g, answer, err) < 0 || add_heat(&g, answer, err) < 0)) {
        json_decref(answer);
        answer = NULL;
    }
    client_call_end(g.call);
    return answer;
}
