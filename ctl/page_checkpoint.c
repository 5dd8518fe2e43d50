/* page_checkpoint.c - a job's checkpoints: the interval and its reasons, the figures behind it, requests and
 * their outcome. */
#include <math.h>
#include <string.h>

#include "ctl/page_parts.h"
#include "wire/json.h"

static void put_interval(const struct page *p, const json_t *c)
{
    double goodput = get_number(c, "goodput_most"), next = get_number(c, "next_due_s"),
           interval = get_number(c, "interval_s"), left = get_number(c, "limit_s");
    const json_t *perhaps = get_object(c, "perhaps");
    char text[512];

    snprintf(text, sizeof(text), "every %s of work (%.64s)", text_s(interval).s, shown(c, "reason").s);
    if (interval > left)
        text_append(text, sizeof(text), ", but the job ends in %s", text_s(left).s);
    if (!isnan(goodput))
        text_append(text, sizeof(text), ", goodput of at most %s", text_percent(goodput).s);
    if (!isnan(next))
        text_append(text, sizeof(text), next > 0 ? ", the next one in %s" : ", one is due now",
                    text_s(next).s);
    page_line(p, PAGE_INDENT, "%s", text);
    snprintf(text, sizeof(text), "a failure now would cost %s%s of work",
             !strcmp(get_word(c, "cost_source"), "program") ? "" : "at most ",
             text_s(get_number(c, "lost_work_s")).s);
    if (!isnan(get_number(c, "last_s")))
        text_append(text, sizeof(text), "; %s written, the last one %s ago",
                    text_count(get_number(c, "written")).s, text_s(get_number(c, "last_s")).s);
    else
        text_append(text, sizeof(text), "; no checkpoint is known");
    if (perhaps)
        text_append(text, sizeof(text), "; a pause of %s, %s ago, was perhaps a checkpoint",
                    text_s(get_number(perhaps, "pause_s")).s, text_s(get_number(perhaps, "age_s")).s);
    if (get_true(c, "too_late"))
        text_append(text, sizeof(text), "; the job ends before another can be written");
    page_line(p, PAGE_INDENT, "%s", text);
}

static const char *rate_source(const json_t *rate, char *buf, size_t size)
{
    const char *from = get_word(rate, "source");

    return get_string(rate, "source_text") ? show_text(rate, "source_text", buf, size)
           : !strcmp(from, "published")    ? "a published rate: this cluster has no record yet"
           : !strcmp(from, "partition")    ? "from guarded jobs of the partition"
                                           : "from guarded jobs of this cluster";
}

static void put_stands_on(const struct page *p, const json_t *c)
{
    const json_t *cost = get_object(c, "cost_s"), *rate = get_object(c, "failure_rate");
    const char *source = get_word(c, "cost_source");
    char reported[200];

    page_line(p, PAGE_INDENT, "a write costs %s (%s to %s), %s", text_s(get_number(cost, "value")).s,
              text_s(get_number(cost, "low")).s, text_s(get_number(cost, "high")).s,
              !strcmp(source, "program")  ? "as the program reports"
              : !strcmp(source, "pauses") ? "from the pauses of all ranks, which may be checkpoints"
                                          : "assumed by the policy: none was measured yet");
    page_line(p, PAGE_INDENT, "the job fails every %s: %s failures in 1000 node-days (%s to %s), %s",
              text_s(get_number(c, "mtbf_s")).s, text_number(1000 * get_number(rate, "value")).s,
              text_number(1000 * get_number(rate, "low")).s, text_number(1000 * get_number(rate, "high")).s,
              rate_source(rate, reported, sizeof(reported)));
}

static void put_requests(const struct page *p, const json_t *r)
{
    const json_t *newest = get_object(r, "newest");
    double call = get_number(newest, "call");
    char text[512];

    if (get_number(r, "asked") > 0) {
        snprintf(text, sizeof(text), "%s requests: heard by all ranks at one step %s",
                 text_count(get_number(r, "asked")).s, text_count(get_number(r, "heard")).s);
        if (get_number(r, "delivered") > 0)
            text_append(text, sizeof(text), ", by signal or file %s",
                        text_count(get_number(r, "delivered")).s);
        if (get_number(r, "failed") > 0)
            text_append(text, sizeof(text), ", failed %s", text_count(get_number(r, "failed")).s);
        if (get_number(r, "split") > 0)
            text_append(text, sizeof(text), ", heard by some ranks only %s",
                        text_count(get_number(r, "split")).s);
        page_line(p, PAGE_INDENT, "%s", text);
    }
    if (newest)
        page_line(p, PAGE_INDENT, "newest request (%s): %s%s%s, %s ago", shown(newest, "reason").s,
                  shown(newest, "state").s, isnan(call) ? "" : ", at call ",
                  isnan(call) ? "" : text_count(call).s, text_s(get_number(newest, "age_s")).s);
    if (get_string(r, "missing"))
        page_line(p, PAGE_INDENT, "requests are impossible: %s", shown(r, "missing").s);
}

/* Has the job written a checkpoint, or was it asked to? */
static bool checkpoints(const json_t *c)
{
    return get_number(c, "written") > 0 || !isnan(get_number(c, "last_s")) ||
           !strcmp(get_word(c, "cost_source"), "program") ||
           get_number(get_object(c, "requests"), "asked") > 0;
}

/* In one line: the cost of a write is a guess. */
static void put_guess(const struct page *p, const json_t *c)
{
    const json_t *perhaps = get_object(c, "perhaps");
    char pause[160] = "", source[200];

    if (perhaps)
        snprintf(pause, sizeof(pause), " (a pause of %s, %s ago, may have been one)",
                 text_s(get_number(perhaps, "pause_s")).s, text_s(get_number(perhaps, "age_s")).s);
    page_line(p, PAGE_INDENT,
              "none is known%s; an assumed cost and the failure rate (%s) give an interval of %s of work",
              pause, rate_source(get_object(c, "failure_rate"), source, sizeof(source)),
              text_s(get_number(c, "interval_s")).s);
}

void page_checkpoint(const struct page *p)
{
    const json_t *c = get_object(p->answer, "checkpoint");

    if (isnan(get_number(c, "interval_s")))
        return;
    page_title(p, "Checkpoints");
    if (!checkpoints(c)) {
        put_guess(p, c);
        return;
    }
    put_interval(p, c);
    put_stands_on(p, c);
    if (!strcmp(get_word(c, "mode"), "request") || get_number(get_object(c, "requests"), "asked") > 0)
        put_requests(p, get_object(c, "requests"));
}
