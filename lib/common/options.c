#include "common/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/options_private.h"

void options_hint(const struct options *o, char *buf, size_t size)
{
    const char *program = o->program->name, *command = o->command ? o->command->name : "";

    if (*command && o->command != &options_help_command)
        snprintf(buf, size, "Try '%s help %s' for more information.", program, command);
    else
        snprintf(buf, size, "Try '%s --help' for more information.", program);
}

int options_misuse(const struct options *o, const struct err *err)
{
    char hint[128];

    options_hint(o, hint, sizeof(hint));
    fprintf(stderr, "%s: %s\n%s\n", o->program->name, err->text, hint);
    return 2;
}

int options_start(struct options *o, const struct options_program *p, int argc, char **argv)
{
    const struct options_command *c;
    char name[OPTIONS_NAME_BYTES] = "";
    struct err err = { "" };
    size_t at = 0;

    if (argc > 2 && !strcmp(argv[1], "--complete")) {
        options_complete(stdout, p, argc - 2, argv + 2);
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "--mdoc")) {
        options_mdoc(stdout, p);
        return 0;
    }
    if (options_parse(o, p, argc, argv, &err) < 0)
        return options_misuse(o, &err);
    if (o->version) {
        printf("%s (SyncGuard) %s\n", p->name, PACKAGE_VERSION);
        return 0;
    }
    if (!o->help && o->command != &options_help_command)
        return -1;
    /* "help", or --help of a command */
    c = o->command == &options_help_command ? NULL : o->command;
    for (int i = 0; !c && i < o->n_operands && at < sizeof(name); i++)
        at += (size_t)snprintf(name + at, sizeof(name) - at, "%s%s", i ? " " : "", o->operands[i]);
    if (*name && !(c = options_find(p, name, &err)))
        return options_misuse(o, &err);
    options_help(stdout, p, c);
    return 0;
}

/* ---- the values ---- */

static size_t index_of(const struct options *o, const char *option)
{
    const struct option_use *use;

    for (size_t i = 0; (use = options_use(o->program, o->command, i)); i++)
        if (!strcmp(use->option->name, option))
            return i;
    fprintf(stderr, "%s: '%s' has no option %s\n", o->program->name, o->command ? o->command->name : "",
            option);
    abort();
}

double options_number(const struct options *o, const char *option)
{
    return o->number[index_of(o, option)];
}

const char *options_text(const struct options *o, const char *option)
{
    return o->text[index_of(o, option)];
}

const char *options_texts(const struct options *o, const char *option, size_t i)
{
    size_t u = index_of(o, option);

    if (i == 0)
        return o->text[u];
    for (size_t k = 0; k < o->n_again; k++)
        if (o->again[k].use == u && --i == 0)
            return o->again[k].text;
    return NULL;
}

bool options_given(const struct options *o, const char *option)
{
    return o->given[index_of(o, option)];
}

bool options_is(const struct options *o, const char *option, const char *word)
{
    const char *text = options_text(o, option);

    return text && !strcmp(text, word);
}

int options_int(const struct options *o, const char *option, int otherwise)
{
    double number = options_number(o, option);

    return isnan(number) ? otherwise : (int)number;
}
