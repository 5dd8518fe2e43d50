#include "ctl/brief.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "ctl/page_parts.h"
#include "report/verdict_words.h"
#include "wire/json.h"

#define CULPRITS_MAX 8 /* that are written into a command */
#define SILENT_SHOWN 4 /* nodes */

/* text "": no row. */
static void add_row(struct brief *b, const char *label, const char *text)
{
    struct brief_row *row = &b->row[b->n];

    if (!*text || b->n == BRIEF_ROWS)
        return;
    row->label = label;
    snprintf(row->text, sizeof(row->text), "%s", text);
    b->n++;
}

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

/* ---- the rows ---- */

/* ", 64 ranks on 8 nodes" */
static void put_size(char *buf, size_t size, double ranks, double nodes)
{
    if (ranks > 0)
        text_append(buf, size, ", %s rank%s", text_count(ranks).s, page_plural(ranks));
    if (nodes > 0)
        text_append(buf, size, "%s %s node%s", ranks > 0 ? " on" : ", on", text_count(nodes).s,
                    page_plural(nodes));
}

/* "4711.0 "train-lm" of anna: running for 2h05m, 64 ranks on 8 nodes" */
static void job_text(char *buf, size_t size, const json_t *job)
{
    double elapsed_s = get_amount(job, "elapsed_s"), age_s = get_amount(job, "age_s");
    char id[64], name[80], user[40], state[24];

    text_append(buf, size, "%s", show_text(job, "id", id, sizeof(id)));
    if (get_string(job, "name"))
        text_append(buf, size, " \"%s\"", show_text(job, "name", name, sizeof(name)));
    if (get_string(job, "user"))
        text_append(buf, size, " of %s", show_text(job, "user", user, sizeof(user)));
    text_append(buf, size, ": %s", show_text(job, "state", state, sizeof(state)));
    if (page_has_ended(job)) {
        if (!isnan(age_s))
            text_append(buf, size, " %s ago", text_s(age_s).s);
        if (!isnan(elapsed_s))
            text_append(buf, size, ", after %s", text_s(elapsed_s).s);
    } else if (!isnan(elapsed_s)) {
        bool stalled = !strcmp(state, "stalled"); /* not since its start */

        text_append(buf, size, "%s %s%s", stalled ? ", started" : " for", text_s(elapsed_s).s,
                    stalled ? " ago" : "");
    }
    put_size(buf, size, get_amount(job, "ranks"), get_amount(job, "nodes_total"));
}

static void trace_text(char *buf, size_t size, const json_t *trace)
{
    char job[80];

    if (get_string(trace, "job"))
        text_append(buf, size, "of %s: ", show_text(trace, "job", job, sizeof(job)));
    text_append(buf, size, "%s", text_s(get_amount(trace, "seconds")).s);
    put_size(buf, size, get_amount(trace, "ranks"), get_amount(trace, "nodes"));
}

/* "for 1m51s": how long a verdict has stood, or did. */
static void put_duration(char *buf, size_t size, const struct report_verdict *verdict)
{
    double since_s = verdict->since_s, found_s = verdict->found_s, over_s = verdict->over_s;

    if (!isnan(since_s))
        text_append(buf, size, ", for %s", text_s(isnan(over_s) ? since_s : since_s - over_s).s);
    else if (!isnan(found_s) && isnan(over_s))
        text_append(buf, size, ", for at least %s", text_s(found_s).s);
    if (verdict->times > 1)
        text_append(buf, size, ", %s times", text_count((double)verdict->times).s);
}

/* "16 % (14 to 19 %) of the step time, 1.19x, for 1m51s; another 1.02x" */
static void cost_text(char *buf, size_t size, const json_t *answer, const struct report_verdict *verdict,
                      size_t n)
{
    double price = verdict->slowdown, next = n > 1 ? verdict[1].slowdown : NAN;
    bool ended = page_has_ended(answer) || get_object(answer, "trace");
    char share[64];

    verdict_lost(share, sizeof(share), price, verdict->slowdown_low, verdict->slowdown_high);
    if (verdict_stops(verdict->class) && !*share)
        text_append(buf, size, ended ? "nothing moved" : "nothing moves");
    else if (!*share)
        text_append(buf, size, "not known");
    else
        text_append(buf, size, "%s of the %s, %s", share, ended ? "run" : "step time", text_times(price).s);
    put_duration(buf, size, verdict);
    if (!isnan(verdict->lost_s) && *share)
        add_part(buf, size, "%s%s", text_s(verdict->lost_s).s, ended ? " in all" : " of the run so far");
    if (n == 2)
        add_part(buf, size, "another %s", isnan(next) ? "verdict" : text_times(next).s);
    else if (n > 2)
        add_part(buf, size, "%zu others%s%s", n - 1, isnan(next) ? "" : ", the next ",
                 isnan(next) ? "" : text_times(next).s);
}

/* "n5, since step 149020; rank 41 on n5 is the latest, by 8.10 ms" */
static void place_text(char *buf, size_t size, const json_t *answer, const struct report_verdict *verdict)
{
    const json_t *worst = get_object(answer, "worst");
    double rank = get_amount(worst, "rank"), late_s = get_amount(worst, "lateness_s");
    char list[256], node[64];

    if (verdict->culprits.n)
        text_append(buf, size, "%s", json_texts_show(&verdict->culprits, CULPRITS_MAX, list, sizeof(list)));
    else
        text_append(buf, size, "no single node, rank or link");
    if (verdict->since_step >= 0)
        text_append(buf, size, ", since step %s", text_count((double)verdict->since_step).s);
    if (!isnan(rank) && !isnan(late_s) && !page_has_ended(answer)) {
        add_part(buf, size, "rank %s", text_count(rank).s);
        if (get_string(worst, "node"))
            text_append(buf, size, " on %s", show_text(worst, "node", node, sizeof(node)));
        text_append(buf, size, " is the latest, by %s", text_s(late_s).s);
    }
    if (*verdict->cause)
        add_part(buf, size, "%s", verdict->cause);
}

/* "a step takes 50.1 ms, median 49.8 ms; 20.0 steps/s" */
static void pace_text(char *buf, size_t size, const json_t *job)
{
    const json_t *step = get_object(job, "step_s");
    double mean_s = get_amount(step, "mean"), median_s = get_amount(step, "p50"),
           rate = get_amount(job, "steps_per_s"), samples = get_amount(job, "samples_per_s");

    if (!isnan(mean_s))
        add_part(buf, size, "a step takes %s", text_s(mean_s).s);
    if (!isnan(mean_s) && !isnan(median_s))
        text_append(buf, size, ", median %s", text_s(median_s).s);
    if (!isnan(rate))
        add_part(buf, size, "%s steps/s", text_number(rate).s);
    if (!isnan(samples))
        text_append(buf, size, ", %s samples/s", text_number(samples).s);
}

static bool is_trend(const json_t *projection)
{
    const char *trend = get_word(projection, "trend");

    return !strcmp(trend, "rising") || !strcmp(trend, "falling");
}

/* Where it is heading, unless it has ended; and the same job before. */
static void trend_text(char *buf, size_t size, const json_t *job, bool healthy)
{
    const json_t *projection = get_object(job, "projection"), *past = get_object(job, "past");
    double ratio = get_amount(past, "step_ratio"), runs = get_amount(past, "runs");
    bool unusual = get_true(past, "unusual");
    char text[300];

    if (!page_has_ended(job) && !get_object(job, "trace") && get_string(projection, "text") &&
        (is_trend(projection) || get_true(projection, "warning") || !healthy)) {
        add_part(buf, size, "%s", show_text(projection, "text", text, sizeof(text)));
        if (get_true(projection, "warning"))
            text_append(buf, size, ", but it fluctuates as before a change of regime");
    }
    if (!isnan(ratio) && runs > 0 && (unusual || !healthy))
        add_part(buf, size, "%s the step time of %s earlier run%s%s", text_times(ratio).s, text_count(runs).s,
                 page_plural(runs), unusual ? ", unusual" : "");
}

/* Names of nodes as a command takes them, separated by commas; "" where they are none, or not written as
 * such. */
static void nodes_of(char *buf, size_t size, const struct report_verdict *verdict)
{
    /* nothing for a shell */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    const struct json_texts *names = &verdict->culprits;

    buf[0] = '\0';
    if (strcmp(verdict->scope, "node") != 0 || names->n > CULPRITS_MAX)
        return;
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->text[i];

        if (!*name || name[strspn(name, letters)] || strlen(buf) + strlen(name) + 2 > size) {
            buf[0] = '\0';
            return;
        }
        text_append(buf, size, "%s%s", i ? "," : "", name);
    }
}

char *brief_advice(char *buf, size_t size, const json_t *answer, const struct report_verdict *verdict)
{
    static const char letters[] = "0123456789._+";
    const char *job = get_word(answer, "id");
    char nodes[300];
    struct verdict_case c = { .class = verdict->class, .scope = verdict->scope, .nodes = nodes };

    nodes_of(nodes, sizeof(nodes), verdict);
    c.job = job[strspn(job, letters)] ? "" : job;
    c.ended = page_has_ended(answer) || get_object(answer, "trace");
    c.no_requeue = get_string(answer, "no_requeue") != NULL;
    return verdict_advice(buf, size, &c);
}

/* What limits all of this. */
static void seen_text(char *buf, size_t size, const json_t *job)
{
    const json_t *probe = get_object(job, "probe"), *silent = get_object(job, "agents_silent");
    double guarded = get_amount(probe, "ranks_guarded"), total = get_amount(probe, "ranks_total"),
           lost = get_amount(silent, "number"), nodes = get_amount(job, "nodes_total"),
           heard = get_amount(job, "agents_total");
    char names[256], why[200];

    if (guarded < total)
        add_part(buf, size, "only %s of %s ranks are guarded", text_count(guarded).s, text_count(total).s);
    if (heard < nodes)
        add_part(buf, size, "nothing was heard from %s of %s nodes", text_count(nodes - heard).s,
                 text_count(nodes).s);
    if (lost > 0)
        add_part(buf, size, "%s agent%s %s: %s", text_count(lost).s, page_plural(lost),
                 page_has_ended(job) ? "stopped reporting before the end"
                 : lost > 1          ? "no longer report"
                                     : "no longer reports",
                 show_list(get_array(silent, "nodes"), SILENT_SHOWN, names, sizeof(names)));
    if (get_string(job, "unconfirmed"))
        add_part(buf, size, "unconfirmed: %s; nothing acts on it",
                 show_text(job, "unconfirmed", why, sizeof(why)));
}

void brief_get(struct brief *b, const json_t *answer)
{
    const json_t *trace = get_object(answer, "trace");
    struct report_verdicts verdicts; /* the first is what the sentence is about */
    char text[8][1024] = { "" };

    report_verdicts_read(&verdicts, answer);
    *b = (struct brief){ .n = 0 };
    b->healthy = !verdicts.n && page_severity(answer) == PAGE_GOOD;
    if (trace)
        trace_text(text[0], sizeof(text[0]), trace);
    else
        job_text(text[0], sizeof(text[0]), answer);
    if (verdicts.n) {
        cost_text(text[1], sizeof(text[1]), answer, verdicts.list, verdicts.n);
        place_text(text[2], sizeof(text[2]), answer, verdicts.list);
        brief_advice(text[5], sizeof(text[5]), answer, verdicts.list);
    }
    report_verdicts_free(&verdicts);
    if (!b->healthy && !page_has_ended(answer))
        pace_text(text[3], sizeof(text[3]), answer);
    trend_text(text[4], sizeof(text[4]), answer, b->healthy);
    seen_text(text[6], sizeof(text[6]), answer);
    add_row(b, trace ? "Trace" : "Job", text[0]);
    add_row(b, "Cost", text[1]);
    add_row(b, "Place", text[2]);
    add_row(b, "Pace", text[3]);
    add_row(b, "Trend", text[4]);
    add_row(b, "To do", text[5]);
    add_row(b, "Seen", text[6]);
}
