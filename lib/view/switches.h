/* switches.h - which switch is above which, as Slurm names them.
 *
 * The names come from outside: at most SWITCHES_MAX are kept, and where they contradict each other, even in a
 * circle, the newest is right. */
#ifndef SYNCGUARD_VIEW_SWITCHES_H
#define SYNCGUARD_VIEW_SWITCHES_H

#include <stddef.h>

#define SWITCHES_MAX    1024u
#define SWITCHES_NAME   63u /* characters of a name */
#define SWITCHES_LEVELS 8u
#define SWITCHES_PATH   (SWITCHES_LEVELS * (SWITCHES_NAME + 1))

struct switches;

struct switches *switches_new(void);
void switches_free(struct switches *s); /* NULL is fine */

/* "core.spine0.leaf1", from the root down, or with a space behind each name where names have dots:
 * "core spine.0 leaf.1".  What follows a name that is empty or too long is ignored. */
void switches_add(struct switches *s, const char *path);

/* The switches from the root down to this one, a line each: "core\nspine0\nleaf1". Only the name where
 * nothing is known above it. Returns buf. */
char *switches_path(const struct switches *s, const char *name, char buf[SWITCHES_PATH]);

#endif
