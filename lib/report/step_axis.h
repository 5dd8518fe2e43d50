/* step_axis.h - the time axis under a drawn step: ticks at round times, in milliseconds. */
#ifndef SYNCGUARD_REPORT_STEP_AXIS_H
#define SYNCGUARD_REPORT_STEP_AXIS_H

#include <stddef.h>

/* The distance of two ticks, a round number (1, 2 or 5), so that at most `most` of them are within span_s. */
double step_axis_tick_s(double span_s, int most);
/* "0", "2.5 ms", "1500 ms".  Returns buf. */
char *step_axis_label(char *buf, size_t size, double s);

#endif
