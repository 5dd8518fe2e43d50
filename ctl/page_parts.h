/* page_parts.h - what pages are made of: paragraphs, figures and tables of an answer (sgctl(1), JSON), and
 * the parts that the reports of a job and of a trace share.  What an answer lacks is left out. */
#ifndef SYNCGUARD_CTL_PAGE_PARTS_H
#define SYNCGUARD_CTL_PAGE_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/text.h"
#include "ctl/page_form.h"
#include "report/report.h"

#define PAGE_INDENT   2
#define PAGE_EVIDENCE 9 /* columns before a verdict's words: its price stands there */

struct page {
    FILE *out;
    const json_t *answer;
    struct page_form form;
    const struct report *report; /* what the answer says; NULL: it is not a report */
};

/* A text or whole number of an answer by value, so that one printf can use several; "-": there is none. */
struct shown {
    char s[1024];
};
struct shown shown(const json_t *o, const char *key);

enum page_style { PAGE_PLAIN, PAGE_TITLE, PAGE_DIM, PAGE_GOOD, PAGE_WARN, PAGE_BAD };

/* A paragraph; the second with a blank line before it. */
__attribute__((format(printf, 3, 4))) void page_line(const struct page *p, int indent, const char *fmt, ...);
void page_title(const struct page *p, const char *text);
/* A paragraph behind a short head, as text_hang() has it. */
void page_hang(const struct page *p, enum page_style style, const char *head, const char *text);

/* Figures: rows of a name and words; words that are "" or "-" make no row. */
struct table *page_figures(void);
__attribute__((format(printf, 3, 4))) void page_figure(struct table *t, const char *name, const char *fmt,
                                                       ...);
void page_put_figures(const struct page *p, int indent, struct table *t); /* takes t */

/* A column of a table.  Of a row that is a struct: */
struct page_column {
    const char *title;
    size_t field;                 /* a text of the row, by offsetof(); */
    struct text (*words)(double); /* or a double there, flushed right; */
    bool count;                   /* or an int64_t, flushed right; */
    /* or several members of it. */
    char *(*cell)(const void *row, char *buf, size_t size);
    /* Of a row that is a json_t: cell, or a text or whole number; with words, a number. */
    const char *key;
    bool when;    /* the number is a time: words get its age, by the answer's "now" */
    bool right;   /* a text that is flushed right */
    size_t chars; /* a text is cut there: of names and the like.  0: a sentence, which stays whole */
    int spare;    /* as in struct text_column */
};
/* n rows of size bytes each, below a title (NULL: none); nothing where there are no rows. */
void page_table(const struct page *p, const char *title, const void *rows, size_t n, size_t size,
                const struct page_column *column, size_t columns, int indent);
/* The objects of an array. */
void page_objects(const struct page *p, const char *title, const json_t *rows,
                  const struct page_column *column, size_t columns, int indent);
struct text page_ago(double age_s);      /* "3 s ago" */
struct text page_at(double unix_s);      /* "2026-11-21 14:03:21", local time */
struct text page_user(double uid);       /* its name on this host, or "uid 1000" */
struct text page_count(int64_t n);       /* unknown where it is below zero */
struct text page_number(int64_t n);      /* the same, rounded as text_number() does */
const char *page_word(const char *text); /* "-": there is none */

/* ---- of a job and of a trace ---- */

enum page_style page_severity(enum severity s);
void page_sentence(const struct page *p); /* in the style of how bad it is */
/* The title and each verdict that is not minor; nothing where there is none. */
void page_put_verdicts(const struct page *p, const char *title);
/* "node3 is slow (straggler)" */
char *page_verdict_words(const struct report_verdict *verdict, char *buf, size_t size);
/* The same with interval, since when, for how long.  Both return buf. */
char *page_verdict_head(const struct report *r, const struct report_verdict *verdict, char *buf, size_t size);
void page_pace(struct table *t, const struct page *p);         /* steps, step time, throughput, skew */
void page_time(struct table *t, const struct report_row *job); /* where the ranks' time goes, who is latest */
/* the smallest slowdowns that would be seen */
void page_limits(struct table *t, const struct report_row *job, const char *would);
/* efficiency, who is waited for, what lies ahead */
void page_outlook(struct table *t, const struct page *p);
void page_ranks(const struct page *p);
void page_communicators(const struct page *p);
void page_shortfalls(const struct page *p); /* communicators that are slow from the start */
void page_updates(const struct page *p);    /* workers that do not wait for one another, and their servers */
void page_overlap(const struct page *p);    /* what of the communication is exposed, by communicator */
void page_of_job(const struct page *p);     /* the whole report */
void page_of_trace(const struct page *p);
void page_checkpoint(const struct page *p); /* nothing where nothing is known */

/* "connected", "ended" (in good order), "lost". */
const char *page_agent_link(const struct report_agent *agent);

#endif
