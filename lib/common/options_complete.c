/* Completion: the shells ask the program itself, so that there is one grammar.  Operands come first; options
 * are offered where the word begins with '-', and where no operand can stand. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/options_private.h"
#include "common/xalloc.h"

struct completion {
    const struct options_program *program;
    const struct options *o; /* parsed from the words before it */
    const char *word;        /* so far */
    size_t offered;
    FILE *out;
};

static void offer_word(struct completion *c, const char *word, size_t length, const char *text)
{
    size_t typed = strlen(c->word);

    c->offered++; /* something can stand here, even if it is not this */
    if (length >= typed && !strncmp(word, c->word, typed))
        fprintf(c->out, "%.*s%s%s\n", (int)length, word, *text ? "\t" : "", text);
}

/* What the name of an operand or of an option's value stands for. */
static const char *known_by_shell(const char *name)
{
    static const struct {
        const char *name, *what;
    } known[] = {
        { "FILE", "@files" },    { "TRACE", "@files" },          { "PATH", "@files" },
        { "DIR", "@files" },     { "RING|DIRECTORY", "@files" }, { "HOSTS", "@hosts" },
        { "PROGRAM", "@files" }, { "ARGUMENT", "@files" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (!strcmp(known[i].name, name))
            return known[i].what;
    return NULL;
}

static void offer_commands(struct completion *c, const char *group)
{
    const struct options_command *each;

    for (size_t i = 0; (each = options_command(c->program, i)); i++) {
        const char *word = options_word(each, group);

        if (word)
            offer_word(c, word, strlen(word), each->text);
    }
}

/* The program's own words, as options_program.complete writes them. */
static void offer_known(struct completion *c, const char *name)
{
    char *text = NULL, *rest = NULL;
    size_t size;
    FILE *f = c->program->complete ? open_memstream(&text, &size) : NULL;

    if (!f)
        return;
    c->program->complete(c->o, name, f);
    fclose(f);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t n = strcspn(line, "\t");

        if (*line == '@')
            fprintf(c->out, "%s\n", line);
        else
            offer_word(c, line, n, line[n] ? line + n + 1 : "");
    }
    free(text);
}

static void offer_named(struct completion *c, const char *name, const char *words)
{
    const char *shell = known_by_shell(name);

    c->offered++;
    for (size_t n; words && *words; words += n + strspn(words + n, " ")) {
        n = strcspn(words, " ");
        offer_word(c, words, n, "");
    }
    if (words)
        return;
    if (shell)
        fprintf(c->out, "%s\n", shell);
    else
        offer_known(c, name);
}

static const char *words_of(const struct options_command *command, const char *operand)
{
    size_t n = strlen(operand);
    const char *words = command->words;

    return words && !strncmp(words, operand, n) && words[n] == ' ' ? words + n + 1 : NULL;
}

/* The operand that stands behind those that are there. */
static void offer_operand(struct completion *c)
{
    const struct options_command *command = c->o->command;
    const char *at = command->operands, *noun = c->program->noun ? c->program->noun : "";
    struct options_operand operand;

    for (int i = 0; options_operand(&at, &operand); i++) {
        if (i < c->o->n_operands && !operand.repeated)
            continue;
        if (*command->name && (!strcasecmp(noun, operand.name) || !strcmp(operand.name, "COMMAND")))
            offer_commands(c, c->o->n_operands ? c->o->operands[0] : "");
        else
            offer_named(c, operand.name, words_of(command, operand.name));
        return;
    }
}

static void offer_options(struct completion *c)
{
    const struct option_use *use;
    char name[OPTIONS_NAME_BYTES];

    for (size_t i = 0; (use = options_use(c->program, c->o->command, i)); i++) {
        int n = snprintf(name, sizeof(name), "--%s%s", use->option->name, use->option->value ? "=" : "");

        offer_word(c, name, (size_t)n, use->option->text);
    }
}

/* "--name=part": the option; c->word becomes the part. */
static const struct option_spec *value_of(struct completion *c, const struct options_scan *s)
{
    size_t n = strcspn(c->word, "=");

    for (size_t i = 0; !strncmp(c->word, "--", 2) && c->word[n] && i < s->n_specs; i++) {
        const struct option_spec *o = s->specs[i];

        if (o->value && strlen(o->name) == n - 2 && !strncmp(o->name, c->word + 2, n - 2)) {
            c->word += n + 1;
            return o;
        }
    }
    return NULL;
}

void options_complete(FILE *out, const struct options_program *p, int n, char **words)
{
    struct options o;
    struct options_scan s = { .o = &o };
    struct completion c = { .program = p, .o = &o, .word = n > 1 ? words[n - 1] : "", .out = out };
    const struct option_spec *option;
    char **before =
        xcalloc((size_t)n + 1, sizeof(*before)); /* without the word itself, as argv is: NULL behind */

    memcpy(before, words, (size_t)(n > 1 ? n - 1 : n) * sizeof(*before));
    options_scan_lenient(&s, p, n > 1 ? n - 1 : n, before);
    option = s.waiting ? s.waiting : s.only_operands ? NULL : value_of(&c, &s);
    if (o.command && !o.command->operands) {
        fprintf(out, "@program %s %d\n", o.command->words, o.n_operands + 1);
    } else if (option && option->type.words) {
        for (const char *const *each = option->type.words; *each; each++)
            offer_word(&c, *each, strlen(*each), "");
    } else if (option) {
        offer_named(&c, option->value, NULL);
    } else if (s.only_operands || *c.word != '-') {
        if (!o.command)
            offer_commands(&c, "");
        else if (*o.command->name && !o.n_operands)
            offer_commands(&c, o.command->name);
        if (o.command)
            offer_operand(&c);
        if (!c.offered && !s.only_operands)
            offer_options(&c);
    } else {
        offer_options(&c);
    }
    free(before);
}
