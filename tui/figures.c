#include "tui/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns, not bytes: "µ" and "×" are two bytes and one column. */
static struct figure unknown(int columns)
{
    struct figure f;

    snprintf(f.text, sizeof(f.text), "%*s", columns, "-");
    return f;
}

/* Three significant digits in four columns, for 0 <= x < 1000. */
static void three_digits(char buf[16], double x)
{
    snprintf(buf, 16, "%4.*f", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
}

static void two_digits(char buf[16], double x)
{
    snprintf(buf, 16, "%4.*f", x < 9.95, x < 99.5 ? x : 10 * round(x / 10));
}

static struct figure seconds_figure(double seconds, void (*digits)(char buf[16], double x))
{
    static const struct {
        double size;
        const char *name;
    } units[] = { { 1e-9, "ns" }, { 1e-6, "µs" }, { 1e-3, "ms" }, { 1, "s " }, { 60, "m " }, { 3600, "h " } };
    size_t i = 0;
    struct figure f;
    char number[16];

    if (!(seconds >= 0) || seconds > 3.5e6)
        return unknown(7);
    if (seconds == 0)
        i = 2; /* "0.00 ms": a time that is there and too short to see */
    else
        while (i + 1 < sizeof(units) / sizeof(*units) && seconds / units[i].size >= 999.5)
            i++;
    digits(number, seconds / units[i].size);
    snprintf(f.text, sizeof(f.text), "%s %s", number, units[i].name);
    return f;
}

struct figure figure_s(double seconds)
{
    return seconds_figure(seconds, three_digits);
}

struct figure figure_about_s(double seconds)
{
    return seconds_figure(seconds, two_digits);
}

struct figure figure_percent(double ratio)
{
    struct figure f;

    if (!(ratio >= 0) || ratio > 99.99)
        return unknown(6);
    if (ratio > 0 && ratio < 0.0005)
        return (struct figure){ "<0.1 %" };
    snprintf(f.text, sizeof(f.text), ratio < 0.9995 ? "%4.1f %%" : "%4.0f %%", ratio * 100);
    return f;
}

struct figure figure_times(double ratio)
{
    struct figure f;
    char number[16];

    if (!(ratio >= 0) || ratio >= 999.5)
        return unknown(5);
    three_digits(number, ratio);
    snprintf(f.text, sizeof(f.text), "%s×%s", number[0] == ' ' ? " " : "", number + strspn(number, " "));
    return f;
}

/* x in units of 1, k, M, ... of size step. */
static const char *scale(double *x, double step)
{
    static const char *const prefix[] = { "", "k", "M", "G", "T", "P" };
    size_t i = 0;

    while (*x >= 999.5 && i < 5) {
        *x /= step;
        i++;
    }
    return prefix[i];
}

struct figure figure_number(double number)
{
    const char *prefix;
    struct figure f;
    char digits[16];

    if (!(number >= 0) || number > 9e17)
        return unknown(5);
    prefix = scale(&number, 1000);
    three_digits(digits, number);
    snprintf(f.text, sizeof(f.text), "%s%-1s", digits, prefix);
    return f;
}

struct figure figure_count(int64_t n)
{
    struct figure f;

    if (n < 0)
        return unknown(5);
    if (n < 100000)
        snprintf(f.text, sizeof(f.text), "%5lld", (long long)n);
    else if (n < 10000000)
        snprintf(f.text, sizeof(f.text), "%4lldk", (long long)(n / 1000));
    else
        snprintf(f.text, sizeof(f.text), "%4.0fM", (double)n / 1e6);
    return f;
}

struct figure figure_bytes(double bytes)
{
    static const char *const prefix[] = { "B", "K", "M", "G", "T", "P" };
    struct figure f;
    char digits[16];
    size_t i = 0;

    if (!(bytes >= 0) || bytes > 1e18)
        return unknown(6);
    while (bytes >= 999.5 && i < 5) {
        bytes /= 1024;
        i++;
    }
    three_digits(digits, bytes);
    snprintf(f.text, sizeof(f.text), "%s %s", digits, prefix[i]);
    return f;
}

struct figure figure_age(double seconds)
{
    struct figure f;
    long long s;

    if (!(seconds >= 0) || seconds > 8.6e6)
        return unknown(5);
    s = (long long)seconds;
    if (s < 60)
        snprintf(f.text, sizeof(f.text), "%3lld s", s);
    else if (s < 3600)
        snprintf(f.text, sizeof(f.text), "%2lldm%02lld", s / 60, s % 60);
    else if (s < 86400)
        snprintf(f.text, sizeof(f.text), "%2lldh%02lld", s / 3600, s / 60 % 60);
    else
        snprintf(f.text, sizeof(f.text), "%2lldd%02lld", s / 86400, s / 3600 % 24);
    return f;
}

struct figure figure_steps(int64_t n)
{
    struct figure f;
    char digits[24];
    size_t len, at = 0;

    if (n < 0)
        return unknown(1);
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

struct figure figure_trim(struct figure f)
{
    size_t from = strspn(f.text, " "), n = strlen(f.text + from);

    while (n && f.text[from + n - 1] == ' ')
        n--;
    memmove(f.text, f.text + from, n);
    f.text[n] = '\0';
    return f;
}
