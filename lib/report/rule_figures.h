/* rule_figures.h - the values of a view's figures for rules (rules/figures.h).  Pure: only reads the view. */
#ifndef SYNCGUARD_REPORT_RULE_FIGURES_H
#define SYNCGUARD_REPORT_RULE_FIGURES_H

#include "rules/figures.h"

struct view;

/* The estimated cost of a recorded call beyond the library's own, in seconds.  The hook benchmark measures
 * less where the cycle counter is cheap, up to twice as much where it is not; pacing is not in it. */
#define RULE_FIGURES_HOOK_S 40e-9

/* Fill in f.  age_s: time since the job began.  Texts belong to the view and are valid until it changes. */
void rule_figures(const struct view *v, double now_s, double age_s, struct figures *f);

#endif
