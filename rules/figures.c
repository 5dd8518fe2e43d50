#include "rules/figures.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/suggest.h"
#include "common/text.h"
#include "common/units.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const states[] = { "starting", "running", "stalled", "finished", "lost", NULL };
static const char *const regimes[] = { "starting",    "compute",    "communication", "synchronisation",
                                       "oscillating", "checkpoint", "stalled",       NULL };
static const char *const classes[] = { "none",          "straggler",  "drift",       "jitter", "imbalance",
                                       "communication", "congestion", "oscillation", "hang",   NULL };
static const char *const scopes[] = { "none", "rank", "node", "switch", NULL };
static const char *const trends[] = { "none", "rising", "falling", NULL };

const struct figure figure_table[FIGURES] = {
    [FIGURE_STATE] = { "state", FIGURE_WORD, "how the step is", states },
    [FIGURE_REGIME] = { "regime", FIGURE_WORD, "what its time goes to", regimes },
    [FIGURE_SYNCHRONISATION_RATIO] = { "synchronisation_ratio", FIGURE_RATIO,
                                       "share of the ranks' time spent waiting for later ranks", NULL },
    [FIGURE_COMPUTE_RATIO] = { "compute_ratio", FIGURE_RATIO, "share of the ranks' time in their own work",
                               NULL },
    [FIGURE_COMMUNICATION_RATIO] = { "communication_ratio", FIGURE_RATIO,
                                     "share of the ranks' time in transfers", NULL },
    [FIGURE_STEP_S] = { "step_s", FIGURE_SECONDS, "median step time of the last minute", NULL },
    [FIGURE_STEP_P95_S] = { "step_p95_s", FIGURE_SECONDS, "its 95th percentile", NULL },
    [FIGURE_STEP_CV] = { "step_cv", FIGURE_RATIO, "standard deviation of the step time over its mean", NULL },
    [FIGURE_STEPS_PER_S] = { "steps_per_s", FIGURE_NUMBER, "steps a second", NULL },
    [FIGURE_SAMPLES_PER_S] = { "samples_per_s", FIGURE_NUMBER,
                               "samples a second; unknown unless the job tells them (syncguard(3))", NULL },
    [FIGURE_STEPS] = { "steps", FIGURE_COUNT, "steps done", NULL },
    [FIGURE_SKEW_S] = { "skew_s", FIGURE_SECONDS,
                        "median time from the first arrival at a collective to the last", NULL },
    [FIGURE_SKEW_P95_S] = { "skew_p95_s", FIGURE_SECONDS, "its 95th percentile", NULL },
    [FIGURE_PARALLEL_EFFICIENCY] = { "parallel_efficiency", FIGURE_RATIO,
                                     "the POP model's parallel efficiency, lately", NULL },
    [FIGURE_VERDICTS] = { "verdicts", FIGURE_COUNT, "verdicts that stand", NULL },
    [FIGURE_CLASS] = { "class", FIGURE_WORD, "of the most costly verdict; none: no verdict stands", classes },
    [FIGURE_SCOPE] = { "scope", FIGURE_WORD, "what that verdict blames", scopes },
    [FIGURE_SLOWDOWN] = { "slowdown", FIGURE_RATIO,
                          "step time over the step time without that verdict's cause", NULL },
    [FIGURE_PERSISTENCE_S] = { "persistence_s", FIGURE_SECONDS,
                               "how long that verdict's cause has lasted, as far as its onset is known",
                               NULL },
    [FIGURE_CULPRITS] = { "culprits", FIGURE_COUNT, "how many ranks, nodes or switches that verdict names",
                          NULL },
    [FIGURE_CULPRIT] = { "culprit", FIGURE_TEXT, "the first of them, such as r3 or a node's name", NULL },
    [FIGURE_CAUSE] = { "cause", FIGURE_TEXT, "what else is known of the culprit", NULL },
    [FIGURE_ACKNOWLEDGED] = { "acknowledged", FIGURE_FLAG, "somebody has seen that verdict and said so",
                              NULL },
    [FIGURE_LATENESS_S] = { "lateness_s", FIGURE_SECONDS, "largest mean lateness of a rank", NULL },
    [FIGURE_LAST_RATIO] = { "last_ratio", FIGURE_RATIO,
                            "share of the collectives in which that rank came last", NULL },
    [FIGURE_TREND] = { "trend", FIGURE_WORD, "where synchronisation_ratio is heading", trends },
    [FIGURE_SYNCHRONISATION_PER_HOUR] = { "synchronisation_per_hour", FIGURE_RATIO,
                                          "by how much synchronisation_ratio changes an hour", NULL },
    [FIGURE_STEP_PER_HOUR] = { "step_per_hour", FIGURE_RATIO, "growth of the step time, of itself an hour",
                               NULL },
    [FIGURE_REACH_S] = { "reach_s", FIGURE_SECONDS, "until the regime is projected to change", NULL },
    [FIGURE_WARNING] = { "warning", FIGURE_FLAG, "synchronisation_ratio fluctuates ever wider and slower",
                         NULL },
    [FIGURE_PAST_STEP_RATIO] = { "past_step_ratio", FIGURE_RATIO,
                                 "step time over that of earlier runs like this one", NULL },
    [FIGURE_UNUSUAL] = { "unusual", FIGURE_FLAG, "the run is outside of what is usual for runs like it",
                         NULL },
    [FIGURE_ELAPSED_S] = { "elapsed_s", FIGURE_SECONDS, "since the step began", NULL },
    [FIGURE_TIME_LEFT_S] = { "time_left_s", FIGURE_SECONDS, "until the job's time limit", NULL },
    [FIGURE_QUIET_S] = { "quiet_s", FIGURE_SECONDS, "since the last telemetry", NULL },
    [FIGURE_RANKS] = { "ranks", FIGURE_COUNT, "guarded ranks", NULL },
    [FIGURE_NODES] = { "nodes", FIGURE_COUNT, "nodes of the step", NULL },
    [FIGURE_OVERHEAD_RATIO] = { "overhead_ratio", FIGURE_RATIO,
                                "estimated cost of the guard, of the ranks' time", NULL },
    [FIGURE_RESTARTS] = { "restarts", FIGURE_COUNT, "how often the job was requeued", NULL },
    [FIGURE_PARTITION] = { "partition", FIGURE_TEXT, "the job's partition", NULL },
    [FIGURE_ACCOUNT] = { "account", FIGURE_TEXT, "the job's account", NULL },
    [FIGURE_QOS] = { "qos", FIGURE_TEXT, "the job's quality of service", NULL },
    [FIGURE_USER] = { "user", FIGURE_TEXT, "the job's user", NULL },
    [FIGURE_NAME] = { "name", FIGURE_TEXT, "the job's name", NULL },
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
    for (int i = 0; figure_table[id].words[i]; i++)
        if (!strcmp(figure_table[id].words[i], word))
            f->value[id] = i;
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
    const struct figure *figure = &figure_table[id];

    if (isnan(value))
        snprintf(buf, size, "?");
    else if (figure->kind == FIGURE_RATIO && fabs(value) < 1)
        units_format_percent(buf, size, value);
    else if (figure->kind == FIGURE_SECONDS)
        units_format_s(buf, size, value);
    else if (figure->kind == FIGURE_WORD)
        snprintf(buf, size, "%s", figure->words[(int)value]);
    else if (figure->kind == FIGURE_FLAG)
        snprintf(buf, size, "%s", value != 0 ? "yes" : "no");
    else if (figure->kind == FIGURE_COUNT)
        snprintf(buf, size, "%.0f", value);
    else
        snprintf(buf, size, "%.4g", value);
    return buf;
}

char *figure_write(const struct figures *f, enum figure_id id, char *buf, size_t size)
{
    if (figure_table[id].kind != FIGURE_TEXT)
        return figure_write_value(id, f->value[id], buf, size);
    snprintf(buf, size, "%.64s", f->text[id] ? f->text[id] : "?");
    return buf;
}

static const char *const accepted[] = {
    [FIGURE_RATIO] = "a ratio such as 0.05 or 5%",
    [FIGURE_SECONDS] = "a time such as 250ms, 30s or 5m",
    [FIGURE_NUMBER] = "a number such as 0.08 or 1e-3",
    [FIGURE_COUNT] = "a whole number such as 64 or 1.5K",
    [FIGURE_FLAG] = "yes or no",
    [FIGURE_TEXT] = "a name, in quotes where it has blanks",
};

char *figure_accepts(enum figure_id id, char *buf, size_t size)
{
    const char *const *words = figure_table[id].words;
    size_t at;

    if (figure_table[id].kind != FIGURE_WORD) {
        snprintf(buf, size, "%s", accepted[figure_table[id].kind]);
        return buf;
    }
    at = (size_t)snprintf(buf, size, "one of ");
    for (size_t i = 0; words[i] && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", words[i]);
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
