/* chart_data.h - what the charts of a page are drawn of (ctl/chart.h), out of a report.  Pure; what the
 * report lacks, or what makes no sense in it, is not there. */
#ifndef SYNCGUARD_CTL_CHART_DATA_H
#define SYNCGUARD_CTL_CHART_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl/chart.h"
#include "report/report.h"

/* The verdicts of the run that are not minor, the oldest first, into CHART_BANDS_MAX; how many. */
size_t chart_data_bands(struct chart_band *band, const struct report_verdicts *timeline);

/* A series of the newest columns, or of the whole run in longer stretches.  false: there is none, and c has
 * no points. */
bool chart_data_columns(struct chart_lines *c, double column_s, const struct json_series *s);
bool chart_data_run(struct chart_lines *c, const struct report_stretches *run, const struct json_series *s);
/* The step time of similar earlier runs, to compare with. */
void chart_data_past(struct chart_lines *c, const struct report_past *past);

/* The ranks' rows of the heat map, in their order.  Returns how many ranks a row stands for; 0: nothing is
 * known. ranks: of how many. */
size_t chart_data_map(struct chart_map *c, const struct report *r, size_t *ranks);

#endif
