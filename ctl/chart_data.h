/* chart_data.h - what the charts of a page are drawn of (ctl/chart.h), out of an answer (sgctl(1), JSON).
 * Pure; what the answer lacks, or what makes no sense in it, is not there. */
#ifndef SYNCGUARD_CTL_CHART_DATA_H
#define SYNCGUARD_CTL_CHART_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "ctl/chart.h"

/* The verdicts of the run that are not minor, the oldest first, into CHART_BANDS_MAX; how many. */
size_t chart_data_bands(const json_t *answer, struct chart_band *band);

/* A list of `history`: of the newest columns, or of the whole run in longer stretches.  false: there is none,
 * and c has no points. */
bool chart_data_columns(struct chart_lines *c, const json_t *history, const char *key);
bool chart_data_run(struct chart_lines *c, const json_t *history, const char *key);
/* The step time of similar earlier runs, to compare with. */
void chart_data_past(struct chart_lines *c, const json_t *answer);

/* The rows of `heat`, in the order of ranks.  Returns how many ranks a row stands for; 0: nothing is known.
 */
size_t chart_data_map(struct chart_map *c, const json_t *answer);

#endif
