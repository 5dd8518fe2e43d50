/* cpuset.h - a set of a node's CPUs, as the kernel lists them ("0-3,8"). */
#ifndef SYNCGUARD_AGENT_CPUSET_H
#define SYNCGUARD_AGENT_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPUSET_MAX 2048u /* CPUs above are left out */

struct cpuset {
    uint64_t word[CPUSET_MAX / 64];
    uint32_t n; /* CPUs in it */
};

/* Reads a list up to the end of its line.  -1: not a list; the set is then empty. */
int cpuset_parse(struct cpuset *s, const char *text);
void cpuset_add(struct cpuset *s, const struct cpuset *more);
bool cpuset_has(const struct cpuset *s, uint32_t cpu);
bool cpuset_within(const struct cpuset *s, const struct cpuset *of); /* every CPU of s is in of */
uint32_t cpuset_next(const struct cpuset *s, uint32_t from);         /* CPUSET_MAX: none from there on */

#endif
