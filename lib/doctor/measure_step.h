/* measure_step.h - the job step of syncguard-measure's tasks: the doctor's lines to all of them, and their
 * replies (measure.h), through srun.
 *
 * Nothing waits longer than it is told to. */
#ifndef SYNCGUARD_DOCTOR_MEASURE_STEP_H
#define SYNCGUARD_DOCTOR_MEASURE_STEP_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "doctor/measure.h"

struct measure_step {
    double begin_s; /* now_s(), set before */
    double shown_s;
    size_t tasks;
    pid_t pid;
    int from, to;
    bool ended;
    char text[65536]; /* of srun's output, not yet read */
    size_t used, skip;
    char words[300]; /* what was no reply: srun's own; "" */
};

/* A task on each of the nodes (an array of names). mpi: as srun's --mpi takes it, then they measure by MPI;
 * NULL: by sockets.  Where srun cannot be started, the step has ended. */
void measure_step_begin(struct measure_step *s, const json_t *nodes, const char *program, const char *mpi);
/* Say a line to all tasks. */
void measure_step_tell(struct measure_step *s, const char *line, double until_s);
/* The next reply of a task. false: none in time, or srun has ended. */
bool measure_step_hear(struct measure_step *s, struct measure_reply *reply, double until_s);
/* A line for who waits, unless it is too early, or too soon behind another. */
__attribute__((format(printf, 2, 3))) void measure_step_show(struct measure_step *s, const char *fmt, ...);
/* Let the tasks end, and wait for srun, for a few seconds. */
void measure_step_end(struct measure_step *s);

#endif
