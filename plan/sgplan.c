/* sgplan - predict what a synchronised job will do, and compare what could be done.  Each question is a file
 * of its own, questions.c lists them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plan/answer.h"
#include "plan/question.h"

#define COLUMNS 100 /* of paragraphs, where there is no terminal */

static int complain(int code, const struct err *err)
{
    fprintf(stderr, "sgplan: %s\n", err->text);
    return code;
}

static int terminal_columns(void)
{
    struct winsize w;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col < 40)
        return COLUMNS;
    return w.ws_col < COLUMNS ? w.ws_col : COLUMNS;
}

static int run(const struct asked *a)
{
    struct answer *answer = answer_new();
    struct err err;
    int rc = a->question->run(a, answer, &err);

    if (rc != QUESTION_DONE)
        complain(rc, &err);
    else if (answer_empty(answer))
        ; /* it has printed by itself */
    else if (a->json)
        answer_print_json(answer, stdout);
    else
        answer_print(answer, stdout, terminal_columns());
    answer_free(answer);
    return rc;
}

static int say_how(const struct asked *a)
{
    const struct question *q = a->n_operands ? question_find(a->operands[0]) : NULL;
    struct err err;

    if (asked_given(a, "mdoc")) {
        question_mdoc(stdout);
        return QUESTION_DONE;
    }
    if (a->n_operands && !q) {
        err_set(&err, "'%s' is no question; `sgplan help` lists them", a->operands[0]);
        return complain(QUESTION_WRONG, &err);
    }
    (asked_given(a, "words") ? question_words : question_help)(stdout, q);
    return QUESTION_DONE;
}

int main(int argc, char **argv)
{
    struct asked a;
    struct err err;
    int rc = QUESTION_DONE;

    if (question_parse(&a, argc, argv, &err) < 0)
        return complain(QUESTION_WRONG, &err);
    if (a.version)
        puts("sgplan " PACKAGE_VERSION);
    else if (a.help)
        question_help(stdout, a.question);
    else
        rc = a.question->run ? run(&a) : say_how(&a);
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == QUESTION_DONE) {
        err_set(&err, "cannot write: %s", strerror(errno));
        rc = complain(QUESTION_FAILED, &err);
    }
    return rc;
}
