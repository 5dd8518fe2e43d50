#include "term/padded.h"

#include <stdio.h>
#include <string.h>

/* Flush right; what is not from 0 to most is unknown. */
static struct text column(int columns, struct text words(double), double value, double most)
{
    struct text t = { "-" }, padded;

    if (value >= 0 && value <= most)
        t = words(value);
    snprintf(padded.s, sizeof(padded.s), "%*.24s", columns, t.s);
    return padded;
}

struct text padded_s(double seconds)
{
    return column(7, text_s, seconds, 8.6e6);
}

struct text padded_about_s(double seconds)
{
    return column(7, text_about_s, seconds, 8.6e6);
}

struct text padded_percent(double ratio)
{
    return column(6, text_percent, ratio, 99.99);
}

struct text padded_times(double factor)
{
    return column(5, text_times, factor, 999.4);
}

/* Below 1 two decimals, for the column's sake. */
struct text padded_number(double number)
{
    struct text f;

    if (!(number > 0 && number < 0.995))
        return column(5, text_number, number, 9e17);
    snprintf(f.s, sizeof(f.s), "%5.2f", number);
    return f;
}

struct text padded_bytes(double bytes)
{
    return column(7, text_bytes, bytes, 9e17);
}

struct text padded_age(double seconds)
{
    return column(6, text_age, seconds, 8.6e6);
}

struct text padded_count(int64_t n)
{
    struct text f;

    if (n < 0)
        return (struct text){ "    -" };
    if (n < 100000)
        snprintf(f.s, sizeof(f.s), "%5lld", (long long)n);
    else if (n < 10000000)
        snprintf(f.s, sizeof(f.s), "%4lldk", (long long)(n / 1000));
    else
        snprintf(f.s, sizeof(f.s), "%4.0fM", (double)n / 1e6);
    return f;
}

struct text padded_steps(int64_t n)
{
    struct text f;
    char digits[24];
    size_t len, at = 0;

    if (n < 0)
        return (struct text){ "-" };
    snprintf(digits, sizeof(digits), "%lld", (long long)(n < 1000000000000000 ? n : 1000000000000000));
    len = strlen(digits);
    for (size_t i = 0; i < len && at + 2 < sizeof(f.s); i++) {
        if (i && (len - i) % 3 == 0)
            f.s[at++] = ' ';
        f.s[at++] = digits[i];
    }
    f.s[at] = '\0';
    return f;
}

struct text padded_trim(struct text f)
{
    memmove(f.s, f.s + strspn(f.s, " "), strlen(f.s + strspn(f.s, " ")) + 1);
    return f;
}
