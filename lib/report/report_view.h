/* report_view.h - a report filled from a view: what a running job and a recorded trace have in common.  Pure:
 * only reads the view. */
#ifndef SYNCGUARD_REPORT_REPORT_VIEW_H
#define SYNCGUARD_REPORT_REPORT_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "view/figures.h"
#include "view/verdicts.h"

struct report;

enum report_sort { REPORT_BY_LATENESS, REPORT_BY_RANK, REPORT_BY_NODE, REPORT_BY_LAST, REPORT_BY_COMPUTE };

/* Which rows of the table of ranks, how many columns of history, and at most how many agents and switches. */
struct report_selection {
    enum report_sort sort;
    uint32_t offset, count, columns, agents;
    uint32_t picture;  /* rows of the newest step, drawn; 0: it is not drawn */
    uint32_t switches; /* 0: none */
    char filter[64];   /* part of a node's or switch's name, or "r3"; "": all */
};
#define REPORT_ALL ((struct report_selection){ .count = UINT32_MAX, .columns = 120, .agents = UINT32_MAX })

/* The order of that name; of an unknown one, or NULL, REPORT_BY_LATENESS. */
enum report_sort report_sort_find(const char *name);
/* Parse a query's "view"; NULL: everything; values out of range become the nearest. */
void report_selection_parse(struct report_selection *s, const json_t *view);
json_t *report_selection_json(const struct report_selection *s); /* the caller's */

/* The ranks that pass the filter, sorted; the selected rows are [begin, end). */
struct report_ranks {
    struct view_rank_figures *f;
    size_t n, begin, end;
};
void report_ranks_get(struct report_ranks *r, const struct view *v, double now_s,
                      const struct report_selection *s);
/* The figures of these ranks, in this order; ranks that are not known are left out.  All of them are
 * selected. */
void report_ranks_of(struct report_ranks *r, const struct view *v, double now_s, const uint32_t *rank,
                     size_t n);
void report_ranks_free(struct report_ranks *r);
/* Keep of a report's ranks those that pass the filter, sorted.  By lateness they are as they are: in that
 * order a report is saved. */
void report_select_ranks(struct report *r, const struct report_selection *s);

/* All but the row (report_row.h) and the projections, on which step_phases depend: first fill those. ranks:
 * the selected ones.  A picture is lent by the view. */
void report_view_get(struct report *r, const struct view *v, double now_s, const struct report_selection *s,
                     const struct report_ranks *ranks);
/* scaling, strategies and overlap (some 70 ms: keep them). */
void report_projections_get(struct report *r, const struct view *v, double now_s);

#endif
