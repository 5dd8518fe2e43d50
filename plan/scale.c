/* sgplan scale: what a job that runs, or ran, would be on more ranks. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "plan/answer.h"
#include "plan/questions.h"
#include "plan/running.h"
#include "report/report_view.h"
#include "wire/json.h"

static const struct option_spec option_mode = {
    "mode", "MODE", VALUE_ONE_OF(VALUE_WORDS("weak", "strong")),
    "weak: each rank has as much to do as now; strong: they share it"
};

static const struct option_spec option_trace = {
    "trace", "FILE", VALUE(VALUE_ANY),
    "a recorded trace; - is standard input; several: of runs over different numbers of ranks"
};

static const struct option_use uses[] = {
    { &option_trace, OPTION_REPEATED },
    { &running_job, NULL },
    { &option_mode, "weak" },
    { &option_conf, NULL },
    { &option_controller, NULL },
    { &option_munge_socket, NULL },
    { NULL, NULL },
};

/* ---- where it comes from ---- */

static uint32_t ranks_of(struct trace_reader *r)
{
    struct view_figures f;

    view_figures_get(trace_reader_view(r), trace_reader_now_s(r), &f);
    return f.ranks_known;
}

/* What the others show of growth goes to the one with the most ranks. */
static int tell_runs(const struct options *a, struct trace_reader *const *reader, size_t n, size_t largest,
                     struct err *err)
{
    struct projection_run run[OPTIONS_TEXTS_MAX];
    size_t told = 0;

    for (size_t i = 0; i < n; i++) {
        const char *why = i == largest ? NULL : view_run_get(trace_reader_view(reader[i]), &run[told]);

        if (why)
            return err_set(err, "%s: nothing can be learnt: %s", options_texts(a, "trace", i), why);
        told += i != largest;
    }
    view_runs_set(trace_reader_view(reader[largest]), run, told);
    return 0;
}

static json_t *scaling_json(const struct view *v, bool strong)
{
    struct report_scaling *r = xcalloc(1, sizeof(*r));
    json_t *o;

    report_scaling_get(r, v, strong);
    o = report_scaling_json(r);
    free(r);
    return o;
}

static json_t *of_traces(const struct options *a, bool strong, struct err *err)
{
    struct trace_reader *reader[OPTIONS_TEXTS_MAX];
    size_t n = 0, largest = 0;
    const char *path;
    json_t *o = NULL;

    for (; n < OPTIONS_TEXTS_MAX && (path = options_texts(a, "trace", n)); n++) {
        reader[n] = running_read_file(path, err);
        if (!reader[n])
            goto out;
        if (ranks_of(reader[n]) > ranks_of(reader[largest]))
            largest = n;
    }
    if (tell_runs(a, reader, n, largest, err) == 0)
        o = scaling_json(trace_reader_view(reader[largest]), strong);
out:
    while (n > 0)
        trace_reader_free(reader[--n]);
    return o;
}

static json_t *of_job(const struct options *a, bool strong, struct err *err)
{
    return running_ask(a, json_pack("{s:s, s:s}", "query", "scaling", "mode", strong ? "strong" : "weak"),
                       "scaling", err);
}

/* ---- what is said ---- */

static const struct answer_column point_columns[] = {
    { "ranks", "RANKS", ANSWER_COUNT },
    { "factor", "TIMES", ANSWER_TIMES },
    { "step_s", "STEP", ANSWER_SECONDS },
    { "step_low_s", "FROM", ANSWER_SECONDS },
    { "step_high_s", "TO", ANSWER_SECONDS },
    { "throughput_ratio", "THROUGHPUT", ANSWER_TIMES },
    { "throughput_low_ratio", "FROM", ANSWER_TIMES },
    { "throughput_high_ratio", "TO", ANSWER_TIMES },
    { "compute_share", "COMPUTE", ANSWER_SHARE },
    { "communication_share", "COMM", ANSWER_SHARE },
    { "synchronisation_share", "SYNC", ANSWER_SHARE },
    { "regime", "REGIME", ANSWER_WORDS },
};

static void put_points(struct answer *a, const json_t *points)
{
    const json_t *p;
    size_t i;

    answer_table(a, "points", "On more ranks (nominal range: 90 %; throughput over the measured one)",
                 point_columns, sizeof(point_columns) / sizeof(*point_columns));
    json_array_foreach(points, i, p) {
        const json_t *step = get_object(p, "step_s"), *rate = get_object(p, "throughput_ratio"),
                     *shares = get_object(p, "shares");
        char regime[24];

        answer_cell(a, get_number(p, "ranks"));
        answer_cell(a, get_number(p, "factor"));
        answer_cell(a, get_number(step, "p50"));
        answer_cell(a, get_number(step, "p5"));
        answer_cell(a, get_number(step, "p95"));
        answer_cell(a, get_number(rate, "p50"));
        answer_cell(a, get_number(rate, "p5"));
        answer_cell(a, get_number(rate, "p95"));
        answer_cell(a, get_number(shares, "compute"));
        answer_cell(a, get_number(shares, "communication"));
        answer_cell(a, get_number(shares, "synchronisation"));
        answer_cell_words(a, "%s", show_text(p, "regime", regime, sizeof(regime)));
    }
}

static const struct answer_column part_columns[] = {
    { "part", "NOISE", ANSWER_WORDS },       { "lasting", "LASTING", ANSWER_SHARE },
    { "lasting_low", "FROM", ANSWER_SHARE }, { "lasting_high", "TO", ANSWER_SHARE },
    { "passing", "PASSING", ANSWER_SHARE },  { "passing_low", "FROM", ANSWER_SHARE },
    { "passing_high", "TO", ANSWER_SHARE },
};

static void put_noise(struct answer *a, const json_t *noise)
{
    static const char *const levels[] = { "rank", "node", "switch" };
    const json_t *lasting = get_object(noise, "lasting"), *passing = get_object(noise, "passing");
    char shape[24];

    answer_figure(a, "compute_s", get_number(noise, "compute_s"), ANSWER_SECONDS,
                  "own work of a rank in a step");
    answer_figure(a, "cv", get_number(noise, "cv"), ANSWER_SHARE,
                  "it varies by: the parts below, their squares added");
    answer_word(a, "shape", show_text(noise, "shape", shape, sizeof(shape)), "is its distribution");
    answer_table(a, "noise",
                 "What varies, and with whom it is in common (standard deviations, of the own work)",
                 part_columns, sizeof(part_columns) / sizeof(*part_columns));
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        const json_t *part[2] = { get_object(lasting, levels[i]), get_object(passing, levels[i]) };

        answer_cell_words(a, "%s", levels[i]);
        for (int k = 0; k < 2; k++) {
            answer_cell(a, get_number(part[k], "value"));
            answer_cell(a, get_number(part[k], "low"));
            answer_cell(a, get_number(part[k], "high"));
        }
    }
    /* Phases and warm-up: it is one number a step, which nobody waits for, and has no lasting part. */
    answer_cell_words(a, "all ranks");
    for (int k = 0; k < 6; k++)
        answer_cell(a, k == 3 ? get_number(noise, "common_cv") : NAN);
}

static const struct answer_column link_columns[] = {
    { "op", "OPERATION", ANSWER_WORDS },        { "ranks", "RANKS", ANSWER_COUNT },
    { "from_bytes", "FROM", ANSWER_BYTES },     { "to_bytes", "TO", ANSWER_BYTES },
    { "fixed_s", "FIXED", ANSWER_SECONDS },     { "fixed_low_s", "FROM", ANSWER_SECONDS },
    { "fixed_high_s", "TO", ANSWER_SECONDS },   { "bytes_per_s", "BY BYTE", ANSWER_RATE },
    { "bytes_low_per_s", "FROM", ANSWER_RATE }, { "bytes_high_per_s", "TO", ANSWER_RATE },
};

static void put_segment(struct answer *a, const json_t *link, const json_t *segment)
{
    const json_t *fixed = get_object(segment, "fixed_s"), *bytes = get_object(segment, "s_per_byte");
    char op[32];

    answer_cell_words(a, "%s", show_text(link, "op", op, sizeof(op)));
    answer_cell(a, get_number(link, "ranks"));
    answer_cell(a, get_number(segment, "from_bytes"));
    answer_cell(a, get_number(segment, "to_bytes"));
    answer_cell(a, get_number(fixed, "value"));
    answer_cell(a, get_number(fixed, "low"));
    answer_cell(a, get_number(fixed, "high"));
    answer_cell(a, 1 / get_number(bytes, "value"));
    answer_cell(a, 1 / get_number(bytes, "high"));
    answer_cell(a, 1 / get_number(bytes, "low"));
}

static void put_links(struct answer *a, const json_t *links)
{
    const json_t *link, *segment;
    size_t i, k;

    if (!json_array_size(links))
        return;
    answer_table(a, "links", "What its collectives cost: a fixed part, and a rate by the byte", link_columns,
                 sizeof(link_columns) / sizeof(*link_columns));
    json_array_foreach(links, i, link) {
        json_array_foreach(get_array(link, "segments"), k, segment)
            put_segment(a, link, segment);
    }
}

static void put_assumed(struct answer *a, const json_t *o)
{
    const json_t *words;
    char text[256], all[1024] = "";
    size_t i;

    json_array_foreach(get_array(o, "assumes"), i, words)
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? "; " : "",
                 show_value(words, text, sizeof(text)));
    answer_assumes(a, "%s", all);
    answer_source(a,
                  "compute + E[max] of the fitted noise over ranks in nodes and switches + the collectives' "
                  "cost by each algorithm, weighed (model/projection.h)");
}

static void put_runs(struct answer *a, const json_t *runs)
{
    const json_t *ranks;
    char text[128] = "";
    size_t i;

    json_array_foreach(runs, i, ranks)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.0f", i ? ", " : "", number_of(ranks));
    if (*text)
        answer_word(a, "runs", text, "ranks of other runs of the job that this stands on, too");
}

static void put_scaling(struct answer *a, const json_t *o)
{
    const json_t *points = get_array(o, "points");
    double ranks = get_number(o, "ranks"), wall = get_number(o, "wall_ranks");
    double most = get_number(json_array_get(points, json_array_size(points) - 1), "factor");
    char mode[24], text[256], name[64];

    answer_title(a, "A job of %.0f ranks with a step of %s, on more ranks (%s scaling)", ranks,
                 text_s(get_number(o, "step_s")).s, show_text(o, "mode", mode, sizeof(mode)));
    answer_word(a, "wall", show_text(o, "wall", name, sizeof(name)), "the next wall");
    answer_figure(a, "wall_ranks", wall, ANSWER_COUNT, "%s", show_text(o, "text", text, sizeof(text)));
    answer_figure(a, "extrapolation", most, ANSWER_TIMES,
                  "so many times the measured ranks is the furthest point");
    put_runs(a, get_array(o, "runs"));
    put_points(a, points);
    put_noise(a, get_object(o, "noise"));
    put_links(a, get_array(o, "links"));
    put_assumed(a, o);
}

static enum question_result run(const struct options *a, struct answer *answer, struct err *err)
{
    const char *trace = options_text(a, "trace");
    bool strong = options_is(a, "mode", "strong");
    char why[128];
    json_t *o;

    if (!trace == !options_text(a, "job")) {
        err_set(err, "one of --trace=FILE and --job=ID is needed");
        return QUESTION_WRONG;
    }
    o = trace ? of_traces(a, strong, err) : of_job(a, strong, err);
    if (!o)
        return QUESTION_FAILED;
    if (json_object_get(o, "missing")) {
        err_set(err, "nothing can be projected: %s", show_text(o, "missing", why, sizeof(why)));
        json_decref(o);
        return QUESTION_FAILED;
    }
    put_scaling(answer, o);
    json_decref(o);
    return QUESTION_DONE;
}

const struct question question_scale = {
    .command.name = "scale",
    .command.operands = "",
    .command.text = "what a job would be on 2 to 16 times its ranks, from a trace or live",
    .command.more =
        "Latency, bandwidth and noise are fitted from the job's own collectives and steps. Ranges are "
        "computed to hold 90 %, and do so for simulated jobs (doc/decisions/0014): they carry the fits' "
        "errors, which algorithm the library uses, and which ranks one happens to get. Points far beyond "
        "what was measured are less sure than any range can express.",
    .command.uses = uses,
    .run = run,
};
