/* page_report.c - a report: whole, of a job (page_job.c) or of a trace (page_analysis.c); and in ten lines:
 * the sentence, what it costs, where, how it changes, what to do, of a healthy job in two or three. */
#include "ctl/brief.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

struct report *page_read(const json_t *answer, struct err *err)
{
    if (!json_get_object(answer, "trace") && json_check_answer(answer, "state", JSON_STRING, err) < 0)
        return NULL;
    return report_read(answer, err);
}

void page_report(FILE *out, const struct report *r, struct page_form form)
{
    const struct page page = { out, NULL, form, r };

    if (r->trace.known)
        page_of_trace(&page);
    else
        page_of_job(&page);
}

int page_job(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    struct report *r = page_read(answer, err);

    if (!r)
        return -1;
    page_report(out, r, form);
    report_free(r);
    return 0;
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
    if (form.more)
        page_figure(t, "More", "%s", form.more);
    else
        page_figure(t, "More", "sgctl job %s --full; as a page with charts: --html -o FILE",
                    page_word(report->job.id));
    page_put_figures(&page, PAGE_INDENT, t);
    report_free(report);
    return 0;
}
