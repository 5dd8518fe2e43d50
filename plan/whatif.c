/* sgplan whatif: ranks single changes by their gain. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "model/train.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

#define CHANGES_MAX 32

static const struct option_spec change_list = {
    "change", "LIST", VALUE(VALUE_ANY), "evaluate only these changes, as in bandwidth=2x,cv=1%,latency=2us"
};

static const struct option_use uses[] = {
    JOB_NETWORK_USES, JOB_TRAIN_USES, { &change_list, NULL }, { NULL, NULL }
};

/* Inputs that can be changed, and the default factor. */
static const struct lever {
    const struct option_spec *option;
    size_t offset;
    double factor;
} levers[] = {
    { &option_compute, offsetof(struct train, compute_s), 0.5 },
    { &option_cv, offsetof(struct train, cv), 0.5 },
    { &option_gradient_bytes, offsetof(struct train, gradient_bytes), 0.5 },
    { &option_latency, offsetof(struct train, exchange.link.latency_s), 0.5 },
    { &option_bandwidth, offsetof(struct train, exchange.link.bytes_per_s), 2 },
    { &option_intra_latency, offsetof(struct train, exchange.intra.latency_s), 0.5 },
    { &option_intra_bandwidth, offsetof(struct train, exchange.intra.bytes_per_s), 2 },
    { &option_overlap, offsetof(struct train, overlap), 2 },
    { &job_bubble, offsetof(struct train, bubble), 0.5 },
    { &option_misc, offsetof(struct train, misc_s), 0.5 },
    { &job_checkpoint_write, offsetof(struct train, write_s), 0.5 },
    { &option_restart, offsetof(struct train, restart_s), 0.5 },
    { &job_node_mtbf, offsetof(struct train, node_mtbf_s), 2 },
    { &option_ranks, offsetof(struct train, ranks), 2 },
};

struct change {
    char name[64];
    double gain, after;
    enum train_term regime;
};

static double *field_of(struct train *t, const struct lever *l)
{
    return (double *)((char *)t + l->offset);
}

/* Hours to the target if known, else the time per rank's batch.  Smaller is better. */
static double price(const struct train_result *r)
{
    return isnan(r->hours) ? r->s_per_batch_of_rank : r->hours;
}

/* 0, or -1 if the value is unknown or the same, or nodes would not be full.  The backward pass keeps its
 * share of the work. */
static int try_value(struct train t, const struct lever *l, double value, double before,
                     struct change *change)
{
    double *field = field_of(&t, l), old = *field;
    struct train_result r;

    if (!isfinite(old) || value == old)
        return -1;
    *field = value;
    if (field == &t.compute_s)
        t.backward_s *= value / old;
    if (t.exchange.algo == COLLECTIVE_HIERARCHICAL && fmod(t.ranks, t.ranks_per_node) != 0)
        return -1;
    train_predict(&t, &r);
    change->after = price(&r);
    change->gain = before / change->after;
    change->regime = r.regime;
    return 0;
}

static const struct lever *lever_find(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_SIZE(levers); i++)
        if (strlen(levers[i].option->name) == length && !strncmp(levers[i].option->name, name, length))
            return &levers[i];
    return NULL;
}

/* Read "2x", a factor of the old value, or a value of the option's kind. */
static int read_value(const struct lever *l, const char *text, double old, double *value, struct err *err)
{
    size_t length = strlen(text);
    char number[32];

    if (length < 2 || length > sizeof(number) || text[length - 1] != 'x')
        return options_value(l->option, text, value, err);
    snprintf(number, sizeof(number), "%.*s", (int)length - 1, text);
    if (units_number(number, value, err) < 0)
        return err_prefix(err, "--change: '%s' is not accepted: 2x, or", text);
    *value *= old;
    if (*value < l->option->type.min || *value > l->option->type.max ||
        (l->option->type.kind == VALUE_COUNT && *value != floor(*value)))
        return err_set(err, "--change=%s=%s: %g is not accepted for --%s", l->option->name, text, *value,
                       l->option->name);
    return 0;
}

static int try_named(const char *list, struct train *t, double before, struct change *changes,
                     struct err *err)
{
    char names[256] = "";
    int n = 0;

    for (;; list++) {
        size_t length = strcspn(list, ",");
        struct change *change = &changes[n];
        char word[sizeof(change->name)];
        const struct lever *l;
        double value;

        snprintf(word, sizeof(word), "%.*s", (int)length, list);
        l = lever_find(word, strcspn(word, "="));
        if (!l || length >= sizeof(word) || !strchr(word, '=')) {
            for (size_t i = 0; i < ARRAY_SIZE(levers); i++)
                text_append(names, sizeof(names), "%s%s", i ? ", " : "", levers[i].option->name);
            return err_set(err, "--change: '%.40s' is not accepted: one of %s, then =2x or =VALUE", word,
                           names);
        }
        if (n == CHANGES_MAX)
            return err_set(err, "--change: at most %d changes", CHANGES_MAX);
        if (read_value(l, strchr(word, '=') + 1, *field_of(t, l), &value, err) < 0)
            return -1;
        if (l->option == &option_overlap && value > 0 && isnan(t->backward_s))
            return err_set(err, "--change=%s needs --backward=TIME: the work that can overlap communication",
                           word);
        snprintf(change->name, sizeof(change->name), "%s", word);
        if (try_value(*t, l, value, before, change) < 0)
            return err_set(err, "--change=%s changes nothing: --%s is not given, or has this value already",
                           word, l->option->name);
        n++;
        list += length;
        if (!*list)
            return n;
    }
}

static int by_gain(const void *left, const void *right)
{
    double a = ((const struct change *)left)->gain, b = ((const struct change *)right)->gain;

    return (a < b) - (a > b);
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    static const struct answer_column in_hours[] = { { "change", "CHANGE", ANSWER_WORDS },
                                                     { "gain", "FASTER", ANSWER_TIMES },
                                                     { "hours", "TO THE TARGET", ANSWER_HOURS },
                                                     { "regime", "REGIME", ANSWER_WORDS } };
    static const struct answer_column in_seconds[] = { { "change", "CHANGE", ANSWER_WORDS },
                                                       { "gain", "FASTER", ANSWER_TIMES },
                                                       { "s_per_batch_of_rank", "PER RANK'S BATCH",
                                                         ANSWER_SECONDS },
                                                       { "regime", "REGIME", ANSWER_WORDS } };
    struct change changes[CHANGES_MAX];
    struct train_result r;
    struct train t;
    int n = 0;

    if (job_train(a, &t, err) < 0)
        return -1;
    train_predict(&t, &r);
    if (options_given(a, "change")) {
        n = try_named(options_text(a, "change"), &t, price(&r), changes, err);
        if (n < 0)
            return -1;
    } else {
        for (const struct lever *l = levers; l < levers + ARRAY_SIZE(levers); l++) {
            double value = fmin(*field_of(&t, l) * l->factor, l->option->type.max);

            snprintf(changes[n].name, sizeof(changes[n].name), "%s %s", l->option->name,
                     l->factor > 1 ? "doubled" : "halved");
            n += try_value(t, l, value, price(&r), &changes[n]) == 0;
        }
    }
    qsort(changes, (size_t)n, sizeof(*changes), by_gain);
    answer_title(answer, "One change at a time, on %.0f ranks", t.ranks);
    answer_figure(answer, "hours", r.hours, ANSWER_HOURS, "time to the target without a change");
    answer_figure(answer, "iteration_s", r.iteration_s, ANSWER_SECONDS, "step without a change");
    answer_word(answer, "regime", train_terms[r.regime], "term that takes most of the time");
    answer_word(answer, "best_change", n ? changes[0].name : NULL, "change with the largest gain");
    answer_figure(answer, "best_gain", n ? changes[0].gain : NAN, ANSWER_TIMES, "faster with that change");
    answer_table(answer, "changes",
                 "Each change alone, the best first:", isnan(r.hours) ? in_seconds : in_hours,
                 ARRAY_SIZE(in_hours));
    for (int i = 0; i < n; i++) {
        answer_cell_words(answer, "%s", changes[i].name);
        answer_cells(answer, changes[i].gain, changes[i].after);
        answer_cell_words(answer, "%s", train_terms[changes[i].regime]);
    }
    answer_source(answer, "the formulas of train, with one input changed");
    answer_assumes(
        answer,
        "a change leaves all other inputs as they are, but for the backward pass, which stays the same "
        "share of --compute; the cost of a change is not considered");
    return 0;
}

const struct question question_whatif = {
    .command.name = "whatif",
    .command.operands = "",
    .command.text = "gain of single changes of a training run",
    .command.more =
        "The options are those of train. Without --change each input is halved, or doubled if larger is "
        "better. Gains are in time to the target if it is known, else in time per rank's batch.",
    .command.uses = uses,
    .run = run,
};
