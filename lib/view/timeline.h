/* timeline.h - how a view's figures went in time, and where they are heading. */
#ifndef SYNCGUARD_VIEW_TIMELINE_H
#define SYNCGUARD_VIEW_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/trend.h"

struct view;

/* of history; a column starts at a second and doubles with slow steps */
#define VIEW_COLUMNS 120u

/* History, oldest column first; arrays of VIEW_COLUMNS are the caller's, NaN where there was nothing. Returns
 * how many. */
double view_column_s(const struct view *v);
size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s);
struct view_columns {
    float step_s[VIEW_COLUMNS], steps_per_s[VIEW_COLUMNS], skew_s[VIEW_COLUMNS],
        synchronisation_ratio[VIEW_COLUMNS];
};
size_t view_columns_get(const struct view *v, struct view_columns *c);
/* The run so far in longer stretches: the shortest of those that view_projection_get() looks at that go back
 * to its beginning, or else the longest, of three hours.  The oldest first; the stretch that is not over is
 * left out. */
#define VIEW_STRETCHES 90u
struct view_stretches {
    double width_s, at_s[VIEW_STRETCHES]; /* at_s: the middle, by the caller's clock */
    float step_s[VIEW_STRETCHES], synchronisation_ratio[VIEW_STRETCHES]; /* NaN: nothing was known */
};
size_t view_stretches_get(const struct view *v, struct view_stretches *s);

/* Where the share of waiting is heading: the shortest of three windows (3 minutes, 24 minutes, 3 hours) that
 * shows a trend. */
struct view_projection {
    double synchronisation_ratio; /* now */
    enum trend_direction trend;
    double per_hour;          /* ratio an hour; NaN without a trend */
    double limit;             /* where the regime becomes, or ceases to be, synchronisation */
    struct trend_reach reach; /* seconds from now until limit; NaN: not reached in a foreseeable time */
    enum trend_direction step_trend; /* of the step time */
    double step_per_hour;            /* growth of the step time, of itself an hour; NaN without a trend */
    bool warning;   /* it fluctuates ever wider and slower, as before many changes of regime */
    char text[256]; /* all but the warning, in a few words */
};
void view_projection_get(const struct view *v, double now_s, struct view_projection *p);

/* Whether the job comes to lose more or less: where its share of waiting is heading or, where that has no
 * trend, its step time; with a drift as its worst verdict it loses more.  Unknown while one of the two is and
 * the other does not move, and of a job that stands still. */
enum trend_direction view_trend(const struct view *v, double now_s);

#endif
