#include "tui/padded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"

/* Flush right, as common/units.h writes it; what is not from 0 to most is unknown. */
static struct padded column(int columns, char *format(char *, size_t, double), double value, double most)
{
    char text[24] = "-";
    struct padded f;

    if (value >= 0 && value <= most)
        format(text, sizeof(text), value);
    snprintf(f.text, sizeof(f.text), "%*s", columns, text);
    return f;
}

struct padded padded_s(double seconds)
{
    return column(7, units_format_s, seconds, 8.6e6);
}

struct padded padded_about_s(double seconds)
{
    return column(7, units_format_about_s, seconds, 8.6e6);
}

struct padded padded_percent(double ratio)
{
    return column(6, units_format_percent, ratio, 99.99);
}

struct padded padded_times(double factor)
{
    return column(5, units_format_times, factor, 999.4);
}

/* Below 1 two decimals, for the column's sake. */
struct padded padded_number(double number)
{
    struct padded f;

    if (!(number > 0 && number < 0.995))
        return column(5, units_format_number, number, 9e17);
    snprintf(f.text, sizeof(f.text), "%5.2f", number);
    return f;
}

struct padded padded_bytes(double bytes)
{
    return column(7, units_format_bytes, bytes, 9e17);
}

/* Whole seconds: tenths of an age would only flicker. */
struct padded padded_age(double seconds)
{
    struct padded f;

    if (!(seconds >= 0) || seconds >= 59.5)
        return column(6, units_format_s, floor(seconds), 8.6e6);
    snprintf(f.text, sizeof(f.text), "%4.0f s", seconds);
    return f;
}

struct padded padded_count(int64_t n)
{
    struct padded f;

    if (n < 0)
        return (struct padded){ "    -" };
    if (n < 100000)
        snprintf(f.text, sizeof(f.text), "%5lld", (long long)n);
    else if (n < 10000000)
        snprintf(f.text, sizeof(f.text), "%4lldk", (long long)(n / 1000));
    else
        snprintf(f.text, sizeof(f.text), "%4.0fM", (double)n / 1e6);
    return f;
}

struct padded padded_steps(int64_t n)
{
    struct padded f;
    char digits[24];
    size_t len, at = 0;

    if (n < 0)
        return (struct padded){ "-" };
    snprintf(digits, sizeof(digits), "%lld", (long long)(n < 1000000000000000 ? n : 1000000000000000));
    len = strlen(digits);
    for (size_t i = 0; i < len && at + 2 < sizeof(f.text); i++) {
        if (i && (len - i) % 3 == 0)
            f.text[at++] = ' ';
        f.text[at++] = digits[i];
    }
    f.text[at] = '\0';
    return f;
}

struct padded padded_trim(struct padded f)
{
    size_t from = strspn(f.text, " "), n = strlen(f.text + from);

    while (n && f.text[from + n - 1] == ' ')
        n--;
    memmove(f.text, f.text + from, n);
    f.text[n] = '\0';
    return f;
}
