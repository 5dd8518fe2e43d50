/* sgplan simulate: simulates a scenario. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "model/statistics.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"
#include "plan/scenarios.h"
#include "sim/scenario.h"
#include "sim/simulation.h"
#include "sim/tracer.h"

#define LATEST_RANKS     8 /* listed for each job */
#define PROGRESS_EVERY_S 2.0

static const struct option_spec trace = {
    "trace", "FILE", VALUE(VALUE_ANY),
    "write the trace that probes would record, for sgctl analyze; - is standard output"
};
static const struct option_spec job_name = { "job", "NAME", VALUE(VALUE_ANY),
                                             "job whose trace is written (default: the first one)" };
static const struct option_spec keys = { .name = "keys", .text = "print the keys of scenario files" };
static const struct option_spec no_faults = { .name = "no-faults",
                                              .text = "simulate the scenario without its faults" };

static const struct option_spec mdoc = { .name = "mdoc",
                                         .text = "print the keys as mdoc source, as in sgplan-scenario(5)" };

static const struct option_use uses[] = {
    { &trace, NULL },        { &job_name, NULL },  { &option_scenario_seed, NULL },
    { &option_steps, NULL }, { &no_faults, NULL }, { &keys, NULL },
    { &mdoc, NULL },         { NULL, NULL },
};

/* State of one run. */
struct run {
    struct scenario scenario;
    struct simulation *simulation;
    struct tracer *tracer;
    FILE *trace;
    double start_s, last_report_s, wall_s;
    bool progress;
};

/* ---- hooks ---- */

static void on_step(void *arg, size_t job, uint64_t step)
{
    struct run *r = arg;
    double now;

    if (!r->progress || (now = now_s()) - r->last_report_s < PROGRESS_EVERY_S)
        return;
    r->last_report_s = now;
    fprintf(stderr, "\rjob %s: step %llu of %d, %.0f s \033[K", r->scenario.jobs[job].name,
            (unsigned long long)step, r->scenario.jobs[job].steps, now - r->start_s);
}

static int on_collective(void *arg, const struct sim_job_collective *c, struct err *err)
{
    struct run *r = arg;

    return r->tracer ? tracer_collective(r->tracer, c, err) : 0;
}

static int write_trace(void *arg, const char *text, size_t bytes, struct err *err)
{
    struct run *r = arg;

    if (fwrite(text, 1, bytes, r->trace) != bytes)
        return err_set(err, "cannot write the trace: %s", strerror(errno));
    return 0;
}

/* ---- the scenario ---- */

/* name: a file, or the name of an installed scenario. */
static int read_scenario(struct scenario *s, const char *name, struct err *err)
{
    char path[4096];

    if (scenario_read(s, name, err) == 0)
        return 0;
    if (strchr(name, '/') || errno != ENOENT ||
        scenarios_find(PKGDATADIR "/scenarios", name, path, sizeof(path), err) < 0)
        return -1;
    return scenario_read(s, path, err);
}

static int open_trace(struct run *r, const struct options *a, struct err *err)
{
    const char *path = options_text(a, "trace"), *name = options_text(a, "job");
    size_t job = 0;

    while (name && job < r->scenario.n_jobs && strcmp(r->scenario.jobs[job].name, name))
        job++;
    if (job == r->scenario.n_jobs)
        return err_set(err, "--job: the scenario has no job '%.40s'", name);
    if (!path)
        return 0;
    if (r->scenario.jobs[job].sync == SYNC_ASYNCHRONOUS)
        return err_set(err, "--trace: job %s is asynchronous and has no collectives to record",
                       r->scenario.jobs[job].name);
    r->trace = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!r->trace)
        return err_set(err, "%s: %s", path, strerror(errno));
    r->tracer = tracer_new(&r->scenario, job, simulation_placement(r->simulation, job), write_trace, r);
    return tracer_header(r->tracer, err);
}

/* ---- the answer ---- */

static void put_jobs(const struct run *r, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "job", "JOB", ANSWER_WORDS },
        { "state", "STATE", ANSWER_WORDS },
        { "ranks", "RANKS", ANSWER_COUNT },
        { "steps", "STEPS", ANSWER_COUNT },
        { "seconds", "TIME", ANSWER_SECONDS },
        { "step_s", "STEP", ANSWER_SECONDS },
        { "step_p50_s", "P50", ANSWER_SECONDS },
        { "step_p95_s", "P95", ANSWER_SECONDS },
        { "step_p99_s", "P99", ANSWER_SECONDS },
        { "step_cv", "CV", ANSWER_NUMBER },
        { "samples_per_s", "SAMPLES/S", ANSWER_NUMBER },
    };

    answer_table(answer, "jobs", "Jobs and their step times", columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct scenario_job *j = &r->scenario.jobs[i];
        const struct sim_job_result *x = simulation_result(r->simulation, i);
        double seconds = x->end_s - x->begin_s;

        answer_cell_words(answer, "%s", j->name);
        answer_cell_words(answer, "%s",
                          x->state == SIM_JOB_DONE      ? "done"
                          : x->state == SIM_JOB_STALLED ? "stalled"
                                                        : "stuck");
        answer_cells(answer, j->ranks, (double)x->steps, seconds, x->step.n ? x->step.mean : NAN,
                     spread_quantile(&x->step, 0.5), spread_quantile(&x->step, 0.95),
                     spread_quantile(&x->step, 0.99), spread_cv(&x->step),
                     seconds > 0 ? j->samples * j->ranks * (double)x->steps / seconds : NAN);
    }
}

static void put_time(const struct run *r, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "job", "JOB", ANSWER_WORDS },
        { "compute_share", "WORK", ANSWER_SHARE },
        { "communication_share", "COMMUNICATION", ANSWER_SHARE },
        { "synchronisation_share", "SYNC", ANSWER_SHARE },
        { "paced_share", "PACED", ANSWER_SHARE },
        { "checkpoint_share", "CHECKPOINTS", ANSWER_SHARE },
        { "lost_share", "LOST", ANSWER_SHARE },
        { "goodput", "GOODPUT", ANSWER_SHARE },
    };

    answer_table(answer, "time", "Where the ranks' time goes", columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct sim_job_result *x = simulation_result(r->simulation, i);
        double ranks = r->scenario.jobs[i].ranks;
        double stopped_s = ranks * (x->checkpoint_s + x->lost_s);
        double all_s = x->compute_s + x->comm_s + x->sync_s + stopped_s;

        answer_cell_words(answer, "%s", r->scenario.jobs[i].name);
        answer_cells(answer, x->compute_s / all_s, x->comm_s / all_s, x->sync_s / all_s, x->paced_s / all_s,
                     ranks * x->checkpoint_s / all_s, ranks * x->lost_s / all_s, 1 - stopped_s / all_s);
    }
}

static void put_failures(const struct run *r, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "job", "JOB", ANSWER_WORDS },
        { "failures", "FAILURES", ANSWER_COUNT },
        { "checkpoints", "CHECKPOINTS", ANSWER_COUNT },
        { "interval_s", "EVERY", ANSWER_SECONDS },
        { "simulated_steps", "STEPS WITH LOST", ANSWER_COUNT },
    };
    bool any = false;

    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct sim_job_result *x = simulation_result(r->simulation, i);

        if (!r->scenario.checkpoints[i].given)
            continue;
        if (!any)
            answer_table(answer, "checkpoints", "Checkpoints and failures", columns, ARRAY_SIZE(columns));
        any = true;
        answer_cell_words(answer, "%s", r->scenario.jobs[i].name);
        answer_cells(answer, (double)x->failures, (double)x->checkpoints, x->interval_s,
                     (double)x->simulated);
    }
}

/* All levers that any policy of the job allows. */
static uint32_t levers_of(const struct scenario *s, size_t job)
{
    uint32_t levers = (uint32_t)s->jobs[job].pace.levers;

    for (size_t i = 0; i < s->n_policies; i++)
        levers |= (size_t)s->policies[i].job == job ? (uint32_t)s->policies[i].levers : 0;
    return s->jobs[job].pacing == PACING_AUTO ? levers : 0;
}

static void put_pacing(const struct run *r, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "job", "JOB", ANSWER_WORDS },        { "lever", "LEVER", ANSWER_WORDS },
        { "in_force", "NODES", ANSWER_COUNT }, { "nodes", "OF", ANSWER_COUNT },
        { "paced", "PACED", ANSWER_NUMBER },   { "collectives", "OF", ANSWER_NUMBER },
        { "compared", "PAIRS", ANSWER_COUNT }, { "ratio", "RATIO", ANSWER_NUMBER },
        { "low", "LOW", ANSWER_NUMBER },       { "high", "HIGH", ANSWER_NUMBER },
        { "why", "BECAUSE", ANSWER_WORDS },
    };
    uint32_t any = 0;

    for (size_t i = 0; i < r->scenario.n_jobs; i++)
        any |= levers_of(&r->scenario, i);
    if (!any)
        return;
    answer_table(answer, "pacing",
                 "Pacing: nodes with the lever in force at the end, collectives with the lever, and its "
                 "hold-out (RATIO: time with the lever over time without)",
                 columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct sim_job_result *x = simulation_result(r->simulation, i);

        for (uint32_t k = 0; k < PACER_LEVERS; k++) {
            const struct sim_job_lever *l = &x->lever[k];

            if (!(levers_of(&r->scenario, i) & 1u << k))
                continue;
            answer_cell_words(answer, "%s", r->scenario.jobs[i].name);
            answer_cell_words(answer, "%s", pacer_lever_name(1u << k));
            answer_cells(answer, l->in_force, x->pace_nodes, l->paced, x->pace_collectives, l->compared,
                         l->ratio, l->low, l->high);
            answer_cell_words(answer, "%s", pacer_why_text(l->why));
        }
    }
}

/* The ranks with the largest mean lateness, the latest first; how many. */
static uint32_t find_latest(const struct sim_job_result *x, uint32_t n, uint32_t latest[LATEST_RANKS + 1])
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = found;

        for (; at > 0 && x->late_s[i] > x->late_s[latest[at - 1]]; at--)
            latest[at] = latest[at - 1];
        latest[at] = i;
        found += found < LATEST_RANKS;
    }
    return found;
}

static void put_ranks(const struct run *r, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "job", "JOB", ANSWER_WORDS },         { "rank", "RANK", ANSWER_COUNT },
        { "node", "NODE", ANSWER_WORDS },       { "switch", "SWITCH", ANSWER_WORDS },
        { "late_s", "LATE", ANSWER_SECONDS },   { "last_share", "LAST", ANSWER_SHARE },
        { "work_ratio", "WORK", ANSWER_TIMES },
    };

    answer_table(answer, "ranks",
                 "The latest ranks (LATE: mean time after the first arrival; WORK: over the median "
                 "rank's)",
                 columns, ARRAY_SIZE(columns));
    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct sim_job_result *x = simulation_result(r->simulation, i);
        const struct placement *p = simulation_placement(r->simulation, i);
        uint32_t n = (uint32_t)r->scenario.jobs[i].ranks, latest[LATEST_RANKS + 1], found;
        double collectives = (double)x->collectives, *work_s, median_s;

        if (x->collectives == 0 || n < 2)
            continue;
        work_s = xcalloc(n, sizeof(*work_s));
        memcpy(work_s, x->work_s, n * sizeof(*work_s));
        median_s = statistics_median(work_s, n);
        free(work_s);
        found = find_latest(x, n, latest);
        for (uint32_t k = 0; k < found; k++) {
            uint32_t rank = latest[k];

            answer_cell_words(answer, "%s", r->scenario.jobs[i].name);
            answer_cell(answer, rank);
            answer_cell_words(answer, "n%u", p->fabric_node[rank]);
            answer_cell_words(answer, "s%u", p->switch_id[rank]);
            answer_cells(answer, x->late_s[rank] / collectives, (double)x->last[rank] / collectives,
                         x->work_s[rank] / median_s);
        }
    }
}

static void put_run(const struct run *r, struct answer *answer)
{
    struct network_count c = simulation_network(r->simulation);
    double events = (double)c.events + (double)c.walked; /* of the network, and of ranks: */

    for (size_t i = 0; i < r->scenario.n_jobs; i++) {
        const struct sim_job_result *x = simulation_result(r->simulation, i);
        const struct scenario_job *j = &r->scenario.jobs[i];

        events += (double)x->queue_events + (double)x->collectives * j->ranks +
                  (double)x->simulated * j->inner * j->ranks;
    }
    answer_title(answer, "%s%s%s", r->scenario.name, *r->scenario.text ? ": " : "", r->scenario.text);
    answer_figure(answer, "seed", r->scenario.seed, ANSWER_COUNT, "seed of the random numbers");
    answer_word(answer, "network", c.messages ? network_modes[c.mode] : NULL,
                "how collectives were simulated%s%s", c.closed ? ", rings in closed form" : "",
                c.shared && c.mode != NETWORK_EXACT ? "; an approximation, because links are shared" : "");
    answer_figure(answer, "messages", (double)c.messages, ANSWER_NUMBER, "messages of the collectives");
    answer_figure(answer, "events", events, ANSWER_NUMBER, "simulated events");
    answer_figure(answer, "wall_s", r->wall_s, ANSWER_SECONDS, "time that the simulation took");
    answer_figure(answer, "events_per_s", events / r->wall_s, ANSWER_NUMBER, "simulated events per second");
    put_jobs(r, answer);
    put_time(r, answer);
    put_failures(r, answer);
    put_pacing(r, answer);
    put_ranks(r, answer);
    answer_source(answer,
                  "random numbers: Philox4x32-10 (Salmon et al. 2011); network: max-min fair sharing of "
                  "links; cores: processor sharing");
}

/* ---- the run ---- */

static int simulate(struct run *r, const struct options *a, struct err *err)
{
    struct sim_job_hooks hooks = { on_step, on_collective, r };

    r->start_s = r->last_report_s = now_s();
    r->progress = isatty(STDERR_FILENO);
    r->simulation = simulation_new(&r->scenario, &hooks, err);
    if (!r->simulation)
        return err_prefix(err, "%s", a->operands[0]);
    if (open_trace(r, a, err) < 0 || simulation_run(r->simulation, err) < 0)
        return -1;
    if (r->tracer && tracer_flush(r->tracer, err) < 0)
        return -1;
    if (r->tracer && fflush(r->trace) != 0)
        return err_set(err, "cannot write the trace: %s", strerror(errno));
    r->wall_s = now_s() - r->start_s;
    if (r->progress && r->last_report_s > r->start_s)
        fputs("\r\033[K", stderr);
    return 0;
}

static int run_scenario(struct run *r, const struct options *a, struct answer *answer, struct err *err)
{
    if (read_scenario(&r->scenario, a->operands[0], err) < 0)
        return -1;
    r->scenario.seed = options_int(a, "seed", r->scenario.seed);
    for (size_t i = 0; i < r->scenario.n_jobs; i++)
        r->scenario.jobs[i].steps = options_int(a, "steps", r->scenario.jobs[i].steps);
    if (options_given(a, "no-faults"))
        r->scenario.n_faults = 0;
    if (simulate(r, a, err) < 0)
        return QUESTION_FAILED;
    if (r->trace != stdout)
        put_run(r, answer);
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    struct run *r;
    int rc;

    if (options_given(a, "mdoc") || options_given(a, "keys")) {
        scenario_print_keys(stdout, options_given(a, "mdoc"));
        return 0;
    }
    if (a->n_operands == 0)
        return err_set(err, "missing SCENARIO: a file, or the name of one in %s/scenarios", PKGDATADIR);
    r = xcalloc(1, sizeof(*r));
    rc = run_scenario(r, a, answer, err);
    tracer_free(r->tracer);
    if (r->trace && r->trace != stdout && fclose(r->trace) != 0 && rc == 0) {
        err_set(err, "cannot write the trace: %s", strerror(errno));
        rc = QUESTION_FAILED;
    }
    simulation_free(r->simulation);
    free(r);
    return rc;
}

const struct question question_simulate = {
    .command.name = "simulate",
    .command.operands = "[SCENARIO]",
    .command.text = "simulate a scenario: jobs, network, noise, faults, policies",
    .command.more =
        "SCENARIO is a file in the format of sgplan-scenario(5), or the name of an installed one. The same "
        "seed gives the same run. A changed scenario uses the same random numbers for what was not changed, "
        "so that two runs differ only by the effect of the change. --trace writes a trace for sgctl analyze "
        "and sgctl replay.",
    .command.uses = uses,
    .run = run,
};
