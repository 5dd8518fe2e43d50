/* tap.h - Test Anything Protocol, just enough of it.
 * A test is one program: ok() per assertion, done_testing() as its exit code. */
#ifndef SYNCGUARD_TESTS_TAP_H
#define SYNCGUARD_TESTS_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

static int tap_run, tap_failed;

static inline bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + 1e-12;
}

__attribute__((format(printf, 2, 3))) static inline bool ok(bool good, const char *fmt, ...)
{
    va_list ap;

    tap_failed += !good;
    printf("%sok %d - ", good ? "" : "not ", ++tap_run);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
    return good;
}

/* Says what was got and wanted when they differ. */
static inline bool is_str(const char *got, const char *want, const char *what)
{
    bool good = got && want ? !strcmp(got, want) : got == want;

    ok(good, "%s", what);
    if (!good)
        printf("#   got:    %s\n#   wanted: %s\n", got ? got : "(null)", want ? want : "(null)");
    return good;
}

static inline bool is_int(long long got, long long want, const char *what)
{
    ok(got == want, "%s", what);
    if (got != want)
        printf("#   got:    %lld\n#   wanted: %lld\n", got, want);
    return got == want;
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
