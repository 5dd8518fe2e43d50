/* --help and the manual page. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/options_private.h"
#include "common/text.h"

#define COLUMNS 80
#define TEXT_AT 27 /* where the words beside a name begin */

/* "; from 1 to 64; default 8": what is known of an option beside its text. */
static void limits_text(const struct option_use *use, char *buf, size_t size)
{
    const struct value_type *t = &use->option->type;
    bool required = options_marked(use, OPTION_REQUIRED);
    char range[160] = "";
    size_t at;

    if (t->kind == VALUE_WORD)
        value_accepts(t, range, sizeof(range));
    else if (isfinite(t->max) && t->max < 1e7) /* no number that anybody writes is larger */
        value_range(t, range, sizeof(range));
    snprintf(buf, size, "%s%s", *range ? "; " : "", range);
    at = strlen(buf);
    if (required)
        snprintf(buf + at, size - at, "; required");
    else if (use->otherwise && !options_marked(use, OPTION_REPEATED))
        snprintf(buf + at, size - at, "; default %s", use->otherwise);
}

/* "JOB [ACTION]" */
static const char *operands_of(const struct options_command *c)
{
    return c->operands ? c->operands : "[ARGUMENT...]";
}

/* ---- help ---- */

/* A name and, beside it, the words. */
static void print_entry(FILE *out, const char *name, const char *words)
{
    char *text = NULL;
    size_t size, length = strlen(name);
    FILE *page = open_memstream(&text, &size);

    if (!page)
        return;
    text_wrap(page, words, TEXT_AT, COLUMNS);
    fclose(page);
    if (length + 4 > TEXT_AT)
        fprintf(out, "  %s\n", name);
    else if (size > length + 2)
        memcpy(text + 2, name, length);
    fputs(text, out);
    free(text);
}

static void help_options(FILE *out, const struct options_program *p, const struct options_command *c)
{
    const struct option_use *use;
    char name[96], limits[256], words[512];

    for (size_t i = 0; (use = options_use(p, c, i)); i++) {
        const struct option_spec *o = use->option;
        char letter = option_letter(p, o);

        snprintf(name, sizeof(name), "%s%c%s --%s%s%s", letter ? "-" : " ", letter ? letter : ' ',
                 letter ? "," : " ", o->name, o->value ? "=" : "", o->value ? o->value : "");
        limits_text(use, limits, sizeof(limits));
        snprintf(words, sizeof(words), "%s%s%s%s", o->text, *limits ? " (" : "", *limits ? limits + 2 : "",
                 *limits ? ")" : "");
        print_entry(out, name, words);
    }
}

static void print_paragraph(FILE *out, const char *text)
{
    if (text && *text) {
        fputc('\n', out);
        text_wrap(out, text, 0, COLUMNS);
    }
}

static void help_one(FILE *out, const struct options_command *c)
{
    char name[2 * OPTIONS_NAME_BYTES];

    snprintf(name, sizeof(name), "%s%s%s", c->name, *operands_of(c) ? " " : "", operands_of(c));
    print_entry(out, name, c->text);
}

/* The commands that begin with the word of c. */
static void help_group(FILE *out, const struct options_program *p, const struct options_command *c)
{
    const struct options_command *each;
    bool first = true;

    for (size_t i = 0; *c->name && (each = options_command(p, i)); i++) {
        if (!options_word(each, c->name))
            continue;
        if (first)
            fprintf(out, "\n%c%ss:\n", toupper((unsigned char)*p->noun), p->noun + 1);
        first = false;
        help_one(out, each);
    }
}

static void help_program(FILE *out, const struct options_program *p)
{
    const struct options_command *c;
    char noun[OPTIONS_NAME_BYTES];

    fprintf(out, "Usage: %s [OPTION...] %s [ARGUMENT...]\n", p->name, options_noun(p, noun, sizeof(noun)));
    text_wrap(out, p->text, 0, COLUMNS);
    fprintf(out, "\n%c%ss:\n", noun[0], p->noun + 1);
    for (size_t i = 0; (c = options_command(p, i)); i++)
        help_one(out, c);
    fprintf(out, "\nOptions of every %s:\n", p->noun);
    help_options(out, p, NULL);
}

static void help_command(FILE *out, const struct options_program *p, const struct options_command *c)
{
    char line[256];

    fprintf(out, "Usage: %s [OPTION...]%s%s%s%s\n", p->name, *c->name ? " " : "", c->name,
            *operands_of(c) ? " " : "", operands_of(c));
    if (*c->name)
        snprintf(line, sizeof(line), "%c%s.", toupper((unsigned char)*c->text), c->text + 1);
    text_wrap(out, *c->name ? line : p->text, 0, COLUMNS);
    print_paragraph(out, c->more);
    help_group(out, p, c);
    fputs("\nOptions:\n", out);
    help_options(out, p, c);
}

void options_help(FILE *out, const struct options_program *p, const struct options_command *c)
{
    bool whole = !c || !*c->name;
    char noun[OPTIONS_NAME_BYTES];

    if (!c && !options_has_commands(p))
        c = options_own(p, 0);
    if (c)
        help_command(out, p, c);
    else
        help_program(out, p);
    if (!whole)
        return;
    if (p->examples[0])
        fputs("\nExamples:\n", out);
    for (size_t i = 0; i < 2 && p->examples[i]; i++)
        fprintf(out, "  %s\n", p->examples[i]);
    if (p->help_more)
        p->help_more(out);
    print_paragraph(out, p->help_end);
    if (!c)
        fprintf(out, "\n'%s help %s' describes one %s.\n", p->name, options_noun(p, noun, sizeof(noun)),
                p->noun);
}

/* ---- mdoc(7) ---- */

static void mdoc_sentence(FILE *out, const char *text, const char *after)
{
    text_capital(out, text);
    fprintf(out, "%s.\n", after);
}

static void mdoc_option(FILE *out, const struct options_program *p, const struct option_use *use)
{
    const struct option_spec *o = use->option;
    char limits[256], letter = option_letter(p, o);

    fputs(".It ", out);
    if (letter)
        fprintf(out, "Fl %c , ", letter);
    fprintf(out, "Fl \\-%s%s%s\n", o->name, o->value ? " Ns = Ns Ar " : "", o->value ? o->value : "");
    limits_text(use, limits, sizeof(limits));
    mdoc_sentence(out, o->text, limits);
}

static void mdoc_command(FILE *out, const struct options_program *p, const struct options_command *c)
{
    fprintf(out, ".Ss %s%s%s\n", c->name, *operands_of(c) ? " " : "", operands_of(c));
    mdoc_sentence(out, c->text, "");
    if (c->more && *c->more)
        text_mdoc(out, c->more);
    if (!c->uses || !c->uses->option)
        return;
    fputs(".Bl -tag -width Ds\n", out);
    for (const struct option_use *use = c->uses; use->option; use++)
        mdoc_option(out, p, use);
    fputs(".El\n", out);
}

void options_mdoc(FILE *out, const struct options_program *p)
{
    const struct options_command *c = NULL;
    const struct option_use *use;
    char noun[OPTIONS_NAME_BYTES];

    if (options_has_commands(p)) {
        fprintf(out, ".Sh %sS\n", options_noun(p, noun, sizeof(noun)));
        for (size_t i = 0; (c = options_command(p, i)); i++)
            mdoc_command(out, p, c);
        fprintf(out, ".Sh OPTIONS\nOf every %s:\n", p->noun);
    } else {
        fputs(".Sh OPTIONS\n", out);
        c = options_own(p, 0);
    }
    fputs(".Bl -tag -width Ds\n", out);
    for (size_t i = 0; (use = options_use(p, c, i)); i++)
        mdoc_option(out, p, use);
    fputs(".El\n", out);
}
