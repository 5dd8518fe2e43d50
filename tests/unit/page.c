/* The reports, from JSON files to expected text.  Where a change of the text is meant:
 *     UPDATE=1 tests/unit/page     writes the expected files again; read them before committing. */
#include "ctl/brief.h"
#include "ctl/page.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "wire/json.h"
#include "tests/page_files.h"
#include "tests/tap.h"

typedef int page_fn(FILE *out, const json_t *answer, struct page_form form, struct err *err);

/* tests/ctl/NAME.json gives tests/ctl/NAME.txt, or EXPECTED.txt */
static const struct {
    const char *name;
    page_fn *page;
    const char *expected;
} cases[] = {
    { "status", page_status, NULL },
    { "status-empty", page_status, NULL },
    { "jobs", page_jobs, NULL },
    { "jobs-none", page_jobs, NULL },
    { "nodes", page_nodes, NULL },
    { "nodes-none", page_nodes, NULL },
    { "node", page_node, NULL },
    { "node-none", page_node, NULL },
    { "node-one", page_node, NULL },
    { "lemons", page_lemons, NULL },
    { "earlier", page_earlier, NULL },
    { "earlier-none", page_earlier, NULL },
    { "earlier-hostile", page_earlier, NULL },
    { "job-straggler", page_job, NULL },
    { "job-hang", page_job, NULL },
    { "job-starting", page_job, NULL },
    { "job-ended", page_job, NULL },
    { "job-hostile", page_job, NULL },
    { "job-updates", page_job, NULL },
    { "job-updates-past", page_job, NULL },
    { "job-straggler", page_brief, "brief-straggler" },
    { "job-hang", page_brief, "brief-hang" },
    { "job-starting", page_brief, "brief-starting" },
    { "job-ended", page_brief, "brief-ended" },
    { "job-healthy", page_brief, "brief-healthy" },
    { "job-partial", page_brief, "brief-partial" },
    { "actions", page_actions, NULL },
    { "actions-none", page_actions, NULL },
    { "policies", page_policies, NULL },
    { "policies-unknown", page_policies, NULL },
    { "policy", page_policy, NULL },
    { "policy-unknown", page_policy, NULL },
    { "control", page_control, NULL },
    { "control-unknown", page_control, NULL },
    { "explain", page_explain, NULL },
    { "explain-no-rules", page_explain, NULL },
    { "explain-unknown", page_explain, NULL },
    { "audit", page_audit, NULL },
    { "audit-none", page_audit, NULL },
    { "audit-unknown", page_audit, NULL },
    { "try", page_try, NULL },
    { "try-none", page_try, NULL },
    { "try-unknown", page_try, NULL },
    { "step", page_step, NULL },
    { "step-unknown", page_step, NULL },
};

/* The same on a terminal of 80 columns: tests/ctl/NAME-80.txt */
static const struct {
    const char *name;
    page_fn *page;
    const char *expected;
} narrow[] = {
    { "jobs", page_jobs, NULL },
    { "nodes", page_nodes, NULL },
    { "job-straggler", page_job, NULL },
    { "actions", page_actions, NULL },
    { "policy", page_policy, NULL },
    { "try-none", page_try, NULL },
    { "explain", page_explain, NULL },
    { "step", page_step, NULL },
    { "job-straggler", page_brief, "brief-straggler" },
};

static int widest_line(const char *text)
{
    int widest = 0;

    while (*text) {
        size_t bytes = strcspn(text, "\n");
        int width = utf8_width(text, bytes);

        widest = width > widest ? width : widest;
        text += bytes + (text[bytes] == '\n');
    }
    return widest;
}

static char *print(const char *name, page_fn *page, struct page_form form)
{
    json_t *answer = json_load_file(page_file_path(name, "json"), 0, NULL);
    char *got = NULL;
    struct err err = { "" };
    size_t size;
    FILE *out = open_memstream(&got, &size);

    ok(answer != NULL, "page: %s.json is readable", name);
    ok(page(out, answer, form, &err) == 0, "page: %s at %d columns is accepted %s", name, form.columns,
       err.text);
    fclose(out);
    json_decref(answer);
    return got;
}

/* At this width, against tests/ctl/EXPECTED.txt or EXPECTED-COLUMNS.txt; columns 0: not a terminal. */
static void compare(const char *name, page_fn *page, const char *expected, int columns)
{
    char wanted_name[80];
    char *got = print(name, page, (struct page_form){ .columns = columns }), *wanted;

    snprintf(wanted_name, sizeof(wanted_name), columns ? "%s-%d" : "%s", expected ? expected : name, columns);
    wanted = page_file_wanted(wanted_name, "txt", got);
    is_str(got, wanted, "page: %s is printed as in its file", wanted_name);
    if (columns)
        is_int(widest_line(got) <= columns, 1, "%s: no line is wider than %d columns", wanted_name, columns);
    free(wanted);
    free(got);
}

/* Takes the colours out; how many there were, -1: one does not end with its line. */
static int without_colours(char *text)
{
    int colours = 0, open = 0;
    char *to = text;

    for (const char *at = text; *at;) {
        if (!strncmp(at, "\033[", 2)) {
            size_t n = strcspn(at, "m") + 1;

            open = strncmp(at, "\033[0m", 4) != 0;
            colours += open;
            at += n;
            continue;
        }
        if (*at == '\n' && open)
            return -1;
        *to++ = *at++;
    }
    *to = '\0';
    return colours;
}

/* Colours add nothing to what is said, and are where a job is good or bad. */
static void colours(const char *name, page_fn *page, int columns, bool any)
{
    char *plain = print(name, page, (struct page_form){ .columns = columns }),
         *coloured = print(name, page, (struct page_form){ .columns = columns, .colour = true });
    int n = without_colours(coloured);

    is_str(coloured, plain, "page: %s at %d columns: with colours the text is the same", name, columns);
    ok(n >= 0, "page: %s at %d columns: every colour ends with its line", name, columns);
    if (any)
        ok(n > 0, "page: %s at %d columns has colours", name, columns);
    free(plain);
    free(coloured);
}

/* An answer of a controller of another version: the reason, and nothing on stdout. */
static void refuse(const char *what, page_fn *page, const char *json, const char *reason)
{
    json_t *answer = json_loads(json, JSON_DECODE_ANY, NULL);
    char *got = NULL;
    struct err err = { "" };
    size_t size;
    FILE *out = open_memstream(&got, &size);

    ok(page(out, answer, (struct page_form){ 0 }, &err) == -1, "%s is rejected", what);
    fclose(out);
    is_str(err.text, reason, "the reason for %s", what);
    is_int((long long)size, 0, "nothing is written for %s", what);
    free(got);
    json_decref(answer);
}

/* A sentence in a table stays whole: it is broken into lines on a terminal, and printed as it is elsewhere.
 */
static void sentences(void)
{
    char meaning[601], *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);
    json_t *answer;
    struct err err;

    for (size_t i = 0; i < sizeof(meaning) - 1; i += 6)
        memcpy(meaning + i, "words ", 6);
    memcpy(meaning + sizeof(meaning) - 5, "end", 4);
    answer = json_pack("{s:s, s:s, s:s, s:[{s:s, s:s, s:s, s:s, s:s}], s:[]}", "name", "p", "action",
                       "dryrun", "text", "t", "params", "key", "Hold", "value", "1s", "default", "1s",
                       "range", "any", "meaning", meaning, "rules");
    ok(page_policy(out, answer, (struct page_form){ 0 }, &err) == 0 && fclose(out) == 0 &&
           strstr(got, meaning),
       "page: a parameter's meaning of 600 characters is printed to its end");
    free(got);
    json_decref(answer);
}

static void texts(void)
{
    static const struct {
        const char *json, *want;
    } words[] = {
        { "\"plain\"", "plain" },
        { "\"\"", "-" },
        { "null", "-" },
        { "3.5", "-" },
        { "7", "7" },
        { "[1]", "-" },
        { "\"a\\u001b[2J\"", "a?[2J" },
        { "\"a\\u009b2J\"", "a?2J" },
        { "\"\\u007f\"", "?" },
        { "\"gr\xc3\xbc\xc3\x9f\"", "gr\xc3\xbc\xc3\x9f" },
        { "\"123456789012345678901234567890\"", "123456789012345" },
        { "\"12345678901234\xc3\xbc\"", "12345678901234" },
    };
    char buf[16];

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        json_t *value = json_loads(words[i].json, JSON_DECODE_ANY, NULL);

        is_str(json_show_value(value, buf, sizeof(buf)), words[i].want, "show_value: %s as text",
               words[i].json);
        json_decref(value);
    }
}

static void lists(void)
{
    json_t *list = json_loads("[\"n1\",\"n2\",\"n3\",4]", 0, NULL);
    char buf[64], small[8];

    is_str(json_show_list(list, 10, buf, sizeof(buf)), "n1, n2, n3, 4",
           "show_list: a short list is shown in full");
    is_str(json_show_list(list, 2, buf, sizeof(buf)), "n1, n2 and 2 more",
           "show_list: a list beyond the limit ends in the number of the others");
    is_str(json_show_list(list, 10, small, sizeof(small)), "n1, n2,",
           "show_list: a list is cut at the end of the buffer");
    is_str(json_show_list(NULL, 10, buf, sizeof(buf)), "-", "show_list: an unknown list is shown as -");
    json_decref(list);
}

/* What cannot be done is not advised. */
static void advice(void)
{
    json_t *answer = json_load_file(page_file_path("job-straggler", "json"), 0, NULL);
    struct report *report = report_read(answer, NULL);
    char buf[256];

    if (!ok(report != NULL, "a job that may be requeued is read"))
        return;
    is_str(brief_advice(buf, sizeof(buf), report, report->job.verdicts.list),
           "sgctl action 4711.0 exclude n5 (requeues), or sgctl node n5 drain WHY",
           "a job that may be requeued is to be requeued without the node");
    report_free(report);
    json_object_set_new(answer, "no_requeue", json_string("it is not a batch job"));
    report = report_read(answer, NULL);
    is_str(brief_advice(buf, sizeof(buf), report, report->job.verdicts.list),
           "for the next start: sbatch --exclude=n5", "one that cannot be is not");
    report_free(report);
    json_decref(answer);
}

/* A link of which some messages are slow has no bad cable. */
static void advice_of_links(void)
{
    static const struct {
        const char *ratio, *advice, *what;
    } cases_of[] = {
        { "", "sgctl doctor --cluster --probe confirms it; then cable, port or adapter",
          "a link that is slow may have a bad cable" },
        { ",\"slow_messages_ratio\":null",
          "sgctl doctor --cluster --probe confirms it; then cable, port or adapter",
          "so may one of which no share of slow messages is known" },
        { ",\"slow_messages_ratio\":0.47",
          "flows may share a path (ECMP hash): spread them over more; if it stays, one path is bad",
          "flows collide on one of which some messages are slow" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases_of); i++) {
        json_t *answer = json_load_file(page_file_path("job-straggler", "json"), 0, NULL), *verdict;
        struct report *report;
        char text[200], buf[256];

        snprintf(text, sizeof(text),
                 "{\"class\":\"communication\",\"scope\":\"link\",\"culprits\":[\"n5-n6\"]%s}",
                 cases_of[i].ratio);
        verdict = json_loads(text, 0, NULL);
        json_object_set_new(answer, "verdicts", json_pack("[o]", verdict));
        report = report_read(answer, NULL);
        if (ok(report && report->job.verdicts.n == 1, "a job with a slow link is read"))
            is_str(brief_advice(buf, sizeof(buf), report, report->job.verdicts.list), cases_of[i].advice,
                   "%s", cases_of[i].what);
        report_free(report);
        json_decref(answer);
    }
}

/* Of one it is not said that they are many. */
static void of_one(void)
{
    static const struct {
        const char *name, *list, *part, *key;
        page_fn *page;
        const char *want;
    } ones[] = {
        { "nodes", "nodes", NULL, "seen_jobs", page_nodes, "0 of 1 job " },
        { "job-straggler", NULL, "overlap", "steps", page_job, "take part over 1 step\n" },
        { "job-straggler", NULL, "checkpoint", "requests", page_job, " 1 request: heard" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(ones); i++) {
        json_t *answer = json_load_file(page_file_path(ones[i].name, "json"), 0, NULL);
        json_t *o = ones[i].list ? json_array_get(json_object_get(answer, ones[i].list), 1)
                                 : json_object_get(answer, ones[i].part);
        char *got = NULL;
        struct err err;
        size_t size;
        FILE *out = open_memstream(&got, &size);

        if (!strcmp(ones[i].key, "requests"))
            json_object_set_new(json_object_get(o, "requests"), "asked", json_integer(1));
        else
            json_object_set_new(o, ones[i].key, json_integer(1));
        ok(ones[i].page(out, answer, (struct page_form){ 0 }, &err) == 0, "a page with one is accepted");
        fclose(out);
        ok(strstr(got, ones[i].want) != NULL, "%s: one is not many: %s", ones[i].name, ones[i].want);
        json_decref(answer);
        free(got);
    }
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        compare(cases[i].name, cases[i].page, cases[i].expected, 0);
    for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
        compare(narrow[i].name, narrow[i].page, narrow[i].expected, 80);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        colours(cases[i].name, cases[i].page, i % 2 ? 80 : 0, !strncmp(cases[i].name, "job-straggler", 13));
    refuse("jobs that are no list", page_jobs, "{\"jobs\":{}}",
           "the controller's answer has no 'jobs' that is a list");
    refuse("an answer without nodes", page_nodes, "{}",
           "the controller's answer has no 'nodes' that is a list");
    refuse("a job without an id", page_job, "{\"state\":\"running\"}",
           "the controller's answer has no 'id' that is a text");
    refuse("a list as a job", page_job, "[]", "the controller's answer is not a JSON object");
    refuse("nothing as status", page_status, "null", "the controller's answer is not a JSON object");
    refuse("policies that are no list", page_policies, "{\"policies\":3}",
           "the controller's answer has no 'policies' that is a list");
    refuse("a job without an active policy", page_explain, "{\"id\":\"1.0\"}",
           "the job has no active policy: it has ended; `sgctl audit JOB` lists past decisions");
    refuse("an audit that is no list", page_audit, "{\"audit\":null}",
           "the controller's answer has no 'audit' that is a list");
    sentences();
    texts();
    lists();
    advice();
    advice_of_links();
    of_one();
    return done_testing();
}
