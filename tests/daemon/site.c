/* A site's own policy in the real controller: the shipped example decides, one that cannot be loaded and one
 * that says nonsense leave the controller going, and the log says why. */
#include "tests/daemon/live.h"

/* A copy of what was built, where only root may write. */
static void install(const char *name, const char *as)
{
    char *from = built(name), *command = xasprintf("cp '%s' '%s/%s' && chmod 755 '%s/%s'", from,
                                                   live.munge.dir, as, live.munge.dir, as);

    if (system(command))
        printf("# cannot copy %s\n", from);
    free(command);
    free(from);
}

static void configure(const char *file, const char *module, const char *rule)
{
    char *more =
        xasprintf("Policy=p MinSlowdown=1.02 CheckpointFile=%s/now\nPolicyFor=p User=sim Override=no\n"
                  "PolicyModule=%s/%s\n"
                  "Rule=%s Policy=p Module=%s Hold=1s CoolDown=1h Action=checkpoint\n",
                  live.munge.dir, live.munge.dir, file, rule, module);

    live_configure(more);
    free(more);
}

static const char job_question[] = "{\"query\":\"job\",\"job\":\"4242\",\"view\":{\"count\":0}}";

static json_t *job(void)
{
    return ask(job_question);
}

/* The job's report when the rule has decided, a minute at most. */
static json_t *decided(const char *module)
{
    for (int i = 0; i < 600; i++) {
        json_t *a = job();

        if (!strcmp(text(a, "policy.rules.0.module"), module) && *text(a, "policy.rules.0.last.state"))
            return a;
        json_decref(a);
        pause_s(0.1);
    }
    return NULL;
}

/* At the start: the file is no shared object. */
static void not_loaded(void)
{
    json_t *a;

    ok(live_logged("broken.so: ") &&
           live_logged(": continuing without it; rules that ask it make no decisions"),
       "a site policy that cannot be loaded is logged");
    a = ask_until(job_question, "verdicts.0.class", "straggler");
    is_str(text(a, "verdicts.0.class"), "straggler", "without the site's policy a straggler is still found");
    is_str(text(a, "policy.rules.0.phase"), "unknown",
           "a rule that asks a policy which is not loaded is unknown");
    ok(json_is_null(at(a, "policy.rules.0.last")),
       "a rule that asks a policy which is not loaded makes no decision");
    json_decref(a);
}

static void example(void)
{
    json_t *a, *last;

    configure("example.so", "node-equivalents", "save");
    kill(live.controller, SIGHUP);
    a = decided("node-equivalents");
    last = at(a, "policy.rules.0.last");
    is_str(text(last, "state"), "dryrun", "the shipped example makes a dry-run decision");
    is_str(text(last, "action"), "checkpoint", "the shipped example's decision has the rule's action");
    ok(strstr(text(last, "sentence"), " of 16 nodes are lost to straggler") != NULL,
       "the shipped example's decision has its reason\n%s", text(last, "sentence"));
    json_decref(a);
    a = ask("{\"query\":\"audit\",\"job\":\"4242\"}");
    is_str(text(a, "audit.0.rule"), "save", "the audit has the decision of the shipped example");
    is_str(text(a, "audit.0.state"), "dryrun",
           "the audit lists the decision of the shipped example as a dry run");
    json_decref(a);
}

/* With the controller running: what is loaded stays. */
static void reloads(void)
{
    json_t *a;

    configure("broken.so", "node-equivalents", "other");
    kill(live.controller, SIGHUP);
    ok(live_logged("keeping the present configuration"),
       "a reload with a site policy that cannot be loaded is rejected");
    a = job();
    is_str(text(a, "policy.rules.0.name"), "save", "after a rejected reload the rules are the former ones");
    is_str(text(a, "policy.rules.0.phase"), "cooling", "after a rejected reload the rule keeps its phase");
    json_decref(a);
}

static void nonsense(void)
{
    json_t *a, *last;

    configure("odd.so", "odd", "odd");
    kill(live.controller, SIGHUP);
    a = decided("odd");
    last = at(a, "policy.rules.0.last");
    is_str(text(last, "state"), "dryrun", "a site policy with partly invalid advice makes a decision");
    ok(strstr(text(last, "sentence"), "odd: ?[2J lost???") == text(last, "sentence"),
       "control characters and invalid bytes of a site policy's reason are replaced\n%s",
       text(last, "sentence"));
    ok(json_is_null(at(last, "projected_ratio")) && !strstr(text(last, "sentence"), "projected"),
       "an impossible projection of a site policy is left out");
    is_int((long long)json_array_size(at(a, "policy.decisions")), 2, "the report has both decisions");
    json_decref(a);
    ok(live_logged("the site's policy odd projects -inf of the step time: ignored"),
       "a policy with an impossible projection is logged");
    a = ask("{\"query\":\"audit\",\"job\":\"4242\"}");
    is_int((long long)json_array_size(at(a, "audit")), 2, "the audit has both decisions");
    json_decref(a);
    a = ask("{\"query\":\"status\"}");
    ok(number(a, "jobs") == 1 && number(a, "agents") == 16,
       "after invalid advice the controller still has its job and 16 agents");
    json_decref(a);
}

int main(void)
{
    char *command;
    pid_t pid;

    if (geteuid())
        return skip_all("only root owns what root must own");
    if (!live_begin())
        return skip_all("munged is not here, or does not start");
    install("policies/.libs/site_example.so", "example.so");
    install("tests/daemon/.libs/site_odd.so", "odd.so");
    command = xasprintf("echo 'no object' >'%s/broken.so'", live.munge.dir);
    if (system(command))
        printf("# no broken.so\n");
    free(command);
    configure("broken.so", "node-equivalents", "save");
    ok(live_start(), "the controller starts without the site's policy");
    pid = live_job("4242", "600", "16");
    not_loaded();
    example();
    reloads();
    nonsense();
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    is_int(live_stop(SIGTERM), 0, "the controller exits with 0 after SIGTERM");
    live_end();
    return done_testing();
}
