/* sgctl_answer.c - what commands end with: an answer on standard output, or the reason why there is none. */
#include <stdio.h>
#include <stdlib.h>

#include "ctl/output.h"
#include "ctl/page.h"
#include "ctl/pager.h"
#include "ctl/sgctl.h"
#include "report/report.h"
#include "wire/session.h"

int complain(int code, const struct err *err)
{
    fprintf(stderr, "sgctl: %s\n", err->text);
    return code;
}

static struct page_form form_of(const struct options *o)
{
    return (struct page_form){ .columns = options_given(o, "wide") ? 0 : pager_columns(),
                               .colour = pager_colour(),
                               /* sgrun ends the controller when it has shown this. */
                               .more = getenv("SYNCGUARD_MORE") };
}

int show_report(const struct options *o, struct report *r)
{
    struct pager pager;

    if (options_given(o, "json")) {
        json_t *answer = report_json(r);

        output_json(answer);
        json_decref(answer);
        return OK;
    }
    report_verdicts_drop_minor(&r->timeline);
    pager_begin(&pager);
    page_report(pager.out, r, form_of(o));
    pager_end(&pager);
    return OK;
}

int print_answer(const struct options *o, const json_t *answer, page_fn *page)
{
    struct pager pager;
    struct err err;
    int rc;

    if (options_given(o, "json")) {
        output_json(answer);
        return OK;
    }
    pager_begin(&pager);
    rc = page(pager.out, answer, form_of(o), &err);
    pager_end(&pager);
    return rc < 0 ? complain(FAILED, &err) : OK;
}

int query_controller(const struct options *o, json_t *question, page_fn *page)
{
    return query_filtered(o, question, NULL, NULL, page);
}

int query_filtered(const struct options *o, json_t *question, void (*filter)(json_t *answer, const void *arg),
                   const void *arg, page_fn *page)
{
    struct err err;
    struct session *s = session_open(o, &err);
    json_t *answer = s ? client_ask(&s->client, question, options_number(o, "timeout"), &err) : NULL;
    int rc;

    if (answer && filter)
        filter(answer, arg);
    rc = answer ? print_answer(o, answer, page) : complain(FAILED, &err);
    json_decref(answer);
    json_decref(question);
    session_close(s);
    return rc;
}
