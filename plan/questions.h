/* questions.h - every question that sgplan knows.  A new one is a file with its table, a line here and one in
 * questions.c. */
#ifndef SYNCGUARD_PLAN_QUESTIONS_H
#define SYNCGUARD_PLAN_QUESTIONS_H

#include "plan/question.h"

/* answered by formulas */
extern const struct question question_collective, question_step, question_speedup, question_straggler,
    question_staleness;
extern const struct question question_localsgd, question_compress, question_bucket, question_pipeline,
    question_memory;
extern const struct question question_checkpoint, question_mtbf, question_train, question_compare,
    question_whatif;
/* from measurements: a live job, a trace */
extern const struct question question_scale;
/* by simulation */
extern const struct question question_simulate, question_experiment;

#endif
