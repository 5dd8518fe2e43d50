/* culprit.h - each node's part in a step: how long it took part, and for how much of that it was the culprit.
 *
 * A node is the culprit while a verdict names it or a rank on it.  Verdicts of imbalance do not count,
 * because the program causes it on any node; nor do verdicts on a switch, which none of its nodes causes.
 * Pure. Times are by the job's clock. */
#ifndef SYNCGUARD_HISTORY_CULPRIT_H
#define SYNCGUARD_HISTORY_CULPRIT_H

struct job;
struct report_node_step;
struct store_part;

/* The parts up to end_s, one for each of the job's agents in their order. The caller frees the array; the
 * names belong to the job. */
struct store_part *culprit_parts(const struct job *j, double end_s);
/* The step as the list of a node on which it has an agent has it (sgctl(1), "nodes NODE"): the part up to now
 * or, of a step that has ended, its end, and the newest verdict that named the node. */
void culprit_node_step(const struct job *j, const char *node, double now_s, struct report_node_step *r);

#endif
