/* page_job.c - one job, from the sentence that matters to the notes of its agents. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define WORTH_RATIO 1.02 /* a smaller gain is no advice */
#define INDENT      2
#define EVENTS_MAX  8
#define COMMS_MAX   12
#define WAITED_MAX  3

void page_title(const struct page *p, const char *text)
{
    fputc('\n', p->out);
    text_wrap(p->out, text, 0, p->columns);
}

void page_line(const struct page *p, const char *fmt, ...)
{
    char line[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    text_wrap(p->out, line, INDENT, p->columns);
}

void page_sentence(const struct page *p)
{
    char sentence[1024], id[64], state[32];

    if (json_is_string(json_object_get(p->job, "sentence")))
        show_text(p->job, "sentence", sentence, sizeof(sentence));
    else
        snprintf(sentence, sizeof(sentence), "Job %s is %s; nothing can be said about it yet.",
                 show_text(p->job, "id", id, sizeof(id)), show_text(p->job, "state", state, sizeof(state)));
    text_wrap(p->out, sentence, 0, p->columns);
}

char *page_verdict_words(const json_t *verdict, char *buf, size_t size)
{
    const json_t *culprits = get_array(verdict, "culprits");
    char class[32], list[256];

    show_text(verdict, "class", class, sizeof(class));
    show_list(culprits, 8, list, sizeof(list));
    return verdict_words(buf, size, class, list, json_array_size(culprits));
}

void page_put_verdicts(const struct page *p, const char *title,
                       void put(const struct page *p, const json_t *verdict))
{
    const json_t *verdict;
    bool any = false;
    size_t i;

    json_array_foreach(get_array(p->job, "verdicts"), i, verdict) {
        if (get_true(verdict, "minor"))
            continue;
        if (!any)
            page_title(p, title);
        any = true;
        put(p, verdict);
    }
}

static void put_verdict(const struct page *p, const json_t *verdict)
{
    char what[320], text[1024], head[1024];
    double price = get_number(verdict, "slowdown");
    int n;

    n = snprintf(head, sizeof(head), "%s", page_verdict_words(verdict, what, sizeof(what)));
    if (!isnan(get_number(verdict, "since_step")))
        n += snprintf(head + n, sizeof(head) - (size_t)n, ", since step %s",
                      text_count(get_number(verdict, "since_step")).s);
    if (!isnan(get_number(verdict, "since_s")))
        snprintf(head + n, sizeof(head) - (size_t)n, ", for %s", text_s(get_number(verdict, "since_s")).s);
    else if (!isnan(get_number(verdict, "found_s")))
        snprintf(head + n, sizeof(head) - (size_t)n, ", found %s ago",
                 text_s(get_number(verdict, "found_s")).s);
    text_hang(p->out, INDENT, isnan(price) ? "  -" : text_times(price).s, head, PAGE_EVIDENCE, p->columns);
    if (json_is_string(json_object_get(verdict, "text")))
        text_wrap(p->out, show_text(verdict, "text", text, sizeof(text)), PAGE_EVIDENCE, p->columns);
}

/* ---- figures: a name and words, one a line ---- */

/* Unknown: no line. */
void page_figure(struct table *t, const char *name, const char *words)
{
    if (!strcmp(words, "-"))
        return;
    table_cell(t, "%s", name);
    table_cell(t, "%s", words);
}

/* "balanced, dryrun, paused"; the name alone of a step that ended.  Earlier releases stored it as a text. */
static char *policy_text(const json_t *job, char *buf, size_t size)
{
    const json_t *policy = get_object(job, "policy");
    char name[64], action[32];

    if (!policy)
        return show_text(job, "policy", buf, size);
    if (!get_string(policy, "action"))
        return show_text(policy, "name", buf, size);
    snprintf(buf, size, "%s, %s%s", show_text(policy, "name", name, sizeof(name)),
             show_text(policy, "action", action, sizeof(action)),
             get_true(policy, "paused") ? ", paused" : "");
    return buf;
}

static bool has_ended(const json_t *job)
{
    char state[32];

    show_text(job, "state", state, sizeof(state));
    return !strcmp(state, "finished") || !strcmp(state, "lost");
}

static void figure_identity(struct table *t, const json_t *job)
{
    char line[512], id[64], name[80], user[64], state[32], partition[64], policy[64];
    int n;

    snprintf(line, sizeof(line), "%s \"%s\" of %s, partition %s", show_text(job, "id", id, sizeof(id)),
             show_text(job, "name", name, sizeof(name)), show_text(job, "user", user, sizeof(user)),
             show_text(job, "partition", partition, sizeof(partition)));
    page_figure(t, "Job", line);
    n = snprintf(line, sizeof(line), has_ended(job) ? "%s, ran %s" : "%s for %s",
                 show_text(job, "state", state, sizeof(state)), text_s(get_number(job, "elapsed_s")).s);
    if (!isnan(get_number(job, "age_s")))
        snprintf(line + n, sizeof(line) - (size_t)n,
                 has_ended(job) ? ", ended %s ago" : ", last report %s ago",
                 text_s(get_number(job, "age_s")).s);
    page_figure(t, "State", line);
    snprintf(line, sizeof(line), "%s ranks on %s of %s nodes", text_count(get_number(job, "ranks")).s,
             text_count(get_number(job, "nodes")).s, text_count(get_number(job, "nodes_total")).s);
    page_figure(t, "Size", line);
    page_figure(t, "Policy", policy_text(job, policy, sizeof(policy)));
}

/* "the first 6 steps warming up; 3 pauses, 9.21 s in all; 4 evaluations of 12 collectives" */
static void page_phases(struct table *t, const json_t *phases)
{
    double warm_up = get_number(phases, "warm_up_steps"), pauses = get_number(phases, "pauses");
    double evaluations = get_number(phases, "evaluations");
    char line[256] = "";
    int n = 0;

    if (warm_up > 0)
        n = snprintf(line, sizeof(line), "the first %s step%s warming up", text_count(warm_up).s,
                     warm_up > 1 ? "s" : "");
    if (pauses > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s pause%s of all ranks, %s in all",
                      n ? "; " : "", text_count(pauses).s, pauses > 1 ? "s" : "",
                      text_s(get_number(phases, "pause_s")).s);
    if (evaluations > 0)
        snprintf(line + n, sizeof(line) - (size_t)n,
                 "%s%s stretch%s of other collectives between steps, %s of them", n ? "; " : "",
                 text_count(evaluations).s, evaluations > 1 ? "es" : "",
                 text_count(get_number(phases, "foreign_collectives")).s);
    if (*line)
        page_figure(t, "Also", line);
}

void page_pace(struct table *t, const json_t *job)
{
    const json_t *step = get_object(job, "step_s"), *skew = get_object(job, "skew_s");
    char line[512];

    if (!isnan(get_number(job, "steps"))) {
        snprintf(line, sizeof(line), "%s, %s collectives each", text_count(get_number(job, "steps")).s,
                 text_count(get_number(job, "period")).s);
        page_figure(t, "Steps", line);
    }
    page_phases(t, get_object(job, "phases"));
    if (step) {
        snprintf(line, sizeof(line), "median %s, mean %s, 95th percentile %s, variation %s",
                 text_s(get_number(step, "p50")).s, text_s(get_number(step, "mean")).s,
                 text_s(get_number(step, "p95")).s, text_percent(get_number(step, "cv")).s);
        page_figure(t, "Step time", line);
    }
    if (!isnan(get_number(job, "steps_per_s"))) {
        int n = snprintf(line, sizeof(line), "%s steps/s", text_number(get_number(job, "steps_per_s")).s);

        if (!isnan(get_number(job, "samples_per_s")))
            snprintf(line + n, sizeof(line) - (size_t)n, ", %s samples/s",
                     text_number(get_number(job, "samples_per_s")).s);
        page_figure(t, "Throughput", line);
    }
    if (skew) {
        snprintf(line, sizeof(line), "median %s, 95th percentile %s", text_s(get_number(skew, "p50")).s,
                 text_s(get_number(skew, "p95")).s);
        page_figure(t, "Skew", line);
    }
}

void page_time(struct table *t, const json_t *job)
{
    static const struct {
        const char *key, *name;
    } shares[] = {
        { "compute", "compute" },
        { "communication", "communication" },
        { "synchronisation", "synchronisation" },
        { "point_to_point", "point-to-point" },
    };
    const json_t *share = get_object(job, "shares"), *worst = get_object(job, "worst");
    char line[512], node[128];
    int n = 0;

    if (!isnan(get_number(job, "synchronisation_ratio"))) {
        snprintf(line, sizeof(line), "%s of the ranks' time, waiting for a later rank",
                 text_percent(get_number(job, "synchronisation_ratio")).s);
        page_figure(t, "Sync", line);
    }
    for (size_t i = 0; share && i < ARRAY_SIZE(shares); i++)
        n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%s %s", i ? ", " : "", shares[i].name,
                      text_percent(get_number(share, shares[i].key)).s);
    if (share)
        page_figure(t, "Time goes to", line);
    page_figure(t, "Regime", show_text(job, "regime", line, sizeof(line)));
    if (worst) {
        snprintf(line, sizeof(line), "rank %s on %s: %s late on average, the last in %s of the collectives",
                 text_count(get_number(worst, "rank")).s, show_text(worst, "node", node, sizeof(node)),
                 text_s(get_number(worst, "lateness_s")).s, text_percent(get_number(worst, "last_ratio")).s);
        page_figure(t, "Latest", line);
    }
}

static void figure_efficiency(struct table *t, const json_t *job)
{
    const json_t *e = get_object(job, "efficiency");
    char line[256];

    if (isnan(get_number(e, "parallel")))
        return;
    snprintf(line, sizeof(line), "%s: load balance %s x serialisation %s x transfer %s",
             text_percent(get_number(e, "parallel")).s, text_percent(get_number(e, "load_balance")).s,
             text_percent(get_number(e, "serialisation")).s, text_percent(get_number(e, "transfer")).s);
    page_figure(t, "Efficiency", line);
}

/* The ranks that come last most often: on their arrival the collectives wait. */
static void figure_critical_path(struct table *t, const json_t *job)
{
    const json_t *path = get_object(job, "critical_path"), *ranks = get_array(path, "ranks");
    char line[512], node[64];

    for (size_t i = 0; i < json_array_size(ranks) && i < WAITED_MAX; i++) {
        const json_t *rank = json_array_get(ranks, i);
        double delay_s = get_number(rank, "delay_s");
        int n = snprintf(line, sizeof(line), "rank %s on %s: last in %s of its collectives",
                         text_count(get_number(rank, "rank")).s, show_text(rank, "node", node, sizeof(node)),
                         text_percent(get_number(rank, "last_ratio")).s);

        if (!isnan(delay_s))
            snprintf(line + n, sizeof(line) - (size_t)n, ", costs the others %s a step", text_s(delay_s).s);
        page_figure(t, i ? "" : "Waits for", line);
    }
}

static void figure_projection(struct table *t, const json_t *job)
{
    const json_t *p = get_object(job, "projection");
    char line[512], text[300];

    if (!p || has_ended(job) || get_object(job, "trace"))
        return;
    show_text(p, "text", text, sizeof(text));
    snprintf(line, sizeof(line), "%s%s", text,
             get_true(p, "warning")
                 ? "; it fluctuates more widely and more slowly, as before a change of regime"
                 : "");
    page_figure(t, "Ahead", line);
}

/* The next wall, and the furthest point that is projected. */
static void figure_scaling(struct table *t, const json_t *job)
{
    const json_t *s = get_object(job, "scaling"), *points = get_array(s, "points");
    const json_t *last = json_array_get(points, json_array_size(points) - 1), *rate;
    char line[512], text[256], regime[24];

    if (!last)
        return;
    page_figure(t, "More ranks", show_text(s, "text", text, sizeof(text)));
    rate = get_object(last, "throughput_ratio");
    snprintf(line, sizeof(line), "%s ranks (%s as many): %s the throughput (%s to %s), %s",
             text_count(get_number(last, "ranks")).s, text_times(get_number(last, "factor")).s,
             text_times(get_number(rate, "p50")).s, text_times(get_number(rate, "p5")).s,
             text_times(get_number(rate, "p95")).s, show_text(last, "regime", regime, sizeof(regime)));
    page_figure(t, "", line);
}

static void put_way(struct table *t, const char *title, const json_t *way)
{
    const json_t *rate = get_object(way, "throughput_ratio");
    char line[512], name[64], reason[200];

    if (!way)
        return;
    snprintf(line, sizeof(line), "%s: %s the samples a second (%s to %s); %s",
             show_text(way, "strategy", name, sizeof(name)), text_times(get_number(rate, "p50")).s,
             text_times(get_number(rate, "p5")).s, text_times(get_number(rate, "p95")).s,
             show_text(way, "reason", reason, sizeof(reason)));
    page_figure(t, title, line);
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
    char line[512] = "", text[400];

    if (!get_object(ratios, "step"))
        return;
    page_figure(t, "Guarded", show_text(g, "text", text, sizeof(text)));
    for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
        double value = get_number(get_object(ratios, figures[i].key), "value");

        if (!isnan(value))
            snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s%s %s", *line ? ", " : "",
                     figures[i].words, text_times(value).s);
    }
    if (*line)
        page_figure(t, "", line);
}

void page_outlook(struct table *t, const json_t *job)
{
    figure_efficiency(t, job);
    figure_critical_path(t, job);
    figure_projection(t, job);
    figure_scaling(t, job);
    figure_ways(t, job);
    figure_guarded(t, job);
}

static void put_figures(const struct page *p)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", false, 0 } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));

    figure_identity(t, p->job);
    page_pace(t, p->job);
    page_time(t, p->job);
    page_outlook(t, p->job);
    page_title(p, "Figures");
    table_print(t, p->out, INDENT, p->columns);
    table_free(t);
}

/* ---- tables ---- */

static char *inside_cell(const json_t *rank, char *buf, size_t size)
{
    const json_t *inside = get_object(rank, "inside");
    double age_s = get_number(inside, "age_s");
    char op[32], comm[64];

    if (!inside)
        return show_value(NULL, buf, size);
    snprintf(buf, size, "%s %s on %s%s%s", show_text(inside, "op", op, sizeof(op)),
             text_count(get_number(inside, "seq")).s, show_text(inside, "comm", comm, sizeof(comm)),
             isnan(age_s) ? "" : " for ", isnan(age_s) ? "" : text_s(age_s).s);
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
    double total = get_number(p->job, "rank_table_total");
    size_t shown = json_array_size(get_array(p->job, "rank_table"));
    char text[128];

    if (shown == 0)
        return;
    if (isnan(total) || total < (double)shown)
        total = (double)shown;
    if (shown > PAGE_RANKS)
        shown = PAGE_RANKS;
    snprintf(text, sizeof(text),
             total > (double)shown ? "Ranks, the latest %zu of %.0f" : "Ranks, the latest first", shown,
             total);
    page_title(p, text);
    page_table(p, "rank_table", shown, column, ARRAY_SIZE(column), INDENT);
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
    size_t n = json_array_size(get_array(p->job, "communicators"));

    if (n == 0)
        return;
    page_title(p, "Communicators, the largest first");
    page_table(p, "communicators", COMMS_MAX, column, ARRAY_SIZE(column), INDENT);
    if (n > COMMS_MAX)
        page_line(p, "and %zu more", n - COMMS_MAX);
}

/* How much of the job these figures stand for: a guard that sees half of the ranks must say so. */
static void put_probe(const struct page *p)
{
    const json_t *probe = get_object(p->job, "probe");
    double guarded = get_number(probe, "ranks_guarded"), total = get_number(probe, "ranks_total");

    if (!probe)
        return;
    page_title(p, "Probe");
    page_line(p, "%s of %s ranks are guarded%s", text_count(guarded).s, text_count(total).s,
              guarded < total ? ": the others are not seen" : "");
    page_line(p, "%s collectives recorded, %s dropped (ring full), %s missed",
              text_number(get_number(probe, "events")).s, text_number(get_number(probe, "dropped")).s,
              text_number(get_number(probe, "missed")).s);
    page_line(p, "estimated cost: %s of the ranks' time",
              text_percent(get_number(probe, "overhead_ratio")).s);
}

static void put_agents(const struct page *p)
{
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

    if (json_array_size(get_array(p->job, "agents")) == 0)
        return;
    page_title(p, "Agents");
    page_table(p, "agents", SIZE_MAX, column, ARRAY_SIZE(column), INDENT);
}

static void put_events(const struct page *p)
{
    static const struct page_column column[] = { { "", .key = "age_s", .words = page_ago },
                                                 { "", .key = "text" } };

    if (json_array_size(get_array(p->job, "events")) == 0)
        return;
    page_title(p, "Events, the newest first");
    page_table(p, "events", EVENTS_MAX, column, ARRAY_SIZE(column), INDENT);
}

/* This run beside the earlier ones like it. */
static void put_past(const struct page *p)
{
    const json_t *past = get_object(p->job, "past");
    double energy = get_number(past, "energy_j_per_step"), ratio = get_number(past, "energy_ratio");
    char text[512];

    if (!json_is_string(json_object_get(past, "text")))
        return;
    page_title(p, "Similar earlier runs");
    text_wrap(p->out, show_text(past, "text", text, sizeof(text)), INDENT, p->columns);
    if (get_number(past, "reruns") > 0)
        page_line(p, "%s of the last %s starts were re-runs", text_count(get_number(past, "reruns")).s,
                  text_count(get_number(past, "starts")).s);
    if (!isnan(energy))
        page_line(p, "a step uses %s J on the nodes%s%s%s", text_number(energy).s, isnan(ratio) ? "" : ", ",
                  isnan(ratio) ? "" : text_percent(ratio).s, isnan(ratio) ? "" : " of what it did");
}

static void put_notes(const struct page *p)
{
    const json_t *notes = get_array(p->job, "notes"), *note;
    char text[1024];
    size_t i;

    if (json_array_size(notes) == 0)
        return;
    page_title(p, "Notes");
    json_array_foreach(notes, i, note)
        text_wrap(p->out, show_value(note, text, sizeof(text)), INDENT, p->columns);
}

int page_job(FILE *out, const json_t *answer, int columns, struct err *err)
{
    struct page page = { out, answer, columns };

    if (check_answer(answer, "id", JSON_STRING, err) < 0 ||
        check_answer(answer, "state", JSON_STRING, err) < 0)
        return -1;
    page_sentence(&page);
    page_put_verdicts(&page, "Verdicts (price: step time over the step time without the cause)", put_verdict);
    put_figures(&page);
    put_past(&page);
    page_checkpoint(&page);
    page_ranks(&page);
    page_communicators(&page);
    put_probe(&page);
    put_agents(&page);
    put_events(&page);
    put_notes(&page);
    return 0;
}
