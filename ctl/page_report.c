/* page_report.c - a whole report: of a job (page_job.c) or of a trace (page_analysis.c). */
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

struct report *page_read(const json_t *answer, struct err *err)
{
    if (!get_object(answer, "trace") && check_answer(answer, "state", JSON_STRING, err) < 0)
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
