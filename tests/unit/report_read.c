/* Answers into structs: what is believed, what is not, and where it is cut. */
#include "common/utf8.h"
#include "report/report.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "report/verdict_words.h"
#include "tests/tap.h"

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
    ok(v->agents_total == -1, "missing agents are unknown");
    ok(report_row_severity(&v->job) == SEVERITY_NONE, "a job of unknown state is neither good nor bad");
    report_free(v);
}

static void test_agents(void)
{
    struct report *v = view("{\"id\":\"1.0\",\"agents\":[{\"node\":\"n1\",\"connected\":true},"
                            "{\"node\":\"n2\"},{\"node\":\"n3\",\"ended\":true},{\"node\":\"n4\"}]}");
    char names[64];

    ok(v->agents_total == 4 && v->silent.number == 2 &&
           !strcmp(json_texts_show(&v->silent.nodes, 9, names, sizeof(names)), "n2, n4"),
       "of an earlier release, which did not count agents, those are silent that are neither connected nor ended");
    report_free(v);
    v = view("{\"id\":\"1.0\",\"agents\":[{\"node\":\"n1\"}],\"agents_total\":9,"
             "\"agents_silent\":{\"number\":3,\"nodes\":[\"n7\"]}}");
    ok(v->agents_total == 9 && v->silent.number == 3 && v->silent.nodes.n == 1,
       "agents that were counted are not counted again");
    report_free(v);
    v = view("{\"id\":\"1.0\",\"agents_missing\":{\"number\":9,\"nodes\":[\"n3\",\"n4\"]}}");
    ok(v->missing.number == 9 &&
           !strcmp(json_texts_show(&v->missing.nodes, 9, names, sizeof(names)), "n3, n4"),
       "nodes of which nothing was heard are read");
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
    is_int((long long)v->events.n, REPORT_EVENTS_MAX, "events beyond the limit are dropped");
    is_int((long long)v->history.step_s.n, JSON_SERIES_MAX, "history beyond the limit is dropped");
    ok(v->history.step_s.value[JSON_SERIES_MAX - 1] == 2999, "the newest part of a long history is kept");
    is_int((long long)strlen(v->rank[REPORT_RANKS_MAX - 1].heat), REPORT_HEAT_MAX,
           "a heat row beyond the limit is dropped");
    is_str(v->rank[5].heat + REPORT_HEAT_MAX - 3, "9.1",
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

        ok(!report_rows_read(o, REPORT_JOBS_MAX, &err), "%s is rejected", cases[i].text);
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
    struct report_rows *s = report_rows_read(o, REPORT_JOBS_MAX, NULL);
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

/* All keys of a row, in their order, and of a row of which nothing is known. */
static void test_row(void)
{
    static const char known[] =
        "{\"job\":12,\"step\":0,\"restarts\":3,\"id\":\"12.0\",\"name\":\"a\",\"user\":\"b\",\"partition\":\"c\",\"unconfirmed\":\"d\","
        "\"no_requeue\":\"e\",\"policy\":{\"name\":\"f\"},\"state\":\"running\",\"start\":1.5,\"elapsed_s\":2.5,\"age_s\":3.5,\"left_s\":3.75,"
        "\"ranks\":4,\"nodes\":5,\"nodes_total\":6,\"agents_lost\":1,\"records_dropped\":2,\"samples_per_s\":7.5,\"steps\":8,\"period\":9,\"phases\":{"
        "\"warm_up_steps\":10,\"pauses\":11,\"pause_s\":12.5,\"evaluations\":13,\"foreign_collectives\":14,\"delays\":6,\"delays_s\":7.5,"
        "\"rhythm_steps\":15,\"rhythm_heavy\":16,\"rhythm_ratio\":17.5},\"step_s\":{\"p50\":18.5,\"p95\":19.5,\"p99\":20.5,"
        "\"p99_steps\":21,\"mean\":22.5,\"cv\":23.5},\"steps_per_s\":24.5,\"skew_s\":{\"p50\":25.5,\"p95\":26.5},"
        "\"synchronisation_ratio\":27.5,\"shares\":{\"compute\":0.5,\"communication\":0.25,\"synchronisation\":0.125,"
        "\"point_to_point\":0.0},\"regime\":\"compute\",\"non_finite\":false,\"trend\":\"rising\",\"judged\":\"yes\",\"mds_ratio\":28.5,\"limits\":{"
        "\"work\":29.5,\"work_from_start\":29.75,\"transfers\":30.5,\"node_transfers\":31.5,\"link_transfers\":32.5},\"sentence\":\"g\",\"worst\":{"
        "\"rank\":33,\"node\":\"h\",\"lateness_s\":34.5,\"last_ratio\":0.75},\"verdicts\":[]}";
    json_t *o = json(known), *again, *null;
    struct report_row row;
    char *text;

    report_row_read(&row, o);
    again = report_row_json(&row);
    text = json_dumps(again, JSON_COMPACT | JSON_REAL_PRECISION(12));
    is_str(text, known, "a row that was read is written as it was");
    report_row_free(&row);
    json_decref(o);
    json_decref(again);
    free(text);

    report_row_read(&row, NULL);
    null = report_row_json(&row);
    ok(row.job == -1 && row.non_finite == -1 && isnan(row.worst.lateness_s) && !row.worst.known &&
           json_is_null(json_object_get(null, "worst")) && json_is_null(json_object_get(null, "non_finite")),
       "of a row of which nothing is known all is unknown");
    report_row_free(&row);
    json_decref(null);
}

/* All keys of a controller's status, in their order; those that may be left out or null. */
static void test_status(void)
{
    static const char *const known[] = {
        "{\"version\":\"1.0\",\"controller\":\"9f\",\"host\":\"ctl0\",\"uptime_s\":1.5,\"jobs\":2,\"agents\":3,\"ranks\":4,"
        "\"clients\":5,\"batches_per_s\":6.5,\"cpu_ratio\":0.5,\"rss_bytes\":7.5,\"store\":true,\"store_bytes\":8.5,"
        "\"policies\":[\"observe\",\"balanced\"],\"store_max_bytes\":9.5,\"store_bytes_per_day\":-10.5,\"store_full\":false,"
        "\"bounds\":{\"users\":11,\"unfinished\":12,\"steps_bytes\":13.5,\"memory_bytes\":14.5,\"refused\":15,\"left_out\":16},"
        "\"now\":17.5,\"operator\":true}",
        "{\"version\":\"1.0\",\"controller\":null,\"host\":null,\"uptime_s\":null,\"jobs\":null,\"agents\":null,\"ranks\":null,"
        "\"clients\":null,\"batches_per_s\":null,\"cpu_ratio\":null,\"rss_bytes\":null,\"store\":false,\"store_bytes\":null,"
        "\"policies\":[],\"store_max_bytes\":null,\"store_full\":null,\"bounds\":null,\"now\":null,\"operator\":false}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        json_t *o = json(known[i]), *again;
        struct report_status s;
        char *text;

        ok(report_status_read(&s, o, NULL) == 0, "a controller's status is read, case %zu", i);
        again = report_status_json(&s);
        text = json_dumps(again, JSON_COMPACT | JSON_REAL_PRECISION(12));
        is_str(text, known[i], "a status that was read is written as it was, case %zu", i);
        report_status_free(&s);
        json_decref(o);
        json_decref(again);
        free(text);
    }
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
    ok(v->n_agents == 2 && !v->agent[0].health.known && !strcmp(v->agent[1].node, "b") &&
           v->agent[1].health.known && v->agent[1].health.run_queue == 3 &&
           isnan(v->agent[1].health.steal_ratio) && v->agent[1].health.n_gpus == 1,
       "the health of nodes that reported is read");
    ok(v->rank[0].health.known && v->rank[0].health.shared_cpu && isnan(v->rank[0].health.involuntary_per_s),
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
        is_str(verdict_names(buf, sizeof(buf), VERDICT_NAMES_CELL, &culprits), cases[i].want,
               "culprits are shortened");
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

/* Places that have one price are an entry each in JSON, and one verdict here. */
static void test_places(void)
{
    static const char text[] =
        "{\"verdicts\":[{\"class\":\"straggler\",\"culprits\":[\"n3\"],\"with\":[\"n7\",7,\"n9\"],"
        "\"slowdown\":1.2,\"slowdown_alone\":1.01},"
        "{\"class\":\"straggler\",\"culprits\":[\"n7\"],\"with\":[\"n3\",\"n9\"],\"slowdown\":1.2,"
        "\"slowdown_alone\":1.01},"
        "{\"class\":\"straggler\",\"culprits\":[\"n9\"],\"with\":[\"n3\",\"n7\"],\"slowdown\":1.2,"
        "\"slowdown_alone\":1.01},"
        "{\"class\":\"straggler\",\"culprits\":[\"n9\"],\"slowdown\":1.1},{\"class\":\"hang\","
        "\"culprits\":[\"r1\",\"r2\"]}]}";
    json_t *o = json(text), *list;
    struct report_verdicts v;
    char names[64];

    report_verdicts_read(&v, o);
    json_decref(o);
    is_int((long long)v.n, 3, "three places with one price are one of three verdicts");
    is_str(json_texts_show(&v.list[0].culprits, 8, names, sizeof(names)), "n3, n7, n9",
           "they are its culprits");
    is_int((long long)v.list[1].culprits.n, 1, "one of them has another price of its own");
    list = report_verdicts_json(&v, VERDICT_OF_JOB);
    is_int((long long)json_array_size(list), 5, "written again, each of them has an entry");
    o = json_array_get(list, 1);
    is_str(json_string_value(json_array_get(json_object_get(o, "culprits"), 0)), "n7", "with its own name");
    is_str(json_string_value(json_array_get(json_object_get(o, "with"), 1)), "n9",
           "beside those of the others");
    ok(!json_object_get(json_array_get(list, 3), "with") && !json_object_get(json_array_get(list, 4), "with"),
       "what has a price of its own names no others");
    json_decref(list);
    report_verdicts_free(&v);
}

/* Of three places one is over, and the two others are priced anew: that is another verdict. */
static void test_places_again(void)
{
    static const char text[] =
        "{\"verdicts\":["
        "{\"culprits\":[\"n1\"],\"with\":[\"n2\",\"n3\"],\"slowdown_alone\":1.01,\"text\":\"three\"},"
        "{\"culprits\":[\"n2\"],\"with\":[\"n1\",\"n3\"],\"slowdown_alone\":1.01,\"text\":\"three\"},"
        "{\"culprits\":[\"n3\"],\"with\":[\"n1\",\"n2\"],\"slowdown_alone\":1.01,\"text\":\"three\"},"
        "{\"culprits\":[\"n2\"],\"with\":[\"n3\"],\"slowdown_alone\":1.02,\"text\":\"two\"},"
        "{\"culprits\":[\"n3\"],\"with\":[\"n2\"],\"slowdown_alone\":1.02,\"text\":\"two\"}]}";
    json_t *o = json(text);
    struct report_verdicts v;
    char names[64];

    report_verdicts_read(&v, o);
    json_decref(o);
    is_int((long long)v.n, 2, "places of the verdict before are another verdict where its text is another");
    if (v.n == 2)
        is_str(json_texts_show(&v.list[1].culprits, 8, names, sizeof(names)), "n2, n3",
               "the second verdict has its own places");
    report_verdicts_free(&v);
}

int main(void)
{
    test_places();
    test_places_again();
    test_node_verdict();
    test_text();
    test_unknown();
    test_agents();
    test_limits();
    test_refused();
    test_job();
    test_row();
    test_status();
    test_evidence();
    test_timeline();
    test_culprits();
    return done_testing();
}
