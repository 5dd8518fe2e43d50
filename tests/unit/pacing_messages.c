/* Pacing's messages: from policy to control message, from message to page, from report to controller; and the
 * bounds of their values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/messages.h"
#include "agent/pacing.h"
#include "job/pacing.h"
#include "pacing/pacer.h"
#include "ring/pacing.h"
#include "tests/tap.h"

static struct config config;

static void test_policy(void)
{
    const struct config_policy *observe, *balanced;
    const struct key *keys = config_keys(CONFIG_POLICY), *levers = key_find(keys, "PaceLevers");
    struct err err;
    char text[] = "Policy=all Pacing=auto PaceLevers=Stagger,release PaceMaxDelay=5ms PaceHoldout=4\n",
         buf[128];

    config_parse(&config, "text", text, strlen(text), &err);
    observe = config_policy_find(&config, "observe");
    balanced = config_policy_find(&config, "balanced");
    ok(observe && !observe->pacing && balanced && !balanced->pacing,
       "neither policy observe nor the default paces");
    ok(balanced->pace.levers == (PACER_RELEASE | PACER_GATE),
       "where a policy paces, the levers are release and gate, not those that sleep for a predicted time");
    ok(config_policy_find(&config, "all")->pace.levers == (PACER_RELEASE | PACER_STAGGER),
       "PaceLevers is parsed");
    ok(!strcmp(key_write(levers, config_policy_find(&config, "all"), buf, sizeof(buf)), "release,stagger"),
       "PaceLevers is written: %s", buf);
    ok(isnan(key_number(levers, balanced)), "PaceLevers has no value as a number");
    ok(key_number(key_find(keys, "PaceHoldout"), config_policy_find(&config, "all")) == 4,
       "PaceHoldout has a value as a number");
    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        ok(levers && !strcmp(levers->type.words[i], pacer_lever_name(1u << i)),
           "lever %u has the same name in the configuration and in pacing", i);
    ok(levers && !levers->type.words[PACER_LEVERS], "the configuration has no further lever");
    for (const char **bad = (const char *[]){ "PaceLevers=", "PaceLevers=gate,", "PaceLevers=turbo",
                                              "PaceHoldout=13", "PaceMaxDelay=2s", "Pacing=on", NULL };
         *bad; bad++) {
        struct config c;

        snprintf(buf, sizeof(buf), "Policy=bad %s\n", *bad);
        ok(config_parse(&c, "text", buf, strlen(buf), &err) < 0, "invalid keys '%s' are refused: %s", *bad,
           err.text);
    }
}

static void control(struct control_request *c, const char *text)
{
    json_t *o = json_loads(text, 0, NULL);

    message_control(o, c);
    json_decref(o);
}

static void test_control(void)
{
    struct control_page page = { .generation = 7 };
    struct control_request c = { .rate_hz = 1 };
    json_t *o = json_pack("{s:o}", "pace", pacing_control_json(config_policy_find(&config, "all"), false));

    message_control(o, &c);
    json_decref(o);
    ok(c.pace.levers == 9 && c.pace.max_delay_us == 5000 && c.pace.share == 800 && c.pace.epoch == 16 &&
           c.pace.every == 4,
       "the policy's values arrive in the control request");
    pacing_apply(&page, &c.pace);
    ok(page.pace.levers == 9 && page.generation == 8 && page.pace.generation == 1,
       "the control request is written to the page");
    pacing_apply(&page, &c.pace);
    ok(page.generation == 8, "the same control request again does not change the page");
    pacing_apply(NULL, &c.pace);
    control(&c, "{\"record\":true}");
    ok(c.pace.levers == 9, "a control message without levers leaves them as they are");
    control(&c, "{\"pace\":{\"max_delay_s\":1e30,\"share\":-3,\"epoch\":0,\"holdout\":\"x\"}}");
    ok(c.pace.max_delay_us == 1000000 && c.pace.share == 0 && c.pace.epoch == 1 && c.pace.every == 4,
       "values out of range are bounded");
    control(&c, "{\"pace\":{\"levers\":\"release,turbo\"}}");
    ok(c.pace.levers == 0, "a list with an unknown lever allows none");
    o = pacing_control_json(config_policy_find(&config, "observe"), false);
    ok(!strcmp(json_string_value(json_object_get(o, "levers")), ""),
       "the message for Pacing=off allows no lever");
    json_decref(o);
}

static void test_report(void)
{
    char dir[] = "/tmp/syncguard-pacing.XXXXXX";
    struct pacing_report r = {
        .mode = 2, .lever = PACER_GATE, .ranks = 8, .cores = 2, .late = 3, .switches_hz = NAN
    };
    struct pacing_page *page;
    struct pacing *p;
    struct job_agent a = { .node = "n1" };
    json_t *o, *lever;

    if (!mkdtemp(dir))
        return;
    p = pacing_new(dir);
    ok(!pacing_news(p, 0), "without a page of pacing there is no report");
    page = pacing_join(dir);
    ok(!pacing_news(p, 1), "without a report on the page there is no report to send");
    r.levers[1] = (struct pacing_lever){ PACER_HELPS, 12, log(0.5), log(0.4), log(0.6) };
    r.levers[0].log_mean = NAN;
    r.levers[2].why = 4000000000u;
    pacing_report_put(page, &r);
    o = pacing_news(p, 2);
    lever = json_array_get(json_object_get(o, "levers"), 1);
    ok(o && !strcmp(json_string_value(json_object_get(o, "lever")), "gate") &&
           near(json_real_value(json_object_get(lever, "ratio")), 0.5, 1e-9),
       "the report has the lever in force and its ratio");
    ok(json_is_null(json_object_get(o, "switches_hz")) &&
           json_is_null(json_object_get(json_array_get(json_object_get(o, "levers"), 0), "ratio")),
       "unknown values of the report are null");
    ok(!pacing_news(p, 3), "an unchanged report is not sent again after 1 s");
    pacing_take(&a, o);
    json_decref(o);
    o = pacing_news(p, 2 + 10);
    ok(o != NULL, "an unchanged report is sent again after 10 s");
    json_decref(o);
    ok(a.paced.known && a.paced.ranks == 8 && a.paced.late_holds == 3 && a.paced.n_levers == PACER_LEVERS &&
           isnan(a.paced.switches_hz) && near(a.paced.levers[1].ratio, 0.5, 1e-9),
       "the controller keeps a node's report");
    o = json_loads("{\"lever\":\"\\u001b[2J\",\"ranks\":\"many\",\"levers\":[1,2,3,4,5,6,7],\"more\":1}", 0,
                   NULL);
    pacing_take(&a, o);
    json_decref(o);
    ok(!strcmp(a.paced.lever, "?[2J") && a.paced.ranks == -1 && a.paced.n_levers == PACER_LEVERS &&
           isnan(a.paced.levers[0].ratio),
       "values of a wrong type are unknown, and control characters are replaced");
    pacing_take(&a, json_true());
    pacing_free(p);
    pacing_close(page);
    if (chdir(dir) == 0 && unlink(PACING_FILE) == 0)
        rmdir(dir);
}

int main(void)
{
    test_policy();
    test_control();
    test_report();
    pacing_free(NULL);
    return done_testing();
}
