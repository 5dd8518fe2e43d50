#include "rules/condition.h"

#include <stdlib.h>

#include "detect/trend.h"
#include "tests/tap.h"

/* A job with 12 % lost, a straggler on n5 of slowdown 1.25 and an unknown time limit. */
static void figures(struct figures *f)
{
    figures_clear(f);
    f->value[FIGURE_SYNCHRONISATION_RATIO] = 0.12;
    f->value[FIGURE_STEP_S] = 0.5;
    f->value[FIGURE_STEP_P95_S] = 0.7;
    f->value[FIGURE_SLOWDOWN] = 1.25;
    f->value[FIGURE_RANKS] = 64;
    f->value[FIGURE_STEPS] = 0;
    f->value[FIGURE_STEP_PER_HOUR] = -0.02;
    f->value[FIGURE_WARNING] = 0;
    f->value[FIGURE_UNUSUAL] = 1;
    figures_word(f, FIGURE_CLASS, "straggler");
    figures_word(f, FIGURE_SCOPE, "node");
    figures_word(f, FIGURE_REGIME, "synchronisation");
    f->text[FIGURE_CULPRIT] = "n5";
    f->text[FIGURE_NAME] = "big model";
}

static const struct {
    const char *text;
    enum truth want;
} truths[] = {
    { "synchronisation_ratio > 5%", TRUTH_YES },
    { "synchronisation_ratio>0.05", TRUTH_YES },
    { "SYNCHRONISATION_RATIO > 5 %", TRUTH_YES },
    { "synchronisation_ratio > 12%", TRUTH_NO },
    { "synchronisation_ratio >= 12%", TRUTH_YES },
    { "synchronisation_ratio <= 12%", TRUTH_YES },
    { "synchronisation_ratio < 12%", TRUTH_NO },
    { "slowdown > 1.2", TRUTH_YES },
    { "slowdown > 125%", TRUTH_NO },
    { "step_s < 600ms", TRUTH_YES },
    { "step_s == 500ms", TRUTH_YES },
    { "step_p95_s > step_s", TRUTH_YES },
    { "step_s > step_p95_s", TRUTH_NO },
    { "ranks >= 64", TRUTH_YES },
    { "ranks > 0.1K", TRUTH_NO },
    { "steps == 0", TRUTH_YES },
    { "step_per_hour < -1%", TRUTH_YES },
    { "class == straggler", TRUTH_YES },
    { "class = Straggler", TRUTH_YES },
    { "class != drift", TRUTH_YES },
    { "class == none", TRUTH_NO },
    { "culprit == n5", TRUTH_YES },
    { "culprit != 'n6'", TRUTH_YES },
    { "name == \"big model\"", TRUTH_YES },
    { "name == 'big'", TRUTH_NO },
    { "unusual", TRUTH_YES },
    { "warning", TRUTH_NO },
    { "not warning", TRUTH_YES },
    { "warning == no", TRUTH_YES },
    { "unusual != yes", TRUTH_NO },
    { "ranks > 1 and steps > 1", TRUTH_NO },
    { "ranks > 1 or steps > 1", TRUTH_YES },
    /* "and" binds closer than "or", "not" closer than both */
    { "steps > 1 and steps > 1 or ranks > 1", TRUTH_YES },
    { "steps > 1 and (steps > 1 or ranks > 1)", TRUTH_NO },
    { "ranks > 1 or ranks > 1 and steps > 1", TRUTH_YES },
    { "not steps > 1 and ranks > 1", TRUTH_YES },
    { "not (steps > 1 or ranks > 1)", TRUTH_NO },
    { "not not ranks > 1", TRUTH_YES },
    /* Kleene's tables; time_left_s, partition and trend are unknown */
    { "time_left_s < 10m", TRUTH_UNKNOWN },
    { "time_left_s != 10m", TRUTH_UNKNOWN },
    { "staleness_p95 > 20", TRUTH_UNKNOWN },
    { "not time_left_s < 10m", TRUTH_UNKNOWN },
    { "reach_s < time_left_s", TRUTH_UNKNOWN },
    { "partition == gpu", TRUTH_UNKNOWN },
    { "partition != gpu", TRUTH_UNKNOWN },
    { "trend != rising", TRUTH_UNKNOWN },
    { "time_left_s < 10m and ranks > 1", TRUTH_UNKNOWN },
    { "time_left_s < 10m and steps > 1", TRUTH_NO },
    { "steps > 1 and time_left_s < 10m", TRUTH_NO },
    { "time_left_s < 10m or ranks > 1", TRUTH_YES },
    { "ranks > 1 or time_left_s < 10m", TRUTH_YES },
    { "time_left_s < 10m or steps > 1", TRUTH_UNKNOWN },
    { "time_left_s < 10m for 0s", TRUTH_UNKNOWN },
    { "ranks > 1 for 0s", TRUTH_YES },
    { "ranks > 1 for 1s", TRUTH_NO },
};

static void test_truths(void)
{
    struct condition_memory m;
    struct figures f;

    figures(&f);
    for (size_t i = 0; i < ARRAY_SIZE(truths); i++) {
        struct condition c;
        struct err err = { "" };
        enum truth got = TRUTH_UNKNOWN;

        condition_forget(&m);
        if (condition_parse(&c, truths[i].text, &err) == 0)
            got = condition_eval(&c, &f, 100, false, 0, &m);
        ok(!err.text[0] && got == truths[i].want, "%s: %s %s", truths[i].text, truth_name(got), err.text);
    }
}

static const struct {
    const char *text, *want;
} mistakes[] = {
    { "", "column 1: a figure, \"not\" or \"(\" is expected" },
    { "synchronisation_ration > 5%",
      "column 1: unknown figure 'synchronisation_ration'. Did you mean 'synchronisation_ratio'?" },
    { "ranks > 1 and clas == drift", "column 15: unknown figure 'clas'. Did you mean 'class'?" },
    { "class == straggler and confidence > 0.9",
      "column 24: unknown figure 'confidence'; `sgctl policy figures` lists them" },
    { "zzz > 1", "column 1: unknown figure 'zzz'; `sgctl policy figures` lists them" },
    { "synchronisation_ratio",
      "column 22: a comparison of synchronisation_ratio is expected: >, >=, <, <=, == or !=" },
    { "synchronisation_ratio >",
      "column 24: cannot compare synchronisation_ratio with '': expected a ratio such as 0.05 or 5%" },
    { "synchronisation_ratio > 5s",
      "column 25: cannot compare synchronisation_ratio with '5s': expected a ratio such as 0.05 or 5%" },
    { "synchronisation_ratio > ranks",
      "column 25: cannot compare synchronisation_ratio with 'ranks': expected a ratio such as 0.05 or 5%" },
    { "step_s > 5%",
      "column 10: cannot compare step_s with '5%': expected a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or 1-12:00:00" },
    { "step_s > -5s",
      "column 10: cannot compare step_s with '-5s': expected a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or 1-12:00:00" },
    { "synchronisation_ratio > nan",
      "column 25: cannot compare synchronisation_ratio with 'nan': expected a ratio such as 0.05 or 5%" },
    { "class == stragler",
      "column 10: cannot compare class with 'stragler': expected none, straggler, drift, jitter, imbalance, "
      "communication, congestion, oscillation, hang or lost" },
    { "slowdown > 5%",
      "column 12: 'slowdown > 5%' is always true: slowdown is at least 1. Did you mean 'slowdown > 1.05'?" },
    { "not slowdown <= 50 %",
      "column 17: 'slowdown <= 50%' is never true: slowdown is at least 1. Did you mean 'slowdown <= 1.5'?" },
    { "slowdown < 1", "column 12: 'slowdown < 1' is never true: slowdown is at least 1" },
    { "synchronisation_ratio > 5",
      "column 25: 'synchronisation_ratio > 5' is never true: synchronisation_ratio is from 0 to 1. Did you mean "
      "'synchronisation_ratio > 5%'?" },
    { "last_ratio <= 100%", "column 15: 'last_ratio <= 100%' is always true: last_ratio is from 0 to 1" },
    { "ranks > 1 and steps >= 0", "column 24: 'steps >= 0' is always true: steps is never negative" },
    { "parallel_efficiency == 2",
      "column 24: 'parallel_efficiency == 2' is never true: parallel_efficiency is from 0 to 1. Did you mean "
      "'parallel_efficiency == 2%'?" },
    { "class > drift", "column 9: class has no order: == and != are accepted" },
    { "culprit < n5", "column 11: culprit has no order: == and != are accepted" },
    { "warning == maybe", "column 12: cannot compare warning with 'maybe': expected no or yes" },
    { "ranks > 1 for",
      "column 14: invalid time '': a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or "
      "1-12:00:00; from 0 s to 1d00h" },
    { "ranks > 1 for 2d", "column 15: invalid time '2d': a time from 0 s to 1d00h" },
    { "ranks > 1 ranks", "column 11: 'ranks': \"and\", \"or\", \"for\" or the end is expected" },
    { "(ranks > 1", "column 11: \"and\", \"or\" or \")\" is expected" },
    { "ranks > 1)", "column 10: ')': \"and\", \"or\", \"for\" or the end is expected" },
    { "ranks > 1 and", "column 14: a figure, \"not\" or \"(\" is expected" },
    { "name == 'open",
      "column 9: cannot compare name with 'open': expected a name, in quotes where it has blanks" },
    { "ranks ! 1", "column 7: a comparison of ranks is expected: >, >=, <, <=, == or !=" },
    { "not not not not not not not not not not not not not not not not ranks > 1",
      "column 65: nested too deeply: at most 16 times" },
};

static void test_mistakes(void)
{
    char text[2 * CONDITION_TEXT_MAX] = "";
    struct condition c;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
        err.text[0] = '\0';
        condition_parse(&c, mistakes[i].text, &err);
        is_str(err.text, mistakes[i].want, "a wrong condition is rejected with its reason: %s",
               mistakes[i].text);
    }
    for (int i = 0; i < 30; i++)
        strcat(text, i ? " or ranks>1" : "ranks>1");
    ok(condition_parse(&c, text, &err) < 0 && strstr(err.text, "too long"),
       "a condition of too many comparisons is refused: %s", err.text);
    memset(text, ' ', sizeof(text) - 1);
    ok(condition_parse(&c, text, &err) < 0 && strstr(err.text, "at most 511"),
       "a condition of more than 511 characters is refused: %s", err.text);
    text[0] = '\0';
    for (int i = 0; i < 9; i++)
        strcat(text, i ? " or ranks>1 for 1s" : "ranks>1 for 1s");
    ok(condition_parse(&c, text, &err) < 0 && strstr(err.text, "at most 8"),
       "a condition with more than 8 for is refused: %s", err.text);
}

/* Rows: time, synchronisation_ratio (percent), expected truth. */
static const struct {
    double at_s, percent;
    enum truth want;
} held[] = {
    { 0, 4, TRUTH_NO },     { 1, 6, TRUTH_NO },    { 10, 6, TRUTH_NO },        { 11, 6, TRUTH_YES },
    { 12, 4.6, TRUTH_YES }, { 13, 4.4, TRUTH_NO }, { 14, 4.6, TRUTH_NO },      { 30, 4.6, TRUTH_NO },
    { 31, 6, TRUTH_NO },    { 41, 6, TRUTH_YES },  { 42, NAN, TRUTH_UNKNOWN }, { 43, 6, TRUTH_NO },
    { 53, 6, TRUTH_YES },
};

static void test_for(void)
{
    struct condition_memory m;
    struct condition c;
    struct figures f;

    figures(&f);
    condition_forget(&m);
    condition_parse(&c, "synchronisation_ratio > 5% for 10s and class == straggler", NULL);
    for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
        f.value[FIGURE_SYNCHRONISATION_RATIO] = held[i].percent / 100;
        ok(condition_eval(&c, &f, held[i].at_s, false, 0.1, &m) == held[i].want,
           "for 10 s, at %g s with %g %%: %s", held[i].at_s, held[i].percent, truth_name(held[i].want));
    }
    /* Both sides are evaluated although the left one decides. */
    condition_parse(&c, "class == drift and ranks > 1 for 10s", NULL);
    condition_forget(&m);
    condition_eval(&c, &f, 0, false, 0, &m);
    figures_word(&f, FIGURE_CLASS, "drift");
    ok(condition_eval(&c, &f, 10, false, 0, &m) == TRUTH_YES,
       "a for keeps time while the other side is false");
}

static const struct {
    const char *text;
    double percent;
    bool held;
    enum truth want;
} hysteresis[] = {
    { "synchronisation_ratio > 10%", 9.5, false, TRUTH_NO },
    { "synchronisation_ratio > 10%", 9.5, true, TRUTH_YES },
    { "synchronisation_ratio > 10%", 8.5, true, TRUTH_NO },
    { "synchronisation_ratio < 10%", 10.5, false, TRUTH_NO },
    { "synchronisation_ratio < 10%", 10.5, true, TRUTH_YES },
    { "synchronisation_ratio < 10%", 11.5, true, TRUTH_NO },
    { "not synchronisation_ratio < 10%", 9.5, false, TRUTH_NO },
    { "not synchronisation_ratio < 10%", 9.5, true, TRUTH_YES },
    { "not synchronisation_ratio > 10%", 10.5, true, TRUTH_YES },
    { "not (synchronisation_ratio > 10% or ranks > 1000)", 10.5, true, TRUTH_YES },
    { "synchronisation_ratio == 10%", 9.5, true, TRUTH_NO },
    { "synchronisation_per_hour > -10%", -10.5, true, TRUTH_YES },
    { "synchronisation_per_hour > -10%", -11.5, true, TRUTH_NO },
    { "slowdown > 1.1", 9.5, true, TRUTH_YES }, /* per cent of the undisturbed step */
    { "slowdown > 1.1", 8.5, true, TRUTH_NO },
    { "parallel_efficiency < 95%", 95.4, true, TRUTH_YES },
    { "parallel_efficiency < 95%", 95.6, true, TRUTH_NO },
};

static void test_hysteresis(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(hysteresis); i++) {
        struct condition_memory m;
        struct condition c;
        struct figures f;

        figures(&f);
        f.value[FIGURE_SYNCHRONISATION_RATIO] = f.value[FIGURE_SYNCHRONISATION_PER_HOUR] =
            f.value[FIGURE_PARALLEL_EFFICIENCY] = hysteresis[i].percent / 100;
        f.value[FIGURE_SLOWDOWN] = 1 + hysteresis[i].percent / 100;
        condition_forget(&m);
        condition_parse(&c, hysteresis[i].text, NULL);
        ok(condition_eval(&c, &f, 0, hysteresis[i].held, 0.1, &m) == hysteresis[i].want, "%s at %g %%%s: %s",
           hysteresis[i].text, hysteresis[i].percent, hysteresis[i].held ? ", held" : "",
           truth_name(hysteresis[i].want));
    }
}

static const struct {
    const char *text, *want;
} explained[] = {
    { "synchronisation_ratio > 5% for 30s and class==straggler",
      "synchronisation_ratio (12.0 %) > 5.00 % for 30.0 s and class (straggler) == straggler" },
    { "warning or not(step_s>1s and ranks<3)",
      "warning (no) or not (step_s (500 ms) > 1.00 s and ranks (64) < 3)" },
    { "slowdown>1.2 and (unusual or culprit=n5)",
      "slowdown (1.25) > 1.2 and (unusual (yes) or culprit (n5) == 'n5')" },
    { "time_left_s<10m and reach_s<time_left_s",
      "time_left_s (?) < 10m00s and reach_s (?) < time_left_s (?)" },
};

static void test_words(void)
{
    struct condition_term term[8];
    struct condition c;
    struct figures f;
    char text[512], small[8];

    figures(&f);
    for (size_t i = 0; i < ARRAY_SIZE(explained); i++) {
        condition_parse(&c, explained[i].text, NULL);
        is_str(condition_explain(&c, &f, text, sizeof(text)), explained[i].want,
               "condition_explain() has the values of: %s", explained[i].text);
    }
    is_str(condition_explain(&c, &f, small, sizeof(small)), "time_le",
           "an explained condition is cut to its buffer");
    condition_parse(&c, "synchronisation_ratio > 5% for 30s and (time_left_s < 5m or not class == drift)",
                    NULL);
    is_int((long long)condition_terms(&c, &f, term, 8), 3, "a condition of 3 comparisons has 3 terms");
    ok(!strcmp(term[0].text, "synchronisation_ratio > 5.00 %") && !strcmp(term[0].value, "12.0 %") &&
           term[0].truth == TRUTH_YES,
       "%s: %s", term[0].text, term[0].value);
    ok(!strcmp(term[1].value, "?") && term[1].truth == TRUTH_UNKNOWN, "the term %s is unknown", term[1].text);
    ok(term[2].truth == TRUTH_NO, "the term %s is not true", term[2].text);
    is_int((long long)condition_terms(&c, &f, term, 2), 2, "condition_terms() returns at most max terms");
}

static void test_names(void)
{
    struct condition c;
    struct err err;

    condition_parse(&c, "ranks > 1 and not (step_s > 1s or non_finite)", &err);
    ok(condition_names(&c, FIGURE_NON_FINITE) && condition_names(&c, FIGURE_STEP_S) &&
           !condition_names(&c, FIGURE_STATE),
       "condition_names() finds the figures that are compared, and no other");
    condition_parse(&c, "step_p95_s > step_s", &err);
    ok(condition_names(&c, FIGURE_STEP_S),
       "condition_names() finds a figure that another one is compared with");
}

static void test_table(void)
{
    char *text = NULL, buf[64];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0; i < FIGURES; i++) {
        ok(figure_table[i].name && figure_table[i].text &&
               (figure_table[i].type.kind == VALUE_WORD) == !!figure_table[i].type.words,
           "figure %d is %s", i, figure_table[i].name);
        if (figure_find(figure_table[i].name) != i)
            ok(false, "figure %s is in the table twice", figure_table[i].name);
    }
    for (int d = TREND_NONE; d <= TREND_FALLING; d++) {
        struct figures f;

        figures_word(&f, FIGURE_TREND, trend_name((enum trend_direction)d));
        is_str(figure_write(&f, FIGURE_TREND, buf, sizeof(buf)), trend_name((enum trend_direction)d),
               "a trend has the same name in a condition");
    }
    figures_print(out, 80);
    fclose(out);
    ok(strstr(text, "synchronisation_ratio") && strstr(text, "none, rank, node, switch, link"),
       "the printed table of figures has names and values");
    free(text);
}

int main(void)
{
    test_truths();
    test_mistakes();
    test_for();
    test_hysteresis();
    test_words();
    test_names();
    test_table();
    return done_testing();
}
