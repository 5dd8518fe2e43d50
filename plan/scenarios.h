/* scenarios.h - the scenarios that are installed, by name: NAME.conf in one directory. */
#ifndef SYNCGUARD_PLAN_SCENARIOS_H
#define SYNCGUARD_PLAN_SCENARIOS_H

#include <stdio.h>

#include "common/err.h"

/* The path of the scenario called so, in full or by a unique beginning.  -1: there is none, err says what is
 * near. */
int scenarios_find(const char *dir, const char *name, char *path, size_t size, struct err *err);
/* Their names, one a line. */
void scenarios_print(const char *dir, FILE *out);

#endif
