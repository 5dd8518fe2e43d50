/* Parts of actions: comments, host lists, templates, slurmrestd's answers, keys, waits. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "actions/action.h"
#include "actions/attempt.h"
#include "actions/http.h"
#include "actions/rest_answer.h"
#include "actions/template.h"
#include "actions/webhook.h"
#include "common/hostlist.h"
#include "slurm/comment.h"
#include "tests/tap.h"
#include "wire/json.h"

static void check_comments(void)
{
    static const struct {
        const char *old, *text, *want;
    } cases[] = {
        { NULL, "slow", "SyncGuard: slow" },
        { "", "slow", "SyncGuard: slow" },
        { "mine", "slow", "mine; SyncGuard: slow" },
        { "mine; SyncGuard: fast", "slow", "mine; SyncGuard: slow" },
        { "SyncGuard: fast", "slow", "SyncGuard: slow" },
        { "about SyncGuard: read", "slow", "about SyncGuard: read; SyncGuard: slow" },
        { "a", "two\nlines\x1b[2J", "a; SyncGuard: two lines [2J" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = comment_merge(cases[i].old, cases[i].text);

        is_str(got, cases[i].want, "SyncGuard's comment is added to an existing one");
        free(got);
    }
}

static void check_hostlists(void)
{
    static const struct {
        const char *list, *node;
        bool in;
    } cases[] = {
        { "node1", "node1", true },
        { "node1", "node", false },
        { "node1", "node12", false },
        { "node[1-3,7]", "node2", true },
        { "node[1-3,7]", "node7", true },
        { "node[1-3,7]", "node4", false },
        { "node[1-3]", "node02", false },
        { "node[01-03]", "node02", true },
        { "node[01-03]", "node2", false },
        { "node[8-11]", "node10", true },
        { "node[8-11]", "node010", false },
        { "gpu1,node[1-3],cpu2", "node3", true },
        { "gpu1,node[1-3],cpu2", "cpu2", true },
        { "node[3-]", "node3", true },
        { "rack[1-2]node[1-3]", "rack2node3", true },
        { "rack[1-2]node[1-3]", "rack3node3", false },
        { "", "node1", false },
        { "node[", "node1", false },
        { "node[1", "node1", false },
        { "node[]", "node", false },
        { "node[-3]", "node1", false },
        { "node[99999999999999999999]", "node99999999999999999999", false },
        { ",,", "", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(hostlist_has(cases[i].list, cases[i].node) == cases[i].in, "hostlist_has(): %s is %s %s",
           cases[i].node, cases[i].in ? "in" : "not in", cases[i].list);
}

static void check_templates(void)
{
    static const struct {
        const char *text, *want; /* NULL: refused */
    } cases[] = {
        { "{\"a\":\"${text}\"}", "{\"a\":\"say \\\"x\\\"\"}" },
        { "{\"a\":\"so: ${text}!\"}", "{\"a\":\"so: say \\\"x\\\"!\"}" },
        { "{\"a\":\"${n}\"}", "{\"a\":3}" },
        { "{\"a\":\"n is ${n}, ${n}\"}", "{\"a\":\"n is 3, 3\"}" },
        { "{\"a\":\"${o}\"}", "{\"a\":{\"k\":1}}" },
        { "[\"${none}\",\"x${none}y\",1.5,true]", "[null,\"xy\",1.5,true]" },
        { "{\"a\":\"${nothing}\"}", NULL },
        { "{\"a\":\"${text\"}", NULL },
        { "{\"a\":\"${}\"}", NULL },
        { "{\"a\":", NULL },
        { "", NULL },
    };
    json_t *values = json_pack("{s:s,s:i,s:{s:i},s:n}", "text", "say \"x\"", "n", 3, "o", "k", 1, "none");
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *got = template_fill(cases[i].text, values, &err);

        is_str(got, cases[i].want, "the template is filled in or rejected as expected: %s", cases[i].text);
        free(got);
    }
    free(template_fill("{\"a\":\"${nothing}\"}", values, &err));
    is_str(err.text, "unknown placeholder ${nothing}", "an unknown placeholder is named in the reason");
    json_decref(values);
}

/* The output of a template is bounded. */
static void check_template_bounds(void)
{
    char *text = malloc(60000), *at = text;
    json_t *values = json_pack("{s:o}", "v", json_stringn(text = memset(text, 'x', 60000), 20000));
    struct err err;

    at += sprintf(at, "[\"");
    while (at - text < 50000)
        at += sprintf(at, "${v}");
    sprintf(at, "\"]");
    ok(!template_fill(text, values, &err), "a template that uses a long value many times is refused: %s",
       err.text);
    memset(text, '[', 59999);
    text[59999] = '\0';
    ok(!template_fill(text, values, &err), "a template that is nested too deeply is refused: %.60s",
       err.text);
    json_decref(values);
    free(text);
}

static const struct action_record sample = {
    .job = { .uid = 7, .job = 123, .step = 0, .restarts = 1 },
    .job_text = "123.0",
    .nodes = "node3",
    .rule = "slow",
    .policy = "keep",
    .reason = "rank 3 costs <!channel> 12 % & more",
    .key = "k1",
    .outcome = "",
    .asked_s = 1700000000,
};

static void check_webhook_bodies(void)
{
    static const char *const names[] = { "generic", "slack", "alertmanager", "pagerduty" };
    struct err err;
    json_t *o;
    char *body;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        body = webhook_body(names[i], &sample, "secret", &err);
        o = body ? json_loads(body, 0, NULL) : NULL;
        ok(o && (!strstr(body, "secret") || i == 3),
           "template %s gives JSON, and only pagerduty's has the token", names[i]);
        if (i == 1)
            is_str(json_string_value(json_object_get(o, "text")),
                   "job 123.0: rank 3 costs &lt;!channel&gt; 12 % &amp; more",
                   "Slack's special characters are escaped");
        if (i == 2)
            is_str(json_string_value(json_object_get(json_array_get(o, 0), "startsAt")),
                   "2023-11-14T22:13:20Z", "the alert starts at the time of the action");
        if (i == 3)
            is_str(json_string_value(json_object_get(o, "dedup_key")), "k1",
                   "PagerDuty's dedup_key is the action's key");
        json_decref(o);
        free(body);
    }
    body = webhook_body("no", &sample, "", &err);
    ok(!body, "an unknown template is refused: %s", err.text);
}

static void check_figures(void)
{
    struct action_record r = sample;
    struct figures f;
    const struct action none = { .kind = ACTION_WEBHOOK },
                        a = { .kind = ACTION_WEBHOOK, .figures = &f, .next = "sgctl action 123.0 requeue" };
    struct err err;
    json_t *o;
    char *text, *body;

    figures_clear(&f);
    f.value[FIGURE_SYNCHRONISATION_RATIO] = 0.25;
    f.value[FIGURE_ACKNOWLEDGED] = 1;
    f.text[FIGURE_PARTITION] = "batch";
    text = action_figures_text(&a);
    r.figures = text;
    o = action_figures(&r);
    ok(json_object_size(o) == FIGURES &&
           json_real_value(json_object_get(o, "synchronisation_ratio")) == 0.25 &&
           !strcmp(json_string_value(json_object_get(o, "acknowledged")), "yes") &&
           !strcmp(json_string_value(json_object_get(o, "partition")), "batch") &&
           json_is_null(json_object_get(o, "step_s")),
       "figures are stored as numbers, words and texts, unknown ones as null: %.60s", text);
    json_decref(o);
    body = webhook_body("generic", &r, "", &err);
    free(text);
    o = body ? json_loads(body, 0, NULL) : NULL;
    is_str(json_get_word(o, "next"), "sgctl action 123.0 requeue", "a webhook has the command to type");
    ok(strstr(json_get_word(o, "text"), "; next: sgctl action 123.0 requeue") &&
           !json_object_get(json_object_get(o, "figures"), "next"),
       "its text ends with that command, which is no figure");
    json_decref(o);
    free(body);
    ok(!action_figures_text(&none), "an action without figures stores none");
    r.figures = "";
    o = action_figures(&r);
    is_int((long)json_object_size(o), 0, "a record without figures gives an empty object");
    json_decref(o);
}

/* ---- slurmrestd ---- */

static enum rest_answer read_job(const char *body, struct rest_job *job)
{
    json_t *answer;
    struct err err;
    enum rest_answer how = rest_read(body, strlen(body), &answer, &err);

    if (how == REST_FINE)
        how = rest_job(answer, 123, job, &err);
    json_decref(answer);
    return how;
}

static void check_rest_jobs(void)
{
    static const struct {
        const char *body;
        enum rest_answer want;
    } cases[] = {
        { "{\"jobs\":[{\"job_id\":123,\"user_id\":7}],\"errors\":[]}", REST_FINE },
        { "{\"jobs\":[{\"job_id\":1},{\"job_id\":{\"set\":true,\"number\":123},\"user_id\":7}]}", REST_FINE },
        { "{\"jobs\":[{\"job_id\":124,\"user_id\":7}]}", REST_UNREADABLE },
        { "{\"jobs\":[{\"job_id\":123}]}", REST_UNREADABLE },
        { "{\"jobs\":[{\"job_id\":123,\"user_id\":-1}]}", REST_UNREADABLE },
        { "{\"jobs\":[{\"job_id\":123,\"user_id\":\"root\"}]}", REST_UNREADABLE },
        { "{\"jobs\":{}}", REST_UNREADABLE },
        { "{\"errors\":[{\"error\":\"Invalid job id\",\"error_code\":2017}]}", REST_REFUSED },
        { "{\"errors\":[7]}", REST_REFUSED },
        { "[]", REST_UNREADABLE },
        { "null", REST_UNREADABLE },
        { "<html>", REST_UNREADABLE },
        { "", REST_UNREADABLE },
    };
    struct rest_job job;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(read_job(cases[i].body, &job) == cases[i].want,
           "the answer of slurmrestd on a job is judged as expected: %s", cases[i].body);
    read_job(cases[0].body, &job);
    ok(job.uid == 7, "the answer has the job's user");
}

static void check_rest_nodes(void)
{
    static const struct {
        const char *body;
        int drained; /* -1: unreadable */
    } cases[] = {
        { "{\"nodes\":[{\"name\":\"n1\",\"state\":\"idle\",\"state_flags\":[\"DRAIN\"]}]}", 1 },
        { "{\"nodes\":[{\"name\":\"n1\",\"state\":\"idle\",\"state_flags\":[]}]}", 0 },
        { "{\"nodes\":[{\"name\":\"n1\",\"state\":[\"MIXED\",\"DRAIN\"]}]}", 1 },
        { "{\"nodes\":[{\"name\":\"n1\",\"state\":[\"MIXED\"],\"reason\":7}]}", 0 },
        { "{\"nodes\":[{\"name\":\"n2\",\"state\":[\"MIXED\"]}]}", -1 },
        { "{\"nodes\":[]}", -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct rest_node node = { 0 };
        struct err err;
        json_t *o = json_loads(cases[i].body, 0, NULL);
        int got = rest_node(o, "n1", &node, &err) == REST_FINE ? node.drained : -1;

        ok(got == cases[i].drained, "the answer of slurmrestd on a node is judged as expected: %s",
           cases[i].body);
        json_decref(o);
    }
}

static void check_waits(void)
{
    struct attempt_limits l = { .first_s = 2, .longest_s = 120 };

    ok(near(action_wait_s(&l, 1, 0.5), 2, 1e-9) && near(action_wait_s(&l, 4, 0.5), 16, 1e-9),
       "the wait doubles after each try");
    ok(near(action_wait_s(&l, 30, 0.5), 120, 1e-9), "the wait is at most longest_s");
    ok(near(action_wait_s(&l, 1, 0), 1, 1e-9) && near(action_wait_s(&l, 1, 1), 3, 1e-9),
       "the wait is scaled by 0.5 to 1.5");
}

static void check_origins(void)
{
    char buf[64];

    is_str(http_origin("https://hooks.example.com/services/T0/secret", buf, sizeof(buf)),
           "https://hooks.example.com", "the origin of a URL lacks its path");
    is_str(http_origin("http://u:p@h:80?token=x", buf, sizeof(buf)), "http://h:80",
           "the origin of a URL lacks password and query");
}

int main(void)
{
    check_comments();
    check_hostlists();
    check_templates();
    check_template_bounds();
    check_webhook_bodies();
    check_figures();
    check_rest_jobs();
    check_rest_nodes();
    check_waits();
    check_origins();
    return done_testing();
}
