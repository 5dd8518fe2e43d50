/* trace_events.h - writes a file in Chrome's Trace Event Format, the JSON object form
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU), which Perfetto and
 * chrome://tracing open: processes, threads, slices of them, asynchronous slices, arrows.
 *
 * An event is begun, gets its arguments one by one, and is ended.  Texts are escaped.  Slices of one thread
 * have to be apart or one within the other: Perfetto drops what overlaps another in part (struct nesting).
 *
 * Units: nanoseconds since the beginning of the file's time; what is before it is put at it. */
#ifndef SYNCGUARD_TRACE_TRACE_EVENTS_H
#define SYNCGUARD_TRACE_TRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_events {
    FILE *out;
    bool any;       /* an event was written */
    bool arguments; /* the event at hand has one */
};

struct trace_lane {
    uint32_t process, thread;
};

/* The file's head is an object of the caller's: members are written by trace_events_text() and so on. */
void trace_events_open(struct trace_events *t, FILE *out);
void trace_events_list(struct trace_events *t); /* the head is over, events follow */
/* -1: something could not be written; errno is set. */
int trace_events_close(struct trace_events *t);

/* place: the order in which viewers that know it show them, ascending */
void trace_events_process(struct trace_events *t, uint32_t process, const char *name, int place);
void trace_events_thread(struct trace_events *t, struct trace_lane lane, const char *name, int place);

#define TRACE_EVENTS_NEVER INT64_MIN /* as end_ns: it never ended */
void trace_events_slice(struct trace_events *t, struct trace_lane lane, const char *name,
                        const char *category, int64_t begin_ns, int64_t end_ns);
/* One end of an asynchronous slice ('b', 'e') or of an arrow ('s', 'f': it binds to the slice around it). */
void trace_events_point(struct trace_events *t, struct trace_lane lane, const char *name,
                        const char *category, char phase, int64_t at_ns, uint64_t id);
/* Arguments of the event that was begun, or members of the head. */
void trace_events_text(struct trace_events *t, const char *key, const char *text);
void trace_events_number(struct trace_events *t, const char *key, long long number);
void trace_events_real(struct trace_events *t, const char *key, double number); /* NAN: null */
void trace_events_us(struct trace_events *t, const char *key, int64_t ns);      /* as microseconds */
void trace_events_end(struct trace_events *t);

/* The slices of one thread, as they end one after another: that each is apart from the others, or nested. */
struct nesting {
    bool any;
    int64_t begin_ns, end_ns; /* the newest slice that is within no other */
    int64_t before_ns;        /* the end of the one before it */
    int64_t inside_ns;        /* what ends with it and begins from here on is within it */
};
/* The slice that takes from begin_ns to end_ns: from when it is to be written, which is later than begin_ns
 * where it overlaps an earlier one. */
int64_t nesting_add(struct nesting *n, int64_t begin_ns, int64_t end_ns);
/* The same of one that never ends: what comes after it is within it. */
int64_t nesting_open(struct nesting *n, int64_t begin_ns);

#endif
