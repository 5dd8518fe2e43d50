/* page_parts.h - what the reports of a job and of a trace share: paragraphs, figures and tables of an
 * answer that has the keys of a job (doc/protocol.md).  What an answer lacks is left out. */
#ifndef SYNCGUARD_CTL_PAGE_PARTS_H
#define SYNCGUARD_CTL_PAGE_PARTS_H

#include <jansson.h>
#include <stdio.h>

#include "common/text.h"

struct page {
    FILE *out;
    const json_t *job;
    int columns;
};

void page_title(const struct page *p, const char *text);
/* An indented paragraph. */
__attribute__((format(printf, 2, 3))) void page_line(const struct page *p, const char *fmt, ...);
void page_sentence(const struct page *p);
#define PAGE_EVIDENCE 9 /* columns before a verdict's words: its price stands there */
/* The title and each verdict that is not minor; nothing where there is none. */
void page_put_verdicts(const struct page *p, const char *title,
                       void put(const struct page *p, const json_t *verdict));
/* "node3 is slow (straggler)" */
char *page_verdict_words(const json_t *verdict, char *buf, size_t size);
/* A row of a table of two columns; words "-": none. */
void page_figure(struct table *t, const char *name, const char *words);
void page_pace(struct table *t, const json_t *job);    /* steps, step time, throughput, skew */
void page_time(struct table *t, const json_t *job);    /* where the ranks' time goes, who is latest */
void page_outlook(struct table *t, const json_t *job); /* efficiency, who is waited for, what lies ahead */
void page_ranks(const struct page *p);
void page_communicators(const struct page *p);
void page_checkpoint(const struct page *p); /* nothing where nothing is known */

/* A column of a table whose rows are the objects of an array. */
struct page_column {
    const char *title, *key;      /* "step_s.p50" is a key of an object in the object */
    struct text (*words)(double); /* a number, flushed right; NULL: a text */
    bool when;                    /* the number is a time: words get its age, by the answer's "now" */
    /* Instead of key and words, where more than one key make the cell. */
    char *(*cell)(const json_t *row, char *buf, size_t size);
    bool right;   /* a text that is flushed right */
    size_t chars; /* a text is cut there; 0: at 400 */
    int spare;    /* as in struct text_column */
};
/* The first max rows of the array under key in p->job. */
void page_table(const struct page *p, const char *key, size_t max, const struct page_column *column, size_t n,
                int indent);
struct text page_ago(double age_s); /* "3 s ago" */

/* "connected", "ended" (in good order), "lost". */
char *page_agent_link(const json_t *agent, char *buf, size_t size);

#endif
