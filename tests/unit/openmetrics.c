/* The controller's state and its jobs as metrics: names, labels, what is unknown, and how many there may be.
 */
#include "report/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static const char status[] =
    "{\"version\":\"1.2\",\"uptime_s\":12.5,\"jobs\":2,\"agents\":3,\"ranks\":24,\"clients\":0,\"cpu_ratio\":null,\"store_full\":false,"
    "\"bounds\":{\"refused\":7}}";
static const char job[] =
    "{\"id\":\"7.0\",\"name\":\"a\\\"b\\\\c\\n\",\"user\":\"anna\",\"partition\":\"gpu\",\"policy\":{\"name\":\"balanced\"},\"ranks\":8,\"nodes\":2,\"agents_lost\":1,\"records_dropped\":12,\"steps\":41,"
    "\"step_s\":{\"p50\":0.25,\"p95\":null},\"steps_per_s\":4,\"shares\":{\"compute\":0.7,\"communication\":0.1},\"regime\":\"compute\",\"verdicts\":["
    "{\"class\":\"straggler\",\"culprits\":[\"n5\",\"n6\"],\"slowdown\":1.19},{\"class\":\"hang\",\"culprits\":[],\"slowdown\":null},"
    "{\"class\":\"jitter\",\"culprits\":[],\"slowdown\":1.04},{\"class\":\"drift\",\"culprits\":[],\"slowdown\":1.02}]}";

static char *text_of(const char *state, const char *rows, size_t max, enum openmetrics_format format)
{
    json_t *s = json_loads(state, 0, NULL), *j = json_pack("{s:o}", "jobs", json_loads(rows, 0, NULL));
    struct report_rows *jobs = report_rows_read(j, SIZE_MAX, NULL);
    struct report_status controller;
    size_t bytes = 0;
    char *text;

    report_status_read(&controller, s, NULL);
    text = openmetrics_text(&controller, jobs->job, jobs->n, max, format, &bytes);
    ok(text && strlen(text) == bytes, "openmetrics_text: the length is that of the text");
    report_status_free(&controller);
    report_rows_free(jobs);
    json_decref(s);
    json_decref(j);
    return text ? text : strdup("");
}

static bool has(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    size_t n = strlen(line);

    return at && (at == text || at[-1] == '\n') && at[n] == '\n';
}

static int samples(const char *text, const char *of)
{
    size_t of_bytes = of ? strlen(of) : 0;
    int n = 0;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        n += *line && *line != '#' && (!of || !strncmp(line, of, of_bytes));
        if (!*line)
            break;
    }
    return n;
}

static void one_job(void)
{
    char rows[2048];
    char *text;

    snprintf(rows, sizeof(rows), "[%s]", job);
    text = text_of(status, rows, 10, OPENMETRICS_1_0);
    ok(has(text, "# TYPE syncguard_job_steps counter") &&
           has(text, "syncguard_job_steps_total{job_id=\"7.0\"} 41"),
       "OpenMetrics: the family of a counter has no _total, its sample has");
    ok(has(text, "# TYPE syncguard_job info") &&
           has(text,
               "syncguard_job_info{job_id=\"7.0\",name=\"a\\\"b\\\\c?\",user=\"anna\",partition=\"gpu\",policy=\"balanced\"} 1"),
       "OpenMetrics: texts are the labels of an info, escaped, and without control characters");
    ok(has(text, "syncguard_job_step_median_seconds{job_id=\"7.0\"} 0.25") &&
           samples(text, "syncguard_job_step_p95_seconds") == 0,
       "openmetrics_text: what is null has no sample");
    ok(samples(text, "syncguard_controller_cpu_ratio") == 0 &&
           samples(text, "syncguard_steps_memory_bytes") == 0 && has(text, "syncguard_history_full 0"),
       "openmetrics_text: what the controller does not know has no sample, and false is 0");
    ok(has(text, "syncguard_job_time_ratio{job_id=\"7.0\",part=\"compute\"} 0.7") &&
           samples(text, "syncguard_job_time_ratio") == 2,
       "openmetrics_text: the shares that are known are there");
    ok(has(text,
           "syncguard_job_verdict_slowdown_ratio{job_id=\"7.0\",place=\"1\",class=\"straggler\",culprit=\"n5\"} 1.19") &&
           has(text,
               "syncguard_job_verdict_slowdown_ratio{job_id=\"7.0\",place=\"3\",class=\"jitter\",culprit=\"\"} 1.04") &&
           samples(text, "syncguard_job_verdict_slowdown_ratio") == 2,
       "openmetrics_text: of the three first verdicts those with a price are there");
    ok(has(text, "syncguard_job_hung{job_id=\"7.0\"} 1"),
       "openmetrics_text: a hang, which has no price, is there");
    ok(has(text, "syncguard_job_agents_lost{job_id=\"7.0\"} 1") &&
           has(text, "syncguard_job_records_dropped_total{job_id=\"7.0\"} 12"),
       "openmetrics_text: agents that were lost and records that were dropped are there");
    ok(has(text, "syncguard_refused_total 7"), "openmetrics_text: sums of bounds are there");
    ok(strlen(text) > 6 && !strcmp(text + strlen(text) - 6, "# EOF\n"),
       "OpenMetrics: the text ends with # EOF");
    free(text);

    text = text_of(status, rows, 10, OPENMETRICS_PROMETHEUS);
    ok(has(text, "# TYPE syncguard_job_steps_total counter") &&
           has(text, "# TYPE syncguard_job_info gauge") && !strstr(text, "# EOF"),
       "Prometheus' format: families have the names of their samples, and an info is a gauge");
    free(text);
}

static void many_jobs(void)
{
    json_t *rows = json_array();
    char id[32], *text, *list;

    for (int i = 0; i < 1200; i++) {
        json_t *row = json_loads(job, 0, NULL);

        snprintf(id, sizeof(id), "%d.0", i);
        json_object_set_new(row, "id", json_string(id));
        json_object_set_new(row, "ranks", json_integer(i));
        json_object_set_new(json_object_get(row, "shares"), "synchronisation", json_real(0.1));
        json_object_set_new(json_object_get(row, "shares"), "point_to_point", json_real(0.1));
        json_object_set_new(json_object_get(row, "step_s"), "p95", json_real(0.3));
        json_object_set_new(row, "skew_s", json_pack("{s:f}", "p50", 0.01));
        json_object_set_new(json_array_get(json_object_get(row, "verdicts"), 1), "slowdown", json_real(1.1));
        json_array_append_new(rows, row);
    }
    list = json_dumps(rows, 0);
    text = text_of(status, list, 1000, OPENMETRICS_1_0);
    ok(has(text, "syncguard_jobs_left_out 200") && samples(text, "syncguard_job_ranks") == 1000,
       "openmetrics_text: jobs beyond the bound are counted only");
    ok(has(text, "syncguard_job_ranks{job_id=\"1199.0\"} 1199") && !strstr(text, "job_id=\"199.0\""),
       "openmetrics_text: the jobs with the most ranks are written");
    is_int(samples(text, NULL) - samples(text, "syncguard_job_") <= OPENMETRICS_OWN_SERIES, 1,
           "openmetrics_text: the controller's series are within their bound");
    is_int(samples(text, "syncguard_job_"), 1000 * OPENMETRICS_JOB_SERIES,
           "openmetrics_text: a job of which everything is known has as many series as its bound");
    ok(samples(text, NULL) < 20000, "openmetrics_text: 1,000 jobs have less than 20,000 series\n%d",
       samples(text, NULL));
    free(text);
    free(list);
    json_decref(rows);
}

static void well(void)
{
    char *text = text_of(
        status, "[{\"id\":\"8.0\",\"ranks\":4,\"verdicts\":[{\"class\":\"jitter\",\"slowdown\":1.1}]}]", 10,
        OPENMETRICS_1_0);

    ok(has(text, "syncguard_job_hung{job_id=\"8.0\"} 0"), "openmetrics_text: a job without a hang has none");
    free(text);
    text = text_of(status, "[{\"id\":\"8.0\",\"ranks\":0,\"verdicts\":[]},{\"id\":\"9.0\"}]", 10,
                   OPENMETRICS_1_0);
    is_int(samples(text, "syncguard_job_hung"), 0,
           "openmetrics_text: whether a job hangs of which nothing is seen is not known");
    ok(samples(text, "syncguard_job_agents_lost") == 0 && samples(text, "syncguard_job_records_dropped") == 0,
       "openmetrics_text: what is not known of agents and records has no sample");
    free(text);
}

static void nothing(void)
{
    char *text = text_of("{}", "[]", 10, OPENMETRICS_1_0);

    ok(has(text, "syncguard_jobs_left_out 0") && samples(text, NULL) == 2,
       "openmetrics_text: of a controller of which nothing is known there is no figure");
    free(text);
}

int main(void)
{
    is_str(
        openmetrics_type(openmetrics_accepted("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")),
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "openmetrics_accepted: a scraper that reads OpenMetrics is given it");
    ok(openmetrics_accepted(NULL) == OPENMETRICS_PROMETHEUS &&
           openmetrics_accepted("*/*") == OPENMETRICS_PROMETHEUS,
       "openmetrics_accepted: others are given Prometheus' format");
    one_job();
    many_jobs();
    well();
    nothing();
    return done_testing();
}
