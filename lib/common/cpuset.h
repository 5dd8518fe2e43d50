/* cpuset.h - a set of a node's CPUs, parsed from the kernel's lists ("0-3,8"). */
#ifndef SYNCGUARD_COMMON_CPUSET_H
#define SYNCGUARD_COMMON_CPUSET_H

#include <stdbool.h>
#include <stdint.h>

#define CPUSET_MAX 2048u /* CPUs from this number on do not fit */

struct cpuset {
    uint64_t word[CPUSET_MAX / 64];
    uint32_t n; /* number of CPUs in the set */
};

/* Parse a list up to the end of its line.  0, or -1 with an empty set when the text is not a list, or names a
 * CPU that does not fit. */
int cpuset_parse(struct cpuset *s, const char *text);
void cpuset_or(struct cpuset *s, const struct cpuset *more); /* s becomes the union */
void cpuset_and(struct cpuset *s, const struct cpuset *of);  /* ... the intersection */
bool cpuset_has(const struct cpuset *s, uint32_t cpu);
bool cpuset_within(const struct cpuset *s, const struct cpuset *of); /* every CPU of s is in of */
uint32_t cpuset_next(const struct cpuset *s, uint32_t from);         /* first CPU >= from; CPUSET_MAX: none */

#endif
