#include "common/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64 /* no key, option or name that is offered is longer */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Optimal string alignment (Damerau 1964 without substrings edited twice), three rows of the table. */
static size_t errors_between(const char *a, const char *b)
{
    size_t rows[3][LENGTH_MAX + 1], na = strlen(a), nb = strlen(b);
    size_t *older = rows[0], *old = rows[1], *now = rows[2];

    for (size_t j = 0; j <= nb; j++)
        old[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *spare = older;

        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least(least(old[j] + 1, now[j - 1] + 1), old[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = least(now[j], older[j - 2] + 1);
        }
        older = old;
        old = now;
        now = spare;
    }
    return old[nb];
}

struct suggestion suggest_for(const char *word)
{
    return (struct suggestion){ .word = word, .errors = 2 + strlen(word) / 3 };
}

void suggest_offer(struct suggestion *s, const char *candidate)
{
    size_t errors;

    if (!*s->word || strlen(s->word) > LENGTH_MAX || strlen(candidate) > LENGTH_MAX)
        return;
    errors = errors_between(s->word, candidate);
    /* A word of which nothing is left is another word. */
    if (errors < s->errors && errors < strlen(s->word)) {
        s->errors = errors;
        s->best = candidate;
    }
}

const char *suggest_text(const struct suggestion *s, char *buf, size_t size)
{
    if (s->best)
        snprintf(buf, size, ". Did you mean '%s'?", s->best);
    else
        *buf = '\0';
    return buf;
}
