#include "report/job_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "report/verdict_words.h"

static bool has_verdict(const struct report_row *j, const char *class)
{
    for (size_t i = 0; i < j->verdicts.n; i++)
        if (!strcmp(j->verdicts.list[i].class, class))
            return true;
    return false;
}

const char *job_line_tag(const struct report_row *j)
{
    static const struct {
        const char *state, *tag;
    } states[] = { { "finished", "ENDED" }, { "lost", "LOST" }, { "suspended", "SUSP" } },
      judged[] = { { "early", "EARLY" }, { "partly", "PART" }, { "no", "START" } };

    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (!strcmp(j->state, states[i].state))
            return states[i].tag;
    if (has_verdict(j, "lost"))
        return "LOST";
    if (has_verdict(j, "hang") || !strcmp(j->state, "stalled"))
        return "HUNG";
    if (j->non_finite > 0)
        return "NAN";
    for (size_t i = 0; i < j->verdicts.n; i++)
        if (!j->verdicts.list[i].acknowledged)
            return "SLOW";
    if (j->verdicts.n)
        return "SEEN";
    if (!strcmp(j->state, "starting"))
        return "START";
    if (!strcmp(j->judged, "yes"))
        return "OK";
    for (size_t i = 0; i < ARRAY_SIZE(judged); i++)
        if (!strcmp(j->judged, judged[i].state))
            return judged[i].tag;
    return "?";
}

char *job_line_state(const struct report_row *j, char *buf, size_t size)
{
    struct text age = text_age(j->age_s);
    char *unit = strpbrk(age.s, "mhd"); /* its largest says enough */

    if (unit)
        unit[1] = '\0';
    if (report_row_alive(j) || isnan(j->age_s))
        snprintf(buf, size, "%s", j->state);
    else
        snprintf(buf, size, "%s %s ago", strcmp(j->state, "lost") ? "ended" : "lost", age.s);
    return buf;
}

double job_line_cost(const struct report_row *j)
{
    const struct report_verdict *worst = report_row_told(j);

    if (report_row_still(j) && (!worst || isnan(worst->slowdown)))
        return 1;
    return worst ? 1 - 1 / worst->slowdown : NAN;
}

char *job_line_culprit(const struct report_row *j, char *buf, size_t size)
{
    const struct report_verdict *worst = report_row_told(j);

    buf[0] = '\0';
    if (worst && worst->culprits.n)
        return verdict_names(buf, size, VERDICT_NAMES_CELL, &worst->culprits);
    if (worst)
        snprintf(buf, size, "%s", worst->class);
    return buf;
}

/* ---- order ---- */

static int urgency(const struct report_row *j)
{
    const char *tag = job_line_tag(j);

    if (!report_row_alive(j))
        return 0;
    if (!strcmp(tag, "HUNG") || !strcmp(tag, "LOST") || !strcmp(tag, "NAN"))
        return 100;
    return 10 + (int)report_row_severity(j);
}

/* The larger first, unknown last. */
static int compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a < b) - (a > b);
}

int job_line_compare(const struct report_row *a, const struct report_row *b)
{
    int by = urgency(b) - urgency(a);

    if (by)
        return by;
    return report_row_alive(a) ? compare(job_line_cost(a), job_line_cost(b)) : compare(-a->age_s, -b->age_s);
}

/* ---- filter ---- */

bool job_line_in_state(const struct report_row *j, const char *word)
{
    size_t n = strlen(word);

    return !strncasecmp(j->state, word, n) || (!report_row_alive(j) && !strncasecmp("ended", word, n));
}

bool job_line_wanted(const struct report_row *j, const struct job_filter *f)
{
    return (!f->state || job_line_in_state(j, f->state)) && (isnan(f->cost) || job_line_cost(j) >= f->cost);
}
