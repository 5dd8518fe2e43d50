/* path.h - the candidates for a program in a list of folders such as PATH.
 *
 * Never aborts, never prints and never allocates: the plugin uses it. */
#ifndef SYNCGUARD_COMMON_PATH_H
#define SYNCGUARD_COMMON_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The next FOLDER/name of a list of folders with colons between.  Empty folders, and paths that are too long
 * for file, are skipped.  *list, which may be NULL, advances past the folder.  False: none is left.
 *
 *     for (const char *at = getenv("PATH"); path_next(&at, "scontrol", file, sizeof(file));) */
bool path_next(const char **list, const char *name, char *file, size_t size);

#endif
