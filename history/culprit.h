/* culprit.h - what part each node has in a step: how long it took part, how much of that it was the culprit.
 *
 * A node is the culprit while a verdict names it or a rank on it. Not counted: imbalance, which is the
 * program's wherever it runs, and a switch, which is not one of its nodes' doing. Pure. Times are the job's
 * clock. */
#ifndef SYNCGUARD_HISTORY_CULPRIT_H
#define SYNCGUARD_HISTORY_CULPRIT_H

#include <stdint.h>

struct job;
struct store_part;
struct view_verdict;

/* The node of the verdict's i-th culprit; "": none, or not known. Lent by verdict or view. */
const char *culprit_node(const struct job *j, const struct view_verdict *d, uint32_t i, double now_s);

/* One for each of the job's agents, in their order, as of end_s. The caller frees it; the names are lent by
 * the job. */
struct store_part *culprit_parts(const struct job *j, double end_s);

#endif
