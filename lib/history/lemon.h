/* lemon.h - the lemon score, which finds nodes that are the culprit in job after job.
 *
 * A lemon is a node that holds jobs back far more often than the others do, though no health check finds it
 * (Kokolis et al. 2024, "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", whose
 * lemon detection is over 28 days of job history as well). The score is the posterior probability that the
 * node's rate is above LEMON_TIMES the cluster's, the rate being the share of its job-time in which it was
 * the culprit:
 *
 * - Every job counts once, however many steps, restarts or verdicts it had, with the share of its time on the
 *   node in which the node was the culprit. A job of less than LEMON_FULL_S on the node counts proportionally
 *   less.
 * - The weight of old jobs decays with a half-life of LEMON_HALF_LIFE_DAYS, so that a repaired node recovers.
 * - Jobs of one user are similar and not independent evidence: n of them count as n / (1 + (n - 1) rho),
 *   which never exceeds 1 / rho (the design effect of Kish 1965, "Survey Sampling", rho is LEMON_ALIKE).
 * - The counts are binomial with a Beta prior, so that the posterior is Beta, too.  The prior's mean is the
 *   rate of the other nodes (empirical Bayes, Efron & Morris 1975, "Data analysis using Stein's estimator and
 *   its generalizations", JASA 70:311), its weight that of 20 jobs. A node is thus compared with the rates of
 *   this cluster, and few jobs change its score little.
 *
 * Pure: no clock, no store. Rates are ratios; unknown is NaN. */
#ifndef SYNCGUARD_HISTORY_LEMON_H
#define SYNCGUARD_HISTORY_LEMON_H

#include <stddef.h>
#include <stdint.h>

#include "report/verdict_words.h"

#define LEMON_TIMES          3.0 /* a lemon's rate exceeds this many times the cluster's */
#define LEMON_HALF_LIFE_DAYS 14.0
#define LEMON_ALIKE          0.25 /* correlation of the jobs of one user */
#define LEMON_MIN_JOBS       3.0  /* least number of independent jobs for a score */
/* least rate of the cluster; where verdicts are rare, one alone makes no lemon */
#define LEMON_MIN_RATE 0.01
#define LEMON_FULL_S   60.0

struct lemon {
    char node[64];
    uint32_t seen_jobs, culprit_jobs; /* plain numbers of jobs */
    uint32_t culprit_users;           /* whose jobs the latter are */
    double jobs, culprits; /* numbers weighted by age and independence, from which the score is computed */
    double score;          /* 0 to 1; NaN: too few jobs */
};

/* The table of all nodes on which a job ran. */
struct lemons;

struct lemons *lemons_new(void);
void lemons_free(struct lemons *t); /* NULL is fine */

/* Add a job on a node: the user's id, the job's time on the node, the part of it in which the node was the
 * culprit, and the job's age. Calls must be ordered by node (strcmp), then by user. */
void lemons_add(struct lemons *t, const char *node, int64_t user, double seconds, double culprit_s,
                double age_days);
/* Compute the scores; call it once, after all jobs were added. */
void lemons_score(struct lemons *t);

/* NULL: no job ran on the node. Valid until lemons_free(). */
const struct lemon *lemons_find(const struct lemons *t, const char *node);
/* All nodes ordered by name; valid until lemons_free(). */
const struct lemon *lemons_get(const struct lemons *t, size_t *n);

#endif
