#include "ctl/page_html.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ctl/brief.h"
#include "ctl/chart.h"
#include "ctl/chart_data.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "report/markup.h"
#include "report/step_svg.h"
#include "wire/json.h"

#define PRE_COLUMNS 100 /* of the report in words */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char style[] =
    "<style>\n"
    ":root{--paper:#fff;--text:#1b1f24;--dim:#5f6875;--grid:#dfe3e8;--line:#2f6fdd;--good:#1a7f4b;--warn:#b7791f;--bad:#c92a2a;"
    "--s0:#5b8def;--s1:#d9941a;--s2:#c2255c;--s3:#8a63d2}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171c;--text:#e6e8eb;--dim:#9aa3af;--grid:#2b313a;--line:#7aa7ff;--good:#56c98c;--warn:#e0a84a;"
    "--bad:#ff7b72;--s0:#4a78d0;--s1:#d9941a;--s2:#e0588a;--s3:#a98be8}}\n"
    "body{margin:0;background:var(--paper);color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:24px}\n"
    "h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2.4em 0 .6em;border-bottom:1px solid var(--grid)}h3{font-size:1rem;margin:1.6em 0 .2em}\n"
    "p.dim,figcaption{color:var(--dim);font-size:.9rem}\n"
    ".sentence{font-size:1.15rem;border-left:5px solid var(--dim);padding-left:.7em;margin:1.2em 0}\n"
    "p.good{border-color:var(--good)}p.warn{border-color:var(--warn)}p.bad{border-color:var(--bad)}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em 1.2em;margin:0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
    "ol{padding-left:1.4em}li{margin:.8em 0}li p{margin:.1em 0}strong.warn{color:var(--warn)}strong.bad{color:var(--bad)}\n"
    "figure{margin:0 0 1.6em}pre{overflow-x:auto;font-size:.8rem;line-height:1.35}summary{cursor:pointer}\n"
    "svg.step{width:100%;height:auto}\n"
    /* smaller than that nobody could read them: they scroll, what is over time from its end */
    "@media screen and (max-width:60rem){main{padding:16px}figure{overflow-x:auto}figure.time{direction:rtl}figure.time>*{direction:ltr}"
    "svg.step,.chart{min-width:56rem}}\n";

struct html {
    FILE *out;
    const struct report *report; /* of it */
    const char *id;              /* of the job */
    bool ended;
    const char *until; /* what ages are before */
    double length_s;   /* of the run */
};

static const char *class_of(enum severity s)
{
    static const char *const names[] = { "plain", "good", "warn", "bad" };

    return names[s];
}

__attribute__((format(printf, 3, 4))) static void put_element(const struct html *h, const char *tag,
                                                              const char *fmt, ...)
{
    char text[2200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(h->out, "<%s>", tag);
    markup_text(h->out, text);
    fprintf(h->out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

static void begin_section(const struct html *h, const char *id, const char *title)
{
    fprintf(h->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

static void end_section(const struct html *h)
{
    fputs("</section>\n", h->out);
}

static void put_not_measured(const struct html *h, const char *what)
{
    put_element(h, "p class=\"dim\"", "Not measured: %s.", what);
}

/* ---- what it is ---- */

static void put_title(const struct html *h, const char *tag)
{
    const struct report *r = h->report;

    if (r->trace.known)
        put_element(h, tag, "Trace of %s", page_word(h->id));
    else if (*r->job.name)
        put_element(h, tag, "Job %s \"%s\"", page_word(h->id), r->job.name);
    else
        put_element(h, tag, "Job %s", page_word(h->id));
}

/* The time up to which it is: nothing that is reported is younger. */
static void put_time(const struct html *h)
{
    double at_s = h->report->job.start + h->report->job.elapsed_s;
    char text[40];
    struct tm tm;
    time_t at;

    if (!(at_s >= 0 && at_s < 1e11))
        return;
    at = (time_t)at_s;
    if (gmtime_r(&at, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm))
        put_element(
            h, "p class=\"dim\"",
            h->ended ? "Ended %s UTC. Reported by SyncGuard." : "As of %s UTC. Reported by SyncGuard.", text);
}

static void put_brief(const struct html *h)
{
    struct brief *b = xcalloc(1, sizeof(*b));
    const char *sentence = h->report->job.sentence;

    brief_get(b, h->report);
    fprintf(h->out, "<p class=\"sentence %s\">", class_of(report_severity(h->report)));
    markup_text(h->out, *sentence ? sentence : "Nothing can be said about it yet.");
    fputs("</p>\n<dl>\n", h->out);
    for (size_t i = 0; i < b->n; i++) {
        put_element(h, "dt", "%s", b->row[i].label);
        put_element(h, "dd", "%s", b->row[i].text);
    }
    fputs("</dl>\n", h->out);
    free(b);
}

/* ---- verdicts ---- */

static void put_verdict(const struct html *h, const struct report_verdict *verdict)
{
    double price = verdict->slowdown;
    char text[1024], advice[400];

    page_verdict_head(h->report, verdict, text, sizeof(text));
    fprintf(h->out, "<li><strong class=\"%s\">", class_of(report_verdict_severity(verdict)));
    markup_text(h->out, isnan(price) ? "no price" : text_times(price).s);
    fputs("</strong> ", h->out);
    markup_text(h->out, text);
    fputc('\n', h->out);
    if (*verdict->text)
        put_element(h, "p", "%s", verdict->text);
    if (*verdict->cause)
        put_element(h, "p", "Likely cause: %s", verdict->cause);
    if (*brief_advice(advice, sizeof(advice), h->report, verdict))
        put_element(h, "p", "To do: %s", advice);
    if (*verdict->next) {
        fputs("<p>next: <code>", h->out);
        markup_text(h->out, verdict->next);
        fputs("</code></p>\n", h->out);
    }
    fputs("</li>\n", h->out);
}

static void put_verdicts(const struct html *h)
{
    struct chart_band band[CHART_BANDS_MAX];
    const struct report_verdicts *verdicts = &h->report->job.verdicts;
    size_t n = verdicts->n;

    begin_section(h, "verdicts", "Verdicts");
    fputs(n ? "<p class=\"dim\">The price is the time over the time without the cause.</p>\n<ol>\n" : "",
          h->out);
    for (size_t i = 0; i < n; i++)
        put_verdict(h, &verdicts->list[i]);
    fputs(n ? "</ol>\n" : h->ended ? "<p>None was raised.</p>\n" : "<p>None stands.</p>\n", h->out);
    n = chart_data_bands(band, &h->report->timeline);
    if (n && h->length_s > 0) {
        fputs("<figure class=\"time\">\n", h->out);
        chart_bands_put(h->out, "When each verdict held", band, n, h->length_s, h->until);
        put_element(h, "figcaption",
                    "When each verdict of the run held, over its %s; prices are those of the whole run.",
                    text_s(h->length_s).s);
        fputs("</figure>\n", h->out);
    }
    end_section(h);
}

/* ---- over time ---- */

/* Figures that are shown over time. */
static const struct course {
    const char *id, *title, *name, *what, *each, *lacking;
    bool share, past;    /* past: beside that of similar earlier runs */
    size_t columns, run; /* series in struct report_history; run 0: there is none */
} courses[] = {
    { "step-time", "Step time", "Step time over the run", "step time", "Mean step time",
      "no step time is known", .past = true, .columns = offsetof(struct report_history, step_s),
      .run = offsetof(struct report_history, run.step_s) },
    { "waiting", "Waiting", "Share of the ranks' time spent waiting", "waiting for a later rank",
      "Share of the ranks' time", "it is not known how long ranks wait for one another", .share = true,
      .columns = offsetof(struct report_history, synchronisation_ratio),
      .run = offsetof(struct report_history, run.synchronisation_ratio) },
    { "skew", "Skew: from the first to the last arrival at a collective", "Skew over time", "skew",
      "Mean skew", "no skew is known", .columns = offsetof(struct report_history, skew_s) },
};

/* A figure, its range in words; false: nothing is known. */
static bool put_curve(const struct html *h, const struct chart_lines *c, const char *each, const char *beyond)
{
    double low, high;
    size_t known = chart_lines_range(c, &low, &high);

    if (!known)
        return false;
    fputs("<figure class=\"time\">\n", h->out);
    chart_lines_put(h->out, c);
    put_element(h, "figcaption", "%s of each %s, %zu of them: %s to %s. %s%s", each, text_s(c->width_s).s,
                known, c->share ? text_percent(low).s : text_s(low).s,
                c->share ? text_percent(high).s : text_s(high).s,
                c->n_bands ? "Shaded: a verdict holds. " : "", beyond);
    fputs("</figure>\n", h->out);
    return true;
}

/* A figure as a section: over the run as far as it is kept, and over the newest columns where these show more
 * of it. */
static void put_course(const struct html *h, const struct course *s)
{
    const struct report_history *history = &h->report->history;
    const struct json_series *columns = (const void *)((const char *)history + s->columns),
                             *run = (const void *)((const char *)history + s->run);
    struct chart_lines *c = xcalloc(1, sizeof(*c));
    double columns_s, longest_s;
    const char *beyond;
    bool any = false, longer;

    *c = (struct chart_lines){
        .name = s->name, .what = s->what, .until = h->until, .share = s->share, .mark = NAN
    };
    c->n_bands = chart_data_bands(c->band, &h->report->timeline);
    begin_section(h, s->id, s->title);
    if (s->past)
        chart_data_past(c, &h->report->past);
    columns_s = chart_data_columns(c, history->column_s, columns) ? chart_lines_span_s(c) : 0;
    longer = s->run && chart_data_run(c, &history->run, run) && chart_lines_span_s(c) > 1.2 * columns_s;
    longest_s = longer ? chart_lines_span_s(c) : columns_s;
    beyond = longest_s < 0.95 * h->length_s ? "What was before is not kept." : "";
    if (longer)
        any = put_curve(h, c, s->each, beyond);
    if (chart_data_columns(c, history->column_s, columns))
        any |= put_curve(h, c, s->each, longer ? "The newest part of the run." : beyond);
    if (!any)
        put_not_measured(h, s->lacking);
    end_section(h);
    free(c);
}

static void put_shares(const struct html *h)
{
    const double *ratio = h->report->job.share;
    const struct chart_share share[] = { { "compute", ratio[SHARE_COMPUTE] },
                                         { "communication", ratio[SHARE_COMMUNICATION] },
                                         { "synchronisation", ratio[SHARE_SYNCHRONISATION] },
                                         { "point-to-point", ratio[SHARE_P2P] } };
    bool any = false;

    for (size_t i = 0; i < ARRAY_SIZE(share); i++)
        any |= !isnan(share[i].ratio);
    begin_section(h, "shares", "Where the ranks' time goes");
    if (any) {
        fputs("<figure>\n", h->out);
        chart_shares_put(h->out, "Shares of the ranks' time", share, ARRAY_SIZE(share));
        put_element(
            h, "figcaption",
            "Shares of the time of all ranks, %s. Synchronisation is waiting in collectives for a later rank.",
            h->ended ? "at the end" : "now");
        fputs("</figure>\n", h->out);
    } else {
        put_not_measured(h, "it is not known what the ranks' time is spent on");
    }
    end_section(h);
}

static void put_map(const struct html *h)
{
    struct chart_map *c = xcalloc(1, sizeof(*c));
    size_t per, ranks;

    *c = (struct chart_map){ .name = "Lateness of ranks over time", .what = "ranks", .until = h->until };
    per = chart_data_map(c, h->report, &ranks);
    begin_section(h, "lateness", "Lateness of ranks");
    if (per) {
        fputs("<figure class=\"time\">\n", h->out);
        chart_map_put(h->out, c);
        put_element(h, "figcaption", "How late ranks came to the collectives, on average in each %s. %s%s",
                    text_s(c->column_s).s,
                    per > 1 ? "A row is the latest of the ranks that it stands for. " : "A row is a rank. ",
                    h->report->rank_total > (int64_t)ranks ? "Only the latest ranks of the job are kept."
                                                           : "");
        fputs("</figure>\n", h->out);
    } else {
        put_not_measured(h, "no rank's lateness over time is known");
    }
    end_section(h);
    free(c);
}

/* ---- the rest ---- */

static void put_step(const struct html *h)
{
    const struct picture *p = h->report->picture;

    begin_section(h, "step", "The newest step, drawn");
    if (p) {
        fputs("<figure>\n", h->out);
        step_svg_print(h->out, p, page_word(h->id));
        put_element(
            h, "figcaption",
            "Ranks down, time across. Ranks on the critical path are shown, one of each role, and the slowest.");
        fputs("</figure>\n", h->out);
    } else {
        put_not_measured(h, "no step is known");
    }
    end_section(h);
}

/* Of a job whose workers do not wait for one another; of others there is no such section. */
static void put_updates(const struct html *h)
{
    const struct report_updates *u = &h->report->updates;
    char *text = NULL;
    size_t size;
    FILE *out;

    if (!u->known)
        return;
    out = open_memstream(&text, &size);
    if (!out)
        abort();
    page_updates(&(struct page){ .out = out, .report = h->report, .form = { .columns = PRE_COLUMNS } });
    fclose(out);
    begin_section(h, "staleness", "Staleness of updates");
    if (*u->text)
        put_element(h, "p", "%c%s.", toupper((unsigned char)u->text[0]), page_word(u->text + 1));
    else
        put_not_measured(h, "it is not known yet how stale updates are");
    fputs("<pre>", h->out);
    markup_text(h->out, text);
    fputs("</pre>\n", h->out);
    end_section(h);
    free(text);
}

static void put_words(const struct html *h)
{
    struct page_form form = { .columns = PRE_COLUMNS };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    page_report(out, h->report, form);
    fclose(out);
    begin_section(h, "words", "The whole report");
    fputs("<details>\n<summary>All figures and tables, in words</summary>\n<pre>", h->out);
    markup_text(h->out, text);
    fputs("</pre>\n</details>\n", h->out);
    end_section(h);
    free(text);
}

void page_html(FILE *out, const struct report *r)
{
    bool ended = r->trace.known || !report_row_alive(&r->job);
    struct html h = { .out = out,
                      .report = r,
                      .id = r->trace.known ? r->trace.job : r->job.id,
                      .ended = ended,
                      .until = ended ? "the end" : "now",
                      .length_s = r->trace.known ? r->trace.seconds : r->job.elapsed_s };

    fputs(head, out);
    put_title(&h, "title");
    fputs(style, out);
    fputs(chart_style, out);
    fputs("</style>\n</head>\n<body>\n", out);
    fputs(chart_defs, out);
    fputs("<main>\n<header>\n", out);
    put_title(&h, "h1");
    put_time(&h);
    put_brief(&h);
    fputs("</header>\n", out);
    put_verdicts(&h);
    for (size_t i = 0; i < ARRAY_SIZE(courses); i++)
        put_course(&h, &courses[i]);
    put_updates(&h);
    put_map(&h);
    put_shares(&h);
    put_step(&h);
    put_words(&h);
    fputs("</main>\n</body>\n</html>\n", out);
}
