/* step_svg.h - a drawn step (calls/picture.h) as an SVG file: self-contained, without scripts, readable on
 * light and on dark backgrounds, with the exact figures as tooltips.  What is a segment of which kind shows
 * in its shape, too, not only in its colour. */
#ifndef SYNCGUARD_REPORT_STEP_SVG_H
#define SYNCGUARD_REPORT_STEP_SVG_H

#include <stdio.h>

#include "calls/picture.h"

/* job: its name, for the title. */
void step_svg_print(FILE *out, const struct picture *p, const char *job);

#endif
