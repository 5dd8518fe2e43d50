/* sgplan's command line, and every question's table. */
#include "plan/question.h"

#include <stdlib.h>

#include "plan/scenarios.h"
#include "tests/tap.h"

#define WORDS_MAX 64

static int parse(struct options *a, const char *line, struct err *err)
{
    static char copy[2048];
    static char *argv[WORDS_MAX + 2];
    int argc = 0;

    snprintf(copy, sizeof(copy), "sgplan %s", line);
    for (char *word = strtok(copy, " "); word && argc <= WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return options_parse(a, &sgplan_program, argc, argv, err);
}

static void accepted(void)
{
    struct options o;
    struct err err = { "" };

    ok(parse(&o, "step --compute=100ms --comm 2us --json", &err) == 0,
       "a question with values and --json is parsed %s", err.text);
    ok(options_given(&o, "json") && !strcmp(o.command->name, "step"),
       "the parsed options have the question's command and the option that was given");
    ok(near(options_number(&o, "compute"), 0.1, 1e-12) && near(options_number(&o, "comm"), 2e-6, 1e-12),
       "values after = and as separate words are parsed to SI units");
    ok(!options_given(&o, "accumulate") && options_number(&o, "accumulate") == 1,
       "an option with its default is not marked as given");
    ok(isnan(options_number(&o, "backward")) && !options_text(&o, "backward"),
       "an option without default is unknown");
    ok(options_int(&o, "accumulate", 7) == 1, "options_int returns a whole number");
    ok(parse(&o, "--compute=1s step --comm=1s", &err) == 0, "an option before the question is accepted");
}

static void refused(void)
{
    static const struct {
        const char *line, *reason; /* its beginning */
    } bad[] = {
        { "", "missing QUESTION" },
        { "nothing", "unknown question 'nothing'" },
        { "stpe", "unknown question 'stpe'. Did you mean 'step'?" },
        { "step --compute=1s", "missing --comm=TIME: " },
        { "step --compute=1s --comm=-1s", "--comm: '-1s' is not accepted: a time such as " },
        { "step --compute=0s --comm=1s", "--compute: '0s' is not accepted: a time of more than zero" },
        { "step --compute=nan --comm=1s", "--compute: 'nan' is not accepted: " },
        { "step --compute=1s --comm=1s --accumulate=0",
          "--accumulate: '0' is not accepted: a whole number from 1 to 1000000" },
        { "step --compute=1s --comm=1s --accumulate=1.5", "--accumulate: '1.5' is not accepted: " },
        { "step --compute=1s --comm=1s --overlap=2", "--overlap: '2' is not accepted: a ratio from 0 to 1" },
        { "step --compute=1s --comm=1s --comm=2s", "--comm is given twice" },
        { "step --compute=1s --comm=1s --nothing=2s", "unknown option '--nothing'" },
        { "step --compute=1s --comm=1s --json=2", "option '--json' takes no value" },
        { "step --compute=1s --comm", "option '--comm' needs a value: --comm=TIME" },
        { "step --compute=1s --comm=1s more", "unexpected argument 'more'" },
        { "step -x", "unknown option '-x'" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err = { "" };
        struct options o;

        ok(parse(&o, bad[i].line, &err) == -1 && !strncmp(err.text, bad[i].reason, strlen(bad[i].reason)),
           "`sgplan %s`: %s", bad[i].line, err.text);
    }
}

static char *help_of(const struct options_command *c)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    options_help(f, &sgplan_program, c);
    fclose(f);
    return text;
}

/* Every default is a value of its own option, help lists each option and fits a terminal. */
static void tables(void)
{
    const struct options_command *c;
    char *all = help_of(NULL);

    for (size_t i = 0; (c = sgplan_program.command(i)); i++) {
        const struct option_use *use;
        char *help = help_of(c);
        bool complete = true, narrow = true, sound = true;
        size_t n = 0;

        for (; (use = options_use(&sgplan_program, c, n)); n++) {
            const struct option_spec *o = use->option;
            struct err err = { "" };
            double number;
            char name[64];

            snprintf(name, sizeof(name), "--%s", o->name);
            complete &= strstr(help, name) != NULL;
            sound &= (o->type.kind == VALUE_WORD) == !!o->type.words;
            sound &= o->text[0] && o->text[strlen(o->text) - 1] != '.';
            if (use->otherwise && strcmp(use->otherwise, OPTION_REQUIRED) != 0)
                sound &= options_value(o, use->otherwise, &number, &err) == 0;
            for (size_t k = 0; k < n; k++)
                sound &= strcmp(options_use(&sgplan_program, c, k)->option->name, o->name) != 0;
            if (!sound)
                printf("# --%s %s\n", o->name, err.text);
        }
        for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
            narrow &= strcspn(line, "\n") <= 80;
        ok(strstr(all, c->name) != NULL, "help lists %s", c->name);
        ok(sound && n <= OPTIONS_MAX, "the options of %s have valid names, types and defaults", c->name);
        ok(complete && narrow, "help of %s lists every option and fits 80 columns", c->name);
        free(help);
    }
    free(all);
}

/* Scenarios that are installed, by name. */
static void scenarios(void)
{
    static const struct {
        const char *name, *found; /* the file, or the reason */
    } cases[] = {
        { "cores", "cores.conf" },
        { "cores.conf", "cores.conf" },
        { "str", "straggler.conf" },
        { "wide", "wide.conf" },
        { "stragler", "unknown scenario 'stragler': neither a file nor in DIR. Did you mean 'straggler'?" },
        { "s", "ambiguous scenario 's': scaling, staleness, straggler" },
        { "zzz", "unknown scenario 'zzz': neither a file nor in DIR" },
    };
    const char *top = getenv("top_srcdir");
    char dir[256], path[512];

    snprintf(dir, sizeof(dir), "%s/lib/sim/scenarios", top ? top : ".");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct err err = { "" };
        char *at;

        if (scenarios_find(dir, cases[i].name, path, sizeof(path), &err) == 0) {
            is_str(strrchr(path, '/') + 1, cases[i].found, "scenario %s is found", cases[i].name);
        } else {
            if ((at = strstr(err.text, dir))) {
                memmove(at + 3, at + strlen(dir), strlen(at + strlen(dir)) + 1);
                memcpy(at, "DIR", 3);
            }
            is_str(err.text, cases[i].found, "scenario %s is not found, with a reason", cases[i].name);
        }
    }
}

int main(void)
{
    accepted();
    refused();
    tables();
    scenarios();
    return done_testing();
}
