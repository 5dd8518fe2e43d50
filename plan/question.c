#include "plan/question.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"

#define HELP_COLUMNS 80
#define HELP_AT      27 /* where the words begin */
#define QUESTION_AT  15

static const struct question_option json = { .name = "json", .text = "print the answer as one JSON object" };
static const struct question_option help = { .name = "help", .text = "say how a question is asked" };
static const struct question_option version = { .name = "version", .text = "print the version" };
static const struct question_option *const everywhere[] = { &json, &help, &version };

const struct question *question_find(const char *name)
{
    for (const struct question *const *q = questions; *q; q++)
        if (!strcmp((*q)->name, name))
            return *q;
    return NULL;
}

static size_t n_uses(const struct question *q)
{
    size_t n = 0;

    while (q->uses[n].option)
        n++;
    return n;
}

static bool required(const struct question_use *use)
{
    return use->otherwise && !strcmp(use->otherwise, QUESTION_REQUIRED);
}

/* ---- what was asked ---- */

static size_t index_of(const struct asked *a, const char *option)
{
    for (size_t i = 0; i < n_uses(a->question); i++)
        if (!strcmp(a->question->uses[i].option->name, option))
            return i;
    fprintf(stderr, "sgplan: the question %s has no option %s\n", a->question->name, option);
    abort();
}

double asked_number(const struct asked *a, const char *option)
{
    return a->number[index_of(a, option)];
}

const char *asked_text(const struct asked *a, const char *option)
{
    return a->text[index_of(a, option)];
}

const char *asked_texts(const struct asked *a, const char *option, size_t i)
{
    size_t u = index_of(a, option);

    if (i == 0)
        return a->text[u];
    for (size_t k = 0; k < a->n_again; k++)
        if (a->again[k].use == u && --i == 0)
            return a->again[k].text;
    return NULL;
}

bool asked_given(const struct asked *a, const char *option)
{
    return a->given[index_of(a, option)];
}

bool asked_is(const struct asked *a, const char *option, const char *word)
{
    const char *text = asked_text(a, option);

    return text && !strcmp(text, word);
}

int asked_int(const struct asked *a, const char *option, int otherwise)
{
    double number = asked_number(a, option);

    return isnan(number) ? otherwise : (int)number;
}

/* ---- values ---- */

typedef int read_fn(const char *, double *, struct err *);
typedef char *format_fn(char *, size_t, double);

static char *format_plain(char *buf, size_t size, double number)
{
    snprintf(buf, size, "%.10g", number);
    return buf;
}

static const struct {
    read_fn *read;
    format_fn *format;
} kinds[] = {
    [QUESTION_COUNT] = { units_count, format_plain },
    [QUESTION_NUMBER] = { units_number, format_plain },
    [QUESTION_RATIO] = { units_ratio, format_plain },
    [QUESTION_SECONDS] = { units_seconds, units_format_s },
    [QUESTION_BYTES] = { units_bytes, units_format_bytes },
    [QUESTION_RATE] = { units_rate, units_format_rate },
};

static bool is_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);

    for (; *choices; choices += strspn(choices, " ")) {
        size_t n = strcspn(choices, " ");

        if (n == length && !strncmp(choices, word, n))
            return true;
        choices += n;
    }
    return false;
}

/* "more than zero", "from 1 to 65536", "at least 1" */
static const char *range_of(const struct question_option *o, char *buf, size_t size)
{
    char low[32], high[32];
    format_fn *format = kinds[o->kind].format;
    bool positive = o->min == QUESTION_POSITIVE;

    format(low, sizeof(low), positive ? 0 : o->min);
    format(high, sizeof(high), o->max);
    if (isinf(o->max))
        snprintf(buf, size, "%s %s", positive ? "more than" : "at least", positive ? "zero" : low);
    else
        snprintf(buf, size, "%s %s, at most %s", positive ? "more than" : "at least", positive ? "zero" : low,
                 high);
    return buf;
}

int question_value(const struct question_option *o, const char *text, double *number, struct err *err)
{
    char range[96];
    double value = NAN;

    switch (o->kind) {
    case QUESTION_FLAG:
    case QUESTION_TEXT:
    case QUESTION_TEXTS:
        break;
    case QUESTION_WORD:
        if (!is_choice(o->choices, text))
            return err_set(err, "--%s: '%s' is not accepted: one of %s", o->name, text, o->choices);
        break;
    default:
        if (kinds[o->kind].read(text, &value, err) < 0)
            return err_prefix(err, "--%s: '%s' is not accepted", o->name, text);
        if (value < o->min || value > o->max)
            return err_set(err, "--%s: '%s' is not accepted: %s", o->name, text,
                           range_of(o, range, sizeof(range)));
    }
    *number = value;
    return 0;
}

/* ---- the command line ---- */

static int unknown_question(const char *word, struct err *err)
{
    char names[384] = "";
    size_t at = 0;

    for (const struct question *const *q = questions; *q && at < sizeof(names); q++)
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", (*q)->name);
    return err_set(err, "'%.60s' is no question; there are %s", word, names);
}

static int set_common(struct asked *a, const struct question_option *o)
{
    if (o == &json)
        a->json = true;
    else if (o == &help)
        a->help = true;
    else
        a->version = true;
    return 0;
}

static bool is_named(const struct question_option *o, const char *name, size_t length)
{
    return strlen(o->name) == length && !strncmp(o->name, name, length);
}

/* Which of the question's options "--name" is; n_uses when none. */
static size_t find_use(const struct question *q, const char *name, size_t length)
{
    size_t i = 0;

    while (q->uses[i].option && !is_named(q->uses[i].option, name, length))
        i++;
    return i;
}

/* The option at argv[*i]; moves *i on over its value. */
static int parse_option(struct asked *a, int argc, char **argv, int *i, struct err *err)
{
    const char *name = argv[*i] + 2, *value;
    size_t length = strcspn(name, "="), u;
    const struct question_option *o;

    if (!strcmp(argv[*i], "-h"))
        return set_common(a, &help);
    if (!strcmp(argv[*i], "-V"))
        return set_common(a, &version);
    if (argv[*i][1] != '-')
        return err_set(err, "'%s' is no option; options begin with two dashes", argv[*i]);
    for (size_t e = 0; e < ARRAY_SIZE(everywhere); e++)
        if (is_named(everywhere[e], name, length))
            return name[length] ? err_set(err, "--%s takes no value", everywhere[e]->name)
                                : set_common(a, everywhere[e]);
    if (!a->question)
        return err_set(err, "'%s' must stand behind the question, as in sgplan collective %s", argv[*i],
                       argv[*i]);
    u = find_use(a->question, name, length);
    o = a->question->uses[u].option;
    if (!o)
        return err_set(err, "`sgplan %s` has no option --%.*s; `sgplan help %s` lists them",
                       a->question->name, (int)length, name, a->question->name);
    if (a->given[u] && o->kind != QUESTION_TEXTS)
        return err_set(err, "--%s is given twice", o->name);
    if (a->given[u] && a->n_again == QUESTION_TEXTS_MAX - 1)
        return err_set(err, "--%s is given more than %d times", o->name, QUESTION_TEXTS_MAX);
    value = name[length] ? name + length + 1 : NULL;
    if (!o->value && value)
        return err_set(err, "--%s takes no value", o->name);
    if (o->value && !value) {
        if (*i + 1 >= argc)
            return err_set(err, "--%s needs a value: --%s=%s", o->name, o->name, o->value);
        value = argv[++*i];
    }
    if (a->given[u]) {
        a->again[a->n_again].use = u;
        a->again[a->n_again++].text = value;
        return 0;
    }
    a->given[u] = true;
    a->text[u] = value;
    return value ? question_value(o, value, &a->number[u], err) : 0;
}

/* Defaults, and what is missing. */
static int complete(struct asked *a, struct err *err)
{
    const struct question *q = a->question;

    for (size_t u = 0; u < n_uses(q); u++) {
        const struct question_use *use = &q->uses[u];

        if (a->given[u] || !use->otherwise)
            continue;
        if (required(use))
            return err_set(err, "`sgplan %s` needs --%s=%s: %s", q->name, use->option->name,
                           use->option->value, use->option->text);
        a->text[u] = use->otherwise;
        if (question_value(use->option, use->otherwise, &a->number[u], err) < 0)
            return -1;
    }
    if (a->n_operands < q->min)
        return err_set(err, "`sgplan %s` needs more: sgplan %s %s", q->name, q->name, q->operands);
    if (q->max >= 0 && a->n_operands > q->max)
        return err_set(err, "`sgplan %s`: '%s' is too much; `sgplan help %s` tells what is accepted", q->name,
                       a->operands[q->max], q->name);
    return 0;
}

int question_parse(struct asked *a, int argc, char **argv, struct err *err)
{
    bool options_end = false;

    *a = (struct asked){ .operands = argv + 1 };
    for (size_t u = 0; u < QUESTION_OPTIONS_MAX; u++)
        a->number[u] = NAN;
    for (int i = 1; i < argc; i++) {
        if (!options_end && !strcmp(argv[i], "--")) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            if (parse_option(a, argc, argv, &i, err) < 0)
                return -1;
        } else if (!a->question) {
            a->question = question_find(argv[i]);
            if (!a->question)
                return unknown_question(argv[i], err);
        } else {
            argv[1 + a->n_operands++] = argv[i];
        }
    }
    if (a->help || a->version)
        return 0;
    if (!a->question)
        return err_set(err, "a question is missing; `sgplan help` lists them");
    return complete(a, err);
}

/* ---- what the tables say ---- */

/* A name and what it is, wrapped beside it. */
static void help_entry(FILE *out, const char *name, const char *words, int at)
{
    char *text = NULL;
    size_t size, length = strlen(name);
    FILE *page = open_memstream(&text, &size);

    if (!page)
        return;
    text_wrap(page, words, at, HELP_COLUMNS);
    fclose(page);
    if ((int)length + 3 > at)
        fprintf(out, "  %s\n", name);
    else if (size > length + 2)
        memcpy(text + 2, name, length);
    fputs(text, out);
    free(text);
}

static void help_option(FILE *out, const struct question_option *o, const char *otherwise)
{
    char name[64], words[400];
    bool needed = otherwise && !strcmp(otherwise, QUESTION_REQUIRED);

    snprintf(name, sizeof(name), "--%s%s%s", o->name, o->value ? "=" : "", o->value ? o->value : "");
    snprintf(words, sizeof(words), "%s%s%s%s%s%s", o->text,
             needed      ? " (needed"
             : otherwise ? " ("
                         : "",
             otherwise && !needed ? otherwise : "", otherwise ? ")" : "",
             o->kind == QUESTION_WORD ? "; one of " : "", o->kind == QUESTION_WORD ? o->choices : "");
    help_entry(out, name, words, HELP_AT);
}

static void help_all(FILE *out)
{
    fprintf(out, "sgplan - predict what a synchronised job will do, and compare what could be done\n\n"
                 "usage: sgplan QUESTION [OPTIONS]\n\nquestions:\n");
    for (const struct question *const *q = questions; *q; q++)
        help_entry(out, (*q)->name, (*q)->text, QUESTION_AT);
    fprintf(out, "\noptions of all questions:\n");
    for (size_t e = 0; e < ARRAY_SIZE(everywhere); e++)
        help_option(out, everywhere[e], NULL);
    fprintf(out, "\nValues have units: 700MB, 2MiB, 10us, 2h, 25GB/s, 400Gbit/s, 5%%, 175e9 or 7B.\n"
                 "`sgplan help QUESTION` tells more; the manual page is sgplan(1).\n"
                 "Exit code: 0, 1 (failed), 2 (wrong usage).\n");
}

void question_help(FILE *out, const struct question *q)
{
    if (!q) {
        help_all(out);
        return;
    }
    fprintf(out, "usage: sgplan %s [OPTIONS]%s%s\n\n%s: %s\n", q->name, *q->operands ? " " : "", q->operands,
            q->name, q->text);
    if (*q->more) {
        fputc('\n', out);
        text_wrap(out, q->more, 0, HELP_COLUMNS);
    }
    fprintf(out, "\noptions:\n");
    for (const struct question_use *use = q->uses; use->option; use++)
        help_option(out, use->option, use->otherwise);
    for (size_t e = 0; e < ARRAY_SIZE(everywhere); e++)
        help_option(out, everywhere[e], NULL);
}

static void words_option(FILE *out, const struct question_option *o)
{
    fprintf(out, "--%s%s\n", o->name, o->value ? "=" : "");
    if (o->kind != QUESTION_WORD)
        return;
    for (const char *c = o->choices; *c; c += strspn(c, " ")) {
        int n = (int)strcspn(c, " ");

        fprintf(out, "--%s=%.*s\n", o->name, n, c);
        c += n;
    }
}

void question_words(FILE *out, const struct question *q)
{
    if (q) {
        for (const struct question_use *use = q->uses; use->option; use++)
            words_option(out, use->option);
        if (strstr(q->operands, "QUESTION"))
            question_words(out, NULL);
        else if (islower((unsigned char)*q->operands)) /* a word to be typed as it stands */
            fprintf(out, "%s\n", q->operands);
        else if (*q->operands)
            fputs("FILE\n", out);
    } else {
        for (const struct question *const *each = questions; *each; each++)
            fprintf(out, "%s\n", (*each)->name);
    }
    for (size_t e = 0; e < ARRAY_SIZE(everywhere); e++)
        words_option(out, everywhere[e]);
}

static void mdoc_option(FILE *out, const struct question_option *o, const char *otherwise)
{
    fprintf(out, ".It Fl \\-%s", o->name);
    if (o->value)
        fprintf(out, " Ns = Ns Ar %s", o->value);
    fprintf(out, "\n%c%s", o->text[0] >= 'a' ? o->text[0] - 'a' + 'A' : o->text[0], o->text + 1);
    if (o->kind == QUESTION_WORD)
        fprintf(out, ": one of %s", o->choices);
    if (otherwise && !strcmp(otherwise, QUESTION_REQUIRED))
        fputs("; needed", out);
    else if (otherwise)
        fprintf(out, "; default %s", otherwise);
    fputs(".\n", out);
}

void question_mdoc(FILE *out)
{
    fputs(".Sh QUESTIONS\n", out);
    for (const struct question *const *each = questions; *each; each++) {
        const struct question *q = *each;

        fprintf(out, ".Ss %s%s%s\n%c%s.\n", q->name, *q->operands ? " " : "", q->operands,
                q->text[0] - 'a' + 'A', q->text + 1);
        if (*q->more)
            text_mdoc(out, q->more);
        if (!q->uses[0].option)
            continue;
        fputs(".Bl -tag -width Ds\n", out);
        for (const struct question_use *use = q->uses; use->option; use++)
            mdoc_option(out, use->option, use->otherwise);
        fputs(".El\n", out);
    }
    fputs(".Sh OPTIONS\nOf all questions:\n.Bl -tag -width Ds\n", out);
    for (size_t e = 0; e < ARRAY_SIZE(everywhere); e++)
        mdoc_option(out, everywhere[e], NULL);
    fputs(".El\n", out);
}
