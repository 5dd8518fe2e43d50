/* page_checkpoint.c - a job's checkpoints: the interval and its reasons, the figures behind it, requests and
 * their outcome. */
#include <math.h>
#include <string.h>

#include "ctl/page_parts.h"

static void put_interval(const struct page *p, const struct report_cadence *c)
{
    char text[512];

    snprintf(text, sizeof(text), "every %s of work (%.64s)", text_s(c->interval_s).s, page_word(c->reason));
    if (c->interval_s > c->limit_s)
        text_append(text, sizeof(text), ", but the job ends in %s", text_s(c->limit_s).s);
    if (!isnan(c->goodput_most))
        text_append(text, sizeof(text), ", goodput of at most %s", text_percent(c->goodput_most).s);
    if (!isnan(c->next_due_s))
        text_append(text, sizeof(text), c->next_due_s > 0 ? ", the next one in %s" : ", one is due now",
                    text_s(c->next_due_s).s);
    page_line(p, PAGE_INDENT, "%s", text);
    snprintf(text, sizeof(text), "a failure now would cost %s%s of work",
             !strcmp(c->cost_source, "program") ? "" : "at most ", text_s(c->lost_work_s).s);
    if (!isnan(c->last_s))
        text_append(text, sizeof(text), "; %s written, the last one %s ago", page_count(c->written).s,
                    text_s(c->last_s).s);
    else
        text_append(text, sizeof(text), "; no checkpoint is known");
    if (c->perhaps.known)
        text_append(text, sizeof(text), "; a pause of %s, %s ago, was perhaps a checkpoint",
                    text_s(c->perhaps.pause_s).s, text_s(c->perhaps.age_s).s);
    if (c->too_late)
        text_append(text, sizeof(text), "; the job ends before another can be written");
    page_line(p, PAGE_INDENT, "%s", text);
}

static const char *rate_source(const struct report_failure_rate *rate)
{
    return *rate->source_text                   ? rate->source_text
           : !strcmp(rate->source, "published") ? "a published rate: this cluster has no record yet"
           : !strcmp(rate->source, "partition") ? "from guarded jobs of the partition"
                                                : "from guarded jobs of this cluster";
}

static void put_requests(const struct page *p, const struct report_cadence *c)
{
    const struct report_request *newest = &c->newest;
    char text[512];

    if (c->asked > 0) {
        snprintf(text, sizeof(text), "%s request%s: heard by all ranks at one step %s",
                 page_count(c->asked).s, text_plural(c->asked), page_count(c->heard).s);
        if (c->delivered > 0)
            text_append(text, sizeof(text), ", by signal or file %s", page_count(c->delivered).s);
        if (c->failed > 0)
            text_append(text, sizeof(text), ", failed %s", page_count(c->failed).s);
        if (c->split > 0)
            text_append(text, sizeof(text), ", heard by some ranks only %s", page_count(c->split).s);
        page_line(p, PAGE_INDENT, "%s", text);
    }
    if (newest->known)
        page_line(p, PAGE_INDENT, "newest request (%s): %s%s%s, %s ago", page_word(newest->reason),
                  page_word(newest->state), newest->call < 0 ? "" : ", at call ",
                  newest->call < 0 ? "" : page_count(newest->call).s, text_s(newest->age_s).s);
    if (*c->missing)
        page_line(p, PAGE_INDENT, "requests are impossible: %s", c->missing);
}

void page_checkpoint(const struct page *p)
{
    const struct report_cadence *c = &p->report->cadence;
    bool known = c->written > 0 || !isnan(c->last_s) || !strcmp(c->cost_source, "program") || c->asked > 0;
    char pause[160] = "";

    if (isnan(c->interval_s))
        return;
    page_title(p, "Checkpoints");
    if (!known) { /* neither written nor asked for: the cost of a write is a guess */
        if (c->perhaps.known)
            snprintf(pause, sizeof(pause), " (a pause of %s, %s ago, may have been one)",
                     text_s(c->perhaps.pause_s).s, text_s(c->perhaps.age_s).s);
        page_line(p, PAGE_INDENT,
                  "none is known%s; an assumed cost and the failure rate (%s) give an interval of %s of work",
                  pause, rate_source(&c->rate), text_s(c->interval_s).s);
        return;
    }
    put_interval(p, c);
    page_line(p, PAGE_INDENT, "a write costs %s (%s to %s), %s", text_s(c->cost_s.value).s,
              text_s(c->cost_s.low).s, text_s(c->cost_s.high).s,
              !strcmp(c->cost_source, "program")  ? "as the program reports"
              : !strcmp(c->cost_source, "pauses") ? "from the pauses of all ranks, which may be checkpoints"
                                                  : "assumed by the policy: none was measured yet");
    page_line(p, PAGE_INDENT, "the job fails every %s: %s failures in 1000 node-days (%s to %s), %s",
              text_s(c->mtbf_s).s, text_number(1000 * c->rate.value).s, text_number(1000 * c->rate.low).s,
              text_number(1000 * c->rate.high).s, rate_source(&c->rate));
    if (!strcmp(c->mode, "request") || c->asked > 0)
        put_requests(p, c);
}
