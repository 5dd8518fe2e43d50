/* preload.h - environment variables of a program that is started with a library before its own.
 * Pure: no memory, nothing that exits. */
#ifndef SYNCGUARD_COMMON_PRELOAD_H
#define SYNCGUARD_COMMON_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* Variable with the path that the plugin added to a task's LD_PRELOAD: a step inside that one takes it out by
 * this, and agent and doctor know from it what the task was to load. */
#define PRELOAD_ENV_ADDED "SYNCGUARD_PRELOADED"

/* Write list (of LD_PRELOAD) with path as its last entry, once, into out.  Last, because a sanitizer's
 * runtime that the user preloads must stay first.  The probe sees the calls of tools before it all the same,
 * because it also defines the profiling names (PMPI_...) that they call.  False when the result does not fit,
 * or path contains a separator. */
bool preload_add(const char *list, const char *path, char *out, size_t size);
/* Write list without path into out, which must be as large as list.  True when path was in the list. */
bool preload_remove(const char *list, const char *path, char *out, size_t size);

/* A program whose address sanitizer is a shared library (gcc's default) exits at once when another library is
 * loaded before that one, unless verify_asan_link_order=0 is among its options.  Write options (of
 * ASAN_OPTIONS) with it into out.  False when options have it already, with any value, or the result does not
 * fit. */
bool preload_allow(const char *options, char *out, size_t size);

#endif
