/* condition.h - the condition of a rule: comparisons of a job's figures, with and, or, not, for.
 *
 *   synchronisation_ratio > 5% for 30s and class == straggler and not (regime == checkpoint or time_left_s <
 *   10m)
 *
 *   condition  = term { "or" term }            term = factor { "and" factor }
 *   factor     = "not" factor | primary [ "for" TIME ]
 *   primary    = "(" condition ")" | FLAG | FIGURE ( ">" | ">=" | "<" | "<=" | "==" | "=" | "!=" ) VALUE
 *
 * VALUE is another figure of the same kind, or a value of the figure's type (figures.h); names with blanks
 * are quoted by ' or ". Case is ignored. `for` is true once the condition before it has been true for that
 * time.
 *
 * The truth has three values: a comparison with an unknown figure is unknown, `false and unknown` is false,
 * `true or unknown` is true, everything else with unknown is unknown (Kleene 1938).  A rule does not act
 * while its condition is unknown.
 *
 * Pure: no clock, no allocation; the length is bounded. The caller keeps the state between evaluations (since
 * when each `for` has held). */
#ifndef SYNCGUARD_RULES_CONDITION_H
#define SYNCGUARD_RULES_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "rules/figures.h"

#define CONDITION_NODES_MAX 48
#define CONDITION_DEPTH_MAX 16
#define CONDITION_FORS_MAX  8
#define CONDITION_TEXT_MAX  512

enum truth { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN };
const char *truth_name(enum truth t); /* "no", "yes", "unknown" */

struct condition_node { /* private to condition.c */
    uint8_t kind, op, figure, other, a, b;
    uint16_t word; /* of a text: its offset in condition.words */
    double value;
};

struct condition {
    char text[CONDITION_TEXT_MAX];  /* as configured */
    char words[CONDITION_TEXT_MAX]; /* the texts of comparisons, each terminated by NUL */
    struct condition_node node[CONDITION_NODES_MAX];
    uint8_t n, root, n_fors;
};

/* Time since which each `for` has held; NaN: it does not hold. */
struct condition_memory {
    double since_s[CONDITION_FORS_MAX];
};
void condition_forget(struct condition_memory *m);

/* Parse a condition. 0, or -1 with "column 12: REASON: what is expected". */
int condition_parse(struct condition *c, const char *text, struct err *err);

/* Whether the condition compares this figure. */
bool condition_names(const struct condition *c, enum figure_id figure);

/* Evaluate the condition.  hysteresis: a comparison that was true stays true until its figure has crossed the
 * bound by this share of the bound, or of what is between it and the end of the figure's range where that is
 * less. It applies if held, that is, if the condition was true so far, and within
 * a `for` whose time has begun. */
enum truth condition_eval(const struct condition *c, const struct figures *f, double now_s, bool held,
                          double hysteresis, struct condition_memory *m);

/* The condition with the figures' values: "synchronisation_ratio (12.3 %) > 5.00 % for 30.0 s and ...".
 * Returns buf. */
char *condition_explain(const struct condition *c, const struct figures *f, char *buf, size_t size);

/* Each comparison of the condition, in its order. */
struct condition_term {
    char text[128];   /* "synchronisation_ratio > 5.00 %" */
    char value[72];   /* "12.3 %" */
    enum truth truth; /* without hysteresis */
};
size_t condition_terms(const struct condition *c, const struct figures *f, struct condition_term *out,
                       size_t max);

#endif
