#include "common/config.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/conf.h"
#include "tests/tap.h"

static char dir[64];

static const char *write_file(const char *name, const char *text)
{
    static char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    if (f) {
        fputs(text, f);
        fclose(f);
    }
    return path;
}

/* Each line as "line:key=value|key=value;". */
static int collect(const struct conf_line *line, void *arg, struct err *err)
{
    char *out = arg;

    (void)err;
    for (size_t i = 0; i < line->n; i++)
        sprintf(out + strlen(out), "%s%u:%s=%s", i ? "|" : "", line->pairs[i].line, line->pairs[i].key,
                line->pairs[i].value);
    strcat(out, ";");
    return 0;
}

static const struct {
    const char *text, *want; /* lines, or the reason */
} dialect[] = {
    { "", "" },
    { "# nothing\n\n  \t\r\n", "" },
    { "A=1\nB=2", "1:A=1;2:B=2;" },
    { "A=1 B = 2 # C=3\r\n", "1:A=1|1:B=2;" },
    { "A=\"b c # d\" E=f", "1:A=b c # d|1:E=f;" },
    { "A=\"say \\\"x\\\" \\\\ \\n\"", "1:A=say \"x\" \\ \\n;" },
    { "A=1 \\\n  B=2\nC=3\n", "1:A=1|2:B=2;3:C=3;" },
    { "A=1\\\n2\n", "1:A=12;" },
    { "A=1 \\\r\nB=2", "1:A=1|2:B=2;" },
    { "A=x\\#y", "1:A=x#y;" },
    { "A=C:\\dir", "1:A=C:\\dir;" },
    { "A=socket=/run/x", "1:A=socket=/run/x;" },
    { "A=\nB=\"\"", "1:A=;2:B=;" },
    { "A=1 \\", "1:A=1;" },
    { "foo\n", "t.conf:1: \"foo\": expected Key=Value" },
    { "A=1\n\n=x", "t.conf:3: \"\": expected Key=Value" },
    { "A=\"open\nB=1", "t.conf:1: missing closing quote" },
    { "A=\"x\"y", "t.conf:1: expected a blank after a closing quote" },
    { "A=1 B=\x01", "t.conf:1: character 0x01: plain text expected" },
    { "Include", "t.conf:1: Include: expected one file name" },
    { "Include a b", "t.conf:1: Include: expected one file name" },
    { "\ninclude /nonexistent/x", "t.conf:2: Include: /nonexistent/x: No such file or directory" },
    { "Include /dev/zero", "t.conf:1: Include: /dev/zero: expected a regular file of at most 16384 KiB" },
    { "Include %c/x", "t.conf:1: Include: %c stands for ClusterName, which is not given before" },
    { "ClusterName=NoWhere Include=x\nInclude /%c.%c",
      "t.conf:2: Include: /nowhere.nowhere: No such file or directory" },
    { "A=x\\ \t\r\ny", "1:A=xy;" },
};

static void test_dialect(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(dialect); i++) {
        struct err err = { "" };
        char out[1024] = "";

        conf_parse("t.conf", dialect[i].text, strlen(dialect[i].text), collect, out, &err);
        is_str(err.text[0] ? err.text : out, dialect[i].want,
               "conf_parse: case %zu gives the expected keys or error", i);
    }
}

/* What Slurm takes beside. */
static void test_slurms(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "A+=1 B -=2 C*= 3 D / = 4 E=5", "t.conf:1: \"D\": expected Key=Value" },
        { "A+=1 B -=2 C*= 3 E=-5", "1:A=1|1:B=2|1:C=3|1:E=-5;" },
        { "A=\"1 B=2\nC=\"3", "1:A=\"1|1:B=2;2:C=\"3;" },
        { "A=\"1 B=\"2\nC=3", "1:A=\"1|1:B=\"2;2:C=3;" },
        { "A=\"1 2\" B=\"3\"4", "1:A=1 2|1:B=\"3\"4;" },
        { "A=\"\x01", "t.conf:1: character 0x01: plain text expected" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        char out[1024] = "";

        conf_load_slurm("t.conf", cases[i].text, strlen(cases[i].text), collect, out, &err);
        is_str(err.text[0] ? err.text : out, cases[i].want,
               "conf_load_slurm: case %zu gives the expected keys or error", i);
    }
}

static void test_bounds(void)
{
    static char text[3 << 20], out[sizeof(text) + 64];
    struct err err = { "" };

    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "A=", 2);
    ok(conf_parse("t.conf", text, strlen(text), collect, out, &err) == 0 && strlen(out) == strlen(text) + 3,
       "conf_parse: a line of 3 MiB is read");
    out[0] = '\0';
    text[0] = '\0';
    for (unsigned i = 0; i <= CONF_PAIRS_MAX; i++)
        strcat(text, "A=1 ");
    ok(conf_parse("t.conf", text, strlen(text), collect, out, &err) < 0 &&
           strstr(err.text, "at most 64 keys"),
       "conf_parse: a line with more than CONF_PAIRS_MAX keys is rejected: %s", err.text);
    ok(conf_parse("t.conf", "A=1\0B=2", 7, collect, out, &err) < 0 && strstr(err.text, "0x00"),
       "conf_parse: a NUL character is rejected");
    ok(conf_read(write_file("loop.conf", "Include loop.conf\n"), collect, out, &err) < 0 &&
           strstr(err.text, "include itself"),
       "conf_read: a file that includes itself is rejected\n%s", err.text);
}

static void test_include(void)
{
    char out[256] = "", want[256];
    struct err err = { "" };

    write_file("inner.conf", "B=2\n\nC\n");
    conf_read(write_file("outer.conf", "A=1\nInclude inner.conf\nD=4\n"), collect, out, &err);
    snprintf(want, sizeof(want), "%s/inner.conf:3: \"C\": expected Key=Value", dir);
    is_str(err.text, want, "conf_read: an error in an included file names that file");
    is_str(out, "1:A=1;1:B=2;", "conf_read: the lines before the error were passed on");
}

/* Text, also empty text, is read in place of the file of that name. */
static void test_load(void)
{
    const char *path = write_file("both.conf", "A=1\n");
    char out[256] = "";
    struct err err;

    ok(conf_load(path, NULL, 0, collect, out, &err) == 0, "conf_load: a file is read");
    ok(conf_load(path, "B=2", 3, collect, out, &err) == 0, "conf_load: text is read");
    ok(conf_load(path, "", 0, collect, out, &err) == 0, "conf_load: empty text is accepted");
    is_str(out, "1:A=1;1:B=2;", "conf_load: text stands in place of the file");
}

static const struct {
    const char *text, *want;
} mistakes[] = {
    { "Policy=x MinSlowdown=0.5", "1: MinSlowdown=0.5: a ratio from 1 to 10 (default 1.02)" },
    { "\nPort=70000", "2: Port=70000: a whole number from 1 to 65535 (default 6825)" },
    { "Port=80.5", "1: Port=80.5: a whole number from 1 to 65535 (default 6825)" },
    { "Port=80%", "1: Port=80%: a whole number from 1 to 65535 (default 6825)" },
    { "Policy=x HangTimeout=fast",
      "1: HangTimeout=fast: a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or 1-12:00:00; from 1.00 s to 1d00h (default 30s)" },
    { "Policy=x HangTimeout=0s", "1: HangTimeout=0s: a time from 1.00 s to 1d00h (default 30s)" },
    { "Policy=x SampleRate=0", "1: SampleRate=0: a rate from 1 to 1000 a second (default 50)" },
    { "Policy=off", "1: Policy=off: the name has another meaning in --sync-guard=off" },
    { "Policy=../x", "1: Policy=../x: a name of at most 31 letters, digits, '_', '-' and '.'" },
    { "Policy=x Colour=red",
      "1: Colour=red: unknown key; a policy has Description, MinSlowdown, HangTimeout, SampleRate, " },
    { "Policy=x SampleRate=5 samplerate=6", "1: samplerate=6: set twice on this line" },
    { "SampleRate=5", "1: SampleRate=5: belongs to a policy: Policy=NAME SampleRate=..." },
    { "Controler=x", "1: Controler=x: unknown key. Did you mean 'Controller'?" },
    { "Policy=x MinSlowdwon=1.1", "1: MinSlowdwon=1.1: unknown key. Did you mean 'MinSlowdown'?" },
    { "PolicyFor=blaanced Partition=a", "1: PolicyFor=blaanced: unknown policy. Did you mean 'balanced'?" },
    { "Colour=x",
      "1: Colour=x: unknown key; besides Policy, PolicyFor, Rule and Include there are Controller, Port, Listen, MetricsPort, MetricsListen, AuthInfo, StateDir, LogFile, "
      "LogLevel, Operators, SlurmUser, ControllerUser, ClusterName, Confirm, DefaultPolicy, AgentPath, "
      "CredentialPath, ProbePath, NcclPath, HistoryDays, " },
    { "Controller=a:b", "1: Controller=a:b: HOST[:PORT][,HOST[:PORT]...] (default localhost)" },
    { "Controller=a,", "1: Controller=a,: HOST[:PORT][,HOST[:PORT]...] (default localhost)" },
    { "Controller=a:0", "1: Controller=a:0: HOST[:PORT][,HOST[:PORT]...] (default localhost)" },
    { "AuthInfo=/run/munge", "1: AuthInfo=/run/munge: socket=PATH, at most 107 characters of path" },
    { "LogLevel=loud", "1: LogLevel=loud: error, warning, info or debug (default info)" },
    { "AgentPath=agent",
      "1: AgentPath=agent: a path that begins with / (default " PKGLIBEXECDIR "/syncguard-agent)" },
    { "StateDir=", "1: StateDir=: a path that begins with / (default " LOCALSTATEDIR "/lib/syncguard)" },
    { "Operators=a,,b", "1: Operators=a,,b: NAME[,NAME...]" },
    { "PolicyFor=x Partition=a", "1: PolicyFor=x: unknown policy; there are observe, balanced" },
    { "PolicyFor=observe MinNodes=-1",
      "1: MinNodes=-1: a whole number of nodes from 0 to 1000000 (default 0)" },
    { "PolicyFor=observe MinNodes=8 MaxNodes=4",
      "1: PolicyFor=observe: the largest size is below the smallest: no job fits" },
    { "PolicyFor=observe Override=perhaps", "1: Override=perhaps: no or yes (default yes)" },
    { "PolicyFor=observe Partition=a,", "1: Partition=a,: NAME[,NAME...]" },
    { "Partition=a", "1: Partition=a: belongs to a selection: PolicyFor=NAME Partition=..." },
    { "Rule=r When=x", "1: Rule=r: a rule belongs to a policy: Rule=r Policy=NAME When=..." },
    { "\nRule=r Policy=x When=x", "2: Rule=r Policy=x: unknown policy; there are observe, balanced" },
    { "Rule=r Policy=observe \\\n Hold=2d", "2: Hold=2d: a time from 0 s to 1d00h (default 30s)" },
    { "Policy=x Action=do", "1: Action=do: dryrun or enforce (default dryrun)" },
    { "Policy=x ActionsPerHour=61", "1: ActionsPerHour=61: a whole number from 0 to 60 (default 6)" },
    { "PolicyModule=x.so", "1: PolicyModule=x.so: a path that begins with /" },
};

static void test_mistakes(void)
{
    static struct config c = { .port = 1 };

    for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
        const char *path = write_file("bad.conf", mistakes[i].text);
        struct err err = { "" };
        char want[512];

        snprintf(want, sizeof(want), "%s:%s", path, mistakes[i].want);
        config_load(&c, path, &err);
        if (want[strlen(want) - 1] == ' ') /* the start is compared: tables grow */
            err.text[strlen(want)] = '\0';
        is_str(err.text, want, "config_load: '%s' is rejected with its place and reason", mistakes[i].text);
    }
    is_int(c.port, 1, "config_load: a failure leaves the configuration unchanged");
}

static void test_loading(void)
{
    static struct config c;
    const struct config_policy *p;
    struct err err = { "" };
    char names[128], want[256];

    is_int(config_load(&c, write_file("empty.conf", ""), &err), 0, "config_load: an empty file is accepted");
    is_str(c.controller, "localhost:6825", "Controller: the default is localhost with the default port");
    is_int(c.port, CONFIG_DEFAULT_PORT, "Port: the default is CONFIG_DEFAULT_PORT");
    is_int(c.history_days, 90, "HistoryDays: the default is 90");
    is_str(c.agent, PKGLIBEXECDIR "/syncguard-agent", "AgentPath: the default is below PKGLIBEXECDIR");
    is_str(config_policy_names(&c, names, sizeof(names)), "observe, balanced",
           "config_policy_names: the built-in policies are observe and balanced");
    is_str(config_policy_names(&c, names, 5), "obse", "config_policy_names: the names are cut to the buffer");
    p = config_policy_find(&c, "BALANCED");
    ok(p && near(p->min_slowdown_ratio, 1.02, 1e-12) && near(p->hang_timeout_s, 30, 1e-12) &&
           near(p->sample_rate_hz, 50, 1e-12),
       "policy balanced has the default values");
    ok(!config_policy_find(&c, "nosuch"), "config_policy_find: an unknown policy is NULL");

    is_int(config_load(&c,
                       write_file("full.conf",
                                  "controller=head1:7000,head2,[::1]:5\nPORT=7001\nAuthInfo=socket=/m/s\n"
                                  "Operators=ann,bob\nDefaultPolicy=Night\nLogFile=\n"
                                  "Policy=balanced HangTimeout=2m\n"
                                  "Policy=night Description=\"At night\" \\\n  MinSlowdown=110%\n"),
                       &err),
           0, "config_load: a file with keys of all kinds is accepted");
    is_str(err.text, "", "config_load: an accepted file gives no reason");
    is_str(c.controller, "head1:7000,head2:7001,[::1]:5",
           "Controller: a host without a port gets that of Port");
    is_int(c.port, 7001, "Port: the value of the file is used");
    is_str(c.munge_socket, "/m/s", "AuthInfo: the value is stored without socket=");
    is_int((long long)c.n_policies, 3, "Policy: a new name adds a policy");
    p = config_policy_find(&c, "balanced");
    ok(p && near(p->hang_timeout_s, 120, 1e-12) && near(p->sample_rate_hz, 50, 1e-12),
       "Policy: the name of a built-in policy changes the given keys alone");
    p = config_policy_find(&c, "night");
    ok(p && near(p->min_slowdown_ratio, 1.1, 1e-12) && !strcmp(p->text, "At night"),
       "Policy: a new policy has the given values");

    config_load(&c, write_file("dup.conf", "Port=1\nport=2\n"), &err);
    snprintf(want, sizeof(want), "%s/dup.conf:2: port=2: set before, at %s/dup.conf:1", dir, dir);
    is_str(err.text, want, "config_load: a key that is set twice is rejected with both places");
    config_load(&c, write_file("nopol.conf", "DefaultPolicy=gone\n"), &err);
    snprintf(want, sizeof(want),
             "%s/nopol.conf: DefaultPolicy=gone: unknown policy; there are observe, balanced", dir);
    is_str(err.text, want, "DefaultPolicy: an unknown policy is rejected with the known ones");
    ok(config_load(&c, "/nonexistent/c.conf", &err) < 0,
       "config_load: a given file that does not exist is an error: %s", err.text);
    ok(config_load(&c, dir, &err) < 0, "config_load: a folder is rejected\n%s", err.text);
}

static void test_text(void)
{
    static const char text[] = "Controller=h\nPolicy=p SampleRate=7\n";
    static struct config c;
    struct err err = { "" };

    is_int(config_parse(&c, "env", text, sizeof(text) - 1, &err), 0,
           "config_parse: text in memory is accepted");
    is_str(c.controller, "h:6825", "config_parse: the controller is that of the text");
    ok(config_policy_find(&c, "p") && !c.path[0],
       "config_parse: the policy is that of the text, and the path is empty");
    is_int(config_parse(&c, "env", "Port=x", 6, &err), -1, "config_parse: an invalid value is rejected");
    is_str(err.text, "env:1: Port=x: a whole number from 1 to 65535 (default 6825)",
           "config_parse: the reason has the given name, line, key and accepted values");
    is_int(config_parse(&c, "built-in", "", 0, &err), 0, "config_parse: an empty text is accepted");
    is_str(c.controller, "localhost:6825", "config_parse: an empty text gives the defaults");
}

static const struct {
    struct config_job job;
    const char *asked, *want;
} choices[] = {
    { { "gpu", "chem", "normal", "ann", 64, 512 }, NULL, "big" },
    { { "GPU", "chem", "normal", "ann", 64, 512 }, NULL, "big" },
    { { "gpu", "chem", "normal", "ann", 63, 512 }, NULL, "night" },
    { { "gpu", "chem", "normal", "ann", 0, 0 }, NULL, "night" }, /* unknown size */
    { { "gpux", "chem", "normal", "ann", 64, 512 }, NULL, "balanced" },
    { { "gp", "chem", "normal", "ann", 64, 512 }, NULL, "balanced" },
    { { "debug", "chem", "low", "ann", 1, 1 }, NULL, "night" },
    { { "debug", "chem", "high", "ann", 1, 1 }, NULL, "balanced" },
    { { "debug", "", "", "", 1, 1 }, NULL, "balanced" },
    { { "debug", "bio", "", "bo", 1, 1 }, NULL, "observe" },
    /* the user requested a policy: the line with Override=no ignores that, the others do not */
    { { "debug", "bio", "", "bo", 1, 1 }, "night", "observe" },
    { { "gpu", "chem", "normal", "ann", 64, 512 }, "observe", "observe" },
    { { "gpu", "chem", "normal", "ann", 64, 512 }, "nosuch", NULL },
    { { "debug", "", "", "", 1, 1 }, "night", "night" },
};

static void test_selection(void)
{
    static const char text[] = "PolicyFor=big Partition=cpu,gpu MinNodes=64 MinRanks=100\n"
                               "PolicyFor=night Partition=gpu\nPolicyFor=night QOS=low,lowest\n"
                               "PolicyFor=observe User=bo Account=bio Override=no\n"
                               "Policy=big\nPolicy=night\n";
    static struct config c;
    struct err err = { "" };

    ok(config_parse(&c, "t", text, sizeof(text) - 1, &err) == 0, "PolicyFor: the lines are accepted: %s",
       err.text);
    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        const struct config_selection *why;
        const struct config_policy *p = config_policy_select(&c, &choices[i].job, choices[i].asked, &why);

        is_str(p ? p->name : "none", choices[i].want ? choices[i].want : "none",
               "config_policy_select: case %zu gets the expected policy", i);
    }
}

static void test_rules(void)
{
    static const char text[] = "Rule=a Policy=p When=\"synchronisation_ratio > 5%\" Action=requeue Hold=1m\n"
                               "Rule=a Policy=balanced Action=signal\n"
                               "Policy=p Action=enforce\n"
                               "\nRule=A Policy=P Hold=2m Signal=TERM\n";
    static struct config c;
    struct err err = { "" };

    ok(config_parse(&c, "t", text, sizeof(text) - 1, &err) == 0, "Rule: the lines are accepted: %s",
       err.text);
    is_int((long long)c.n_rules, 2, "Rule: a second line with the same rule and policy adds no rule");
    is_str(c.rules[0].when, "synchronisation_ratio > 5%",
           "Rule: a second line leaves keys that it does not set unchanged");
    ok(near(c.rules[0].hold_s, 120, 1e-12) && !strcmp(c.rules[0].signal, "TERM"),
       "Rule: a second line changes the keys that it sets");
    is_int(c.rules[0].when_line, 1, "Rule: when_line is the line of When");
    is_int(c.rules[0].line, 5, "Rule: line is that of the last line of the rule");
    is_str(c.rules[1].signal, "", "Rule: a rule of another policy with the same name is another rule");
    is_int(config_policy_find(&c, "p")->action, CONFIG_ENFORCE, "Action: policy p has enforce");
    is_int(config_policy_find(&c, "balanced")->action, CONFIG_DRYRUN, "Action: policy balanced keeps dryrun");
}

static void test_writing(void)
{
    struct config_policy p, q;
    const struct key *keys = config_keys(CONFIG_POLICY);
    bool same = true;

    memset(&p, 0, sizeof(p));
    memset(&q, 0, sizeof(q));
    key_defaults(keys, &p);
    p.hang_timeout_s = 1.234567;
    for (size_t i = 0; keys[i].name; i++) {
        char value[256];

        key_write(&keys[i], &p, value, sizeof(value));
        if (key_store(&keys[i], &q, value, NULL) < 0)
            same = ok(false, "key_store: %s=%s is accepted", keys[i].name, value);
    }
    ok(same && !memcmp(&p, &q, sizeof(p)), "key_write: values that were written are read back unchanged");
}

static void test_shipped(void)
{
    static const char *const files[] = { "policies/observe.conf", "policies/balanced.conf",
                                         "policies/syncguard.conf.example" };
    static struct config builtin, c;
    const char *top = getenv("top_srcdir");
    char path[4096];

    if (config_load(&builtin, write_file("empty.conf", ""), NULL) < 0)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        struct err err = { "" };

        snprintf(path, sizeof(path), "%s/%s", top ? top : ".", files[i]);
        is_int(config_load(&c, path, &err), 0, "%s is accepted", files[i]);
        ok(!memcmp(c.policies, builtin.policies, sizeof(c.policies)),
           "%s defines the policies as they are built in: %s", files[i], err.text);
    }
}

static void test_keys(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    config_print_keys(out, 80);
    fclose(out);
    ok(strstr(text, "  MinSlowdown=\n") && strstr(text, "a ratio from 1 to 10; default 1.02"),
       "config_print_keys: a key is printed with its accepted values and default");
    free(text);
}

static void test_shipped_rules(void)
{
    static const char *const names[] = { "observe", "balanced", "throughput", "energy", "large-train" };
    static struct config c;
    const char *top = getenv("top_srcdir");
    char text[2048] = "";
    struct err err = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "Include %s/policies/%s.conf\n",
                 top ? top : ".", names[i]);
    is_int(config_load(&c, write_file("all.conf", text), &err), 0,
           "config_load: the shipped policies can be included together");
    is_str(err.text, "", "config_load: the shipped policies give no reason");
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct config_policy *p = config_policy_find(&c, names[i]);

        ok(p && *p->text && p->action == CONFIG_DRYRUN, "policy %s is defined, with Action=dryrun", names[i]);
    }
    ok(c.n_rules >= 8 && c.n_selections == 0,
       "the shipped policies bring their rules, and select no job by themselves");
}

/* As installed: known by their names, and changed by the site's lines. */
static void test_shipped_by_name(void)
{
    static struct config c;
    const char *top = getenv("top_srcdir"), *before = config_shipped_policies;
    const struct config_policy *p;
    char folder[4096];
    struct err err = { "" };
    size_t rules;

    snprintf(folder, sizeof(folder), "%s/policies", top ? top : ".");
    config_shipped_policies = folder;
    is_int(config_load(&c, write_file("site.conf", "ClusterName=c\n"), &err), 0,
           "config_load: the shipped policies are read: %s", err.text);
    ok(config_policy_find(&c, "throughput") && config_policy_find(&c, "large-train") && c.n_rules >= 8,
       "a shipped policy is known by its name, with its rules");
    ok(c.n_selections == 0, "a shipped policy is used by nobody who does not name it");
    rules = c.n_rules;
    is_int(config_load(&c, write_file("site.conf", "Policy=throughput Action=enforce\n"), &err), 0,
           "config_load: a site changes a shipped policy: %s", err.text);
    p = config_policy_find(&c, "throughput");
    ok(p && p->action == CONFIG_ENFORCE && p->actions_per_hour == 4 && c.n_rules == rules,
       "what the site's line does not name stays as shipped");
    ok(config_parse(&c, "text", "", 0, &err) == 0 && !config_policy_find(&c, "throughput"),
       "config_parse: without a file there are the built-in policies alone");
    config_shipped_policies = "/nonexistent";
    ok(config_load(&c, write_file("site.conf", "ClusterName=c\n"), &err) == 0 &&
           !config_policy_find(&c, "throughput"),
       "config_load: where no policies are installed the built-in ones are there");
    snprintf(folder, sizeof(folder), "%s/shipped", dir);
    mkdir(folder, 0700);
    write_file("shipped/broken.conf", "Policy=broken MinSlowdown=lots\n");
    config_shipped_policies = folder;
    ok(config_load(&c, "/dev/null", &err) < 0 && strstr(err.text, "broken.conf:1"),
       "config_load: a shipped file that is broken is named\n%s", err.text);
    config_shipped_policies = before;
}

int main(void)
{
    char command[128];

    strcpy(dir, "/tmp/sg-config.XXXXXX");
    if (!mkdtemp(dir))
        return skip_all("no temporary folder");
    config_shipped_policies = "/nonexistent"; /* whatever is installed on this machine */
    test_dialect();
    test_slurms();
    test_bounds();
    test_include();
    test_load();
    test_mistakes();
    test_loading();
    test_text();
    test_selection();
    test_rules();
    test_writing();
    test_shipped();
    test_shipped_rules();
    test_shipped_by_name();
    test_keys();
    snprintf(command, sizeof(command), "rm -r '%s'", dir);
    is_int(system(command), 0, "the test's folder is removed");
    return done_testing();
}
