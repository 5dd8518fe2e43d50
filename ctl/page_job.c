/* page_job.c - one job, from the sentence that matters to the notes of its agents. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define WORTH_RATIO 1.02 /* a smaller gain is no advice */
#define EVENTS_MAX  8
#define COMMS_MAX   12
#define WAITED_MAX  3
#define UPDATES_MAX 16

char *page_verdict_words(const struct report_verdict *verdict, char *buf, size_t size)
{
    char list[256];

    json_texts_show(&verdict->culprits, 8, list, sizeof(list));
    return verdict_words(buf, size, page_word(verdict->class), list, verdict->culprits.n);
}

char *page_verdict_head(const struct report *r, const struct report_verdict *v, char *buf, size_t size)
{
    bool trace = r->trace.known;
    const char *before = !trace && report_row_alive(&r->job) ? " ago" : " before the end";
    double low = v->slowdown_low, high = v->slowdown_high;

    page_verdict_words(v, buf, size);
    if (low <= high && strcmp(text_times(low).s, text_times(high).s) != 0)
        text_append(buf, size, ", between %s and %s", text_times(low).s, text_times(high).s);
    if (v->since_step >= 0)
        text_append(buf, size, ", since step %s", page_count(v->since_step).s);
    if (trace) {
        if (v->onset_seq >= 0)
            text_append(buf, size, v->since_step < 0 ? ", since collective %s" : " (collective %s)",
                        page_count(v->onset_seq).s);
        if (v->found_step >= 0)
            text_append(buf, size, ", found at step %s", page_count(v->found_step).s);
        if (v->detected_seq >= 0)
            text_append(buf, size, v->found_step < 0 ? ", found at collective %s" : " (collective %s)",
                        page_count(v->detected_seq).s);
    } else if (!isnan(v->since_s)) {
        text_append(buf, size, ", for %s", text_s(isnan(v->over_s) ? v->since_s : v->since_s - v->over_s).s);
    } else if (!isnan(v->found_s)) {
        text_append(buf, size, ", found %s%s", text_s(v->found_s).s, before);
    }
    if (v->times > 1)
        text_append(buf, size, ", %s times", page_count(v->times).s);
    if (trace ? !v->standing : !isnan(v->over_s))
        text_append(buf, size, ", over %s%s", text_s(v->over_s).s, before);
    return buf;
}

void page_put_verdicts(const struct page *p, const char *title)
{
    const struct report *r = p->report;
    const struct report_verdicts *verdicts = &r->job.verdicts;
    char head[1024];

    if (verdicts->n)
        page_title(p, title);
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct report_verdict *v = &verdicts->list[i];

        page_hang(p, page_severity(report_verdict_severity(v)),
                  isnan(v->slowdown) ? "  -" : text_times(v->slowdown).s,
                  page_verdict_head(r, v, head, sizeof(head)));
        if (*v->text && strcmp(v->text, r->job.sentence) != 0) /* which stands at the top already */
            page_line(p, PAGE_EVIDENCE, "%s", v->text);
        if (*v->cause)
            page_line(p, PAGE_EVIDENCE, "%s", v->cause);
        if (*v->next)
            page_line(p, PAGE_EVIDENCE, "next: %s", v->next);
    }
}

/* ---- figures ---- */

static void figure_placement(struct table *t, const struct report_placement *p)
{
    double gain = p->slurm_s / p->chosen_s;

    if (!(gain >= 1))
        return;
    if (gain < 1.01)
        page_figure(t, "Order", "Slurm's; by the model, no other is at least 1 %% faster (%s)",
                    page_word(p->pattern));
    else if (p->compared && !p->applied)
        page_figure(
            t, "Order",
            "Slurm's, held out to compare; by the model, along the switches communication (%s) would be %s times as fast",
            page_word(p->pattern), text_number(gain).s);
    else if (p->applied)
        page_figure(
            t, "Order",
            "along the switches; by the model, communication (%s) is %s times as fast as in Slurm's order",
            page_word(p->pattern), text_number(gain).s);
    else
        page_figure(t, "Order",
                    "Slurm's; by the model, with placement=on communication (%s) would be %s times as fast",
                    page_word(p->pattern), text_number(gain).s);
    page_figure(t, "", "%s", page_word(p->effect.text));
}

static void figure_algorithm(struct table *t, const struct report_algorithm *a)
{
    double gain = a->usual_s / a->most_s;

    if (!a->known)
        return;
    if (!(gain >= 1))
        page_figure(t, "All-reduces", "the library's own choice; no other algorithm is known to be faster");
    else if (a->applied)
        page_figure(t, "All-reduces",
                    "%s, as the library was told; by the model, at least %s times as fast as its own choice",
                    page_word(a->name), text_number(gain).s);
    else if (a->compared)
        page_figure(
            t, "All-reduces",
            "the library's own choice, held out to compare; by the model, %s would be at least %s times as fast",
            page_word(a->name), text_number(gain).s);
    else
        page_figure(t, "All-reduces",
                    "the library's own choice; by the model, %s would be at least %s times as fast%s",
                    page_word(a->name), text_number(gain).s,
                    !strcmp(a->name, "ring") ? " (never set: it is wrong for operations that do not commute)"
                                             : "");
    page_figure(t, "", "%s", page_word(a->effect.text));
}

/* "every 10th step does 1.40x the work of the others", "2 of every 6 steps do ..." */
static void put_rhythm(const struct report_row *j, char *line, size_t size)
{
    int64_t n = j->phases.rhythm_steps;

    if (n < 2)
        return;
    text_append(line, size, "%s", *line ? "; " : "");
    if (j->phases.rhythm_heavy > 1)
        text_append(line, size, "%s of every %s steps do", page_count(j->phases.rhythm_heavy).s,
                    page_count(n).s);
    else
        text_append(line, size, "every %s%s step does", page_count(n).s,
                    n / 10 % 10 == 1 ? "th"
                    : n % 10 == 1    ? "st"
                    : n % 10 == 2    ? "nd"
                    : n % 10 == 3    ? "rd"
                                     : "th");
    text_append(line, size, " %s the work of the others, from the start",
                text_times(j->phases.rhythm_ratio).s);
}

/* "the first 6 steps warming up; 3 pauses, 9.21 s in all; 4 stretches of other collectives between steps, 12
 * of them; 2 delays of single ranks, at most 2.81 s in all" */
static void figure_phases(struct table *t, const struct report_row *j)
{
    int64_t warm_up = j->phases.warm_up_steps, pauses = j->phases.pauses, evaluations = j->phases.evaluations;
    char line[256] = "";

    if (warm_up > 0)
        text_append(line, sizeof(line),
                    warm_up > 1 ? "the first %s steps warming up" : "the first step warming up",
                    page_count(warm_up).s);
    if (pauses > 0)
        text_append(line, sizeof(line), "%s%s pause%s of all ranks, %s in all", *line ? "; " : "",
                    page_count(pauses).s, pauses > 1 ? "s" : "", text_s(j->phases.pause_s).s);
    if (evaluations > 0)
        text_append(line, sizeof(line), "%s%s stretch%s of other collectives between steps, %s of them",
                    *line ? "; " : "", page_count(evaluations).s, evaluations > 1 ? "es" : "",
                    page_count(j->phases.foreign_collectives).s);
    if (j->phases.delays > 0)
        text_append(line, sizeof(line), "%s%s delay%s of single ranks, at most %s in all", *line ? "; " : "",
                    page_count(j->phases.delays).s, j->phases.delays > 1 ? "s" : "",
                    text_s(j->phases.delays_s).s);
    put_rhythm(j, line, sizeof(line));
    if (*line)
        page_figure(t, "Also", "%s", line);
}

/* What a step consists of, where its program marks it or its calls show a backward pass; and what it reports
 * of its loss. */
static void figure_step_phases(struct table *t, const struct report *r)
{
    const struct report_value *loss = &r->values.value[MARKS_LOSS], *norm = &r->values.value[MARKS_GRAD_NORM];
    char line[256] = "";

    if (report_step_phases_known(&r->step_phases))
        page_figure(t, "Phases", "%s", r->step_phases.text);
    if (loss->known)
        text_append(line, sizeof(line), "loss %s", text_number(loss->median).s);
    if (norm->known)
        text_append(line, sizeof(line), "%snorm of the gradient %s", *line ? ", " : "",
                    text_number(norm->median).s);
    if (*line)
        page_figure(t, "Training", "%s, at step %s", line,
                    text_count((double)(loss->known ? loss : norm)->step).s);
}

void page_pace(struct table *t, const struct page *p)
{
    const struct report_row *j = &p->report->job;
    double samples = j->samples_per_s;
    char each[64] = "";

    if (j->period > 0) /* not where messages count the steps */
        text_append(each, sizeof(each), ", %s collective%s each", page_count(j->period).s,
                    text_plural(j->period));
    if (j->steps >= 0)
        page_figure(t, "Steps", "%s%s%s", page_count(j->steps).s,
                    p->report->trace.known ? " at the end of the trace" : "", each);
    figure_phases(t, j);
    if (!isnan(j->step_mean_s))
        page_figure(t, "Step time", "median %s, mean %s, 95th percentile %s, variation %s",
                    text_s(j->step_p50_s).s, text_s(j->step_mean_s).s, text_s(j->step_p95_s).s,
                    text_percent(j->step_cv).s);
    if (!isnan(j->step_p99_s))
        page_figure(t, "", "99th percentile of the newest %s steps %s", page_count(j->step_p99_steps).s,
                    text_s(j->step_p99_s).s);
    figure_step_phases(t, p->report);
    if (!isnan(j->steps_per_s))
        page_figure(t, "Throughput", "%s steps/s%s%s%s", text_number(j->steps_per_s).s,
                    isnan(samples) ? "" : ", ", isnan(samples) ? "" : text_number(samples).s,
                    isnan(samples) ? "" : " samples/s");
    if (!isnan(j->skew_p50_s))
        page_figure(t, "Skew", "median %s, 95th percentile %s, at each collective", text_s(j->skew_p50_s).s,
                    text_s(j->skew_p95_s).s);
}

void page_time(struct table *t, const struct report_row *j)
{
    char late[96] = "";

    if (!isnan(j->synchronisation_ratio))
        page_figure(t, "Sync", "%s of the ranks' time, waiting in collectives for others",
                    text_percent(j->synchronisation_ratio).s);
    if (!isnan(j->share[SHARE_COMPUTE]))
        page_figure(t, "Time goes to", "compute %s, communication %s, synchronisation %s, point-to-point %s",
                    text_percent(j->share[SHARE_COMPUTE]).s, text_percent(j->share[SHARE_COMMUNICATION]).s,
                    text_percent(j->share[SHARE_SYNCHRONISATION]).s, text_percent(j->share[SHARE_P2P]).s);
    page_figure(t, "Regime", "%s", page_word(j->regime));
    if (!j->worst.known)
        return;
    if (!isnan(j->worst.lateness_s)) /* of ranks that meet in messages alone it is not known */
        snprintf(late, sizeof(late), "%s late on average, ", text_s(j->worst.lateness_s).s);
    page_figure(t, "Latest", "rank %s%s%s: %sthe last in %s of the newest steps", page_count(j->worst.rank).s,
                *j->worst.node ? " on " : "", j->worst.node, late, text_percent(j->worst.last_ratio).s);
}

/* The ranks that come last most often: on their arrival the collectives wait. */
static void figure_critical_path(struct table *t, const struct report_path *p)
{
    const char *title = "Waits for";

    for (size_t i = 0; i < p->n && i < WAITED_MAX; i++) {
        const struct report_path_rank *r = &p->rank[i];
        char last[96] = "", costs[128] = "";

        if (!isnan(r->last_ratio))
            snprintf(last, sizeof(last), "last in %s of its collectives", text_percent(r->last_ratio).s);
        if (!isnan(r->delay_s))
            snprintf(costs, sizeof(costs), "%scosts the others %s a step", *last ? ", " : "",
                     text_s(r->delay_s).s);
        if (!*last && !*costs)
            continue;
        page_figure(t, title, "rank %s%s%s: %s%s", page_count(r->rank).s, *r->node ? " on " : "", r->node,
                    last, costs);
        title = "";
    }
}

/* The next wall, and the furthest point that is projected. */
static void figure_scaling(struct table *t, const struct report_scaling *s)
{
    const struct report_point *last = s->n ? &s->point[s->n - 1] : NULL;

    if (!last)
        return;
    page_figure(t, "More ranks", "%s", s->text);
    page_figure(t, "", "%s ranks (%s as many): %s the throughput (%s to %s), %s", text_count(last->ranks).s,
                text_times(last->factor).s, text_times(last->throughput.p50).s,
                text_times(last->throughput.p5).s, text_times(last->throughput.p95).s,
                page_word(last->regime));
    if (!isnan(last->p99_ratio.p50))
        page_figure(t, "",
                    "there the 99th percentile of the step is %s its median (%s to %s), its variation %s",
                    text_times(last->p99_ratio.p50).s, text_times(last->p99_ratio.p5).s,
                    text_times(last->p99_ratio.p95).s, text_percent(last->cv).s);
}

static void put_way(struct table *t, const char *title, const struct report_strategy *way)
{
    if (way)
        page_figure(t, title, "%s: %s the samples a second (%s to %s); %s", way->name,
                    text_times(way->ratio.p50).s, text_times(way->ratio.p5).s, text_times(way->ratio.p95).s,
                    page_word(way->reason));
}

/* The fastest of those whose mathematics stays, and of the others, where it surely gains. */
static void figure_ways(struct table *t, const struct report_strategies *s)
{
    const struct report_strategy *best[2] = { NULL, NULL };

    for (size_t i = 0; i < s->n; i++) {
        const struct report_strategy *way = &s->list[i];

        if (!best[way->per_sample] && way->ratio.p5 > WORTH_RATIO)
            best[way->per_sample] = way;
    }
    put_way(t, "Faster", best[0]);
    put_way(t, best[0] ? "Per sample" : "Faster per sample", best[1]);
}

/* Under the guard over without it, by the job's own reference. */
static void figure_guarded(struct table *t, const struct report_guarded *g)
{
    static const char *const words[GUARDED_FIGURES] = {
        [GUARDED_THROUGHPUT] = "throughput",
        [GUARDED_CV] = "variation of the step",
        [GUARDED_SYNCHRONISATION] = "synchronisation",
        [GUARDED_SKEW] = "skew",
        [GUARDED_ENERGY] = "energy a step",
    };
    char line[512] = "";

    if (!g->known)
        return;
    page_figure(t, strcmp(g->reference, "runs") ? "Guarded" : "Earlier runs", "%s", page_word(g->text));
    for (int f = 0; f < GUARDED_FIGURES; f++)
        if (words[f] && !isnan(g->ratio[f].value))
            text_append(line, sizeof(line), "%s%s %s", *line ? ", " : "", words[f],
                        text_times(g->ratio[f].value).s);
    if (*line)
        page_figure(t, "", "%s", line);
}

/* Of workers that do not wait for one another: their own rates, and how old what they write is. */
static void figure_updates(struct table *t, const struct report_updates *u, bool past)
{
    const char *s = u->silent == 1 ? "s" : "";
    char line[400] = "";

    if (!u->known)
        return;
    text_append(line, sizeof(line), "%s worker%s at %s server%s", page_count(u->workers).s,
                text_plural(u->workers), page_count(u->servers).s, text_plural(u->servers));
    if (!isnan(u->iterations_per_s))
        text_append(line, sizeof(line), ", %s iterations/s in all", text_number(u->iterations_per_s).s);
    if (!isnan(u->wait_ratio))
        text_append(line, sizeof(line), "; workers %s %s of their time for messages",
                    past ? "waited" : "wait", text_percent(u->wait_ratio).s);
    if (!isnan(u->busy_ratio))
        text_append(line, sizeof(line), "%s the busiest server %s busy for %s of its own",
                    isnan(u->wait_ratio) ? ";" : ",", past ? "was" : "is", text_percent(u->busy_ratio).s);
    page_figure(t, "Updates", "%s", line);
    if (u->silent > 0 && past)
        page_figure(t, "", "%s of the workers wrote no more, and counted for nothing here",
                    page_count(u->silent).s);
    else if (u->silent > 0)
        page_figure(t, "", "%s of the workers write%s no more, and count%s for nothing here",
                    page_count(u->silent).s, s, s);
    page_figure(t, "Staleness", "%s", u->text);
}

void page_outlook(struct table *t, const struct page *p)
{
    const struct report *r = p->report;
    const struct report_efficiency *e = &r->efficiency;
    bool ended = !report_row_alive(&r->job);

    if (!isnan(e->parallel))
        page_figure(t, "Efficiency", "%s: load balance %s x serialisation %s x transfer %s",
                    text_percent(e->parallel).s, text_percent(e->load_balance).s,
                    text_percent(e->serialisation).s, text_percent(e->transfer).s);
    figure_updates(t, &r->updates, ended || !r->updates.standing);
    page_figure(t, "Overlap", "%s", r->overlap.text);
    if (*r->cpu_lack.text && !ended) /* nobody's fault, and yet what the job waits for */
        page_figure(t, "CPUs", "%s, all alike", r->cpu_lack.text);
    if (r->job.worst.known) /* in a healthy job one of its ranks is always the last */
        figure_critical_path(t, &r->path);
    if (*r->projection.text && !ended && !r->trace.known)
        page_figure(t, "Ahead", "%s%s", r->projection.text,
                    r->projection.warning
                        ? "; it fluctuates more widely and more slowly, as before a change of regime"
                        : "");
    figure_scaling(t, &r->scaling);
    figure_ways(t, &r->strategies);
}

void page_limits(struct table *t, const struct report_row *j, const char *would)
{
    char line[256] = "";

    if (!isnan(j->mds_ratio))
        text_append(line, sizeof(line), "a rank %s slower or more", text_percent(j->mds_ratio).s);
    if (j->limits.work_from_start > j->mds_ratio)
        text_append(line, sizeof(line), " (from the start %s)", text_percent(j->limits.work_from_start).s);
    if (!isnan(j->limits.transfers))
        text_append(line, sizeof(line), "%sall transfers %s slower", *line ? ", " : "",
                    text_percent(j->limits.transfers).s);
    if (!isnan(j->limits.node_transfers))
        text_append(line, sizeof(line), ", any node's %s", text_percent(j->limits.node_transfers).s);
    if (!isnan(j->limits.link_transfers))
        text_append(line, sizeof(line), ", any link's %s", text_percent(j->limits.link_transfers).s);
    if (*line)
        page_figure(t, "Sensitivity", "%s would %s", line, would);
}

static void put_figures(const struct page *p)
{
    const struct report_row *j = &p->report->job;
    const struct report_control *control = &p->report->control;
    bool ended = !report_row_alive(j);
    struct table *t = page_figures();

    page_figure(t, "Job", "%s \"%s\" of %s, partition %s", page_word(j->id), page_word(j->name),
                page_word(j->user), page_word(j->partition));
    page_figure(t, "State", "%s%s %s%s%s", page_word(j->state), ended ? ", ran" : " for",
                text_s(j->elapsed_s).s,
                isnan(j->age_s) ? ""
                : ended         ? ", ended "
                                : ", last report ",
                isnan(j->age_s) ? "" : page_ago(j->age_s).s);
    if (!isnan(j->left_s))
        page_figure(t, "Time left", "%s until its time limit", text_s(j->left_s).s);
    if (*j->unconfirmed)
        page_figure(t, "Unconfirmed", "%s; nothing acts on it", j->unconfirmed);
    if (j->restarts > 0)
        page_figure(t, "Run", "%s of this job: Slurm restarted it %s time%s", page_count(j->restarts + 1).s,
                    page_count(j->restarts).s, text_plural(j->restarts));
    page_figure(t, "Size", "%s rank%s on %s of %s node%s", page_count(j->ranks).s, text_plural(j->ranks),
                page_count(j->nodes).s, page_count(j->nodes_total).s, text_plural(j->nodes_total));
    if (*control->action)
        page_figure(t, "Policy", "%s, %s%s", page_word(control->name), control->action,
                    control->paused ? ", paused" : "");
    else /* of a step that ended */
        page_figure(t, "Policy", "%s", page_word(j->policy));
    figure_placement(t, &p->report->placement);
    figure_algorithm(t, &p->report->algorithm);
    page_pace(t, p);
    page_time(t, j);
    page_outlook(t, p);
    figure_guarded(t, &p->report->guarded);
    if (!ended)
        page_limits(t, j, "be named now");
    page_title(p, "Figures");
    page_put_figures(p, PAGE_INDENT, t);
}

/* ---- tables ---- */

/* "allreduce 812 on world for 3.2 s", "recv from rank 3 for 3.2 s", "no call for 3.2 s" */
static char *inside_cell(const void *row, char *buf, size_t size)
{
    double for_s;

    if (!*report_rank_inside(buf, size, row, false, &for_s))
        text_append(buf, size, "-");
    else if (!isnan(for_s))
        text_append(buf, size, " for %s", text_s(for_s).s);
    return buf;
}

void page_ranks(const struct page *p)
{
    static const struct page_column column[] = {
        { "RANK", .field = offsetof(struct report_rank, rank), .count = true },
        { "NODE", .field = offsetof(struct report_rank, node) },
        { "SWITCH", .field = offsetof(struct report_rank, switch_name), .spare = 3 },
        { "PID", .field = offsetof(struct report_rank, pid), .count = true, .spare = 8 },
        { "STATE", .field = offsetof(struct report_rank, state), .spare = 4 },
        { "LATE", .field = offsetof(struct report_rank, lateness_s), .words = text_s },
        { "P95", .field = offsetof(struct report_rank, lateness_p95_s), .words = text_about_s, .spare = 6 },
        { "LAST", .field = offsetof(struct report_rank, last_ratio), .words = text_percent },
        { "WAIT", .field = offsetof(struct report_rank, wait_s), .words = text_s, .spare = 5 },
        { "DELAY", .field = offsetof(struct report_rank, delay_s), .words = text_s, .spare = 2 },
        { "COMPUTE", .field = offsetof(struct report_rank, compute_s), .words = text_s, .spare = 1 },
        { "STAY", .field = offsetof(struct report_rank, stay_s), .words = text_s, .spare = 7 },
        { "WORK", .field = offsetof(struct report_rank, slowdown), .words = text_times },
        { "INSIDE", .cell = inside_cell },
    };
    const struct report *r = p->report;
    size_t rows = r->n_ranks < PAGE_RANKS ? r->n_ranks : PAGE_RANKS;
    bool stands = report_row_still(&r->job);
    char title[128];

    if (r->rank_total > (int64_t)rows)
        snprintf(title, sizeof(title), "Ranks, %s %zu of %lld", stands ? "the first" : "the latest", rows,
                 (long long)r->rank_total);
    else
        snprintf(title, sizeof(title), "Ranks, %s first",
                 stands ? "those that hold the others up" : "the latest");
    page_table(p, title, r->rank, rows, sizeof(*r->rank), column, ARRAY_SIZE(column), PAGE_INDENT);
}

void page_communicators(const struct page *p)
{
    static const struct page_column column[] = {
        { "NAME", .field = offsetof(struct report_comm, name), .spare = 3 },
        { "LABEL", .field = offsetof(struct report_comm, label) },
        { "SIZE", .field = offsetof(struct report_comm, size), .count = true },
        { "OF THE KIND", .field = offsetof(struct report_comm, instances), .count = true, .spare = 4 },
        { "PER S", .field = offsetof(struct report_comm, collectives_per_s), .words = text_number },
        { "BYTES/S", .field = offsetof(struct report_comm, bytes_per_s), .words = text_bytes, .spare = 1 },
        { "SKEW", .field = offsetof(struct report_comm, skew_s), .words = text_s },
        { "TRANSFER", .field = offsetof(struct report_comm, transfer_s), .words = text_s, .spare = 2 },
        { "EFFICIENCY", .field = offsetof(struct report_comm, efficiency.parallel), .words = text_percent },
    };
    const struct report_comms *c = &p->report->comms;

    page_table(p, "Communicators, the largest first", c->list, c->n < COMMS_MAX ? c->n : COMMS_MAX,
               sizeof(c->list[0]), column, ARRAY_SIZE(column), PAGE_INDENT);
    if (c->n > COMMS_MAX)
        page_line(p, PAGE_INDENT, "and %zu more", c->n - COMMS_MAX);
}

/* Communicators that are slower from the start than they should be. */
void page_shortfalls(const struct page *p)
{
    const struct report_shortfalls *s = &p->report->shortfalls;

    if (s->n)
        page_title(p, "Communicators below expectation");
    for (size_t i = 0; i < s->n; i++)
        page_line(p, PAGE_INDENT, "%s", page_word(s->list[i].text));
}

/* Of a job whose workers do not wait for one another. */
void page_updates(const struct page *p)
{
    static const struct page_column column[] = {
        { "RANK", .field = offsetof(struct report_updates_rank, rank), .count = true },
        { "NODE", .field = offsetof(struct report_updates_rank, node), .spare = 3 },
        { "PART", .field = offsetof(struct report_updates_rank, part) },
        { "ITERATION", .field = offsetof(struct report_updates_rank, iteration_s), .words = text_s },
        { "WORK", .field = offsetof(struct report_updates_rank, work_s), .words = text_s },
        { "SILENT", .field = offsetof(struct report_updates_rank, silent_s), .words = text_s, .spare = 4 },
        { "OVER OTHERS", .field = offsetof(struct report_updates_rank, times), .words = text_times },
        { "COSTS", .field = offsetof(struct report_updates_rank, slowdown), .words = text_times },
        { "STALENESS", .field = offsetof(struct report_updates_rank, stale_mean), .words = text_number },
        { "95 %", .field = offsetof(struct report_updates_rank, stale_p95), .words = text_number,
          .spare = 1 },
        { "MOST", .field = offsetof(struct report_updates_rank, stale_max), .count = true, .spare = 2 },
    };
    const struct report_updates *u = &p->report->updates;

    page_table(p, "Workers and servers, those slowest against their kind first", u->rank,
               u->n < UPDATES_MAX ? u->n : UPDATES_MAX, sizeof(u->rank[0]), column, ARRAY_SIZE(column),
               PAGE_INDENT);
    if (u->n > UPDATES_MAX)
        page_line(p, PAGE_INDENT, "and %lld more", (long long)(u->workers + u->servers - UPDATES_MAX));
}

static char *hidden_cell(const void *row, char *buf, size_t size)
{
    const struct linkfit_range *hidden = &((const struct report_overlap_group *)row)->hidden_s;

    if (isnan(hidden->value) && !isnan(hidden->high))
        snprintf(buf, size, "at most %s", text_s(hidden->high).s);
    else
        snprintf(buf, size, "%s", text_s(hidden->value).s);
    return buf;
}

/* Of a job whose calls are seen one by one; of the others the figure says it all. */
void page_overlap(const struct page *p)
{
    static const struct page_column column[] = {
        { "GROUP", .field = offsetof(struct report_overlap_group, label) },
        { "RANKS", .field = offsetof(struct report_overlap_group, ranks), .count = true },
        { "CALLS", .field = offsetof(struct report_overlap_group, calls), .words = text_number, .spare = 2 },
        { "NONBLOCKING", .field = offsetof(struct report_overlap_group, nonblocking), .words = text_percent,
          .spare = 1 },
        { "WAITING", .field = offsetof(struct report_overlap_group, waiting_s), .words = text_s },
        { "EXPOSED", .field = offsetof(struct report_overlap_group, exposed_s), .words = text_s },
        { "HIDDEN", .cell = hidden_cell, .right = true },
        { "CAN WIN AT MOST", .field = offsetof(struct report_overlap_group, most_won_s), .words = text_s },
    };
    const struct report_overlap *o = &p->report->overlap;
    char title[128];

    if (!(o->steps > 0))
        return;
    snprintf(title, sizeof(title), "Communication a step, mean of the ranks that take part over %s step%s",
             page_count(o->steps).s, text_plural(o->steps));
    page_table(p, title, o->group, o->n < COMMS_MAX ? o->n : COMMS_MAX, sizeof(o->group[0]), column,
               ARRAY_SIZE(column), PAGE_INDENT);
}

/* For how many of the job's ranks these figures stand, and what its tables had no room for; most jobs never
 * come near that. */
static void put_probe(const struct page *p)
{
    const struct report_probe *probe = &p->report->probe;
    const struct {
        int64_t n;
        const char *what, *rest;
    } losses[] = {
        { probe->messages_missed, "message", "not recorded" },
        { probe->streams_forgotten, "stream", "of messages whose numbers begin again" },
        { probe->comms_missed, "communicator", "not described: calls there tell less" },
        { probe->messages_unplaced, "message", "whose other end is not known: left out" },
        { probe->comms_disputed, "communicator", "whose members contradict each other: left out" },
    };

    if (!probe->known)
        return;
    page_title(p, "Probe");
    if (probe->ranks_total < 0)
        page_line(p, PAGE_INDENT, "ranks that are guarded: %s; how many there are is not known",
                  page_count(probe->ranks_guarded).s);
    else
        page_line(p, PAGE_INDENT, "%s of %s rank%s %s guarded%s", page_count(probe->ranks_guarded).s,
                  page_count(probe->ranks_total).s, text_plural(probe->ranks_total),
                  probe->ranks_guarded == 1 ? "is" : "are",
                  probe->ranks_guarded < probe->ranks_total ? ": the others are not seen" : "");
    if (probe->tasks >= 0 && probe->tasks < probe->ranks_total)
        page_line(p, PAGE_INDENT, "Slurm knows %s task%s of the step, which started the ranks",
                  page_count(probe->tasks).s, text_plural(probe->tasks));
    page_line(p, PAGE_INDENT, "%s collective%s recorded, %s dropped (ring full), %s missed",
              page_number(probe->events).s, text_plural(probe->events), page_number(probe->dropped).s,
              page_number(probe->missed).s);
    for (size_t i = 0; i < ARRAY_SIZE(losses); i++)
        if (losses[i].n > 0)
            page_line(p, PAGE_INDENT, "%s %s%s %s", page_count(losses[i].n).s, losses[i].what,
                      text_plural(losses[i].n), losses[i].rest);
    page_line(p, PAGE_INDENT, "estimated cost: %s of the ranks' time", text_percent(probe->overhead_ratio).s);
}

static char *link_cell(const void *agent, char *buf, size_t size)
{
    snprintf(buf, size, "%s", page_agent_link(agent));
    return buf;
}

static void put_agents(const struct page *p)
{
    static const struct page_column column[] = {
        { "NODE", .field = offsetof(struct report_agent, node) },
        { "SWITCH", .field = offsetof(struct report_agent, switch_name), .spare = 4 },
        { "LINK", .cell = link_cell },
        { "CPU", .field = offsetof(struct report_agent, cpu_ratio), .words = text_percent, .spare = 1 },
        { "MEMORY", .field = offsetof(struct report_agent, rss_bytes), .words = text_bytes, .spare = 2 },
        { "BACKLOG", .field = offsetof(struct report_agent, backlog_bytes), .words = text_bytes, .spare = 3 },
        { "LOST BATCHES", .field = offsetof(struct report_agent, lost_batches), .words = text_count },
        { "HEARD", .field = offsetof(struct report_agent, age_s), .words = page_ago },
    };
    const struct report *r = p->report;

    page_table(p, "Agents", r->agent, r->n_agents, sizeof(*r->agent), column, ARRAY_SIZE(column),
               PAGE_INDENT);
    if (r->agents_total > (int64_t)r->n_agents)
        page_line(p, PAGE_INDENT, "and %lld more", (long long)(r->agents_total - (int64_t)r->n_agents));
}

/* "regime: compute (7 times in 3m10s)" */
static char *event_cell(const void *row, char *buf, size_t size)
{
    const struct report_event *e = row;

    snprintf(buf, size, "%s", page_word(e->text));
    if (e->count > 1)
        text_append(buf, size, " (%s times in %s)", page_count(e->count).s, text_s(e->over_s).s);
    return buf;
}

static void put_events(const struct page *p)
{
    static const struct page_column column[] = {
        { "", .field = offsetof(struct report_event, age_s), .words = page_ago },
        { "", .cell = event_cell },
    };
    const struct report_events *e = &p->report->events;

    page_table(p, "Events, the newest first", e->list, e->n < EVENTS_MAX ? e->n : EVENTS_MAX,
               sizeof(e->list[0]), column, ARRAY_SIZE(column), PAGE_INDENT);
}

static void put_past(const struct page *p)
{
    const struct report_past *past = &p->report->past;

    if (!*past->text)
        return;
    page_title(p, "Similar earlier runs");
    page_line(p, PAGE_INDENT, "%s", page_word(past->text));
    if (past->reruns > 0)
        page_line(p, PAGE_INDENT, "%s of the last %s starts were re-runs", page_count(past->reruns).s,
                  page_count(past->starts).s);
    if (!isnan(past->energy_j_per_step))
        page_line(p, PAGE_INDENT, "a step uses %s J on the nodes%s%s%s",
                  text_number(past->energy_j_per_step).s, isnan(past->energy_ratio) ? "" : ", ",
                  isnan(past->energy_ratio) ? "" : text_percent(past->energy_ratio).s,
                  isnan(past->energy_ratio) ? "" : " of what it did");
}

void page_of_job(const struct page *p)
{
    const struct json_texts *notes = &p->report->notes;

    page_sentence(p);
    page_put_verdicts(p, report_row_alive(&p->report->job)
                             ? "Verdicts (price: step time over the step time without the cause)"
                             : "Verdicts (price: time of the run over its time without the cause)");
    put_figures(p);
    put_past(p);
    page_checkpoint(p);
    page_ranks(p);
    page_communicators(p);
    page_updates(p);
    page_overlap(p);
    page_shortfalls(p);
    put_probe(p);
    put_agents(p);
    put_events(p);
    if (notes->n)
        page_title(p, "Notes");
    for (size_t i = 0; i < notes->n; i++)
        page_line(p, PAGE_INDENT, "%s", notes->text[i]);
}
