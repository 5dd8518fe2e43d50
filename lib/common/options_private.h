/* options_private.h - shared by the files of options only.  options_grammar.c reads the tables of a program,
 * options_parse.c parses by them, options_page.c prints them, options_complete.c does both; options.c is
 * above these. */
#ifndef SYNCGUARD_COMMON_OPTIONS_PRIVATE_H
#define SYNCGUARD_COMMON_OPTIONS_PRIVATE_H

#include <getopt.h>

#include "common/options.h"

#define OPTIONS_NAME_BYTES 48
#define OPTIONS_LONGS_MAX  256 /* options of all commands of a program */
#define OPTIONS_SEEN_MAX   128 /* on one command line */

/* ---- options_grammar.c ---- */

/* "COMMAND"; returns buf. */
const char *options_noun(const struct options_program *p, char *buf, size_t size);
/* `help`, which every program with commands has. */
extern const struct options_command options_help_command;
/* The i-th command of the program itself; NULL at the end. */
const struct options_command *options_own(const struct options_program *p, size_t i);
bool options_has_commands(const struct options_program *p);
/* The i-th command, `help` being the last one; NULL at the end. */
const struct options_command *options_command(const struct options_program *p, size_t i);
/* The word that selects c within a group: "set" of "policy set" in the group "policy"; in the group "" the
 * name of a command of one word.  NULL: c is not in the group. */
const char *options_word(const struct options_command *c, const char *group);
/* Is this its default: OPTION_REQUIRED or OPTION_REPEATED? */
bool options_marked(const struct option_use *use, const char *mark);

/* The operands of a command, one after the other: *at moves on.  false: there are no more. */
struct options_operand {
    char name[OPTIONS_NAME_BYTES];
    bool optional, repeated;
};
bool options_operand(const char **at, struct options_operand *operand);

/* ---- options_parse.c ---- */

/* A command line, word by word. */
struct options_scan {
    struct options *o;
    bool lenient; /* for completion: errors are skipped, nothing is required */
    struct {
        const struct option_spec *spec;
        const char *text; /* NULL for a flag */
    } seen[OPTIONS_SEEN_MAX];
    size_t n_seen;
    const struct option_spec *waiting; /* the last word is this option, and its value is missing */
    bool only_operands;                /* behind "--" */
    /* What getopt_long knows: the options of the command, or of all commands while there is none. */
    const struct option_spec *specs[OPTIONS_LONGS_MAX];
    struct option longs[OPTIONS_LONGS_MAX + 1];
    char letters[2 * OPTIONS_LONGS_MAX + 3];
    size_t n_specs;
};

/* Takes every valid option and skips the rest. */
void options_scan_lenient(struct options_scan *s, const struct options_program *p, int argc, char **argv);

#endif
