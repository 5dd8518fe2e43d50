/* err.h - why something failed, in words a person reads.
 * The last argument of a function that can fail for more than one reason.
 * NULL is accepted everywhere: the caller does not want the words. */
#ifndef SYNCGUARD_COMMON_ERR_H
#define SYNCGUARD_COMMON_ERR_H

struct err {
    char text[512];
};

/* Fill in the reason (cut at the end of text).  Returns -1, so that a function can `return err_set(...)`. */
__attribute__((format(printf, 2, 3))) int err_set(struct err *err, const char *fmt, ...);

/* Put words in front of the reason that is there: "CONTEXT: REASON".  Returns -1. */
__attribute__((format(printf, 2, 3))) int err_prefix(struct err *err, const char *fmt, ...);

#endif
