/* search.h - a few positive unknowns such that residuals are least, by Levenberg and Marquardt (Marquardt
 * 1963).
 *
 * Unknowns are changed by ratios, so their units do not matter; slopes are differences over DIFFERENCE.  It
 * finds a minimum of the sum of squares near where it begins, not the least of all.  Deterministic, no
 * allocation. */
#ifndef SYNCGUARD_PLAN_SEARCH_H
#define SYNCGUARD_PLAN_SEARCH_H

#define SEARCH_UNKNOWNS_MAX  8
#define SEARCH_RESIDUALS_MAX 32
#define SEARCH_DIFFERENCE    0.02

struct search {
    int unknowns, residuals;  /* at most SEARCH_UNKNOWNS_MAX and SEARCH_RESIDUALS_MAX */
    const double *low, *high; /* of each unknown; the same: it stays so */
    int rounds;               /* at most; each takes one value an unknown and a few more */
    /* The residuals at x: 0, or -1 to give up. */
    int (*value)(void *arg, const double *x, double *residual);
    void *arg;
};

/* From x on, where it ends, too; *least: the sum of squares there.  -1: the function gave up. */
int search_run(const struct search *s, double *x, double *least);

#endif
