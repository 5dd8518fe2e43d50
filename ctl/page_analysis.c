/* page_analysis.c - the report of a trace: what it holds, its verdicts and figures, and flaws of the
 * recording. */
#include <math.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"

/* Flaws of the recording: how far the rest can be trusted. */
static void put_flags(const struct page *p)
{
    const struct report_trace *t = &p->report->trace;
    const struct {
        int64_t n;
        const char *one, *several, *rest;
    } flags[] = {
        { t->lost, "record is", "records are", " missing" },
        { t->duplicates, "record was a duplicate", "records were duplicates", ": only the first counts" },
        { t->reordered, "record", "records", " came after newer ones of the same rank: dropped" },
        { t->backward, "record ends before it begins", "records end before they begin",
          ", as where a clock was set: dropped" },
        { t->unnamed, "record is", "records are", " of an unknown operation: only the time counts" },
        { t->beyond, "record is", "records are", " of more communicators than are followed: dropped" },
        { t->never_left, "collective was", "collectives were", " entered and never left" },
    };
    bool any = t->torn;

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        any = any || flags[i].n > 0;
    page_title(p, "Trace");
    page_line(p, PAGE_INDENT, "%s record%s of %s communicator%s, %s%s", page_count(t->records).s,
              text_plural(t->records), page_count(t->communicators).s, text_plural(t->communicators),
              text_bytes(t->bytes < 0 ? NAN : (double)t->bytes).s,
              any ? "" : "; none is missing, duplicate or out of order");
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (flags[i].n > 0)
            page_line(p, PAGE_INDENT, "%s %s%s", page_count(flags[i].n).s,
                      flags[i].n == 1 ? flags[i].one : flags[i].several, flags[i].rest);
    if (t->torn)
        page_line(p, PAGE_INDENT, "the last line is incomplete: dropped");
}

void page_of_trace(const struct page *p)
{
    const struct report_trace *t = &p->report->trace;
    struct table *figures = page_figures();
    char line[512] = "Trace";

    if (*t->job)
        text_append(line, sizeof(line), " of %s", t->job);
    text_append(line, sizeof(line), ": %s rank%s", page_count(t->ranks).s, text_plural(t->ranks));
    if (t->nodes > 0)
        text_append(line, sizeof(line), " on %s node%s", page_count(t->nodes).s, text_plural(t->nodes));
    if (t->switches > 0)
        text_append(line, sizeof(line), " below %s switch%s", page_count(t->switches).s,
                    t->switches == 1 ? "" : "es");
    if (t->size > t->ranks)
        text_append(line, sizeof(line), " (the job has %s: the others have no records)",
                    page_count(t->size).s);
    text_append(line, sizeof(line), ", %s collective%s", page_count(t->collectives).s,
                text_plural(t->collectives));
    if (!isnan(t->seconds))
        text_append(line, sizeof(line), " in %s", text_s(t->seconds).s);
    page_line(p, 0, "%s.", line);
    page_sentence(p);
    page_put_verdicts(p, "Verdicts (price: time of the whole trace over its time without the cause)");
    page_pace(figures, p);
    page_time(figures, &p->report->job);
    page_outlook(figures, p);
    page_limits(figures, &p->report->job, "have been named at the end");
    page_title(p, "Figures");
    page_put_figures(p, PAGE_INDENT, figures);
    page_ranks(p);
    page_communicators(p);
    page_updates(p);
    page_overlap(p);
    page_shortfalls(p);
    put_flags(p);
}
