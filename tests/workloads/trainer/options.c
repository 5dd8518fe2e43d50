#include "tests/workloads/trainer/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum kind { INT, WIDE, REAL, FLAG, PATH, TEXT, AHEAD, RESUME };

struct option_row {
    const char *name, *value, *text;
    enum kind kind;
    size_t offset;
    double least, most;
};

#define AT(field) offsetof(struct options, field)

static const struct option_row rows[] = {
    { "text", "FILE", "learn FILE or every file of a folder; more may follow (default the licence texts)",
      TEXT, 0, 0, 0 },
    { "steps", "N", "stop after N steps in all (default 600, without limit if --seconds is given)", WIDE,
      AT(steps), 0, 1e15 },
    { "seconds", "S", "stop after S seconds", REAL, AT(seconds), 0, 1e9 },
    { "seed", "N", "of the parameters and of the order of the text", WIDE, AT(seed), 0, 9e15 },
    { "batch", "N", "windows a rank and step: sets the computing time", INT, AT(batch), 1, 1 << 16 },
    { "context", "N", "characters that the model sees", INT, AT(context), 1, 256 },
    { "embed", "N", "numbers that stand for a character", INT, AT(embed), 1, 256 },
    { "hidden", "N", "units of the hidden layer", INT, AT(hidden), 1, 8192 },
    { "rate", "R", "learning rate", REAL, AT(rate), 0, 100 },
    { "momentum", "M", "share of the last update that goes on", REAL, AT(momentum), 0, 0.999 },
    { "buckets", "N", "pieces of the gradient, each its own all-reduce", INT, AT(buckets), 1, 256 },
    { "overlap", NULL, "reduce with MPI_Iallreduce while computing goes on", FLAG, AT(overlap), 0, 1 },
    { "inner", "G", "reduce inside groups of G ranks first, then across groups", INT, AT(inner), 0, 1 << 20 },
    { "gentle", NULL, "sleep between looks while waiting for other ranks", FLAG, AT(gentle), 0, 1 },
    { "device", "S", "let an accelerator that is not there compute for S seconds a step", REAL, AT(device), 0,
      3600 },
    { "device-clock", "DIR", "its clock is in DIR/HOST, 1 without that file; read at every step", PATH,
      AT(device_clock), 0, 0 },
    { "loader", "[=N]", "a thread prepares N batches ahead (4)", AHEAD, AT(loader), 1, 1024 },
    { "eval-every", "N", "loss on held-out text every N steps", WIDE, AT(eval_every), 0, 1e15 },
    { "checkpoint", "FILE", "where checkpoints go", PATH, AT(checkpoint), 0, 0 },
    { "checkpoint-every", "N", "write one every N steps", WIDE, AT(checkpoint_every), 0, 1e15 },
    { "restart", "[=auto]", "go on from the checkpoint; auto: start anew if there is none", RESUME,
      AT(restart), 0, 0 },
    { "log", "FILE", "rank 0 writes a line a step: step, seconds, seconds in collectives, loss", PATH,
      AT(log), 0, 0 },
    { "sample", "N", "print N characters written by the model at the end", INT, AT(sample), 0, 1000000 },
    { "help", NULL, "print this", FLAG, AT(help), 0, 1 },
};

static const struct options defaults = {
    .batch = 512,
    .context = 12,
    .embed = 24,
    .hidden = 256,
    .rate = 0.5,
    .momentum = 0.9,
    .seed = 1,
    .buckets = 4,
};

static int parse_number(const struct option_row *row, const char *value, double *x, struct err *err)
{
    char *end;

    errno = 0;
    *x = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(*x) || *x < row->least || *x > row->most ||
        (row->kind != REAL && *x != floor(*x)))
        return err_set(err, "--%s %s: expected %s between %g and %g", row->name, value,
                       row->kind == REAL ? "a number" : "a whole number", row->least, row->most);
    return 0;
}

static void add_text(struct options *o, char *path)
{
    o->text = xrealloc(o->text, o->texts + 1, sizeof(*o->text));
    o->text[o->texts++] = path;
}

static int parse_restart(struct options *o, const char *value, struct err *err)
{
    if (value && strcmp(value, "auto") != 0)
        return err_set(err, "--restart=%s: expected --restart or --restart=auto", value);
    o->restart = value ? RESTART_AUTO : RESTART_YES;
    return 0;
}

static int set(struct options *o, const struct option_row *row, char *value, struct err *err)
{
    char *field = (char *)o + row->offset;
    double x = 4;

    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        return 0;
    case PATH:
        *(const char **)field = value;
        return 0;
    case TEXT:
        add_text(o, value);
        return 0;
    case RESUME:
        return parse_restart(o, value, err);
    default:
        break;
    }
    if (value && parse_number(row, value, &x, err) < 0)
        return -1;
    if (row->kind == REAL)
        *(double *)field = x;
    else if (row->kind == WIDE)
        *(int64_t *)field = (int64_t)x;
    else
        *(int *)field = (int)x;
    return 0;
}

static int argument_of(const struct option_row *row)
{
    if (!row->value)
        return no_argument;
    return row->value[0] == '[' ? optional_argument : required_argument;
}

static int check(struct options *o, struct err *err)
{
    if (o->help)
        return 0;
    if (o->checkpoint_every && !o->checkpoint)
        return err_set(err, "--checkpoint-every needs --checkpoint FILE");
    if (o->restart && !o->checkpoint)
        return err_set(err, "--restart needs --checkpoint FILE");
    if (!o->steps && o->seconds <= 0)
        o->steps = 600;
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
    struct option table[ARRAY_SIZE(rows) + 1] = { 0 };
    int c, i = 0;

    *o = defaults;
    for (size_t r = 0; r < ARRAY_SIZE(rows); r++)
        table[r] = (struct option){ rows[r].name, argument_of(&rows[r]), NULL, 1 };
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", table, &i)) != -1) {
        if (c == ':')
            return err_set(err, "%s needs a value; see --help", argv[optind - 1]);
        if (c != 1)
            return err_set(err, "%s: no such option, or a value that it does not take; see --help",
                           argv[optind - 1]);
        if (set(o, &rows[i], optarg, err) < 0)
            return -1;
    }
    if (optind < argc && !o->texts)
        return err_set(err, "%s: what is it? texts follow --text", argv[optind]);
    while (optind < argc)
        add_text(o, argv[optind++]);
    return check(o, err);
}

int options_fit(const struct options *o, int ranks, struct err *err)
{
    if (o->inner && ranks % o->inner)
        return err_set(err, "--inner %d: %d ranks cannot be cut into groups of %d", o->inner, ranks,
                       o->inner);
    return 0;
}

static void show_default(FILE *out, const struct option_row *row)
{
    const char *field = (const char *)&defaults + row->offset;
    double x = 0;

    if (row->kind == INT)
        x = *(const int *)field;
    else if (row->kind == WIDE)
        x = (double)*(const int64_t *)field;
    else if (row->kind == REAL)
        x = *(const double *)field;
    if (x > 0)
        fprintf(out, " (%g)", x);
}

void options_help(FILE *out, const char *program)
{
    fprintf(
        out,
        "Usage: %s [OPTION]... [--text FILE...]\n"
        "Train a small character-level language model, data-parallel over the MPI ranks.\n"
        "The result is the same bit by bit for the same text, options, number of ranks and MPI library.\n\n",
        program);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *value = rows[i].value ? rows[i].value : "";
        const char *gap = *value && *value != '[' ? " " : "";
        int width = fprintf(out, "  --%s%s%s", rows[i].name, gap, value);

        fprintf(out, "%*s%s", 26 - width, "", rows[i].text);
        show_default(out, &rows[i]);
        fputc('\n', out);
    }
    fputs("\nExit status: 0 done, 1 failed, 2 bad arguments.\n", out);
}
