/* report_verdict.h - a verdict as it is reported: filled from a view's, written as JSON, and read from it by
 * pages and screens (sgctl(1), "verdicts" and "timeline").  A key of it is a member, a row of
 * report_verdict.c's tables, and where it is filled.
 *
 * Units: seconds; ages at the moment of the report.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_VERDICT_H
#define SYNCGUARD_REPORT_REPORT_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/verdicts.h"
#include "view/view.h"
#include "wire/json.h"

#define REPORT_VERDICTS_MAX VIEW_RAISED_MAX

/* How bad it is, for colour and order. */
enum severity { SEVERITY_NONE, SEVERITY_GOOD, SEVERITY_WARN, SEVERITY_BAD };

struct report_process { /* a rank's, on its node */
    bool known;
    int64_t rank, pid;
    char node[64];
};

struct report_verdict {
    char class[16], scope[16];
    struct json_texts culprits;         /* "node07"; "r3", "r9" */
    double slowdown;                    /* NaN of a hang, which has no price */
    double slowdown_low, slowdown_high; /* its interval */
    /* of culprits that hide one another: what mending a single one would undo, at most; NaN: of one, or of
     * one cause */
    double slowdown_alone;
    /* of a link, some of whose messages are slow from the start while others are not: the share that is, of
     * those whose time is known; NaN: of anything else */
    double slow_messages_ratio;
    bool minor;
    char text[1024], cause[256];
    int64_t since_step, found_step, onset_seq, detected_seq;
    double since_s, found_s;
    bool standing;
    double over_s; /* of its end */
    double lost_s;
    int64_t times;     /* in how many stretches it was there */
    bool acknowledged; /* a job's alone */
    /* a job's alone: what it costs from now until the job's time limit, if nothing is done and its price
     * stays (report_verdicts_look_ahead()) */
    struct report_ahead {
        double value, low, high;
    } ahead_s;
    struct report_process process; /* a job's alone, of the first rank that a hang names */
    char next[400];          /* a job's alone: the command to type about it (report/report_next.h); "" */
    double from_s, to_s;     /* of the timeline alone: its life; to_s NaN: it still stands */
    int64_t detected_record; /* of a trace alone: records that had been read then */
};

struct report_verdicts {
    size_t n;
    struct report_verdict *list;
};

enum report_verdict_of { VERDICT_OF_TRACE, VERDICT_OF_JOB, VERDICT_OF_TIMELINE };

/* view_verdicts_reported(), minor ones, too, in its order; the caller frees them. */
void report_verdicts_get(struct report_verdicts *to, const struct view *v, double now_s);
/* Fill in what each costs of the time that is left to the job; NaN: that is not known. */
void report_verdicts_look_ahead(struct report_verdicts *v, double left_s);
json_t *report_verdicts_json(const struct report_verdicts *v, enum report_verdict_of of);
/* Of the whole run, oldest first; minor ones, too. */
void report_timeline_get(struct report_verdicts *to, const struct view *v, double now_s);
/* What pages and screens leave out. */
void report_verdicts_drop_minor(struct report_verdicts *v);

/* Those of an answer that are not minor, at most REPORT_VERDICTS_MAX, of a timeline that is longer the
 * newest; the caller frees them. */
void report_verdicts_read(struct report_verdicts *to, const json_t *answer);
void report_timeline_read(struct report_verdicts *to, const json_t *answer);
void report_verdicts_free(struct report_verdicts *v);

/* Has it a price that people do not read as none?  What is over may have cost next to nothing of the run,
 * though it cost much while it stood. */
bool report_verdict_is_priced(const struct report_verdict *v);

/* How bad it is, or was of one that is over. */
enum severity report_verdict_severity(const struct report_verdict *v);

#endif
