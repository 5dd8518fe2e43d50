/* err.h - the reason of a failure, as text for a person.
 * It is the last argument of functions that can fail for more than one reason.
 * NULL is accepted everywhere, for callers that do not need the reason.
 * A reason may quote what a peer or a file says and may be printed anywhere: utf8_clean() has been applied to
 * it. */
#ifndef SYNCGUARD_COMMON_ERR_H
#define SYNCGUARD_COMMON_ERR_H

struct err {
    char text[512];
};

/* Fill in the reason (cut at the end of text).  Returns -1, so that a function can `return err_set(...)`. */
__attribute__((format(printf, 2, 3))) int err_set(struct err *err, const char *fmt, ...);

/* Prefix the present reason with a context: "CONTEXT: REASON".  Returns -1. */
__attribute__((format(printf, 2, 3))) int err_prefix(struct err *err, const char *fmt, ...);

#endif
