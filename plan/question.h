/* question.h - a question of sgplan: one command with its options (common/options.h).
 *
 * Each question is defined in a file of its own, plan/NAME.c.  A new one has a declaration below and a line
 * in plan/questions.c. */
#ifndef SYNCGUARD_PLAN_QUESTION_H
#define SYNCGUARD_PLAN_QUESTION_H

#include "common/err.h"
#include "common/options.h"

struct answer;

#define QUESTION_FAILED 1

struct question {
    struct options_command command; /* first: a command of sgplan is a question */
    /* Fill in the answer; 0.  With a reason: -1 if the command line is wrong, else QUESTION_FAILED.  A
     * question that prints its output itself (a trace, a plot) leaves the answer empty. */
    int (*run)(const struct options *o, struct answer *answer, struct err *err);
};

extern const struct options_program sgplan_program;

/* The question that a command line asks. */
const struct question *question_asked(const struct options *o);

/* answered by formulas */
extern const struct question question_collective, question_step, question_speedup, question_straggler,
    question_staleness, question_localsgd, question_compress, question_bucket, question_pipeline,
    question_memory, question_checkpoint, question_mtbf, question_train, question_compare, question_whatif,
    question_place;
/* answered from measurements of a live job or a trace */
extern const struct question question_scale;
/* answered by simulation */
extern const struct question question_simulate;

#endif
