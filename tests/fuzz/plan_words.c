/* Any bytes as sgplan's command line: a word a line.  What is accepted is inside its range, and the formulas
 * give an answer or a reason. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/answer.h"
#include "plan/question.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Simulates: an input may ask for seconds of it. */
static bool is_slow(const char *name)
{
    static const char *const slow[] = { "staleness", "compare", "simulate", "scale" };

    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
        if (!strcmp(name, slow[i]))
            return true;
    return false;
}

static void in_range(const struct options *o)
{
    const struct option_use *use;

    for (size_t u = 0; (use = options_use(o->program, o->command, u)); u++)
        if (o->given[u] && value_is_number(&use->option->type) &&
            !(o->number[u] >= use->option->type.min && o->number[u] <= use->option->type.max))
            abort();
}

static void ask(const struct options *a)
{
    struct answer *answer = answer_new();
    struct err err = { "" };
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);

    if (question_asked(a)->run(a, answer, &err) == 0) {
        answer_print(answer, f, 80);
        answer_print_json(answer, f);
    } else if (!err.text[0]) {
        abort();
    }
    fclose(f);
    free(text);
    answer_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *argv[WORDS_MAX + 2], *rest = NULL;
    struct err err = { "" };
    struct options a;
    int argc = 0;

    memcpy(text, data, size);
    text[size] = '\0';
    argv[argc++] = text;
    for (char *word = strtok_r(text, "\n", &rest); word && argc <= WORDS_MAX;
         word = strtok_r(NULL, "\n", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    if (options_parse(&a, &sgplan_program, argc, argv, &err) < 0) {
        if (!err.text[0])
            abort();
    } else if (!a.help && !a.version) {
        in_range(&a);
        if (strcmp(a.command->name, "help") != 0 && !is_slow(a.command->name))
            ask(&a);
    }
    free(text);
    return 0;
}
