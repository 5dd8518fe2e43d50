/* figures.h - what a rule's condition can ask of a job: one table of live figures.
 *
 * The names are those of the job's report (doc/protocol.md) as far as it has them; figures of a verdict are
 * the most costly one's. Pure. Units: seconds, ratios, numbers a second. Unknown is NaN (a number, word or
 * flag) or NULL (a text). */
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
    struct value_type type; /* VALUE_ANY: a text, compared with == and != alone */
    const char *text;       /* what it is, half a sentence */
};
extern const struct figure figure_table[FIGURES];

#define FIGURE_NODES_MAX 16

/* A moment of a job.  Texts are lent. */
struct figures {
    double value[FIGURES];
    const char *text[FIGURES];
    const char *node[FIGURE_NODES_MAX]; /* of the most costly verdict's culprits */
    size_t n_nodes;                     /* all of them, also those beyond FIGURE_NODES_MAX */
    const char *sentence;               /* of that verdict; NULL: none stands */
};
void figures_clear(struct figures *f); /* all unknown */
/* A word by its name; one that is not in the table stays unknown. */
void figures_word(struct figures *f, enum figure_id id, const char *word);

/* Yes or no, 1 or 0; its bare name asks whether it is yes. */
bool figure_is_flag(enum figure_id id);
/* -1: there is none of that name. */
int figure_find(const char *name);
/* The name most like this one, NULL: none is alike. */
const char *figure_alike(const char *name);
/* "12.3 %", "straggler", "yes", "?" for unknown.  Returns buf. */
char *figure_write(const struct figures *f, enum figure_id id, char *buf, size_t size);
char *figure_write_value(enum figure_id id, double value, char *buf, size_t size);
/* "a ratio such as 0.05 or 5%", "none, rank, ... or switch": what it can be compared with.  Returns buf. */
char *figure_accepts(enum figure_id id, char *buf, size_t size);
/* The table for people, and as a list of mdoc(7). */
void figures_print(FILE *out, int columns);
void figures_mdoc(FILE *out);

#endif
