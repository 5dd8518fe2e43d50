/* suggest.h - which word was probably meant: of those offered, the one with the fewest typing errors.
 * A missing, extra or different character and two swapped neighbours count as one error each; case does not
 * count.  At most one error, and one more for every three characters, is taken for a mistyped word. */
#ifndef SYNCGUARD_COMMON_SUGGEST_H
#define SYNCGUARD_COMMON_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* of those offered, borrowed; NULL: none is near */
    size_t errors;    /* between the two */
};

struct suggestion suggest_for(const char *word);
void suggest_offer(struct suggestion *s, const char *candidate);

/* ". Did you mean 'jobs'?", or "" when nothing is near; returns buf. */
const char *suggest_text(const struct suggestion *s, char *buf, size_t size);

#endif
