/* The reports, from JSON files to expected text.  Where a change of the text is meant:
 *     UPDATE=1 tests/unit/page     writes the expected files again; read them before committing. */
#include "ctl/page.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "wire/json.h"
#include "tests/tap.h"

typedef int page_fn(FILE *out, const json_t *answer, int columns, struct err *err);

/* tests/ctl/NAME.json gives tests/ctl/NAME.txt */
static const struct {
    const char *name;
    page_fn *page;
} cases[] = {
    { "status", page_status },
    { "status-empty", page_status },
    { "jobs", page_jobs },
    { "jobs-none", page_jobs },
    { "nodes", page_nodes },
    { "nodes-none", page_nodes },
    { "lemons", page_lemons },
    { "job-straggler", page_job },
    { "job-hang", page_job },
    { "job-starting", page_job },
    { "job-ended", page_job },
    { "job-hostile", page_job },
    { "actions", page_actions },
    { "actions-none", page_actions },
    { "policies", page_policies },
    { "policies-unknown", page_policies },
    { "policy", page_policy },
    { "policy-unknown", page_policy },
    { "control", page_control },
    { "control-unknown", page_control },
    { "explain", page_explain },
    { "explain-no-rules", page_explain },
    { "explain-unknown", page_explain },
    { "audit", page_audit },
    { "audit-none", page_audit },
    { "audit-unknown", page_audit },
    { "try", page_try },
    { "try-unknown", page_try },
    { "step", page_step },
    { "step-unknown", page_step },
};

/* The same on a terminal of 80 columns: tests/ctl/NAME-80.txt */
static const struct {
    const char *name;
    page_fn *page;
} narrow[] = {
    { "jobs", page_jobs },       { "nodes", page_nodes },   { "job-straggler", page_job },
    { "actions", page_actions }, { "policy", page_policy }, { "explain", page_explain },
    { "step", page_step },
};

static char *path_of(const char *name, const char *suffix)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof(path), "%s/tests/ctl/%s.%s", top ? top : ".", name, suffix);
    return path;
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 1 << 16);

    if (f) {
        size_t n = fread(text, 1, (1 << 16) - 1, f);

        text[n] = '\0';
        fclose(f);
    }
    return text;
}

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

/* At this width, against tests/ctl/NAME.txt or NAME-COLUMNS.txt; columns 0: not a terminal. */
static void compare(const char *name, page_fn *page, int columns)
{
    char wanted_name[80];
    json_t *answer = json_load_file(path_of(name, "json"), 0, NULL);
    char *got = NULL, *wanted;
    struct err err = { "" };
    size_t size;
    FILE *out = open_memstream(&got, &size);

    ok(answer != NULL, "page: %s.json is readable", name);
    ok(page(out, answer, columns, &err) == 0, "page: %s at %d columns is accepted %s", name, columns, err.text);
    fclose(out);
    snprintf(wanted_name, sizeof(wanted_name), columns ? "%s-%d" : "%s", name, columns);
    if (getenv("UPDATE")) {
        FILE *f = fopen(path_of(wanted_name, "txt"), "we");

        fputs(got, f);
        fclose(f);
    }
    wanted = read_all(path_of(wanted_name, "txt"));
    is_str(got, wanted, "page: %s is printed as in its file", wanted_name);
    if (columns)
        is_int(widest_line(got) <= columns, 1, "%s: no line is wider than %d columns", name, columns);
    free(wanted);
    free(got);
    json_decref(answer);
}

/* An answer of a controller of another version: the reason, and nothing on stdout. */
static void refuse(const char *what, page_fn *page, const char *json, const char *reason)
{
    json_t *answer = json_loads(json, JSON_DECODE_ANY, NULL);
    char *got = NULL;
    struct err err = { "" };
    size_t size;
    FILE *out = open_memstream(&got, &size);

    ok(page(out, answer, 0, &err) == -1, "%s is rejected", what);
    fclose(out);
    is_str(err.text, reason, "the reason for %s", what);
    is_int((long long)size, 0, "nothing is written for %s", what);
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

        is_str(show_value(value, buf, sizeof(buf)), words[i].want, "show_value: %s as text", words[i].json);
        json_decref(value);
    }
}

static void lists(void)
{
    json_t *list = json_loads("[\"n1\",\"n2\",\"n3\",4]", 0, NULL);
    char buf[64], small[8];

    is_str(show_list(list, 10, buf, sizeof(buf)), "n1, n2, n3, 4", "show_list: a short list is shown in full");
    is_str(show_list(list, 2, buf, sizeof(buf)), "n1, n2 and 2 more", "show_list: a list beyond the limit ends in the number of the others");
    is_str(show_list(list, 10, small, sizeof(small)), "n1, n2,", "show_list: a list is cut at the end of the buffer");
    is_str(show_list(NULL, 10, buf, sizeof(buf)), "-", "show_list: an unknown list is shown as -");
    json_decref(list);
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        compare(cases[i].name, cases[i].page, 0);
    for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
        compare(narrow[i].name, narrow[i].page, 80);
    refuse("jobs that are no list", page_jobs, "{\"jobs\":{}}",
           "the controller's answer has no 'jobs' that is a list");
    refuse("an answer without nodes", page_nodes, "{}",
           "the controller's answer has no 'nodes' that is a list");
    refuse("a job without an id", page_job, "{\"state\":\"running\"}",
           "the controller's answer has no 'id' that is a text");
    refuse("a list as a job", page_job, "[]", "the controller's answer is no JSON object");
    refuse("nothing as status", page_status, "null", "the controller's answer is no JSON object");
    refuse("policies that are no list", page_policies, "{\"policies\":3}",
           "the controller's answer has no 'policies' that is a list");
    refuse("a job without an active policy", page_explain, "{\"id\":\"1.0\"}",
           "the job has no active policy: it has ended; `sgctl audit JOB` lists past decisions");
    refuse("an audit that is no list", page_audit, "{\"audit\":null}",
           "the controller's answer has no 'audit' that is a list");
    texts();
    lists();
    return done_testing();
}
