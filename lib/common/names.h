/* names.h - a set of names, numbered 0, 1, 2 ... in the order in which they came. */
#ifndef SYNCGUARD_COMMON_NAMES_H
#define SYNCGUARD_COMMON_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names;

struct names *names_new(void);
void names_free(struct names *n); /* NULL is fine */

/* The number of text, which is added when it is new. */
uint32_t names_add(struct names *n, const char *text, size_t bytes);
uint32_t names_find(const struct names *n, const char *text, size_t bytes); /* NAMES_NONE: not there */
uint32_t names_count(const struct names *n);
const char *names_text(const struct names *n, uint32_t number); /* lent */

#endif
