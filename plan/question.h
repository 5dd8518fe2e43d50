/* question.h - what sgplan can be asked: a question is one subcommand with its options.
 *
 * Each question is a table of its own (plan/NAME.c: `const struct question question_NAME`), and
 * plan/questions.c lists them.  Parsing, --help, completion and the manual page come from these tables.
 * Everything an option says is SI once it is parsed: seconds, bytes, bytes per second, plain ratios. */
#ifndef SYNCGUARD_PLAN_QUESTION_H
#define SYNCGUARD_PLAN_QUESTION_H

#include <float.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

struct answer;

/* What a run returns, and sgplan's exit code. */
enum question_result { QUESTION_DONE = 0, QUESTION_FAILED = 1, QUESTION_WRONG = 2 };

enum question_kind {
    QUESTION_FLAG,
    QUESTION_WORD,    /* one of choices */
    QUESTION_TEXT,    /* anything: the question reads it */
    QUESTION_TEXTS,   /* the same, and it may be given several times */
    QUESTION_COUNT,   /* a whole number: 64, 175e9, 7B */
    QUESTION_NUMBER,  /* 0.08, 1e-3 */
    QUESTION_RATIO,   /* 0.05, 5% */
    QUESTION_SECONDS, /* 10us, 2h */
    QUESTION_BYTES,   /* 700MB, 2MiB */
    QUESTION_RATE,    /* 25GB/s, 400Gbit/s */
};

#define QUESTION_POSITIVE DBL_MIN /* as min: more than zero */

struct question_option {
    const char *name, *value; /* value: its name in help, NULL for a flag */
    enum question_kind kind;
    double min, max;     /* of numbers */
    const char *choices; /* of a word: "ring tree" */
    const char *text;
};

#define QUESTION_REQUIRED    "!" /* as otherwise: the question makes no sense without */
#define QUESTION_OPTIONS_MAX 48
#define QUESTION_TEXTS_MAX   8 /* that one option may have */

/* An option as one question takes it. */
struct question_use {
    const struct question_option *option;
    const char *otherwise; /* when not given: as a person would write it; NULL: unknown (NaN, NULL) */
};

struct asked;

struct question {
    const char *name, *operands; /* operands: their names, "" for none */
    const char *text, *more;
    const struct question_use *uses; /* ends with { NULL } */
    int min, max;                    /* operands; max -1: any number */
    /* Fill in the answer, or say why not.  Where it prints by itself (a trace, a plot), the answer stays
     * empty. */
    enum question_result (*run)(const struct asked *a, struct answer *answer, struct err *err);
};

/* What a command line says.  Text is borrowed from argv. */
struct asked {
    const struct question *question; /* NULL: help for all */
    double number[QUESTION_OPTIONS_MAX];
    const char *text[QUESTION_OPTIONS_MAX]; /* as written, or the default; NULL: neither */
    bool given[QUESTION_OPTIONS_MAX];
    struct {
        size_t use;
        const char *text;
    } again[QUESTION_TEXTS_MAX - 1]; /* what stands behind the first text of an option */
    size_t n_again;
    bool json, help, version;
    char *const *operands;
    int n_operands;
};

/* An option that the question does not list is a mistake in the program and aborts. */
double asked_number(const struct asked *a, const char *option);    /* NaN: not given, and no default */
const char *asked_text(const struct asked *a, const char *option); /* NULL: the same */
/* The i-th of a QUESTION_TEXTS, from 0; NULL: there are no more. */
const char *asked_texts(const struct asked *a, const char *option, size_t i);
bool asked_given(const struct asked *a, const char *option); /* on the command line */
bool asked_is(const struct asked *a, const char *option, const char *word);

/* The whole number that the option says, or otherwise where it is not known. */
int asked_int(const struct asked *a, const char *option, int otherwise);

/* All questions, in the order of help; ends with NULL. */
extern const struct question *const questions[];
const struct question *question_find(const char *name); /* NULL: none */

/* 0, or -1 with what is accepted.  Moves the operands of argv together. */
int question_parse(struct asked *a, int argc, char **argv, struct err *err);

/* One value of one option, checked against its kind and range; 0 or -1 with what is accepted. */
int question_value(const struct question_option *o, const char *text, double *number, struct err *err);

void question_help(FILE *out, const struct question *q); /* NULL: all of them */
/* For completion: NULL: the questions; otherwise the words that can follow.  An option with a value ends in
 * '=', words to choose from follow as --option=word; FILE stands for a file name. */
void question_words(FILE *out, const struct question *q);
void question_mdoc(FILE *out); /* the manual page's sections COMMANDS and OPTIONS */

#endif
