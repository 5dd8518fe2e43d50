/* verdict_words.h - a verdict in a few words: "node3 is slow (straggler)", for lists of sgctl and sgtop; its
 * price as a share, and what to do about it.  The evidence is the verdict's own sentence (view/verdicts.h).
 */
#ifndef SYNCGUARD_REPORT_VERDICT_WORDS_H
#define SYNCGUARD_REPORT_VERDICT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/json.h"

/* a node with at least this score (history/lemon.h) is called a lemon */
#define LEMON_SURE           0.95
#define VERDICT_BAD_SLOWDOWN 1.1 /* from there on a verdict has the colour of what is bad */

/* culprits: their names, separated by commas; n_culprits 0: there is none.  class: as in JSON; an unknown one
 * is written as it is.  Returns buf. */
char *verdict_words(char *buf, size_t size, const char *class, const char *culprits, size_t n_culprits);

/* "r3, r9", "r3, r9 +14": the first names, as many as width has room for, and how many more there are.  The
 * first is never cut.  Returns buf. */
#define VERDICT_NAMES_CELL 20 /* width beside other facts */
char *verdict_names(char *buf, size_t size, size_t width, const struct json_texts *names);

/* Does nothing go on as long as a verdict of this class, as in JSON, stands (finding_stops())? */
bool verdict_stops(const char *class);

/* The share of the time that is lost by a slowdown, in the words of the verdict's sentence: "12 % (10 to 14
 * %)"; "12 %" where low and high are NaN; "" where the slowdown is NaN.  Returns buf. */
char *verdict_lost(char *buf, size_t size, double slowdown, double low, double high);

struct verdict_case {
    const char *class, *scope; /* as in JSON */
    bool two_speeds;           /* of a link: some of its messages are slow, others are not */
    /* the culprits as commands take them: "n5,n6"; "": they are no nodes, or too many to write */
    const char *nodes;
    const char *job; /* as sgctl takes it; "": not known */
    /* of a hang, of the first rank that it names; "": not known */
    const char *host, *pid;
    bool ended;      /* what is done is for the next start */
    bool no_requeue; /* so is what would requeue it */
};
/* What to do about it, with the command where there is one: a clause.  "": nothing is known to help.  Returns
 * buf. */
char *verdict_advice(char *buf, size_t size, const struct verdict_case *c);

#endif
