/* columns.h - a view's history in columns, of all ranks and of each rank's lateness; the last ones are "now".
 * A column starts at a second and doubles with slow steps. */
#ifndef SYNCGUARD_VIEW_COLUMNS_H
#define SYNCGUARD_VIEW_COLUMNS_H

#include "view/join.h"
#include "view/roster.h"
#include "view/timeline.h"

#define COLUMNS_RECENT 10u /* that "now" means */

struct cell {         /* a rank in some columns */
    float lateness_s; /* sum */
    uint16_t joined, last;
};
struct totals {                   /* all ranks in some columns */
    double wait_s, transfer_s;    /* in the collectives that were joined */
    double work_s, p2p_s, stay_s; /* of all */
    double skew_sum_s, step_sum_s;
    uint32_t skews, steps;
};

struct columns;
struct columns *columns_new(const struct roster *roster, double now_s); /* lent */
void columns_free(struct columns *s);
void columns_reserve(struct columns *s, uint32_t ranks);
void columns_forget(struct columns *s);

void columns_take_sample(struct columns *s, const struct sample *i);
/* main: of the largest communicator */
void columns_take_joined(struct columns *s, const struct joined *j, bool main);
void columns_take_step(struct columns *s, double duration_s);

/* Time passes: the next column that is over by now; false: there is none any more, call columns_fit(). */
struct column {
    struct totals all;
    double begin_s, end_s;
};
bool columns_close(struct columns *s, double now_s, struct column *out);
/* Widen or narrow columns to steps of that length (NaN: not known); closed: some column was closed. */
void columns_fit(struct columns *s, double step_s, bool closed);

struct cell columns_newest(const struct columns *s, uint32_t rank); /* the last second or two */
struct cell columns_recent(const struct columns *s, uint32_t rank);
struct totals columns_totals(const struct columns *s); /* recent */
/* of its lateness */
void columns_quantiles(const struct columns *s, uint32_t rank, double *p50_s, double *p95_s, double *p99_s);
void columns_skews(const struct columns *s, double *p50_s, double *p95_s);
double columns_width_s(const struct columns *s);
/* As view_rank_columns() and view_columns_get(). */
size_t columns_rank(const struct columns *s, uint32_t rank, float *lateness_s);
size_t columns_get(const struct columns *s, struct view_columns *out);

void totals_add(struct totals *a, const struct totals *b);
float totals_synchronisation(const struct totals *t); /* share of the time spent waiting */

#endif
