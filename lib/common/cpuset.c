#include "common/cpuset.h"

#include <stdlib.h>
#include <string.h>

static bool parse_cpu(const char **text, unsigned long *n)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    *n = strtoul(*text, &end, 10);
    *text = end;
    return true;
}

int cpuset_parse(struct cpuset *s, const char *text)
{
    unsigned long first, last;

    memset(s, 0, sizeof(*s));
    text += strspn(text, " \t");
    while (*text && *text != '\n') {
        if (!parse_cpu(&text, &first))
            goto bad;
        last = first;
        if (*text == '-' && (text++, !parse_cpu(&text, &last)))
            goto bad;
        if (last < first || last >= CPUSET_MAX || (*text && *text != ',' && *text != '\n'))
            goto bad;
        for (uint32_t cpu = (uint32_t)first; cpu <= last; cpu++) {
            s->n += !cpuset_has(s, cpu);
            s->word[cpu / 64] |= 1ull << cpu % 64;
        }
        text += *text == ',';
    }
    return 0;
bad:
    memset(s, 0, sizeof(*s));
    return -1;
}

void cpuset_or(struct cpuset *s, const struct cpuset *more)
{
    s->n = 0;
    for (size_t i = 0; i < CPUSET_MAX / 64; i++) {
        s->word[i] |= more->word[i];
        s->n += (uint32_t)__builtin_popcountll(s->word[i]);
    }
}

void cpuset_and(struct cpuset *s, const struct cpuset *of)
{
    s->n = 0;
    for (size_t i = 0; i < CPUSET_MAX / 64; i++) {
        s->word[i] &= of->word[i];
        s->n += (uint32_t)__builtin_popcountll(s->word[i]);
    }
}

bool cpuset_has(const struct cpuset *s, uint32_t cpu)
{
    return cpu < CPUSET_MAX && s->word[cpu / 64] >> cpu % 64 & 1;
}

bool cpuset_within(const struct cpuset *s, const struct cpuset *of)
{
    for (size_t i = 0; i < CPUSET_MAX / 64; i++)
        if (s->word[i] & ~of->word[i])
            return false;
    return true;
}

uint32_t cpuset_next(const struct cpuset *s, uint32_t from)
{
    for (uint32_t i = from / 64; i < CPUSET_MAX / 64; i++) {
        uint64_t rest = s->word[i] & (i == from / 64 ? ~0ull << from % 64 : ~0ull);

        if (rest)
            return i * 64 + (uint32_t)__builtin_ctzll(rest);
    }
    return CPUSET_MAX;
}
