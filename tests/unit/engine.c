/* Rules, budgets, decisions and effects, with figures and a clock set by the test. */
#include "rules/engine.h"

#include <stdlib.h>

#include "rules/effect.h"
#include "tests/tap.h"

static struct config config;
#define USER  1000u /* whose job it is */
#define OTHER 1001u

static struct ruleset *rules;
static struct engine engine;
static struct figures figures;
static struct config_policy limits; /* of the job */
static bool enforce, enforce_beyond;
static const char *(*doubt)(const char *node, const void *arg);
static struct budget_entry cluster_spent[8];
static struct budget cluster;
static struct decision decided[8];
static const struct advice *advice;
static const char *hold;
static int (*can)(const struct decision *d, const void *arg, struct err *err);

static void set_rules(const char *text)
{
    struct err err = { "" };

    ruleset_free(rules);
    rules = NULL;
    if (config_parse(&config, "t", text, strlen(text), &err) < 0 || !(rules = ruleset_new(&config, &err)))
        ok(false, "%s", err.text);
    engine_init(&engine);
    engine_bind(&engine, rules, "p");
    limits = (struct config_policy){ .actions_per_hour = 6, .nodes_per_hour = 2, .nodes_at_once = 1 };
    config.user_actions_per_hour = 20;
    config.cluster_actions_per_hour = 60;
    config.cluster_nodes_per_hour = 8;
    enforce = false;
    enforce_beyond = true;
    doubt = NULL;
    cluster = (struct budget){ cluster_spent, ARRAY_SIZE(cluster_spent), 0 };
    advice = NULL;
    hold = NULL;
    can = NULL;
    figures_clear(&figures);
    figures_word(&figures, FIGURE_CLASS, "none");
}

/* A verdict of a straggler on the node, with a slowdown of 1.25. */
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
                               .policy = &limits,
                               .config = &config,
                               .enforce = enforce,
                               .enforce_beyond = enforce_beyond,
                               .doubt = doubt,
                               .hold = hold,
                               .uid = USER,
                               .cluster = &cluster,
                               .can = can,
                               .paused = paused ? "the policy is paused" : NULL,
                               .now_s = now_s };

    return engine_tick(&engine, &in, decided, ARRAY_SIZE(decided));
}

static size_t tick(double now_s)
{
    return tick_paused(now_s, false);
}

#define EXCLUDE \
    "Policy=p\nRule=slow Policy=p When=\"class == straggler\" Hold=30s CoolDown=10m Action=exclude\n"
#define NOTIFY \
    "Webhook=https://pager/\nPolicy=p\nRule=page Policy=p When=\"synchronisation_ratio > 10%\" Hold=10s CoolDown=60s Action=webhook\n"

static void test_hold(void)
{
    set_rules(EXCLUDE);
    is_int((long long)tick(0), 0, "without a verdict no decision is made");
    straggler("n5");
    is_int((long long)tick(10), 0, "a rule whose condition has just become true does not act");
    is_int((long long)tick(39.9), 0, "a rule does not act before Hold has passed");
    is_int((long long)tick(40), 1, "a rule acts after Hold");
    is_str(decided[0].sentence,
           "slow: class (straggler) == straggler has held for 30.0 s: exclude n5; projected: 0.80 of the "
           "step time",
           "a decision's sentence has rule, condition, time, action and projection");
    is_int(decided[0].state, DECISION_DRYRUN, "a decision is a dry run by default");
    is_int(decided[0].action, ACTION_EXCLUDE, "a decision has the rule's action");
    ok(near(decided[0].projected_ratio, 0.8, 1e-12), "the projected ratio is the inverse of the slowdown");
    is_int((long long)tick(41), 0, "a rule that acted does not act again a second later");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 41), RULE_COOLING,
           "a rule cools down after it acted");
    straggler(NULL);
    tick(42);
    straggler("n5");
    tick(50);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 50), RULE_HOLDING,
           "after an interruption the condition must hold for the full time");
    figures.value[FIGURE_CLASS] = NAN;
    tick(60);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 60), RULE_UNKNOWN,
           "a condition that becomes unknown stops holding");
    straggler("n5");
    tick(61);
    is_int((long long)tick(639.9), 0, "a rule does not act before CoolDown has passed");
    is_int((long long)tick(640), 1, "a rule is due again after CoolDown");
    is_str(decided[0].why_not, "the rule has acted on these nodes before",
           "a rule does not act on the same node again");
    is_int(decided[0].state, DECISION_WITHHELD, "a decision that is not allowed is withheld");
    is_int((long long)tick(641), 0, "a withheld decision is not repeated a second later");
    straggler("n6");
    is_int((long long)tick(642), 1, "a rule acts on another node");
}

static void test_hysteresis(void)
{
    set_rules(NOTIFY);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.105;
    tick(0);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.095;
    tick(5);
    is_int((long long)tick(10), 1, "a figure within the hysteresis keeps the condition true");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.085;
    tick(11);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 11), RULE_IDLE,
           "a figure beyond the hysteresis ends the condition");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.095;
    tick(12);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 12), RULE_IDLE,
           "a condition does not become true within the hysteresis");
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    for (double t = 13; t < 70; t += 1)
        if (tick(t))
            ok(false, "a rule made a decision at %g s, before CoolDown had passed", t);
    is_int((long long)tick(70), 1, "a rule whose condition stays true acts again after CoolDown");
}

static void test_budgets(void)
{
    int nodes;

    set_rules(NOTIFY);
    limits.actions_per_hour = 2;
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    is_int((long long)tick(10), 1, "ActionsPerHour=2: the first action is decided");
    is_int((long long)tick(70), 1, "ActionsPerHour=2: the second action is decided");
    is_int((long long)tick(130), 1, "ActionsPerHour=2: the third action is withheld, which is a decision");
    is_str(decided[0].why_not, "2 actions in the last hour; ActionsPerHour=2",
           "ActionsPerHour=2: the withheld decision has the reason");
    is_int((long long)tick(200), 0, "ActionsPerHour=2: the withheld decision is not repeated");
    is_int((long long)tick(3609.9), 0, "ActionsPerHour=2: no further decision is made within the hour");
    is_int((long long)tick(3610), 1, "ActionsPerHour=2: after an hour the rule decides again");
    is_int(decided[0].state, DECISION_DRYRUN, "ActionsPerHour=2: after an hour an action is allowed");
    is_int(budget_spent(&engine.budget, BUDGET_ALL, 3610, &nodes), 2,
           "ActionsPerHour=2: two actions count in the last hour");

    set_rules(EXCLUDE);
    limits.nodes_at_once = 1;
    straggler("n5");
    figures.node[1] = "n6";
    figures.n_nodes = 2;
    tick(0);
    is_int((long long)tick(30), 1, "NodesAtOnce=1: a verdict on two nodes makes one decision");
    is_str(decided[0].why_not, "2 nodes at once; NodesAtOnce=1",
           "NodesAtOnce=1: an action on two nodes is withheld");
    limits.nodes_at_once = 2;
    is_int((long long)tick(31), 1, "NodesAtOnce=2: an action on two nodes is allowed");
    is_str(decided[0].node[1], "n6", "NodesAtOnce=2: the decision names the second node");
    figures.node[0] = "n7";
    figures.n_nodes = 1;
    is_int((long long)tick(700), 1, "a verdict on a third node makes a decision");
    is_str(decided[0].why_not, "2 nodes in the last hour; NodesPerHour=2",
           "NodesPerHour=2: an action on a third node is withheld");

    set_rules(EXCLUDE);
    limits.nodes_per_hour = limits.nodes_at_once = 8;
    straggler("n5");
    tick(0);
    tick(30);
    figures.node[1] = "n6";
    figures.n_nodes = 2;
    is_int((long long)tick(700), 1, "a verdict on an earlier and a new node makes one decision");
    ok(decided[0].n_nodes == 1 && !strcmp(decided[0].node[0], "n6"), "a rule acts only on the new node");
    is_int(budget_spent(&cluster, BUDGET_ALL, 700, &(int){ 0 }), 0,
           "a dry run does not count against the cluster's budget");
    set_rules(EXCLUDE);
    enforce = true;
    straggler("n5");
    tick(0);
    tick(30);
    is_int(budget_spent(&cluster, BUDGET_ALL, 700, &(int){ 0 }), 1,
           "an enforced action counts against the cluster's budget");

    set_rules(NOTIFY);
    config.cluster_actions_per_hour = 1;
    budget_spend(&cluster, 5, 1, OTHER);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    tick(10);
    is_str(decided[0].why_not, "1 action of all jobs in the last hour; ClusterActionsPerHour=1",
           "ClusterActionsPerHour=1: another job's action counts");
    set_rules(NOTIFY);
    config.user_actions_per_hour = 1;
    budget_spend(&cluster, 5, 0, OTHER);
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    tick(10);
    is_str(decided[0].why_not, "", "UserActionsPerHour=1: another user's action does not count");
    budget_spend(&cluster, 5, 0, USER);
    engine.state[0].acted_s = NAN;
    is_int((long long)tick(4000 - 600), 1, "UserActionsPerHour=1: a further decision is returned");
    is_str(decided[0].why_not, "1 action on the user's jobs in the last hour; UserActionsPerHour=1",
           "UserActionsPerHour=1: an action on another job of the user counts");
    set_rules(EXCLUDE);
    config.cluster_nodes_per_hour = 3;
    budget_spend(&cluster, 5, 3, OTHER);
    straggler("n5");
    tick(0);
    tick(30);
    is_str(decided[0].why_not, "3 nodes of all jobs in the last hour; ClusterNodesPerHour=3",
           "ClusterNodesPerHour=3: another job's nodes count");
    for (int i = 0; i < 100; i++)
        budget_spend(&cluster, 5, 1, OTHER);
    is_int(budget_spent(&cluster, BUDGET_ALL, 6, &(int){ 0 }), 8,
           "a budget keeps at most as many entries as it has room for");
}

static const char *doubt_n5(const char *node, const void *arg)
{
    (void)arg;
    return strcmp(node, "n5") ? NULL : "nobody else blames it";
}

/* No job's word alone moves a node. */
static void test_doubt(void)
{
    set_rules("Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 CoolDown=0 Action=drain\n");
    limits.nodes_per_hour = limits.nodes_at_once = 8;
    enforce = true;
    doubt = doubt_n5;
    straggler("n5");
    is_int((long long)tick(0), 1, "an action on a node in doubt is a decision");
    is_int(decided[0].state, DECISION_WITHHELD, "an action on a node in doubt is withheld");
    is_str(decided[0].why_not, "n5: nobody else blames it",
           "a decision that is withheld names the node and the doubt");
    is_int(budget_spent(&cluster, BUDGET_ALL, 0, &(int){ 0 }), 0,
           "a decision that is withheld is not counted");
    figures.node[1] = "n6";
    figures.n_nodes = 2;
    is_int((long long)tick(1), 1, "another node is acted on");
    ok(decided[0].state == DECISION_ENFORCED && decided[0].n_nodes == 1 && !strcmp(decided[0].node[0], "n6"),
       "a node in doubt is left out of an action on several");
    doubt = NULL;
    is_int((long long)tick(2), 1, "once others blame the node, it is acted on");
    ok(decided[0].state == DECISION_ENFORCED && !strcmp(decided[0].node[0], "n5"),
       "once others blame the node, the action is enforced");

    set_rules("Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 Action=exclude\n");
    enforce = true;
    doubt = doubt_n5;
    straggler("n5");
    tick(0);
    is_int(decided[0].state, DECISION_ENFORCED,
           "a job may be requeued without a node that only its user blames");
    set_rules(NOTIFY);
    enforce = true;
    enforce_beyond = false;
    figures.value[FIGURE_SYNCHRONISATION_RATIO] = 0.2;
    tick(0);
    tick(10);
    is_int(decided[0].state, DECISION_DRYRUN, "a webhook is a dry run unless enforce_beyond is set");
}

static int cannot_requeue(const struct decision *d, const void *arg, struct err *err)
{
    (void)arg;
    return action_table[d->action].ends_run
               ? err_set(err, "the job cannot be requeued: it is not a batch job")
               : 0;
}

/* What cannot be done is withheld, in a dry run as well, and what is said of the rule before is the same. */
static void test_can(void)
{
    static const char why[] = "the job cannot be requeued: it is not a batch job";
    struct engine_input in = { .figures = &figures,
                               .policy = &limits,
                               .config = &config,
                               .cluster = &cluster,
                               .uid = USER,
                               .can = cannot_requeue };
    struct decision would;

    for (int i = 0; i < 2; i++) {
        set_rules(
            "Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=10s CoolDown=0 Action=exclude\n"
            "Rule=say Policy=p When=\"class == straggler\" Hold=10s CoolDown=1h Action=job_comment\n");
        enforce = in.enforce = i;
        can = cannot_requeue;
        straggler("n5");
        tick(0);
        in.now_s = 5;
        engine_consider(&engine, 0, &in, &would);
        is_str(would.why_not, why,
               "%s: before the rule is due, what is said of it is that it would be withheld",
               i ? "enforce" : "dry run");
        is_int((long long)tick(10), 2, "two rules are due");
        ok(decided[0].state == DECISION_WITHHELD && !strcmp(decided[0].why_not, why),
           "the exclude is withheld: %s", decided[0].sentence);
        is_int(decided[1].state, i ? DECISION_ENFORCED : DECISION_DRYRUN, "a comment on the same job is not");
        is_int(budget_spent(&engine.budget, BUDGET_ALL, 10, &(int){ 0 }), 1,
               "what is withheld counts against no budget");
        is_int((long long)tick(11), 0, "it is said once");
        can = NULL;
        is_int((long long)tick(12), 1, "once the job can be requeued the rule acts");
    }
    in.can = NULL;
    in.paused = "the policy is paused";
    in.now_s = 13;
    engine_consider(&engine, 0, &in, &would);
    is_str(would.why_not, "the policy is paused", "a rule of a policy that is paused does not act now");
}

/* What the job computes is no number: only rules about that act. */
static void test_hold_of_levers(void)
{
    set_rules(
        "Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 CoolDown=0 Action=exclude\n"
        "Rule=nan Policy=p When=\"ranks > 1 and non_finite\" Hold=0 CoolDown=0 Action=signal Signal=USR1\n");
    enforce = true;
    straggler("n5");
    figures.value[FIGURE_RANKS] = 8;
    figures.value[FIGURE_NON_FINITE] = 1;
    hold = "the loss is no number";
    is_int((long long)tick(0), 2, "while the levers are held two rules make decisions");
    ok(!strcmp(decided[0].rule, "out") && decided[0].state == DECISION_WITHHELD &&
           !strcmp(decided[0].why_not, hold),
       "a rule about something else is withheld, with the reason: %s", decided[0].sentence);
    ok(!strcmp(decided[1].rule, "nan") && decided[1].state == DECISION_ENFORCED,
       "a rule that names non_finite acts");
    is_int(budget_spent(&cluster, BUDGET_ALL, 0, &(int){ 0 }), 1,
           "an action that is held counts against no budget");
    hold = NULL;
    figures.value[FIGURE_NON_FINITE] = 0;
    is_int((long long)tick(1), 1, "once the levers are released a rule that was held acts");
    ok(!strcmp(decided[0].rule, "out") && decided[0].state == DECISION_ENFORCED, "it is enforced");
}

static void test_kinds(void)
{
    struct advice site = { true, -1, "the moon is full", NAN };

    set_rules(EXCLUDE "Rule=save Policy=p When=\"class == straggler\" Hold=30s Action=signal Signal=TERM\n"
                      "Rule=other Policy=balanced When=\"class == straggler\" Hold=0 Action=drain\n");
    enforce = true;
    straggler("n5");
    tick(0);
    is_int((long long)tick(30), 2, "2 rules of the policy are due; a rule of another policy is not");
    is_int(decided[0].state, DECISION_ENFORCED, "the first rule's action is enforced");
    is_str(decided[1].why_not, "the run is already being ended",
           "a further action on a run that is being ended is withheld");
    ok(strstr(decided[1].sentence, "send TERM; withheld: the run"),
       "a withheld decision's sentence has the reason: %s", decided[1].sentence);
    is_int(budget_spent(&cluster, USER, 30, &(int){ 0 }), 1, "an action counts against its user's budget");
    engine_failed(&engine, &decided[0], &cluster, USER);
    is_int(budget_spent(&cluster, BUDGET_ALL, 30, &(int){ 0 }) +
               budget_spent(&engine.budget, BUDGET_ALL, 30, &(int){ 0 }),
           0, "an action that failed counts against no budget");
    is_int((long long)tick(31), 1, "after the action that ends the run failed, one decision is made");
    is_str(decided[0].rule, "save", "after the action that ends the run failed, the other rule acts");
    engine.state[0].acted_s = NAN;
    is_int((long long)tick(32), 1, "after an action failed, its node makes a decision again");
    is_int(decided[0].state, DECISION_ENFORCED, "after an action failed, its node may be acted on again");

    set_rules("Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 Action=drain\n");
    enforce = true;
    enforce_beyond = false;
    straggler("n5");
    tick(0);
    is_int(decided[0].state, DECISION_DRYRUN, "an action on nodes is a dry run unless enforce_beyond is set");
    enforce_beyond = true;
    engine_init(&engine);
    engine_bind(&engine, rules, "p");
    engine_restore(&engine, &decided[0], false, 0);
    is_int((long long)tick(1), 0, "a restored engine does not repeat the decision");
    tick(600);
    is_str(decided[0].why_not, "the rule has acted on these nodes before",
           "a restored engine does not act on the same nodes");
    engine_init(&engine);
    engine_bind(&engine, rules, "p");
    engine_restore(&engine, &decided[0], true, 0);
    decided[0].state = DECISION_ENFORCED;
    engine_restore(&engine, &decided[0], true, 0);
    is_int((long long)tick(599), 0, "a restored action that failed counts for the cool-down");
    is_int((long long)tick(601), 1, "its node makes a decision again");
    is_int(decided[0].state, DECISION_ENFORCED, "which is carried out");

    set_rules(
        "Policy=p\nRule=out Policy=p When=\"class == straggler\" Hold=0 CoolDown=10m MaxPerJob=2 Action=drain\n");
    enforce = true;
    straggler("n5");
    engine_restore_run(&engine, "out", -500);
    is_int((long long)tick(0), 0, "an action of an earlier run of the job counts for the cool-down");
    is_int((long long)tick(101), 1, "another one is possible after it");
    straggler("n6");
    is_int((long long)tick(800), 0, "and counts for MaxPerJob");
    engine_failed(&engine, &decided[0], &cluster, USER);
    is_int((long long)tick(801), 1, "unless it failed");
    enforce = false;
    limits.nodes_per_hour = 1;
    straggler("n7");
    is_int(budget_spent(&cluster, BUDGET_ALL, 900, &(int){ 0 }), 1, "one has been carried out");
    decided[0].state = DECISION_WITHHELD;
    engine_failed(&engine, &decided[0], &cluster, USER);
    is_int(budget_spent(&cluster, BUDGET_ALL, 900, &(int){ 0 }), 1,
           "what was withheld is given back nothing");
    decided[0].state = DECISION_DRYRUN;
    engine_failed(&engine, &decided[0], &cluster, USER);
    is_int(budget_spent(&cluster, BUDGET_ALL, 900, &(int){ 0 }), 1,
           "nor is a dry run what the cluster spent");

    set_rules(EXCLUDE);
    straggler("n5");
    figures.n_nodes = 0;
    tick(0);
    tick(30);
    is_str(decided[0].why_not, "the verdict names no node",
           "an action on nodes is withheld if the verdict names none");

    set_rules("Policy=p\nRule=twice Policy=p When=\"ranks > 1\" Hold=0 CoolDown=0 MaxPerJob=2 "
              "Action=job_comment\n");
    figures.value[FIGURE_RANKS] = 8;
    is_int((long long)(tick(0) + tick(1) + tick(2) + tick(3)), 2, "MaxPerJob=2: two decisions are made");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 3), RULE_SPENT,
           "MaxPerJob=2: the rule is spent after two");

    set_rules("PolicyModule=/x.so\nPolicy=p\nRule=site Policy=p Module=mine Hold=5s Action=requeue\n");
    is_int((long long)(tick(0) + tick(10)), 0, "a rule whose module gives no advice makes no decision");
    is_int(rule_phase(engine.rule[0], &engine.state[0], 10), RULE_UNKNOWN,
           "a rule whose module gives no advice is unknown");
    advice = &site;
    tick(20);
    is_int((long long)tick(25), 1, "a rule acts on its module's advice");
    is_str(decided[0].sentence, "site: the moon is full has held for 5.00 s: requeue the job",
           "the decision's sentence has the module's reason");
    is_int((long long)tick_paused(1000, true), 0, "a paused engine makes no decision");
    is_int((long long)tick(1001), 1, "an engine that is no longer paused decides again");
    site.act = false;
    tick(2000);
    is_int(rule_phase(engine.rule[0], &engine.state[0], 2000), RULE_IDLE,
           "a rule whose module advises against it is idle");
}

static void test_rebind(void)
{
    struct ruleset *old = rules;
    struct err err = { "" };
    const char *text = "Policy=p\nRule=new Policy=p When=\"ranks > 1\" Action=job_comment\n"
                       "Rule=slow Policy=p When=\"class == straggler\" Hold=20s Action=requeue\n";

    set_rules(EXCLUDE);
    straggler("n5");
    tick(0);
    old = rules;
    config_parse(&config, "t", text, strlen(text), &err);
    rules = ruleset_new(&config, &err);
    engine_bind(&engine, rules, "p");
    ruleset_free(old);
    is_int((long long)engine.n, 2, "2 rules of the new configuration are bound");
    is_int((long long)tick(20), 1,
           "a rule with the same condition keeps its time across a new configuration");
    is_int(decided[0].action, ACTION_REQUEUE, "a rule acts as newly configured");
    ruleset_free(rules);
    text = "Policy=p\nRule=slow Policy=p When=\"class != none\" Hold=0 Action=requeue\n";
    config_parse(&config, "t", text, strlen(text), &err);
    engine.n = 0; /* its rules are gone */
    rules = ruleset_new(&config, &err);
    engine_bind(&engine, rules, "p");
    is_int((long long)engine.n, 1, "a rule with another condition is bound");
}

static const struct {
    const char *text, *want;
} mistakes[] = {
    { "Rule=r Policy=balanced \\\n When=\"synchronisation_ratio > 5s\" Action=drain",
      "t:2: Rule=r When=synchronisation_ratio > 5s: column 25: cannot compare synchronisation_ratio with '5s': expected a ratio such as 0.05 "
      "or 5%" },
    { "Rule=r Policy=balanced When=warning \\\n\\\n Action=dance",
      "t:3: Rule=r Action=dance: unknown action; expected one of signal, checkpoint, requeue, exclude, "
      "node_comment, drain, job_comment, webhook, command" },
    { "Rule=r Policy=balanced When=warning", "t:1: Rule=r Action=: missing action; expected one of "
                                             "signal, checkpoint, requeue, exclude, node_comment, drain, "
                                             "job_comment, webhook, command" },
    { "Rule=r Policy=balanced When=\"steps > 1\" Action=resume",
      "t:1: Rule=r Action=resume: not possible in a rule; expected one of signal, checkpoint, requeue, exclude, "
      "node_comment, drain, job_comment, webhook, command" },
    { "Rule=r Policy=balanced Action=drain",
      "t:1: Rule=r When=: column 1: a figure, \"not\" or \"(\" is expected" },
    { "Rule=r Policy=balanced Module=m Action=drain",
      "t:1: Rule=r Module=m: no PolicyModule= is configured" },
    { "Rule=r Policy=balanced When=warning \\\n Action=webhook",
      "t:2: Rule=r Action=webhook: no URL is configured: expected a line Webhook=URL or Webhook=FILE" },
    { "Rule=r Policy=balanced When=warning Action=command",
      "t:1: Rule=r Action=command: no program is configured: expected a line CommandHook=FILE" },
    { "Rule=r Policy=balanced When=warning Action=signal",
      "t:1: Rule=r Signal=: missing: a program that does not handle the signal is ended by it; expected a name such as USR1, or a number" },
    { "Rule=r Policy=balanced When=warning Action=signal Signal=WINK",
      "t:1: Rule=r Signal=WINK: unknown signal; expected a name such as USR1, or a number" },
};

static void test_mistakes(void)
{
    char text[8192] = "";
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
        char what[32];

        snprintf(what, sizeof(what), "invalid rule %zu", i);
        err.text[0] = '\0';
        if (config_parse(&config, "t", mistakes[i].text, strlen(mistakes[i].text), &err) == 0)
            ruleset_free(ruleset_new(&config, &err));
        is_str(err.text, mistakes[i].want, "%s", what);
    }
    for (int i = 0; i <= RULES_PER_POLICY; i++)
        sprintf(text + strlen(text), "Rule=r%d Policy=balanced When=warning Action=job_comment\n", i);
    config_parse(&config, "t", text, strlen(text), &err);
    ok(!ruleset_new(&config, &err) &&
           strstr(err.text, "t:33: Rule=r32 Policy=balanced: a policy has at most 32 rules"),
       "33 rules in a policy are refused: %s", err.text);
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

    ok(near(is.median_s, 0.8, 1e-6), "the level after an action is the median of its window");
    ok(near(was.median_s, 1, 1e-6), "the level before leaves out an unknown column");
    none = effect_level(step_s, n, 2, 3, 0);
    ok(isnan(none.median_s), "a window of one column has no level");
    ok(isnan(effect_level(step_s, n, 2, 100, 60).median_s), "a window before the first column has no level");
    r = effect_ratio(&was, &none);
    ok(isnan(r.value) && isnan(r.low), "the ratio to an unknown level is unknown");
    r = effect_ratio(&was, &is);
    /* Logarithms: variances 0.00504 of five and 0.01050 of four, neighbours not alike; times 1.571 of a
     * median; t of 3 degrees 2.353. */
    ok(near(r.value, 0.8, 1e-6) &&
           near(log(r.high / r.value), 2.353 * sqrt(1.571 * (0.00504 / 5 + 0.0105 / 4)), 0.03),
       "the effect is 0.8 with Welch's interval\n%.3f to %.3f", r.low, r.high);
    is_str(effect_text(&d, &(struct effect_ratio){ 0.83, 0.8, 0.86 }, text, sizeof(text)),
           "excluded n5: 0.83 of the step time (0.80 to 0.86), as projected",
           "an effect near the projection is called as projected");
    is_str(effect_text(&d, &(struct effect_ratio){ 0.99, 0.9, 1.09 }, text, sizeof(text)),
           "excluded n5: 0.99 of the step time (0.90 to 1.09), 0.80 was projected",
           "an effect far from the projection is given with the projected value");
    is_str(effect_text(&d, &(struct effect_ratio){ NAN, NAN, NAN }, text, sizeof(text)),
           "excluded n5: the step time afterwards is not known",
           "an effect that is not known is called unknown");
    is = effect_level(step_s, n, 2, 4, 0);
    r = effect_ratio(&was, &is);
    d = (struct decision){ .action = ACTION_SIGNAL, .signal = 10, .projected_ratio = NAN };
    is_str(effect_text(&d, &r, text, sizeof(text)),
           "sent USR1: 0.80 of the step time (too few steps for an interval)",
           "an effect measured in two columns has no interval");
}

/* The rules of the shipped policies are valid. */
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
        ok(set && set->n >= 2, "shipped policy %s has rules\n%zu %s", names[i], set ? set->n : 0, err.text);
        ruleset_free(set);
    }
}

int main(void)
{
    test_hold();
    test_hysteresis();
    test_budgets();
    test_doubt();
    test_can();
    test_hold_of_levers();
    test_kinds();
    test_rebind();
    test_mistakes();
    test_effect();
    test_shipped();
    ruleset_free(rules);
    return done_testing();
}
