#include "tests/workloads/shared/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { ROWS_MAX = 64, HELP = ROWS_MAX, PLAIN }; /* what getopt_long returns besides the number of a row */

static int parse_number(const struct argument *row, const char *value, double *x, struct err *err)
{
    char *end;

    errno = 0;
    *x = strtod(value, &end);
    if (errno || end == value || *end || !isfinite(*x) || *x < row->least || *x > row->most ||
        (row->kind != ARGUMENT_REAL && *x != floor(*x)))
        return err_set(err, "--%s %s: expected %s between %g and %g", row->name, value,
                       row->kind == ARGUMENT_REAL ? "a number" : "a whole number", row->least, row->most);
    return 0;
}

static void add_path(struct paths *p, char *path)
{
    p->path = xrealloc(p->path, p->n + 1, sizeof(*p->path));
    p->path[p->n++] = path;
}

static int set(void *options, const struct argument *row, char *value, struct err *err)
{
    char *field = (char *)options + row->offset;
    double x = row->bare;

    switch (row->kind) {
    case ARGUMENT_FLAG:
        *(bool *)field = true;
        return 0;
    case ARGUMENT_PATH:
        *(const char **)field = value;
        return 0;
    case ARGUMENT_PATHS:
        add_path((struct paths *)field, value);
        return 0;
    case ARGUMENT_OWN:
        return row->own(options, value, err);
    default:
        break;
    }
    if (value && parse_number(row, value, &x, err) < 0)
        return -1;
    if (row->kind == ARGUMENT_REAL)
        *(double *)field = x;
    else if (row->kind == ARGUMENT_WIDE)
        *(int64_t *)field = (int64_t)x;
    else
        *(int *)field = (int)x;
    return 0;
}

static int argument_of(const struct argument *row)
{
    if (!row->value)
        return no_argument;
    return row->value[0] == '[' ? optional_argument : required_argument;
}

/* Words that belong to no option follow the paths that the command line has already. */
static int take_rest(const struct arguments *a, void *options, int argc, char **argv, struct err *err)
{
    struct paths *paths = NULL;

    for (const struct argument *row = a->row; row->name; row++)
        if (row->kind == ARGUMENT_PATHS)
            paths = (struct paths *)((char *)options + row->offset);
    if (optind < argc && (!paths || !paths->n))
        return err_set(err, "%s: unexpected argument; see --help", argv[optind]);
    while (optind < argc)
        add_path(paths, argv[optind++]);
    return 0;
}

static int parse(const struct arguments *a, void *options, bool *help, int argc, char **argv, struct err *err)
{
    struct option table[ROWS_MAX + 2] = { 0 };
    int c, n = 0;

    memcpy(options, a->defaults, a->size);
    for (; a->row[n].name && n < ROWS_MAX; n++)
        table[n] = (struct option){ a->row[n].name, argument_of(&a->row[n]), NULL, n };
    table[n] = (struct option){ "help", no_argument, NULL, HELP };
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":", table, NULL)) != -1) {
        if (c == ':')
            return err_set(err, "%s needs a value; see --help", argv[optind - 1]);
        if (c == '?')
            return err_set(err, "%s: unknown option, or a value that it does not take; see --help",
                           argv[optind - 1]);
        if (c == HELP)
            *help = true;
        else if (set(options, &a->row[c], optarg, err) < 0)
            return -1;
    }
    if (*help)
        return 0;
    if (take_rest(a, options, argc, argv, err) < 0)
        return -1;
    return a->check ? a->check(options, err) : 0;
}

static double default_of(const struct arguments *a, const struct argument *row)
{
    const char *field = (const char *)a->defaults + row->offset;

    switch (row->kind) {
    case ARGUMENT_INT:
        return *(const int *)field;
    case ARGUMENT_WIDE:
        return (double)*(const int64_t *)field;
    case ARGUMENT_REAL:
        return *(const double *)field;
    default:
        return 0;
    }
}

static void print_help(const struct arguments *a)
{
    static const struct argument help = { .name = "help", .text = "print this help" };

    printf("Usage: %s %s\n%s\n\n", a->program, a->usage, a->text);
    for (const struct argument *row = a->row; row; row = row == &help  ? NULL
                                                         : row[1].name ? row + 1
                                                                       : &help) {
        const char *value = row->value ? row->value : "";
        const char *gap = *value && *value != '[' ? " " : "";
        int width = printf("  --%s%s%s", row->name, gap, value);

        printf("%*s%s", 26 - width, "", row->text);
        if (row != &help && default_of(a, row) > 0)
            printf(" (%g)", default_of(a, row));
        putchar('\n');
    }
    puts("\nExit status: 0 done, 1 failed, 2 bad arguments.");
}

/* Before MPI_Init only the launcher's variables tell the ranks apart. */
static bool is_first(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) == 0;
    return true;
}

int arguments_start(const struct arguments *a, void *options, int argc, char **argv)
{
    struct err err;
    bool help = false;

    if (parse(a, options, &help, argc, argv, &err) < 0) {
        if (is_first())
            fprintf(stderr, "%s: %s\n", a->program, err.text);
        return ARGUMENTS_BAD;
    }
    if (help && is_first())
        print_help(a);
    return help ? 0 : ARGUMENTS_GO_ON;
}
