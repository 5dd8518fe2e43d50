/* import_format.h - what import.c knows of a format that it reads, and what several of them need. */
#ifndef SYNCGUARD_TRACE_IMPORT_FORMAT_H
#define SYNCGUARD_TRACE_IMPORT_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/calls.h"
#include "trace/json_pieces.h"

#define IMPORT_RANK_UNKNOWN UINT32_MAX
#define IMPORT_ITEMS_MAX    (1u << 25) /* that a format keeps of a file */

struct import_file {
    const char *name;
    uint32_t number; /* 0, 1, 2 ...; also that of its clock */
    uint32_t
        /* the last number in its name: nccl_trace_rank_3.json has 3; IMPORT_RANK_UNKNOWN: it has none */
        name_rank;
};

/* What was in the files and is not in the trace. */
struct import_skipped {
    uint64_t other;   /* items that are no communication */
    uint64_t unclear; /* communication of which too little is known; why says what of the first */
    char why[160];
    uint64_t late;      /* calls in the trace whose end is when somebody looked, after they were over */
    uint64_t ungrouped; /* not left out: collectives that do not say whose they are, taken as of all ranks */
    char nothing[320];  /* what the first file without communication has instead; "": there is none */
};

struct import_format {
    const char *word, *title;
    const char *const *keys; /* of an object's members that only this format has; ends with NULL */
    bool lines; /* each document may stand on a line of its own: what is broken is skipped line by line */
    void *(*open)(struct calls *calls, struct import_skipped *skipped);
    void (*begin)(void *f, const struct import_file *file); /* file is lent until end */
    /* value is the piece's, parsed, and NULL at the end of a document. */
    int (*piece)(void *f, const struct json_piece *piece, const json_t *value, struct err *err);
    int (*end)(void *f, struct err *err);   /* of the file */
    int (*close)(void *f, struct err *err); /* all files were read: what was gathered becomes calls */
    void (*free)(void *f);
};

extern const struct import_format import_chrome, import_flight, import_inspector;

/* The operation of a collective by another program's name for it, in any case and with any prefix like
 * "nccl:" or "_"; RING_OP_NONE: unknown. */
enum ring_op import_op(const char *name);
/* Bytes of an element by the name of its type ("Float", "c10::BFloat16", "ncclFloat16"); 0: unknown. */
unsigned import_dtype_bytes(const char *name);
/* Ranks as a list or as text, "[0, 1, 2]"; how many there are, at most max of them into rank. */
size_t import_ranks(const json_t *value, uint32_t *rank, size_t max);
/* Count a communication that is left out. */
__attribute__((format(printf, 2, 3))) void import_unclear(struct import_skipped *s, const char *fmt, ...);
/* Microseconds, as a number or text, into nanoseconds after base_ns; false: it is neither, or out of
 * bounds. */
bool import_us(const json_t *value, uint64_t base_ns, uint64_t *ns);

/* Name of a group of ranks: "world" for all of them, else its own name and its ranks where they are known. */
void import_group_name(char *buf, size_t size, const char *name, const char *description,
                       const uint32_t *rank, size_t n, size_t world);

#endif
