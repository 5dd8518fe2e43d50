/* arguments.h - a workload's command line: one table for parsing and for --help.
 * Every workload has --help besides.  Values are stored in the caller's struct of options. */
#ifndef SYNCGUARD_WORKLOADS_ARGUMENTS_H
#define SYNCGUARD_WORKLOADS_ARGUMENTS_H

#include <stddef.h>

#include "common/err.h"

/* The files and folders of one option, as in argv. */
struct paths {
    char **path;
    size_t n;
};

enum argument_kind {
    ARGUMENT_INT,   /* int */
    ARGUMENT_WIDE,  /* int64_t */
    ARGUMENT_REAL,  /* double */
    ARGUMENT_FLAG,  /* bool */
    ARGUMENT_PATH,  /* const char *, in argv */
    ARGUMENT_PATHS, /* struct paths; words that belong to no option are added to it */
    ARGUMENT_OWN,   /* whatever `own` makes of it */
};

struct argument {
    const char *name, *value, *text; /* value: its name in help, NULL for a flag, "[=N]" may be left out */
    enum argument_kind kind;
    size_t offset; /* of the field */
    double least, most;
    double bare; /* the number if an optional value is left out */
    int (*own)(void *options, const char *value, struct err *err);
};

struct arguments {
    const char *program, *usage, *text; /* text: paragraphs of --help */
    const struct argument *row;         /* ends with a row without a name */
    const void *defaults;               /* as long as the struct of options */
    size_t size;
    int (*check)(void *options, struct err *err); /* of several options together; or NULL */
};

enum { ARGUMENTS_GO_ON = -1, ARGUMENTS_BAD = 2 };

/* For main(), before MPI_Init: reads argv and changes its order.  Returns ARGUMENTS_GO_ON, or the exit status
 * after
 * --help or a line that names the bad option and what it accepts; one rank of a job prints them. */
int arguments_start(const struct arguments *a, void *options, int argc, char **argv);

#endif
