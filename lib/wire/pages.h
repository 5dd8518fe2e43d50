/* pages.h - lists that may be longer than an answer: they come in pages, or are cut.
 *
 * An answer whose list goes on has `page`: {"list": its key, "next": WORD}.  The same question with "from":
 * WORD is answered with the rows that follow; without `page` the list is complete.  A question may have
 * "limit": no more than so many rows are wanted.  See doc/protocol.md. */
#ifndef SYNCGUARD_WIRE_PAGES_H
#define SYNCGUARD_WIRE_PAGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "wire/link.h"

/* ---- who answers ---- */

/* of a page's rows, as text; the last one may exceed it */
#define PAGES_BYTES (LINK_FRAME_MAX / 4)
/* the lists of a longer row are cut; if it has none, it is left out */
#define PAGES_ROW_MAX  (LINK_FRAME_MAX / 2)
#define PAGES_WORD_MAX 128

struct pages_page {
    json_t *rows; /* the caller's */
    size_t bytes;
    size_t left_out;           /* rows that were too long */
    char next[PAGES_WORD_MAX]; /* "": the list is complete; otherwise where it goes on */
};

/* Append the row, which it takes, and which takes so many bytes as text (0: not known).  NULL is no row. */
void pages_append(struct pages_page *p, json_t *row, size_t bytes);
bool pages_full(const struct pages_page *p);
/* The same of a list that goes on behind a row by its id: when the page is full, `next` becomes id.  False:
 * it is full.  Of other lists the caller writes `next`. */
bool pages_append_id(struct pages_page *p, json_t *row, int64_t id);
/* Put the rows into the answer as `list`, and `page` where there are more. */
void pages_put(struct pages_page *p, json_t *answer, const char *list);
/* Cut the longest lists of o, or of an object in it, until it has at most so many bytes as text.  Its `cut`
 * has the number of rows that each has lost: {"heat.rows": 17}.  False: it still has more. */
bool pages_cut(json_t *o, size_t bytes);

/* ---- who asks ---- */

/* A list as it is gathered: begins with { 0 }. */
struct pages {
    json_t *answer, *question; /* what has come; the next question: NULL when all has */
};

/* Take an answer to `question`.  1: ask p->question next; 0: p->answer is complete, with all rows in its
 * list.  -1: the answer makes no sense; p->answer has the rows that came before. */
int pages_take(struct pages *p, const json_t *question, json_t *answer, struct err *err);
void pages_free(struct pages *p);

#endif
