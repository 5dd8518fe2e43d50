/* verdict_words.h - a verdict in a few words: "node3 is slow (straggler)", for lists of sgctl and sgtop.
 * The evidence is the verdict's own sentence (analysis/view.h). */
#ifndef SYNCGUARD_REPORT_VERDICT_WORDS_H
#define SYNCGUARD_REPORT_VERDICT_WORDS_H

#include <stddef.h>

/* culprits: their names, separated by commas; n_culprits 0: there is none.  class: as in JSON; an unknown one is written
 * as it is.  Returns buf. */
char *verdict_words(char *buf, size_t size, const char *class, const char *culprits, size_t n_culprits);

#endif
