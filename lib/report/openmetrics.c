#include "report/openmetrics.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define PREFIX     "syncguard_"
#define VALUE_SIZE 256 /* of a label, cut beyond it */

enum kind { GAUGE, COUNTER, INFO };

/* A family and where its samples are in a row. */
struct family {
    const char *name, *help;
    enum kind kind;
    const char *object, *key;  /* object NULL: the key is the row's own */
    const char *label, *value; /* one more label of a fixed value; NULL: none */
};

/* Those of one name stand together. */
static const struct family of_controller[] = {
    { "controller_uptime_seconds", "Time since the controller was started.", GAUGE, NULL, "uptime_s", NULL,
      NULL },
    { "controller_cpu_ratio", "Share of a core that the controller uses.", GAUGE, NULL, "cpu_ratio", NULL,
      NULL },
    { "controller_resident_bytes", "Memory of the controller.", GAUGE, NULL, "rss_bytes", NULL, NULL },
    { "controller_batches_per_second", "Batches of telemetry that arrive per second.", GAUGE, NULL,
      "batches_per_s", NULL, NULL },
    { "jobs", "Guarded job steps that run.", GAUGE, NULL, "jobs", NULL, NULL },
    { "agents", "Agents that are connected.", GAUGE, NULL, "agents", NULL, NULL },
    { "ranks", "Ranks of guarded job steps that run.", GAUGE, NULL, "ranks", NULL, NULL },
    { "terminals", "Terminals that are connected.", GAUGE, NULL, "clients", NULL, NULL },
    { "history_bytes", "Size of the history.", GAUGE, NULL, "store_bytes", NULL, NULL },
    { "history_max_bytes", "Size that the history may have (HistorySize).", GAUGE, NULL, "store_max_bytes",
      NULL, NULL },
    { "history_full", "1 where nothing is added to the history for want of space.", GAUGE, NULL, "store_full",
      NULL, NULL },
    { "steps_memory_bytes", "Memory of all guarded steps.", GAUGE, "bounds", "steps_bytes", NULL, NULL },
    { "steps_memory_max_bytes", "Memory that all guarded steps may have (Memory).", GAUGE, "bounds",
      "memory_bytes", NULL, NULL },
    { "refused", "Connections and steps that bounds refused.", COUNTER, "bounds", "refused", NULL, NULL },
    { "frames_left_out",
      "Frames that were left out because a user's steps took too much of the controller's time.", COUNTER,
      "bounds", "left_out", NULL, NULL },
};

#define SHARE "job_time_ratio", "Share of the ranks' time."
static const struct family of_job[] = {
    { "job_ranks", "Ranks that run.", GAUGE, NULL, "ranks", NULL, NULL },
    { "job_nodes", "Nodes that the controller knows of.", GAUGE, NULL, "nodes", NULL, NULL },
    { "job_steps", "Steps of the program.", COUNTER, NULL, "steps", NULL, NULL },
    { "job_steps_per_second", "Pace of the newest steps.", GAUGE, NULL, "steps_per_s", NULL, NULL },
    { "job_step_median_seconds", "Median time of the newest steps.", GAUGE, "step_s", "p50", NULL, NULL },
    { "job_step_p95_seconds", "95th percentile of the time of the newest steps.", GAUGE, "step_s", "p95",
      NULL, NULL },
    { "job_skew_median_seconds", "Median time between the first and the last rank to arrive.", GAUGE,
      "skew_s", "p50", NULL, NULL },
    { SHARE, GAUGE, "shares", "compute", "part", "compute" },
    { SHARE, GAUGE, "shares", "communication", "part", "communication" },
    { SHARE, GAUGE, "shares", "synchronisation", "part", "synchronisation" },
    { SHARE, GAUGE, "shares", "point_to_point", "part", "point_to_point" },
};

struct writer {
    FILE *out;
    enum openmetrics_format format;
};

enum openmetrics_format openmetrics_accepted(const char *accept)
{
    return accept && strstr(accept, "application/openmetrics-text") ? OPENMETRICS_1_0
                                                                    : OPENMETRICS_PROMETHEUS;
}

const char *openmetrics_type(enum openmetrics_format format)
{
    return format == OPENMETRICS_1_0 ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                     : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- the formats ---- */

static const char *suffix(enum kind kind)
{
    return kind == COUNTER ? "_total" : kind == INFO ? "_info" : "";
}

static void family(const struct writer *w, const char *name, enum kind kind, const char *help)
{
    static const char *const types[] = { "gauge", "counter", "info" };
    bool plain = w->format == OPENMETRICS_PROMETHEUS;
    const char *end = plain ? suffix(kind) : "";

    fprintf(w->out, "# HELP " PREFIX "%s%s %s\n# TYPE " PREFIX "%s%s %s\n", name, end, help, name, end,
            plain && kind == INFO ? "gauge" : types[kind]);
}

/* Escaped as both formats want it; job names are their users' to choose. */
static void label(const struct writer *w, char before, const char *name, const char *value)
{
    char clean[VALUE_SIZE];

    utf8_clean(clean, sizeof(clean), value);
    fprintf(w->out, "%c%s=\"", before, name);
    for (const char *c = clean; *c; c++)
        fprintf(w->out, *c == '\\' || *c == '"' ? "\\%c" : "%c", *c);
    fputc('"', w->out);
}

static void number(const struct writer *w, double value)
{
    if (value == floor(value) && fabs(value) < 1e15)
        fprintf(w->out, " %.0f\n", value);
    else
        fprintf(w->out, " %.9g\n", value);
}

/* NaN: unknown. */
static double value_of(const json_t *row, const char *object, const char *key)
{
    const json_t *o = object ? json_object_get(row, object) : row, *v = json_object_get(o, key);

    return json_is_number(v) ? json_number_value(v) : json_is_boolean(v) ? json_is_true(v) : NAN;
}

static void sample(const struct writer *w, const struct family *f, const json_t *row, const char *job)
{
    double value = value_of(row, f->object, f->key);
    char before = '{';

    if (!isfinite(value))
        return;
    fprintf(w->out, PREFIX "%s%s", f->name, suffix(f->kind));
    if (job) {
        label(w, before, "job", job);
        before = ',';
    }
    if (f->label) {
        label(w, before, f->label, f->value);
        before = ',';
    }
    if (before == ',')
        fputc('}', w->out);
    number(w, value);
}

/* ---- what there is to say ---- */

static void write_controller(const struct writer *w, const json_t *status)
{
    family(w, "build", INFO, "The controller's version.");
    fprintf(w->out, PREFIX "build_info");
    label(w, '{', "version", get_word(status, "version"));
    fputs("} 1\n", w->out);
    for (size_t i = 0; i < ARRAY_SIZE(of_controller); i++) {
        const struct family *f = &of_controller[i];

        if (!isfinite(value_of(status, f->object, f->key)))
            continue;
        family(w, f->name, f->kind, f->help);
        sample(w, f, status, NULL);
    }
}

/* Texts of a job, as labels of one sample that is always 1. */
static void write_info(const struct writer *w, const json_t *const *rows, size_t n)
{
    static const char *const keys[] = { "name", "user", "partition" };

    family(w, "job", INFO, "What is known of a guarded job step.");
    for (size_t i = 0; i < n; i++) {
        fputs(PREFIX "job_info", w->out);
        label(w, '{', "job", get_word(rows[i], "id"));
        for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
            label(w, ',', keys[k], get_word(rows[i], keys[k]));
        label(w, ',', "policy", get_word(json_object_get(rows[i], "policy"), "name"));
        fputs("} 1\n", w->out);
    }
}

static void write_regime(const struct writer *w, const json_t *const *rows, size_t n)
{
    family(w, "job_regime", GAUGE, "1 for the regime that the job is in.");
    for (size_t i = 0; i < n; i++) {
        const char *regime = get_word(rows[i], "regime");

        if (!*regime)
            continue;
        fputs(PREFIX "job_regime", w->out);
        label(w, '{', "job", get_word(rows[i], "id"));
        label(w, ',', "regime", regime);
        fputs("} 1\n", w->out);
    }
}

static void write_verdict(const struct writer *w, const char *job, const json_t *verdict, size_t place)
{
    const char *culprit = json_string_value(json_array_get(json_object_get(verdict, "culprits"), 0));
    double slowdown = value_of(verdict, NULL, "slowdown");
    char nth[16];

    if (!isfinite(slowdown))
        return;
    snprintf(nth, sizeof(nth), "%zu", place);
    fputs(PREFIX "job_verdict_slowdown_ratio", w->out);
    label(w, '{', "job", job);
    label(w, ',', "place", nth);
    label(w, ',', "class", get_word(verdict, "class"));
    label(w, ',', "culprit", culprit ? culprit : "");
    fputc('}', w->out);
    number(w, slowdown);
}

static void write_verdicts(const struct writer *w, const json_t *const *rows, size_t n)
{
    family(
        w, "job_verdict_slowdown_ratio", GAUGE,
        "Time of a step over what it would be without the cause; the most costly causes, the first of their culprits.");
    for (size_t i = 0; i < n; i++) {
        const json_t *list = json_object_get(rows[i], "verdicts");

        for (size_t k = 0; k < json_array_size(list) && k < OPENMETRICS_VERDICTS_MAX; k++)
            write_verdict(w, get_word(rows[i], "id"), json_array_get(list, k), k + 1);
    }
}

static void write_jobs(const struct writer *w, const json_t *const *rows, size_t n)
{
    const char *before = "";

    write_info(w, rows, n);
    for (size_t f = 0; f < ARRAY_SIZE(of_job); f++) {
        /* The parts of a share are one family: its samples stand together, whatever the job. */
        if (strcmp(before, of_job[f].name) != 0)
            family(w, of_job[f].name, of_job[f].kind, of_job[f].help);
        before = of_job[f].name;
        for (size_t i = 0; i < n; i++)
            sample(w, &of_job[f], rows[i], get_word(rows[i], "id"));
    }
    write_regime(w, rows, n);
    write_verdicts(w, rows, n);
}

static int by_ranks(const void *a, const void *b)
{
    double of_a = value_of(*(const json_t *const *)a, NULL, "ranks"),
           of_b = value_of(*(const json_t *const *)b, NULL, "ranks");
    int order = (of_b > of_a) - (of_b < of_a);

    return order
               ? order
               : strcmp(get_word(*(const json_t *const *)a, "id"), get_word(*(const json_t *const *)b, "id"));
}

char *openmetrics_text(const json_t *status, const json_t *jobs, size_t jobs_max,
                       enum openmetrics_format format, size_t *bytes)
{
    size_t n = json_array_size(jobs), written = n < jobs_max ? n : jobs_max;
    const json_t **rows = xcalloc(n + 1, sizeof(*rows));
    char *text = NULL;
    struct writer w = { open_memstream(&text, bytes), format };

    if (!w.out) {
        free(rows);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = json_array_get(jobs, i);
    qsort(rows, n, sizeof(*rows), by_ranks);
    write_controller(&w, status);
    family(
        &w, "jobs_left_out", GAUGE,
        "Job steps that have no metrics here, because there are too many; those with the most ranks have.");
    fputs(PREFIX "jobs_left_out", w.out);
    number(&w, (double)(n - written));
    write_jobs(&w, rows, written);
    if (format == OPENMETRICS_1_0)
        fputs("# EOF\n", w.out);
    free(rows);
    if (fclose(w.out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
