/* page_analysis.c - the report of a trace: what it holds, its verdicts and figures, and flaws of the recording. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

#define INDENT 2

static const char *plural(double n)
{
    return n == 1 ? "" : "s";
}

/* "Trace of 123.0: 32 ranks on 4 nodes, 2 switches; 51200 records of 1600 collectives in 31.2 s." */
static void put_what(const struct page *p)
{
    const json_t *t = get_object(p->job, "trace");
    double ranks = get_number(t, "ranks"), nodes = get_number(t, "nodes"),
           switches = get_number(t, "switches"), collectives = get_number(t, "collectives");
    char job[80], line[512];
    int n;

    show_text(t, "job", job, sizeof(job));
    n = snprintf(line, sizeof(line), "Trace%s%s: %s rank%s", strcmp(job, "-") ? " of " : "",
                 strcmp(job, "-") ? job : "", text_count(ranks).s, plural(ranks));
    if (nodes > 0)
        n +=
            snprintf(line + n, sizeof(line) - (size_t)n, " on %s node%s", text_count(nodes).s, plural(nodes));
    if (switches > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n, " below %s switch%s", text_count(switches).s,
                      switches == 1 ? "" : "es");
    snprintf(line + n, sizeof(line) - (size_t)n, ", %s collective%s in %s.", text_count(collectives).s,
             plural(collectives), text_s(get_number(t, "seconds")).s);
    text_wrap(p->out, line, 0, p->columns);
}

/* When it began, when it was found, whether it is over. */
static void verdict_when(const json_t *verdict, char *buf, size_t size)
{
    double step = get_number(verdict, "since_step"), onset = get_number(verdict, "onset_seq"),
           detected = get_number(verdict, "detected_seq");
    int n = 0;

    if (!isnan(step))
        n += snprintf(buf + n, size - (size_t)n, ", since step %s", text_count(step).s);
    if (!isnan(onset))
        n += snprintf(buf + n, size - (size_t)n, "%s collective %s", n ? " =" : ", since",
                      text_count(onset).s);
    if (!isnan(detected))
        n += snprintf(buf + n, size - (size_t)n, ", seen at %s", text_count(detected).s);
    if (!get_true(verdict, "standing"))
        snprintf(buf + n, size - (size_t)n, ", over %s before the end",
                 text_s(get_number(verdict, "over_s")).s);
}

static void put_verdict(const struct page *p, const json_t *verdict)
{
    double price = get_number(verdict, "slowdown");
    char text[1024], line[1024], sentence[1024];
    size_t n;

    page_verdict_words(verdict, line, sizeof(line));
    n = strlen(line);
    verdict_when(verdict, line + n, sizeof(line) - n);
    text_hang(p->out, INDENT, isnan(price) ? "  -" : text_times(price).s, line, PAGE_EVIDENCE, p->columns);
    show_text(verdict, "text", text, sizeof(text));
    show_text(p->job, "sentence", sentence, sizeof(sentence));
    if (strcmp(text, "-") && strcmp(text, sentence)) /* which stands at the top already */
        text_wrap(p->out, text, PAGE_EVIDENCE, p->columns);
    if (strcmp(show_text(verdict, "cause", text, sizeof(text)), "-"))
        text_wrap(p->out, text, PAGE_EVIDENCE, p->columns);
}

static void put_figures(const struct page *p)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", false, 0 } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));
    double mds = get_number(p->job, "mds_ratio");
    char line[128];

    page_pace(t, p->job);
    page_time(t, p->job);
    page_outlook(t, p->job);
    if (!isnan(mds)) {
        snprintf(line, sizeof(line), "a rank %s slower or more would have been named at the end",
                 text_percent(mds).s);
        page_figure(t, "Sensitivity", line);
    }
    page_title(p, "Figures");
    table_print(t, p->out, INDENT, p->columns);
    table_free(t);
}

/* Flaws of the recording: how far the rest can be trusted. */
static void put_flags(const struct page *p)
{
    static const struct {
        const char *key, *words;
    } flags[] = {
        { "lost", "records are missing" },
        { "duplicates", "records were duplicates: only the first counts" },
        { "reordered", "records came after newer ones of their rank: dropped" },
        { "unnamed", "records are of an unknown operation: only their time counts" },
        { "beyond", "records are of more communicators than are followed: dropped" },
        { "never_left", "collectives were entered and never left" },
    };
    const json_t *t = get_object(p->job, "trace");
    double records = get_number(t, "records");
    bool any = get_true(t, "torn");

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        any = any || get_number(t, flags[i].key) > 0;
    page_title(p, "Trace");
    page_line(p, "%s records of %s communicator%s, %s%s", text_count(records).s,
              text_count(get_number(t, "communicators")).s, plural(get_number(t, "communicators")),
              text_bytes(get_number(t, "bytes")).s,
              any ? "" : "; none is missing, duplicate or out of order");
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        double n = get_number(t, flags[i].key);

        if (n > 0)
            page_line(p, "%s %s", text_count(n).s, flags[i].words);
    }
    if (get_true(t, "torn"))
        page_line(p, "the last line is incomplete: dropped");
}

int page_analysis(FILE *out, const json_t *answer, int columns, struct err *err)
{
    struct page page = { out, answer, columns };

    if (check_answer(answer, "trace", JSON_OBJECT, err) < 0 ||
        check_answer(answer, "verdicts", JSON_ARRAY, err) < 0)
        return -1;
    put_what(&page);
    page_sentence(&page);
    page_put_verdicts(&page, "Verdicts (price: time of the whole trace over its time without the cause)",
                      put_verdict);
    put_figures(&page);
    page_ranks(&page);
    page_communicators(&page);
    put_flags(&page);
    return 0;
}
