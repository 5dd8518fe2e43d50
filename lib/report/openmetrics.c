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

/* A family and where its samples are: a member of the controller's status, or of a job's row. */
struct family {
    const char *name, *help;
    enum kind kind;
    enum field_kind type; /* a number, FIELD_COUNT or FIELD_TERNARY */
    size_t offset;
    const char *label, *value; /* one more label of a fixed value; NULL: none */
};

/* Those of one name stand together. */
#define STATUS(member) offsetof(struct report_status, member)
static const struct family of_controller[] = {
    { "controller_uptime_seconds", "Time since the controller was started.", GAUGE, FIELD_AMOUNT,
      STATUS(uptime_s), NULL, NULL },
    { "controller_cpu_ratio", "Share of a core that the controller uses.", GAUGE, FIELD_AMOUNT,
      STATUS(cpu_ratio), NULL, NULL },
    { "controller_resident_bytes", "Memory of the controller.", GAUGE, FIELD_AMOUNT, STATUS(rss_bytes), NULL,
      NULL },
    { "controller_batches_per_second", "Batches of telemetry that arrive per second.", GAUGE, FIELD_AMOUNT,
      STATUS(batches_per_s), NULL, NULL },
    { "jobs", "Guarded job steps that run.", GAUGE, FIELD_COUNT, STATUS(jobs), NULL, NULL },
    { "agents", "Agents that are connected.", GAUGE, FIELD_COUNT, STATUS(agents), NULL, NULL },
    { "ranks", "Ranks of guarded job steps that run.", GAUGE, FIELD_COUNT, STATUS(ranks), NULL, NULL },
    { "terminals", "Terminals that are connected.", GAUGE, FIELD_COUNT, STATUS(clients), NULL, NULL },
    { "history_bytes", "Size of the history.", GAUGE, FIELD_AMOUNT, STATUS(store_bytes), NULL, NULL },
    { "history_max_bytes", "Size that the history may have (HistorySize).", GAUGE, FIELD_AMOUNT,
      STATUS(store_max_bytes), NULL, NULL },
    { "history_full", "1 where nothing is added to the history for want of space.", GAUGE, FIELD_TERNARY,
      STATUS(store_full), NULL, NULL },
    { "steps_memory_bytes", "Memory of all guarded steps.", GAUGE, FIELD_AMOUNT, STATUS(bounds.steps_bytes),
      NULL, NULL },
    { "steps_memory_max_bytes", "Memory that all guarded steps may have (Memory).", GAUGE, FIELD_AMOUNT,
      STATUS(bounds.memory_bytes), NULL, NULL },
    { "refused", "Connections and steps that bounds refused.", COUNTER, FIELD_COUNT, STATUS(bounds.refused),
      NULL, NULL },
    { "frames_left_out",
      "Frames that were left out because a user's steps took too much of the controller's time.", COUNTER,
      FIELD_COUNT, STATUS(bounds.left_out), NULL, NULL },
};

#define ROW(member) offsetof(struct report_row, member)
#define SHARE       "job_time_ratio", "Share of the ranks' time.", GAUGE, FIELD_SHARE
static const struct family of_job[] = {
    { "job_ranks", "Ranks that run.", GAUGE, FIELD_COUNT, ROW(ranks), NULL, NULL },
    { "job_nodes", "Nodes that the controller knows of.", GAUGE, FIELD_COUNT, ROW(nodes), NULL, NULL },
    { "job_steps", "Steps of the program.", COUNTER, FIELD_COUNT, ROW(steps), NULL, NULL },
    { "job_steps_per_second", "Pace of the newest steps.", GAUGE, FIELD_AMOUNT, ROW(steps_per_s), NULL,
      NULL },
    { "job_step_median_seconds", "Median time of the newest steps.", GAUGE, FIELD_AMOUNT, ROW(step_p50_s),
      NULL, NULL },
    { "job_step_p95_seconds", "95th percentile of the time of the newest steps.", GAUGE, FIELD_AMOUNT,
      ROW(step_p95_s), NULL, NULL },
    { "job_skew_median_seconds", "Median time between the first and the last rank to arrive.", GAUGE,
      FIELD_AMOUNT, ROW(skew_p50_s), NULL, NULL },
    { SHARE, ROW(share[SHARE_COMPUTE]), "part", "compute" },
    { SHARE, ROW(share[SHARE_COMMUNICATION]), "part", "communication" },
    { SHARE, ROW(share[SHARE_SYNCHRONISATION]), "part", "synchronisation" },
    { SHARE, ROW(share[SHARE_P2P]), "part", "point_to_point" },
    { "job_agents_lost", "Agents that are not heard any more, and did not end in good order.", GAUGE,
      FIELD_COUNT, ROW(agents_lost), NULL, NULL },
    { "job_records_dropped",
      "Records of calls that found no room, were overwritten, or were not made for another reason.", COUNTER,
      FIELD_COUNT, ROW(records_dropped), NULL, NULL },
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
static double value_of(const void *of, const struct family *f)
{
    const void *at = (const char *)of + f->offset;
    double value = f->type == FIELD_COUNT     ? (double)*(const int64_t *)at
                   : f->type == FIELD_TERNARY ? (double)*(const int *)at
                                              : *(const double *)at;

    return value >= 0 ? value : NAN;
}

static void sample(const struct writer *w, const struct family *f, const void *of, const char *job)
{
    double value = value_of(of, f);
    char before = '{';

    if (!isfinite(value))
        return;
    fprintf(w->out, PREFIX "%s%s", f->name, suffix(f->kind));
    if (job) {
        label(w, before, "job_id", job);
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

static void write_controller(const struct writer *w, const struct report_status *status)
{
    family(w, "build", INFO, "The controller's version.");
    fprintf(w->out, PREFIX "build_info");
    label(w, '{', "version", status->version);
    fputs("} 1\n", w->out);
    for (size_t i = 0; i < ARRAY_SIZE(of_controller); i++) {
        const struct family *f = &of_controller[i];

        if (!isfinite(value_of(status, f)))
            continue;
        family(w, f->name, f->kind, f->help);
        sample(w, f, status, NULL);
    }
}

/* Texts of a job, as labels of one sample that is always 1. */
static void write_info(const struct writer *w, const struct report_row *const *rows, size_t n)
{
    family(w, "job", INFO, "What is known of a guarded job step.");
    for (size_t i = 0; i < n; i++) {
        fputs(PREFIX "job_info", w->out);
        label(w, '{', "job_id", rows[i]->id);
        label(w, ',', "name", rows[i]->name);
        label(w, ',', "user", rows[i]->user);
        label(w, ',', "partition", rows[i]->partition);
        label(w, ',', "policy", rows[i]->policy);
        fputs("} 1\n", w->out);
    }
}

static void write_regime(const struct writer *w, const struct report_row *const *rows, size_t n)
{
    family(w, "job_regime", GAUGE, "1 for the regime that the job is in.");
    for (size_t i = 0; i < n; i++) {
        if (!*rows[i]->regime)
            continue;
        fputs(PREFIX "job_regime", w->out);
        label(w, '{', "job_id", rows[i]->id);
        label(w, ',', "regime", rows[i]->regime);
        fputs("} 1\n", w->out);
    }
}

static bool hangs(const struct report_row *row)
{
    for (size_t k = 0; k < row->verdicts.n; k++)
        if (!strcmp(row->verdicts.list[k].class, "hang"))
            return true;
    return false;
}

/* A hang has no price, so it is none of the verdicts below. */
static void write_hangs(const struct writer *w, const struct report_row *const *rows, size_t n)
{
    family(w, "job_hung", GAUGE,
           "1 where the job waits for ranks that do not come, 0 where none is found to.");
    for (size_t i = 0; i < n; i++) {
        if (rows[i]->ranks <= 0 && !hangs(rows[i]))
            continue; /* nothing is seen of it */
        fputs(PREFIX "job_hung", w->out);
        label(w, '{', "job_id", rows[i]->id);
        fputc('}', w->out);
        number(w, hangs(rows[i]));
    }
}

static void write_verdicts(const struct writer *w, const struct report_row *const *rows, size_t n)
{
    family(
        w, "job_verdict_slowdown_ratio", GAUGE,
        "Time of a step over what it would be without the cause; the most costly causes, the first of their culprits.");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < rows[i]->verdicts.n && k < OPENMETRICS_VERDICTS_MAX; k++) {
            const struct report_verdict *verdict = &rows[i]->verdicts.list[k];
            char place[24];

            if (!isfinite(verdict->slowdown))
                continue;
            snprintf(place, sizeof(place), "%zu", k + 1);
            fputs(PREFIX "job_verdict_slowdown_ratio", w->out);
            label(w, '{', "job_id", rows[i]->id);
            label(w, ',', "place", place);
            label(w, ',', "class", verdict->class);
            label(w, ',', "culprit", verdict->culprits.n ? verdict->culprits.text[0] : "");
            fputc('}', w->out);
            number(w, verdict->slowdown);
        }
}

static void write_jobs(const struct writer *w, const struct report_row *const *rows, size_t n)
{
    const char *before = "";

    write_info(w, rows, n);
    for (size_t f = 0; f < ARRAY_SIZE(of_job); f++) {
        /* The parts of a share are one family: its samples stand together, whatever the job. */
        if (strcmp(before, of_job[f].name) != 0)
            family(w, of_job[f].name, of_job[f].kind, of_job[f].help);
        before = of_job[f].name;
        for (size_t i = 0; i < n; i++)
            sample(w, &of_job[f], rows[i], rows[i]->id);
    }
    write_regime(w, rows, n);
    write_hangs(w, rows, n);
    write_verdicts(w, rows, n);
}

static int by_ranks(const void *a, const void *b)
{
    const struct report_row *x = *(const struct report_row *const *)a,
                            *y = *(const struct report_row *const *)b;
    int order = (y->ranks > x->ranks) - (y->ranks < x->ranks);

    return order ? order : strcmp(x->id, y->id);
}

char *openmetrics_text(const struct report_status *status, const struct report_row *job, size_t n,
                       size_t jobs_max, enum openmetrics_format format, size_t *bytes)
{
    size_t written = n < jobs_max ? n : jobs_max;
    const struct report_row **rows = xcalloc(n + 1, sizeof(*rows));
    char *text = NULL;
    struct writer w = { open_memstream(&text, bytes), format };

    if (!w.out) {
        free(rows);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = &job[i];
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
