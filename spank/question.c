#include "spank/question.h"

#include <stdio.h>

#include "common/tool.h"

/* Of the time, what sgctl itself may take: its start and its end take some too. */
#define SHARE_OF_ANSWER 0.75

char *question_ask(const char *conf, double limit_s, const char *const *words)
{
    char timeout[24];
    const char *argv[5 + QUESTION_WORDS_MAX + 1] = { "sgctl", "--conf", conf, "--timeout", timeout };

    snprintf(timeout, sizeof(timeout), "%.0fms", SHARE_OF_ANSWER * limit_s * 1e3);
    for (size_t i = 0; words[i]; i++) {
        if (i == QUESTION_WORDS_MAX)
            return NULL;
        argv[5 + i] = words[i];
    }
    return tool_run(argv, limit_s, QUESTION_ANSWER_BYTES, NULL);
}
