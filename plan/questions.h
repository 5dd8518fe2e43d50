/* questions.h - all questions of sgplan.  A new question is a file that defines it, a line here and one in
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
/* answered from measurements of a live job or a trace */
extern const struct question question_scale;
/* answered by simulation */
extern const struct question question_simulate, question_experiment;

#endif
