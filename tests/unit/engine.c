/* Rules, budgets, decisions, effects: a job of figures set by hand, a clock of its own. */
#include "rules/engine.h"

#include <stdlib.h>

#include "rules/effect.h"
#include "tests/tap.h"

static struct config config;
static struct ruleset *rules;
static struct engine engine;
static struct figures figures;
static struct engine_limits limits;
static struct budget_entry cluster_spent[8];
static struct budget cluster;
static struct decision decided[8];
static const struct advice *advice;

static void set_rules(const char *text)
{
    struct err err = { "" };

    ruleset_free(rules);
    rules = NULL;
    if (config_parse(&config, "t", text, strlen(text), &err) < 0 || !(rules = ruleset_new(&config, &err)))
        ok(false, "%s", err.text);
    engine_init(&engine);
    engine_bind(&engine, rules, "p");
    limits = (struct engine_limits){ false, true, 6, 2, 1, 60, 8 };
    cluster = (struct budget){ cluster_spent, ARRAY_SIZE(cluster_spent), 0 };
    advice = NULL;
    figures_clear(&figures);
    figures_word(&figures, FIGURE_CLASS, "none");
}

/* A straggler on the node that makes the job take 1.25 times as long. */
static void straggler(const char *node)
{
    figures_word(&figures, FIGURE_CLASS, node ? "straggler" : "none");
    figures.value[FIGURE_SLOWDOWN] = node ? 1.25 : NAN;
    figures.node[0] = node;
    figures.n_nodes = node != NULL;
}

static size_t tick_paused(double now_s, bool paused)
{
    struct engine_input in = { .figures = &figures,
                               .advice = advice,
                               .n_advice = advice != NULL,
                               .limits = &limits,
                               .cluster = &cluster,
                               .paused = paused,
                               .now_s = now_s };

    return engine_tick(&engine, &in, decided, ARRAY_SIZE(decided));
}

static size_t tick(double now_s)
{
    return tick_paused(now_s, false);
}

#define EXCLUDE \
    "Policy=p\nRule=slow Policy=p When=\"class == straggler\" Hold=30s CoolDown=10m Action=exclude\n"
#define TELL \
    "Policy=p\nRule=tell Policy=p When=\"synchronisation_ratio > 10%\" Hold=10s CoolDown=60s Action=webhook\n"

static void test_hold(void)
{
    set_rules(EXCLUDE);
    is_int((long long)tick(0), 0, "nothing is wrong");
    straggler("n5");
    is_int((long long)tick(10), 0, "a straggler");
    is_int((long long)tick(39.9), 0, "not for long enough");
    is_int((long long)tick(40), 1, "for half a minute");
    is_str(decided[0].sentence,
           "slow: class (straggler) == straggler has held for 30.0 s: exclude n5; projected: 0.80 of the "
           "step time",
           "why, and what");
    is_int(decided[0].state, DECISION_DRYRUN, "only said: dry run is the default");
    is_int(decided[0].action, ACTION_EXCLUDE, "the action");
    ok(near(decided[0].projected_ratio, 0.8, 1e-12), "projected from the slowdown");
    is_int((long long)tick(41), 0, "said once");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 41), RULE_COOLING, "it cools down");
    straggler(NULL);
    tick(42);
    straggler("n5");
    tick(50);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 50), RULE_HOLDING, "it must hold anew");
    figures.value[FIGURE_CLASS] = NAN;
    tick(60);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 60), RULE_UNKNOWN, "the unknown ends it");
    straggler("n5");
    tick(61);
    is_int((long long)tick(639.9), 0, "ten minutes have not passed");
    is_int((long long)tick(640), 1, "then it is due again");
    is_str(decided[0].why_not, "that was done before in this job", "but not against the same node");
    is_int(decided[0].state, DECISION_WITHHELD, "which is told");
    is_int((long long)tick(641), 0, "once");
    straggler("n6");
    is_int((long long)tick(642), 1, "another node is another matter");
}

static void test_hysteresis(void)
{
    set_rules(TELL);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.105;
    tick(0);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.095;
    tick(5);
    is_int((long long)tick(10), 1, "what holds may come back a little");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.085;
    tick(11);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 11), RULE_IDLE, "and not more");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.095;
    tick(12);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 12), RULE_IDLE, "it does not begin there");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    for (double t = 13; t < 70; t += 1)
        if (tick(t))
            ok(false, "cooling at %g", t);
    is_int((long long)tick(70), 1, "still so after the cool-down: again");
}

static void test_budgets(void)
{
    int nodes;

    set_rules(TELL);
    limits.actions_per_hour = 2;
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    is_int((long long)tick(10), 1, "the first");
    is_int((long long)tick(70), 1, "the second");
    is_int((long long)tick(130), 1, "of the third");
    is_str(decided[0].why_not, "2 actions in the last hour; ActionsPerHour=2", "it is told why not");
    is_int((long long)tick(200), 0, "once");
    is_int((long long)tick(3609.9), 0, "an hour has not passed");
    is_int((long long)tick(3610), 1, "after an hour");
    is_int(decided[0].state, DECISION_DRYRUN, "it may again");
    is_int(budget_spent(&engine.budget, 3610, &nodes), 2, "so much is spent");

    set_rules(EXCLUDE);
    limits.nodes_at_once = 1;
    straggler("n5");
    figures.node[1] = "n6";
    figures.n_nodes = 2;
    tick(0);
    is_int((long long)tick(30), 1, "two nodes at once");
    is_str(decided[0].why_not, "against 2 nodes at once; NodesAtOnce=1", "are too many");
    limits.nodes_at_once = 2;
    is_int((long long)tick(31), 1, "until the parameter says otherwise");
    is_str(decided[0].node[1], "n6", "both");
    figures.node[0] = "n7";
    figures.n_nodes = 1;
    is_int((long long)tick(700), 1, "a third");
    is_str(decided[0].why_not, "2 nodes in the last hour; NodesPerHour=2", "is too many an hour");

    set_rules(EXCLUDE);
    limits.nodes_per_hour = limits.nodes_at_once = 8;
    straggler("n5");
    tick(0);
    tick(30);
    figures.node[1] = "n6";
    figures.n_nodes = 2;
    is_int((long long)tick(700), 1, "another node beside the one of before");
    ok(decided[0].n_nodes == 1 && !strcmp(decided[0].node[0], "n6"), "is the only one that is acted on");
    is_int(budget_spent(&cluster, 700, NULL), 0, "a dry run uses nothing of what all jobs share");
    set_rules(EXCLUDE);
    limits.enforce = true;
    straggler("n5");
    tick(0);
    tick(30);
    is_int(budget_spent(&cluster, 700, NULL), 1, "what is done does");

    set_rules(TELL);
    limits.cluster_actions_per_hour = 1;
    budget_spend(&cluster, 5, 1);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    tick(10);
    is_str(decided[0].why_not, "1 actions in the last hour, all jobs together; ClusterActionsPerHour=1",
           "other jobs count");
    set_rules(EXCLUDE);
    limits.cluster_nodes_per_hour = 3;
    budget_spend(&cluster, 5, 3);
    straggler("n5");
    tick(0);
    tick(30);
    is_str(decided[0].why_not, "3 nodes in the last hour, all jobs together; ClusterNodesPerHour=3",
           "so do their nodes");
    for (int i = 0; i < 100; i++)
        budget_spend(&cluster, 5, 1);
    is_int(budget_spent(&cluster, 6, NULL), 8, "a budget's memory is bounded");
}

static void test_kinds(void)
{
    struct advice site = { "mine", true, -1, "the moon is full", NAN };

    set_rules(EXCLUDE "Rule=save Policy=p When=\"class == straggler\" Hold=30s Action=signal Signal=TERM\n"
                      "Rule=other Policy=balanced When=\"class == straggler\" Hold=0 Action=drain\n");
    limits.enforce = true;
    straggler("n5");
    tick(0);
    is_int((long long)tick(30), 2, "rules in their order, another policy's not");
    is_int(decided[0].state, DECISION_ENFORCED, "to be done");
    is_str(decided[1].why_not, "the run is being ended already", "a run that ends is left alone");
    ok(strstr(decided[1].sentence, "send TERM; withheld: the run"), "%s", decided[1].sentence);
    engine_failed(&engine, &decided[0]);
    is_int((long long)tick(31), 1, "when that failed");
    is_str(decided[0].rule, "save", "the other rule has its turn");
    engine.state[0].acted_s = NAN;
    is_int((long long)tick(32), 1, "and the node");
    is_int(decided[0].state, DECISION_ENFORCED, "may be tried again");

    set_rules("Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 Action=drain\n");
    limits.enforce = true;
    limits.enforce_nodes = false;
    straggler("n5");
    tick(0);
    is_int(decided[0].state, DECISION_DRYRUN, "what changes nodes needs a permission of its own");
    limits.enforce_nodes = true;
    engine_init(&engine);
    engine_bind(&engine, rules, "p");
    engine_restore(&engine, &decided[0], 0);
    is_int((long long)tick(1), 0, "what was decided before is known to an engine that begins anew");
    tick(600);
    is_str(decided[0].why_not, "that was done before in this job", "its nodes, too");

    set_rules(EXCLUDE);
    straggler("n5");
    figures.n_nodes = 0;
    tick(0);
    tick(30);
    is_str(decided[0].why_not, "no node is to blame", "an action against nodes needs one");

    set_rules("Policy=p\nRule=twice Policy=p When=\"ranks > 1\" Hold=0 CoolDown=0 MaxPerJob=2 "
              "Action=job_comment\n");
    figures.value[FIGURE_RANKS] = 8;
    is_int((long long)(tick(0) + tick(1) + tick(2) + tick(3)), 2, "so often a job");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 3), RULE_SPENT, "then it is spent");

    set_rules("PolicyModule=/x.so\nPolicy=p\nRule=site Policy=p Module=mine Hold=5s Action=requeue\n");
    is_int((long long)(tick(0) + tick(10)), 0, "a module that says nothing");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 10), RULE_UNKNOWN, "is unknown");
    advice = &site;
    tick(20);
    is_int((long long)tick(25), 1, "a module that says so");
    is_str(decided[0].sentence, "site: the moon is full has held for 5.00 s: requeue the job",
           "in its words");
    is_int((long long)tick_paused(1000, true), 0, "a pause decides nothing");
    is_int((long long)tick(1001), 1, "afterwards");
    site.act = false;
    tick(2000);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 2000), RULE_IDLE, "a module that says no");
}

static void test_rebind(void)
{
    struct ruleset *old = rules;
    struct err err = { "" };
    const char *text = "Policy=p\nRule=new Policy=p When=\"ranks > 1\" Action=webhook\n"
                       "Rule=slow Policy=p When=\"class == straggler\" Hold=20s Action=requeue\n";

    set_rules(EXCLUDE);
    straggler("n5");
    tick(0);
    old = rules;
    config_parse(&config, "t", text, strlen(text), &err);
    rules = ruleset_new(&config, &err);
    engine_bind(&engine, rules, "p");
    ruleset_free(old);
    is_int((long long)engine.n, 2, "another configuration");
    is_int((long long)tick(20), 1, "a rule with the same condition holds on");
    is_int(decided[0].action, ACTION_REQUEUE, "and does what it says now");
    ruleset_free(rules);
    text = "Policy=p\nRule=slow Policy=p When=\"class != none\" Hold=0 Action=requeue\n";
    config_parse(&config, "t", text, strlen(text), &err);
    engine.n = 0; /* its rules are gone */
    rules = ruleset_new(&config, &err);
    engine_bind(&engine, rules, "p");
    is_int((long long)engine.n, 1, "another condition begins anew");
}

static const struct {
    const char *text, *want;
} mistakes[] = {
    { "Rule=r Policy=balanced \\\n When=\"synchronisation_ratio > 5s\" Action=drain",
      "t:2: Rule=r When=synchronisation_ratio > 5s: column 25: synchronisation_ratio is compared with '5s': a ratio such as 0.05 "
      "or 5% is accepted" },
    { "Rule=r Policy=balanced When=warning \\\n\\\n Action=dance",
      "t:3: Rule=r Action=dance: no such action; there are signal, checkpoint, requeue, exclude, "
      "node_comment, drain, job_comment, webhook, command" },
    { "Rule=r Policy=balanced When=warning", "t:1: Rule=r Action=: what is done must be said; there are "
                                             "signal, checkpoint, requeue, exclude, node_comment, drain, "
                                             "job_comment, webhook, command" },
    { "Rule=r Policy=balanced When=\"steps > 1\" Action=resume",
      "t:1: Rule=r Action=resume: for people only; there are signal, checkpoint, requeue, exclude, "
      "node_comment, drain, job_comment, webhook, command" },
    { "Rule=r Policy=balanced Action=drain",
      "t:1: Rule=r When=: column 1: a figure, \"not\" or \"(\" is expected" },
    { "Rule=r Policy=balanced Module=m Action=drain",
      "t:1: Rule=r Module=m: PolicyModule= names no file that has it" },
    { "Rule=r Policy=balanced When=warning Action=signal Signal=WINK",
      "t:1: Rule=r Signal=WINK: no such signal; such as USR1, TERM or 10 is accepted" },
};

static void test_mistakes(void)
{
    char text[8192] = "";
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
        char what[32];

        snprintf(what, sizeof(what), "mistakes, case %zu", i);
        err.text[0] = '\0';
        if (config_parse(&config, "t", mistakes[i].text, strlen(mistakes[i].text), &err) == 0)
            ruleset_free(ruleset_new(&config, &err));
        is_str(err.text, mistakes[i].want, "%s", what);
    }
    for (int i = 0; i <= ENGINE_RULES_MAX; i++)
        sprintf(text + strlen(text), "Rule=r%d Policy=balanced When=warning Action=webhook\n", i);
    config_parse(&config, "t", text, strlen(text), &err);
    ok(!ruleset_new(&config, &err) &&
           strstr(err.text, "t:33: Rule=r32 Policy=balanced: a policy has at most 32 rules"),
       "%s", err.text);
}

static void test_effect(void)
{
    /* columns of 2 s, the newest last: 1 s a step for a long time, then 0.8 */
    static const float step_s[] = { 1, 1, 1.1F, NAN, 1, 0.9F, 5, 0.8F, 0.8F, 0.7F, 0.9F };
    size_t n = ARRAY_SIZE(step_s);
    struct decision d = { .action = ACTION_EXCLUDE, .n_nodes = 1, .node = { "n5" }, .projected_ratio = 0.8 };
    char text[256];

    struct effect_level was = effect_level(step_s, n, 2, 22, 10), is = effect_level(step_s, n, 2, 8, 0), none;
    struct effect_ratio r;

    ok(near(is.median_s, 0.8, 1e-6), "the newest eight seconds");
    ok(near(was.median_s, 1, 1e-6), "the time before, an unknown column left out");
    none = effect_level(step_s, n, 2, 3, 0);
    ok(isnan(none.median_s), "one column says nothing");
    ok(isnan(effect_level(step_s, n, 2, 100, 60).median_s), "nor does a time before there was any");
    r = effect_ratio(&was, &none);
    ok(isnan(r.value) && isnan(r.low), "no ratio to what is not known");
    r = effect_ratio(&was, &is);
    /* Logarithms: variances 0.00504 of five and 0.01050 of four, neighbours not alike; times 1.571 of a median;
     * t of 3 degrees 2.353. */
    ok(near(r.value, 0.8, 1e-6) &&
           near(log(r.high / r.value), 2.353 * sqrt(1.571 * (0.00504 / 5 + 0.0105 / 4)), 0.03),
       "0.8 times as long, %.3f to %.3f", r.low, r.high);
    is_str(effect_text(&d, &(struct effect_ratio){ 0.83, 0.8, 0.86 }, text, sizeof(text)),
           "excluded n5: 0.83 of the step time (0.80 to 0.86), as projected", "as projected");
    is_str(effect_text(&d, &(struct effect_ratio){ 0.99, 0.9, 1.09 }, text, sizeof(text)),
           "excluded n5: 0.99 of the step time (0.90 to 1.09), 0.80 was projected", "not so");
    is_str(effect_text(&d, &(struct effect_ratio){ NAN, NAN, NAN }, text, sizeof(text)),
           "excluded n5: the step time afterwards is not known", "unknown");
    is = effect_level(step_s, n, 2, 4, 0);
    r = effect_ratio(&was, &is);
    d = (struct decision){ .action = ACTION_SIGNAL, .signal = 10, .projected_ratio = NAN };
    is_str(effect_text(&d, &r, text, sizeof(text)),
           "sent USR1: 0.80 of the step time (too few steps for an interval)",
           "two columns have no interval");
}

/* The rules of the shipped policies mean something. */
static void test_shipped(void)
{
    static const char *const names[] = { "throughput", "energy", "large-train" };
    const char *top = getenv("top_srcdir");

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct ruleset *set = NULL;
        struct err err = { "" };
        char path[4096];

        snprintf(path, sizeof(path), "%s/policies/%s.conf", top ? top : ".", names[i]);
        if (config_load(&config, path, &err) == 0)
            set = ruleset_new(&config, &err);
        ok(set && set->n >= 2, "%s: %zu rules %s", names[i], set ? set->n : 0, err.text);
        ruleset_free(set);
    }
}

int main(void)
{
    test_hold();
    test_hysteresis();
    test_budgets();
    test_kinds();
    test_rebind();
    test_mistakes();
    test_effect();
    test_shipped();
    ruleset_free(rules);
    return done_testing();
}
