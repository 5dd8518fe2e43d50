/* report_next.h - the next command about a verdict, ready to be typed: "sgctl action 12.0 exclude node3".
 *
 * One command for each kind of verdict and culprit, of those that the job's policy and its own requeueing
 * allow; verdict_words.h has the advice in words, which also names what is no command.  Every command is one
 * that sgctl has, with the arguments that it accepts. */
#ifndef SYNCGUARD_REPORT_REPORT_NEXT_H
#define SYNCGUARD_REPORT_REPORT_NEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report_verdict.h"

struct report_next_job {
    const char *id; /* as sgctl takes it */
    bool ended;
    bool no_requeue;                   /* Slurm cannot start it again, or nothing may act on it */
    int nodes_per_hour, nodes_at_once; /* of its policy: how many nodes actions may take from it */
};

/* Write the command about verdict to buf; "": the verdict is over, or no command helps.  Returns buf. */
char *report_next(char *buf, size_t size, const struct report_next_job *j, const struct report_verdict *v);

/* Fill in what to type about each verdict of the job. */
void report_next_fill(struct report_verdicts *v, const struct report_next_job *j);

/* The nodes that a verdict names, as commands take them: "n5,n6".  "": it names something else, more than a
 * command line should have, or what a shell would not take as a word.  Returns buf. */
#define REPORT_NEXT_NODES_MAX 8
char *report_next_nodes(char *buf, size_t size, const struct report_verdict *v);

#endif
