#include "trace/progress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/now.h"

#define AFTER_S 2.0
#define EVERY_S 0.5

struct progress progress_begin(void)
{
    return (struct progress){ .begin_s = isatty(STDERR_FILENO) ? now_s() : INFINITY };
}

bool progress_is_due(const struct progress *p)
{
    double at_s;

    if (isinf(p->begin_s))
        return false;
    at_s = now_s();
    return at_s >= p->begin_s + AFTER_S && at_s >= p->said_s + EVERY_S;
}

void progress_say(struct progress *p, const char *fmt, ...)
{
    va_list ap;

    p->said_s = now_s();
    fprintf(stderr, "\r%s: ", program_invocation_short_name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\033[K", stderr);
}

void progress_end(struct progress *p)
{
    if (p->said_s > 0)
        fputs("\r\033[K", stderr);
    p->said_s = 0;
}
