/* page_analysis.c - the report of a trace: what it holds, its verdicts and figures, and flaws of the
 * recording. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

/* "Trace of 123.0: 32 ranks on 4 nodes, 2 switches; 51200 records of 1600 collectives in 31.2 s." */
static void put_what(const struct page *p)
{
    const struct report_trace *t = &p->report->trace;
    char line[512] = "Trace";

    if (*t->job)
        text_append(line, sizeof(line), " of %s", t->job);
    text_append(line, sizeof(line), ": %s rank%s", page_count(t->ranks).s, page_plural((double)t->ranks));
    if (t->nodes > 0)
        text_append(line, sizeof(line), " on %s node%s", page_count(t->nodes).s,
                    page_plural((double)t->nodes));
    if (t->switches > 0)
        text_append(line, sizeof(line), " below %s switch%s", page_count(t->switches).s,
                    t->switches == 1 ? "" : "es");
    page_line(p, 0, "%s, %s collective%s in %s.", line, page_count(t->collectives).s,
              page_plural((double)t->collectives), text_s(t->seconds).s);
}

/* Appends when it began, when it was found, whether it is over. */
static void add_when(const struct report_verdict *v, char *buf, size_t size)
{
    if (v->since_step >= 0)
        text_append(buf, size, ", since step %s", text_count((double)v->since_step).s);
    if (v->onset_seq >= 0)
        text_append(buf, size, v->since_step < 0 ? ", since collective %s" : " (collective %s)",
                    text_count((double)v->onset_seq).s);
    if (v->found_step >= 0)
        text_append(buf, size, ", found at step %s", text_count((double)v->found_step).s);
    if (v->detected_seq >= 0)
        text_append(buf, size, v->found_step < 0 ? ", found at collective %s" : " (collective %s)",
                    text_count((double)v->detected_seq).s);
    if (v->times > 1)
        text_append(buf, size, ", %s times", text_count((double)v->times).s);
    if (!v->standing)
        text_append(buf, size, ", over %s before the end", text_s(v->over_s).s);
}

char *page_trace_verdict_head(const struct report_verdict *verdict, char *buf, size_t size)
{
    page_verdict_words(verdict, buf, size);
    page_verdict_interval(verdict, buf, size);
    add_when(verdict, buf, size);
    return buf;
}

static void put_verdict(const struct page *p, const struct report_verdict *verdict)
{
    char line[1024];

    page_trace_verdict_head(verdict, line, sizeof(line));
    page_hang(p, page_severity(report_verdict_severity(verdict)),
              isnan(verdict->slowdown) ? "  -" : text_times(verdict->slowdown).s, line);
    /* which stands at the top already */
    if (*verdict->text && strcmp(verdict->text, p->report->job.sentence) != 0)
        page_line(p, PAGE_EVIDENCE, "%s", verdict->text);
    if (*verdict->cause)
        page_line(p, PAGE_EVIDENCE, "%s", verdict->cause);
}

static void put_figures(const struct page *p)
{
    struct table *t = page_figures();

    page_pace(t, p);
    page_time(t, &p->report->job);
    page_outlook(t, p);
    page_limits(t, &p->report->job, "have been named at the end");
    page_title(p, "Figures");
    page_put_figures(p, PAGE_INDENT, t);
}

/* Flaws of the recording: how far the rest can be trusted. */
static void put_flags(const struct page *p)
{
    const struct report_trace *t = &p->report->trace;
    const struct {
        int64_t n;
        const char *words;
    } flags[] = {
        { t->lost, "records are missing" },
        { t->duplicates, "records were duplicates: only the first counts" },
        { t->reordered, "records came after newer ones of their rank: dropped" },
        { t->unnamed, "records are of an unknown operation: only their time counts" },
        { t->beyond, "records are of more communicators than are followed: dropped" },
        { t->never_left, "collectives were entered and never left" },
    };
    bool any = t->torn;

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        any = any || flags[i].n > 0;
    page_title(p, "Trace");
    page_line(p, PAGE_INDENT, "%s records of %s communicator%s, %s%s", page_count(t->records).s,
              page_count(t->communicators).s, page_plural((double)t->communicators),
              text_bytes(t->bytes < 0 ? NAN : (double)t->bytes).s,
              any ? "" : "; none is missing, duplicate or out of order");
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (flags[i].n > 0)
            page_line(p, PAGE_INDENT, "%s %s", page_count(flags[i].n).s, flags[i].words);
    if (t->torn)
        page_line(p, PAGE_INDENT, "the last line is incomplete: dropped");
}

void page_of_trace(const struct page *p)
{
    put_what(p);
    page_sentence(p);
    page_put_verdicts(p, "Verdicts (price: time of the whole trace over its time without the cause)",
                      put_verdict);
    put_figures(p);
    page_ranks(p);
    page_communicators(p);
    page_overlap(p);
    page_shortfalls(p);
    put_flags(p);
}
