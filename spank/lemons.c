#include "spank/lemons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hostlist.h"
#include "spank/question.h"

#define NAMES_MAX 256u
#define LETTERS   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._"

struct taking {
    const char *nodes;
    char *list;
    size_t n, used;
};

static int add_node(void *arg, const char *name, struct err *err)
{
    struct taking *t = arg;
    size_t length = strlen(name);

    if (!length || name[strspn(name, LETTERS)])
        return err_set(err, "no name of a node");
    if (t->n == LEMONS_MAX || t->used + length + 2 > LEMONS_SIZE ||
        (t->nodes && !hostlist_has(t->nodes, name)))
        return 0;
    t->used += (size_t)snprintf(t->list + t->used, LEMONS_SIZE - t->used, "%s%s", t->n ? "," : "", name);
    t->n++;
    return 0;
}

size_t lemons_parse(const char *answer, const char *nodes, char list[LEMONS_SIZE])
{
    struct taking t = { nodes, list, 0, 0 };
    size_t length = strcspn(answer, "\n");
    char line[QUESTION_ANSWER_BYTES];

    *list = '\0';
    if (!length || length >= sizeof(line) || (answer[length] && answer[length + 1]))
        return 0;
    memcpy(line, answer, length);
    line[length] = '\0';
    if (hostlist_each(line, NAMES_MAX, add_node, &t, NULL) == 0)
        return t.n;
    *list = '\0';
    return 0;
}

size_t lemons_ask(const char *conf, double limit_s, const char *nodes, char list[LEMONS_SIZE])
{
    const char *const words[] = { "lemons", NULL };
    char *answer = question_ask(conf, limit_s, words);
    size_t n = answer ? lemons_parse(answer, nodes, list) : 0;

    free(answer);
    return n;
}
