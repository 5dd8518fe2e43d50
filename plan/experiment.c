/* sgplan experiment: a published experiment, run again in the simulator.
 *
 * scaling: a data-parallel job on 4 ... 64 nodes, with and without coordination of its ranks.  What is
 * published are throughputs and variations; fabric and noise are not.  They are searched for here, with the
 * uncoordinated column as the only target; the coordinated one is looked at, never fitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/questions.h"
#include "sim/simulation.h"

#define SIZES 5

static const int nodes[SIZES] = { 4, 8, 16, 32, 64 };
/* As published: samples/s, and deviation of the iteration time over its mean. */
static const struct column {
    double rate[SIZES], cv[SIZES];
} plain = { { 1024, 1980, 3600, 5800, 8200 }, { .02, .04, .09, .15, .22 } },
  coordinated = { { 1018, 1995, 3720, 6250, 9100 }, { .02, .03, .05, .07, .09 } };

#define SAMPLES 256 /* of a node and iteration: sets the scale of time, nothing else */

/* What is searched for, in this order: work and gradient of an iteration, and how both vary. */
enum { COMPUTE, BYTES, RANK_CV, LINK_CV, UNKNOWNS };

static const struct unknown {
    const char *key, *words;
    enum answer_unit unit;
    double low, high, start;
} unknowns[UNKNOWNS] = {
    [COMPUTE] = { "compute_s", "own work of a node in an iteration", ANSWER_SECONDS, 0.3, 1.5, 0.9 },
    [BYTES] = { "gradient_bytes", "that each node sends to the server and takes back", ANSWER_BYTES, 1e6, 1e9,
                1e8 },
    [RANK_CV] = { "work_cv", "of a node's own work, independent", ANSWER_NUMBER, 0, 0.1, 0.01 },
    [LINK_CV] = { "link_cv", "of the time that the server's link takes, for others use it too", ANSWER_NUMBER,
                  0, 1, 0.4 },
};

/* What is tried; keys of the job, and whether other traffic is kept off the server's link. */
static const struct remedy {
    const char *key, *words, *job;
    bool quiet;
} remedies[] = {
    { "uncoordinated", "as fitted", "Algorithm=server", false },
    { "pacing", "early nodes sleep up to a second before they enter",
      "Algorithm=server Pacing=delay PaceMax=1s", false },
    { "quiet_link", "other traffic is scheduled off the shared link", "Algorithm=server", true },
    { "servers_4", "four servers on links of their own", "Algorithm=server Servers=4", false },
    { "stale_1", "a node may be one iteration ahead", "Algorithm=server Sync=staleness Staleness=1", false },
    { "local_4", "an exchange every four iterations", "Algorithm=server Sync=local Every=4", false },
    { "tree", "sums on the way to the root of a binomial tree, and back", "Algorithm=tree", false },
    { "ring", "a ring instead of a server", "Algorithm=ring", false },
    { "ring_shuffled", "a ring in an order that ignores the switches", "Algorithm=ring Placement=shuffled",
      false },
};

struct run {
    int steps, seed;
    enum network_mode mode;
    double told_s;
    int simulated;
};

static void progress(struct run *r)
{
    struct timespec t;
    double now_s;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now_s = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
    r->simulated++;
    if (r->told_s == 0)
        r->told_s = now_s;
    if (now_s - r->told_s < 2 || !isatty(STDERR_FILENO))
        return;
    r->told_s = now_s;
    fprintf(stderr, "\r%d jobs simulated \033[K", r->simulated);
}

/* ---- simulating a column ---- */

static int simulate(struct run *r, const double *x, const struct remedy *remedy, int n, double *rate,
                    double *cv, struct err *err)
{
    struct scenario *s = xcalloc(1, sizeof(*s));
    struct simulation *m = NULL;
    const struct job_result *result;
    char text[1024];
    int rc = -1;

    snprintf(
        text, sizeof(text),
        "Run=scaling Seed=%d Network=%s\n"
        "Fabric=leafspine Nodes=64 NodesPerSwitch=16 Spines=4 Link=12.5GB/s Uplink=12.5GB/s Latency=1us\n"
        "Job=train Ranks=%d RanksPerNode=1 Steps=%d Compute=%.9fs Buckets=1 Bytes=%.0f Samples=%d %s\n"
        "Noise=rank Cv=%.6f\nNoise=link Node=0 Cv=%.6f\n",
        r->seed, network_mode_name(r->mode), n, r->steps, x[COMPUTE], x[BYTES], SAMPLES, remedy->job,
        x[RANK_CV], remedy->quiet ? 0.0 : x[LINK_CV]);
    if (scenario_parse(s, "experiment", text, strlen(text), err) == 0 && (m = simulation_new(s, NULL, err)) &&
        simulation_run(m, err) == 0) {
        result = simulation_result(m, 0);
        *rate = SAMPLES * n * (double)result->steps / (result->end_s - result->begin_s);
        *cv = spread_cv(&result->step);
        rc = 0;
    }
    simulation_free(m);
    free(s);
    progress(r);
    return rc;
}

static int simulate_column(struct run *r, const double *x, const struct remedy *remedy, struct column *c,
                           struct err *err)
{
    for (int i = 0; i < SIZES; i++) {
        if (simulate(r, x, remedy, nodes[i], &c->rate[i], &c->cv[i], err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the search ---- */

/* The worst relative error of a throughput; beside it, at a fifth of the weight, of a variation. */
static double misfit(const struct column *c, const struct column *want)
{
    double worst = 0, vary = 0;

    for (int i = 0; i < SIZES; i++) {
        worst = fmax(worst, fabs(c->rate[i] / want->rate[i] - 1));
        vary = fmax(vary, fabs(c->cv[i] / want->cv[i] - 1));
    }
    return worst + vary / 5;
}

static double clamp(double v, const struct unknown *u)
{
    return fmin(fmax(v, u->low), u->high);
}

/* Pattern search (Hooke & Jeeves 1961): each unknown in turn up or down by a share, which is halved when
 * nothing helps.  The random numbers are the same in every trial, so the misfit is a function of the unknowns
 * alone. */
static int search_from(struct run *r, double *x, double share, double finest, struct err *err)
{
    struct column c;
    double best;

    if (simulate_column(r, x, &remedies[0], &c, err) < 0)
        return -1;
    best = misfit(&c, &plain);
    while (share > finest) {
        bool better = false;

        for (int k = 0; k < 2 * UNKNOWNS; k++) {
            double kept = x[k / 2], now;

            x[k / 2] = clamp(kept * (k % 2 ? 1 + share : 1 / (1 + share)), &unknowns[k / 2]);
            if (simulate_column(r, x, &remedies[0], &c, err) < 0)
                return -1;
            now = misfit(&c, &plain);
            better = better || now < best;
            x[k / 2] = now < best ? x[k / 2] : kept;
            best = fmin(best, now);
        }
        share = better ? share : share / 2;
    }
    return 0;
}

/* Coarsely with collectives by rounds, which is quick, then message by message. */
static int search(struct run *r, double *x, struct err *err)
{
    for (int u = 0; u < UNKNOWNS; u++)
        x[u] = unknowns[u].start;
    r->mode = NETWORK_ROUNDS;
    if (search_from(r, x, 0.2, 0.005, err) < 0)
        return -1;
    r->mode = NETWORK_EXACT;
    return search_from(r, x, 0.02, 0.005, err);
}

/* ---- the answer ---- */

#define REMEDIES ARRAY_SIZE(remedies)

static double worst_rate(const struct column *c, const struct column *want)
{
    double worst = 0;

    for (int i = 0; i < SIZES; i++)
        worst = fmax(worst, fabs(c->rate[i] / want->rate[i] - 1));
    return worst;
}

static void tell_fit(struct answer *answer, const double *x, const struct column *got)
{
    answer_title(answer, "A data-parallel job on 4 to 64 nodes: a published experiment, simulated");
    for (int u = 0; u < UNKNOWNS; u++)
        answer_figure(answer, unknowns[u].key, x[u], unknowns[u].unit, "%s", unknowns[u].words);
    answer_figure(answer, "fit_error", worst_rate(&got[0], &plain), ANSWER_SHARE,
                  "worst throughput of the uncoordinated column, off the published one");
    answer_figure(answer, "pacing_gain", got[1].rate[SIZES - 1] / got[0].rate[SIZES - 1] - 1, ANSWER_SHARE,
                  "what pacing gains at 64 nodes; published: %.0f %%",
                  100 * (coordinated.rate[SIZES - 1] / plain.rate[SIZES - 1] - 1));
}

static void tell_columns(struct answer *answer, const struct column *got)
{
    static const struct answer_column rates[] = {
        { "nodes", "NODES", ANSWER_COUNT },
        { "published", "PUBLISHED", ANSWER_COUNT },
        { "simulated", "SIMULATED", ANSWER_COUNT },
        { "error", "ERROR", ANSWER_SHARE },
        { "published_cv", "CV", ANSWER_NUMBER },
        { "simulated_cv", "SIMULATED", ANSWER_NUMBER },
        { "published_coordinated", "COORDINATED", ANSWER_COUNT },
        { "simulated_pacing", "PACING", ANSWER_COUNT },
        { "published_coordinated_cv", "CV", ANSWER_NUMBER },
        { "simulated_pacing_cv", "PACING", ANSWER_NUMBER },
    };

    answer_table(answer, "columns", "Samples a second and variation: published, and simulated", rates,
                 ARRAY_SIZE(rates));
    for (int i = 0; i < SIZES; i++) {
        answer_cell(answer, nodes[i]);
        answer_cell(answer, plain.rate[i]);
        answer_cell(answer, round(got[0].rate[i]));
        answer_cell(answer, got[0].rate[i] / plain.rate[i] - 1);
        answer_cell(answer, plain.cv[i]);
        answer_cell(answer, got[0].cv[i]);
        answer_cell(answer, coordinated.rate[i]);
        answer_cell(answer, round(got[1].rate[i]));
        answer_cell(answer, coordinated.cv[i]);
        answer_cell(answer, got[1].cv[i]);
    }
}

static void tell_remedies(struct answer *answer, const struct column *got)
{
    static const struct answer_column columns[] = {
        { "name", "REMEDY", ANSWER_WORDS },      { "rate_16", "AT 16", ANSWER_COUNT },
        { "rate_32", "AT 32", ANSWER_COUNT },    { "rate_64", "AT 64", ANSWER_COUNT },
        { "gain_64", "GAIN", ANSWER_SHARE },     { "cv_64", "CV", ANSWER_NUMBER },
        { "words", "WHAT IT IS", ANSWER_WORDS },
    };

    answer_table(answer, "remedies", "The same fabric and noise with other policies: samples a second",
                 columns, ARRAY_SIZE(columns));
    for (size_t k = 0; k < REMEDIES; k++) {
        answer_cell_words(answer, "%s", remedies[k].key);
        for (int i = 2; i < SIZES; i++)
            answer_cell(answer, round(got[k].rate[i]));
        answer_cell(answer, got[k].rate[SIZES - 1] / got[0].rate[SIZES - 1] - 1);
        answer_cell(answer, got[k].cv[SIZES - 1]);
        answer_cell_words(answer, "%s", remedies[k].words);
    }
}

static void tell_verdict(struct answer *answer, const struct column *got)
{
    double gain = got[1].rate[SIZES - 1] / got[0].rate[SIZES - 1] - 1;
    double published = coordinated.rate[SIZES - 1] / plain.rate[SIZES - 1] - 1;
    char enough[256] = "";

    for (size_t k = 2; k < REMEDIES; k++) {
        size_t at = strlen(enough);

        if (got[k].rate[SIZES - 1] / got[0].rate[SIZES - 1] - 1 >= published)
            snprintf(enough + at, sizeof(enough) - at, "%s%s", at ? ", " : "", remedies[k].key);
    }
    if (gain < published / 2)
        answer_note(answer,
                    "Pacing does not produce the published coordinated column here: it gains %.1f %% at 64 "
                    "nodes where %.0f %% are published. An exchange ends with its last arrival and the "
                    "bytes through the server's link; delaying the early changes neither.",
                    100 * gain, 100 * published);
    else
        answer_note(answer, "Pacing gains %.1f %% at 64 nodes; %.0f %% are published.", 100 * gain,
                    100 * published);
    answer_note(answer, "Gaining as much or more: %s.", *enough ? enough : "none of those tried");
    answer_note(
        answer,
        "What carries the result: (1) an exchange that takes time in proportion to the number of nodes; a "
        "ring would not lose half of its throughput at 64. (2) A variation that grows with it and is common "
        "to "
        "all nodes; independent noise of nodes gets smaller in the maximum, not larger. Both are read into "
        "the "
        "uncoordinated column; other fabrics may explain it, too. (3) Messages share links fairly and "
        "without loss: where incast drops packets, spacing arrivals can gain what it does not here.");
}

/* ---- the plot ---- */

#define PLOT_ROWS    16
#define PLOT_COLUMNS 61

static void plot_column(char (*plot)[PLOT_COLUMNS + 1], const double *rate, double top, char mark)
{
    for (int i = 0; i < SIZES; i++) {
        int row = PLOT_ROWS - 1 - (int)(rate[i] / top * (PLOT_ROWS - 1) + 0.5);
        int column = i * (PLOT_COLUMNS - 1) / (SIZES - 1);

        if (row >= 0)
            plot[row][column < PLOT_COLUMNS - 3 ? column + (mark == 'P') : column - (mark == 'P')] = mark;
    }
}

static void print_plot(FILE *out, const struct column *got)
{
    char plot[PLOT_ROWS][PLOT_COLUMNS + 1];
    double top = 10000;

    for (int row = 0; row < PLOT_ROWS; row++) {
        memset(plot[row], ' ', PLOT_COLUMNS);
        plot[row][PLOT_COLUMNS] = '\0';
    }
    plot_column(plot, coordinated.rate, top, 'c');
    plot_column(plot, plain.rate, top, 'u');
    plot_column(plot, got[1].rate, top, 'P');
    plot_column(plot, got[0].rate, top, 'o');
    fputs("\nSamples a second over nodes (u, c: published without and with coordination; o, P: simulated "
          "without\n"
          "and with pacing; o hides u where they agree)\n",
          out);
    for (int row = 0; row < PLOT_ROWS; row++)
        fprintf(out, "  %6.0f |%s\n", top * (PLOT_ROWS - 1 - row) / (PLOT_ROWS - 1), plot[row]);
    fputs("         +", out);
    for (int i = 0; i < PLOT_COLUMNS; i++)
        fputc('-', out);
    fputs("\n          4              8              16             32            64\n", out);
}

/* ---- the question ---- */

static const struct question_use uses[] = {
    { &option_steps, "300" },
    { &option_scenario_seed, "1" },
    { NULL, NULL },
};

static enum question_result run(const struct asked *a, struct answer *answer, struct err *err)
{
    struct run r = { .steps = asked_int(a, "steps", 300), .seed = asked_int(a, "seed", 1) };
    struct column got[REMEDIES];
    double x[UNKNOWNS];
    struct answer *page;

    if (strcmp(a->operands[0], "scaling") != 0) {
        err_set(err, "'%.40s' is no experiment; there is scaling", a->operands[0]);
        return QUESTION_WRONG;
    }
    if (search(&r, x, err) < 0)
        return QUESTION_FAILED;
    r.mode = NETWORK_AUTO;
    for (size_t k = 0; k < REMEDIES; k++) {
        if (simulate_column(&r, x, &remedies[k], &got[k], err) < 0)
            return QUESTION_FAILED;
    }
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    page = a->json ? answer : answer_new();
    tell_fit(page, x, got);
    tell_columns(page, got);
    tell_remedies(page, got);
    tell_verdict(page, got);
    answer_assumes(
        page, "64 nodes below 4 leaf switches, 4 to 1 oversubscribed, links of 12.5 GB/s; all nodes send to "
              "one server at once; its link is shared with traffic that varies from iteration to "
              "iteration (lognormal)");
    if (!a->json) {
        answer_print(page, stdout, 100);
        print_plot(stdout, got);
        answer_free(page);
    }
    return QUESTION_DONE;
}

const struct question question_experiment = {
    .name = "experiment",
    .operands = "scaling",
    .text = "run a published experiment again, in the simulator",
    .more =
        "scaling is a data-parallel job on 4 to 64 nodes, with and without coordination of its ranks. Fabric "
        "and "
        "noise are searched for so that the simulated job without coordination has the published throughput; "
        "then "
        "pacing and other remedies are tried on the very same job. What is published with coordination is "
        "shown beside it and fitted to nowhere.",
    .uses = uses,
    .min = 1,
    .max = 1,
    .run = run,
};
