/* rule_figures.h - what rules may ask about a view (rules/figures.h): steps, verdicts, where it is heading.
 * Pure: reads the view. */
#ifndef SYNCGUARD_REPORT_RULE_FIGURES_H
#define SYNCGUARD_REPORT_RULE_FIGURES_H

#include "rules/figures.h"

struct view;

/* Recorded calls cost about so much each beyond the library's own: what the hook benchmark measured. */
#define RULE_FIGURES_HOOK_S 40e-9

/* What the view does not know is unknown.  age_s: how long the job has run.  Texts are lent by the view, until
 * it changes. */
void rule_figures(const struct view *v, double now_s, double age_s, struct figures *f);

#endif
