/* usage.h - sgctl's commands and options: one table for parsing, help, completion and the manual page.
 * Parsing knows words, not what they do: sgctl.c does that. */
#ifndef SYNCGUARD_CTL_USAGE_H
#define SYNCGUARD_CTL_USAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

enum usage_command {
    USAGE_STATUS,
    USAGE_JOBS,
    USAGE_JOB,
    USAGE_NODES,
    USAGE_ACTION,
    USAGE_NODE,
    USAGE_ACTIONS,
    USAGE_RECORD,
    USAGE_ANALYZE,
    USAGE_REPLAY,
    USAGE_TOP,
    USAGE_CONFIG,
    USAGE_POLICY,
    USAGE_AUDIT,
    USAGE_DOCTOR,
    USAGE_HELP,
    USAGE_COMMANDS,
};

/* What a command line says. Text is borrowed from argv, NULL when not given. */
struct usage {
    enum usage_command command;
    const char *conf, *controller, *munge_socket, *output, *speed, *from;
    double timeout_s, seconds; /* seconds: NaN when not given */
    bool dry_run, yes;
    bool json, finished, fail, help, version, words, mdoc;
    char *const *operands; /* what is neither command nor option; of `top`: everything behind it, untouched */
    int n_operands;
};

/* 0, or -1 with what is accepted.  Moves the operands of argv together. */
int usage_parse(struct usage *u, int argc, char **argv, struct err *err);

const char *usage_command_name(enum usage_command command);
/* USAGE_COMMANDS when there is none of that name. */
enum usage_command usage_command_find(const char *name);

/* USAGE_COMMANDS: all of them. */
void usage_help(FILE *out, enum usage_command command);
/* For completion: USAGE_COMMANDS: the commands; otherwise the words that can follow this one.  An option with
 * a value ends in '='; JOB and FILE stand for a job's id and a file name. */
void usage_words(FILE *out, enum usage_command command);
/* The sections COMMANDS and OPTIONS of the manual page, mdoc(7). */
void usage_mdoc(FILE *out);

#endif
