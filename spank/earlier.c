#include "spank/earlier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/value.h"
#include "spank/question.h"

/* The value of a line of this name; NULL: it is another one. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);

    return !strncmp(line, name, length) && line[length] == ' ' ? line + length + 1 : NULL;
}

static bool take_count(uint32_t *count, const char *text)
{
    static const struct value_type type = VALUE_RANGE(VALUE_INTEGER, 0, EARLIER_STARTS_MAX);
    double n;

    if (value_parse(&type, text, &n, NULL) < 0)
        return false;
    *count = (uint32_t)n;
    return true;
}

static bool take_last(struct earlier_turns *t, const char *text)
{
    t->held_out_last = !strcmp(text, "held_out");
    return t->held_out_last || !strcmp(text, "placed");
}

static bool take_library(struct earlier *e, const char *text)
{
    size_t length = strlen(text);

    if (!length || length >= sizeof(e->library))
        return false;
    memcpy(e->library, text, length + 1);
    return true;
}

static bool take_step(struct earlier *e, const char *text)
{
    static const struct value_type type = VALUE_RANGE(VALUE_NUMBER, 1e-9, 1e9);

    return value_parse(&type, text, &e->step_s, NULL) == 0;
}

/* "65536 3 0.0012 0.0013 0.02" */
static bool take_size(struct earlier *e, const char *text)
{
    struct algorithm_size s;
    int end = -1;

    if (e->n == ALGORITHM_SIZES ||
        sscanf(text, "%lf %lf %lf %lf %lf%n", &s.bytes, &s.per_step, &s.time_s, &s.stay_s, &s.time_error,
               &end) != 5 ||
        text[end])
        return false;
    if (!(s.bytes > 0 && s.bytes < 1e15) || !(s.per_step > 0 && s.per_step < 1e9) ||
        !(s.time_s > 0 && s.time_s < 1e9) || !(s.stay_s >= s.time_s && s.stay_s < 1e9) ||
        !(s.time_error >= 0 && s.time_error < 1e3))
        return false;
    e->size[e->n++] = s;
    return true;
}

enum line {
    PATTERN,
    PLACED,
    HELD_OUT,
    LAST,
    ALGORITHM_PLACED,
    ALGORITHM_HELD_OUT,
    ALGORITHM_LAST,
    LIBRARY,
    STEP,
    ALLREDUCE,
    LINES
};
static const char *const names[LINES] = { [PATTERN] = "pattern",
                                          [PLACED] = "placed",
                                          [HELD_OUT] = "held_out",
                                          [LAST] = "last",
                                          [ALGORITHM_PLACED] = "algorithm_placed",
                                          [ALGORITHM_HELD_OUT] = "algorithm_held_out",
                                          [ALGORITHM_LAST] = "algorithm_last",
                                          [LIBRARY] = "library",
                                          [STEP] = "step",
                                          [ALLREDUCE] = "allreduce" };

static bool take_line(struct earlier *e, enum line what, const char *value)
{
    switch (what) {
    case PATTERN:
        e->patterned = pattern_parse(&e->pattern, value, NULL) == 0;
        return e->patterned;
    case PLACED:
        return take_count(&e->order.placed, value);
    case HELD_OUT:
        return take_count(&e->order.held_out, value);
    case LAST:
        return take_last(&e->order, value);
    case ALGORITHM_PLACED:
        return take_count(&e->algorithm.placed, value);
    case ALGORITHM_HELD_OUT:
        return take_count(&e->algorithm.held_out, value);
    case ALGORITHM_LAST:
        return take_last(&e->algorithm, value);
    case LIBRARY:
        return take_library(e, value);
    case STEP:
        return take_step(e, value);
    case ALLREDUCE:
        return take_size(e, value);
    case LINES:
        break;
    }
    return false;
}

bool earlier_parse(const char *answer, struct earlier *e)
{
    struct earlier read = *e;
    bool found[LINES] = { false };
    char line[128];

    while (*answer) {
        size_t length = strcspn(answer, "\n");

        if (length < sizeof(line)) {
            memcpy(line, answer, length);
            line[length] = '\0';
            for (size_t i = 0; i < LINES; i++) {
                const char *value = value_of(line, names[i]);

                if (value && (found[i] || !take_line(&read, (enum line)i, value)))
                    return false;
                found[i] = found[i] || (value && i != ALLREDUCE);
            }
        }
        answer += length + (answer[length] == '\n');
    }
    *e = read;
    return true;
}

bool earlier_ask(const char *conf, double limit_s, const char *name, uint32_t ranks, uint32_t nodes,
                 struct earlier *e)
{
    char job[160], n_ranks[24], n_nodes[24];
    const char *const words[] = { "earlier", job, n_ranks, n_nodes, NULL };
    struct earlier read = *e;
    bool found;
    char *answer;

    if ((size_t)snprintf(job, sizeof(job), "--name=%s", name) >= sizeof(job))
        return false;
    snprintf(n_ranks, sizeof(n_ranks), "--ranks=%u", ranks);
    snprintf(n_nodes, sizeof(n_nodes), "--nodes=%u", nodes);
    answer = question_ask(conf, limit_s, words);
    found = answer && earlier_parse(answer, &read);
    free(answer);
    if (!found)
        return false;
    read.patterned = read.patterned && pattern_check(&read.pattern, ranks, NULL) == 0;
    *e = read;
    return true;
}

bool earlier_holds_out(const struct earlier_turns *e, uint64_t key, uint32_t every)
{
    uint32_t done = e->placed + e->held_out, round = every ? done / every : 0;

    if (!every)
        return false;
    if (e->held_out != round) /* starts at the same time took the same turn, or `every` was another */
        return e->held_out < round && !e->held_out_last;
    return done % every >= hash_mix(key + round) % every;
}
