/* line.h - parses the lines of a syncguard-trace: header and records.
 *
 * Two readers of a record agree: the fast scanner takes a flat object of plain strings and unsigned integers,
 * with keys in any order, any white space and unknown keys; the parser takes any JSON.  Only the parser
 * reports what is wrong. */
#ifndef SYNCGUARD_TRACE_LINE_H
#define SYNCGUARD_TRACE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "ring/call.h"

/* bytes of the header's line: 65,536 ranks with long names */
#define TRACE_HEADER_MAX (16u << 20)
#define TRACE_LINE_MAX   (64u << 10) /* bytes of any other line */
#define TRACE_NAME_MAX   63u         /* bytes of a node's, switch's or communicator's name */

struct trace_record {
    /* comm: not set, its name is below; op: RING_OP_NONE is "collective", one of no known name; leave_ns: 0
     * where it was not left */
    struct call call;
    uint32_t comm_bytes; /* length of comm */
    bool left;
    bool backward; /* its times go back: the node's clock was set in between, and they say nothing */
    char comm[TRACE_NAME_MAX + 1];
};

/* False when the line needs trace_record_parse(); *rec is then undefined. */
bool trace_record_scan(const char *line, size_t bytes, struct trace_record *rec);
/* 0, or -1 with the reason and what is accepted. */
int trace_record_parse(const char *line, size_t bytes, struct trace_record *rec, struct err *err);

struct trace_rank {
    uint32_t rank;
    const char *node, *switch_name; /* lent; "": not given */
    bool recorded; /* false: nothing is known of its calls, it stands there because others wait for it */
    uint32_t
        queued; /* calls that it has made, that are not over and that have no record; 0 also: not given */
};

/* A communicator whose members the header has, whether they have a record in it or not. */
struct trace_comm {
    const char *name; /* lent */
    uint32_t ranks;
};
#define TRACE_NUMBER_UNKNOWN UINT32_MAX
struct trace_member {
    uint32_t rank;
    uint32_t left, called; /* numbers of the newest collectives there that it has; TRACE_NUMBER_UNKNOWN */
};

/* Parse the header and check it, including its ranks.  The caller calls json_decref(); NULL with the
 * reason. */
json_t *trace_header_parse(const char *line, size_t bytes, struct err *err);
const char *trace_header_job(const json_t *header); /* lent; "": not given */
/* version 2: messages and nonblocking calls are recorded */
bool trace_header_has_messages(const json_t *header);
/* how many ranks the job has: those that are not in "ranks" have no records; 0: not given */
uint32_t trace_header_size(const json_t *header);
/* the records have no times but how long each call held its rank: what lies between them is not known */
bool trace_header_is_untimed(const json_t *header);
size_t trace_header_ranks(const json_t *header);
/* Bytes per second of each of a node's network adapters, and their number; 0: not given. */
double trace_header_adapter(const json_t *header, unsigned *number);
/* The i-th way to a switch from the root down, "core.spine0.leaf1", lent; NULL: there are no more. */
const char *trace_header_switches(const json_t *header, size_t i);
struct trace_rank trace_header_rank(const json_t *header, size_t i);
size_t trace_header_comms(const json_t *header);
struct trace_comm trace_header_comm(const json_t *header, size_t i);
struct trace_member trace_header_member(const json_t *header, size_t comm, size_t i);

#endif
