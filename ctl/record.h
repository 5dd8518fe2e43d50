/* record.h - sgctl record: a job step's every collective, from the controller into a trace file.
 * It goes on after a lost connection (what happened meanwhile is missing and is counted), and ends the
 * file on the end of a line whatever happens.  It writes into no file that exists, and leaves none without a
 * record. */
#ifndef SYNCGUARD_CTL_RECORD_H
#define SYNCGUARD_CTL_RECORD_H

#include "common/err.h"
#include "wire/client.h"

struct record_options {
    struct client_options client;
    const char *job;
    const char *output; /* NULL or "-": standard output */
    double timeout_s;   /* to begin */
    double seconds;     /* to record; NaN: until the step ends */
};

/* Records until the end of the step or of the time, SIGINT or SIGTERM; reports on standard error how it
 * ended. 0, or -1 with the reason when nothing could be recorded or the file could not be written to its
 * end. */
int record_run(const struct record_options *o, struct err *err);

#endif
