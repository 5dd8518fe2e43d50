/* text.h - strings that the plugin composes: environments, notes.
 * Pure except for memory.  A string that cannot be allocated is left out and counted. */
#ifndef SYNCGUARD_SPANK_TEXT_H
#define SYNCGUARD_SPANK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A NULL-terminated array of strings for execve.  All zero is an empty array. */
#define STRINGS_MAX 64
struct strings {
    char *item[STRINGS_MAX + 1];
    size_t n, lost; /* strings held; strings left out */
};
__attribute__((format(printf, 2, 3))) void strings_add(struct strings *s, const char *fmt, ...);
void strings_free(struct strings *s);

/* Reasons for which a step is not guarded, one sentence per line. */
struct notes {
    char text[2048];
    size_t n;
};
__attribute__((format(printf, 2, 3))) void notes_add(struct notes *notes, const char *fmt, ...);

#endif
