/* sgctl's command line. */
#include "ctl/usage.h"

#include <stdlib.h>

#include "tests/tap.h"

#define WORDS_MAX 8

static int parse(struct usage *u, const char *line, struct err *err)
{
    static char copy[256];
    static char *argv[WORDS_MAX + 2];
    int argc = 0;

    snprintf(copy, sizeof(copy), "sgctl %s", line);
    for (char *word = strtok(copy, " "); word && argc <= WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return usage_parse(u, argc, argv, err);
}

static void accepted(void)
{
    struct usage u;
    struct err err = { "" };

    ok(parse(&u, "job 12 --json --timeout 250ms", &err) == 0, "a job as JSON %s", err.text);
    ok(u.command == USAGE_JOB && u.json && near(u.timeout_s, 0.25, 1e-9), "command and options are known");
    ok(u.n_operands == 1 && !strcmp(u.operands[0], "12"), "the job is the operand");

    ok(parse(&u, "--controller=a,b:1 record -o f 7.0 --seconds=2m", &err) == 0, "options before and behind");
    ok(u.command == USAGE_RECORD && near(u.seconds, 120, 1e-9), "time with a unit");
    is_str(u.controller, "a,b:1", "value behind '='");
    is_str(u.output, "f", "value behind a letter");
    is_str(u.operands[0], "7.0", "the operand between options");

    ok(parse(&u, "-f x top --json -h what", &err) == 0, "top");
    ok(u.command == USAGE_TOP && u.n_operands == 3 && !u.json && !u.help, "top's arguments are not ours");
    is_str(u.operands[0], "--json", "they stay as they are");
    is_str(u.conf, "x", "options before top are ours");

    ok(parse(&u, "help job", &err) == 0 && u.command == USAGE_HELP && u.n_operands == 1, "help of a command");
    ok(parse(&u, "--help", &err) == 0 && u.help, "--help alone");
    ok(parse(&u, "job --help", &err) == 0 && u.help && u.command == USAGE_JOB, "--help needs no operand");
    ok(parse(&u, "-V", &err) == 0 && u.version, "-V");
    ok(parse(&u, "job -- -1", &err) == 0 && !strcmp(u.operands[0], "-1"), "-- ends the options");
    ok(parse(&u, "replay --speed=10 --from 1m t.jsonl", &err) == 0 && !strcmp(u.speed, "10") &&
           !strcmp(u.from, "1m") && !strcmp(u.operands[0], "t.jsonl"),
       "a trace to be played");
    ok(parse(&u, "analyze --fail -", &err) == 0 && u.fail && !strcmp(u.operands[0], "-"),
       "and an operand: standard input");
    ok(parse(&u, "record 1 -o -", &err) == 0 && !strcmp(u.output, "-"), "a lone - is a value");
}

static void refused(void)
{
    static const struct {
        const char *line, *reason;
    } bad[] = {
        { "", "a command is missing; `sgctl help` lists them" },
        { "jobz",
          "'jobz' is no command; there are status, jobs, job, nodes, action, node, actions, record, analyze, replay, top, config, "
          "policy, audit, doctor, help" },
        { "job", "`sgctl job` needs more: sgctl job JOB" },
        { "job 1 2", "`sgctl job`: '2' is too much; usage: sgctl job JOB" },
        { "jobs --seconds 3", "`sgctl jobs` has no option --seconds; `sgctl help jobs` lists them" },
        { "jobs --jso", "'--jso' is no option of sgctl; `sgctl help` lists them" },
        { "jobs --json=yes", "--json takes no value" },
        { "jobs --timeout", "--timeout needs a value: --timeout TIME" },
        { "record 1 --seconds=0", "--seconds: '0' is no time: more than zero is accepted, as in 30s, 5m" },
    };
    struct usage u;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err = { "" };

        ok(parse(&u, bad[i].line, &err) == -1, "`sgctl %s` is refused", bad[i].line);
        is_str(err.text, bad[i].reason, "and it is said why");
    }
    struct err err = { "" };

    ok(parse(&u, "jobs --timeout=soon", &err) == -1, "a time must be one");
    ok(!strncmp(err.text, "--timeout: 'soon' is not accepted: ", 35), "%s", err.text);
}

static char *text_of(void (*write)(FILE *, enum usage_command), enum usage_command command)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    write(f, command);
    fclose(f);
    return text;
}

/* Every command has help, every help lists each of its options, no line is too wide for a terminal. */
static void told(void)
{
    char *all = text_of(usage_help, USAGE_COMMANDS);

    for (int c = 0; c < USAGE_COMMANDS; c++) {
        char *help = text_of(usage_help, (enum usage_command)c),
             *words = text_of(usage_words, (enum usage_command)c);
        bool complete = true, narrow = true;

        ok(strstr(all, usage_command_name((enum usage_command)c)) != NULL, "help lists %s",
           usage_command_name((enum usage_command)c));
        for (char *word = strtok(words, "\n"); word; word = strtok(NULL, "\n")) {
            word[strcspn(word, "=")] = '\0';
            complete &= *word != '-' || strstr(help, word) != NULL;
        }
        for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
            narrow &= strcspn(line, "\n") <= 110;
        ok(complete && narrow, "help of %s is complete and fits", usage_command_name((enum usage_command)c));
        free(help);
        free(words);
    }
    ok(usage_command_find("record") == USAGE_RECORD && usage_command_find("recor") == USAGE_COMMANDS,
       "commands are found by their whole name");
    free(all);
}

int main(void)
{
    accepted();
    refused();
    told();
    return done_testing();
}
