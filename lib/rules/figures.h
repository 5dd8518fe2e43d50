/* figures.h - the figures of a job that rules' conditions can use, in one table.
 *
 * Names are those of the job's report (sgctl(1), JSON) where it has the figure; figures of a verdict are of
 * the most costly one. Filled by report/rule_figures.h, then job/job_figures.h, then what the history knows
 * (daemon/control_decision.c). Pure. Units: seconds, ratios, numbers per second. Unknown is NaN (a number,
 * word or flag) or NULL (a text). */
#ifndef SYNCGUARD_RULES_FIGURES_H
#define SYNCGUARD_RULES_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/value.h"

enum figure_id {
    FIGURE_STATE,
    FIGURE_REGIME,
    FIGURE_SYNCHRONISATION_RATIO,
    FIGURE_COMPUTE_RATIO,
    FIGURE_COMMUNICATION_RATIO,
    FIGURE_STEP_S,
    FIGURE_STEP_P95_S,
    FIGURE_STEP_CV,
    FIGURE_STEPS_PER_S,
    FIGURE_SAMPLES_PER_S,
    FIGURE_STEPS,
    FIGURE_STALENESS,
    FIGURE_STALENESS_P95,
    FIGURE_SKEW_S,
    FIGURE_SKEW_P95_S,
    FIGURE_PARALLEL_EFFICIENCY,
    FIGURE_VERDICTS,
    FIGURE_CLASS,
    FIGURE_SCOPE,
    FIGURE_SLOWDOWN,
    FIGURE_PERSISTENCE_S,
    FIGURE_CULPRITS,
    FIGURE_CULPRIT,
    FIGURE_CAUSE,
    FIGURE_ACKNOWLEDGED,
    FIGURE_LATENESS_S,
    FIGURE_LAST_RATIO,
    FIGURE_TREND,
    FIGURE_SYNCHRONISATION_PER_HOUR,
    FIGURE_STEP_PER_HOUR,
    FIGURE_REACH_S,
    FIGURE_WARNING,
    FIGURE_PAST_STEP_RATIO,
    FIGURE_UNUSUAL,
    FIGURE_LOSS,
    FIGURE_GRAD_NORM,
    FIGURE_NON_FINITE,
    FIGURE_ELAPSED_S,
    FIGURE_TIME_LEFT_S,
    FIGURE_QUIET_S,
    FIGURE_RANKS,
    FIGURE_NODES,
    FIGURE_OVERHEAD_RATIO,
    FIGURE_RESTARTS,
    FIGURE_PARTITION,
    FIGURE_ACCOUNT,
    FIGURE_QOS,
    FIGURE_USER,
    FIGURE_NAME,
    FIGURES
};

struct figure {
    const char *name;
    struct value_type type; /* VALUE_ANY: a text, which only == and != compare */
    const char *text;       /* description */
};
extern const struct figure figure_table[FIGURES];

#define FIGURE_NODES_MAX 16

/* Values of all figures at one time.  Texts belong to the job. */
struct figures {
    double value[FIGURES];
    const char *text[FIGURES];
    const char *node[FIGURE_NODES_MAX]; /* nodes of the most costly verdict's culprits */
    size_t n_nodes;                     /* number of all of them, which may exceed FIGURE_NODES_MAX */
    const char *sentence;               /* the verdict's text; NULL: there is no verdict */
};
void figures_clear(struct figures *f); /* all unknown */
/* Set a word by its name; the figure stays unknown if the name is not in its table. */
void figures_word(struct figures *f, enum figure_id id, const char *word);
/* Set a text; NULL and "" are unknown. */
void figures_text(struct figures *f, enum figure_id id, const char *text);

/* Whether the figure is a flag (1: yes, 0: no), which a condition can use without a comparison. */
bool figure_is_flag(enum figure_id id);
/* Figure by name; -1: there is none. */
int figure_find(const char *name);
/* The name most similar to this one; NULL: none is similar. */
const char *figure_alike(const char *name);
/* Write the figure's value to buf: "12.3 %", "straggler", "yes", "?" for unknown.  Returns buf. */
char *figure_write(const struct figures *f, enum figure_id id, char *buf, size_t size);
char *figure_write_value(enum figure_id id, double value, char *buf, size_t size);
/* Describe its possible values: "a ratio such as 0.05 or 5%", "none, rank, ... or switch".  Returns buf. */
char *figure_accepts(enum figure_id id, char *buf, size_t size);
/* Print the table for people. */
void figures_print(FILE *out, int columns);
void figures_mdoc(FILE *out);

#endif
