/* sgplan scale: a measured job projected to more ranks. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "plan/answer.h"
#include "plan/question.h"
#include "plan/running.h"
#include "report/report_scaling.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "wire/json.h"

static const struct option_spec option_mode = {
    "mode", "MODE", VALUE_ONE_OF(VALUE_WORDS("weak", "strong")),
    "weak: the work per rank stays the same; strong: the ranks divide the present work"
};

static const struct option_spec option_trace = {
    "trace", "FILE", VALUE(VALUE_ANY),
    "recorded trace of a job; - is standard input; may be repeated for runs on different numbers of ranks"
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

/* ---- input ---- */

/* Several runs: the one with the most ranks is projected, by what the others show of the growth with ranks,
 * too. */
static int scale_traces(const struct options *a, bool strong, struct report_scaling *r, struct err *err)
{
    struct trace_reader *reader[OPTIONS_TEXTS_MAX];
    struct projection_run run[OPTIONS_TEXTS_MAX];
    size_t n = 0, n_runs = 0, largest = 0;
    uint32_t most = 0;
    const char *path;
    int rc = -1;

    for (; n < OPTIONS_TEXTS_MAX && (path = options_texts(a, "trace", n)); n++) {
        struct view_figures f;

        reader[n] = running_read(path, err);
        if (!reader[n])
            goto out;
        view_figures_get(trace_reader_view(reader[n]), trace_reader_now_s(reader[n]), &f);
        if (f.ranks_known > most) {
            most = f.ranks_known;
            largest = n;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const char *why = i == largest ? NULL : view_run_get(trace_reader_view(reader[i]), &run[n_runs]);

        if (why) {
            err_set(err, "%s: cannot be used: %s", options_texts(a, "trace", i), why);
            goto out;
        }
        n_runs += i != largest;
    }
    view_runs_set(trace_reader_view(reader[largest]), run, n_runs);
    report_scaling_get(r, trace_reader_view(reader[largest]), strong);
    rc = 0;
out:
    while (n > 0)
        trace_reader_free(reader[--n]);
    return rc;
}

/* ---- the answer ---- */

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

static const struct answer_column part_columns[] = {
    { "part", "NOISE", ANSWER_WORDS },       { "lasting", "LASTING", ANSWER_SHARE },
    { "lasting_low", "FROM", ANSWER_SHARE }, { "lasting_high", "TO", ANSWER_SHARE },
    { "passing", "PASSING", ANSWER_SHARE },  { "passing_low", "FROM", ANSWER_SHARE },
    { "passing_high", "TO", ANSWER_SHARE },
};

static const struct answer_column link_columns[] = {
    { "op", "OPERATION", ANSWER_WORDS },        { "ranks", "RANKS", ANSWER_COUNT },
    { "from_bytes", "FROM", ANSWER_BYTES },     { "to_bytes", "TO", ANSWER_BYTES },
    { "fixed_s", "FIXED", ANSWER_SECONDS },     { "fixed_low_s", "FROM", ANSWER_SECONDS },
    { "fixed_high_s", "TO", ANSWER_SECONDS },   { "bytes_per_s", "RATE", ANSWER_RATE },
    { "bytes_low_per_s", "FROM", ANSWER_RATE }, { "bytes_high_per_s", "TO", ANSWER_RATE },
};

static void put_scaling(struct answer *a, struct report_scaling *r)
{
    static const char *const levels[VARIATION_LEVELS] = { "rank", "node", "switch" };
    const struct report_noise *noise = &r->noise;
    char runs[128] = "";

    answer_title(a, "A job of %.0f ranks with a step of %s, on more ranks (%s scaling)", (double)r->ranks,
                 text_s(r->step_s).s, r->mode);
    answer_word(a, "wall", r->wall, "the next limit of scaling");
    answer_figure(a, "wall_ranks", r->wall_ranks, ANSWER_COUNT, "%s", r->text);
    answer_figure(a, "extrapolation", r->point[r->n - 1].factor, ANSWER_TIMES,
                  "largest projected number of ranks over the measured one");
    for (size_t i = 0; i < r->n_runs; i++)
        text_append(runs, sizeof(runs), "%s%.0f", i ? ", " : "", r->run_ranks[i]);
    if (*runs)
        answer_word(a, "runs", runs, "ranks of other runs that the projection also uses");
    answer_table(a, "points", "Projection (nominal range: 90 %; throughput is relative to the measured one)",
                 point_columns, ARRAY_SIZE(point_columns));
    for (const struct report_point *p = r->point; p < r->point + r->n; p++) {
        answer_cells(a, p->ranks, p->factor, p->step_s.p50, p->step_s.p5, p->step_s.p95, p->throughput.p50,
                     p->throughput.p5, p->throughput.p95, p->compute, p->communication, p->synchronisation);
        answer_cell_words(a, "%s", p->regime);
    }
    answer_figure(a, "compute_s", noise->compute_s, ANSWER_SECONDS, "a rank's own work in a step");
    answer_figure(a, "cv", noise->cv, ANSWER_SHARE,
                  "variation of that work: root of the sum of squares of the parts below");
    answer_word(a, "shape", noise->shape, "distribution of that work");
    answer_table(a, "noise",
                 "Noise by the ranks that have it in common (standard deviation over the own work)",
                 part_columns, ARRAY_SIZE(part_columns));
    for (int i = 0; i < VARIATION_LEVELS; i++) {
        const struct variation_part *lasting = &noise->lasting[i], *passing = &noise->passing[i];

        answer_cell_words(a, "%s", levels[i]);
        answer_cells(a, lasting->sd, lasting->low, lasting->high, passing->sd, passing->low, passing->high);
    }
    /* Phases and warm-up: one number per step that all ranks share, so nobody waits for it; it has no lasting
     * part. */
    answer_cell_words(a, "all ranks");
    answer_cells(a, NAN, NAN, NAN, noise->common_cv, NAN, NAN);
    if (r->n_links)
        answer_table(a, "links", "Fitted cost of its collectives: a fixed time, and bytes over a rate",
                     link_columns, ARRAY_SIZE(link_columns));
    for (const struct report_link *l = r->link; l < r->link + r->n_links; l++)
        for (const struct report_segment *g = l->segment; g < l->segment + l->n; g++) {
            answer_cell_words(a, "%s", l->op);
            answer_cells(a, (double)l->ranks, g->from_bytes, g->to_bytes, g->fixed_s.value, g->fixed_s.low,
                         g->fixed_s.high, 1 / g->s_per_byte.value, 1 / g->s_per_byte.high,
                         1 / g->s_per_byte.low);
        }
    running_put_assumes(a, r->assumes, r->n_assumes);
    answer_source(a, "compute + E[max] of the fitted noise over ranks in nodes and switches + cost of the "
                     "collectives, weighted over the possible algorithms (lib/model/projection.h)");
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    bool strong = options_is(a, "mode", "strong");
    struct report_scaling *r;
    json_t *o = NULL;
    int rc;

    if (!options_text(a, "trace") == !options_text(a, "job"))
        return err_set(err, "one of --trace=FILE and --job=ID is needed");
    r = xcalloc(1, sizeof(*r));
    if (options_text(a, "trace")) {
        rc = scale_traces(a, strong, r, err);
    } else {
        o = running_ask(a, json_pack("{s:s, s:s}", "query", "scaling", "mode", strong ? "strong" : "weak"),
                        "scaling", err);
        report_scaling_read(r, o);
        rc = o ? 0 : -1;
    }
    if (rc == 0 && r->n == 0)
        rc = err_set(err, "cannot project the job: %s", r->missing[0] ? r->missing : "-");
    if (rc == 0)
        put_scaling(answer, r);
    json_decref(o);
    free(r);
    return rc < 0 ? QUESTION_FAILED : 0;
}

const struct question question_scale = {
    .command.name = "scale",
    .command.operands = "",
    .command.text = "performance of a job on 2 to 16 times its ranks, from a trace or live",
    .command.more =
        "Latency, bandwidth and noise are fitted to the job's own collectives and steps. Ranges are computed "
        "to contain the result in 90 % of cases, and did so for simulated jobs (doc/decisions/0014). They "
        "include the errors of the fits, the unknown algorithm of the library, and the random choice of "
        "ranks. Points far beyond the measured number of ranks are less certain than the ranges show.",
    .command.uses = uses,
    .run = run,
};
