/* sgplan's command line, and every question's table. */
#include "plan/question.h"

#include <stdlib.h>

#include "plan/answer.h"
#include "tests/tap.h"

#define WORDS_MAX 64

static int parse(struct asked *a, const char *line, struct err *err)
{
    static char copy[2048];
    static char *argv[WORDS_MAX + 2];
    int argc = 0;

    snprintf(copy, sizeof(copy), "sgplan %s", line);
    for (char *word = strtok(copy, " "); word && argc <= WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return question_parse(a, argc, argv, err);
}

static void accepted(void)
{
    struct asked a;
    struct err err = { "" };

    ok(parse(&a, "step --compute=100ms --comm 2us --json", &err) == 0, "a question as JSON %s", err.text);
    ok(a.json && !strcmp(a.question->name, "step"), "it is known which");
    ok(near(asked_number(&a, "compute"), 0.1, 1e-12) && near(asked_number(&a, "comm"), 2e-6, 1e-12),
       "values are SI, behind = or as a word of their own");
    ok(!asked_given(&a, "accumulate") && asked_number(&a, "accumulate") == 1, "a default is not given");
    ok(isnan(asked_number(&a, "backward")) && !asked_text(&a, "backward"), "without default it is unknown");
    ok(asked_int(&a, "accumulate", 7) == 1, "as a whole number");
    ok(parse(&a, "help step", &err) == 0 && a.n_operands == 1 && !strcmp(a.operands[0], "step"), "operands");
    ok(parse(&a, "step --help", &err) == 0 && a.help, "help asks for no options");
    ok(parse(&a, "--version", &err) == 0 && a.version && !a.question, "version without question");
}

static void refused(void)
{
    static const struct {
        const char *line, *reason; /* its beginning */
    } bad[] = {
        { "", "a question is missing" },
        { "nothing", "'nothing' is no question; there are " },
        { "step --compute=1s", "`sgplan step` needs --comm=TIME: " },
        { "step --compute=1s --comm=-1s", "--comm: '-1s' is not accepted: a time such as " },
        { "step --compute=0s --comm=1s", "--compute: '0s' is not accepted: more than zero" },
        { "step --compute=nan --comm=1s", "--compute: 'nan' is not accepted: " },
        { "step --compute=1s --comm=1s --accumulate=0",
          "--accumulate: '0' is not accepted: at least 1, at most 1000000" },
        { "step --compute=1s --comm=1s --accumulate=1.5", "--accumulate: '1.5' is not accepted: " },
        { "step --compute=1s --comm=1s --overlap=2",
          "--overlap: '2' is not accepted: at least 0, at most 1" },
        { "step --compute=1s --comm=1s --comm=2s", "--comm is given twice" },
        { "step --compute=1s --comm=1s --nothing=2s", "`sgplan step` has no option --nothing; " },
        { "step --compute=1s --comm=1s --json=2", "--json takes no value" },
        { "step --compute=1s --comm", "--comm needs a value: --comm=TIME" },
        { "step --compute=1s --comm=1s more", "`sgplan step`: 'more' is too much" },
        { "--compute=1s step", "'--compute=1s' must stand behind the question" },
        { "step -x", "'-x' is no option" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err = { "" };
        struct asked a;

        ok(parse(&a, bad[i].line, &err) == -1 && !strncmp(err.text, bad[i].reason, strlen(bad[i].reason)),
           "`sgplan %s`: %s", bad[i].line, err.text);
    }
}

static char *text_of(void (*write)(FILE *, const struct question *), const struct question *q)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    write(f, q);
    fclose(f);
    return text;
}

/* Every default is a value of its own option, help lists each option and fits a terminal. */
static void tables(void)
{
    char *all = text_of(question_help, NULL);

    for (const struct question *const *each = questions; *each; each++) {
        const struct question *q = *each;
        char *help = text_of(question_help, q), *words = text_of(question_words, q);
        bool complete = true, narrow = true, sound = true;
        size_t n = 0;

        for (const struct question_use *use = q->uses; use->option; use++, n++) {
            const struct question_option *o = use->option;
            struct err err = { "" };
            double number;
            char name[64];

            snprintf(name, sizeof(name), "--%s", o->name);
            complete &= strstr(help, name) && strstr(words, name);
            sound &= (o->kind == QUESTION_FLAG) == !o->value && (o->kind == QUESTION_WORD) == !!o->choices;
            sound &= o->text[0] && o->text[strlen(o->text) - 1] != '.';
            if (use->otherwise && strcmp(use->otherwise, QUESTION_REQUIRED) != 0)
                sound &= question_value(o, use->otherwise, &number, &err) == 0;
            for (const struct question_use *other = q->uses; other < use; other++)
                sound &= strcmp(other->option->name, o->name) != 0;
            if (!sound)
                printf("# --%s %s\n", o->name, err.text);
        }
        for (const char *line = help; *line; line += strcspn(line, "\n") + 1)
            narrow &= strcspn(line, "\n") <= 130;
        ok(strstr(all, q->name) != NULL, "help lists %s", q->name);
        ok(sound && n < QUESTION_OPTIONS_MAX, "the options of %s are sound", q->name);
        ok(complete && narrow, "help of %s is complete and fits", q->name);
        free(help);
        free(words);
    }
    ok(question_find("step") && !question_find("ste"), "questions are found by their whole name");
    free(all);
}

int main(void)
{
    accepted();
    refused();
    tables();
    return done_testing();
}
