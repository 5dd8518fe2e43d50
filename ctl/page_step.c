/* page_step.c - the newest step in words: what its critical path is made of, and what each rank did in it. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

static char *rank_cell(const json_t *row, char *buf, size_t size)
{
    snprintf(buf, size, "r%s", text_count(get_number(row, "rank")).s);
    return buf;
}

static void put_head(const struct page *p, const json_t *picture)
{
    double age_s = get_number(picture, "age_s");

    page_line(p, 0, "Step %s of %s took %s%s%s%s.", text_count(get_number(picture, "step")).s,
              get_string(p->answer, "job") ? shown(p->answer, "job").s : "the trace",
              text_s(get_number(picture, "duration_s")).s, age_s >= 1 ? " (" : "",
              age_s >= 1 ? page_ago(age_s).s : "", age_s >= 1 ? ")" : "");
    page_line(p, 0, "%s.", shown(picture, "text").s);
}

static void put_notes(const struct page *p, const json_t *picture)
{
    double ranks = get_number(picture, "ranks"), rows = (double)json_array_size(get_array(picture, "rows")),
           messages = get_number(picture, "messages_total");

    if (ranks > rows)
        page_line(p, PAGE_INDENT,
                  "%s of %s ranks: those on the critical path, one of each role, and the slowest",
                  text_count(rows).s, text_count(ranks).s);
    if (!strcmp(get_word(picture, "basis"), "sums"))
        page_line(p, PAGE_INDENT,
                  "calls are not known one by one: the path is the slowest rank's work and the transfers");
    else
        page_line(p, PAGE_INDENT, "%s message%s between ranks", text_count(messages).s,
                  page_plural(messages));
}

int page_step(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column part[] = {
        { "TIME", .key = "time_s", .words = text_s },
        { "WHAT", .key = "text" },
    };
    static const struct page_column rank[] = {
        { "RANK", .cell = rank_cell },
        { "NODE", .key = "node" },
        { "WORKS", .key = "work_s", .words = text_s },
        { "ITS PEERS", .key = "peers_s", .words = text_s },
        { "WAITS", .key = "wait_s", .words = text_s },
        { "TRANSFERS", .key = "transfer_s", .words = text_s, .spare = 1 },
        { "IN CALLS", .key = "call_s", .words = text_s, .spare = 2 },
        { "CRITICAL WORK", .key = "path_s", .words = text_s },
    };
    const struct page page = { out, answer, form, NULL };
    const json_t *picture = get_object(answer, "picture");

    if (json_is_null(json_object_get(answer, "picture"))) {
        page_line(&page, 0, "No step is known yet.");
        return 0;
    }
    if (check_answer(answer, "picture", JSON_OBJECT, err) < 0)
        return -1;
    put_head(&page, picture);
    page_table(&page, "The critical path", get_array(picture, "parts"), SIZE_MAX, part, ARRAY_SIZE(part),
               PAGE_INDENT);
    page_table(&page, "Ranks", get_array(picture, "rows"), SIZE_MAX, rank, ARRAY_SIZE(rank), PAGE_INDENT);
    put_notes(&page, picture);
    return 0;
}
