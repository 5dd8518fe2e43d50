/* page_analysis.c - a judged trace: what it is, who held it back and since when, and what to doubt. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "ctl/page.h"
#include "ctl/page_parts.h"
#include "wire/json.h"

#define INDENT 2
#define WIDE   9 /* of a price and what follows it */

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

/* "straggler: node n4" */
static int verdict_head(const json_t *verdict, char *buf, size_t size)
{
    const json_t *culprits = get_array(verdict, "culprits");
    char class[32], scope[32], names[256];
    int n = snprintf(buf, size, "%s", show_text(verdict, "class", class, sizeof(class)));

    if (json_array_size(culprits))
        n += snprintf(buf + n, size - (size_t)n, ": %s%s %s",
                      show_text(verdict, "scope", scope, sizeof(scope)),
                      json_array_size(culprits) > 1 ? (strcmp(scope, "switch") ? "s" : "es") : "",
                      show_list(culprits, 8, names, sizeof(names)));
    return n;
}

/* When it began, when it was seen, whether it is over: by the counts that a trace has. */
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

    n = (size_t)snprintf(line, sizeof(line), "%-*s", WIDE - INDENT,
                         isnan(price) ? "  -" : text_times(price).s);
    n += (size_t)verdict_head(verdict, line + n, sizeof(line) - n);
    verdict_when(verdict, line + n, sizeof(line) - n);
    fprintf(p->out, "%*s%s\n", INDENT, "", line);
    show_text(verdict, "text", text, sizeof(text));
    show_text(p->job, "sentence", sentence, sizeof(sentence));
    if (strcmp(text, "-") && strcmp(text, sentence)) /* which stands at the top already */
        text_wrap(p->out, text, WIDE, p->columns);
    if (strcmp(show_text(verdict, "cause", text, sizeof(text)), "-"))
        text_wrap(p->out, text, WIDE, p->columns);
}

static void put_verdicts(const struct page *p)
{
    const json_t *verdicts = get_array(p->job, "verdicts"), *verdict;
    size_t i;

    if (json_array_size(verdicts) == 0)
        return;
    page_title(p, "Verdicts (price: time of the whole trace over its time without the cause)");
    json_array_foreach(verdicts, i, verdict)
        put_verdict(p, verdict);
}

static void put_figures(const struct page *p)
{
    static const struct table_column layout[] = { { "", false }, { "", false } };
    struct table *t = table_new(layout, ARRAY_SIZE(layout));
    double mds = get_number(p->job, "mds_ratio");
    char line[128];

    page_pace(t, p->job);
    page_time(t, p->job);
    page_outlook(t, p->job);
    if (!isnan(mds)) {
        snprintf(line, sizeof(line), "%s of a rank's work would have been named at the end",
                 text_percent(mds).s);
        page_figure(t, "Smallest", line);
    }
    page_title(p, "Figures");
    table_print(t, p->out, INDENT);
    table_free(t);
}

/* What was flagged while reading: how far the rest can be trusted. */
static void put_flags(const struct page *p)
{
    static const struct {
        const char *key, *words;
    } flags[] = {
        { "lost", "records are missing" },
        { "duplicates", "records were told twice: the first was taken" },
        { "reordered", "records came after newer ones of their rank: dropped" },
        { "unnamed", "records are of an operation that is not known: only their time counts" },
        { "beyond", "records are of communicators beyond the limit: dropped" },
        { "never_left", "collectives were entered and never left" },
    };
    const json_t *t = get_object(p->job, "trace");
    double records = get_number(t, "records");
    bool any = get_true(t, "torn");

    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        any = any || get_number(t, flags[i].key) > 0;
    page_title(p, "Trace");
    fprintf(p->out, "%*s%s records of %s communicator%s, %s%s\n", INDENT, "", text_count(records).s,
            text_count(get_number(t, "communicators")).s, plural(get_number(t, "communicators")),
            text_bytes(get_number(t, "bytes")).s, any ? "" : "; nothing is missing, twice or out of order");
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
        double n = get_number(t, flags[i].key);

        if (n > 0)
            fprintf(p->out, "%*s%s %s\n", INDENT, "", text_count(n).s, flags[i].words);
    }
    if (get_true(t, "torn"))
        fprintf(p->out, "%*sthe last line is torn: dropped\n", INDENT, "");
}

int page_analysis(FILE *out, const json_t *answer, int columns, struct err *err)
{
    struct page page = { out, answer, columns };

    if (check_answer(answer, "trace", JSON_OBJECT, err) < 0 ||
        check_answer(answer, "verdicts", JSON_ARRAY, err) < 0)
        return -1;
    put_what(&page);
    page_sentence(&page);
    put_verdicts(&page);
    put_figures(&page);
    page_ranks(&page);
    page_communicators(&page);
    put_flags(&page);
    return 0;
}
