/* scenarios.h - finds installed scenarios by name: NAME.conf in one directory. */
#ifndef SYNCGUARD_PLAN_SCENARIOS_H
#define SYNCGUARD_PLAN_SCENARIOS_H

#include <stdio.h>

#include "common/err.h"

/* Write the path of the scenario with this name or unique prefix.  -1: none or several; err lists or suggests
 * names. */
int scenarios_find(const char *dir, const char *name, char *path, size_t size, struct err *err);
/* Print the names, one per line. */
void scenarios_print(const char *dir, FILE *out);

#endif
