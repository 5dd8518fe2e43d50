/* Answers into structs: what is believed, what is not, and where it is cut. */
#include "common/utf8.h"
#include "report/report.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/tap.h"
#include "tui/look.h"

static json_t *json(const char *text)
{
    json_error_t at;
    json_t *v = json_loads(text, 0, &at);

    if (!v)
        printf("# %s: %s\n", text, at.text);
    return v;
}

static void test_text(void)
{
    static const struct {
        const char *from, *want;
        size_t size;
    } cases[] = {
        { "train-lm", "train-lm", 64 },
        { "équilibre", "équilibre", 64 },
        { "équilibre", "", 2 }, /* half a character is none */
        { "équilibre", "é", 3 },
        { "red \033[31m", "red ?[31m", 64 },
        { "tab\tnew\nline\177", "tab?new?line?", 64 },
        { "c1 \302\233m", "c1 ?m", 64 },                         /* a control sequence of one character */
        { "turned \342\200\256gpj.exe", "turned ?gpj.exe", 64 }, /* right to left */
        { "\377\376 broken \303", "?? broken ?", 64 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char to[64];

        utf8_clean(to, cases[i].size, cases[i].from);
        is_str(to, cases[i].want, "utf8_clean() replaces what a terminal must not get, case %zu", i);
    }
}

static struct report *view(const char *text)
{
    json_t *o = json(text);
    struct report *v = report_read(o, NULL);

    json_decref(o);
    return v;
}

static void test_unknown(void)
{
    struct report *v = view(
        "{\"id\":\"1.0\",\"ranks\":-5,\"steps\":null,\"steps_per_s\":\"fast\",\"synchronisation_ratio\":1e300,"
        "\"step_s\":7,\"worst\":null,\"verdicts\":{},\"rank_table\":[7,null,{\"rank\":3}]}");

    if (!ok(v != NULL, "an answer whose values are invalid is read as a job"))
        return;
    ok(v->job.ranks == -1, "a negative count is unknown");
    ok(v->job.steps == -1, "null is unknown");
    ok(isnan(v->job.steps_per_s), "a number of another type is unknown");
    ok(isnan(v->job.synchronisation_ratio), "an absurd number is unknown");
    ok(isnan(v->job.step_p50_s), "an object of another type is unknown");
    ok(v->job.verdicts.n == 0, "invalid verdicts are left out");
    ok(v->n_ranks == 3 && v->rank[0].rank == -1 && v->rank[2].rank == 3, "invalid rows have unknown values");
    ok(v->agents.total == -1, "missing agents are unknown");
    ok(report_row_severity(&v->job) == SEVERITY_NONE, "a job of unknown state is neither good nor bad");
    report_free(v);
}

static void test_limits(void)
{
    json_t *o = json("{\"id\":\"1.0\",\"state\":\"running\"}"), *rows = json_array(), *heat = json_array();
    json_t *series = json_array(), *events = json_array();
    struct report *v;
    char levels[1001];

    memset(levels, '9', 1000);
    levels[999] = '1';
    levels[998] = 'x';
    levels[1000] = '\0';
    for (int i = 0; i < 3000; i++) {
        json_array_append_new(rows, json_pack("{s:i}", "rank", i));
        json_array_append_new(heat, json_pack("{s:i, s:s}", "rank", i, "levels", levels));
        json_array_append_new(series, json_integer(i));
        json_array_append_new(events, json_pack("{s:i, s:s}", "age_s", i, "text", "event"));
    }
    json_object_set_new(o, "rank_table", rows);
    json_object_set_new(o, "heat", json_pack("{s:o}", "rows", heat));
    json_object_set_new(o, "history", json_pack("{s:o}", "step_s", series));
    json_object_set_new(o, "events", events);
    v = report_read(o, NULL);
    json_decref(o);
    if (!ok(v != NULL, "a large answer is read"))
        return;
    is_int((long long)v->n_ranks, REPORT_RANKS_MAX, "rows beyond the limit are dropped");
    is_int((long long)v->n_events, REPORT_EVENTS_MAX, "events beyond the limit are dropped");
    is_int((long long)v->step_s.n, REPORT_COLUMNS_MAX, "history beyond the limit is dropped");
    ok(v->step_s.value[REPORT_COLUMNS_MAX - 1] == 2999, "the newest part of a long history is kept");
    is_int((long long)strlen(v->rank[REPORT_RANKS_MAX - 1].heat), REPORT_COLUMNS_MAX,
           "a heat row beyond the limit is dropped");
    is_str(v->rank[5].heat + REPORT_COLUMNS_MAX - 3, "9.1",
           "the newest part of a heat row is kept, invalid levels are no data");
    report_free(v);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "{\"error\":\"not your job\"}", "not your job" },
        { "{\"error\":\"\\u001b[2J\"}", "?[2J" },
        { "[]", "the controller's answer is not a JSON object" },
        { "{\"nodes\":[]}", "the controller's answer has no 'jobs' that is a list" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        json_t *o = json(cases[i].text);
        struct err err = { "" };

        ok(!report_rows_read(o, &err), "%s is rejected", cases[i].text);
        is_str(err.text, cases[i].want, "a rejected answer has its reason");
        json_decref(o);
    }
}

static void test_job(void)
{
    json_t *o = json(
        "{\"now\":1,\"jobs\":[{\"id\":\"12_3.0\",\"state\":\"running\",\"ranks\":64,\"step_s\":{"
        "\"p50\":0.5},"
        "\"verdicts\":[{\"class\":\"straggler\",\"scope\":\"rank\",\"culprits\":[\"r3\",\"r9\"],"
        "\"slowdown\":1.05,\"text\":\"r3 and r9 are slow\"},"
        "{\"class\":\"imbalance\",\"culprits\":[],\"slowdown\":1.01,\"minor\":true,\"text\":\"uneven\"}],"
        "\"worst\":{\"rank\":3,\"node\":\"n1\",\"lateness_s\":0.01,\"last_ratio\":0.5}}]}");
    struct report_rows *s = report_rows_read(o, NULL);
    char names[64];

    json_decref(o);
    if (!ok(s && s->n == 1, "a list of one job is read"))
        return;
    is_str(s->job[0].id, "12_3.0", "the id of a job is read");
    ok(s->job[0].ranks == 64 && s->job[0].step_p50_s == 0.5, "numbers of a job are read");
    is_str(json_texts_show(&s->job[0].verdicts.list[0].culprits, SIZE_MAX, names, sizeof(names)), "r3, r9",
           "culprits of a verdict are joined");
    is_int((long long)s->job[0].verdicts.n, 1, "a minor verdict is left out");
    ok(report_row_severity(&s->job[0]) == SEVERITY_WARN, "5 %% slower is a warning");
    report_rows_free(s);
}

static void test_evidence(void)
{
    struct report *v = view(
        "{\"id\":\"1.0\",\"state\":\"running\",\"judged\":\"yes\",\"mds_ratio\":0.021,"
        "\"verdicts\":[{\"class\":\"drift\",\"culprits\":[\"r3\"],\"slowdown\":1.2,\"since_s\":9,"
        "\"onset_seq\":40,\"detected_seq\":-3,\"cause\":\"hot\"},{\"class\":\"jitter\",\"standing\":false}],"
        "\"efficiency\":{\"parallel\":0.8,\"load_balance\":1.0005,\"serialisation\":2,\"transfer\":\"x\"},"
        "\"critical_path\":{\"concentration\":-1,\"ranks\":[{\"rank\":3,\"last_ratio\":0.5},1,2,3,4,5,6,7,8,"
        "9]},"
        "\"projection\":{\"trend\":\"falling\",\"per_hour\":-0.1,\"reach_s\":null,\"warning\":1},"
        "\"scaling\":{\"ranks\":8,\"text\":\"a wall\",\"points\":[{\"ranks\":8,\"factor\":1,"
        "\"throughput_ratio\":{\"p5\":1,\"p50\":\"x\"},\"regime\":\"compute\"},7],\"links\":[{\"op\":"
        "\"allreduce\",\"segments\":[{\"fixed_s\":{\"value\":null}},{}]}],\"assumes\":[\"one\",2]},"
        "\"past\":null,\"agents\":[{\"node\":\"a\"},{\"node\":\"b\",\"health\":{\"run_queue\":3,\"gpus\":[{"
        "\"index\":0}]}}],"
        "\"rank_table\":[{\"rank\":3,\"health\":{\"shared_cpu\":true,\"cpus\":\"0-3\"}}]}");

    if (!ok(v != NULL, "an answer with evidence is read"))
        return;
    ok(v->job.mds_ratio == 0.021, "the smallest excess that would be found is read");
    ok(v->job.verdicts.list[0].onset_seq == 40 && v->job.verdicts.list[0].detected_seq == -1,
       "a negative number is unknown");
    ok(v->job.verdicts.list[0].standing && !v->job.verdicts.list[1].standing,
       "a verdict is standing unless the answer has standing: false");
    ok(report_row_severity(&v->job) == SEVERITY_BAD, "20 %% slower is bad");
    ok(v->efficiency.parallel == 0.8 && v->efficiency.load_balance == 1 &&
           isnan(v->efficiency.serialisation) && isnan(v->efficiency.transfer),
       "efficiencies are limited to 0 to 1, except for rounding");
    ok(isnan(v->path.concentration) && v->path.n == REPORT_PATH_MAX && v->path.rank[0].last_ratio == 0.5 &&
           v->path.rank[1].rank == -1,
       "a critical path beyond the limit is dropped");
    ok(v->projection.known && !strcmp(v->projection.trend, "falling") && isnan(v->projection.reach_s[1]) &&
           !v->projection.warning,
       "a falling trend is read, and a number in place of the warning is ignored");
    ok(!v->past.text[0], "without similar runs in the answer the comparison is empty");
    ok(v->scaling.n == 2 && v->scaling.point[0].throughput.p5 == 1 &&
           isnan(v->scaling.point[0].throughput.p50) && isnan(v->scaling.point[1].ranks),
       "points at other numbers of ranks are read, invalid values as unknown");
    ok(v->scaling.link[0].n == 2 && !strcmp(v->scaling.link[0].op, "allreduce") &&
           isnan(v->scaling.link[0].segment[0].fixed_s.value) && v->scaling.n_assumes == 2 &&
           !v->scaling.assumes[1][0],
       "each segment of a link is read, with invalid values unknown");
    ok(v->n_health == 1 && !strcmp(v->health[0].node, "b") && v->health[0].health.run_queue == 3 &&
           isnan(v->health[0].health.steal_ratio) && v->health[0].health.n_gpus == 1,
       "the health of nodes that reported is read");
    ok(v->rank[0].has_health && v->rank[0].shared_cpu && isnan(v->rank[0].involuntary_per_s),
       "the health of a rank is read");
    report_free(v);
}

static void test_culprits(void)
{
    static const struct {
        const char *names[6], *want;
        size_t n; /* beyond names: "r99" */
    } cases[] = {
        { { NULL }, "", 0 },
        { { "node07" }, "node07", 1 },
        { { "r3", "r9" }, "r3, r9", 2 },
        { { "r9", "r10", "r14", "r16", "r22", "r25" }, "r9, r10, r14, r16 +12", 16 },
        { { "a-node-whose-name-is-long.example", "b" }, "a-node-whose-name-is-long.example +1", 2 },
        { { "cut short", "after all" }, "cut short, after all +5", 7 },
        { { "" }, "", 1 }, /* no name of a node, but it may come */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct json_texts culprits = { 0 };
        char buf[160];

        for (size_t k = 0; k < cases[i].n; k++)
            json_texts_add(&culprits, k < 6 && cases[i].names[k] ? cases[i].names[k] : "r99");
        is_str(look_culprits(buf, sizeof(buf), &culprits), cases[i].want, "culprits are shortened");
        json_texts_free(&culprits);
    }
}

static void test_timeline(void)
{
    json_t *o = json("{\"id\":\"1.0\",\"verdicts\":[{\"class\":\"hang\"}]}"), *spans = json_array();
    struct report *v;

    for (int i = 0; i < 50; i++)
        json_array_append_new(spans,
                              json_pack("{s:s, s:i, s:i}", "class", "drift", "from_s", 100 - i, "to_s", 50));
    json_object_set_new(o, "timeline", spans);
    v = report_read(o, NULL);
    json_decref(o);
    is_int((long long)v->timeline.n, REPORT_VERDICTS_MAX, "a timeline beyond the limit is dropped");
    ok(v->timeline.list[REPORT_VERDICTS_MAX - 1].from_s == 51, "the newest part of a timeline is kept");
    report_free(v);
}

/* The sentence of a verdict is not cut. */
static void test_node_verdict(void)
{
    static const char sentence[] =
        "rank 3 on node05 computes 49.8 % longer than its peers and is last in 100 % of the steps; this costs 33 % of "
        "the step time, 47.4 ms per step";
    json_t *o = json_pack("{s:i,s:[{s:s,s:s}]}", "now", 1, "nodes", "node", "node05", "verdict", sentence);
    struct report_node_rows *s = report_node_rows_read(o, NULL);

    json_decref(o);
    if (ok(s && s->n == 1, "a list of one node is read"))
        is_str(s->node[0].verdict, sentence, "the verdict of a node is read in full");
    report_node_rows_free(s);
}

int main(void)
{
    test_node_verdict();
    test_text();
    test_unknown();
    test_limits();
    test_refused();
    test_job();
    test_evidence();
    test_timeline();
    test_culprits();
    return done_testing();
}
