/* tap.h - Test Anything Protocol, just enough of it.
 * A test is one program: an assertion per call, done_testing() as its exit code.  What is asserted is a whole
 * statement that is understood by itself ("engine: with two rules over budget one action is taken"), printf's
 * format and arguments. What follows a line's end in it is no part of the test's name, which is the same in
 * every run, and is printed as a remark: "the write is the slowest rank's\n%.2f s".  is_int(), is_str() and
 * is_near() print what was expected and what came when they differ. */
#ifndef SYNCGUARD_TESTS_TAP_H
#define SYNCGUARD_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

static int tap_run, tap_failed;
static char tap_text[1 << 14]; /* of the assertion that is being printed */

static inline bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + 1e-12;
}

/* A text's lines, each as a remark; an empty one is none. */
static inline void tap_remark(const char *text)
{
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (n)
            printf("#   %.*s\n", (int)n, text);
    }
}

/* The line of a result, without its end; the remarks are kept for it. */
__attribute__((format(printf, 2, 0))) static inline void tap_begin(bool good, const char *fmt, va_list ap)
{
    size_t name;

    tap_failed += !good;
    vsnprintf(tap_text, sizeof(tap_text), fmt, ap);
    name = strcspn(tap_text, "\n");
    printf("%sok %d - %.*s", good ? "" : "not ", ++tap_run, (int)name, tap_text);
    memmove(tap_text, tap_text + name, strlen(tap_text + name) + 1);
}

static inline bool tap_end(bool good)
{
    putchar('\n');
    tap_remark(tap_text);
    fflush(stdout);
    return good;
}

__attribute__((format(printf, 2, 3))) static inline bool ok(bool good, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_begin(good, fmt, ap);
    va_end(ap);
    return tap_end(good);
}

__attribute__((format(printf, 3, 4))) static inline bool is_int(long long got, long long expected,
                                                                const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    tap_begin(got == expected, fmt, ap);
    va_end(ap);
    if (got != expected)
        printf(": expected %lld, got %lld", expected, got);
    return tap_end(got == expected);
}

/* Equal but for a relative error. */
__attribute__((format(printf, 4, 5))) static inline bool is_near(double got, double expected, double relative,
                                                                 const char *fmt, ...)
{
    bool good = near(got, expected, relative);
    va_list ap;

    va_start(ap, fmt);
    tap_begin(good, fmt, ap);
    va_end(ap);
    if (!good)
        printf(": expected %.9g within %g of it, got %.9g", expected, relative * fabs(expected), got);
    return tap_end(good);
}

/* NULL is a value of its own.  Texts that are long stand one below the other. */
__attribute__((format(printf, 3, 4))) static inline bool is_str(const char *got, const char *expected,
                                                                const char *fmt, ...)
{
    bool good = got && expected ? !strcmp(got, expected) : got == expected;
    va_list ap;

    va_start(ap, fmt);
    tap_begin(good, fmt, ap);
    va_end(ap);
    if (!good && strlen(got ? got : "") + strlen(expected ? expected : "") < 100)
        printf(": expected '%s', got '%s'", expected ? expected : "(null)", got ? got : "(null)");
    else if (!good)
        printf("\n#   expected: %s\n#   got:      %s", expected ? expected : "(null)", got ? got : "(null)");
    return tap_end(good);
}

/* Whether the environment asks for large cases as well: ./check --full does. */
static inline bool tried_in_full(void)
{
    const char *full = getenv("SYNCGUARD_FULL");

    return full && !strcmp(full, "yes");
}

/* Whether only the small cases are tried, and of each kind a few: a sanitizer makes each about ten times as
 * long, and finds in a few what it finds in all. */
static inline bool tried_in_part(void)
{
    return SANITIZED && !tried_in_full();
}

/* How many of n cases are tried that differ only by chance. */
static inline unsigned tried_of(unsigned n)
{
    return tried_in_part() ? (n + 9) / 10 : n;
}

/* The whole program has nothing to test here (a library is missing). */
static inline int skip_all(const char *why)
{
    printf("1..0 # SKIP %s\n", why);
    return 0;
}

static inline int done_testing(void)
{
    printf("1..%d\n", tap_run);
    return tap_failed != 0;
}

#endif
