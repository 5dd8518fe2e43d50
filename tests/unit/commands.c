/* sgctl's tables: what there is can be parsed, has help, and is completed. */
#include "ctl/commands.h"

#include <jansson.h>
#include <stdlib.h>

#include "ctl/action_request.h"
#include "tests/tap.h"

#define WORDS_MAX 8

static int parse(struct options *o, const char *line, struct err *err)
{
    static char copy[256];
    static char *argv[WORDS_MAX + 2];
    int argc = 0;

    snprintf(copy, sizeof(copy), "sgctl %s", line);
    for (char *word = strtok(copy, " "); word && argc <= WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return options_parse(o, &sgctl_program, argc, argv, err);
}

static void accepted(void)
{
    static const struct {
        const char *line;
        enum command command;
        int n_operands;
    } good[] = {
        { "job 12 --json --timeout 250ms", COMMAND_JOB, 1 },
        { "--controller=a,b:1 record -o f 7.0 --seconds=2m", COMMAND_RECORD, 1 },
        { "-f x top --json -h what", COMMAND_TOP, 3 },
        { "replay --speed=10 --from 1m t.jsonl", COMMAND_REPLAY, 1 },
        { "analyze --fail -", COMMAND_ANALYZE, 1 },
        { "record 1 -o -", COMMAND_RECORD, 1 },
        { "config", COMMAND_CONFIG, 0 },
        { "config check f", COMMAND_CONFIG_CHECK, 1 },
        { "policy", COMMAND_POLICY_LIST, 0 },
        { "policy list", COMMAND_POLICY_LIST, 0 },
        { "policy set 1 A=1 B=2", COMMAND_POLICY_CONTROL, 3 },
        { "policy try f t", COMMAND_POLICY_TRY, 2 },
        { "action 1 signal USR1 -n", COMMAND_ACTION, 3 },
        { "node n1 drain its fan is loud", COMMAND_NODE, 6 },
    };
    struct options o;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        struct err err = { "" };

        ok(parse(&o, good[i].line, &err) == 0 && o.command->id == (int)good[i].command &&
               o.n_operands == good[i].n_operands,
           "sgctl %s: %s", good[i].line, err.text);
    }
}

static void refused(void)
{
    static const struct {
        const char *line, *reason;
    } bad[] = {
        { "", "missing COMMAND" },
        { "jbos", "unknown command 'jbos'. Did you mean 'jobs'?" },
        { "job", "missing JOB" },
        { "job 1 2", "unexpected argument '2'" },
        { "jobs --seconds 3", "unknown option '--seconds'" },
        { "jobs --timeout", "option '--timeout' needs a value: --timeout=TIME" },
        { "record 1 --seconds=0", "--seconds: '0' is not accepted: a time of more than zero" },
        { "config chek f", "unknown command 'config chek'. Did you mean 'config check'?" },
        { "policy set 1", "missing KEY=VALUE" },
        { "action 1", "missing ACTION" },
    };
    struct options o;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err = { "" };

        ok(parse(&o, bad[i].line, &err) == -1, "`sgctl %s` is refused", bad[i].line);
        is_str(err.text, bad[i].reason, "the reason for: %s", bad[i].line);
    }
}

static char *help_of(const struct options_command *c)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    options_help(f, &sgctl_program, c);
    fclose(f);
    return text;
}

/* Every command has help, every help lists each of its options, no line is too wide for a terminal. */
static void helped(void)
{
    const struct options_command *c;
    char *all = help_of(NULL);

    for (size_t i = 0; (c = sgctl_program.command(i)); i++) {
        const struct option_use *use;
        char *help = help_of(c);
        bool complete = true, narrow = true;
        struct err err;

        ok(strstr(all, c->name) != NULL, "help lists %s", c->name);
        ok(options_find(&sgctl_program, c->name, &err) == c, "%s is found by its name", c->name);
        for (size_t u = 0; (use = options_use(&sgctl_program, c, u)); u++)
            complete &= strstr(help, use->option->name) != NULL;
        for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
            narrow &= strcspn(line, "\n") <= 80;
        ok(complete && narrow, "help of %s is complete and fits", c->name);
        free(help);
    }
    free(all);
}

/* Each action that completion offers is one. */
static void acted(void)
{
    static const char *const on[] = { "action", "node" };
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(on); i++) {
        char *words = strdup(options_find(&sgctl_program, on[i], &err)->words), *rest = NULL;

        for (char *word = strtok_r(words, " ", &rest); (word = strtok_r(NULL, " ", &rest));) {
            char target[] = "1", more[] = "x", *bare[] = { target, word }, *full[] = { target, word, more };
            json_t *(*ask)(char *const *, int, struct err *) =
                i ? action_request_on_node : action_request_on_job;
            json_t *q = ask(bare, 2, &err), *longer = ask(full, 3, &err);

            ok(q || longer, "sgctl %s 1 %s", on[i], word);
            json_decref(q);
            json_decref(longer);
        }
        free(words);
    }
}

int main(void)
{
    accepted();
    refused();
    helped();
    acted();
    return done_testing();
}
