/* options.h - the command line of a program: one table for parsing, --help, the manual page and completion.
 *
 * A program has commands with options, operands and a text each (one command without a name where it has no
 * others), and options that all commands take.  getopt_long(3) reads them: options may stand anywhere (but
 * behind the name of a program to run), "--" ends them, and unique prefixes of long options and commands are
 * accepted.  Numbers are checked against their range and are SI once they are parsed: seconds, bytes, bytes
 * per second, plain ratios.
 *
 * Text is borrowed from argv.  One parse at a time: getopt keeps its place in globals. */
#ifndef SYNCGUARD_COMMON_OPTIONS_H
#define SYNCGUARD_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"
#include "common/value.h"

struct option_spec {
    const char *name,
        *value; /* value: its name in help, NULL for a flag; by it completion knows FILE, JOB, ... */
    struct value_type type;
    const char *text; /* begins in lower case, no full stop at its end */
};

#define OPTION_REQUIRED "!" /* as `otherwise`: the option must be given */
/* as `otherwise`: the option may be given several times; its type is VALUE_ANY */
#define OPTION_REPEATED   "*"
#define OPTIONS_MAX       64 /* per command, common options included */
#define OPTIONS_TEXTS_MAX 8  /* values of one repeated option */

/* An option as one command takes it. */
struct option_use {
    const struct option_spec *option;
    const char *otherwise; /* default, as it would be typed; NULL: unknown (NaN, NULL) */
};

struct options_command {
    const char *name;     /* "job", "policy set"; "": the program has no commands */
    const char *operands; /* "JOB ACTION [VALUE...]"; "": none; NULL: all words belong to another program */
    const char *text;     /* one line; begins in lower case, no full stop */
    const char *more;     /* paragraphs of whole sentences, or NULL */
    const struct option_use *uses; /* ends with { NULL, NULL }; NULL: none */
    const char *words; /* for completion: "ACTION requeue signal"; the program's name if operands is NULL */
    int id;            /* the program's own */
};

struct options;

struct options_program {
    const char *name, *text;
    const char *noun;                   /* what commands are called: "command", "question" */
    const struct options_command *only; /* of a program without commands, the one that has no name; or NULL */
    const struct options_command *(*command)(size_t i); /* the i-th, in the order of help; NULL: no more */
    const struct option_use *common;                    /* of all commands; --help and --version are added */
    const char *examples[2];
    void (*help_more)(FILE *out); /* prints further parts of --help; or NULL */
    const char *help_end;         /* its last paragraph, or NULL */
    /* the operands are another program and its arguments, with what looks like options */
    bool runs_program;
    bool once; /* giving an option twice is an error; otherwise the last one counts */
    /* For completion: print the words that an operand or value of this name can be, one a line, "WORD" or
     * "WORD\tTEXT", or "@files" as of options_complete().  So far only the options of o have been read. NULL:
     * none are known. */
    void (*complete)(const struct options *o, const char *name, FILE *out);
};

/* A parsed command line. */
struct options {
    const struct options_program *program;
    const struct options_command *command; /* NULL: --help or --version for all of the program */
    double number[OPTIONS_MAX];
    const char *text[OPTIONS_MAX]; /* as written, a word as in its table, or the default; NULL: neither */
    bool given[OPTIONS_MAX];
    struct {
        size_t use;
        const char *text;
    } again[OPTIONS_TEXTS_MAX - 1]; /* the second and further texts of repeated options */
    size_t n_again;
    bool help, version;
    char *const *operands;
    int n_operands;
};

/* The short form of an option, from one table for all programs ("-f" is --conf everywhere).  '\0': none. */
char option_letter(const struct options_program *p, const struct option_spec *o);

/* Options that several programs have. */
extern const struct option_spec option_conf, option_controller, option_munge_socket, option_json;
extern const struct option_spec option_help, option_version;

/* 0, or -1 with the reason.  Reorders argv so that the operands are contiguous. */
int options_parse(struct options *o, const struct options_program *p, int argc, char **argv, struct err *err);
/* For main(): parses, and prints --help, --version, the output for completion and manual page, or the error.
 * Returns -1 to continue, otherwise the exit status. */
int options_start(struct options *o, const struct options_program *p, int argc, char **argv);
/* Print the error in the command line and how to get help; returns the exit status 2. */
int options_misuse(const struct options *o, const struct err *err);
/* "Try 'sgctl help job' for more information." */
void options_hint(const struct options *o, char *buf, size_t size);

/* The value of an option of the command or program; any other name is a bug and aborts. */
double options_number(const struct options *o, const char *option);    /* NaN: not given, and no default */
const char *options_text(const struct options *o, const char *option); /* NULL: the same */
/* The i-th of a repeated option, from 0; NULL: there are no more. */
const char *options_texts(const struct options *o, const char *option, size_t i);
bool options_given(const struct options *o, const char *option); /* on the command line */
bool options_is(const struct options *o, const char *option, const char *word);
/* The option's value as an integer, or `otherwise` if it is unknown. */
int options_int(const struct options *o, const char *option, int otherwise);

/* The option that the i-th value belongs to: first those of the command, then those of the program; NULL at
 * the end. */
const struct option_use *options_use(const struct options_program *p, const struct options_command *c,
                                     size_t i);

/* Find a command by its name or a unique prefix.  NULL: unknown; err (or NULL) names similar commands. */
const struct options_command *options_find(const struct options_program *p, const char *name,
                                           struct err *err);

/* Parse one value of one option; 0, or -1 with the accepted values. */
int options_value(const struct option_spec *o, const char *text, double *number, struct err *err);

/* c NULL: all commands. */
void options_help(FILE *out, const struct options_program *p, const struct options_command *c);
/* The manual page's sections COMMANDS (or QUESTIONS) and OPTIONS, mdoc(7). */
void options_mdoc(FILE *out, const struct options_program *p);
/* Candidates to complete the last of words, one per line: "WORD\tTEXT".  "@files" and "@hosts" ask the shell
 * to complete these, "@program NAME N" asks that program to complete the last N words.  words[0] is the
 * program. */
void options_complete(FILE *out, const struct options_program *p, int n, char **words);

#endif
