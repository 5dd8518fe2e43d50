#include "history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "history/culprit.h"
#include "history/lemon.h"
#include "history/past.h"
#include "history/starts.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/earlier.h"
#include "job/guarded.h"
#include "job/job.h"
#include "job/report_job.h"
#include "job/scaling_run.h"
#include "model/statistics.h"
#include "report/report.h"
#include "report/report_launch.h"
#include "report/report_nodes.h"
#include "report/report_past.h"
#include "slurm/accounting.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "wire/json.h"

#define SAMPLES_MAX 64u
#define ROWS_A_TICK 2000 /* takes about 2 ms */
#define DAY_S       86400.0

/* Identity of a verdict that was already raised. */
struct raised {
    enum finding_class class;
    enum finding_scope scope;
    char culprit[VIEW_CULPRIT_SIZE];
    bool earlier; /* before the controller was started again, and not found again yet */
};

/* Data of a step, kept until it is freed. */
struct memory {
    const struct job *job;
    struct store_launch launch;
    struct past *past; /* NULL: there are no similar runs */
    struct compared {
        struct starts starts;
        bool known;
    } compared[STORE_CHOICES];
    double parts_s;   /* when its nodes were stored */
    double scaling_s; /* when its measurements for projections were stored; 0: not yet */
    struct raised stood[VIEW_VERDICTS_MAX];
    size_t n_stood;
    /* The view's figures are of the last minute.  The run's are medians of these samples, which are taken at
     * every stride-th save; when the arrays are full, every second one is dropped. */
    double p50_s[SAMPLES_MAX], cv[SAMPLES_MAX];
    size_t n_samples, stride, saves;
};

struct history {
    struct store *store;
    struct memory *memory;
    size_t n, cap;
    struct lemons *lemons;
    double lemons_s; /* when the nodes were scored */
    bool stale;      /* rows were written since */
    /* The next scores, while their rows are read in parts, one part per tick; the last part ended with this
     * node. */
    struct lemons *next;
    char node[STORE_NODE_MAX];
};

struct history *history_new(struct store *s)
{
    struct history *h = xcalloc(1, sizeof(*h));

    h->store = s;
    h->stale = true;
    return h;
}

void history_free(struct history *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        free(h->memory[i].past);
    free(h->memory);
    lemons_free(h->lemons);
    lemons_free(h->next);
    free(h);
}

static struct memory *find_memory(const struct history *h, const struct job *j)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->memory[i].job == j)
            return &h->memory[i];
    return NULL;
}

static struct memory *memory_of(struct history *h, const struct job *j)
{
    struct memory *m = find_memory(h, j);

    if (m)
        return m;
    h->memory = xgrow(h->memory, &h->cap, h->n + 1, sizeof(*h->memory));
    h->memory[h->n] = (struct memory){
        .job = j, .launch = { .communication_ratio = NAN }, .parts_s = j->start_s, .stride = 1
    };
    return &h->memory[h->n++];
}

void history_forget(struct history *h, const struct job *j)
{
    struct memory *m = find_memory(h, j);

    if (!m)
        return;
    free(m->past);
    *m = h->memory[--h->n];
}

/* ---- the run ---- */

static void take_sample(struct memory *m, const struct view_figures *f)
{
    if (!f->period || !(f->step_p50_s > 0) || m->saves++ % m->stride)
        return;
    if (m->n_samples == SAMPLES_MAX) {
        for (size_t i = 0; i < SAMPLES_MAX / 2; i++) {
            m->p50_s[i] = m->p50_s[2 * i];
            m->cv[i] = m->cv[2 * i];
        }
        m->n_samples /= 2;
        m->stride *= 2;
    }
    m->p50_s[m->n_samples] = f->step_p50_s;
    m->cv[m->n_samples++] = f->step_cv;
}

static double median_of_known(const double *value, size_t n)
{
    double known[SAMPLES_MAX];
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i]))
            known[m++] = value[i];
    return statistics_median(known, m);
}

/* Energy of all nodes; unknown if one node does not report it. */
static double energy_j(const struct job *j)
{
    double sum = 0;

    for (size_t i = 0; i < j->n_agents; i++)
        sum += j->agent[i]->energy_before_j + j->agent[i]->energy_j;
    return j->n_agents && sum > 0 ? sum : NAN;
}

static struct store_run run_of(struct memory *m, const struct job *j, const struct view_figures *f)
{
    take_sample(m, f);
    return (struct store_run){
        .job = j,
        .ranks = f->ranks_known,
        .period = f->period,
        .training_steps = f->period ? f->steps : 0,
        .heard = j->start_wall_s + j->heard_s - j->start_s,
        .ended = job_over(j),
        .broken = job_broken(j),
        .node_s = fmax(j->nodes_total, (double)j->n_agents) * fmax(0, j->heard_s - j->start_s),
        .figures = { .step_p50_s = median_of_known(m->p50_s, m->n_samples),
                     .step_cv = median_of_known(m->cv, m->n_samples),
                     .energy_j_per_step = f->period && f->steps ? energy_j(j) / (double)f->steps : NAN }
    };
}

/* The effect of each choice at launch. */
static void compare_starts(struct history *h, struct memory *m, const struct store_run *r)
{
    struct start start[STARTS_COMPARED_MAX];
    char with[48];
    const struct starts_words words[] = {
        [STORE_ORDER] = { "along the switches", "held out in Slurm's order" },
        [STORE_ALGORITHM] = { with, "held out with the library's own choice" },
    };

    snprintf(with, sizeof(with), "with %s", r->job->algorithm.name);
    for (enum store_choice c = STORE_ORDER; c < STORE_CHOICES; c++)
        if (*store_choice_get(r->job, c)->name)
            m->compared[c].known =
                starts_compare(start, store_starts(h->store, r, c, start, STARTS_COMPARED_MAX), &words[c],
                               &m->compared[c].starts);
}

static void compare_run(struct history *h, struct memory *m, const struct store_run *r)
{
    struct store_similar_runs similar;
    struct past p;

    free(m->past);
    m->past = NULL;
    if (!r->period)
        return;
    compare_starts(h, m, r);
    store_similar_runs(h->store, r, &similar);
    if (!past_compare(&r->figures, similar.run, similar.n, similar.rerun, similar.n_starts, &p))
        return;
    m->past = xcalloc(1, sizeof(*m->past));
    *m->past = p;
}

/* ---- runs over other numbers of ranks ---- */

struct runs {
    struct projection_run run[PROJECTION_RUNS];
    size_t n;
};

static void add_run(const char *text, void *arg)
{
    struct runs *r = arg;

    if (r->n < PROJECTION_RUNS)
        r->n += scaling_run_parse(text, &r->run[r->n]);
}

/* Store this run's measurements for projections, and give those of other runs to its view. */
static int save_scaling(struct history *h, const struct job *j, const struct store_run *r, struct err *err)
{
    struct runs others = { .n = 0 };
    struct projection_run own;
    char *text;
    int rc;

    store_scaling_runs(h->store, j, r->ranks, PROJECTION_RUNS, add_run, &others);
    view_runs_set(j->view, others.run, others.n);
    if (view_run_get(j->view, &own))
        return 0; /* too few measurements yet */
    text = scaling_run_text(&own);
    rc = store_scaling(h->store, j, r->ranks, r->heard, text, err);
    free(text);
    return rc;
}

/* ---- how it was started ---- */

static int save_launch(struct history *h, struct memory *m, const struct store_run *r,
                       const struct view_figures *f, struct err *err)
{
    struct store_allreduces a = { .step_s = r->figures.step_p50_s };

    if (f->compute_ratio >= 0)
        m->launch.communication_ratio = fmax(0, 1 - f->compute_ratio);
    view_exchange_get(r->job->view, m->launch.pattern);
    if (store_launch(h->store, r, &m->launch, err) < 0)
        return -1;
    if (!r->job->algorithm_looked)
        return 0;
    snprintf(a.library, sizeof(a.library), "%s", view_library_get(r->job->view));
    a.n = view_allreduces_get(r->job->view, a.size, ALGORITHM_SIZES);
    return store_allreduces(h->store, r, &a, err);
}

/* The report; of an ended step its row in the list, too. */
static int save_step(struct history *h, const struct job *j, double now_s, const struct report *report,
                     struct err *err)
{
    json_t *listed = NULL, *whole = report_json(report);
    int rc;

    if (job_over(j)) {
        struct report_row row;

        report_job_row(&row, j, now_s);
        listed = report_row_json(&row);
        report_row_free(&row);
    }
    rc = store_step(h->store, j, whole, listed, err);
    json_decref(listed);
    json_decref(whole);
    return rc < 0 ? rc : history_keep(h, j, now_s, err);
}

int history_keep(struct history *h, const struct job *j, double now_s, struct err *err)
{
    const struct memory *m = find_memory(h, j);
    json_t *earlier, *samples;
    int rc;

    if (!h->store || j->trust == JOB_UNCONFIRMED)
        return 0;
    earlier = job_over(j) ? NULL : earlier_json(j, now_s);
    if (earlier) {
        samples = json_array();
        for (size_t i = 0; m && i < m->n_samples; i++)
            json_array_append_new(samples,
                                  json_pack("[oo]", json_of_real(m->p50_s[i]), json_of_real(m->cv[i])));
        json_put_json(earlier, "samples", samples);
        json_put_int(earlier, "stride", m ? (int64_t)m->stride : 1);
    }
    rc = store_unfinished(h->store, j, earlier, err);
    json_decref(earlier);
    return rc;
}

static struct raised raised_of(const struct view_verdict *d)
{
    struct raised r = { .class = d->finding.class, .scope = d->finding.scope };

    if (d->n_culprits)
        snprintf(r.culprit, sizeof(r.culprit), "%s", d->culprit[0]);
    return r;
}

/* What stood is no new verdict when it is found again. */
static void take_stood(struct memory *m, const struct job *j)
{
    const struct view_verdict *d;
    size_t n = view_verdicts_raised(j->view, &d);

    for (size_t i = 0; i < n && m->n_stood < VIEW_VERDICTS_MAX; i++)
        if (d[i].went_on) {
            m->stood[m->n_stood] = raised_of(&d[i]);
            m->stood[m->n_stood++].earlier = true;
        }
}

void history_go_on(struct history *h, struct job *j, double now_s)
{
    json_t *earlier = j->trust == JOB_UNCONFIRMED ? NULL : store_unfinished_get(h->store, &j->id);
    const json_t *pair;
    struct memory *m;
    size_t i;

    if (!earlier)
        return;
    earlier_take(j, now_s, earlier);
    m = memory_of(h, j);
    take_stood(m, j);
    json_array_foreach(json_get_array(earlier, "samples"), i, pair) {
        if (m->n_samples == SAMPLES_MAX)
            break;
        m->p50_s[m->n_samples] = json_number_of(json_array_get(pair, 0));
        m->cv[m->n_samples++] = json_number_of(json_array_get(pair, 1));
    }
    m->stride = (size_t)json_get_int(earlier, "stride", 1, 1 << 20, 1);
    json_decref(earlier);
}

int history_save(struct history *h, const struct job *j, double now_s, double first_action_s,
                 struct report *report, struct err *err)
{
    double end_s = job_over(j) ? j->end_s : now_s;
    struct view_figures f;
    struct memory *m;
    struct store_run r;
    struct store_part *part;
    struct err end_err;
    int rc;

    if (!h->store || j->trust == JOB_UNCONFIRMED)
        return 0;
    if (job_unconfirmed(j)) {
        history_get(h, j, first_action_s, report);
        return save_step(h, j, now_s, report, err);
    }
    m = memory_of(h, j);
    view_figures_get(j->view, end_s, &f);
    r = run_of(m, j, &f);
    store_begin(h->store);
    rc = store_run(h->store, &r, err);
    if (rc == 0 && r.period && (job_over(j) || !m->scaling_s || now_s >= m->scaling_s + HISTORY_SCALING_S)) {
        rc = save_launch(h, m, &r, &f, err);
        if (rc == 0)
            rc = save_scaling(h, j, &r, err);
        m->scaling_s = now_s;
    }
    if (rc == 0)
        compare_run(h, m, &r);
    history_get(h, j, first_action_s, report);
    if (rc == 0)
        rc = save_step(h, j, now_s, report, err);
    /* Without collectives no verdict is possible, so that such a step is no evidence for its nodes. */
    if (rc == 0 && f.collectives && (job_over(j) || now_s >= m->parts_s + HISTORY_PARTS_S)) {
        part = culprit_parts(j, end_s);
        rc = store_parts(h->store, j, wall_s(), part, j->n_agents, err);
        free(part);
        h->stale = true;
        m->parts_s = now_s;
    }
    if (store_end(h->store, &end_err) < 0 && rc == 0)
        rc = err_set(err, "%s", end_err.text);
    return rc;
}

/* ---- verdicts ---- */

static bool is_among(const struct raised *all, size_t n, const struct raised *r)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].class == r->class && all[i].scope == r->scope && !strcmp(all[i].culprit, r->culprit))
            return true;
    return false;
}

static int save_verdict(struct history *h, const struct job *j, const struct view_verdict *d, double now_s,
                        struct err *err)
{
    for (uint32_t c = 0; c < d->n_culprits; c++)
        if (store_verdict(h->store, j, finding_class_name(d->finding.class),
                          finding_scope_name(d->finding.scope), d->culprit[c],
                          report_culprit_node(j->view, d, c, now_s), d->finding.slowdown, d->text, err) < 0)
            return -1;
    return 0;
}

int history_verdicts(struct history *h, const struct job *j, double now_s, struct err *err)
{
    struct raised stands[VIEW_VERDICTS_MAX];
    const struct view_verdict *d;
    struct memory *m;
    size_t n;
    int rc = 0;

    if (!h->store || job_unconfirmed(j))
        return 0;
    m = memory_of(h, j);
    n = view_verdicts_get(j->view, &d);
    n = n < VIEW_VERDICTS_MAX ? n : VIEW_VERDICTS_MAX;
    for (size_t i = 0; i < n; i++) {
        stands[i] = raised_of(&d[i]);
        if (rc == 0 && !is_among(m->stood, m->n_stood, &stands[i]))
            rc = save_verdict(h, j, &d[i], now_s, err);
    }
    for (size_t i = 0; i < m->n_stood && n < VIEW_VERDICTS_MAX; i++)
        if (m->stood[i].earlier && !is_among(stands, n, &m->stood[i]))
            stands[n++] = m->stood[i];
    memcpy(m->stood, stands, n * sizeof(*stands));
    m->n_stood = n;
    return rc;
}

/* ---- queries ---- */

const struct past *history_past(const struct history *h, const struct job *j)
{
    const struct memory *m = find_memory(h, j);

    return m ? m->past : NULL;
}

void history_effect(const struct history *h, const struct job *j, enum store_choice choice,
                    struct report_effect *e)
{
    const struct memory *m = find_memory(h, j);
    const struct starts *s = m && m->compared[choice].known ? &m->compared[choice].starts : NULL;

    *e = (struct report_effect){ .known = s };
    if (!s)
        return;
    e->placed = (int64_t)s->placed;
    e->held_out = (int64_t)s->held_out;
    e->ratio = s->effect.value;
    e->low = s->effect.low;
    e->high = s->effect.high;
    snprintf(e->text, sizeof(e->text), "%s", s->text);
}

void history_get(const struct history *h, const struct job *j, double first_action_s, struct report *r)
{
    const struct past *p = history_past(h, j);
    struct guarded_runs runs = { NAN, NAN, NAN, NAN, NAN };

    r->past = (struct report_past){ .known = p };
    if (p) {
        runs = (struct guarded_runs){ (double)p->runs, p->step.spread, p->step.ratio, p->cv.ratio,
                                      p->energy.ratio };
        r->past = (struct report_past){ .known = true,
                                        .runs = (int64_t)p->runs,
                                        .step_p50_s = p->step.median,
                                        .step_ratio = p->step.ratio,
                                        .run_spread = p->step.spread,
                                        .spread_ratio = p->cv.ratio,
                                        .reruns = (int64_t)p->reruns,
                                        .starts = (int64_t)p->starts,
                                        .energy_j_per_step = p->energy_j_per_step,
                                        .energy_ratio = p->energy.ratio,
                                        .unusual = past_unusual(p) };
        snprintf(r->past.text, sizeof(r->past.text), "%s", p->text);
    }
    report_guarded_get(&r->guarded, j, &runs, first_action_s, wall_s());
    history_effect(h, j, STORE_ORDER, &r->placement.effect);
    history_effect(h, j, STORE_ALGORITHM, &r->algorithm.effect);
}

struct scoring {
    struct lemons *lemons;
    double now;
};

static void add_job(const char *node, int64_t uid, double seconds, double culprit_s, double at, void *arg)
{
    struct scoring *s = arg;

    lemons_add(s->lemons, node, uid, seconds, culprit_s, (s->now - at) / DAY_S);
}

void history_tick(struct history *h, double now_s)
{
    struct scoring s = { .now = wall_s() };

    if (!h->store)
        return;
    if (!h->next) {
        if (!h->stale || (h->lemons && now_s < h->lemons_s + HISTORY_LEMONS_S))
            return;
        h->next = lemons_new();
        h->node[0] = '\0';
        h->stale = false;
    }
    s.lemons = h->next;
    if (store_node_jobs(h->store, h->node, ROWS_A_TICK, add_job, &s) > 0)
        return;
    lemons_score(h->next);
    lemons_free(h->lemons);
    h->lemons = h->next;
    h->next = NULL;
    h->lemons_s = now_s;
}

const struct lemon *history_lemon(const struct history *h, const char *node)
{
    return h->lemons ? lemons_find(h->lemons, node) : NULL;
}

void history_node_get(const struct history *h, struct report_node *r)
{
    const struct lemon *l = history_lemon(h, r->node);

    r->lemon_score = l ? l->score : NAN;
    r->culprit_jobs = l ? (int64_t)l->culprit_jobs : h->lemons ? 0 : -1;
    r->seen_jobs = l ? (int64_t)l->seen_jobs : h->lemons ? 0 : -1;
}

const struct lemon *history_lemons(const struct history *h, size_t *n)
{
    *n = 0;
    return h->lemons ? lemons_get(h->lemons, n) : NULL;
}

/* ---- failure rates ---- */

#define ENOUGH_FAILURES 3 /* least number of failures of the partition for a rate of its own */

/* Origin of the rate. */
struct source {
    double failures, node_s;
    const char *name;
    char text[160];
};

/* The failure rate of guarded jobs; false: not known. */
static bool from_jobs(const struct history *h, const struct job *j, struct source *s)
{
    *s = (struct source){ .name = "partition" };
    store_failures(h->store, j, j->partition, &s->failures, &s->node_s);
    if (*j->partition && s->failures >= ENOUGH_FAILURES)
        return true;
    s->name = "history";
    store_failures(h->store, j, "", &s->failures, &s->node_s);
    return s->node_s > 0;
}

/* The failure rate of the partition's nodes; false: not known. */
static bool from_nodes(struct accounting *a, const struct job *j, struct source *s)
{
    double nodes = fmax(j->nodes_total, (double)j->n_agents);
    struct outages_seen seen;

    if (!*j->partition || !accounting_see(a, j->partition, nodes, &seen))
        return false;
    *s = (struct source){ seen.failures, seen.node_s, .name = "slurm" };
    snprintf(s->text, sizeof(s->text), "from Slurm's accounting: %u event%s on %u node%s in %.*f days",
             seen.events, seen.events == 1 ? "" : "s", seen.nodes, seen.nodes == 1 ? "" : "s",
             seen.span_s < 10 * DAY_S, seen.span_s / DAY_S);
    return true;
}

/* Failed jobs include crashes of programs, which node events do not: if enough jobs of the partition failed,
 * and more often than its nodes, their rate is used. */
static bool more_often(const struct source *jobs, const struct source *nodes)
{
    return !strcmp(jobs->name, "partition") &&
           jobs->failures / jobs->node_s > nodes->failures / nodes->node_s;
}

void history_failures(const struct history *h, struct accounting *a, struct job *j)
{
    struct source jobs, nodes, *s = NULL;
    double failures, node_s;

    if (h->store && from_jobs(h, j, &jobs))
        s = &jobs;
    if (from_nodes(a, j, &nodes) && !(s && more_often(s, &nodes)))
        s = &nodes;
    if (s)
        cadence_history_set(j, s->failures, s->node_s, s->name, s->text);
    if (h->store) {
        store_own_failures(h->store, j, &failures, &node_s);
        cadence_own_set(j, failures, node_s);
    }
}

int history_outcome(const struct history *h, const struct job *j, struct err *err)
{
    return h->store ? store_outcome(h->store, j, j->outcome == JOB_OUTCOME_FAILED, err) : 0;
}
