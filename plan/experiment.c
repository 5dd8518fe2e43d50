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
#include "plan/published.h"
#include "plan/question.h"
#include "plan/remedies.h"
#include "plan/search.h"
#include "plan/trial.h"

/* ---- a run ---- */

/* What simulates, and its progress. */
struct runner {
    struct trial trial;
    const char *doing;
    double worst; /* during a fit: the worst miss; else NaN */
    double last_report_s;
    int simulated;
};

/* Progress on a terminal, in one line that is overwritten. */
static void progress(void *arg)
{
    struct runner *r = arg;
    double now = now_s();

    r->simulated++;
    if (r->last_report_s == 0)
        r->last_report_s = now;
    if (now - r->last_report_s < 1 || !isatty(STDERR_FILENO))
        return;
    r->last_report_s = now;
    fprintf(stderr, "\r%s: %d jobs simulated", r->doing, r->simulated);
    if (!isnan(r->worst))
        fprintf(stderr, ", worst error %.2f of the accepted one", r->worst);
    fputs(" \033[K", stderr);
}

static int simulate(struct runner *r, const struct experiment *e, int world,
                    const struct trial_remedy *remedy, int nodes, struct trial_figures *figures,
                    struct err *err)
{
    r->trial.network = remedies_need_exact(remedy) ? "exact" : "auto";
    return trial_run(&r->trial, &trial_worlds[world], e->x[world], remedy, nodes, figures, err);
}

static int simulate_all(struct runner *r, struct experiment *e, struct err *err)
{
    int most = e->most_nodes;

    for (int w = 0; w < TRIAL_WORLDS; w++) {
        for (int i = 0; i < PUBLISHED_SIZES; i++) {
            if (simulate(r, e, w, &remedies[REMEDY_UNCOORDINATED], published_table[i].nodes, &e->target[w][i],
                         err) < 0)
                return -1;
        }
        for (int k = 0; k < REMEDIES_ALL_SIZES; k++) {
            if (simulate(r, e, w, &remedies[k], most, &e->world[w][k], err) < 0)
                return -1;
        }
    }
    for (int k = 0; k < REMEDIES_ALL_SIZES; k++) {
        for (int i = 0; i < e->sizes; i++) {
            if (simulate(r, e, 0, &remedies[k], e->nodes[i], &e->all[k][i], err) < 0)
                return -1;
        }
        e->remedy[k] = e->all[k][e->sizes - 1];
    }
    for (int k = REMEDIES_ALL_SIZES; k < REMEDIES; k++) {
        if (simulate(r, e, 0, &remedies[k], most, &e->remedy[k], err) < 0)
            return -1;
    }
    /* At most two seeds: a ring in random order is sampled, which takes seconds, and seeds hardly differ. */
    r->trial.seeds = r->trial.seeds > 2 ? 2 : r->trial.seeds;
    for (int k = 0; k < REMEDIES_COLLECTIVE; k++) {
        if (simulate(r, e, 0, &remedies_collective[k], most, &e->collective[k], err) < 0)
            return -1;
    }
    return 0;
}

/* ---- the search ---- */

struct fitting {
    struct runner *runner;
    int world;
    const char *network;
    struct err *err;
};

static int misfit(void *arg, const double *x, double *miss)
{
    struct fitting *f = arg;
    struct runner *r = f->runner;
    struct trial_figures column[PUBLISHED_SIZES];

    r->trial.network = f->network;
    for (int i = 0; i < PUBLISHED_SIZES; i++) {
        if (trial_run(&r->trial, &trial_worlds[f->world], x, &remedies[REMEDY_UNCOORDINATED],
                      published_table[i].nodes, &column[i], f->err) < 0)
            return -1;
    }
    published_misses(column, miss);
    r->worst = published_worst_miss(column);
    return 0;
}

/* Search coarsely with collectives by rounds, which is fast, then message by message. */
static int search(struct runner *r, int world, double x[TRIAL_UNKNOWNS], struct err *err)
{
    struct fitting f = { r, world, "rounds", err };
    double low[TRIAL_UNKNOWNS], high[TRIAL_UNKNOWNS], least;
    struct search s = { TRIAL_UNKNOWNS, PUBLISHED_FIGURES, low, high, 15, misfit, &f };

    for (int u = 0; u < TRIAL_UNKNOWNS; u++) {
        x[u] = trial_worlds[world].start[u];
        low[u] = trial_unknowns[u].searched && x[u] > 0 ? trial_unknowns[u].low : x[u];
        high[u] = trial_unknowns[u].searched && x[u] > 0 ? trial_unknowns[u].high : x[u];
    }
    r->doing = trial_worlds[world].key;
    if (search_run(&s, x, &least) < 0)
        return -1;
    f.network = "exact";
    if (search_run(&s, x, &least) < 0)
        return -1;
    r->worst = NAN;
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
        if (!*end) {
            e->most_nodes = (int)n;
            return 0;
        }
    }
    return err_set(
        err,
        "--nodes: '%.60s' is not accepted: up to %d increasing whole numbers from 2 to %d, separated by commas",
        text, CHART_PLACES_MAX, TRIAL_NODES_MAX);
}

static int begin(struct experiment *e, const struct options *a, struct err *err)
{
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
    struct runner r = { .trial = { .steps = options_int(a, "steps", 300),
                                   .seed = options_int(a, "seed", 1),
                                   .seeds = options_int(a, "seeds", 5),
                                   .simulated = progress,
                                   .arg = &r },
                        .worst = NAN };
    int rc = -1;

    if (begin(e, a, err) < 0)
        goto out;
    rc = QUESTION_FAILED;
    for (int w = 0; w < TRIAL_WORLDS && options_given(a, "fit"); w++) {
        if (search(&r, w, e->x[w], err) < 0)
            goto out;
    }
    r.doing = "simulating";
    if (simulate_all(&r, e, err) < 0)
        goto out;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
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
