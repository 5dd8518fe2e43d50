/* questions.h - every question that sgplan knows.  A new one is a file with its table, a line here and one in
 * questions.c. */
#ifndef SYNCGUARD_PLAN_QUESTIONS_H
#define SYNCGUARD_PLAN_QUESTIONS_H

#include "plan/question.h"

/* answered by formulas */
extern const struct question question_step, question_speedup;
/* from measurements: a live job, a trace */
/* by simulation */

#endif
