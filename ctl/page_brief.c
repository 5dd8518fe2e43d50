/* page_brief.c - one job in ten lines: the sentence, what it costs, where, how it changes, what to do; a
 * healthy job in two or three. */
#include "ctl/brief.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

static void figure_more(struct table *t, const char *id, struct page_form form)
{
    if (form.more)
        page_figure(t, "More", "%s", form.more);
    else
        page_figure(t, "More", "sgctl job %s --full; as a page with charts: --html -o FILE", page_word(id));
}

int page_brief(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    struct page page = { out, answer, form, NULL };
    struct report *report;
    struct table *t;
    struct brief b;

    page.report = report = page_read(answer, err);
    if (!report)
        return -1;
    brief_get(&b, report);
    page_sentence(&page);
    if (!b.healthy)
        fputc('\n', out);
    t = page_figures();
    for (size_t i = 0; i < b.n; i++)
        page_figure(t, b.row[i].label, "%s", b.row[i].text);
    figure_more(t, report->job.id, form);
    page_put_figures(&page, PAGE_INDENT, t);
    report_free(report);
    return 0;
}
