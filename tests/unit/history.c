/* The rows that a step adds to the store, from its telemetry on, and the comparison of later runs with them.
 */
#include "history/history.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "history/lemon.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/jobs.h"
#include "job/report_job.h"
#include "report/report.h"
#include "report/report_nodes.h"
#include "ring/ring.h"
#include "sampling/flow.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/verdicts.h"
#include "view/view.h"

#define RANKS 4u
#define WORLD 0x77u

static char dir[64];
static struct store *store;
static struct history *history;

/* ---- a job with one rank per node and two all-reduces per step; one rank may be slow ---- */

struct sim {
    struct job *job;
    struct flow *flow[RANKS];
    double now_s, slow;
    uint32_t slow_rank, seq;
};

static void to_view(const struct telemetry_item *item, void *arg)
{
    struct sim *s = arg;

    view_item(s->job->view, s->now_s, item);
}

static struct job *new_job(uint32_t number, uint32_t uid, double now_s)
{
    struct config_policy policy = { .min_slowdown_ratio = 1.02, .hang_timeout_s = 30 };
    struct job_id id = { .uid = uid, .job = number };
    struct job *j = job_new(&id, &policy, now_s);

    j->trust = JOB_CONFIRMED;
    snprintf(j->name, sizeof(j->name), "train");
    return j;
}

/* What the agents tell first.  Nodes are "n0" to "n3". */
static void announce(struct job *j, double now_s)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        char node[16];

        snprintf(node, sizeof(node), "n%u", r);
        job_agent_get(j, node);
        view_rank_add(j->view, r, 0, node, "");
        view_item(j->view, now_s,
                  &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                            .comm = { .rank = r,
                                                      .name = WORLD,
                                                      .membership = 1,
                                                      .size = RANKS,
                                                      .comm_rank = r,
                                                      .last = RANKS - 1 } });
    }
}

static struct sim begin(uint32_t number, uint32_t uid)
{
    struct sim s = { .job = new_job(number, uid, 0), .slow = 1, .slow_rank = RANKS };

    s.job->start_wall_s += number;
    for (uint32_t r = 0; r < RANKS; r++)
        s.flow[r] = flow_new(r, 0, 100);
    announce(s.job, 0);
    return s;
}

static void collective(struct sim *s, uint64_t bytes)
{
    double enter[RANKS], last = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        enter[r] = s->now_s + 0.04 * (1 + 0.03 * gauss()) * (r == s->slow_rank ? s->slow : 1);
        last = fmax(last, enter[r]);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        struct call c = { .enter_ns = (uint64_t)((enter[r] + 1) * 1e9),
                          .leave_ns = (uint64_t)((last + 1.001) * 1e9),
                          .comm = WORLD,
                          .bytes = bytes,
                          .seq = s->seq,
                          .root = -1,
                          .op = RING_OP_ALLREDUCE };

        flow_call(s->flow[r], &c, RANKS, 0, to_view, s);
    }
    s->now_s = last + 0.001;
    s->seq++;
}

static void on_raised(struct job *j, const char *text, void *arg)
{
    (void)j, (void)text, (void)arg;
}

static void steps(struct sim *s, int n)
{
    struct err err;

    while (n-- > 0) {
        collective(s, 1 << 20);
        collective(s, 8);
        view_tick(s->job->view, s->now_s);
        history_verdicts(history, s->job, s->now_s, &err);
    }
}

/* The key `past` of the report that was stored; lent until the next call. */
static json_t *saved(struct sim *s)
{
    static json_t *past;
    struct report *report;
    struct err err = { "" };

    json_decref(past);
    past = NULL;
    if (!s)
        return NULL;
    report = report_job_get(s->job, s->now_s, &REPORT_ALL);
    ok(history_save(history, s->job, s->now_s, NAN, report, &err) == 0, "job %u is saved %s", s->job->id.job,
       err.text);
    past = report->past.known ? json_of_fields(&report->past, report_past_fields) : json_null();
    report_free(report);
    return past;
}

static void end(struct sim *s)
{
    for (size_t i = 0; i < s->job->n_agents; i++)
        s->job->agent[i]->bye = true;
    job_tick(s->job, s->now_s, on_raised, NULL);
}

static void gone(struct sim *s)
{
    history_forget(history, s->job);
    for (uint32_t r = 0; r < RANKS; r++)
        flow_free(s->flow[r]);
    job_free(s->job);
}

static double number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : NAN;
}

static struct report_node node(const char *name, double now_s)
{
    struct report_node n = { 0 };

    history_tick(history, now_s);
    snprintf(n.node, sizeof(n.node), "%s", name);
    history_node_get(history, &n);
    return n;
}

/* ---- */

static void a_sound_run(void)
{
    struct sim s = begin(1, 1);
    struct store_launches launches;
    struct report_node row;

    steps(&s, 400);
    end(&s);
    ok(json_is_null(saved(&s)), "a run without similar earlier runs has no comparison");
    store_launches(store, 1, "train", RANKS, 0, &launches);
    is_int((long long)launches.n, 1, "a run that ended tells later ones what it communicates");
    is_str(launches.newest.pattern, "ring", "an all-reduce over all ranks is a ring");
    ok(launches.newest.communication_ratio > 0 && launches.newest.communication_ratio < 0.2,
       "the ranks communicated for less than a fifth of their time\n%.3f",
       launches.newest.communication_ratio);
    row = node("n2", 0);
    ok(row.seen_jobs == 1 && row.culprit_jobs == 0,
       "a run without a verdict counts as seen on its nodes, not as culprit");
    ok(isnan(row.lemon_score), "a node with one job has no score");
    row = node("n9", 0);
    ok(row.seen_jobs == 0, "a node without jobs has seen_jobs 0");
    gone(&s);
}

/* Four starts of a job, every second one held out: the report of the last has the effect of the order. */
static void held_out_starts(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        const struct report_effect *effect;
        struct report *report;
        struct sim s = begin(20 + i, 3);
        struct err err = { "" };

        s.job->algorithm_looked = true;
        s.job->algorithm = (struct job_choice){
            .name = "recursive_doubling", .applied = !(i % 2), .compared = true, .before_s = 2, .after_s = 1
        };
        s.job->placement = (struct job_choice){
            .name = "ring", .applied = i % 2, .compared = true, .before_s = 2, .after_s = 1
        };
        steps(&s, 100);
        end(&s);
        report = report_job_get(s.job, s.now_s, &REPORT_ALL);
        ok(history_save(history, s.job, s.now_s, NAN, report, &err) == 0, "start %u is saved %s", i,
           err.text);
        effect = &report->placement.effect;
        is_int(effect->placed, (i + 1) / 2, "after start %u: those placed are counted", i);
        is_int(effect->held_out, i / 2 + 1, "after start %u: those held out are counted", i);
        is_int(report->algorithm.effect.placed, i / 2 + 1,
               "after start %u: those with another algorithm are counted apart", i);
        ok(i < 3 || near(effect->ratio, 1, 0.05), "after start %u: the same step time in both orders\n%.3f",
           i, effect->ratio);
        report_free(report);
        gone(&s);
    }
}

static void count_job(const char *name, int64_t uid, double all_s, double bad_s, double at, void *arg)
{
    (void)name, (void)uid, (void)all_s, (void)bad_s, (void)at;
    ++*(int *)arg;
}

static void unconfirmed(void)
{
    struct sim vouched = begin(11, 1), claimed = begin(12, 1);
    char after[STORE_NODE_MAX] = "";
    int jobs = 0;

    vouched.job->trust = JOB_VOUCHED;
    claimed.job->trust = JOB_UNCONFIRMED;
    steps(&vouched, 400);
    steps(&claimed, 400);
    end(&vouched);
    end(&claimed);
    saved(&vouched);
    ok(store_has_report(store, 11, 0, 1), "the report of a step that Slurm has not confirmed is kept");
    saved(&claimed);
    ok(!store_has_report(store, 12, 0, 1), "nothing is kept of a step for which only its user vouches");
    store_node_jobs(store, after, 100, count_job, &jobs);
    is_int(jobs, 0, "neither counts for its nodes");
    gone(&vouched);
    gone(&claimed);
}

static void energy(struct sim *s, double watt)
{
    for (size_t i = 0; i < s->job->n_agents; i++)
        s->job->agent[i]->energy_j = watt * s->now_s;
}

static double culprit_s, seconds;

static void take_n2(const char *name, int64_t uid, double all_s, double bad_s, double at, void *arg)
{
    (void)uid, (void)at, (void)arg;
    if (!strcmp(name, "n2") && bad_s > 0) {
        culprit_s = bad_s;
        seconds = all_s;
    }
}

/* Rank 2 is slow in the second half. */
static void a_slow_node(void)
{
    struct sim s = begin(2, 1);
    double half_s, last_s;
    json_t *past;
    struct report_node row;
    int count;

    steps(&s, 400);
    half_s = s.now_s;
    s.slow_rank = 2;
    s.slow = 1.4;
    steps(&s, 300);
    energy(&s, 100);
    end(&s);
    past = saved(&s);
    ok(number(past, "runs") == 1 && number(past, "step_ratio") > 1.15,
       "a run with a slow node is compared with the run before: %s",
       json_string_value(json_object_get(past, "text")));
    ok(near(number(past, "energy_j_per_step"), RANKS * 100 * s.now_s / 700, 0.05),
       "energy per step is the sum of all nodes over the steps\n%.1f J", number(past, "energy_j_per_step"));
    ok(json_is_null(json_object_get(past, "energy_ratio")),
       "the energy ratio is null if the earlier run has no energy");
    char from[STORE_NODE_MAX] = "";

    store_node_jobs(store, from, 1000, take_n2, NULL);
    ok(near(seconds, s.now_s, 0.01) && culprit_s > 0.8 * (s.now_s - half_s) &&
           culprit_s < 1.1 * (s.now_s - half_s),
       "n2 was stored as culprit for about as long as it was slow\n%.1f s, slow for %.1f of %.1f", culprit_s,
       s.now_s - half_s, seconds);
    store_node(store, "n2", &count, &last_s);
    is_int(count, 1, "a standing verdict is stored once");
    row = node("n2", 1);
    is_int(row.seen_jobs, 1, "a query right after a save has the earlier scores");
    row = node("n2", 10 * HISTORY_LEMONS_S);
    ok(row.seen_jobs == 2 && row.culprit_jobs == 1, "nodes are scored again after HISTORY_LEMONS_S");
    gone(&s);
}

/* Many users run on the same slow node. */
static void a_lemon(void)
{
    const struct lemon *l;
    size_t n, sure = 0;
    struct report_node row;

    for (uint32_t i = 0; i < 12; i++) {
        struct sim s = begin(10 + i, 100 + i);

        s.slow_rank = 2;
        s.slow = 1.4;
        steps(&s, 800);
        end(&s);
        saved(&s);
        gone(&s);
    }
    history_tick(history, 100 * HISTORY_LEMONS_S);
    l = history_lemons(history, &n);
    for (size_t i = 0; i < n; i++)
        sure += l[i].score >= LEMON_SURE;
    is_int((long long)sure, 1, "12 users' jobs with the same culprit make one lemon");
    row = node("n2", 100 * HISTORY_LEMONS_S);
    ok(row.lemon_score >= LEMON_SURE && row.culprit_jobs >= 12,
       "the slow node has a lemon score of at least 0.95\n%.3f", row.lemon_score);
    row = node("n1", 100 * HISTORY_LEMONS_S);
    ok(row.lemon_score < 0.5, "another node of the same jobs has a score below 0.5\n%.3f", row.lemon_score);
}

/* ---- the controller is started again ---- */

static void restart(struct sim *s)
{
    struct job *before = s->job;

    s->job = new_job(before->id.job, before->id.uid, s->now_s);
    history_forget(history, before);
    history_go_on(history, s->job, s->now_s);
    ok(fabs(cadence_unsaved_since_s(s->job) - cadence_unsaved_since_s(before)) < 1,
       "what a failure would lose is what it would have lost before");
    announce(s->job, s->now_s);
    job_free(before);
}

struct course {
    int sound, before, after; /* steps; then with a slow rank, before what is kept of the run and after it */
};

struct run {
    struct view_verdict first;
    uint64_t steps;
    double elapsed_s;
    struct efficiency of_job, of_world;
};

static struct run run_of(uint32_t number, const struct course *c, bool restarted)
{
    const struct view_verdict *d;
    struct run run = { .first.n_culprits = 0 };
    struct view_efficiency e;
    struct view_figures f;
    struct view_comm comm;
    struct sim s = begin(number, 77);
    size_t n;

    steps(&s, c->sound);
    s.slow_rank = 2;
    s.slow = 1.5;
    steps(&s, c->before);
    s.job->start_wall_s = wall_s() - s.now_s;
    saved(&s);
    if (restarted)
        restart(&s);
    steps(&s, c->after);
    end(&s);
    n = view_verdicts_reported(s.job->view, &d);
    ok(n == 1, "job %u, %srestarted: one verdict is told of the run", number, restarted ? "" : "not ");
    if (n)
        run.first = d[0];
    view_figures_get(s.job->view, s.now_s, &f);
    view_efficiency_get(s.job->view, &e);
    run.steps = f.steps;
    run.elapsed_s = s.job->end_s - s.job->start_s;
    run.of_job = e.run;
    if (view_comms_get(s.job->view, s.now_s, &comm, 1))
        run.of_world = comm.run;
    saved(&s);
    ok(!store_unfinished_get(store, &s.job->id), "nothing is kept of a step that has ended");
    gone(&s);
    return run;
}

static void is_alike(const struct efficiency *a, const struct efficiency *b, const char *of)
{
    ok(near(a->parallel, b->parallel, 0.01) && near(a->load_balance, b->load_balance, 0.01) &&
           near(a->serialisation, b->serialisation, 0.01) && near(a->transfer, b->transfer, 0.01),
       "the efficiency of %s is that of the whole run\n%.3f, %.3f: balance %.3f, %.3f; serialisation %.3f, %.3f; transfer %.3f, %.3f",
       of, a->parallel, b->parallel, a->load_balance, b->load_balance, a->serialisation, b->serialisation,
       a->transfer, b->transfer);
}

static int named(void)
{
    int count = 0;
    double last_s;

    store_node(store, "n2", &count, &last_s);
    return count;
}

static void a_restart(uint32_t number, const struct course *c)
{
    int before = named();
    struct run whole = run_of(number, c, false);
    int once = named() - before;
    struct run cut = run_of(number + 1, c, true);
    int again = named() - before - once;

    is_int(again, once, "its node was the culprit as often as without the restart");

    is_str(cut.first.culprit[0], whole.first.culprit[0], "after a restart the same is named");
    ok(cut.first.times == 1, "it is told once: %u", cut.first.times);
    ok(near(cut.first.finding.saved_s, whole.first.finding.saved_s, 0.1 * whole.first.finding.saved_s),
       "what it cost is of the whole run: %.2f s and %.2f s", cut.first.finding.saved_s,
       whole.first.finding.saved_s);
    ok(near(cut.first.since_s, whole.first.since_s, 1), "it began when it had begun: after %.2f s and %.2f s",
       cut.first.since_s, whole.first.since_s);
    ok(near(cut.elapsed_s, whole.elapsed_s, 1), "the run is as long as it was: %.2f s and %.2f s",
       cut.elapsed_s, whole.elapsed_s);
    ok(cut.steps + 2 >= whole.steps && cut.steps <= whole.steps + 1, "all steps are counted: %llu and %llu",
       (unsigned long long)cut.steps, (unsigned long long)whole.steps);
    is_alike(&cut.of_job, &whole.of_job, "the job");
    is_alike(&cut.of_world, &whole.of_world, "its communicator");
}

static void without_a_store(void)
{
    struct history *none = history_new(NULL);
    struct sim s = begin(99, 1);
    struct report_node row = { .node = "n1" };
    struct report *report = report_job_get(s.job, 0, &REPORT_ALL);
    struct err err;
    size_t n;

    ok(history_save(none, s.job, 0, NAN, report, &err) == 0 && history_verdicts(none, s.job, 0, &err) == 0 &&
           history_outcome(none, s.job, &err) == 0,
       "without a store saving succeeds and does nothing");
    history_get(none, s.job, NAN, report);
    history_tick(none, 0);
    history_node_get(none, &row);
    ok(!report->past.known && row.seen_jobs == -1 && !history_lemons(none, &n) && !history_past(none, s.job),
       "without a store past is null and seen_jobs unknown");
    report_free(report);
    gone(&s);
    history_free(none);
    history_free(NULL);
}

int main(void)
{
    static const char *const files[] = { "", "-wal", "-shm" };
    struct err err;

    snprintf(dir, sizeof(dir), "/tmp/history-test.XXXXXX");
    if (!mkdtemp(dir))
        return skip_all("cannot create a directory");
    store = store_open(dir, &err);
    history = history_new(store);
    unconfirmed();
    a_sound_run();
    a_slow_node();
    a_lemon();
    held_out_starts();
    a_restart(501, &(struct course){ 100, 100, 100 });
    a_restart(503, &(struct course){ 0, 6, 200 }); /* before anything was judged */
    without_a_store();
    saved(NULL);
    history_free(history);
    store_close(store);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char *path = xasprintf("%s/history.sqlite%s", dir, files[i]);

        unlink(path);
        free(path);
    }
    rmdir(dir);
    return done_testing();
}
