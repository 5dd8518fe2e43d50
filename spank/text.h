/* text.h - strings that the plugin composes: LD_PRELOAD, environments, notes.
 * Pure except for memory.  A string that cannot be allocated is left out and counted. */
#ifndef SYNCGUARD_SPANK_TEXT_H
#define SYNCGUARD_SPANK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Write list with path as its last entry, once, into out.  Last, because a sanitizer's runtime that the user
 * preloads must stay first.  The probe sees the calls of tools before it all the same, because it also defines
 * the profiling names (PMPI_...) that they call.  False when the result does not fit, or path contains a
 * separator. */
bool preload_add(const char *list, const char *path, char *out, size_t size);
/* Write list without path into out, which must be as large as list.  True when path was in the list. */
bool preload_remove(const char *list, const char *path, char *out, size_t size);

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
