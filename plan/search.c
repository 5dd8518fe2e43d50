#include "plan/search.h"

#include <math.h>
#include <string.h>

#define N       SEARCH_UNKNOWNS_MAX
#define DAMPING 1e-2 /* at the start, relative to the squares of the slopes */
#define TRIES   6    /* per step, each with more damping */
#define ENOUGH  1e-3 /* stop after a step that gains a smaller share */

static double sum_of_squares(const struct search *s, const double *residual)
{
    double sum = 0;

    for (int i = 0; i < s->residuals; i++)
        sum += residual[i] * residual[i];
    return sum;
}

static double kept_within(const struct search *s, int u, double v)
{
    return fmin(fmax(v, s->low[u]), s->high[u]);
}

/* slope[u]: derivative of each residual by the logarithm of unknown u. */
static int find_slopes(const struct search *s, const double *x, const double *residual,
                       double slope[N][SEARCH_RESIDUALS_MAX])
{
    double beside[N];

    for (int u = 0; u < s->unknowns; u++) {
        double change;

        memset(slope[u], 0, sizeof(slope[u]));
        memcpy(beside, x, (size_t)s->unknowns * sizeof(*x));
        beside[u] = kept_within(s, u, x[u] * (1 + SEARCH_DIFFERENCE));
        if (beside[u] <= x[u])
            beside[u] = kept_within(s, u, x[u] / (1 + SEARCH_DIFFERENCE));
        if (beside[u] == x[u] || x[u] <= 0)
            continue;
        if (s->value(s->arg, beside, slope[u]) < 0)
            return -1;
        change = log(beside[u] / x[u]);
        for (int i = 0; i < s->residuals; i++)
            slope[u][i] = (slope[u][i] - residual[i]) / change;
    }
    return 0;
}

/* Solve a x = b by Gaussian elimination with pivots; x replaces b. */
static void solve(int n, double a[N][N], double *b)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;

        for (int i = k + 1; i < n; i++)
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        for (int j = 0; j < n; j++) {
            double kept = a[k][j];

            a[k][j] = a[pivot][j];
            a[pivot][j] = kept;
        }
        double kept = b[k];

        b[k] = b[pivot];
        b[pivot] = kept;
        for (int i = k + 1; i < n; i++) {
            double share = a[i][k] / a[k][k];

            for (int j = k; j < n; j++)
                a[i][j] -= share * a[k][j];
            b[i] -= share * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* One step of Levenberg and Marquardt: the more damping, the shorter. */
static void ahead_of(const struct search *s, const double *x, const double *residual,
                     double slope[N][SEARCH_RESIDUALS_MAX], double damping, double *ahead)
{
    double a[N][N] = { { 0 } }, b[N] = { 0 };

    for (int u = 0; u < s->unknowns; u++) {
        for (int v = 0; v < s->unknowns; v++) {
            for (int i = 0; i < s->residuals; i++)
                a[u][v] += slope[u][i] * slope[v][i];
        }
        for (int i = 0; i < s->residuals; i++)
            b[u] -= slope[u][i] * residual[i];
        a[u][u] = a[u][u] > 0 ? a[u][u] * (1 + damping) : 1; /* no residual depends on it: it stays */
    }
    solve(s->unknowns, a, b);
    for (int u = 0; u < s->unknowns; u++)
        ahead[u] = kept_within(s, u, x[u] * exp(fmin(fmax(b[u], -0.5), 0.5)));
}

int search_run(const struct search *s, double *x, double *least)
{
    double residual[SEARCH_RESIDUALS_MAX], there[SEARCH_RESIDUALS_MAX], ahead[N];
    double slope[N][SEARCH_RESIDUALS_MAX], damping = DAMPING;

    if (s->value(s->arg, x, residual) < 0)
        return -1;
    *least = sum_of_squares(s, residual);
    for (int round = 0; round < s->rounds; round++) {
        double before = *least;

        if (find_slopes(s, x, residual, slope) < 0)
            return -1;
        for (int try = 0; try < TRIES && *least == before; try++) {
            ahead_of(s, x, residual, slope, damping, ahead);
            if (s->value(s->arg, ahead, there) < 0)
                return -1;
            damping *= 10;
            if (!(sum_of_squares(s, there) < before))
                continue;
            damping /= 100;
            *least = sum_of_squares(s, there);
            memcpy(x, ahead, (size_t)s->unknowns * sizeof(*x));
            memcpy(residual, there, sizeof(residual));
        }
        if (before - *least <= ENOUGH * before)
            return 0;
    }
    return 0;
}
