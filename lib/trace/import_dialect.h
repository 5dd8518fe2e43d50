/* import_dialect.h - what writers of timelines put into Chrome's Trace Event Format, one reader for each:
 * import_chrome.c gives every event to the reader that knows it. */
#ifndef SYNCGUARD_TRACE_IMPORT_DIALECT_H
#define SYNCGUARD_TRACE_IMPORT_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/import_format.h"

/* timelines begin at 0, which in a trace means that a call was begun at no time */
#define EVENT_BASE_NS 1000000u

/* An event whose phase is X (complete) or B (begun, and never ended), with the times and the lane that it
 * has. */
struct timeline_event {
    const char *name, *category;
    uint64_t pid, tid;         /* numbers, or hashes of the text that they are */
    uint64_t begin_ns, end_ns; /* end_ns 0: it has none */
    const json_t *args;        /* NULL: none */
};

/* ---- torch.profiler (Kineto): one rank a file ---- */

struct kineto;

struct kineto *kineto_new(struct calls *calls, struct import_skipped *skipped);
void kineto_free(struct kineto *k);
void kineto_begin(struct kineto *k, const struct import_file *file);
/* "distributedInfo". */
void kineto_info(struct kineto *k, const json_t *info);
/* 1: it is of this dialect, 0: it is not, -1: too many. */
int kineto_event(struct kineto *k, const struct timeline_event *e, struct err *err);
int kineto_end(struct kineto *k, struct err *err);

/* ---- operations of pipeline-parallel trainings: all workers in one file ---- */

struct pipeline;

struct pipeline *pipeline_new(struct calls *calls, struct import_skipped *skipped);
void pipeline_free(struct pipeline *p);
/* The name of a process or thread, by which workers are known; thread false: a process. */
void pipeline_name(struct pipeline *p, bool thread, uint64_t pid, uint64_t tid, const char *name);
int pipeline_event(struct pipeline *p, const struct timeline_event *e,
                   struct err *err); /* as kineto_event() */
bool pipeline_has_calls(const struct pipeline *p);
int pipeline_close(struct pipeline *p, uint32_t clock, struct err *err);

#endif
