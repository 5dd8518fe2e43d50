#include "spank/question.h"

#include <stddef.h>

#include "common/tool.h"

char *question_ask(const char *conf, const char *const *words)
{
    const char *argv[5 + QUESTION_WORDS_MAX + 1] = { "sgctl", "--conf", conf, "--timeout", "150ms" };

    for (size_t i = 0; words[i]; i++) {
        if (i == QUESTION_WORDS_MAX)
            return NULL;
        argv[5 + i] = words[i];
    }
    return tool_run(argv, QUESTION_LIMIT_S, QUESTION_ANSWER_BYTES, NULL);
}
