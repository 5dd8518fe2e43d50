/* picture.h - one step as a picture: when each rank worked, waited and took part in a transfer, the messages,
 * and the critical path through them.  What screens, JSON and SVG show of a step is all in here.
 *
 * Bounded whatever the job's size: ranks on the critical path, one of each role and the slowest get a row,
 * and a row with too many segments is drawn coarsely.  What is not known is PATH_UNKNOWN, never work.
 *
 * Where calls do not come one by one, the order of events in a step is not known: a row then has the sums of
 * its work, waiting and transfers, in this order.
 *
 * Units: seconds since the step began on the first rank. */
#ifndef SYNCGUARD_CALLS_PICTURE_H
#define SYNCGUARD_CALLS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/path.h"
#include "detect/work.h"

#define PICTURE_ROWS_MAX     64u
#define PICTURE_SEGMENTS_MAX 8192u /* of all rows */
#define PICTURE_ROW_SEGMENTS 256u
#define PICTURE_PIECES_MAX   512u
#define PICTURE_MESSAGES_MAX 512u
#define PICTURE_PARTS_MAX    8u

struct picture_segment {
    uint8_t kind; /* enum path_kind */
    double begin_s, end_s;
};

struct picture_row {
    int64_t rank;
    int64_t role;                              /* see graph_role(); -1: not known */
    char node[64];                             /* "": not known */
    double work_s, wait_s, transfer_s, call_s; /* in this step, by kind; NaN: not known */
    double peers_s;  /* median work of the others of its role; NaN: there are none */
    double path_s;   /* of the critical path: its work */
    bool coarse;     /* small segments are drawn together */
    size_t first, n; /* segments: none where the rank's clock cannot be compared with the others' */
};

struct picture_piece {  /* of the critical path */
    uint8_t kind;       /* enum path_kind */
    int64_t rank, from; /* from: the rank that a transfer came from; otherwise the same */
    double begin_s, end_s;
};

struct picture_part { /* of the critical path's time */
    uint8_t kind;
    int64_t rank, from;
    char node[64];  /* rank's */
    char text[128]; /* "work of r3 on n1" */
    double time_s;
};

struct picture_message {
    int64_t from, to;
    double sent_s, received_s; /* NaN: the clocks cannot be compared with that of the path's end */
    double held_s;             /* for how long its receiver waited for it */
    bool on_path;
};

enum picture_basis { PICTURE_OF_CALLS, PICTURE_OF_SUMS };

struct picture {
    uint8_t basis;             /* enum picture_basis */
    int64_t step;              /* number; -1: not known */
    double duration_s;         /* from the end of the step before */
    double span_s;             /* from its beginning on the first rank to its end on the last */
    double age_s;              /* since it was known; set by the view */
    int64_t ranks;             /* of the job; rows are of some of them */
    int64_t roles;             /* among them; 0: not known */
    int64_t path_ranks;        /* whose work is on the critical path */
    double path_s[PATH_KINDS]; /* of the critical path's time */
    char text[512];            /* why the step takes as long as it does */
    size_t n_rows, n_segments, n_pieces, n_messages, n_parts;
    int64_t messages;        /* all of them */
    struct picture_row *row; /* by rank, ascending */
    struct picture_segment *segment;
    struct picture_piece *piece;     /* earliest first */
    struct picture_message *message; /* those of the critical path, then those that were waited for longest */
    struct picture_part part[PICTURE_PARTS_MAX]; /* longest first */
};

/* Of the step that is `back` steps before the newest; NULL: it is not known.  ranks: one more than the
 * largest rank; rows: the maximum. */
struct picture *picture_of_calls(const struct graph *g, uint32_t back, uint32_t ranks, uint32_t rows);
/* Of the newest step; step: its number. */
struct picture *picture_of_work(const struct work *w, int64_t step, uint32_t rows);
struct picture *picture_copy(const struct picture *p); /* NULL: NULL */
void picture_free(struct picture *p);                  /* NULL is fine */

/* Whether the rank has a row, and which. */
bool picture_find_row(const struct picture *p, int64_t rank, size_t *row);

/* Write the texts, once the nodes' names are there. */
void picture_describe(struct picture *p);

const char *picture_kind_name(enum path_kind k); /* "work", "wait", "transfer", "unknown" */

#endif
