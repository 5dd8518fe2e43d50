/* A job as a line of a list: its word, its state, what the worst verdict costs, the order, the filter. */
#include "report/job_line.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/tap.h"

#define HANG "\"verdicts\":[{\"class\":\"hang\",\"culprits\":[\"r9\"],\"slowdown\":null}]"
#define SLOW "\"verdicts\":[{\"class\":\"straggler\",\"culprits\":[\"n5\",\"n6\"],\"slowdown\":1.25}]"
#define JAM  "\"verdicts\":[{\"class\":\"congestion\",\"culprits\":[],\"slowdown\":1.05}]"

/* In the order of their lines. */
static const struct {
    const char *json, *tag, *state, *culprit;
    double cost;
} cases[] = {
    { "{\"state\":\"stalled\",\"age_s\":1," HANG "}", "HUNG", "stalled", "r9", 1 },
    { "{\"state\":\"stalled\",\"age_s\":1," SLOW "}", "HUNG", "stalled", "", 1 },
    { "{\"state\":\"running\",\"age_s\":1," SLOW "}", "SLOW", "running", "n5, n6", 0.2 },
    { "{\"state\":\"running\",\"age_s\":1," JAM "}", "SLOW", "running", "congestion", 1 - 1 / 1.05 },
    { "{\"state\":\"running\",\"age_s\":1,\"judged\":\"yes\"}", "OK", "running", "", NAN },
    { "{\"state\":\"running\",\"age_s\":1,\"judged\":\"early\"}", "EARLY", "running", "", NAN },
    { "{\"state\":\"finished\",\"age_s\":45," SLOW "}", "ENDED", "ended 45 s ago", "n5, n6", 0.2 },
    { "{\"state\":\"lost\",\"age_s\":185," HANG "}", "LOST", "lost 3m ago", "r9", NAN },
    { "{\"state\":\"finished\",\"age_s\":9000}", "ENDED", "ended 2h ago", "", NAN },
    { "{\"state\":\"finished\",\"age_s\":null}", "ENDED", "finished", "", NAN },
};

static struct report_row row[ARRAY_SIZE(cases)];

static void load(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *o = json_loads(cases[i].json, 0, NULL);

        report_row_read(&row[i], o);
        json_decref(o);
    }
}

static void words(void)
{
    char buf[160];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_str(job_line_tag(&row[i]), cases[i].tag, "line %zu: the word for how it is", i);
        is_str(job_line_state(&row[i], buf, sizeof(buf)), cases[i].state, "line %zu: its state", i);
        is_str(job_line_culprit(&row[i], buf, sizeof(buf)), cases[i].culprit, "line %zu: the culprit", i);
        if (isnan(cases[i].cost))
            ok(isnan(job_line_cost(&row[i])), "line %zu: what it costs is unknown", i);
        else
            is_near(job_line_cost(&row[i]), cases[i].cost, 1e-9, "line %zu: what it costs", i);
    }
}

static void order(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        for (size_t k = i + 1; k < ARRAY_SIZE(cases); k++) {
            ok(job_line_compare(&row[i], &row[k]) <= 0, "line %zu does not stand below line %zu", i, k);
            ok(job_line_compare(&row[k], &row[i]) >= 0, "line %zu does not stand above line %zu", k, i);
        }
    ok(job_line_compare(&row[5], &row[6]) < 0, "a job that runs stands above one that ended");
}

static void filters(void)
{
    static const struct {
        struct job_filter filter;
        int rows;
        const char *what;
    } wanted[] = {
        { { NULL, NAN }, 10, "nothing is filtered" },
        { { "running", NAN }, 4, "those that run" },
        { { "Ended", NAN }, 4, "those that ended, lost or not" },
        { { "finished", NAN }, 3, "those that ended in good order" },
        { { "lost", NAN }, 1, "those that were lost" },
        { { NULL, 0.1 }, 4, "what costs a tenth, a hang among them" },
        { { "running", 0.19 }, 1, "those that run and cost that much" },
        { { NULL, 0 }, 5, "any price that is known" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
        int rows = 0;

        for (size_t k = 0; k < ARRAY_SIZE(cases); k++)
            rows += job_line_wanted(&row[k], &wanted[i].filter);
        is_int(rows, wanted[i].rows, "filter: %s", wanted[i].what);
    }
}

int main(void)
{
    load();
    words();
    order();
    filters();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        report_row_free(&row[i]);
    return done_testing();
}
