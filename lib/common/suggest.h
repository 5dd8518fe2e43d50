/* suggest.h - the candidate that is most similar to a misspelled word: the one with the fewest typing errors.
 * A missing, extra or different character and two swapped neighbours count as one error each; case does not
 * count.  Candidates with more than one error, plus one for every three characters, are ignored. */
#ifndef SYNCGUARD_COMMON_SUGGEST_H
#define SYNCGUARD_COMMON_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* most similar candidate, borrowed; NULL: none is similar */
    size_t errors;    /* between the two */
};

struct suggestion suggest_for(const char *word);
void suggest_offer(struct suggestion *s, const char *candidate);

/* ". Did you mean 'jobs'?", or "" if no candidate is similar; returns buf. */
const char *suggest_text(const struct suggestion *s, char *buf, size_t size);

#endif
