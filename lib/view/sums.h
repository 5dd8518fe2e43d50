/* sums.h - what a view's ranks spend their time on, and on whom they wait: in the whole run, and recently.
 *
 * The recent sums lose one part in COLUMNS_RECENT whenever a column of history ends, which weighs the past
 * like a window of as many columns and needs no history of each rank. */
#ifndef SYNCGUARD_VIEW_SUMS_H
#define SYNCGUARD_VIEW_SUMS_H

#include "detect/efficiency.h"
#include "view/columns.h"
#include "view/join.h"
#include "view/roster.h"

struct rank_sums { /* of all samples */
    double work_s, stay_s, time_s;
};
struct joined_sums { /* of all ranks, in the collectives that were joined */
    double wait_s, transfer_s;
};

struct sums;
struct sums *sums_new(const struct roster *roster); /* lent */
void sums_free(struct sums *s);
void sums_reserve(struct sums *s, uint32_t ranks);
void sums_forget(struct sums *s);

void sums_take_sample(struct sums *s, const struct sample *i);
/* Returns what it adds. */
struct joined_sums sums_take_joined(struct sums *s, const struct joined *j);
void sums_fade(struct sums *s); /* a column of history is over */

const struct rank_sums *sums_rank(const struct sums *s, uint32_t rank, bool run);
struct efficiency_sums sums_all(const struct sums *s, bool run); /* of the run, with those of sums_go_on() */
void sums_go_on(struct sums *s, const struct efficiency_sums *before);

/* Of a step, in the time that collectives hold ranks; NaN: not known. recent: columns_totals(). */
struct rank_waiting {
    double own_s, caused_s; /* its own waiting for ranks that come later; the others' that it causes */
};
struct rank_waiting sums_waiting(const struct sums *s, uint32_t rank, const struct totals *recent);

/* For those who keep such sums, too: what is left of one when a column of history ends. */
#define SUMS_FADE (1 - 1.0 / COLUMNS_RECENT)
void joined_sums_add(struct joined_sums *a, const struct joined_sums *b);
void joined_sums_fade(struct joined_sums *s);

#endif
