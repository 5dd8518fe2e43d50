#include "rules/figures.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/suggest.h"
#include "common/text.h"
#include "common/units.h"

static const char *const states[] = {
    "starting", "running", "stalled", "suspended", "finished", "lost", NULL
};
static const char *const regimes[] = { "starting",    "compute",    "communication", "synchronisation",
                                       "oscillating", "checkpoint", "stalled",       "suspended",
                                       "unknown",     NULL };
static const char *const classes[] = { "none",      "straggler",     "drift",      "jitter",
                                       "imbalance", "communication", "congestion", "oscillation",
                                       "hang",      "lost",          NULL };
static const char *const scopes[] = { "none", "rank", "node", "switch", "link", "ranks", NULL };
static const char *const trends[] = { "none", "rising", "falling", NULL };

static const char *const no_yes[] = { "no", "yes", NULL };

#define FIGURE_OF(kind)  VALUE_RANGE(kind, -INFINITY, INFINITY)
#define AT_LEAST_0(kind) VALUE_RANGE(kind, 0, INFINITY)
#define SHARE            VALUE_RANGE(VALUE_RATIO, 0, 1)

const struct figure figure_table[FIGURES] = {
    [FIGURE_STATE] = { "state", VALUE_ONE_OF(states), "state of the step" },
    [FIGURE_REGIME] = { "regime", VALUE_ONE_OF(regimes), "what its time goes into; see sgctl(1)" },
    [FIGURE_SYNCHRONISATION_RATIO] = { "synchronisation_ratio", SHARE,
                                       "share of the ranks' time spent waiting for later ranks" },
    [FIGURE_COMPUTE_RATIO] = { "compute_ratio", SHARE, "share of the ranks' time in their own work" },
    [FIGURE_COMMUNICATION_RATIO] = { "communication_ratio", SHARE, "share of the ranks' time in transfers" },
    [FIGURE_STEP_S] = { "step_s", AT_LEAST_0(VALUE_SECONDS), "median step time of the last minute" },
    [FIGURE_STEP_P95_S] = { "step_p95_s", AT_LEAST_0(VALUE_SECONDS), "95th percentile of the step time" },
    [FIGURE_STEP_CV] = { "step_cv", AT_LEAST_0(VALUE_RATIO),
                         "standard deviation of the step time over its mean" },
    [FIGURE_STEPS_PER_S] = { "steps_per_s", AT_LEAST_0(VALUE_NUMBER), "steps per second" },
    [FIGURE_SAMPLES_PER_S] = { "samples_per_s", AT_LEAST_0(VALUE_NUMBER),
                               "samples per second; unknown unless the job reports them (syncguard(3))" },
    [FIGURE_STEPS] = { "steps", AT_LEAST_0(VALUE_COUNT), "number of steps so far" },
    [FIGURE_STALENESS] = { "staleness", AT_LEAST_0(VALUE_NUMBER),
                           "mean number of others' updates between a worker's read and its write; unknown unless workers write to "
                           "servers without waiting for one another" },
    [FIGURE_STALENESS_P95] = { "staleness_p95", AT_LEAST_0(VALUE_NUMBER), "95th percentile of that number" },
    [FIGURE_SKEW_S] = { "skew_s", AT_LEAST_0(VALUE_SECONDS),
                        "median time from the first arrival at a collective to the last" },
    [FIGURE_SKEW_P95_S] = { "skew_p95_s", AT_LEAST_0(VALUE_SECONDS), "95th percentile of that time" },
    [FIGURE_PARALLEL_EFFICIENCY] = { "parallel_efficiency", SHARE,
                                     "the POP model's parallel efficiency, of the last minute" },
    [FIGURE_VERDICTS] = { "verdicts", AT_LEAST_0(VALUE_COUNT), "number of standing verdicts" },
    [FIGURE_CLASS] = { "class", VALUE_ONE_OF(classes),
                       "class of the most costly verdict; none: there is no verdict" },
    [FIGURE_SCOPE] = { "scope", VALUE_ONE_OF(scopes), "kind of culprit of that verdict" },
    [FIGURE_SLOWDOWN] = { "slowdown", VALUE_RANGE(VALUE_RATIO, 1, INFINITY),
                          "step time over the step time without that verdict's cause" },
    [FIGURE_PERSISTENCE_S] = { "persistence_s", AT_LEAST_0(VALUE_SECONDS),
                               "how long that verdict's cause has lasted, as far as its onset is known" },
    [FIGURE_CULPRITS] = { "culprits", AT_LEAST_0(VALUE_COUNT),
                          "how many ranks, nodes or switches that verdict names" },
    [FIGURE_CULPRIT] = { "culprit", VALUE(VALUE_ANY), "the first of them, such as r3 or a node's name" },
    [FIGURE_CAUSE] = { "cause", VALUE(VALUE_ANY), "further findings on that culprit" },
    [FIGURE_ACKNOWLEDGED] = { "acknowledged", VALUE_ONE_OF(no_yes), "that verdict was acknowledged" },
    [FIGURE_LATENESS_S] = { "lateness_s", AT_LEAST_0(VALUE_SECONDS), "largest mean lateness of a rank" },
    [FIGURE_LAST_RATIO] = { "last_ratio", SHARE, "share of the collectives in which that rank came last" },
    [FIGURE_TREND] = { "trend", VALUE_ONE_OF(trends), "where synchronisation_ratio is heading" },
    [FIGURE_SYNCHRONISATION_PER_HOUR] = { "synchronisation_per_hour", FIGURE_OF(VALUE_RATIO),
                                          "change of synchronisation_ratio per hour" },
    [FIGURE_STEP_PER_HOUR] = { "step_per_hour", FIGURE_OF(VALUE_RATIO),
                               "relative growth of the step time per hour" },
    [FIGURE_REACH_S] = { "reach_s", AT_LEAST_0(VALUE_SECONDS), "until the regime is projected to change" },
    [FIGURE_WARNING] = { "warning", VALUE_ONE_OF(no_yes),
                         "synchronisation_ratio fluctuates ever wider and slower" },
    [FIGURE_PAST_STEP_RATIO] = { "past_step_ratio", AT_LEAST_0(VALUE_RATIO),
                                 "step time over the median of similar earlier runs" },
    [FIGURE_UNUSUAL] = { "unusual", VALUE_ONE_OF(no_yes),
                         "the run differs unusually from similar earlier runs" },
    [FIGURE_LOSS] = { "loss", FIGURE_OF(VALUE_NUMBER),
                      "newest loss, median of the ranks; unknown unless the job reports it (syncguard(3))" },
    [FIGURE_GRAD_NORM] = { "grad_norm", AT_LEAST_0(VALUE_NUMBER), "newest norm of the gradient, likewise" },
    [FIGURE_NON_FINITE] = { "non_finite", VALUE_ONE_OF(no_yes),
                            "newest loss or norm of the gradient of a rank is infinite or not a number; unknown unless the job "
                            "reports one" },
    [FIGURE_ELAPSED_S] = { "elapsed_s", AT_LEAST_0(VALUE_SECONDS), "since the step began" },
    [FIGURE_TIME_LEFT_S] = { "time_left_s", FIGURE_OF(VALUE_SECONDS), "until the job's time limit" },
    [FIGURE_QUIET_S] = { "quiet_s", AT_LEAST_0(VALUE_SECONDS), "since the last telemetry" },
    [FIGURE_RANKS] = { "ranks", AT_LEAST_0(VALUE_COUNT), "guarded ranks" },
    [FIGURE_NODES] = { "nodes", AT_LEAST_0(VALUE_COUNT), "nodes of the step" },
    [FIGURE_OVERHEAD_RATIO] = { "overhead_ratio", AT_LEAST_0(VALUE_RATIO),
                                "estimated cost of the guard, as a share of the ranks' time" },
    [FIGURE_RESTARTS] = { "restarts", AT_LEAST_0(VALUE_COUNT), "how often the job was requeued" },
    [FIGURE_PARTITION] = { "partition", VALUE(VALUE_ANY), "the job's partition" },
    [FIGURE_ACCOUNT] = { "account", VALUE(VALUE_ANY), "the job's account" },
    [FIGURE_QOS] = { "qos", VALUE(VALUE_ANY), "the job's quality of service" },
    [FIGURE_USER] = { "user", VALUE(VALUE_ANY), "the job's user" },
    [FIGURE_NAME] = { "name", VALUE(VALUE_ANY), "the job's name" },
};

void figures_clear(struct figures *f)
{
    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < FIGURES; i++)
        f->value[i] = NAN;
}

void figures_word(struct figures *f, enum figure_id id, const char *word)
{
    f->value[id] = NAN;
    for (int i = 0; word && figure_table[id].type.words[i]; i++)
        if (!strcmp(figure_table[id].type.words[i], word))
            f->value[id] = i;
}

void figures_text(struct figures *f, enum figure_id id, const char *text)
{
    f->text[id] = text && *text ? text : NULL;
}

bool figure_is_flag(enum figure_id id)
{
    return figure_table[id].type.words == no_yes;
}

int figure_find(const char *name)
{
    for (int i = 0; i < FIGURES; i++)
        if (!strcasecmp(figure_table[i].name, name))
            return i;
    return -1;
}

const char *figure_alike(const char *name)
{
    struct suggestion near = suggest_for(name);

    for (size_t i = 0; i < FIGURES; i++)
        suggest_offer(&near, figure_table[i].name);
    return near.best;
}

char *figure_write_value(enum figure_id id, double value, char *buf, size_t size)
{
    const struct value_type *t = &figure_table[id].type;

    if (isnan(value))
        snprintf(buf, size, "?");
    else if (t->kind == VALUE_RATIO && fabs(value) < 1)
        units_format_percent(buf, size, value);
    else if (t->kind == VALUE_SECONDS)
        units_format_s(buf, size, value);
    else if (t->kind == VALUE_WORD)
        snprintf(buf, size, "%s", t->words[(int)value]);
    else if (t->kind == VALUE_COUNT)
        snprintf(buf, size, "%.0f", value);
    else
        snprintf(buf, size, "%.4g", value);
    return buf;
}

char *figure_write(const struct figures *f, enum figure_id id, char *buf, size_t size)
{
    if (!value_is_text(&figure_table[id].type))
        return figure_write_value(id, f->value[id], buf, size);
    snprintf(buf, size, "%.64s", f->text[id] ? f->text[id] : "?");
    return buf;
}

char *figure_accepts(enum figure_id id, char *buf, size_t size)
{
    if (!value_is_text(&figure_table[id].type))
        return value_accepts(&figure_table[id].type, buf, size);
    snprintf(buf, size, "a name, in quotes where it has blanks");
    return buf;
}

void figures_print(FILE *out, int columns)
{
    char accepts[160];

    for (int i = 0; i < FIGURES; i++) {
        fprintf(out, "  %s\n", figure_table[i].name);
        text_wrap(out, figure_table[i].text, 6, columns);
        text_wrap(out, figure_accepts((enum figure_id)i, accepts, sizeof(accepts)), 6, columns);
    }
}

void figures_mdoc(FILE *out)
{
    char accepts[160];

    fputs(".Bl -tag -width Ds\n", out);
    for (int i = 0; i < FIGURES; i++) {
        const char *text = figure_table[i].text;

        fprintf(out, ".It Cm %s\n%c%s; %s.\n", figure_table[i].name,
                *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, text + 1,
                figure_accepts((enum figure_id)i, accepts, sizeof(accepts)));
    }
    fputs(".El\n", out);
}
