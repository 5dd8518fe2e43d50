/* page.h - the controller's answers as text for people.
 *
 * Pure: JSON in (sgctl(1), JSON), text out; no clock, no terminal, no network.  Unknown is "-", a column in
 * which nothing is known is left out.  Each returns 0, or -1 with the reason when the answer is not what was
 * asked for (then nothing was written). */
#ifndef SYNCGUARD_CTL_PAGE_H
#define SYNCGUARD_CTL_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "common/err.h"
#include "ctl/page_form.h"

struct report;

/* Ranks that the report of a job shows; ask the controller for no more. */
#define PAGE_RANKS 16
/* And agents. */
#define PAGE_AGENTS 1024

int page_status(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_jobs(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* Of a job, or of a trace, without minor verdicts: all that is known. */
void page_report(FILE *out, const struct report *r, struct page_form form);
/* The report in an answer, which a page needs to have a state; report_free().  NULL with the reason. */
struct report *page_read(const json_t *answer, struct err *err);
int page_job(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* of it, ten lines */
int page_brief(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* of one node: the steps that ran on it */
int page_node(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_nodes(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* a line for each that is known: its name and value */
int page_earlier(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* a line as Slurm writes lists, or nothing */
int page_lemons(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_actions(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* of sgctl step */
int page_step(FILE *out, const json_t *answer, struct page_form form, struct err *err);

/* sgctl policy: list, show, what set, pause and resume leave in force, explain, try; sgctl audit */
int page_policies(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_policy(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_control(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_explain(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_try(FILE *out, const json_t *answer, struct page_form form, struct err *err);
int page_audit(FILE *out, const json_t *answer, struct page_form form, struct err *err);

#endif
