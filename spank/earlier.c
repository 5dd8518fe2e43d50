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

static bool take_pattern(void *earlier, const char *text)
{
    struct earlier *e = earlier;

    e->patterned = pattern_parse(&e->pattern, text, NULL) == 0;
    return e->patterned;
}

static bool take_count(void *count, const char *text)
{
    static const struct value_type type = VALUE_RANGE(VALUE_INTEGER, 0, EARLIER_STARTS_MAX);
    double n;

    if (value_parse(&type, text, &n, NULL) < 0)
        return false;
    *(uint32_t *)count = (uint32_t)n;
    return true;
}

static bool take_last(void *held_out, const char *text)
{
    *(bool *)held_out = !strcmp(text, "held_out");
    return *(bool *)held_out || !strcmp(text, "placed");
}

static bool take_library(void *earlier, const char *text)
{
    struct earlier *e = earlier;
    size_t length = strlen(text);

    if (!length || length >= sizeof(e->library))
        return false;
    memcpy(e->library, text, length + 1);
    return true;
}

static bool take_step(void *step_s, const char *text)
{
    static const struct value_type type = VALUE_RANGE(VALUE_NUMBER, 1e-9, 1e9);

    return value_parse(&type, text, step_s, NULL) == 0;
}

/* "65536 3 0.0012 0.0013 0.02" */
static bool take_size(void *earlier, const char *text)
{
    struct earlier *e = earlier;
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

static const struct {
    const char *name;
    bool (*take)(void *at, const char *value);
    size_t at; /* in struct earlier */
    bool repeats;
} lines[] = {
    { "pattern", take_pattern, 0, false },
    { "placed", take_count, offsetof(struct earlier, order.placed), false },
    { "held_out", take_count, offsetof(struct earlier, order.held_out), false },
    { "last", take_last, offsetof(struct earlier, order.held_out_last), false },
    { "algorithm_placed", take_count, offsetof(struct earlier, algorithm.placed), false },
    { "algorithm_held_out", take_count, offsetof(struct earlier, algorithm.held_out), false },
    { "algorithm_last", take_last, offsetof(struct earlier, algorithm.held_out_last), false },
    { "library", take_library, 0, false },
    { "step", take_step, offsetof(struct earlier, step_s), false },
    { "allreduce", take_size, 0, true },
};
enum { LINES = sizeof(lines) / sizeof(lines[0]) };

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
                const char *value = value_of(line, lines[i].name);

                if (value && (found[i] || !lines[i].take((char *)&read + lines[i].at, value)))
                    return false;
                found[i] = found[i] || (value && !lines[i].repeats);
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
