#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

int err_set(struct err *err, const char *fmt, ...)
{
    va_list ap;

    if (!err)
        return -1;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    utf8_clean(err->text, sizeof(err->text), err->text);
    return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    char reason[sizeof(err->text)];
    va_list ap;
    int n;

    if (!err)
        return -1;
    memcpy(reason, err->text, sizeof(reason));
    va_start(ap, fmt);
    n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n + 3 < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %.*s", (int)sizeof(err->text) - n - 3,
                 reason);
    utf8_clean(err->text, sizeof(err->text), err->text);
    return -1;
}
