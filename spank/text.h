/* text.h - strings the plugin puts together for others: LD_PRELOAD, environments, notes.
 * Pure but for memory; a failed allocation leaves the thing without its last element, which is counted. */
#ifndef SYNCGUARD_SPANK_TEXT_H
#define SYNCGUARD_SPANK_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* list with path as its last entry (once), into out.  Last, not first: what the user preloads keeps its place
 * (a sanitizer's runtime insists on being first), and the probe sees the calls all the same, as it defines
 * the profiling names (PMPI_...) too that tools call.  False when it does not fit. */
bool preload_add(const char *list, const char *path, char *out, size_t size);
/* list without path, into out (large enough for list).  True when something was taken out. */
bool preload_remove(const char *list, const char *path, char *out, size_t size);

/* A NULL-terminated array of strings, for execve.  Zeroed is empty. */
#define STRINGS_MAX 64
struct strings {
    char *item[STRINGS_MAX + 1];
    size_t n, lost;
};
__attribute__((format(printf, 2, 3))) void strings_add(struct strings *s, const char *fmt, ...);
void strings_free(struct strings *s);

/* What could not be done here: one sentence a line. */
struct notes {
    char text[2048];
    size_t n;
};
__attribute__((format(printf, 2, 3))) void notes_add(struct notes *notes, const char *fmt, ...);

#endif
