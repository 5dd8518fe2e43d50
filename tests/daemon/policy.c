/* Policies in the real controller: a simulated job with a straggler, what its rules decide, who may change
 * what, what a reload and a restart leave. */
#include <event2/event.h>
#include <sys/mman.h>

#include "tests/daemon/live.h"
#include "tests/ends.h"
#include "wire/link.h"

#define RULES                                                                                                   \
    "Rule=slow Policy=p When=\"class == straggler and slowdown > 1.05\" Hold=1s CoolDown=1h "                   \
    "Action=exclude\n"                                                                                          \
    "Rule=out Policy=p When=\"class == straggler\" Hold=1s CoolDown=1h Action=drain\n"                          \
    "Rule=never Policy=p When=\"synchronisation_ratio > 0.95 or time_left_s < 1s\" Action=signal Signal=USR1\n" \
    "Rule=page Policy=p When=\"class == straggler\" Hold=2s CoolDown=1h Action=command\n"
#define POLICY      "PolicyFor=p User=sim Override=no\n"
#define UNTIL_ENDED "1e6" /* seconds */

static char jsonl[128], hook[128], slurm_helper[128];

static void configure(const char *params)
{
    char *more = xasprintf("Policy=p Description=\"For the test\" EffectWindow=5s %s\n" POLICY RULES
                           "AuditLog=%s\nCommandHook=%s\nSlurmHelperPath=%s\n",
                           params, jsonl, hook, slurm_helper);

    live_configure(more);
    free(more);
}

/* The helper, where it can do nothing. */
#define NO_SLURM "cat >/dev/null; echo '{\"result\":\"refused\",\"text\":\"there is no Slurm here\"}'"

static void script(const char *path, const char *body)
{
    FILE *f = fopen(path, "w");

    fprintf(f, "#!/bin/sh\n%s\n", body);
    fclose(f);
    chmod(path, 0700);
}

static char *job_question(const char *id)
{
    return xasprintf("{\"query\":\"job\",\"job\":\"%s\",\"view\":{\"count\":0}}", id);
}

static json_t *job(const char *id)
{
    char *q = job_question(id);
    json_t *a = ask(q);

    free(q);
    return a;
}

/* Waits, a minute at most, until that path of the job is that text. */
static bool becomes(const char *id, const char *path, const char *want)
{
    char *q = job_question(id);
    json_t *a = ask_until(q, path, want);
    bool good = !strcmp(text(a, path), want);

    json_decref(a);
    free(q);
    return good;
}

static json_t *control(const char *id, const char *what, const char *words)
{
    char *q =
        xasprintf("{\"query\":\"control\",\"job\":\"%s\",\"do\":\"%s\",\"words\":[%s]}", id, what, words);
    json_t *a = ask(q);

    free(q);
    return a;
}

/* The parameter of a job's report. */
static json_t *param(json_t *report, const char *key)
{
    json_t *p;
    size_t i;

    json_array_foreach(at(report, "policy.params"), i, p)
        if (!strcmp(text(p, "key"), key))
            return p;
    return NULL;
}

static json_t *rule(json_t *report, const char *name)
{
    json_t *r;
    size_t i;

    json_array_foreach(at(report, "policy.rules"), i, r)
        if (!strcmp(text(r, "name"), name))
            return r;
    return NULL;
}

/* ---- what is decided ---- */

static void decisions(void)
{
    json_t *a, *r;

    ok(becomes("4242", "policy.rules.0.last.state", "dryrun"),
       "the rule on stragglers makes a dry-run decision");
    a = job("4242");
    is_str(text(a, "policy.name"), "p", "the policy is chosen by the job's user");
    is_str(text(a, "policy.action"), "dryrun", "a policy without Action= makes dry runs");
    r = rule(a, "slow");
    is_str(text(r, "last.action"), "exclude", "the decision is to exclude a node");
    is_str(text(r, "last.nodes.0"), "sim3", "the decision names the straggler's node");
    ok(number(r, "last.projected_ratio") > 0.7 && number(r, "last.projected_ratio") < 0.96,
       "the decision projects 0.70 to 0.96 of the step time\n%s", text(r, "last.sentence"));
    is_str(text(r, "phase"), "cooling", "after the decision the rule cools down");
    ok(number(r, "cooling_s") > 3000 && number(r, "acted") == 1,
       "the rule's cool-down lasts an hour after one decision");
    is_str(text(r, "terms.0.text"), "class == straggler", "the rule lists its first term");
    is_str(text(r, "terms.0.truth"), "yes", "the rule's first term is true");
    r = rule(a, "never");
    is_str(text(r, "terms.1.value"), "?", "the value of an unknown figure is written as ?");
    is_str(text(r, "truth"), "unknown", "a rule with an unknown term is unknown");
    ok(json_is_null(at(r, "last")), "a rule with an unknown term makes no decision");
    is_int((long long)number(a, "policy.budget.actions"), 2, "dry runs count against the job's budget");
    ok(json_array_size(at(a, "policy.decisions")) <= 3, "each decision is listed once");
    json_decref(a);
    a = ask("{\"query\":\"audit\",\"job\":\"4242\"}");
    is_str(text(a, json_array_size(at(a, "audit")) == 3 ? "audit.2.rule" : "audit.1.rule"), "slow",
           "the audit has the decision of the rule on stragglers");
    json_decref(a);
}

static void audit_file(void)
{
    char line[4096];
    FILE *f = fopen(jsonl, "r");
    int n = 0, good = 0;

    while (f && fgets(line, sizeof(line), f)) {
        json_t *o = json_loads(line, 0, NULL);

        n++;
        good += *text(o, "event") && number(o, "at") > 1e9;
        json_decref(o);
    }
    if (f)
        fclose(f);
    ok(n >= 2 && good == n, "each line of AuditLog is a JSON object with event and time\n%d lines", n);
}

/* ---- commands ---- */

/* Does the audit have a command of these words? */
static bool says(json_t *audit, const char *words)
{
    json_t *e;
    size_t i;

    json_array_foreach(at(audit, "audit"), i, e)
        if (!strcmp(text(e, "sentence"), words))
            return true;
    return false;
}

static void commands(void)
{
    json_t *a = control("4242", "set", "\"HangTimeout=45s\",\"SampleRate=7\"");

    is_str(text(param(a, "HangTimeout"), "value"), "45s", "a parameter is set");
    ok(json_is_true(at(param(a, "HangTimeout"), "set")) && !json_is_true(at(param(a, "MinSlowdown"), "set")),
       "only the parameter that was set is marked as set");
    json_decref(a);
    a = control("4242", "set", "\"HangTimeout=50s\",\"SampleRate=0\"");
    is_str(text(a, "error"), "SampleRate=0: a rate from 1 to 1000 a second (default 50)",
           "setting a wrong value is rejected with the accepted ones");
    json_decref(a);
    a = job("4242");
    is_str(text(param(a, "HangTimeout"), "value"), "45s",
           "with one wrong value among several, the first is not set");
    is_str(text(a, "policy.action"), "dryrun", "with one wrong value among several, the action is not set");
    json_decref(a);
    a = control("4242", "set", "\"Colour=red\"");
    ok(strstr(text(a, "error"), "unknown parameter 'Colour': expected one of MinSlowdown"),
       "setting an unknown parameter is rejected with the known ones: %s", text(a, "error"));
    json_decref(a);
    a = control("4242", "set", "\"SampleRate=default\"");
    is_str(text(param(a, "SampleRate"), "value"), "50", "Key=default restores the policy's value");
    json_decref(a);
    a = control("4242", "dance", "");
    ok(strstr(text(a, "error"), "set, pause, resume"),
       "an unknown command is rejected with the known ones: %s", text(a, "error"));
    json_decref(a);
    a = control("4242", "pause", "");
    ok(json_is_true(at(a, "policy.paused")), "a policy is paused by the command pause");
    json_decref(a);
    a = control("4242", "resume", "");
    ok(json_is_false(at(a, "policy.paused")), "a policy is no longer paused after the command resume");
    json_decref(a);
    a = job("4242");
    ok(json_is_false(at(a, "verdicts.0.acknowledged")), "a verdict is not acknowledged at first");
    json_decref(a);
    json_decref(control("4242", "acknowledge", ""));
    a = job("4242");
    ok(json_is_true(at(a, "verdicts.0.acknowledged")),
       "a verdict is acknowledged by the command acknowledge");
    json_decref(a);
    a = ask("{\"query\":\"audit\",\"job\":\"4242\"}");
    ok(says(a, "acknowledge straggler sim3"),
       "the audit has the command acknowledge, with what was acknowledged");
    json_decref(a);
    a = control("99", "pause", "");
    ok(strstr(text(a, "error"), "no guarded job 99"), "a command for an unknown job is refused");
    json_decref(a);
}

static void lists(void)
{
    json_t *a = ask("{\"query\":\"policy\"}"), *p;
    size_t i, n = 0;

    json_array_foreach(at(a, "policies"), i, p)
        n += !strcmp(text(p, "name"), "p") && number(p, "jobs") == 1;
    is_int((long long)n, 1, "one policy has the job");
    is_str(text(a, "selections.0.User"), "sim",
           "the policies are listed with the user that PolicyFor= selects");
    json_decref(a);
    a = ask("{\"query\":\"policy\",\"name\":\"P\"}");
    is_str(text(a, "text"), "For the test", "the answer on one policy has its description");
    is_int((long long)json_array_size(at(a, "rules")), 4, "the answer on one policy has its four rules");
    ok(number(a, "params.0.min") == 1 && number(a, "params.0.max") == 10 &&
           !strcmp(text(a, "params.0.unit"), "ratio"),
       "the answer on one policy has parameters with unit and range");
    json_decref(a);
    a = ask("{\"query\":\"policy\",\"name\":\"gone\"}");
    is_str(text(a, "error"), "unknown policy 'gone': expected one of observe, balanced, p",
           "the error about an unknown policy lists the known ones");
    json_decref(a);
}

/* ---- an agent that listens ---- */

struct ears {
    struct event_base *base;
    char heard[4096];
};

static void on_up(struct link *l, void *arg)
{
    char *hello =
        xasprintf("{\"hello\":\"agent\",\"job\":77,\"step\":0,\"uid\":%u,\"node\":\"n1\",\"user\":\"sim\","
                  "\"policy\":\"balanced\",\"policy_asked\":true}",
                  (unsigned)getuid());

    (void)arg;
    link_send(l, LINK_JSON, hello, strlen(hello));
    free(hello);
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct ears *e = arg;

    (void)l;
    (void)type;
    snprintf(e->heard, sizeof(e->heard), "%.*s", (int)bytes, (const char *)data);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    (void)l;
    printf("# %s\n", why);
    event_base_loopbreak(((struct ears *)arg)->base);
}

static bool hears(struct ears *e, const char *words)
{
    for (int i = 0; i < 600 && !strstr(e->heard, words); i++) {
        struct timeval some = { 0, 100000 };

        event_base_loopexit(e->base, &some);
        event_base_dispatch(e->base);
    }
    return strstr(e->heard, words) != NULL;
}

static void retuning(void)
{
    static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };
    struct ears e = { .base = event_base_new() };
    struct err err;
    struct test_step step = {
        .uid = getuid(), .job = 77, .tasks = 1, .nodes = 1, .node = "n1", .ranks = "0"
    };
    struct identity *identity = test_step_identity(live.munge.socket, &step);
    struct link_end end = { .munge_socket = live.munge.socket, .identity = identity };
    struct link *l = link_connect(e.base, live.hosts, 0, &end, &events, &e, &err);

    ok(hears(&e, "\"rate_hz\":50"), "an agent gets the policy's parameters");
    json_decref(control("77", "set", "\"SampleRate=7\""));
    ok(hears(&e, "\"rate_hz\":7"), "an agent gets the parameters again after they were set\n%s", e.heard);
    configure("MinSlowdown=1.03 SampleRate=20");
    kill(live.controller, SIGHUP);
    json_decref(control("77", "set", "\"SampleRate=default\""));
    ok(hears(&e, "\"rate_hz\":20"), "an agent gets the parameters again after the configuration changed");
    link_close(l);
    identity_free(identity);
    event_base_free(e.base);
}

/* ---- reload, restart ---- */

static void reload(void)
{
    json_t *a;

    configure("MinSlowdown=1.04 HangTimeout=20s");
    kill(live.controller, SIGHUP);
    for (int i = 0; i < 600; i++) {
        a = job("4242");
        if (!strcmp(text(param(a, "MinSlowdown"), "value"), "1.04"))
            break;
        json_decref(a);
        pause_s(0.1);
        a = NULL;
    }
    is_str(text(param(a, "MinSlowdown"), "value"), "1.04", "a reload changes a running job's parameter");
    is_str(text(param(a, "HangTimeout"), "value"), "45s",
           "a reload keeps a parameter that was set for the job");
    ok(number(rule(a, "slow"), "acted") == 1, "a reload keeps the number of times that a rule acted");
    json_decref(a);
    live_configure(
        "Policy=p MinSlowdown=1.09\nRule=bad Policy=p When=\"synchronisation_ratio > 5s\" Action=drain\n");
    kill(live.controller, SIGHUP);
    ok(live_logged("keeping the present configuration"), "a wrong rule is reported in the log");
    a = job("4242");
    is_str(text(param(a, "MinSlowdown"), "value"), "1.04",
           "a configuration with a wrong rule changes no parameter");
    json_decref(a);
}

static void end_job(pid_t pid)
{
    kill(pid, SIGUSR1);
    waitpid(pid, NULL, 0);
}

/* Enforced, where Slurm refuses: it failed, and the failure is reported. */
static void enforce(void)
{
    pid_t pid = live_job("4300", UNTIL_ENDED, "8");
    json_t *a = NULL;

    for (int i = 0; i < 600; i++) {
        a = control("4300", "set", "\"Action=enforce\"");
        if (!*text(a, "error"))
            break;
        json_decref(a);
        pause_s(0.1);
        a = NULL;
    }
    is_str(text(a, "policy.action"), "enforce", "an operator sets Action=enforce");
    ok(json_is_true(at(a, "policy.beyond_enforced")),
       "Action=enforce of an operator also enforces actions on nodes");
    json_decref(a);
    ok(becomes("4300", "policy.rules.0.last.outcome", "failed"),
       "the outcome of an action that cannot be done is failed");
    a = job("4300");
    is_str(text(rule(a, "slow"), "last.state"), "enforced",
           "the decision of an action that failed is enforced");
    ok(*text(rule(a, "slow"), "last.outcome_text"), "the outcome of an action that failed has a reason\n%s",
       text(rule(a, "slow"), "last.outcome_text"));
    json_decref(a);
    ok(becomes("4300", "policy.rules.3.last.outcome", "done"),
       "the outcome of an action that can be done is done");
    for (int i = 0; i < 600; i++) {
        a = job("4300");
        if (*text(rule(a, "page"), "last.effect"))
            break;
        json_decref(a);
        pause_s(0.1);
        a = NULL;
    }
    ok(strstr(text(rule(a, "page"), "last.effect"), "ran the command: ") &&
           number(rule(a, "page"), "last.effect_ratio") > 0.3 &&
           number(rule(a, "page"), "last.effect_ratio") < 3,
       "the effect of an action that was done is measured\n%s", text(rule(a, "page"), "last.effect"));
    json_decref(a);
    end_job(pid);
}

static void restart(void)
{
    pid_t other = live_job("4343", UNTIL_ENDED, "8");
    json_t *a;

    ok(becomes("4343", "verdicts.0.class", "straggler"), "another job has a straggler");
    json_decref(control("4343", "pause", ""));
    json_decref(control("4343", "acknowledge", ""));
    live_stop(SIGKILL);
    configure("MinSlowdown=1.04");
    ok(live_start(), "the controller is started again");
    ok(becomes("4242", "policy.name", "p"), "the job is known to the new controller with its policy");
    a = job("4242");
    is_str(text(param(a, "HangTimeout"), "value"), "45s",
           "a parameter that was set survives a restart of the controller");
    is_str(text(rule(a, "slow"), "last.nodes.0"), "sim3", "a decision survives a restart of the controller");
    ok(number(rule(a, "slow"), "acted") == 1 && number(a, "policy.budget.actions") >= 2,
       "after a restart of the controller a rule does not decide again, and the budget counts its action");
    json_decref(a);
    ok(becomes("4343", "verdicts.0.class", "straggler"), "the other job's straggler is found again");
    a = job("4343");
    ok(json_is_true(at(a, "policy.paused")),
       "a pause survives a restart of the controller, though a verdict was acknowledged after it");
    ok(json_is_true(at(a, "verdicts.0.acknowledged")), "so does the acknowledgement");
    json_decref(a);
    end_job(other);
}

/* ---- the next run ---- */

/* The newest decision to do that. */
static json_t *decision(json_t *report, const char *action)
{
    json_t *d;
    size_t i;

    json_array_foreach(at(report, "policy.decisions"), i, d)
        if (!strcmp(text(d, "action"), action))
            return d;
    return NULL;
}

/* Waits, a minute at most, until that text of the decision is there; the report, the caller's. */
static json_t *decided(const char *id, const char *action, const char *key)
{
    json_t *a = job(id);

    for (int i = 0; i < 600 && !*text(decision(a, action), key); i++) {
        json_decref(a);
        pause_s(0.1);
        a = job(id);
    }
    return a;
}

/* The run before it, if there was one, has been ended. */
static pid_t enforced_run(const char *id, const char *restarts, const char *factor)
{
    bool set = strcmp(restarts, "0") && !becomes(id, "state", "finished");
    pid_t pid = live_run(id, restarts, UNTIL_ENDED, "8", factor);

    for (int i = 0; i < 600 && !set; i++) {
        json_t *a = job(id), *d;

        if (!strcmp(text(a, "state"), "running")) {
            d = control(id, "set", "\"Action=enforce\"");
            set = !*text(d, "error");
            json_decref(d);
        }
        json_decref(a);
        pause_s(0.1);
    }
    return pid;
}

/* What ends a run is measured in the next one: what a rule decided, and what a person asked for. */
static void next_run(void)
{
    static const char ask_requeue[] =
        "{\"query\":\"action\",\"action\":\"requeue\",\"job\":\"4600\",\"key\":\"0123456789\"}";
    json_t *a, *d;
    pid_t pid;

    script(slurm_helper, "cat >/dev/null; echo '{\"result\":\"done\",\"text\":\"requeued\"}'");
    pid = enforced_run("4600", "0", "1.3");
    ok(becomes("4600", "policy.rules.0.last.outcome", "done"), "the exclude of the straggler's node is done");
    end_job(pid);

    pid = enforced_run("4600", "1", "1.0");
    a = decided("4600", "exclude", "effect");
    d = decision(a, "exclude");
    ok(strstr(text(d, "effect"), "excluded sim3: 0.") && strstr(text(d, "effect"), "projected"),
       "the next run reports the effect of the exclude\n%s", text(d, "effect"));
    ok(number(d, "effect_ratio") > 0.6 && number(d, "effect_ratio") < 0.97 && number(d, "restarts") == 0,
       "the effect of the exclude is 0.60 to 0.97 of the step time, as a decision of the first run");
    is_str(text(rule(a, "slow"), "last.effect"), text(d, "effect"),
           "the rule's last decision has the same effect");
    json_decref(a);

    json_decref(ask(ask_requeue));
    json_decref(ask(ask_requeue));
    a = decided("4600", "requeue", "outcome_text");
    d = decision(a, "requeue");
    ok(!strcmp(text(d, "sentence"), "by hand: requeue the job") && number(d, "by") == getuid() &&
           json_is_null(at(d, "rule")),
       "a requeue by hand is listed with its user and without a rule");
    json_decref(a);
    end_job(pid);

    pid = enforced_run("4600", "2", "1.0");
    a = decided("4600", "requeue", "effect");
    d = decision(a, "requeue");
    ok(strstr(text(d, "effect"), "requeued the job: ") && number(d, "effect_ratio") > 0.8 &&
           number(d, "effect_ratio") < 1.25,
       "the effect of a requeue by hand is measured\n%s", text(d, "effect"));
    is_int((long long)json_array_size(at(a, "policy.decisions")), 2,
           "the next run lists exclude and requeue once each");
    is_int((long long)number(a, "policy.budget.actions"), 1,
           "a requeue by hand does not count against the budget");
    json_decref(a);
    script(slurm_helper, NO_SLURM);
    json_decref(ask(
        "{\"query\":\"action\",\"action\":\"exclude\",\"nodes\":\"sim2\",\"job\":\"4600\",\"key\":\"9876543210\"}"));
    json_decref(ask_until("{\"query\":\"actions\",\"job\":\"4600\"}", "actions.0.state", "failed"));
    a = job("4600");
    is_int((long long)number(a, "policy.budget.actions"), 1,
           "nor does one that fails give back what a rule has spent");
    json_decref(a);
    end_job(pid);
}

/* ---- the audit is lost, the records of actions are not ---- */

static int command_ran_twice(const char *job)
{
    char *command = xasprintf("test $(grep -c '\"%s\"' '%s.log') = 2", job, hook);
    int rc = -1;

    for (int i = 0; i < 300 && rc; i++) {
        rc = system(command);
        pause_s(0.1);
    }
    free(command);
    return rc;
}

static void lost_audit(void)
{
    char *body = xasprintf("cat >>%s.log; echo >>%s.log", hook, hook),
         *clear = xasprintf("rm -rf '%s'/state '%s.log'", live.munge.dir, hook),
         *lose = xasprintf("rm '%s'/state/audit.sqlite*", live.munge.dir),
         /* one rule: its decision is number 1 in either audit */
             *conf = xasprintf(
                 "Policy=p Action=enforce\n" POLICY
                 "Rule=page Policy=p When=\"class == straggler\" Hold=1s CoolDown=1h Action=command\n"
                 "CommandHook=%s\n",
                 hook);
    pid_t pid;

    live_stop(SIGTERM);
    script(hook, body);
    live_configure(conf);
    ok(system(clear) == 0 && live_start(), "a controller is started without history");
    pid = live_job("4700", UNTIL_ENDED, "8");
    ok(becomes("4700", "policy.rules.0.last.outcome", "done"), "a rule's command is done");
    live_stop(SIGTERM);
    ok(system(lose) == 0 && live_start(), "a controller is started after its audit log was removed");
    ok(becomes("4700", "policy.rules.0.last.outcome", "done") && command_ran_twice("4700.0") == 0,
       "after the audit log was lost, a new decision with an old id is carried out");
    end_job(pid);
    free(body);
    free(clear);
    free(lose);
    free(conf);
}

/* ---- who may ---- */

static bool refused(json_t *a, const char *why)
{
    bool good = strstr(text(a, "error"), why) != NULL;

    json_decref(a);
    return good;
}

static bool granted(json_t *a, const char *path, const char *want)
{
    bool good = !strcmp(text(a, path), want);

    json_decref(a);
    return good;
}

/* As user uid: bits of what went wrong. */
static int as_user(uid_t uid, int (*what)(void))
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid)
        _exit(setgid(uid) < 0 || setuid(uid) < 0 ? 100 : what());
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int as_owner(void)
{
    return !granted(control("5000", "set", "\"HangTimeout=40s\",\"Action=enforce\""), "policy.action",
                    "enforce") *
               1 +
           !refused(control("5000", "set", "\"NodesPerHour=1000\""), "only operators may set it") * 2 +
           !refused(control("4242", "pause", ""), "not yours") * 4 +
           !refused(ask("{\"query\":\"audit\",\"job\":\"4242\"}"), "not yours") * 8 +
           !granted(ask("{\"query\":\"audit\",\"job\":\"5000\"}"), "audit.0.state", "command") * 16 +
           !refused(control("5000", "set", "\"SampleRate=40\""), "an operator has set it") * 32 +
           !refused(control("5000", "resume", ""), "an operator has paused") * 64;
}

static int as_other(void)
{
    return !refused(control("5000", "set", "\"HangTimeout=40s\""), "not yours") * 1 +
           !refused(control("5000", "pause", ""), "not yours") * 2 + !refused(job("5000"), "not yours") * 4;
}

/* Jobs that last until end_started(), whoever started them. */
static struct {
    pid_t pid[8];
    int n;
} * started;

static void end_started(void)
{
    while (started->n)
        kill(started->pid[--started->n], SIGTERM);
}

static bool starts(const char *number)
{
    pid_t pid = live_job(number, UNTIL_ENDED, "8");
    bool there = false;

    started->pid[started->n++] = pid;

    for (int i = 0; i < 600 && !there; i++) {
        json_t *a = job(number);

        there = !*text(a, "error");
        json_decref(a);
        pause_s(0.1);
    }
    return there && pid > 0;
}

/* Nobody else vouches for these agents. */
static int start_alone(void)
{
    return !starts("5001");
}

static int act_alone(void)
{
    return !refused(control("5001", "set", "\"Action=enforce\""), "is unconfirmed") * 1 +
           !refused(
               ask("{\"query\":\"action\",\"job\":\"5001\",\"action\":\"requeue\",\"key\":\"12345678\"}"),
               "is unconfirmed") *
               2;
}

/* In how many rows of the list it is. */
static int listed(const char *id)
{
    json_t *a = ask("{\"query\":\"jobs\"}"), *row;
    int n = 0;
    size_t i;

    json_array_foreach(at(a, "jobs"), i, row)
        n += !strcmp(text(row, "id"), id);
    json_decref(a);
    return n;
}

/* What a user's own programs say of a job, without root's word for it. */
static void unconfirmed(void)
{
    json_t *a;

    is_int(as_user(65534, start_alone), 0, "a job that only its user knows of is shown");
    is_int(as_user(65534, act_alone), 0, "its user can neither enforce its policy nor act on it");
    a = job("5001");
    is_str(text(a, "unconfirmed"), "nobody but its user vouches for its agents",
           "the job says why it is unconfirmed");
    is_str(text(a, "policy.action"), "dryrun", "its policy is a dry run");
    json_decref(a);
    a = job("5000");
    ok(json_is_null(at(a, "unconfirmed")), "a job for which root vouches is confirmed");
    json_decref(a);
    live.uid = "65534";
    ok(starts("5001") && becomes("5001", "unconfirmed", ""), "once root vouches for the other, it is, too");
    live.uid = NULL;
    is_int(listed("5001.0"), 1, "and it is in the list once");
}

static void authorisation(void)
{
    json_t *a;

    if (geteuid()) {
        ok(true, "owners and other users # SKIP only root can become them");
        return;
    }
    live.uid = "65534";
    ok(starts("5000"), "a job of an ordinary user is guarded");
    live.uid = NULL;
    json_decref(control("5000", "set", "\"SampleRate=30\""));
    json_decref(control("5000", "pause", ""));
    is_int(
        as_user(65534, as_owner), 0,
        "the owner of a job sets its parameters, but neither the limits for operators nor what an operator has set");
    json_decref(control("5000", "resume", ""));
    is_int(as_user(65533, as_other), 0, "another user cannot see the job, and cannot change it");
    ok(becomes("5000", "policy.rules.1.last.state", "dryrun"),
       "with Action=enforce by the owner, actions on nodes stay dry runs");
    ok(becomes("5000", "policy.rules.0.last.state", "enforced"),
       "with Action=enforce by the owner, actions on the job are enforced");
    a = job("5000");
    ok(json_is_false(at(a, "policy.beyond_enforced")),
       "with Action=enforce by the owner, beyond_enforced is false");
    json_decref(a);
    unconfirmed();
}

/* Slurm knows jobs 4800 and 4801, as user sim's in partition main; the test's uid runs them, the second not
 * as a batch job. */
static void make_squeue(void)
{
    char *
        path = xasprintf("%s/squeue", live.munge.dir),
       *body = xasprintf(
           "for job in '4800 1' '4801 0'; do set -- $job\n"
           "printf '%%-24s' $1 N/A N/A RUNNING 0 %u $1 N/A; printf '%%-64s' sim main none normal; printf '%%-24s' $2 1; echo\n"
           "done",
           (unsigned)getuid()),
       *search = xasprintf("%s:%s", live.munge.dir, getenv("PATH"));

    script(path, body);
    setenv("PATH", search, 1);
    free(path);
    free(body);
    free(search);
}

static void list_keys(char *buf, size_t size, json_t *o)
{
    const char *key;
    json_t *value;

    json_object_foreach(o, key, value)
        snprintf(buf + strlen(buf), size - strlen(buf), "%s\n", key);
}

/* What cannot be done: asked for, in a dry run, and by a rule, the answer is the same; and a dry run of what
 * can be done has the keys of what is done. */
static void impossible(void)
{
#define ACT "{\"query\":\"action\",\"key\":\"dry-and-real\","
    static const char why[] =
        "job 4801.0 cannot be requeued: it is not a batch job (sbatch), and only those are";
    static const char *const kinds[] = { "\"action\":\"requeue\"",
                                         "\"action\":\"exclude\",\"nodes\":\"sim3\"" };
    pid_t pid = live_job("4801", UNTIL_ENDED, "8");
    json_t *a, *b;
    char of_dry[2048] = "", of_real[2048] = "";

    ok(becomes("4801", "policy.rules.0.phase", "withheld"), "the rule is not due, but withheld");
    ok(becomes("4801", "policy.rules.0.last.state", "withheld"), "it has decided so");
    a = job("4801");
    is_str(text(a, "policy.rules.0.why_not"), why, "the rule says why");
    is_str(text(rule(a, "slow"), "last.why_not"), why, "so does its decision");
    ok(!strcmp(text(rule(a, "slow"), "last.state"), "withheld") && number(rule(a, "slow"), "acted") == 0,
       "the decision is withheld in a dry run as well");
    json_decref(a);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        for (int dry = 0; dry < 2; dry++) {
            char *q = xasprintf(ACT "%s,\"job\":\"4801\",\"dry_run\":%s}", kinds[i], dry ? "true" : "false");

            a = ask(q);
            is_str(text(a, "error"), why, "%s by hand is refused%s", kinds[i], dry ? " in a dry run" : "");
            json_decref(a);
            free(q);
        }
    a = ask(ACT "\"action\":\"checkpoint\",\"job\":\"4801\",\"dry_run\":true}");
    b = ask(ACT "\"action\":\"checkpoint\",\"job\":\"4801\"}");
    ok(strstr(text(a, "error"), "does not ask whether a checkpoint is due") &&
           !strcmp(text(a, "error"), text(b, "error")),
       "so is a checkpoint of a program that does not ask for one: %s", text(a, "error"));
    json_decref(a);
    json_decref(b);
    a = ask(ACT "\"action\":\"job_comment\",\"text\":\"x\",\"job\":\"4801\",\"dry_run\":true}");
    b = ask(ACT "\"action\":\"job_comment\",\"text\":\"x\",\"job\":\"4801\"}");
    ok(json_is_true(at(a, "action.dry_run")) && json_is_null(at(a, "action.id")) &&
           number(b, "action.id") > 0,
       "a dry run of what is possible says that it was one, and was not recorded");
    json_object_del(at(a, "action"), "dry_run");
    list_keys(of_dry, sizeof(of_dry), at(a, "action"));
    list_keys(of_real, sizeof(of_real), at(b, "action"));
    is_str(of_dry, of_real, "it has the keys of the real one");
    json_decref(a);
    json_decref(b);
    end_job(pid);
}

/* With Slurm's word: what a job did before a restart of the controller is known again once Slurm has
 * confirmed it. */
static void confirmed(void)
{
    char *squeue = xasprintf("%s/squeue", live.munge.dir);
    json_t *a;
    pid_t pid;

    live_stop(SIGTERM);
    make_squeue();
    live.confirm = "slurm";
    configure("MinSlowdown=1.04");
    ok(live_start(), "a controller is started that asks Slurm");
    pid = live_job("4800", UNTIL_ENDED, "8");
    ok(becomes("4800", "policy.name", "p"), "Slurm's word about the user chooses the policy");
    ok(becomes("4800", "policy.rules.0.last.state", "dryrun"), "its rule decides");
    json_decref(control("4800", "set", "\"HangTimeout=45s\""));
    live_stop(SIGKILL);
    ok(live_start(), "the controller is started again");
    ok(becomes("4800", "policy.name", "p"), "Slurm confirms the job again");
    a = job("4800");
    is_str(text(param(a, "HangTimeout"), "value"), "45s", "a parameter that was set is in force again");
    ok(number(rule(a, "slow"), "acted") == 1 && number(rule(a, "slow"), "cooling_s") > 3000,
       "the rule has acted, and goes on cooling down");
    json_decref(a);
    end_job(pid);
    impossible();
    unlink(squeue);
    free(squeue);
}

/* A policy that enforces one rule, from now on. */
static void enforce_one(const char *rule)
{
    char *more = xasprintf("Policy=p Action=enforce\n" POLICY "%s\nSlurmHelperPath=%s\n", rule, slurm_helper);

    live_configure(more);
    kill(live.controller, SIGHUP);
    free(more);
}

/* A node is drained when jobs of two users blame it; the history is empty but for one job. */
static void witnesses(void)
{
    json_t *a;

    enforce_one("Rule=out Policy=p When=\"class == straggler\" Hold=1s CoolDown=1h Action=drain");
    live.uid = "65534";
    ok(starts("5100"), "a job of a user is guarded");
    ok(becomes("5100", "policy.rules.0.last.state", "withheld"),
       "a node is not drained on the word of one user's job");
    a = job("5100");
    ok(strstr(text(a, "policy.rules.0.last.why_not"), "sim3: only this user's jobs blame it"),
       "the decision says why\n%s", text(a, "policy.rules.0.last.why_not"));
    json_decref(a);
    live.uid = "65533";
    ok(starts("5101"), "a job of another user is guarded");
    live.uid = NULL;
    ok(becomes("5100", "policy.rules.0.last.state", "enforced"),
       "once another user's job blames the node, it is drained");
}

/* A signal that would kill the ranks is withheld from a rule and refused a person, until he insists. */
static void signals(void)
{
    static const char why[] =
        "job 5200.0: rank 0's program has no handler for SIGUSR1: it would be killed; sgctl action --force sends it anyway";
    static const char ask_signal[] =
        "{\"query\":\"action\",\"action\":\"signal\",\"signal\":\"USR1\",\"job\":\"5200\",\"key\":\"signal-by-hand\"%s}";
    static const char *const hows[] = { ",\"dry_run\":true", "", ",\"force\":true,\"dry_run\":true",
                                        ",\"force\":true" };
    pid_t bare, ready;
    json_t *a;

    enforce_one(
        "Rule=warn Policy=p When=\"class == straggler\" Hold=1s CoolDown=1h Action=signal Signal=USR1");
    live.endured = "0";
    bare = live_job("5200", UNTIL_ENDED, "8");
    live.endured = "200";
    ready = live_job("5201", UNTIL_ENDED, "8");
    live.endured = NULL;
    ok(becomes("5200", "policy.rules.0.last.state", "withheld"),
       "a rule's signal is withheld where it would kill the ranks");
    a = job("5200");
    is_str(text(a, "policy.rules.0.last.why_not"), why, "the decision says why");
    json_decref(a);
    ok(becomes("5201", "policy.rules.0.last.state", "enforced"), "it is sent to ranks with a handler");
    for (size_t i = 0; i < ARRAY_SIZE(hows); i++) {
        char *q = xasprintf(ask_signal, hows[i]);

        a = ask(q);
        is_str(text(a, "error"), i < 2 ? why : "", "by hand%s", hows[i]);
        if (i >= 2)
            is_str(text(a, "action.action"), "signal", "the signal that is forced is an action");
        json_decref(a);
        free(q);
    }
    end_job(bare);
    end_job(ready);
}

int main(void)
{
    pid_t pid;

    if (!live_begin())
        return skip_all("munged is not here, or does not start");
    snprintf(jsonl, sizeof(jsonl), "%s/audit.jsonl", live.munge.dir);
    snprintf(slurm_helper, sizeof(slurm_helper), "%s/helper.so",
             live.munge.dir); /* a name that live_end() removes */
    snprintf(hook, sizeof(hook), "/bin/true");
    script(slurm_helper, NO_SLURM);
    configure("MinSlowdown=1.02");
    if (!live_start()) {
        ok(false, "the controller starts");
        return done_testing();
    }
    started = mmap(NULL, sizeof(*started), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = live_job("4242", UNTIL_ENDED, "8");
    decisions();
    audit_file();
    commands();
    lists();
    retuning();
    reload();
    configure("MinSlowdown=1.04");
    kill(live.controller, SIGHUP);
    enforce();
    restart();
    authorisation();
    end_started();
    end_job(pid);
    next_run();
    snprintf(hook, sizeof(hook), "%s/hook.so", live.munge.dir);
    lost_audit();
    witnesses();
    end_started();
    signals();
    confirmed();
    is_int(live_stop(SIGTERM), 0, "the controller exits with 0 after SIGTERM");
    live_end();
    return done_testing();
}
