/* line.h - the lines of a syncguard-trace: its header, and one record.
 *
 * A record is read in one of two ways that agree: scanned (flat object, plain strings, unsigned integers;
 * keys in any order, any white space, unknown keys skipped), or, where the scanner hesitates, parsed as any
 * JSON. Only the second has words for what is wrong. */
#ifndef SYNCGUARD_TRACE_LINE_H
#define SYNCGUARD_TRACE_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "ring/ring.h"

#define TRACE_HEADER_MAX (16u << 20) /* bytes of the header's line: 65,536 ranks with long names */
#define TRACE_LINE_MAX   (64u << 10) /* bytes of any other line */
#define TRACE_NAME_MAX   63u         /* bytes of a node's, switch's or communicator's name */

struct trace_record {
    char comm[TRACE_NAME_MAX + 1];
    uint32_t rank, seq;
    uint32_t comm_bytes; /* of comm, without its end */
    enum ring_op op;     /* RING_OP_NONE: a name that is not known */
    uint64_t bytes, t0_ns, t1_ns;
    bool left; /* t1 is told */
};

/* false: not taken; ask trace_record_parse.  *rec is then undefined. */
bool trace_record_scan(const char *line, size_t bytes, struct trace_record *rec);
/* 0, or -1 with what is wrong and what is accepted. */
int trace_record_parse(const char *line, size_t bytes, struct trace_record *rec, struct err *err);

struct trace_rank {
    uint32_t rank;
    const char *node, *switch_name; /* lent; "" not told */
};

/* The header: the caller's to json_decref; NULL with the reason.  Then the ranks have been checked, too:
 * trace_header_rank lends the i-th of trace_header_ranks. */
json_t *trace_header_parse(const char *line, size_t bytes, struct err *err);
const char *trace_header_job(const json_t *header); /* "" not told */
size_t trace_header_ranks(const json_t *header);
/* What a node's adapters to the network can send each, bytes a second, and how many they are; 0: not told. */
double trace_header_adapter(const json_t *header, unsigned *number);
struct trace_rank trace_header_rank(const json_t *header, size_t i);

#endif
