/* search.h - minimises the sum of squared residuals over a few positive unknowns, by Levenberg and Marquardt
 * (Marquardt 1963).
 *
 * Unknowns are changed by ratios, so their units do not matter.  Slopes are differences over a change of
 * SEARCH_DIFFERENCE.  It finds a local minimum near the start.  Deterministic, no allocation. */
#ifndef SYNCGUARD_PLAN_SEARCH_H
#define SYNCGUARD_PLAN_SEARCH_H

#define SEARCH_UNKNOWNS_MAX  8
#define SEARCH_RESIDUALS_MAX 32
#define SEARCH_DIFFERENCE    0.02

struct search {
    int unknowns, residuals;  /* at most SEARCH_UNKNOWNS_MAX and SEARCH_RESIDUALS_MAX */
    const double *low, *high; /* of each unknown; an unknown with low == high is fixed */
    int rounds;               /* at most; each evaluates the residuals once per unknown and a few times more */
    /* Compute the residuals at x.  0, or -1 to give up. */
    int (*value)(void *arg, const double *x, double *residual);
    void *arg;
};

/* Search from x; x becomes the minimum and *least its sum of squares.  -1: the function gave up. */
int search_run(const struct search *s, double *x, double *least);

#endif
