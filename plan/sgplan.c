/* sgplan - predicts the performance of synchronised jobs and compares ways to improve it.  Each question is a
 * file; questions.c lists them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plan/answer.h"
#include "plan/question.h"

/* Exit status. */
static int answer_question(const struct options *o)
{
    struct answer *answer = answer_new();
    struct winsize w;
    struct err err;
    int rc = question_asked(o)->run(o, answer, &err);

    if (rc < 0)
        rc = options_misuse(o, &err);
    else if (rc > 0)
        fprintf(stderr, "sgplan: %s\n", err.text);
    else if (answer_empty(answer))
        ; /* the question has printed its output itself */
    else if (options_given(o, "json"))
        answer_print_json(answer, stdout);
    else
        answer_print(answer, stdout, ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 ? 0 : w.ws_col);
    answer_free(answer);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o;
    int rc = options_start(&o, &sgplan_program, argc, argv);

    if (rc < 0)
        rc = answer_question(&o);
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == 0) {
        fprintf(stderr, "sgplan: cannot write: %s\n", strerror(errno));
        rc = 1;
    }
    return rc;
}
