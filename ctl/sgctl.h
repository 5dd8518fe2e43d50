/* sgctl.h - what sgctl's commands share: exit statuses, how an answer is printed; and the commands that are
 * in files of their own.  sgctl.c, with main(), is above them. */
#ifndef SYNCGUARD_CTL_SGCTL_H
#define SYNCGUARD_CTL_SGCTL_H

#include <jansson.h>
#include <stdio.h>

#include "common/err.h"
#include "common/options.h"
#include "ctl/page_form.h"

struct report;

enum { OK = 0, FAILED = 1, USAGE = 2 };

/* Print the reason on standard error; returns code. */
int complain(int code, const struct err *err);

typedef int page_fn(FILE *out, const json_t *answer, struct page_form form, struct err *err);
/* On standard output: as JSON if that was asked for, else by page (ctl/page.h), through a pager where it is
 * long (ctl/pager.h).  Returns an exit status. */
int print_answer(const struct options *o, const json_t *answer, page_fn *page);
/* The same of a report that was made here: as JSON, or as a page without minor verdicts. */
int show_report(const struct options *o, struct report *r);
/* Print the controller's answer to question, which is taken.  Returns an exit status. */
int query_controller(const struct options *o, json_t *question, page_fn *page);
/* The same of what filter, which is called with arg, leaves of the answer. */
int query_filtered(const struct options *o, json_t *question, void (*filter)(json_t *answer, const void *arg),
                   const void *arg, page_fn *page);

/* The file that --output names; "-": none. */
const char *output_of(const struct options *o);
/* Options of a report as a page (sgctl_page.c): -1 with the reason where they do not go together. */
int check_page(const struct options *o, struct err *err);
/* As a page into output_of(): a report (ctl/page_html.h), that of a job.  They return an exit status. */
int write_page(const struct options *o, const struct report *r);
int write_job_page(const struct options *o, const char *job);

/* Commands (ctl/commands.h); they return an exit status. */
int run_jobs(const struct options *o);
int run_config(const struct options *o);
int run_check(const struct options *o);
int run_figures(const struct options *o);
int run_doctor(const struct options *o);
int run_analyze(const struct options *o);
int run_step(const struct options *o);
int run_export(const struct options *o);
int run_import(const struct options *o);
int run_replay(const struct options *o);
int run_top(const struct options *o);

#endif
