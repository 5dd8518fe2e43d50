#include "ctl/brief.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "ctl/page_parts.h"
#include "report/report_next.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define CULPRITS_MAX 8    /* that are named */
#define SILENT_SHOWN 4    /* nodes */
#define MISSING_S    30.0 /* within which every node's agent has connected where nothing is amiss */

/* There are more ranks than Slurm has tasks. */
#define STARTED_BESIDE "; those that mpirun starts on its own node never are: start the ranks with srun"

/* Between parts of a row. */
__attribute__((format(printf, 3, 4))) static void add_part(char *buf, size_t size, const char *fmt, ...)
{
    char part[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(part, sizeof(part), fmt, ap);
    va_end(ap);
    text_append(buf, size, "%s%s", *buf ? "; " : "", part);
}

/* Nothing can be changed any more. */
static bool has_ended(const struct report *r)
{
    return r->trace.known || !report_row_alive(&r->job);
}

/* ---- the rows ---- */

/* ", 64 ranks on 8 nodes" */
static void put_size(char *buf, size_t size, int64_t ranks, int64_t nodes)
{
    if (ranks > 0)
        text_append(buf, size, ", %s rank%s", page_count(ranks).s, text_plural(ranks));
    if (nodes > 0)
        text_append(buf, size, "%s %s node%s", ranks > 0 ? " on" : ", on", page_count(nodes).s,
                    text_plural(nodes));
}

/* "4711.0 "train-lm" of anna: running for 2h05m, 64 ranks on 8 nodes" */
static void job_text(char *buf, size_t size, const struct report_row *j)
{
    text_append(buf, size, "%s", page_word(j->id));
    if (*j->name)
        text_append(buf, size, " \"%s\"", j->name);
    if (*j->user)
        text_append(buf, size, " of %s", j->user);
    text_append(buf, size, ": %s", page_word(j->state));
    if (!report_row_alive(j)) {
        if (!isnan(j->age_s))
            text_append(buf, size, " %s ago", text_s(j->age_s).s);
        if (!isnan(j->elapsed_s))
            text_append(buf, size, ", after %s", text_s(j->elapsed_s).s);
    } else if (!isnan(j->elapsed_s)) {
        bool stalled = !strcmp(j->state, "stalled"); /* not since its start */

        text_append(buf, size, "%s %s%s", stalled ? ", started" : " for", text_s(j->elapsed_s).s,
                    stalled ? " ago" : "");
        if (!isnan(j->left_s))
            text_append(buf, size, ", %s left", text_s(j->left_s).s);
    }
    put_size(buf, size, j->ranks, j->nodes_total);
    if (j->restarts > 0)
        add_part(buf, size, "run %s of this job, the first is --run=1", page_count(j->restarts + 1).s);
}

static void trace_text(char *buf, size_t size, const struct report_trace *t)
{
    if (*t->job)
        text_append(buf, size, "of %s: ", t->job);
    text_append(buf, size, "%s", text_s(t->seconds).s);
    put_size(buf, size, t->ranks, t->nodes);
}

/* "16 % (14 to 19 %) of the step time, 1.19x, for 1m51s; another 1.02x" */
static void cost_text(char *buf, size_t size, const struct report *r, const struct report_verdict *verdict)
{
    size_t n = r->job.verdicts.n;
    struct text next = { "" };
    double price = verdict->slowdown;
    bool ended = has_ended(r);
    char share[64];

    if (n > 1 && report_verdict_is_priced(&verdict[1]))
        next = text_times(verdict[1].slowdown);
    verdict_lost(share, sizeof(share), price, verdict->slowdown_low, verdict->slowdown_high);
    if (verdict_stops(verdict->class) && !*share)
        text_append(buf, size, ended ? "nothing moved" : "nothing moves");
    else if (!*share)
        text_append(buf, size, "not known");
    else
        text_append(buf, size, "%s of the %s, %s", share, ended ? "run" : "step time", text_times(price).s);
    if (!isnan(verdict->since_s)) /* how long it has stood, or did */
        text_append(buf, size, ", for %s",
                    text_s(isnan(verdict->over_s) ? verdict->since_s : verdict->since_s - verdict->over_s).s);
    else if (!isnan(verdict->found_s) && isnan(verdict->over_s))
        text_append(buf, size, ", for at least %s", text_s(verdict->found_s).s);
    if (verdict->times > 1)
        text_append(buf, size, ", %s times", page_count(verdict->times).s);
    if (!isnan(verdict->lost_s) && *share)
        add_part(buf, size, "%s%s", text_s(verdict->lost_s).s, ended ? " in all" : " of the run so far");
    if (n == 2)
        add_part(buf, size, "another %s", *next.s ? next.s : "verdict");
    else if (n > 2)
        add_part(buf, size, "%zu others%s%s", n - 1, *next.s ? ", the next " : "", next.s);
}

/* "n5, since step 149020; rank 41 on n5 is the latest, by 8.10 ms" */
static void place_text(char *buf, size_t size, const struct report_row *j,
                       const struct report_verdict *verdict)
{
    char list[256];

    if (verdict->culprits.n)
        text_append(buf, size, "%s", json_texts_show(&verdict->culprits, CULPRITS_MAX, list, sizeof(list)));
    else
        text_append(buf, size, "no single node, rank or link");
    if (verdict->since_step >= 0)
        text_append(buf, size, ", since step %s", page_count(verdict->since_step).s);
    if (j->worst.rank >= 0 && !isnan(j->worst.lateness_s) && report_row_alive(j)) {
        add_part(buf, size, "rank %s", page_count(j->worst.rank).s);
        if (*j->worst.node)
            text_append(buf, size, " on %s", j->worst.node);
        text_append(buf, size, " is the latest, by %s", text_s(j->worst.lateness_s).s);
    }
    if (*verdict->cause)
        add_part(buf, size, "%s", verdict->cause);
}

/* "a step takes 50.1 ms, median 49.8 ms; 20.0 steps/s" */
static void pace_text(char *buf, size_t size, const struct report_row *j)
{
    if (!isnan(j->step_mean_s))
        add_part(buf, size, "a step takes %s", text_s(j->step_mean_s).s);
    if (!isnan(j->step_mean_s) && !isnan(j->step_p50_s))
        text_append(buf, size, ", median %s", text_s(j->step_p50_s).s);
    if (!isnan(j->steps_per_s))
        add_part(buf, size, "%s steps/s", text_number(j->steps_per_s).s);
    if (!isnan(j->samples_per_s))
        text_append(buf, size, ", %s samples/s", text_number(j->samples_per_s).s);
}

/* Where it is heading, unless it has ended; and the same job before. */
static void trend_text(char *buf, size_t size, const struct report *r, bool healthy)
{
    const struct report_projection *p = &r->projection;
    const struct report_past *past = &r->past;
    bool moves = !strcmp(p->trend, "rising") || !strcmp(p->trend, "falling");

    if (!has_ended(r) && *p->text && (moves || p->warning || !healthy)) {
        add_part(buf, size, "%s", p->text);
        if (p->warning)
            text_append(buf, size, ", but it fluctuates as before a change of regime");
    }
    if (!isnan(past->step_ratio) && past->runs > 0 && (past->unusual || !healthy))
        add_part(buf, size, "%s the step time of %s earlier run%s%s", text_times(past->step_ratio).s,
                 page_count(past->runs).s, text_plural(past->runs), past->unusual ? ", unusual" : "");
}

char *brief_advice(char *buf, size_t size, const struct report *r, const struct report_verdict *verdict)
{
    static const char letters[] = "0123456789._+";
    const char *job = r->job.id;
    char nodes[300], pid[24] = "";
    struct verdict_case c = { .class = verdict->class,
                              .scope = verdict->scope,
                              .two_speeds = !isnan(verdict->slow_messages_ratio),
                              .nodes = nodes,
                              .host = verdict->process.node,
                              .pid = pid };

    report_next_nodes(nodes, sizeof(nodes), verdict);
    if (verdict->process.pid > 0)
        snprintf(pid, sizeof(pid), "%lld", (long long)verdict->process.pid);
    c.job = job[strspn(job, letters)] ? "" : job;
    c.ended = has_ended(r);
    c.no_requeue = *r->job.no_requeue;
    return verdict_advice(buf, size, &c);
}

/* "n1, n2, n3, n4 and 12 more"; "" where no name is known. */
/* A node that says nothing does not say why; one whose agent is refused has left notes. */
static const char *why_missing(const struct report *r)
{
    return !report_row_alive(&r->job) || r->job.elapsed_s < MISSING_S
               ? ""
               : ", which lack the plugin, its agent, munged or the step's credential, or do not reach the controller (sgctl doctor --cluster)";
}

/* What limits all of this. */
static void seen_text(char *buf, size_t size, const struct report *r)
{
    int64_t guarded = r->probe.ranks_guarded, total = r->probe.ranks_total, lost = r->silent.number,
            nodes = r->job.nodes_total, missing = r->missing.number;
    char names[256];

    if (guarded >= 0 && guarded < total)
        add_part(buf, size, "only %s of %s ranks %s guarded%s", page_count(guarded).s, page_count(total).s,
                 guarded == 1 ? "is" : "are",
                 r->probe.tasks >= 0 && r->probe.tasks < total ? STARTED_BESIDE : "");
    if (missing > 0)
        add_part(buf, size, "nothing was heard from %s of %s node%s%s%s%s", page_count(missing).s,
                 page_count(nodes).s, text_plural(nodes), r->missing.nodes.n ? ": " : "",
                 report_silent_names(&r->missing, SILENT_SHOWN, names, sizeof(names)), why_missing(r));
    if (lost > 0)
        add_part(buf, size, "%s agent%s %s: %s", page_count(lost).s, text_plural(lost),
                 !report_row_alive(&r->job) ? "stopped reporting before the end"
                 : lost > 1                 ? "no longer report"
                                            : "no longer reports",
                 report_silent_names(&r->silent, SILENT_SHOWN, names, sizeof(names)));
    if (*r->job.unconfirmed)
        add_part(buf, size, "unconfirmed: %s; nothing acts on it", r->job.unconfirmed);
}

void brief_get(struct brief *b, const struct report *r)
{
    const struct report_verdict *verdict = report_row_told(&r->job);
    const char *const labels[] = {
        r->trace.known ? "Trace" : "Job", "Cost", "Ahead", "Place", "Pace", "Trend", "To do", "Next", "Seen"
    };
    char text[BRIEF_ROWS][1024] = { "" };

    *b = (struct brief){ .n = 0 };
    b->healthy = !r->job.verdicts.n && report_severity(r) == SEVERITY_GOOD;
    if (r->trace.known)
        trace_text(text[0], sizeof(text[0]), &r->trace);
    else
        job_text(text[0], sizeof(text[0]), &r->job);
    if (verdict) {
        cost_text(text[1], sizeof(text[1]), r, verdict);
        if (!r->trace.known)
            report_row_ahead(text[2], sizeof(text[2]), &r->job, verdict);
        place_text(text[3], sizeof(text[3]), &r->job, verdict);
        brief_advice(text[6], sizeof(text[6]), r, verdict);
        text_append(text[7], sizeof(text[7]), "%s", verdict->next);
    }
    if (!b->healthy && report_row_alive(&r->job))
        pace_text(text[4], sizeof(text[4]), &r->job);
    trend_text(text[5], sizeof(text[5]), r, b->healthy);
    seen_text(text[8], sizeof(text[8]), r);
    for (size_t i = 0; i < BRIEF_ROWS; i++) {
        struct brief_row *row = &b->row[b->n];

        if (!*text[i])
            continue;
        row->label = labels[i];
        memcpy(row->text, text[i], sizeof(row->text));
        b->n++;
    }
}
