/* The lemon score on simulated clusters with a known lemon. */
#include "history/lemon.h"

#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>

#include "common/hash.h"
#include "tests/tap.h"

#define NODES    64
#define JOBS_MAX 400
#define USERS    12

static uint64_t random_state;

/* splitmix64 (Steele, Lea & Flood 2014): any two states give unrelated numbers, also neighbours. */
static double uniform(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    return (double)(hash_mix(random_state) >> 11) / (double)(1ull << 53);
}

/* ---- simulated clusters: users' jobs on nodes, some of which are the culprit for part of a job ---- */

struct cluster {
    double rate[NODES]; /* probability that the node is the culprit of a job on it */
    int jobs;           /* on every node */
    int users;
    double days; /* the jobs are spread over this time, up to now */
};

/* The table after c->jobs jobs on every node; the same seed gives the same history. */
static struct lemons *after(const struct cluster *c, uint64_t seed)
{
    struct lemons *t = lemons_new();

    for (int n = 0; n < NODES; n++)
        for (int u = 0; u < c->users; u++)
            for (int j = u; j < c->jobs; j += c->users) {
                char name[16];
                double share;

                random_state = ((seed * NODES + (uint64_t)n) * JOBS_MAX + (uint64_t)j) << 8;
                share = uniform() < c->rate[n] ? 0.3 + 0.7 * uniform() : 0;
                snprintf(name, sizeof(name), "n%02d", n);
                lemons_add(t, name, u, 3600, 3600 * share, c->days * (c->jobs - 1 - j) / c->jobs);
            }
    lemons_score(t);
    return t;
}

static struct cluster healthy(double rate)
{
    struct cluster c = { .users = USERS, .days = 14 };

    for (int n = 0; n < NODES; n++)
        c.rate[n] = rate;
    return c;
}

static int lemons_in(const struct lemons *t)
{
    size_t n;
    const struct lemon *l = lemons_get(t, &n);
    int lemons = 0;

    for (size_t i = 0; i < n; i++)
        lemons += l[i].score >= LEMON_SURE;
    return lemons;
}

static double score_of(const struct lemons *t, const char *node)
{
    const struct lemon *l = lemons_find(t, node);

    return l ? l->score : NAN;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Number of jobs after which a lemon that is the culprit of `rate` of its jobs is found; median of 20
 * histories. */
static int found_after(double rate, int *at_worst)
{
    int jobs[20];

    for (int i = 0; i < 20; i++) {
        struct cluster c = healthy(0.02);

        c.rate[17] = rate;
        for (c.jobs = 1; c.jobs < 150; c.jobs++) {
            struct lemons *t = after(&c, (uint64_t)i + 1);
            bool found = score_of(t, "n17") >= LEMON_SURE;

            lemons_free(t);
            if (found)
                break;
        }
        jobs[i] = c.jobs;
    }
    qsort(jobs, 20, sizeof(int), compare_ints);
    *at_worst = jobs[18];
    return jobs[10];
}

static void a_lemon_is_found(void)
{
    static const struct {
        double rate;
        int within; /* median number of jobs */
    } lemons[] = { { 1, 10 }, { 0.5, 20 }, { 0.3, 45 } };

    for (size_t i = 0; i < ARRAY_SIZE(lemons); i++) {
        int worst, jobs = found_after(lemons[i].rate, &worst);

        ok(jobs <= lemons[i].within,
           "a culprit of %.0f %% of its jobs among %d nodes with 2 %% is found\nafter %d jobs (median; 95 %% of %d)",
           100 * lemons[i].rate, NODES, jobs, worst);
    }
}

static void the_healthy_are_left_alone(void)
{
    static const double rates[] = { 0, 0.005, 0.02, 0.1, 0.3 };

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
        struct cluster c = healthy(rates[i]);
        int named = 0, looked = 0;

        for (uint64_t seed = 1; seed <= 50; seed++)
            for (c.jobs = 10; c.jobs <= 160; c.jobs *= 2) {
                struct lemons *t = after(&c, 1000 * seed);

                looked += NODES;
                named += lemons_in(t);
                lemons_free(t);
            }
        ok(named <= looked / 1000,
           "where every node is the culprit of %.1f %% of its jobs, hardly a score is a lemon's\n%d of %d",
           100 * rates[i], named, looked);
    }
}

static void beside_a_lemon(void)
{
    struct cluster c = healthy(0.02);
    int named = 0;

    c.rate[17] = 1;
    c.jobs = 60;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct lemons *t = after(&c, seed);

        named += lemons_in(t) - 1;
        lemons_free(t);
    }
    ok(named <= 3, "in clusters with a lemon at most 3 sound nodes are called one\n%d of %d", named,
       50 * (NODES - 1));
}

/* ---- weights of jobs ---- */

/* Node "b" among 30 sound ones: it is the culprit of all jobs, `jobs` for each of `users` users. */
static struct lemons *spoilt(int jobs, int users, double seconds, double age_days)
{
    struct lemons *t = lemons_new();

    for (int u = 0; u < users; u++)
        for (int j = 0; j < jobs; j++)
            lemons_add(t, "b", u, seconds, seconds, age_days);
    for (int n = 0; n < 30; n++)
        for (int u = 0; u < 10; u++) {
            char name[16];

            snprintf(name, sizeof(name), "c%02d", n);
            lemons_add(t, name, u, 3600, 0, 1);
        }
    lemons_score(t);
    return t;
}

static void evidence(void)
{
    struct lemons *t = spoilt(1, 2, 3600, 0);

    ok(isnan(score_of(t, "b")), "a node that is the culprit of its only two jobs has no score");
    ok(lemons_find(t, "b")->seen_jobs == 2 && lemons_find(t, "b")->culprit_jobs == 2,
       "two jobs below the limit are counted in seen_jobs and culprit_jobs");
    ok(!lemons_find(t, "zz"), "a node without jobs is not found");
    lemons_free(t);
    t = spoilt(1, 3, 3600, 0);
    ok(score_of(t, "b") >= LEMON_SURE,
       "the culprit of three users' only jobs has a score of at least 0.95\n%.3f", score_of(t, "b"));
    lemons_free(t);
    t = spoilt(5, 1, 3600, 0);
    ok(isnan(score_of(t, "b")), "five jobs of one user count as less than three: no score");
    lemons_free(t);
    t = spoilt(10000, 1, 3600, 0);
    ok(near(lemons_find(t, "b")->jobs, 1 / LEMON_ALIKE, 0.01),
       "ten thousand jobs of one user count as 4\n%.2f", lemons_find(t, "b")->jobs);
    lemons_free(t);
    t = spoilt(1, 4, 6, 0);
    ok(isnan(score_of(t, "b")), "four jobs of six seconds count as less than three: no score");
    lemons_free(t);
    t = spoilt(1, 4, 3600, 6 * LEMON_HALF_LIFE_DAYS);
    ok(isnan(score_of(t, "b")), "jobs six half-lives ago count as less than three: no score");
    lemons_free(t);
}

/* One user's program always has its slow rank on node "b"; other users' sound jobs there must outweigh it. */
static void one_program(int others, bool lemon)
{
    struct lemons *t = lemons_new();

    for (int j = 0; j < 40; j++)
        lemons_add(t, "b", 0, 3600, 3600, 0);
    for (int u = 1; u <= others; u++)
        lemons_add(t, "b", u, 3600, 0, 0);
    for (int n = 0; n < 30; n++)
        for (int u = 0; u < 10; u++) {
            char name[16];

            snprintf(name, sizeof(name), "c%02d", n);
            lemons_add(t, name, u, 3600, (n * 10 + u) % 50 ? 0 : 3600, 1);
        }
    lemons_score(t);
    ok((score_of(t, "b") >= LEMON_SURE) == lemon,
       "the culprit of 40 jobs of one user, but not of %d of others, has the score that it should\n%.3f",
       others, score_of(t, "b"));
    lemons_free(t);
}

static void a_cluster_of_one(void)
{
    struct lemons *t = lemons_new();

    for (int u = 0; u < 20; u++)
        lemons_add(t, "alone", u, 3600, 3600, 0);
    lemons_add(t, "alone", 99, 0, 0, 0);
    lemons_score(t);
    ok(isnan(score_of(t, "alone")), "the only node of a cluster has no score");
    is_int(lemons_find(t, "alone")->seen_jobs, 20, "a job of 0 s does not count");
    lemons_free(t);
    lemons_free(NULL);
    t = lemons_new();
    lemons_score(t);
    ok(!lemons_find(t, "any"), "an empty table finds no node");
    lemons_free(t);
}

int main(void)
{
    a_lemon_is_found();
    the_healthy_are_left_alone();
    beside_a_lemon();
    evidence();
    one_program(0, true);
    one_program(4, false);
    one_program(20, false);
    a_cluster_of_one();
    return done_testing();
}
