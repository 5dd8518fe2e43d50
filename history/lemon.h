/* lemon.h - which nodes keep being the culprit: the lemon score.
 *
 * A lemon is a node that holds jobs back far more often than the others do, job after job, though no health
 * check finds it (Kokolis et al. 2024, "Revisiting Reliability in Large-Scale Machine Learning Research
 * Clusters", whose lemon detection is over 28 days of job history as well). The score is the posterior
 * probability that the node's rate is above LEMON_TIMES the cluster's, the rate being the share of its
 * job-time in which it was the culprit:
 *
 * - Every job counts once, however many steps, restarts or verdicts it had: with the share of its time on the
 *   node in which it was the culprit. Less than LEMON_FULL_S on the node counts for that part of a job.
 * - Old jobs fade with a half-life of LEMON_HALF_LIFE_DAYS: a node that was repaired recovers.
 * - Jobs of one user are alike and no independent evidence: n of them count as n / (1 + (n - 1) rho), which
 *   never exceeds 1 / rho (the design effect of Kish 1965, "Survey Sampling", rho is LEMON_ALIKE).
 * - Binomial counts under a Beta prior, the posterior of which is Beta too; the prior's mean is the rate of
 *   the other nodes, its strength what their spread tells by the method of moments (Kleinman 1973,
 *   "Proportions with extraneous variance", JASA 68:46), the empirical Bayes shrinkage of Efron & Morris 1975
 *   ("Data analysis using Stein's estimator and its generalizations", JASA 70:311). So a node is compared
 *   with what is usual here, and few jobs move it little.
 *
 * Pure: no clock, no store. Rates are ratios; unknown is NaN. */
#ifndef SYNCGUARD_HISTORY_LEMON_H
#define SYNCGUARD_HISTORY_LEMON_H

#include <stddef.h>
#include <stdint.h>

#define LEMON_TIMES          3.0  /* times the cluster's rate: worse is a lemon */
#define LEMON_SURE           0.95 /* a score from here on is called a lemon */
#define LEMON_HALF_LIFE_DAYS 14.0
#define LEMON_ALIKE          0.25 /* correlation of the jobs of one user */
#define LEMON_MIN_JOBS       3.0  /* below so many independent jobs there is no score */
#define LEMON_MIN_RATE       0.01 /* of the cluster: where nothing ever happens, one event is no alarm */
#define LEMON_FULL_S         60.0

struct lemon {
    char node[64];
    uint32_t seen_jobs, culprit_jobs; /* as they are, not faded */
    double jobs, culprits;            /* faded and independent: what the score stands on */
    double score;                     /* 0 to 1; NaN: too few jobs */
};

/* The table of all nodes that any job was seen on. */
struct lemons;

struct lemons *lemons_new(void);
void lemons_free(struct lemons *t); /* NULL is fine */

/* A job on a node: the user's id, its time there, how much of that the node was the culprit, how long ago it
 * was. Calls come ordered by node (strcmp), then by user. */
void lemons_add(struct lemons *t, const char *node, int64_t user, double seconds, double culprit_s,
                double age_days);
/* All jobs were added: work out the scores. */
void lemons_score(struct lemons *t);

/* NULL: no job was seen there. Lent until the table goes. */
const struct lemon *lemons_find(const struct lemons *t, const char *node);
/* All nodes by name; lent. */
const struct lemon *lemons_get(const struct lemons *t, size_t *n);

/* P(X <= x) for X of the Beta distribution with a, b > 0. */
double lemon_beta_cdf(double a, double b, double x);

#endif
