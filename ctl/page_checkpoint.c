/* page_checkpoint.c - a job's checkpoints: the interval and its reasons, the figures behind it, requests and their
 * outcome. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

#define INDENT 2

static void line(const struct page *p, const char *text)
{
    text_wrap(p->out, text, INDENT, p->columns);
}

static void put_interval(const struct page *p, const json_t *c)
{
    double interval = get_number(c, "interval_s"), goodput = get_number(c, "goodput_most");
    double next = get_number(c, "next_due_s"), lost = get_number(c, "lost_work_s");
    const json_t *perhaps = get_object(c, "perhaps");
    char text[512], reason[32];
    int n = 0;

    show_text(c, "reason", reason, sizeof(reason));
    n += snprintf(text, sizeof(text), "every %s of work (%s)", text_s(interval).s, reason);
    if (!isnan(goodput))
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", goodput of at most %s", text_percent(goodput).s);
    if (!isnan(next))
        snprintf(text + n, sizeof(text) - (size_t)n, next > 0 ? ", the next one in %s" : ", one is due now",
                 text_s(next).s);
    line(p, text);
    n = snprintf(text, sizeof(text), "a failure now would cost %s%s of work",
                 !strcmp(get_word(c, "cost_source"), "program") ? "" : "at most ", text_s(lost).s);
    if (!isnan(get_number(c, "last_s")))
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s written, the last one %s ago",
                      text_count(get_number(c, "written")).s, text_s(get_number(c, "last_s")).s);
    else
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; no checkpoint is known");
    if (perhaps)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; a pause of %s, %s ago, was perhaps a checkpoint",
                      text_s(get_number(perhaps, "pause_s")).s, text_s(get_number(perhaps, "age_s")).s);
    if (get_true(c, "too_late"))
        snprintf(text + n, sizeof(text) - (size_t)n, "; the job ends before another can be written");
    line(p, text);
}

static const char *rate_source(const json_t *rate, char *buf, size_t size)
{
    const char *from = get_word(rate, "source");

    return json_is_string(json_object_get(rate, "source_text")) ? show_text(rate, "source_text", buf, size)
           : !strcmp(from, "published") ? "a published rate: this cluster has no record yet"
           : !strcmp(from, "partition") ? "from guarded jobs of the partition"
                                        : "from guarded jobs of this cluster";
}

static void put_stands_on(const struct page *p, const json_t *c)
{
    const json_t *cost = get_object(c, "cost_s"), *rate = get_object(c, "failure_rate");
    const char *source = get_word(c, "cost_source");
    char text[512], reported[200];

    snprintf(text, sizeof(text), "a write costs %s (%s to %s), %s", text_s(get_number(cost, "value")).s,
             text_s(get_number(cost, "low")).s, text_s(get_number(cost, "high")).s,
             !strcmp(source, "program")  ? "as the program reports"
             : !strcmp(source, "pauses") ? "from the pauses of all ranks, which may be checkpoints"
                                         : "assumed by the policy: none was measured yet");
    line(p, text);
    snprintf(text, sizeof(text), "the job fails every %s: %s failures in 1000 node-days (%s to %s), %s",
             text_s(get_number(c, "mtbf_s")).s, text_number(1000 * get_number(rate, "value")).s,
             text_number(1000 * get_number(rate, "low")).s, text_number(1000 * get_number(rate, "high")).s,
             rate_source(rate, reported, sizeof(reported)));
    line(p, text);
}

static void put_requests(const struct page *p, const json_t *r)
{
    const json_t *newest = json_object_get(r, "newest");
    double call = get_number(newest, "call");
    char text[512], reason[64], state[200], why[256];
    int n;

    if (get_number(r, "asked") > 0) {
        n = snprintf(text, sizeof(text), "%s requests: heard by all ranks at one step %s",
                     text_count(get_number(r, "asked")).s, text_count(get_number(r, "heard")).s);
        if (get_number(r, "delivered") > 0)
            n += snprintf(text + n, sizeof(text) - (size_t)n, ", by signal or file %s",
                          text_count(get_number(r, "delivered")).s);
        if (get_number(r, "failed") > 0)
            n += snprintf(text + n, sizeof(text) - (size_t)n, ", failed %s",
                          text_count(get_number(r, "failed")).s);
        if (get_number(r, "split") > 0)
            snprintf(text + n, sizeof(text) - (size_t)n, ", heard by some ranks only %s",
                     text_count(get_number(r, "split")).s);
        line(p, text);
    }
    if (json_is_object(newest)) {
        n = snprintf(text, sizeof(text), "newest request (%s): %s",
                     show_text(newest, "reason", reason, sizeof(reason)),
                     show_text(newest, "state", state, sizeof(state)));
        if (!isnan(call))
            n += snprintf(text + n, sizeof(text) - (size_t)n, ", at call %s", text_count(call).s);
        snprintf(text + n, sizeof(text) - (size_t)n, ", %s ago", text_s(get_number(newest, "age_s")).s);
        line(p, text);
    }
    if (json_is_string(json_object_get(r, "missing"))) {
        snprintf(text, sizeof(text), "requests are impossible: %s",
                 show_text(r, "missing", why, sizeof(why)));
        line(p, text);
    }
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
    page_line(p, "none is known%s; an assumed cost and the failure rate (%s) give an interval of %s of work", pause,
              rate_source(get_object(c, "failure_rate"), source, sizeof(source)), text_s(get_number(c, "interval_s")).s);
}

void page_checkpoint(const struct page *p)
{
    const json_t *c = json_object_get(p->job, "checkpoint");

    if (!json_is_object(c) || isnan(get_number(c, "interval_s")))
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
