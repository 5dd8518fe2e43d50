#include "plan/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "sim/simulation.h"

#define LEAF   16 /* nodes below a switch */
#define SPINES 4  /* one cable to each, as fast as a node's link: 4 to 1 oversubscribed */
#define BUFFER 2  /* messages that a port passes at the same time without loss */

const struct trial_unknown trial_unknowns[TRIAL_UNKNOWNS] = {
    [TRIAL_COMPUTE] = { "compute_s", "own work of a node in an iteration", ANSWER_SECONDS, true, 0.3, 1.5 },
    [TRIAL_BYTES] = { "gradient_bytes", "bytes that each node sends to the server and receives back",
                      ANSWER_BYTES, true, 1e6, 1e9 },
    [TRIAL_HIDING] = { "hiding_share", "share of the work that overlaps the exchange of the first gradients",
                       ANSWER_SHARE, true, 0, 0.5 },
    [TRIAL_WORK_CV] = { "work_cv", "variation of a node's own work, independent between nodes", ANSWER_NUMBER,
                        true, 0, 0.1 },
    [TRIAL_LINK_CV] = { "link_cv",
                        "variation of the time on the server's link, which other traffic uses, too",
                        ANSWER_NUMBER, true, 0, 1 },
    [TRIAL_LOSS] = { "loss", "mean share of each message beyond two at a port that is sent again",
                     ANSWER_NUMBER, false, 0, 10 },
};

/* Fitted with 300 steps of each of five seeds. */
const struct trial_world trial_worlds[TRIAL_WORLDS] = {
    { "traffic",
      "other traffic at the server; 1/6 of gradients in the last bucket",
      0.2,
      { 0.95, 1e8, 0.1, 0.02, 0.4, 0 },
      { 0.95934, 1.07805e8, 0.043335, 0.025369, 0.44195, 0 } },
    { "thirds",
      "as traffic, but 1/3 of gradients in the last bucket",
      0.5,
      { 0.95, 1e8, 0.1, 0.02, 0.4, 0 },
      { 0.95428, 1.08508e8, 0.044774, 0.024652, 0.44127, 0 } },
    { "loss",
      "as traffic, and incasts lose packets at the server's port",
      0.2,
      { 0.95, 8.5e7, 0.03, 0.022, 0.4, 0.5 },
      { 0.94699, 8.5528e7, 0.010115, 0.01606, 0.40048, 0.5 } },
};

struct statistics_mean trial_gain(const struct trial_figures *figures, const struct trial_figures *than)
{
    double gain[TRIAL_SEEDS_MAX];

    for (int i = 0; i < figures->n; i++)
        gain[i] = figures->rate[i] / than->rate[i] - 1;
    return statistics_mean(gain, (size_t)figures->n);
}

static const char *or_none(const char *text)
{
    return text ? text : "";
}

/* Two buckets: the first is exchanged during the second half of the backward pass. */
static void write_scenario(char *text, size_t size, const struct trial *t, const struct trial_world *w,
                           const double *x, const struct trial_remedy *remedy, int nodes, int seed)
{
    int ranks = remedy->ranks_per_node ? remedy->ranks_per_node : 1;

    snprintf(text, size,
             "Run=scaling Seed=%d Network=%s\n"
             "Fabric=leafspine Nodes=%d NodesPerSwitch=%d Spines=%d Link=12.5GB/s Uplink=12.5GB/s "
             "Latency=1us Local=200GB/s Buffer=%d Loss=%.9f %s\n"
             "Job=train Ranks=%d RanksPerNode=%d Steps=%d Compute=%.9fs Forward=%.9f Buckets=2 "
             "LastBucket=%g Overlap=yes Bytes=%.0f Samples=%d %s\n"
             "Noise=node Cv=%.9f\n"
             "Noise=link Node=0 Cv=%.9f\n"
             "Noise=loss Cv=1 Shape=gamma\n"
             "%s\n",
             seed, t->network, nodes > LEAF ? nodes : LEAF, LEAF, SPINES, BUFFER, x[TRIAL_LOSS],
             or_none(remedy->fabric), nodes * ranks, ranks, t->steps, x[TRIAL_COMPUTE],
             1 - 2 * x[TRIAL_HIDING], w->last_ratio, x[TRIAL_BYTES], TRIAL_SAMPLES / ranks,
             or_none(remedy->job), x[TRIAL_WORK_CV], remedy->quiet ? 0.0 : x[TRIAL_LINK_CV],
             or_none(remedy->lines));
}

static int run_seed(const char *text, struct trial_figures *figures, struct err *err)
{
    struct scenario *s = xcalloc(1, sizeof(*s));
    struct simulation *m = NULL;
    const struct sim_job_result *result;
    int rc = -1;

    if (scenario_parse(s, "experiment", text, strlen(text), err) == 0 && (m = simulation_new(s, NULL, err)) &&
        simulation_run(m, err) == 0) {
        const struct scenario_job *j = &s->jobs[0];

        result = simulation_result(m, 0);
        figures->rate[figures->n] =
            j->samples * j->ranks * (double)result->steps / (result->end_s - result->begin_s);
        figures->cv[figures->n++] = spread_cv(&result->step);
        rc = 0;
    }
    simulation_free(m);
    free(s);
    return rc;
}

int trial_run(const struct trial *t, const struct trial_world *w, const double x[TRIAL_UNKNOWNS],
              const struct trial_remedy *remedy, int nodes, struct trial_figures *figures, struct err *err)
{
    char text[2048];

    figures->n = 0;
    for (int i = 0; i < t->seeds; i++) {
        write_scenario(text, sizeof(text), t, w, x, remedy, nodes, t->seed + i);
        if (run_seed(text, figures, err) < 0)
            return -1;
        if (t->simulated)
            t->simulated(t->arg);
    }
    return 0;
}
