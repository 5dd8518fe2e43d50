/* Answer of the scaling experiment: tables, plots, and a verdict. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "plan/experiment.h"

/* ---- the tables ---- */

static struct statistics_mean rate_of(const struct trial_figures *f)
{
    return statistics_mean(f->rate, (size_t)f->n);
}

static struct statistics_mean cv_of(const struct trial_figures *f)
{
    return statistics_mean(f->cv, (size_t)f->n);
}

static void cell_rate(struct answer *answer, const struct trial_figures *f)
{
    answer_cells(answer, round(rate_of(f).mean), rate_of(f).error);
}

static void cell_cv(struct answer *answer, const struct trial_figures *f)
{
    answer_cells(answer, cv_of(f).mean, cv_of(f).error);
}

static void put_fit(const struct experiment *e, struct answer *answer)
{
    struct statistics_mean pacing = trial_gain(&e->remedy[REMEDY_PACING], &e->remedy[REMEDY_UNCOORDINATED]);
    struct statistics_mean gate = trial_gain(&e->remedy[REMEDY_GATED], &e->remedy[REMEDY_UNCOORDINATED]);
    double worst = 0;

    for (int i = 0; i < PUBLISHED_SIZES; i++)
        worst = fmax(worst, PUBLISHED_OFF * fabs(published_rate_miss(&published_table[i],
                                                                     rate_of(&e->target[0][i]).mean)));
    answer_title(answer, "A data-parallel job on 4 to 64 nodes: a published experiment, simulated");
    for (int u = 0; u < TRIAL_UNKNOWNS; u++) {
        if (e->x[0][u] > 0)
            answer_figure(answer, trial_unknowns[u].key, e->x[0][u], trial_unknowns[u].unit, "%s",
                          trial_unknowns[u].words);
    }
    answer_figure(answer, "fit_error", worst, ANSWER_SHARE,
                  "largest error of the throughputs without coordination");
    answer_figure(answer, "fit_worst", published_worst_miss(e->target[0]), ANSWER_NUMBER,
                  "largest error of the ten figures without coordination, over the accepted error");
    answer_figure(answer, "pacing_gain", pacing.mean, ANSWER_SHARE, "gain of pacing on %d nodes",
                  e->most_nodes);
    answer_figure(answer, "pacing_gain_error", pacing.error, ANSWER_SHARE, "standard error of pacing_gain");
    answer_figure(answer, "gate_gain", gate.mean, ANSWER_SHARE, "gain of a gate of two messages on %d nodes",
                  e->most_nodes);
    answer_figure(answer, "gate_gain_error", gate.error, ANSWER_SHARE, "standard error of gate_gain");
}

static const char *met(double rate, double cv)
{
    if (fabs(rate) <= 1)
        return fabs(cv) <= 1 ? "both" : "throughput";
    return fabs(cv) <= 1 ? "variation" : "no";
}

static void put_uncoordinated(const struct experiment *e, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "nodes", "NODES", ANSWER_COUNT },
        { "published", "PUBLISHED", ANSWER_COUNT },
        { "simulated", "SIMULATED", ANSWER_COUNT },
        { "simulated_error", "+-", ANSWER_NUMBER },
        { "error", "ERROR", ANSWER_SHARE },
        { "published_cv", "CV", ANSWER_NUMBER },
        { "simulated_cv", "SIMULATED", ANSWER_NUMBER },
        { "simulated_cv_error", "+-", ANSWER_NUMBER },
        { "met", "MET", ANSWER_WORDS },
    };

    answer_table(answer, "columns",
                 "Without coordination: samples per second, and variation of the iteration time", columns,
                 ARRAY_SIZE(columns));
    for (int i = 0; i < e->sizes; i++) {
        const struct trial_figures *f = &e->all[REMEDY_UNCOORDINATED][i];
        const struct published *p = published_of(e->nodes[i]);
        double rate = rate_of(f).mean, cv = cv_of(f).mean;

        answer_cells(answer, e->nodes[i], p ? p->rate : NAN);
        cell_rate(answer, f);
        answer_cells(answer, p ? rate / p->rate - 1 : NAN, p ? p->cv : NAN);
        cell_cv(answer, f);
        answer_cell_words(answer, "%s",
                          p ? met(published_rate_miss(p, rate), published_cv_miss(p, cv)) : "?");
    }
}

static void put_coordinated(const struct experiment *e, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "nodes", "NODES", ANSWER_COUNT },         { "published", "PUBLISHED", ANSWER_COUNT },
        { "pacing", "PACING", ANSWER_COUNT },       { "pacing_error", "+-", ANSWER_NUMBER },
        { "gate", "GATE_2", ANSWER_COUNT },         { "gate_error", "+-", ANSWER_NUMBER },
        { "published_cv", "CV", ANSWER_NUMBER },    { "pacing_cv", "PACING", ANSWER_NUMBER },
        { "pacing_cv_error", "+-", ANSWER_NUMBER }, { "gate_cv", "GATE_2", ANSWER_NUMBER },
        { "gate_cv_error", "+-", ANSWER_NUMBER },
    };

    answer_table(answer, "coordinated", "With coordination: samples per second, and variation (not fitted)",
                 columns, ARRAY_SIZE(columns));
    for (int i = 0; i < e->sizes; i++) {
        const struct published *p = published_of(e->nodes[i]);

        answer_cells(answer, e->nodes[i], p ? p->coordinated_rate : NAN);
        cell_rate(answer, &e->all[REMEDY_PACING][i]);
        cell_rate(answer, &e->all[REMEDY_GATED][i]);
        answer_cell(answer, p ? p->coordinated_cv : NAN);
        cell_cv(answer, &e->all[REMEDY_PACING][i]);
        cell_cv(answer, &e->all[REMEDY_GATED][i]);
    }
}

/* Share of the published improvement that a remedy achieves; NaN: nothing is published for this number of nodes. */
static double achieved_rate(const struct experiment *e, const struct trial_figures *f)
{
    const struct published *p = published_of(e->most_nodes);
    double gain = trial_gain(f, &e->remedy[REMEDY_UNCOORDINATED]).mean;

    return p ? gain / (p->coordinated_rate / p->rate - 1) : NAN;
}

static double achieved_cv(const struct experiment *e, const struct trial_figures *f)
{
    const struct published *p = published_of(e->most_nodes);
    double calmer = 1 - cv_of(f).mean / cv_of(&e->remedy[REMEDY_UNCOORDINATED]).mean;

    return p ? calmer / (1 - p->coordinated_cv / p->cv) : NAN;
}

static void put_remedies(const struct experiment *e, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "name", "REMEDY", ANSWER_WORDS },    { "rate", "RATE", ANSWER_COUNT },
        { "rate_error", "+-", ANSWER_NUMBER }, { "gain", "GAIN", ANSWER_SHARE },
        { "gain_error", "+-", ANSWER_SHARE },  { "cv", "CV", ANSWER_NUMBER },
        { "cv_error", "+-", ANSWER_NUMBER },   { "of_gain", "OF GAIN", ANSWER_SHARE },
        { "of_calm", "OF CV", ANSWER_SHARE },  { "words", "WHAT IT IS", ANSWER_WORDS },
    };

    answer_table(answer, "remedies",
                 "On the largest number of nodes: gain over the uncoordinated job; shares of the published "
                 "gain (OF GAIN) and of the published reduction of the variation (OF CV)",
                 columns, ARRAY_SIZE(columns));
    for (size_t k = 0; k < REMEDIES; k++) {
        const struct trial_figures *f = &e->remedy[k];
        struct statistics_mean gain = trial_gain(f, &e->remedy[REMEDY_UNCOORDINATED]);

        answer_cell_words(answer, "%s", remedies[k].key);
        cell_rate(answer, f);
        answer_cells(answer, gain.mean, gain.error);
        cell_cv(answer, f);
        answer_cells(answer, achieved_rate(e, f), achieved_cv(e, f));
        answer_cell_words(answer, "%s", remedies[k].words);
    }
}

static void put_worlds(const struct experiment *e, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "name", "WORLD", ANSWER_WORDS },
        { "fit_worst", "WORST", ANSWER_NUMBER },
        { "cv", "CV", ANSWER_NUMBER },
        { "pacing_gain", "PACING", ANSWER_SHARE },
        { "pacing_cv", "CV", ANSWER_NUMBER },
        { "gate_gain", "GATE_2", ANSWER_SHARE },
        { "gate_gain_error", "+-", ANSWER_SHARE },
        { "gate_cv", "CV", ANSWER_NUMBER },
        { "words", "WHAT IT IS", ANSWER_WORDS },
    };

    answer_table(answer, "worlds",
                 "Fabrics and noise that reproduce the figures without coordination (WORST below 1), and the "
                 "gains in them",
                 columns, ARRAY_SIZE(columns));
    for (int w = 0; w < TRIAL_WORLDS; w++) {
        const struct trial_figures *f = e->world[w];

        answer_cell_words(answer, "%s", trial_worlds[w].key);
        answer_cells(
            answer, published_worst_miss(e->target[w]), cv_of(&f[REMEDY_UNCOORDINATED]).mean,
            trial_gain(&f[REMEDY_PACING], &f[REMEDY_UNCOORDINATED]).mean, cv_of(&f[REMEDY_PACING]).mean,
            trial_gain(&f[REMEDY_GATED], &f[REMEDY_UNCOORDINATED]).mean,
            trial_gain(&f[REMEDY_GATED], &f[REMEDY_UNCOORDINATED]).error, cv_of(&f[REMEDY_GATED]).mean);
        answer_cell_words(answer, "%s", trial_worlds[w].words);
    }
}

static void put_collectives(const struct experiment *e, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "name", "COLLECTIVE", ANSWER_WORDS }, { "rate", "RATE", ANSWER_COUNT },
        { "rate_error", "+-", ANSWER_NUMBER },  { "iteration_s", "ITERATION", ANSWER_SECONDS },
        { "cv", "CV", ANSWER_NUMBER },          { "words", "WHAT IT IS", ANSWER_WORDS },
    };

    answer_table(answer, "collectives",
                 "On the largest number of nodes, with eight ranks per node and no other traffic: "
                 "collectives and orders of ranks",
                 columns, ARRAY_SIZE(columns));
    for (size_t k = 0; k < REMEDIES_COLLECTIVE; k++) {
        const struct trial_figures *f = &e->collective[k];

        answer_cell_words(answer, "%s", remedies_collective[k].key);
        cell_rate(answer, f);
        answer_cells(answer, (double)TRIAL_SAMPLES * e->most_nodes / rate_of(f).mean, cv_of(f).mean);
        answer_cell_words(answer, "%s", remedies_collective[k].words);
    }
}

void experiment_print_charts(const struct experiment *e, FILE *out, bool utf8)
{
    double y[2][5][CHART_PLACES_MAX];
    static const char *const names[] = { "published, without coordination", "simulated without coordination",
                                         "published, with coordination", "simulated with pacing",
                                         "simulated with a gate of two messages" };
    struct chart c[2] = {
        { .title = "Samples per second", .rows = 21, .axis = "nodes" },
        { .title = "Variation of the iteration time (deviation over mean)", .rows = 16, .axis = "nodes" }
    };

    for (int i = 0; i < e->sizes; i++) {
        const struct published *p = published_of(e->nodes[i]);

        y[0][0][i] = p ? p->rate : NAN;
        y[1][0][i] = p ? p->cv : NAN;
        y[0][2][i] = p ? p->coordinated_rate : NAN;
        y[1][2][i] = p ? p->coordinated_cv : NAN;
        for (int k = 0; k < REMEDIES_ALL_SIZES; k++) {
            int series = k == REMEDY_UNCOORDINATED ? 1 : k + 2;

            y[0][series][i] = rate_of(&e->all[k][i]).mean;
            y[1][series][i] = cv_of(&e->all[k][i]).mean;
        }
    }
    for (int k = 0; k < 2; k++) {
        c[k].places = e->sizes;
        memcpy(c[k].place, e->nodes, sizeof(e->nodes));
        for (c[k].n = 0; c[k].n < 5; c[k].n++)
            c[k].series[c[k].n] =
                (struct chart_series){ names[c[k].n], y[k][c[k].n], c[k].n == 0 || c[k].n == 2 };
        fputc('\n', out);
        chart_print(&c[k], out, utf8);
    }
}

/* ---- the verdict ---- */

/* Write the names of the remedies with at least this share, as in "a, b, c". */
static void list(const struct experiment *e, char *text, size_t size,
                 double (*share)(const struct experiment *, const struct trial_figures *), double least)
{
    size_t at = 0;

    *text = '\0';
    for (size_t k = 1; k < REMEDIES; k++) {
        if (share(e, &e->remedy[k]) >= least && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", remedies[k].key);
    }
    if (!*text)
        snprintf(text, size, "none of those tried");
}

static void note_lever(const struct experiment *e, struct answer *answer, int k, const char *name,
                       const char *why)
{
    const struct published *p = published_of(e->most_nodes);
    const struct trial_figures *f = &e->remedy[k];
    struct statistics_mean gain = trial_gain(f, &e->remedy[REMEDY_UNCOORDINATED]);
    double from = cv_of(&e->remedy[REMEDY_UNCOORDINATED]).mean, to = cv_of(f).mean;

    if (!p) {
        answer_note(answer, "%s changes the throughput by %+.1f %% and the variation from %.3f to %.3f.",
                    name, 100 * gain.mean, from, to);
        return;
    }
    answer_note(
        answer,
        "%s %s the published figures with coordination: throughput %+.1f %% (published %+.0f %%), "
        "variation from %.3f to %.3f (published %.2f to %.2f). %s",
        name, achieved_rate(e, f) >= 0.9 && achieved_cv(e, f) >= 0.9 ? "reproduces" : "does not reproduce",
        100 * gain.mean, 100 * (p->coordinated_rate / p->rate - 1), from, to, p->cv, p->coordinated_cv, why);
}

/* The shares that each remedy achieves. */
static void note_each(const struct experiment *e, struct answer *answer)
{
    char text[900] = "";
    size_t at = 0;

    for (size_t k = REMEDY_GATED; k < REMEDIES && at < sizeof(text); k++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %.0f and %.0f", at ? ", " : "",
                               remedies[k].key, 100 * achieved_rate(e, &e->remedy[k]),
                               100 * achieved_cv(e, &e->remedy[k]));
    answer_note(
        answer,
        "Shares of the published improvement of throughput and of variation, in percent (100: all of it; "
        "below 0: worse than without coordination): %s.",
        text);
}

static void note_others(const struct experiment *e, struct answer *answer)
{
    char gain[256], calm[256];

    if (!published_of(e->most_nodes))
        return;
    note_each(e, answer);
    list(e, gain, sizeof(gain), achieved_rate, 1);
    list(e, calm, sizeof(calm), achieved_cv, 1);
    answer_note(
        answer,
        "Remedies that gain at least the published throughput: %s. Remedies that reduce the variation at least as much as "
        "published: %s.",
        gain, calm);
}

static void note_assumptions(const struct experiment *e, struct answer *answer)
{
    char met[128] = "";
    size_t at = 0;
    double low = INFINITY, high = -INFINITY;

    for (int w = 0; w < TRIAL_WORLDS; w++) {
        double gain = trial_gain(&e->world[w][REMEDY_GATED], &e->world[w][REMEDY_UNCOORDINATED]).mean;

        if (published_worst_miss(e->target[w]) > 1)
            continue;
        at += (size_t)snprintf(met + at, sizeof(met) - at, "%s%s", at ? ", " : "", trial_worlds[w].key);
        low = fmin(low, gain);
        high = fmax(high, gain);
    }
    if (!*met) {
        answer_note(answer,
                    "With these steps and seeds, no fabric reproduces the figures without coordination.");
        return;
    }
    answer_note(answer,
                "Fabrics that reproduce the figures without coordination: %s. These figures cannot "
                "distinguish them, and the gate gains %.1f to %.1f %% in them: the benefit of coordination "
                "depends on what is not published.",
                met, 100 * low, 100 * high);
}

void experiment_put_verdict(const struct experiment *e, struct answer *answer)
{
    note_lever(e, answer, REMEDY_PACING, "Pacing",
               "An exchange ends when the last rank has arrived and all bytes have crossed the server's "
               "link; delaying early ranks changes neither.");
    note_lever(e, answer, REMEDY_GATED, "The gate",
               "Nodes that receive the sum first compute while others still receive it, and send while those "
               "still compute, so that no incast overflows a port.");
    note_others(e, answer);
    note_assumptions(e, answer);
    answer_note(
        answer,
        "The result depends on three assumptions that explain the figures without coordination: (1) The time "
        "of an exchange is proportional to the number of nodes, because all share one server's link; a ring "
        "would not lose half of its throughput at 64 nodes. (2) Part of the exchange overlaps the work; a "
        "gate can stagger the part that is exchanged last. (3) The variation grows with the exchange and is "
        "common to all nodes: the maximum of independent noise varies less with more nodes, not more. It is "
        "reduced by keeping other traffic off the server's link, or by not using that link. The figures with "
        "coordination were not fitted.");
    answer_assumes(
        answer,
        "leaf switches of 16 nodes, 4 to 1 oversubscribed, links of 12.5 GB/s; one parameter server on the "
        "first node, whose link also carries other traffic (lognormal, different in each iteration); "
        "gradients in two parts, the first of which is exchanged during the rest of the backward pass; in "
        "world \"loss\", of each message beyond two a port sends the share `loss` again, times an "
        "exponential factor. MET means throughput within %.0f %%, and variation within %.0f %% of a value "
        "that rounds to the published one. +- is the standard error over seeds. The table of collectives has "
        "at most two seeds",
        100 * PUBLISHED_OFF, 100 * PUBLISHED_OFF);
}

void experiment_put(const struct experiment *e, struct answer *page)
{
    put_fit(e, page);
    put_uncoordinated(e, page);
    put_coordinated(e, page);
    put_remedies(e, page);
    put_worlds(e, page);
    put_collectives(e, page);
}
