/* page_job.c - one job, from the sentence that matters to the notes of its agents. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "report/report_view.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define WORTH_RATIO 1.02 /* a smaller gain is no advice */
#define EVENTS_MAX  8
#define COMMS_MAX   12
#define WAITED_MAX  3

void page_verdict_interval(const struct report_verdict *verdict, char *buf, size_t size)
{
    double low = verdict->slowdown_low, high = verdict->slowdown_high;

    if (low <= high && strcmp(text_times(low).s, text_times(high).s) != 0)
        text_append(buf, size, ", between %s and %s", text_times(low).s, text_times(high).s);
}

char *page_verdict_words(const struct report_verdict *verdict, char *buf, size_t size)
{
    char list[256];

    json_texts_show(&verdict->culprits, 8, list, sizeof(list));
    return verdict_words(buf, size, *verdict->class ? verdict->class : "-", list, verdict->culprits.n);
}

void page_put_verdicts(const struct page *p, const char *title,
                       void put(const struct page *p, const struct report_verdict *verdict))
{
    const struct report_verdicts *verdicts = &p->report->job.verdicts;

    if (verdicts->n)
        page_title(p, title);
    for (size_t i = 0; i < verdicts->n; i++)
        put(p, &verdicts->list[i]);
}

char *page_verdict_head(const json_t *job, const struct report_verdict *v, char *buf, size_t size)
{
    const char *before = page_has_ended(job) ? " before the end" : " ago";

    page_verdict_words(v, buf, size);
    page_verdict_interval(v, buf, size);
    if (v->since_step >= 0)
        text_append(buf, size, ", since step %s", text_count((double)v->since_step).s);
    if (!isnan(v->since_s))
        text_append(buf, size, ", for %s", text_s(isnan(v->over_s) ? v->since_s : v->since_s - v->over_s).s);
    else if (!isnan(v->found_s))
        text_append(buf, size, ", found %s%s", text_s(v->found_s).s, before);
    if (v->times > 1)
        text_append(buf, size, ", %s times", text_count((double)v->times).s);
    if (!isnan(v->over_s))
        text_append(buf, size, ", over %s%s", text_s(v->over_s).s, before);
    return buf;
}

static void put_verdict(const struct page *p, const struct report_verdict *verdict)
{
    char head[1024];

    page_verdict_head(p->answer, verdict, head, sizeof(head));
    page_hang(p, page_verdict_severity(verdict),
              isnan(verdict->slowdown) ? "  -" : text_times(verdict->slowdown).s, head);
    if (*verdict->text && strcmp(verdict->text, shown(p->answer, "sentence").s) != 0)
        page_line(p, PAGE_EVIDENCE, "%s", verdict->text); /* the sentence stands at the top already */
}

/* ---- figures ---- */

static void figure_placement(struct table *t, const json_t *job)
{
    const json_t *o = get_object(job, "placement"), *effect = get_object(o, "effect");
    double gain = get_number(o, "slurm_s") / get_number(o, "chosen_s");

    if (!(gain >= 1))
        return;
    if (gain < 1.01)
        page_figure(t, "Order", "Slurm's; by the model, no other is at least 1 %% faster (%s)",
                    shown(o, "pattern").s);
    else if (get_true(o, "compared") && !get_true(o, "applied"))
        page_figure(
            t, "Order",
            "Slurm's, held out to compare; by the model, along the switches communication (%s) would be %s times as fast",
            shown(o, "pattern").s, text_number(gain).s);
    else if (get_true(o, "applied"))
        page_figure(
            t, "Order",
            "along the switches; by the model, communication (%s) is %s times as fast as in Slurm's order",
            shown(o, "pattern").s, text_number(gain).s);
    else
        page_figure(t, "Order",
                    "Slurm's; by the model, with placement=on communication (%s) would be %s times as fast",
                    shown(o, "pattern").s, text_number(gain).s);
    if (get_string(effect, "text"))
        page_figure(t, "", "%s", shown(effect, "text").s);
}

static void figure_algorithm(struct table *t, const json_t *job)
{
    const json_t *o = get_object(job, "algorithm"), *effect = get_object(o, "effect");
    double gain = get_number(o, "usual_s") / get_number(o, "most_s");
    const char *name = get_string(o, "name");

    if (!o)
        return;
    if (!(gain >= 1))
        page_figure(t, "All-reduces", "the library's own choice; no other algorithm is known to be faster");
    else if (get_true(o, "applied"))
        page_figure(t, "All-reduces",
                    "%s, as the library was told; by the model, at least %s times as fast as its own choice",
                    shown(o, "name").s, text_number(gain).s);
    else if (get_true(o, "compared"))
        page_figure(
            t, "All-reduces",
            "the library's own choice, held out to compare; by the model, %s would be at least %s times as fast",
            shown(o, "name").s, text_number(gain).s);
    else
        page_figure(t, "All-reduces",
                    "the library's own choice; by the model, %s would be at least %s times as fast%s",
                    shown(o, "name").s, text_number(gain).s,
                    name && !strcmp(name, "ring")
                        ? " (never set: it is wrong for operations that do not commute)"
                        : "");
    if (get_string(effect, "text"))
        page_figure(t, "", "%s", shown(effect, "text").s);
}

/* "balanced, dryrun, paused"; the name alone of a step that ended.  Earlier releases stored it as a text. */
static void figure_policy(struct table *t, const json_t *job)
{
    const json_t *policy = get_object(job, "policy");

    if (!policy)
        page_figure(t, "Policy", "%s", shown(job, "policy").s);
    else if (!get_string(policy, "action"))
        page_figure(t, "Policy", "%s", shown(policy, "name").s);
    else
        page_figure(t, "Policy", "%s, %s%s", shown(policy, "name").s, shown(policy, "action").s,
                    get_true(policy, "paused") ? ", paused" : "");
}

static void figure_identity(struct table *t, const json_t *job)
{
    double age_s = get_number(job, "age_s");
    bool ended = page_has_ended(job);
    char name[80];

    page_figure(t, "Job", "%s \"%s\" of %s, partition %s", shown(job, "id").s,
                show_text(job, "name", name, sizeof(name)), shown(job, "user").s, shown(job, "partition").s);
    page_figure(t, "State", "%s%s %s%s%s", shown(job, "state").s, ended ? ", ran" : " for",
                text_s(get_number(job, "elapsed_s")).s,
                isnan(age_s) ? ""
                : ended      ? ", ended "
                             : ", last report ",
                isnan(age_s) ? "" : page_ago(age_s).s);
    if (get_string(job, "unconfirmed"))
        page_figure(t, "Unconfirmed", "%s; nothing acts on it", shown(job, "unconfirmed").s);
    page_figure(t, "Size", "%s ranks on %s of %s nodes", text_count(get_number(job, "ranks")).s,
                text_count(get_number(job, "nodes")).s, text_count(get_number(job, "nodes_total")).s);
    figure_policy(t, job);
    figure_placement(t, job);
    figure_algorithm(t, job);
}

/* "every 10th step does 1.40x the work of the others", "2 of every 6 steps do ..." */
static void put_rhythm(const json_t *phases, char *line, size_t size)
{
    double every = get_number(phases, "rhythm_steps"), heavy = get_number(phases, "rhythm_heavy");
    int64_t n = isnan(every) ? 0 : (int64_t)every;

    if (n < 2)
        return;
    text_append(line, size, "%s", *line ? "; " : "");
    if (heavy > 1)
        text_append(line, size, "%s of every %s steps do", text_count(heavy).s, text_count(every).s);
    else
        text_append(line, size, "every %s%s step does", text_count(every).s,
                    n / 10 % 10 == 1 ? "th"
                    : n % 10 == 1    ? "st"
                    : n % 10 == 2    ? "nd"
                    : n % 10 == 3    ? "rd"
                                     : "th");
    text_append(line, size, " %s the work of the others, from the start",
                text_times(get_number(phases, "rhythm_ratio")).s);
}

/* "the first 6 steps warming up; 3 pauses, 9.21 s in all; 4 evaluations of 12 collectives" */
static void figure_phases(struct table *t, const json_t *phases)
{
    double warm_up = get_number(phases, "warm_up_steps"), pauses = get_number(phases, "pauses"),
           evaluations = get_number(phases, "evaluations");
    char line[256] = "";

    if (warm_up > 0)
        text_append(line, sizeof(line),
                    warm_up > 1 ? "the first %s steps warming up" : "the first step warming up",
                    text_count(warm_up).s);
    if (pauses > 0)
        text_append(line, sizeof(line), "%s%s pause%s of all ranks, %s in all", *line ? "; " : "",
                    text_count(pauses).s, pauses > 1 ? "s" : "", text_s(get_number(phases, "pause_s")).s);
    if (evaluations > 0)
        text_append(line, sizeof(line), "%s%s stretch%s of other collectives between steps, %s of them",
                    *line ? "; " : "", text_count(evaluations).s, evaluations > 1 ? "es" : "",
                    text_count(get_number(phases, "foreign_collectives")).s);
    put_rhythm(phases, line, sizeof(line));
    if (*line)
        page_figure(t, "Also", "%s", line);
}

/* What a step consists of, where its program marks it or its calls show a backward pass; and what it reports
 * of its loss. */
static void figure_step_phases(struct table *t, const json_t *job)
{
    const json_t *phases = get_object(job, "step_phases"), *values = get_object(job, "values"),
                 *loss = get_object(values, "loss"), *norm = get_object(values, "grad_norm");
    char line[256] = "";

    if (get_number(phases, "ranks") > 0 || !isnan(get_number(get_object(phases, "inferred"), "backward_s")))
        page_figure(t, "Phases", "%s", shown(phases, "text").s);
    if (loss)
        text_append(line, sizeof(line), "loss %s", text_number(get_number(loss, "median")).s);
    if (norm)
        text_append(line, sizeof(line), "%snorm of the gradient %s", loss ? ", " : "",
                    text_number(get_number(norm, "median")).s);
    if (*line)
        page_figure(t, "Training", "%s, at step %s", line,
                    text_count(get_number(loss ? loss : norm, "step")).s);
}

void page_pace(struct table *t, const json_t *job)
{
    const json_t *step = get_object(job, "step_s"), *skew = get_object(job, "skew_s");
    double steps = get_number(job, "steps"), rate = get_number(job, "steps_per_s"),
           samples = get_number(job, "samples_per_s");

    if (!isnan(steps))
        page_figure(t, "Steps", "%s%s, %s collective%s each", text_count(steps).s,
                    get_object(job, "trace") ? " at the end of the trace" : "",
                    text_count(get_number(job, "period")).s, page_plural(get_number(job, "period")));
    figure_phases(t, get_object(job, "phases"));
    if (!isnan(get_number(step, "mean")))
        page_figure(t, "Step time", "median %s, mean %s, 95th percentile %s, variation %s",
                    text_s(get_number(step, "p50")).s, text_s(get_number(step, "mean")).s,
                    text_s(get_number(step, "p95")).s, text_percent(get_number(step, "cv")).s);
    if (!isnan(get_number(step, "p99")))
        page_figure(t, "", "99th percentile of the newest %s steps %s",
                    text_count(get_number(step, "p99_steps")).s, text_s(get_number(step, "p99")).s);
    figure_step_phases(t, job);
    if (!isnan(rate))
        page_figure(t, "Throughput", "%s steps/s%s%s%s", text_number(rate).s, isnan(samples) ? "" : ", ",
                    isnan(samples) ? "" : text_number(samples).s, isnan(samples) ? "" : " samples/s");
    if (!isnan(get_number(skew, "p50")))
        page_figure(t, "Skew", "median %s, 95th percentile %s, at each collective",
                    text_s(get_number(skew, "p50")).s, text_s(get_number(skew, "p95")).s);
}

/* " on node4"; a trace need not have the nodes. */
static struct shown on_node(const json_t *rank)
{
    struct shown text = { "" };

    if (*get_word(rank, "node"))
        text_append(text.s, sizeof(text.s), " on %s", shown(rank, "node").s);
    return text;
}

void page_time(struct table *t, const json_t *job)
{
    const json_t *share = get_object(job, "shares"), *worst = get_object(job, "worst");
    double waiting = get_number(job, "synchronisation_ratio");

    if (!isnan(waiting))
        page_figure(t, "Sync", "%s of the ranks' time, waiting in collectives for others",
                    text_percent(waiting).s);
    if (!isnan(get_number(share, "compute")))
        page_figure(t, "Time goes to", "compute %s, communication %s, synchronisation %s, point-to-point %s",
                    text_percent(get_number(share, "compute")).s,
                    text_percent(get_number(share, "communication")).s,
                    text_percent(get_number(share, "synchronisation")).s,
                    text_percent(get_number(share, "point_to_point")).s);
    page_figure(t, "Regime", "%s", shown(job, "regime").s);
    if (worst)
        page_figure(t, "Latest", "rank %s%s: %s late on average, the last in %s of the newest steps",
                    text_count(get_number(worst, "rank")).s, on_node(worst).s,
                    text_s(get_number(worst, "lateness_s")).s,
                    text_percent(get_number(worst, "last_ratio")).s);
}

static void figure_efficiency(struct table *t, const json_t *job)
{
    const json_t *e = get_object(job, "efficiency");

    if (!isnan(get_number(e, "parallel")))
        page_figure(t, "Efficiency", "%s: load balance %s x serialisation %s x transfer %s",
                    text_percent(get_number(e, "parallel")).s, text_percent(get_number(e, "load_balance")).s,
                    text_percent(get_number(e, "serialisation")).s,
                    text_percent(get_number(e, "transfer")).s);
}

/* The ranks that come last most often: on their arrival the collectives wait. */
static void figure_critical_path(struct table *t, const json_t *job)
{
    const json_t *rank;
    size_t i;

    if (!get_object(job, "worst")) /* in a healthy job one of them is always the last */
        return;
    json_array_foreach(get_array(get_object(job, "critical_path"), "ranks"), i, rank) {
        double delay_s = get_number(rank, "delay_s");
        char costs[80] = "";

        if (!isnan(delay_s))
            snprintf(costs, sizeof(costs), ", costs the others %s a step", text_s(delay_s).s);
        if (i < WAITED_MAX)
            page_figure(t, i ? "" : "Waits for", "rank %s%s: last in %s of its collectives%s",
                        text_count(get_number(rank, "rank")).s, on_node(rank).s,
                        text_percent(get_number(rank, "last_ratio")).s, costs);
    }
}

static void figure_projection(struct table *t, const json_t *job)
{
    struct report_projection p;

    report_projection_read(&p, get_object(job, "projection"));
    if (p.known && !page_has_ended(job) && !get_object(job, "trace"))
        page_figure(t, "Ahead", "%s%s", *p.text ? p.text : "-",
                    p.warning ? "; it fluctuates more widely and more slowly, as before a change of regime"
                              : "");
}

/* What all ranks lack is nobody's fault, and yet what the job waits for. */
static void figure_cpu_lack(struct table *t, const json_t *job)
{
    const json_t *o = get_object(job, "cpu_lack");

    if (get_string(o, "text") && !page_has_ended(job))
        page_figure(t, "CPUs", "%s, all alike", shown(o, "text").s);
}

/* What of the communication holds ranks, and what runs beside their work. */
static void figure_overlap(struct table *t, const json_t *job)
{
    const json_t *o = get_object(job, "overlap");

    if (get_string(o, "text"))
        page_figure(t, "Overlap", "%s", shown(o, "text").s);
}

/* The next wall, and the furthest point that is projected. */
static void figure_scaling(struct table *t, const json_t *job)
{
    const json_t *s = get_object(job, "scaling"), *points = get_array(s, "points");
    const json_t *last = json_array_get(points, json_array_size(points) - 1), *rate, *tail;

    if (!last)
        return;
    page_figure(t, "More ranks", "%s", shown(s, "text").s);
    rate = get_object(last, "throughput_ratio");
    page_figure(t, "", "%s ranks (%s as many): %s the throughput (%s to %s), %s",
                text_count(get_number(last, "ranks")).s, text_times(get_number(last, "factor")).s,
                text_times(get_number(rate, "p50")).s, text_times(get_number(rate, "p5")).s,
                text_times(get_number(rate, "p95")).s, shown(last, "regime").s);
    tail = get_object(last, "step_p99_ratio");
    if (!isnan(get_number(tail, "p50")))
        page_figure(t, "",
                    "there the 99th percentile of the step is %s its median (%s to %s), its variation %s",
                    text_times(get_number(tail, "p50")).s, text_times(get_number(tail, "p5")).s,
                    text_times(get_number(tail, "p95")).s, text_percent(get_number(last, "step_cv")).s);
}

static void put_way(struct table *t, const char *title, const json_t *way)
{
    const json_t *rate = get_object(way, "throughput_ratio");

    if (way)
        page_figure(t, title, "%s: %s the samples a second (%s to %s); %s", shown(way, "strategy").s,
                    text_times(get_number(rate, "p50")).s, text_times(get_number(rate, "p5")).s,
                    text_times(get_number(rate, "p95")).s, shown(way, "reason").s);
}

/* The fastest of those whose mathematics stays, and of the others, where it surely gains. */
static void figure_ways(struct table *t, const json_t *job)
{
    const json_t *way, *best[2] = { NULL, NULL };
    size_t i;

    json_array_foreach(get_array(get_object(job, "strategies"), "strategies"), i, way) {
        bool per_sample = get_true(way, "per_sample");

        if (!best[per_sample] && get_number(get_object(way, "throughput_ratio"), "p5") > WORTH_RATIO)
            best[per_sample] = way;
    }
    put_way(t, "Faster", best[0]);
    put_way(t, best[0] ? "Per sample" : "Faster per sample", best[1]);
}

/* Under the guard over without it, by the job's own reference. */
static void figure_guarded(struct table *t, const json_t *job)
{
    static const struct {
        const char *key, *words;
    } figures[] = { { "throughput", "throughput" },
                    { "cv", "variation of the step" },
                    { "synchronisation", "synchronisation" },
                    { "skew", "skew" },
                    { "energy", "energy a step" } };
    const json_t *g = get_object(job, "guarded"), *ratios = get_object(g, "ratios");
    char line[512] = "";

    if (!get_object(ratios, "step"))
        return;
    page_figure(t, strcmp(get_word(g, "reference"), "runs") ? "Guarded" : "Earlier runs", "%s",
                shown(g, "text").s);
    for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
        double value = get_number(get_object(ratios, figures[i].key), "value");

        if (!isnan(value))
            text_append(line, sizeof(line), "%s%s %s", *line ? ", " : "", figures[i].words,
                        text_times(value).s);
    }
    if (*line)
        page_figure(t, "", "%s", line);
}

void page_outlook(struct table *t, const json_t *job)
{
    figure_efficiency(t, job);
    figure_overlap(t, job);
    figure_cpu_lack(t, job);
    figure_critical_path(t, job);
    figure_projection(t, job);
    figure_scaling(t, job);
    figure_ways(t, job);
    figure_guarded(t, job);
}

void page_limits(struct table *t, const json_t *job, const char *would)
{
    const json_t *limits = get_object(job, "limits");
    double work = get_number(job, "mds_ratio"), all = get_number(limits, "transfers"),
           node = get_number(limits, "node_transfers"), link = get_number(limits, "link_transfers");
    char line[256] = "";

    if (!isnan(work))
        text_append(line, sizeof(line), "a rank %s slower or more", text_percent(work).s);
    if (!isnan(all))
        text_append(line, sizeof(line), "%sall transfers %s slower", *line ? ", " : "", text_percent(all).s);
    if (!isnan(node))
        text_append(line, sizeof(line), ", any node's %s", text_percent(node).s);
    if (!isnan(link))
        text_append(line, sizeof(line), ", any link's %s", text_percent(link).s);
    if (*line)
        page_figure(t, "Sensitivity", "%s would %s", line, would);
}

static void put_figures(const struct page *p)
{
    struct table *t = page_figures();

    figure_identity(t, p->answer);
    page_pace(t, p->answer);
    page_time(t, p->answer);
    page_outlook(t, p->answer);
    if (!page_has_ended(p->answer))
        page_limits(t, p->answer, "be named now");
    page_title(p, "Figures");
    page_put_figures(p, PAGE_INDENT, t);
}

/* ---- tables ---- */

static char *inside_cell(const json_t *rank, char *buf, size_t size)
{
    const json_t *inside = get_object(rank, "inside");
    double age_s = get_number(inside, "age_s");

    if (!inside)
        return show_value(NULL, buf, size);
    snprintf(buf, size, "%s %s on %s%s%s", shown(inside, "op").s, text_count(get_number(inside, "seq")).s,
             shown(inside, "comm").s, isnan(age_s) ? "" : " for ", isnan(age_s) ? "" : text_s(age_s).s);
    return buf;
}

void page_ranks(const struct page *p)
{
    static const struct page_column column[] = {
        { "RANK", .key = "rank", .words = text_count },
        { "NODE", .key = "node" },
        { "SWITCH", .key = "switch", .spare = 3 },
        { "STATE", .key = "state", .spare = 4 },
        { "LATE", .key = "lateness_s", .words = text_s },
        { "P95", .key = "lateness_p95_s", .words = text_about_s, .spare = 6 },
        { "LAST", .key = "last_ratio", .words = text_percent },
        { "WAIT", .key = "wait_s", .words = text_s, .spare = 5 },
        { "DELAY", .key = "delay_s", .words = text_s, .spare = 2 },
        { "COMPUTE", .key = "compute_s", .words = text_s, .spare = 1 },
        { "STAY", .key = "stay_s", .words = text_s, .spare = 7 },
        { "WORK", .key = "slowdown", .words = text_times },
        { "INSIDE", .cell = inside_cell },
    };
    const json_t *ranks = get_array(p->answer, "rank_table");
    size_t rows = json_array_size(ranks) < PAGE_RANKS ? json_array_size(ranks) : PAGE_RANKS;
    double total = fmax(get_number(p->answer, "rank_table_total"), (double)json_array_size(ranks));
    char title[128];

    snprintf(title, sizeof(title),
             total > (double)rows ? "Ranks, the latest %zu of %.0f" : "Ranks, the latest first", rows, total);
    page_table(p, title, ranks, rows, column, ARRAY_SIZE(column), PAGE_INDENT);
}

void page_communicators(const struct page *p)
{
    static const struct page_column column[] = {
        { "NAME", .key = "name", .spare = 3 },
        { "LABEL", .key = "label" },
        { "SIZE", .key = "size", .words = text_count },
        { "OF THE KIND", .key = "instances", .words = text_count, .spare = 4 },
        { "PER S", .key = "collectives_per_s", .words = text_number },
        { "BYTES/S", .key = "bytes_per_s", .words = text_bytes, .spare = 1 },
        { "SKEW", .key = "skew_s", .words = text_s },
        { "TRANSFER", .key = "transfer_s", .words = text_s, .spare = 2 },
        { "EFFICIENCY", .key = "efficiency.parallel", .words = text_percent },
    };
    const json_t *comms = get_array(p->answer, "communicators");

    page_table(p, "Communicators, the largest first", comms, COMMS_MAX, column, ARRAY_SIZE(column),
               PAGE_INDENT);
    if (json_array_size(comms) > COMMS_MAX)
        page_line(p, PAGE_INDENT, "and %zu more", json_array_size(comms) - COMMS_MAX);
}

static char *hidden_cell(const json_t *group, char *buf, size_t size)
{
    const json_t *hidden = get_object(group, "hidden_s");
    double value = get_number(hidden, "value"), high = get_number(hidden, "high");

    if (isnan(value) && !isnan(high))
        snprintf(buf, size, "at most %s", text_s(high).s);
    else
        snprintf(buf, size, "%s", text_s(value).s);
    return buf;
}

/* Communicators that are slower from the start than they should be. */
void page_shortfalls(const struct page *p)
{
    const json_t *list = get_array(p->answer, "shortfalls"), *o;
    size_t i;

    if (json_array_size(list))
        page_title(p, "Communicators below expectation");
    json_array_foreach(list, i, o)
        page_line(p, PAGE_INDENT, "%s", shown(o, "text").s);
}

/* Of a job whose calls are seen one by one; of the others the figure says it all. */
void page_overlap(const struct page *p)
{
    static const struct page_column column[] = {
        { "GROUP", .key = "label" },
        { "RANKS", .key = "ranks", .words = text_count },
        { "CALLS", .key = "calls", .words = text_number, .spare = 2 },
        { "NONBLOCKING", .key = "nonblocking_ratio", .words = text_percent, .spare = 1 },
        { "WAITING", .key = "waiting_s", .words = text_s },
        { "EXPOSED", .key = "exposed_s", .words = text_s },
        { "HIDDEN", .cell = hidden_cell, .right = true },
        { "CAN WIN AT MOST", .key = "most_won_s", .words = text_s },
    };
    const json_t *o = get_object(p->answer, "overlap");
    char title[128];

    if (!(get_number(o, "steps") > 0))
        return;
    snprintf(title, sizeof(title), "Communication a step, mean of the ranks that take part over %s steps",
             text_count(get_number(o, "steps")).s);
    page_table(p, title, get_array(o, "groups"), COMMS_MAX, column, ARRAY_SIZE(column), PAGE_INDENT);
}

/* What its tables had no room for; most jobs never come near that. */
static void put_losses(const struct page *p, const json_t *probe)
{
    static const struct {
        const char *key, *what;
    } rows[] = {
        { "messages_missed", "messages not recorded" },
        { "streams_forgotten", "streams of messages whose numbers begin again" },
        { "comms_missed", "communicators not described: calls on them tell less" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (get_number(probe, rows[i].key) > 0)
            page_line(p, PAGE_INDENT, "%s %s", text_count(get_number(probe, rows[i].key)).s, rows[i].what);
}

/* For how many of the job's ranks these figures stand. */
static void put_probe(const struct page *p)
{
    const json_t *probe = get_object(p->answer, "probe");
    double guarded = get_number(probe, "ranks_guarded"), total = get_number(probe, "ranks_total");

    if (!probe)
        return;
    page_title(p, "Probe");
    if (isnan(total))
        page_line(p, PAGE_INDENT, "ranks that are guarded: %s; how many there are is not known",
                  text_count(guarded).s);
    else
        page_line(p, PAGE_INDENT, "%s of %s ranks are guarded%s", text_count(guarded).s, text_count(total).s,
                  guarded < total ? ": the others are not seen" : "");
    page_line(p, PAGE_INDENT, "%s collectives recorded, %s dropped (ring full), %s missed",
              text_number(get_number(probe, "events")).s, text_number(get_number(probe, "dropped")).s,
              text_number(get_number(probe, "missed")).s);
    put_losses(p, probe);
    page_line(p, PAGE_INDENT, "estimated cost: %s of the ranks' time",
              text_percent(get_number(probe, "overhead_ratio")).s);
}

static void put_agents(const struct page *p)
{
    const json_t *agents = get_array(p->answer, "agents");
    double total = get_number(p->answer, "agents_total");

    static const struct page_column column[] = {
        { "NODE", .key = "node" },
        { "SWITCH", .key = "switch", .spare = 4 },
        { "LINK", .cell = page_agent_link },
        { "CPU", .key = "cpu_ratio", .words = text_percent, .spare = 1 },
        { "MEMORY", .key = "rss_bytes", .words = text_bytes, .spare = 2 },
        { "BACKLOG", .key = "backlog_bytes", .words = text_bytes, .spare = 3 },
        { "LOST BATCHES", .key = "lost_batches", .words = text_count },
        { "HEARD", .key = "age_s", .words = page_ago },
    };

    page_table(p, "Agents", agents, SIZE_MAX, column, ARRAY_SIZE(column), PAGE_INDENT);
    if (total > (double)json_array_size(agents))
        page_line(p, PAGE_INDENT, "and %.0f more", total - (double)json_array_size(agents));
}

/* "regime: compute (7 times in 3m10s)" */
static char *event_cell(const json_t *event, char *buf, size_t size)
{
    double count = get_number(event, "count");

    show_text(event, "text", buf, size);
    if (count > 1)
        text_append(buf, size, " (%s times in %s)", text_count(count).s,
                    text_s(get_number(event, "over_s")).s);
    return buf;
}

static void put_events(const struct page *p)
{
    static const struct page_column column[] = { { "", .key = "age_s", .words = page_ago },
                                                 { "", .cell = event_cell } };

    page_table(p, "Events, the newest first", get_array(p->answer, "events"), EVENTS_MAX, column,
               ARRAY_SIZE(column), PAGE_INDENT);
}

static void put_past(const struct page *p)
{
    const json_t *past = get_object(p->answer, "past");
    double energy = get_number(past, "energy_j_per_step"), ratio = get_number(past, "energy_ratio");

    if (!get_string(past, "text"))
        return;
    page_title(p, "Similar earlier runs");
    page_line(p, PAGE_INDENT, "%s", shown(past, "text").s);
    if (get_number(past, "reruns") > 0)
        page_line(p, PAGE_INDENT, "%s of the last %s starts were re-runs",
                  text_count(get_number(past, "reruns")).s, text_count(get_number(past, "starts")).s);
    if (!isnan(energy))
        page_line(p, PAGE_INDENT, "a step uses %s J on the nodes%s%s%s", text_number(energy).s,
                  isnan(ratio) ? "" : ", ", isnan(ratio) ? "" : text_percent(ratio).s,
                  isnan(ratio) ? "" : " of what it did");
}

static void put_notes(const struct page *p)
{
    const json_t *notes = get_array(p->answer, "notes"), *note;
    char text[1024];
    size_t i;

    if (json_array_size(notes))
        page_title(p, "Notes");
    json_array_foreach(notes, i, note)
        page_line(p, PAGE_INDENT, "%s", show_value(note, text, sizeof(text)));
}

int page_job(FILE *out, const json_t *answer, struct page_form form, struct err *err)
{
    struct report *report = NULL;
    struct page page = { out, answer, form, NULL };

    if (check_answer(answer, "state", JSON_STRING, err) == 0)
        page.report = report = report_read(answer, err);
    if (!report)
        return -1;
    page_sentence(&page, page_severity(answer));
    page_put_verdicts(&page,
                      page_has_ended(answer)
                          ? "Verdicts (price: time of the run over its time without the cause)"
                          : "Verdicts (price: step time over the step time without the cause)",
                      put_verdict);
    put_figures(&page);
    put_past(&page);
    page_checkpoint(&page);
    page_ranks(&page);
    page_communicators(&page);
    page_overlap(&page);
    page_shortfalls(&page);
    put_probe(&page);
    put_agents(&page);
    put_events(&page);
    put_notes(&page);
    report_free(report);
    return 0;
}
