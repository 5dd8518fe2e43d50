#include "ctl/usage.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/config.h"
#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"

enum kind { FLAG, TEXT, SECONDS };

enum option_id {
    OPTION_CONF,
    OPTION_CONTROLLER,
    OPTION_MUNGE_SOCKET,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_FINISHED,
    OPTION_FAIL,
    OPTION_DRY_RUN,
    OPTION_YES,
    OPTION_SECONDS,
    OPTION_OUTPUT,
    OPTION_SPEED,
    OPTION_FROM,
    OPTION_WORDS,
    OPTION_MDOC,
    OPTION_HELP,
    OPTION_VERSION,
};

#define BIT(id) (1u << (id))
#define EVERYWHERE                                                                                \
    (BIT(OPTION_CONF) | BIT(OPTION_CONTROLLER) | BIT(OPTION_MUNGE_SOCKET) | BIT(OPTION_TIMEOUT) | \
     BIT(OPTION_HELP) | BIT(OPTION_VERSION))

static const struct option {
    const char *name;
    char letter; /* '\0': none */
    enum kind kind;
    const char *value; /* its name, NULL for a flag */
    size_t offset;     /* in struct usage */
    const char *text;
} options[] = {
    [OPTION_CONF] = { "conf", 'f', TEXT, "FILE", offsetof(struct usage, conf),
                      "read this syncguard.conf (default: $SYNCGUARD_CONF, or the installed one)" },
    [OPTION_CONTROLLER] = { "controller", 'c', TEXT, "HOSTS", offsetof(struct usage, controller),
                            "ask host[:port][,host[:port]...] instead of the configured controllers" },
    [OPTION_MUNGE_SOCKET] = { "munge-socket", '\0', TEXT, "PATH", offsetof(struct usage, munge_socket),
                              "authenticate through this munged" },
    [OPTION_TIMEOUT] = { "timeout", '\0', SECONDS, "TIME", offsetof(struct usage, timeout_s),
                         "wait at most so long for an answer (5 s)" },
    [OPTION_JSON] = { "json", '\0', FLAG, NULL, offsetof(struct usage, json),
                      "print the answer as one JSON object" },
    [OPTION_FINISHED] = { "finished", '\0', FLAG, NULL, offsetof(struct usage, finished),
                          "list finished job steps too" },
    [OPTION_FAIL] = { "fail", '\0', FLAG, NULL, offsetof(struct usage, fail),
                      "exit with 1 when a verdict stands at the end" },
    [OPTION_DRY_RUN] = { "dry-run", 'n', FLAG, NULL, offsetof(struct usage, dry_run),
                         "say what would be done, and do nothing" },
    [OPTION_YES] = { "yes", 'y', FLAG, NULL, offsetof(struct usage, yes), "do it without asking first" },
    [OPTION_SECONDS] = { "seconds", 's', SECONDS, "TIME", offsetof(struct usage, seconds),
                         "stop after so long (default: when the job step ends, or at Ctrl-C)" },
    [OPTION_OUTPUT] = { "output", 'o', TEXT, "FILE", offsetof(struct usage, output),
                        "write here instead of standard output" },
    [OPTION_SPEED] = { "speed", '\0', TEXT, "X", offsetof(struct usage, speed),
                       "play so many times as fast as it was, 0.25 to 1000, or max (1)" },
    [OPTION_FROM] = { "from", '\0', TEXT, "TIME", offsetof(struct usage, from),
                      "begin at this moment of the trace" },
    [OPTION_WORDS] = { "words", '\0', FLAG, NULL, offsetof(struct usage, words),
                       "print bare words, for shell completion" },
    [OPTION_MDOC] = { "mdoc", '\0', FLAG, NULL, offsetof(struct usage, mdoc),
                      "print the source of the manual page's tables" },
    [OPTION_HELP] = { "help", 'h', FLAG, NULL, offsetof(struct usage, help), "say how a command is used" },
    [OPTION_VERSION] = { "version", 'V', FLAG, NULL, offsetof(struct usage, version), "print the version" },
};

static const struct command {
    const char *name, *operands, *text, *more;
    unsigned options; /* beside EVERYWHERE */
    int min, max;     /* operands */
} commands[USAGE_COMMANDS] = {
    [USAGE_STATUS] = { "status", "", "say how the controller is and what it guards",
                       "One question to the controller; the quickest way to see that everything between here "
                       "and there works.",
                       BIT(OPTION_JSON), 0, 0 },
    [USAGE_JOBS] = { "jobs", "", "list the guarded job steps that you may see",
                     "Running ones first. STEP is the median step time, SKEW the median time between the "
                     "first and the last arrival at a collective, WAITING the share of the ranks' time lost "
                     "to waiting, LATEST the node of the latest rank.",
                     BIT(OPTION_JSON) | BIT(OPTION_FINISHED), 0, 0 },
    [USAGE_JOB] = { "job", "JOB", "report on one job: what is going on, who is to blame, what it costs",
                    "JOB is a Slurm job or step as people write it: 123, 123.0, 123_4, 123+1. Without a step "
                    "the newest one is shown; finished ones are answered from the controller's history.",
                    BIT(OPTION_JSON), 1, 1 },
    [USAGE_NODES] = { "nodes", "", "list the nodes, the one that costs most first",
                      "NAMED counts how often the node was found to blame, LAST NAMED tells when.",
                      BIT(OPTION_JSON), 0, 0 },
    [USAGE_ACTION] = { "action", "JOB WHAT", "do something about a running job",
                       "WHAT is checkpoint (ask the job for one now), signal SIGNAL (to the guarded step), "
                       "requeue, exclude NODES (requeue and keep the job off these nodes), or comment TEXT, "
                       "for your own jobs; and webhook TEXT and command TEXT, for operators: they try what "
                       "is configured. Asks before it does it. Waits for the end, at most 90 s; exits with 3 "
                       "when it is still pending then.",
                       BIT(OPTION_DRY_RUN) | BIT(OPTION_YES) | BIT(OPTION_JSON), 2, -1 },
    [USAGE_NODE] = { "node", "NODES WHAT [TEXT]", "do something about nodes (operators)",
                     "WHAT is drain, with the reason as TEXT, comment, or resume: take drained nodes back, "
                     "whoever drained them; its TEXT is for the record alone. NODES is a list as Slurm "
                     "writes it. A node that is drained already keeps its reason; a comment that others "
                     "wrote stays in front of ours. Asks, waits and exits as action does.",
                     BIT(OPTION_DRY_RUN) | BIT(OPTION_YES) | BIT(OPTION_JSON), 2, -1 },
    [USAGE_ACTIONS] = { "actions", "[JOB]", "list what was done about jobs and nodes, and how it ended",
                        "The newest first: those of policies and those by hand. Failed and given up ones say "
                        "why, pending ones why they are tried again.",
                        BIT(OPTION_JSON), 0, 1 },
    [USAGE_RECORD] = { "record", "JOB", "write every collective of a job step as a trace",
                       "Format: syncguard-trace version 1, JSON lines. While anybody records, the agents of "
                       "that step send every collective instead of samples. Ends with the step, after "
                       "--seconds, or at Ctrl-C, always on the end of a line; then says on standard error "
                       "how many records of how many ranks there are and how many were lost.",
                       BIT(OPTION_SECONDS) | BIT(OPTION_OUTPUT), 1, 1 },
    [USAGE_ANALYZE] = { "analyze", "TRACE", "judge a recorded trace as the controller would have",
                        "TRACE is a file that sgctl record wrote, or - for standard input. The very engine "
                        "that judges live jobs reads it, by the trace's own clock and without looking ahead. "
                        "The parameters are those of the default policy; with --conf, of that file's. Asks "
                        "no controller.",
                        BIT(OPTION_JSON) | BIT(OPTION_FAIL), 1, 1 },
    [USAGE_REPLAY] = { "replay", "TRACE", "play a recorded trace on the live screen",
                       "TRACE is a file that sgctl record wrote. Starts sgtop on it: the screens, and the "
                       "verdicts as they were known then. Space pauses, + and - change the speed, the arrows "
                       "seek; ? tells all keys. Where the output is no terminal, one report of the whole "
                       "trace is printed.",
                       BIT(OPTION_SPEED) | BIT(OPTION_FROM) | BIT(OPTION_JSON), 1, 1 },
    [USAGE_TOP] = { "top", "[ARGUMENTS]", "start sgtop, the live screen",
                    "Everything behind the word top is given to sgtop.", 0, 0, -1 },
    [USAGE_CONFIG] = { "config", "[check FILE]", "print the keys of syncguard.conf, or check such a file",
                       "The keys come with unit, range, default and meaning. config check reads FILE as the "
                       "controller would and names the line that is wrong.",
                       BIT(OPTION_MDOC), 0, 2 },
    [USAGE_POLICY] = { "policy", "[list|show|explain|set|pause|resume|acknowledge|check|try|figures] ...",
                       "show policies, say why one acts or does not, change a running job's",
                       "policy list: the policies of the controller. policy show NAME: its parameters and "
                       "rules. policy explain JOB: for each rule its condition with the figures now, since "
                       "when it holds, what is left of cool-down and budget, and the last decision. policy "
                       "set JOB Key=Value ...: other parameters for a running job, on all its ranks within a "
                       "second; all of them or, when one is not accepted, none; Key=default takes one back; "
                       "what was set stays when the configuration is read again, and ends with the run. "
                       "policy pause JOB, policy resume JOB: decide nothing, and go on. policy acknowledge "
                       "JOB: what was found has been seen; screens show it so, and rules can ask for it. "
                       "Owners may do so with their own jobs; budgets, and what is done to nodes, are the "
                       "operators'. policy check FILE: read a file as the controller would, its rules too. "
                       "policy try FILE TRACE [NAME]: what the policy of that file would have decided in a "
                       "recorded trace. policy figures: what a condition can ask of a job.",
                       BIT(OPTION_JSON), 0, 34 },
    [USAGE_AUDIT] = { "audit", "[JOB]", "list what policies decided, why, and what came of it",
                      "The newest first, of all jobs that you may see or of one: what was done, what would "
                      "have been in a dry run, what was withheld and why, what people set, and what each "
                      "action brought, measured afterwards.",
                      BIT(OPTION_JSON), 0, 1 },
    [USAGE_DOCTOR] = { "doctor", "", "check that this machine is set up, and say what to type if not",
                       "A line for each thing that a guarded job needs: configuration, munge, controller, "
                       "plugin, probe, agent, shared memory, clock.",
                       0, 0, 0 },
    [USAGE_HELP] = { "help", "[COMMAND]", "say how a command is used", "",
                     BIT(OPTION_WORDS) | BIT(OPTION_MDOC), 0, 1 },
};

const char *usage_command_name(enum usage_command command)
{
    return command < USAGE_COMMANDS ? commands[command].name : "?";
}

enum usage_command usage_command_find(const char *name)
{
    int c = 0;

    while (c < USAGE_COMMANDS && strcmp(commands[c].name, name))
        c++;
    return (enum usage_command)c;
}

static int unknown_command(const char *word, struct err *err)
{
    char names[400] = "";
    size_t at = 0;

    for (size_t c = 0; c < USAGE_COMMANDS; c++)
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", c ? ", " : "", commands[c].name);
    return err_set(err, "'%s' is no command; there are %s", word, names);
}

/* "--name", "--name=value" or "-n"; *value is what follows the '=', NULL without. */
static const struct option *option_find(const char *word, const char **value)
{
    size_t length = strcspn(word, "=");

    *value = word[length] ? word + length + 1 : NULL;
    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        const struct option *o = &options[i];

        if (word[1] == '-' && strlen(o->name) == length - 2 && !strncmp(o->name, word + 2, length - 2))
            return o;
        if (o->letter && word[1] == o->letter && !word[2])
            return o;
    }
    return NULL;
}

static int option_set(struct usage *u, const struct option *o, const char *value, struct err *err)
{
    char *field = (char *)u + o->offset;
    double seconds;

    switch (o->kind) {
    case FLAG:
        *(bool *)field = true;
        return 0;
    case TEXT:
        *(const char **)field = value;
        return 0;
    case SECONDS:
        if (units_seconds(value, &seconds, err) < 0)
            return err_prefix(err, "--%s: '%s' is not accepted", o->name, value);
        if (seconds <= 0)
            return err_set(err, "--%s: '%s' is no time: more than zero is accepted, as in 30s, 5m", o->name,
                           value);
        *(double *)field = seconds;
        return 0;
    }
    return -1;
}

/* The option at argv[*i]; moves *i on over its value. */
static int parse_option(struct usage *u, unsigned *seen, int argc, char **argv, int *i, struct err *err)
{
    const char *value;
    const struct option *o = option_find(argv[*i], &value);

    if (!o)
        return err_set(err, "'%s' is no option of sgctl; `sgctl help` lists them", argv[*i]);
    *seen |= BIT(o - options);
    if (!o->value && value)
        return err_set(err, "--%s takes no value", o->name);
    if (o->value && !value) {
        if (*i + 1 >= argc)
            return err_set(err, "--%s needs a value: --%s %s", o->name, o->name, o->value);
        value = argv[++*i];
    }
    return option_set(u, o, value, err);
}

/* Does the command take these options and so many operands? */
static int check(const struct usage *u, unsigned seen, struct err *err)
{
    const struct command *c = &commands[u->command];
    unsigned stray = seen & ~(c->options | EVERYWHERE);

    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (stray & BIT(i))
            return err_set(err, "`sgctl %s` has no option --%s; `sgctl help %s` lists them", c->name,
                           options[i].name, c->name);
    if (u->help)
        return 0;
    if (u->n_operands < c->min)
        return err_set(err, "`sgctl %s` needs more: sgctl %s %s", c->name, c->name, c->operands);
    if (c->max >= 0 && u->n_operands > c->max)
        return err_set(err, "`sgctl %s`: '%s' is too much; usage: sgctl %s %s", c->name, u->operands[c->max],
                       c->name, c->operands);
    return 0;
}

int usage_parse(struct usage *u, int argc, char **argv, struct err *err)
{
    bool options_end = false;
    unsigned seen = 0;

    *u = (struct usage){ .command = USAGE_COMMANDS, .timeout_s = 5, .seconds = NAN, .operands = argv + 1 };
    for (int i = 1; i < argc; i++) {
        if (!options_end && !strcmp(argv[i], "--")) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(u, &seen, argc, argv, &i, err) < 0)
                return -1;
        } else if (u->command == USAGE_COMMANDS) {
            u->command = usage_command_find(argv[i]);
            if (u->command == USAGE_COMMANDS)
                return unknown_command(argv[i], err);
            if (u->command == USAGE_TOP) {
                u->operands = argv + i + 1;
                u->n_operands = argc - i - 1;
                break;
            }
        } else {
            argv[1 + u->n_operands++] = argv[i];
        }
    }
    if (u->command == USAGE_COMMANDS) {
        if (!u->help && !u->version)
            return err_set(err, "a command is missing; `sgctl help` lists them");
        u->command = USAGE_HELP;
    }
    return check(u, seen, err);
}

/* ---- what the tables say ---- */

static bool takes(const struct command *c, size_t option)
{
    return (c->options | EVERYWHERE) & BIT(option);
}

static void help_option(FILE *out, const struct option *o)
{
    char name[64];

    snprintf(name, sizeof(name), "%s%c%s --%s%s%s", o->letter ? "-" : " ", o->letter ? o->letter : ' ',
             o->letter ? "," : " ", o->name, o->value ? " " : "", o->value ? o->value : "");
    fprintf(out, "  %-26s %s\n", name, o->text);
}

static void help_all(FILE *out)
{
    fprintf(out, "sgctl - ask SyncGuard's controller about guarded jobs\n\n"
                 "usage: sgctl [OPTIONS] COMMAND [ARGUMENTS]\n\ncommands:\n");
    for (size_t c = 0; c < USAGE_COMMANDS; c++)
        fprintf(out, "  %-8s %-15s %s\n", commands[c].name, commands[c].operands, commands[c].text);
    fprintf(out, "\noptions of all commands:\n");
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (EVERYWHERE & BIT(i))
            help_option(out, &options[i]);
    fprintf(out, "\n`sgctl help COMMAND` tells more; the manual page is sgctl(1).\n"
                 "Exit code: 0, 1 (no answer, not found, something is missing), 2 (wrong usage).\n");
}

void usage_help(FILE *out, enum usage_command command)
{
    const struct command *c = &commands[command];

    if (command >= USAGE_COMMANDS) {
        help_all(out);
        return;
    }
    fprintf(out, "usage: sgctl [OPTIONS] %s%s%s\n\n%s: %s\n", c->name, *c->operands ? " " : "", c->operands,
            c->name, c->text);
    if (*c->more) {
        fputc('\n', out);
        text_wrap(out, c->more, 0, 78);
    }
    fprintf(out, "\noptions:\n");
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (takes(c, i))
            help_option(out, &options[i]);
}

static void words_options(FILE *out, unsigned mask)
{
    for (size_t i = 0; i < ARRAY_SIZE(options); i++)
        if (mask & BIT(i))
            fprintf(out, "--%s%s\n", options[i].name, options[i].value ? "=" : "");
}

/* The commands of `sgctl policy`, and the keys that can be set. */
static void policy_words(FILE *out)
{
    size_t n;
    const struct config_key *key = config_keys(CONFIG_POLICY, &n);

    fputs("list\nshow\nexplain\nset\npause\nresume\nacknowledge\ncheck\ntry\nfigures\nJOB\nFILE\nNAME\n",
          out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s=\n", key[i].name);
}

void usage_words(FILE *out, enum usage_command command)
{
    if (command < USAGE_COMMANDS) {
        const char *operands = commands[command].operands;

        words_options(out, commands[command].options | EVERYWHERE);
        if (!strcmp(operands, "JOB") || !strcmp(operands, "[JOB]"))
            fputs("JOB\n", out);
        else if (command == USAGE_ACTION)
            fputs("checkpoint\nsignal\nrequeue\nexclude\ncomment\nJOB\n", out);
        else if (command == USAGE_NODE)
            fputs("drain\ncomment\nresume\nNODE\n", out);
        else if (command == USAGE_ANALYZE || command == USAGE_REPLAY)
            fputs("FILE\n", out);
        else if (command == USAGE_CONFIG)
            fputs("check\nFILE\n", out);
        else if (command == USAGE_POLICY)
            policy_words(out);
        else if (command == USAGE_AUDIT)
            fputs("JOB\n", out);
        else if (command == USAGE_HELP)
            usage_words(out, USAGE_COMMANDS);
        return;
    }
    for (size_t c = 0; c < USAGE_COMMANDS; c++)
        fprintf(out, "%s\n", commands[c].name);
    words_options(out, EVERYWHERE);
}

static void mdoc_option(FILE *out, const struct option *o)
{
    fputs(".It ", out);
    if (o->letter)
        fprintf(out, "Fl %c , ", o->letter);
    fprintf(out, "Fl \\-%s", o->name);
    if (o->value)
        fprintf(out, " Ar %s", o->value);
    fputc('\n', out);
    fprintf(out, "%c%s.\n", o->text[0] - 'a' + 'A', o->text + 1);
}

void usage_mdoc(FILE *out)
{
    fputs(".Sh COMMANDS\n.Bl -tag -width Ds\n", out);
    for (size_t i = 0; i < USAGE_COMMANDS; i++) {
        const struct command *c = &commands[i];

        fprintf(out, ".It Cm %s", c->name);
        for (size_t o = 0; o < ARRAY_SIZE(options); o++)
            if (c->options & BIT(o))
                fprintf(out, " Oo Fl \\-%s%s%s Oc", options[o].name, options[o].value ? " Ar " : "",
                        options[o].value ? options[o].value : "");
        fprintf(out, "%s%s\n", *c->operands ? " Ar " : "", c->operands);
        fprintf(out, "%c%s.\n", c->text[0] - 'a' + 'A', c->text + 1);
        if (*c->more)
            text_mdoc(out, c->more);
    }
    fputs(".El\n.Sh OPTIONS\n.Bl -tag -width Ds\n", out);
    for (size_t o = 0; o < ARRAY_SIZE(options); o++)
        mdoc_option(out, &options[o]);
    fputs(".El\n", out);
}
