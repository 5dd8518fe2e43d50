/* Words to options, command and operands. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/options_private.h"
#include "common/suggest.h"
#include "common/xalloc.h"

#define LONG_BASE 256 /* what getopt_long returns for the first long option: no letter */
#define IN_ORDER  1   /* what it returns for a word that is not an option */

/* ---- commands ---- */

/* The command that options_word() gives this word in the group, or the only one whose word begins with it.
 * *alike counts those that begin with it. */
static const struct options_command *find_command(const struct options_program *p, const char *group,
                                                  const char *word, size_t *alike, struct suggestion *near)
{
    const struct options_command *c, *found = NULL;

    *alike = 0;
    for (size_t i = 0; (c = options_command(p, i)); i++) {
        const char *name = options_word(c, group);

        if (!name)
            continue;
        if (!strcmp(name, word)) {
            *alike = 1;
            return c;
        }
        suggest_offer(near, name);
        if (!strncmp(name, word, strlen(word))) {
            found = c;
            ++*alike;
        }
    }
    return *alike == 1 && *word ? found : NULL;
}

static int refuse_command(const struct options_program *p, const char *group, const char *word, size_t alike,
                          const struct suggestion *near, struct err *err)
{
    const struct options_command *c;
    const char *space = *group ? " " : "";
    char names[256] = "";
    size_t at = 0;

    if (alike > 1 && *word) {
        for (size_t i = 0; (c = options_command(p, i)) && at < sizeof(names); i++) {
            const char *each = options_word(c, group);

            if (each && !strncmp(each, word, strlen(word)))
                at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", c->name);
        }
        return err_set(err, "ambiguous %s '%s%s%.60s': %s", p->noun, group, space, word, names);
    }
    if (near->best)
        return err_set(err, "unknown %s '%s%s%.60s'. Did you mean '%s%s%s'?", p->noun, group, space, word,
                       group, space, near->best);
    return err_set(err, "unknown %s '%s%s%.60s'", p->noun, group, space, word);
}

const struct options_command *options_find(const struct options_program *p, const char *name, struct err *err)
{
    struct suggestion near = suggest_for(name);
    const struct options_command *c;
    const char *space = strchr(name, ' ');
    size_t alike;

    for (size_t i = 0; space && (c = options_command(p, i)); i++)
        if (!strcmp(c->name, name))
            return c;
    c = find_command(p, "", name, &alike, &near);
    if (!c)
        refuse_command(p, "", name, alike, &near, err);
    return c;
}

/* ---- values ---- */

int options_value(const struct option_spec *o, const char *text, double *number, struct err *err)
{
    if (value_parse(&o->type, text, number, err) < 0)
        return err_prefix(err, "--%s: '%s' is not accepted", o->name, text);
    return 0;
}

/* Of the u-th option. */
static int set_value(struct options *o, size_t u, const char *text, struct err *err)
{
    const struct option_spec *spec = options_use(o->program, o->command, u)->option;

    o->text[u] = text;
    if (!text || options_value(spec, text, &o->number[u], err) < 0)
        return text ? -1 : 0;
    if (spec->type.kind == VALUE_WORD)
        o->text[u] = spec->type.words[(int)o->number[u]];
    return 0;
}

/* ---- the command line, word by word ---- */

static void add_spec(struct options_scan *s, const struct option_spec *spec)
{
    char *at = s->letters + strlen(s->letters), letter = option_letter(s->o->program, spec);

    for (size_t i = 0; i < s->n_specs; i++)
        if (!strcmp(s->specs[i]->name, spec->name))
            return;
    if (s->n_specs == OPTIONS_LONGS_MAX)
        abort();
    s->specs[s->n_specs] = spec;
    s->longs[s->n_specs] = (struct option){ spec->name, spec->value ? required_argument : no_argument, NULL,
                                            LONG_BASE + (int)s->n_specs };
    s->longs[++s->n_specs] = (struct option){ 0 };
    if (letter) {
        *at++ = letter;
        if (spec->value)
            *at++ = ':';
        *at = '\0';
    }
}

/* The options of the command; while there is none, those of all commands. */
static void use_options_of(struct options_scan *s, const struct options_command *c)
{
    const struct options_program *p = s->o->program;
    const struct options_command *each;
    const struct option_use *use;

    s->n_specs = 0;
    /* Operands in their order; a missing value is distinguished from an unknown option. */
    strcpy(s->letters, "-:");
    for (size_t i = 0; (use = options_use(p, c, i)); i++)
        add_spec(s, use->option);
    for (size_t k = 0; !c && (each = options_command(p, k)); k++)
        for (use = each->uses; use && use->option; use++)
            add_spec(s, use->option);
}

static const struct option_spec *spec_of(const struct options_scan *s, int code)
{
    if (code >= LONG_BASE && (size_t)(code - LONG_BASE) < s->n_specs)
        return s->specs[code - LONG_BASE];
    for (size_t i = 0; i < s->n_specs && code > 0; i++)
        if (option_letter(s->o->program, s->specs[i]) == code)
            return s->specs[i];
    return NULL;
}

static int refuse_option(const struct options_scan *s, const char *word, int code, struct err *err)
{
    const struct option_spec *known = spec_of(s, code);
    size_t length = strcspn(word, "="), at = 0;
    char name[OPTIONS_NAME_BYTES], names[256] = "";
    struct suggestion near;

    if (known)
        return err_set(err, "option '--%s' takes no value", known->name);
    if (code)
        return err_set(err, "unknown option '-%c'", isprint(code) ? code : '?');
    snprintf(name, sizeof(name), "%.*s", (int)length, word);
    near = suggest_for(name + strspn(name, "-"));
    for (size_t i = 0; i < s->n_specs; i++) {
        const char *each = s->specs[i]->name;

        suggest_offer(&near, each);
        if (length > 2 && !strncmp(each, word + 2, length - 2) && at < sizeof(names))
            at += (size_t)snprintf(names + at, sizeof(names) - at, "%s--%s", at ? ", " : "", each);
    }
    if (*names)
        return err_set(err, "ambiguous option '%s': %s", name, names);
    if (near.best)
        return err_set(err, "unknown option '%s'. Did you mean '--%s'?", name, near.best);
    return err_set(err, "unknown option '%s'", name);
}

static bool is_group(const struct options_program *p, const char *word)
{
    const struct options_command *c;

    for (size_t i = 0; (c = options_command(p, i)); i++)
        if (options_word(c, word))
            return true;
    return false;
}

/* A command, the second word of one, or an operand. */
static int take_word(struct options_scan *s, char **argv, char *word, struct err *err)
{
    struct options *o = s->o;
    const char *group = o->command ? o->command->name : "";
    struct suggestion near = suggest_for(word);
    const struct options_command *c;
    size_t alike;

    if (!o->command || (*group && !o->n_operands && !strchr(group, ' '))) {
        c = find_command(o->program, group, word, &alike, &near);
        if (c) {
            o->command = c;
            use_options_of(s, c);
            return 0;
        }
        if (!o->command || (is_group(o->program, group) && !*o->command->operands))
            return refuse_command(o->program, group, word, alike, &near, err);
    }
    argv[1 + o->n_operands++] = word;
    return 0;
}

static int scan_words(struct options_scan *s, const struct options_program *p, int argc, char **argv,
                      struct err *err)
{
    struct options *o = s->o;
    int code, rc;

    *o = (struct options){ .program = p, .operands = argv + 1 };
    for (size_t u = 0; u < OPTIONS_MAX; u++)
        o->number[u] = NAN;
    if (!options_has_commands(p))
        o->command = options_own(p, 0);
    use_options_of(s, o->command);
    optind = 0; /* restart getopt, because tests parse more than once */
    opterr = 0;
    while ((code = getopt_long(argc, argv, s->letters, s->longs, NULL)) != -1) {
        if (code == IN_ORDER && p->runs_program) {
            optind--;
            s->only_operands = true;
            break;
        } else if (code == IN_ORDER) {
            rc = take_word(s, argv, optarg, err);
        } else if (code == ':') {
            s->waiting = spec_of(s, optopt);
            rc = err_set(err, "option '--%s' needs a value: --%s=%s", s->waiting->name, s->waiting->name,
                         s->waiting->value);
        } else if (code == '?') {
            rc = refuse_option(s, argv[optind - 1], optopt, err);
        } else if (s->n_seen == OPTIONS_SEEN_MAX) {
            rc = err_set(err, "more than %d options", OPTIONS_SEEN_MAX);
        } else {
            rc = 0;
            s->seen[s->n_seen].spec = spec_of(s, code);
            s->seen[s->n_seen++].text = optarg;
        }
        if (rc < 0 && !s->lenient)
            return -1;
        if (o->command && !o->command->operands) {
            o->operands = argv + optind;
            o->n_operands = argc - optind;
            return 0;
        }
    }
    s->only_operands |= optind > 1 && optind <= argc && !strcmp(argv[optind - 1], "--");
    while (optind < argc)
        if (take_word(s, argv, argv[optind++], err) < 0 && !s->lenient)
            return -1;
    return 0;
}

/* ---- what the words come to ---- */

/* Store the options that were seen as values of the command's options. */
static int settle_options(struct options_scan *s, struct err *err)
{
    struct options *o = s->o;
    const struct option_use *use;

    for (size_t k = 0; k < s->n_seen; k++) {
        const struct option_spec *spec = s->seen[k].spec;
        size_t u = 0;

        while ((use = options_use(o->program, o->command, u)) && strcmp(use->option->name, spec->name) != 0)
            u++;
        if (!use) { /* an option of another command, given before the command; or no command was given */
            if (o->command && !s->lenient)
                return err_set(err, "unknown option '--%s' of '%s'", spec->name, o->command->name);
            continue;
        }
        o->help |= use->option == &option_help;
        o->version |= use->option == &option_version;
        if (o->given[u] && options_marked(use, OPTION_REPEATED)) {
            if (o->n_again == OPTIONS_TEXTS_MAX - 1)
                return err_set(err, "--%s is given more than %d times", spec->name, OPTIONS_TEXTS_MAX);
            o->again[o->n_again].use = u;
            o->again[o->n_again++].text = s->seen[k].text;
            continue;
        }
        if (o->given[u] && o->program->once && spec->value && !s->lenient)
            return err_set(err, "--%s is given twice", spec->name);
        o->given[u] = true;
        if (set_value(o, u, s->seen[k].text, err) < 0 && !s->lenient)
            return -1;
    }
    return 0;
}

static int settle_defaults(struct options *o, struct err *err)
{
    const struct option_use *use;

    for (size_t u = 0; (use = options_use(o->program, o->command, u)); u++) {
        if (o->given[u] || !use->otherwise || options_marked(use, OPTION_REPEATED))
            continue;
        if (options_marked(use, OPTION_REQUIRED))
            return err_set(err, "missing --%s=%s: %s", use->option->name, use->option->value,
                           use->option->text);
        if (set_value(o, u, use->otherwise, err) < 0)
            return -1;
    }
    return 0;
}

static int check_operands(const struct options *o, struct err *err)
{
    const char *at = o->command->operands;
    struct options_operand operand;
    int n = 0;

    while (options_operand(&at, &operand)) {
        if (n >= o->n_operands && !operand.optional)
            return err_set(err, "missing %s", operand.name);
        if (operand.repeated)
            return 0;
        n++;
    }
    if (n < o->n_operands)
        return err_set(err, "unexpected argument '%.60s'", o->operands[n]);
    return 0;
}

void options_scan_lenient(struct options_scan *s, const struct options_program *p, int argc, char **argv)
{
    s->lenient = true;
    scan_words(s, p, argc, argv, NULL);
    settle_options(s, NULL);
}

int options_parse(struct options *o, const struct options_program *p, int argc, char **argv, struct err *err)
{
    struct options_scan s = { .o = o };
    char noun[OPTIONS_NAME_BYTES];

    if (scan_words(&s, p, argc, argv, err) < 0 || settle_options(&s, err) < 0)
        return -1;
    if (o->help || o->version)
        return 0;
    if (!o->command)
        return err_set(err, "missing %s", options_noun(p, noun, sizeof(noun)));
    if (settle_defaults(o, err) < 0)
        return -1;
    return o->command->operands ? check_operands(o, err) : 0;
}
