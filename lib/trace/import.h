/* import.h - other programs' records of distributed trainings as a syncguard-trace.
 *
 * Formats, told apart by content: timelines of Chrome's Trace Event Format (torch.profiler's of one rank a
 * file, those of pipeline-parallel trainings with one lane a worker, and those of `sgctl export`), dumps of
 * PyTorch's flight recorder as pickles (read as data alone, pickle.h) or JSON, and lines of NCCL Inspector.
 * What becomes of each is in decision record 0056 and in sgctl(1).
 *
 * Files are read piece by piece, compressed ones as well (unpack.h): memory depends on the calls in them, not
 * on their size; but of pickles, which are read one after the other, each as a whole.  What is not understood
 * is skipped and counted, and so are broken lines of a file of lines.  Each file has a clock of its own; the
 * trace keeps its times, and whoever reads the trace aligns the clocks of nodes. */
#ifndef SYNCGUARD_TRACE_IMPORT_H
#define SYNCGUARD_TRACE_IMPORT_H

#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "trace/calls.h"

struct import;

struct import_figures {
    const char *format;   /* for a person */
    uint32_t files, torn; /* files that end too early: what was complete is used */
    uint64_t bytes;
    uint64_t other; /* items that are no communication */
    uint64_t
        /* communication that is left out, for too little is known of it; why says what of the first */
        unclear;
    const char *why; /* lent */
    uint64_t late;   /* calls whose end is when somebody looked, after they were over */
    uint64_t broken; /* lines; broken_first says which the first is, and what is wrong with it */
    char broken_first[320];
    uint64_t ungrouped; /* collectives that do not say whose they are: taken as of all ranks */
    struct calls_figures calls;
};

/* format: one of the words; NULL: whatever the first file is. */
struct import *import_new(const char *format);
void import_free(struct import *m); /* NULL is fine */
/* Read a file to its end; name: what errors call it, and where a rank's number may stand. 0, or -1 with the
 * reason. */
int import_read(struct import *m, FILE *in, const char *name, struct err *err);
/* Once, when all files were read.  0, or -1 with the reason. */
int import_write(struct import *m, FILE *out, struct import_figures *f, struct err *err);

#endif
