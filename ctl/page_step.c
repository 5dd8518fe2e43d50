/* page_step.c - the newest step in words: what its critical path is made of, and what each rank did in it. */

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "report/report_step.h"
#include "wire/json.h"

static char *rank_cell(const void *row, char *buf, size_t size)
{
    snprintf(buf, size, "r%s", page_count(((const struct picture_row *)row)->rank).s);
    return buf;
}

int page_step(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    static const struct page_column part[] = {
        { "TIME", .field = offsetof(struct picture_part, time_s), .words = text_s },
        { "WHAT", .field = offsetof(struct picture_part, text) },
    };
    static const struct page_column rank[] = {
        { "RANK", .cell = rank_cell },
        { "NODE", .field = offsetof(struct picture_row, node) },
        { "WORKS", .field = offsetof(struct picture_row, work_s), .words = text_s },
        { "ITS PEERS", .field = offsetof(struct picture_row, peers_s), .words = text_s },
        { "WAITS", .field = offsetof(struct picture_row, wait_s), .words = text_s },
        { "TRANSFERS", .field = offsetof(struct picture_row, transfer_s), .words = text_s, .spare = 1 },
        { "IN CALLS", .field = offsetof(struct picture_row, call_s), .words = text_s, .spare = 2 },
        { "CRITICAL WORK", .field = offsetof(struct picture_row, path_s), .words = text_s },
    };
    const struct page page = { out, answer, form, NULL };
    struct picture *s;
    char job[64];

    if (!json_is_null(json_object_get(answer, "picture")) &&
        json_check_answer(answer, "picture", JSON_OBJECT, err) < 0)
        return -1;
    s = report_step_read(json_get_object(answer, "picture"));
    if (!s) {
        page_line(&page, 0, "No step is known yet.");
        return 0;
    }
    json_get_text(answer, "job", job, sizeof(job));
    page_line(&page, 0, "Step %s of %s took %s%s%s%s.", page_count(s->step).s, *job ? job : "the trace",
              text_s(s->duration_s).s, s->age_s >= 1 ? " (" : "", s->age_s >= 1 ? page_ago(s->age_s).s : "",
              s->age_s >= 1 ? ")" : "");
    page_line(&page, 0, "%s.", page_word(s->text));
    page_table(&page, "The critical path", s->part, s->n_parts, sizeof(s->part[0]), part, ARRAY_SIZE(part),
               PAGE_INDENT);
    page_table(&page, "Ranks", s->row, s->n_rows, sizeof(*s->row), rank, ARRAY_SIZE(rank), PAGE_INDENT);
    if (s->ranks > (int64_t)s->n_rows)
        page_line(&page, PAGE_INDENT,
                  "%s of %s ranks: those on the critical path, one of each role, and the slowest",
                  page_count((int64_t)s->n_rows).s, page_count(s->ranks).s);
    if (s->basis == PICTURE_OF_SUMS)
        page_line(&page, PAGE_INDENT,
                  "calls are not known one by one: the path is the slowest rank's work and the transfers");
    else
        page_line(&page, PAGE_INDENT, "%s message%s between ranks", page_count(s->messages).s,
                  text_plural(s->messages));
    picture_free(s);
    return 0;
}
