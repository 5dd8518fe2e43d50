/* sgplan experiment: a published experiment, run again in the simulator.
 *
 * scaling: a data-parallel job on 4 ... 64 nodes, with and without coordination of its ranks.  What is
 * published are throughputs and variations; fabric and noise are not.  They were fitted to the figures without
 * coordination (--fit fits them again); the figures with coordination are only compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "plan/answer.h"
#include "plan/experiment.h"
#include "plan/options.h"
#include "plan/question.h"
#include "plan/search.h"
#include "plan/trial.h"

/* ---- what is published ---- */

const struct published experiment_published[EXPERIMENT_SIZES] = {
    { 4, 1024, .02, 1018, .02 },  { 8, 1980, .04, 1995, .03 },  { 16, 3600, .09, 3720, .05 },
    { 32, 5800, .15, 6250, .07 }, { 64, 8200, .22, 9100, .09 },
};

const struct published *experiment_published_of(int nodes)
{
    for (int i = 0; i < EXPERIMENT_SIZES; i++) {
        if (experiment_published[i].nodes == nodes)
            return &experiment_published[i];
    }
    return NULL;
}

double experiment_rate_miss(const struct published *p, double rate)
{
    return (rate / p->rate - 1) / EXPERIMENT_OFF;
}

double experiment_cv_miss(const struct published *p, double cv)
{
    double above = (p->cv + EXPERIMENT_ROUND) * (1 + EXPERIMENT_OFF) - p->cv,
           below = p->cv - (p->cv - EXPERIMENT_ROUND) * (1 - EXPERIMENT_OFF);

    return (cv - p->cv) / (cv > p->cv ? above : below);
}

/* ---- what is tried ---- */

#define SERVER "Algorithm=server "
#define GATE   "Gate=node Node=0 Limit="

const struct trial_remedy experiment_remedies[EXPERIMENT_REMEDIES] = {
    [EXPERIMENT_UNCOORDINATED] = { "uncoordinated", "no remedy", SERVER, NULL, NULL, 0, false },
    [EXPERIMENT_PACING] = { "pacing", "early nodes sleep", SERVER "Pacing=delay PaceMaxDelay=1s", NULL, NULL,
                            0, false },
    [EXPERIMENT_GATED] = { "gate_2", "2 messages at a time at the server", SERVER, NULL, GATE "2", 0, false },
    { "gate_1", "1 message at a time", SERVER, NULL, GATE "1", 0, false },
    { "gate_4", "4 messages at a time", SERVER, NULL, GATE "4", 0, false },
    { "gate_8", "8 messages at a time", SERVER, NULL, GATE "8", 0, false },
    { "stagger", "1 message every 5 ms", SERVER, NULL, GATE "0 Gap=5ms", 0, false },
    { "quiet_link", "no other traffic at the server", SERVER, NULL, NULL, 0, true },
    { "quiet_gate_2", "quiet_link and gate_2", SERVER, NULL, GATE "2", 0, true },
    { "servers_4", "4 servers, each with a link", SERVER "Servers=4", NULL, NULL, 0, false },
    { "stale_1", "staleness bound of 1 iteration", SERVER "Sync=staleness Staleness=1", NULL, NULL, 0,
      false },
    { "local_4", "exchange every 4 iterations", SERVER "Sync=local Every=4", NULL, NULL, 0, false },
    { "tree", "a binomial tree, no server", "Algorithm=tree", NULL, NULL, 0, false },
    { "ring", "a ring, no server", "Algorithm=ring", NULL, NULL, 0, false },
};

const struct trial_remedy experiment_collectives[EXPERIMENT_COLLECTIVES] = {
    { "server", "all ranks send to one server", SERVER, NULL, NULL, 8, true },
    { "ring", "a ring, node by node", "Algorithm=ring", NULL, NULL, 8, true },
    { "ring_dealt", "a ring, every hop between nodes", "Algorithm=ring Placement=round-robin", NULL, NULL, 8,
      true },
    { "ring_shuffled", "a ring in random order", "Algorithm=ring Placement=shuffled", NULL, NULL, 8, true },
    { "hierarchical", "in the nodes, then across, 1 link per node", "Algorithm=hierarchical", NULL, NULL, 8,
      true },
    { "hierarchical_rails", "in the nodes, then across, 1 link per rank", "Algorithm=hierarchical", "Rails=8",
      NULL, 8, true },
    { "halving_rails", "in the nodes, then halving across", "Algorithm=hierarchical-halving", "Rails=8", NULL,
      8, true },
};

/* ---- a run ---- */

/* Progress on a terminal, in one line that is overwritten. */
static void progress(void *arg)
{
    struct experiment *e = arg;
    double now = now_s();

    e->simulated++;
    if (e->last_report_s == 0)
        e->last_report_s = now;
    if (now - e->last_report_s < 1 || !isatty(STDERR_FILENO))
        return;
    e->last_report_s = now;
    fprintf(stderr, "\r%s: %d jobs simulated", e->doing, e->simulated);
    if (!isnan(e->worst))
        fprintf(stderr, ", worst error %.2f of the accepted one", e->worst);
    fputs(" \033[K", stderr);
}

static void progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

int experiment_most_nodes(const struct experiment *e)
{
    return e->nodes[e->sizes - 1];
}

/* Jobs with one rank per node and a server are simulated message by message: all messages to the server compete for
 * its link, and their order matters.  Other jobs are left to "auto". */
static int simulate(struct experiment *e, int world, const struct trial_remedy *r, int nodes,
                    struct trial_figures *figures, struct err *err)
{
    e->trial.network =
        r->job && !strncmp(r->job, SERVER, strlen(SERVER)) && !r->ranks_per_node ? "exact" : "auto";
    return trial_run(&e->trial, &trial_worlds[world], e->x[world], r, nodes, figures, err);
}

static int simulate_target(struct experiment *e, int world, struct err *err)
{
    for (int i = 0; i < EXPERIMENT_SIZES; i++) {
        if (simulate(e, world, &experiment_remedies[EXPERIMENT_UNCOORDINATED], experiment_published[i].nodes,
                     &e->target[world][i], err) < 0)
            return -1;
    }
    return 0;
}

/* At most two seeds: a ring in random order is sampled, which takes seconds, and seeds hardly differ. */
static int simulate_collectives(struct experiment *e, struct err *err)
{
    int seeds = e->trial.seeds, rc = 0;

    e->trial.seeds = seeds > 2 ? 2 : seeds;
    for (size_t k = 0; k < EXPERIMENT_COLLECTIVES && rc == 0; k++)
        rc = simulate(e, 0, &experiment_collectives[k], experiment_most_nodes(e), &e->collective[k], err);
    e->trial.seeds = seeds;
    return rc;
}

static int simulate_all(struct experiment *e, struct err *err)
{
    for (int w = 0; w < TRIAL_WORLDS; w++) {
        if (simulate_target(e, w, err) < 0)
            return -1;
        for (int k = 0; k < EXPERIMENT_ALL_SIZES; k++) {
            if (simulate(e, w, &experiment_remedies[k], experiment_most_nodes(e), &e->world[w][k], err) < 0)
                return -1;
        }
    }
    for (int k = 0; k < EXPERIMENT_ALL_SIZES; k++) {
        for (int i = 0; i < e->sizes; i++) {
            if (simulate(e, 0, &experiment_remedies[k], e->nodes[i], &e->all[k][i], err) < 0)
                return -1;
        }
        e->remedy[k] = e->all[k][e->sizes - 1];
    }
    for (size_t k = EXPERIMENT_ALL_SIZES; k < EXPERIMENT_REMEDIES; k++) {
        if (simulate(e, 0, &experiment_remedies[k], experiment_most_nodes(e), &e->remedy[k], err) < 0)
            return -1;
    }
    return simulate_collectives(e, err);
}

/* ---- the search ---- */

#define FIGURES (2 * EXPERIMENT_SIZES)

static void misses(const struct trial_figures column[EXPERIMENT_SIZES], double miss[FIGURES])
{
    for (int i = 0; i < EXPERIMENT_SIZES; i++) {
        miss[2 * i] = experiment_rate_miss(&experiment_published[i],
                                           statistics_mean(column[i].rate, (size_t)column[i].n).mean);
        miss[2 * i + 1] = experiment_cv_miss(&experiment_published[i],
                                             statistics_mean(column[i].cv, (size_t)column[i].n).mean);
    }
}

double experiment_worst_miss(const struct trial_figures column[EXPERIMENT_SIZES])
{
    double miss[FIGURES], worst = 0;

    misses(column, miss);
    for (int i = 0; i < FIGURES; i++)
        worst = fmax(worst, fabs(miss[i]));
    return worst;
}

struct fitting {
    struct experiment *e;
    int world;
    const char *network;
    struct err *err;
};

static int misfit(void *arg, const double *x, double *miss)
{
    struct fitting *f = arg;
    struct experiment *e = f->e;
    struct trial_figures column[EXPERIMENT_SIZES];

    e->trial.network = f->network;
    for (int i = 0; i < EXPERIMENT_SIZES; i++) {
        if (trial_run(&e->trial, &trial_worlds[f->world], x, &experiment_remedies[EXPERIMENT_UNCOORDINATED],
                      experiment_published[i].nodes, &column[i], f->err) < 0)
            return -1;
    }
    misses(column, miss);
    e->worst = experiment_worst_miss(column);
    return 0;
}

/* Search coarsely with collectives by rounds, which is fast, then message by message. */
static int search(struct experiment *e, int world, struct err *err)
{
    struct fitting f = { e, world, "rounds", err };
    double low[TRIAL_UNKNOWNS], high[TRIAL_UNKNOWNS], *x = e->x[world], least;
    struct search s = { TRIAL_UNKNOWNS, FIGURES, low, high, 15, misfit, &f };

    for (int u = 0; u < TRIAL_UNKNOWNS; u++) {
        x[u] = trial_worlds[world].start[u];
        low[u] = trial_unknowns[u].searched && x[u] > 0 ? trial_unknowns[u].low : x[u];
        high[u] = trial_unknowns[u].searched && x[u] > 0 ? trial_unknowns[u].high : x[u];
    }
    e->doing = trial_worlds[world].key;
    if (search_run(&s, x, &least) < 0)
        return -1;
    f.network = "exact";
    if (search_run(&s, x, &least) < 0)
        return -1;
    e->worst = NAN;
    return 0;
}

/* ---- the question ---- */

static const struct option_spec option_seeds = { "seeds", "N", VALUE_RANGE(VALUE_COUNT, 1, TRIAL_SEEDS_MAX),
                                                 "number of seeds to simulate, for standard errors" };
static const struct option_spec option_first_seed = { "seed", "N", VALUE_RANGE(VALUE_COUNT, 0, 2000000000),
                                                      "first seed; the same seed gives the same answer" };
static const struct option_spec option_sizes = { "nodes", "N,N,...", VALUE(VALUE_ANY),
                                                 "numbers of nodes to show, in increasing order" };
static const struct option_spec option_fit = { .name = "fit",
                                               .text = "fit fabric and noise again (takes some minutes)" };
static const struct option_spec option_plot = { .name = "plot", .text = "draw the plots (the default)" };
static const struct option_spec option_no_plot = { .name = "no-plot", .text = "omit the plots" };
static const struct option_spec option_ascii = {
    .name = "ascii", .text = "draw the plots in ASCII (the default in a locale without UTF-8)"
};

static const struct option_use uses[] = {
    { &option_sizes, "4,8,16,32,64" }, { &option_steps, "300" }, { &option_seeds, "5" },
    { &option_first_seed, "1" },       { &option_fit, NULL },    { &option_plot, NULL },
    { &option_no_plot, NULL },         { &option_ascii, NULL },  { NULL, NULL },
};

static int parse_sizes(struct experiment *e, const char *text, struct err *err)
{
    const char *at = text;
    long before = 1;

    for (e->sizes = 0; e->sizes < CHART_PLACES_MAX; at++) {
        char *end;
        long n = strtol(at, &end, 10);

        if (end == at || n <= before || n > TRIAL_NODES_MAX || (*end && *end != ','))
            break;
        e->nodes[e->sizes++] = (int)n;
        before = n;
        at = end;
        if (!*end)
            return 0;
    }
    return err_set(
        err,
        "--nodes: '%.60s' is not accepted: up to %d increasing whole numbers from 2 to %d, separated by commas",
        text, CHART_PLACES_MAX, TRIAL_NODES_MAX);
}

static int begin(struct experiment *e, const struct options *a, struct err *err)
{
    e->trial = (struct trial){ .steps = options_int(a, "steps", 300),
                               .seed = options_int(a, "seed", 1),
                               .seeds = options_int(a, "seeds", 5),
                               .simulated = progress,
                               .arg = e };
    e->worst = NAN;
    e->doing = "simulating";
    for (int w = 0; w < TRIAL_WORLDS; w++)
        memcpy(e->x[w], trial_worlds[w].fitted, sizeof(e->x[w]));
    if (strcmp(a->operands[0], "scaling") != 0)
        return err_set(err, "unknown experiment '%.40s': the only one is 'scaling'", a->operands[0]);
    if (options_given(a, "plot") && options_given(a, "no-plot"))
        return err_set(err, "--plot and --no-plot exclude each other");
    return parse_sizes(e, options_text(a, "nodes"), err);
}

/* In text the plots come between the figures and the verdict. */
static void print(const struct experiment *e, bool plots, bool utf8)
{
    struct answer *figures = answer_new(), *words = answer_new();

    experiment_put(e, figures);
    experiment_put_verdict(e, words);
    answer_print(figures, stdout, 100);
    if (plots)
        experiment_print_charts(e, stdout, utf8);
    answer_print(words, stdout, 80);
    answer_free(words);
    answer_free(figures);
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    struct experiment *e = xcalloc(1, sizeof(*e));
    int rc = -1;

    if (begin(e, a, err) < 0)
        goto out;
    rc = QUESTION_FAILED;
    for (int w = 0; w < TRIAL_WORLDS && options_given(a, "fit"); w++) {
        if (search(e, w, err) < 0)
            goto out;
    }
    e->doing = "simulating";
    if (simulate_all(e, err) < 0)
        goto out;
    progress_end();
    if (options_given(a, "json")) {
        experiment_put(e, answer);
        experiment_put_verdict(e, answer);
    } else {
        print(e, !options_given(a, "no-plot"), !options_given(a, "ascii") && chart_utf8());
    }
    rc = 0;
out:
    free(e);
    return rc;
}

const struct question question_experiment = {
    .command.name = "experiment",
    .command.operands = "EXPERIMENT",
    .command.words = "EXPERIMENT scaling",
    .command.text = "run a published experiment again, in the simulator",
    .command.more =
        "scaling is a data-parallel job on 4 to 64 nodes, with and without coordination of its ranks. Fabric "
        "and noise were fitted so that the simulated job without coordination has the published throughput "
        "and variation (--fit fits them again); then pacing, gates and other remedies are simulated on the "
        "same job. The published figures with coordination are shown for comparison and not fitted. The "
        "answer ends with the share of the published improvement that each remedy achieves, and with what "
        "the result depends on.",
    .command.uses = uses,
    .run = run,
};
