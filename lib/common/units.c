#include "common/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SECONDS_ACCEPTED "a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or 1-12:00:00"
#define BYTES_ACCEPTED   "a size such as 4096, 64K, 2MiB (powers of 1024) or 1GB (of 1000)"
#define RATIO_ACCEPTED   "a ratio such as 0.05 or 5%"
#define RATE_ACCEPTED    "a bandwidth such as 25GB/s, 1.5GiB/s or 400Gbit/s"
#define NUMBER_ACCEPTED  "a number such as 0.08 or 1e-3"
#define COUNT_ACCEPTED   "a number such as 64, 175e9, 7B or 1.5M (powers of 1000)"
/* A larger figure says no more than that it is large, and breaks columns. */
#define FIGURE_MAX 9999.0

struct suffix {
    const char *name;
    double factor;
};

static const struct suffix seconds_suffixes[] = {
    { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "sec", 1 },   { "s", 1 },
    { "min", 60 },  { "m", 60 },    { "h", 3600 },  { "d", 86400 }, { NULL, 0 },
};

static const struct suffix bytes_suffixes[] = {
    { "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 }, { "KB", 1e3 },
    { "MB", 1e6 },     { "GB", 1e9 },     { "TB", 1e12 },    { "K", 0x1p10 },   { "M", 0x1p20 },
    { "G", 0x1p30 },   { "T", 0x1p40 },   { "B", 1 },        { NULL, 0 },
};

/* Read before the bytes: "Mbit" begins with "M". */
static const struct suffix bits_suffixes[] = {
    { "Kbit", 1e3 / 8 },  { "Mbit", 1e6 / 8 }, { "Gbit", 1e9 / 8 },
    { "Tbit", 1e12 / 8 }, { "bit", 1.0 / 8 },  { NULL, 0 },
};

static const struct suffix count_suffixes[] = {
    { "K", 1e3 }, { "M", 1e6 }, { "B", 1e9 }, { "T", 1e12 }, { NULL, 0 },
};

/* A decimal number without sign or exponent.  strtod would follow the locale, and take "nan", "inf", "0x1p3".
 * Returns what follows it, or NULL when there is none. */
static const char *read_number(const char *s, double *number)
{
    double mantissa = 0, scale = 1;
    int digits = 0;

    for (; isdigit((unsigned char)*s); s++, digits++)
        mantissa = mantissa * 10 + (*s - '0');
    if (*s == '.') {
        for (s++; isdigit((unsigned char)*s); s++, digits++) {
            mantissa = mantissa * 10 + (*s - '0');
            scale *= 10;
        }
    }
    /* Beyond 40 digits the scale could overflow. */
    if (digits == 0 || digits > 40)
        return NULL;
    *number = mantissa / scale;
    return s;
}

/* The same with an exponent, as in 175e9. */
static const char *read_scientific(const char *s, double *number)
{
    double exponent;
    bool minus;

    s = read_number(s, number);
    if (!s || (*s != 'e' && *s != 'E'))
        return s;
    minus = s[1] == '-';
    s = read_number(s + 1 + (minus || s[1] == '+'), &exponent);
    if (!s || s[-1] == '.' || exponent != floor(exponent) || exponent > 300)
        return NULL;
    *number *= pow(10, minus ? -exponent : exponent);
    return isfinite(*number) ? s : NULL;
}

static const struct suffix *read_suffix(const struct suffix *table, const char **s)
{
    for (; table->name; table++) {
        if (!strncasecmp(*s, table->name, strlen(table->name))) {
            *s += strlen(table->name);
            return table;
        }
    }
    return NULL;
}

static const char *skip_space(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}

/* Digits only, at most max. */
static const char *read_field(const char *s, double max, double *field)
{
    if (!isdigit((unsigned char)*s))
        return NULL;
    s = read_number(s, field);
    return s && s[-1] != '.' && *field == floor(*field) && *field <= max ? s : NULL;
}

/* Slurm's forms: [days-]hours[:minutes[:seconds]] after days, else [hours:]minutes:seconds. */
static bool read_clock(const char *s, double *seconds)
{
    double days = 0, field[3] = { 0 };
    bool with_days = strchr(s, '-') != NULL;
    int n = 0;

    if (with_days) {
        s = read_field(s, 1e6, &days);
        if (!s || *s++ != '-')
            return false;
    }
    for (;;) {
        s = read_field(s, n > 0 ? 59 : with_days ? 23 : 1e9, &field[n]);
        if (!s)
            return false;
        n++;
        if (!*s)
            break;
        if (n == 3 || *s++ != ':')
            return false;
    }
    if (with_days)
        *seconds = days * 86400 + field[0] * 3600 + field[1] * 60 + field[2];
    else
        *seconds = n == 3 ? field[0] * 3600 + field[1] * 60 + field[2] : field[0] * 60 + field[1];
    return true;
}

/* Numbers with suffixes, largest first ("1h30m"); a lone number is seconds. */
static bool read_suffixed(const char *s, double *seconds)
{
    double total = 0, last = INFINITY;

    for (;;) {
        const struct suffix *suffix;
        double number;

        s = read_number(s, &number);
        if (!s)
            return false;
        s = skip_space(s);
        if (!*s && isinf(last)) {
            total = number;
            break;
        }
        suffix = read_suffix(seconds_suffixes, &s);
        if (!suffix || suffix->factor >= last)
            return false;
        total += number * suffix->factor;
        last = suffix->factor;
        s = skip_space(s);
        if (!*s)
            break;
    }
    *seconds = total;
    return true;
}

int units_seconds(const char *text, double *seconds, struct err *err)
{
    double value;

    if (!(strpbrk(text, ":-") ? read_clock(text, &value) : read_suffixed(text, &value)))
        return err_set(err, "%s", SECONDS_ACCEPTED);
    *seconds = value;
    return 0;
}

/* "Gb", "mb" and "Gib" are bits by the letter, but people who write them may mean bytes; "mib" can only be
 * bytes. */
static bool is_ambiguous(const char *suffix)
{
    size_t n = strspn(suffix, "KMGTkmgt");

    if (n != 1)
        return false;
    if (suffix[1] == 'i' && strchr("KMGT", suffix[0]))
        n++;
    return suffix[n] == 'b' && !isalpha((unsigned char)suffix[n + 1]);
}

/* A number of bytes or bits; *end is what follows its unit. */
static const char *read_size(const char *s, double *bytes)
{
    const struct suffix *suffix;

    s = read_scientific(s, bytes);
    if (!s)
        return NULL;
    s = skip_space(s);
    suffix = read_suffix(bits_suffixes, &s);
    if (!suffix)
        suffix = read_suffix(bytes_suffixes, &s);
    if (suffix)
        *bytes *= suffix->factor;
    return s;
}

/* What stands behind the number. */
static const char *unit_of(const char *text)
{
    double number;
    const char *s = read_scientific(text, &number);

    return s ? skip_space(s) : "";
}

/* behind: what a rate's unit ends in, which it cannot lack: "25GB" and "25" are not rates; "": of a size. */
static int parse_size(const char *text, const char *behind, const char *accepted, double *size,
                      struct err *err)
{
    const char *unit = unit_of(text), *s;
    int prefix = toupper((unsigned char)*unit);
    double value;

    if (is_ambiguous(unit))
        return err_set(err, "'%s' may be bits or bytes: write one such as %cB%s or %cbit%s", unit, prefix,
                       behind, prefix, behind);
    s = read_size(text, &value);
    if (!s || (*behind && !isalpha((unsigned char)*unit)) || strcasecmp(s, behind) != 0 || !isfinite(value))
        return err_set(err, "%s", accepted);
    *size = value;
    return 0;
}

int units_bytes(const char *text, double *bytes, struct err *err)
{
    return parse_size(text, "", BYTES_ACCEPTED, bytes, err);
}

int units_rate(const char *text, double *bytes_per_s, struct err *err)
{
    return parse_size(text, "/s", RATE_ACCEPTED, bytes_per_s, err);
}

int units_number(const char *text, double *number, struct err *err)
{
    double value;
    const char *s = read_scientific(text, &value);

    if (!s || *s)
        return err_set(err, "%s", NUMBER_ACCEPTED);
    *number = value;
    return 0;
}

int units_count(const char *text, double *count, struct err *err)
{
    const struct suffix *suffix;
    double value;
    const char *s = read_scientific(text, &value);

    if (s && (suffix = read_suffix(count_suffixes, &s)))
        value = round(value * suffix->factor * 1e3) / 1e3; /* 1.1B is whole */
    if (!s || *s || value != floor(value))
        return err_set(err, "%s", COUNT_ACCEPTED);
    *count = value;
    return 0;
}

int units_ratio(const char *text, double *ratio, struct err *err)
{
    double value;
    const char *s = read_scientific(text, &value);
    bool percent = s && *(s = skip_space(s)) == '%';

    if (!s || s[percent])
        return err_set(err, "%s", RATIO_ACCEPTED);
    *ratio = percent ? value / 100 : value;
    return 0;
}

/* How many decimals leave three significant digits; 9.996 counts as 10.0. */
static int decimals_of(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

/* NaN and infinity have a text of their own. */
static const char *special_text(double value)
{
    return isnan(value) ? "?" : isinf(value) ? (value < 0 ? "-inf" : "inf") : NULL;
}

/* Below a minute with this many significant digits, two or three. */
static char *format_s(char *buf, size_t size, double seconds, int digits)
{
    static const struct suffix units[] = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } };
    const char *minus = seconds < 0 ? "-" : "";
    double value = fabs(seconds), whole = round(value);
    size_t u = 0;

    if (special_text(seconds))
        snprintf(buf, size, "%s", special_text(seconds));
    else if (value == 0)
        snprintf(buf, size, "0 s");
    else if (value < 59.95) {
        while (u < 3 && value / units[u].factor >= 999.5)
            u++;
        value /= units[u].factor;
        if (digits == 2)
            value = value < 9.95 ? value : value < 99.5 ? round(value) : 10 * round(value / 10);
        snprintf(buf, size, "%s%.*f %s", minus, digits == 3 ? decimals_of(value) : value < 9.95, value,
                 units[u].name);
    } else if (whole < 3600)
        snprintf(buf, size, "%s%.0fm%02.0fs", minus, floor(whole / 60), fmod(whole, 60));
    else if ((whole = round(value / 60)) < 1440)
        snprintf(buf, size, "%s%.0fh%02.0fm", minus, floor(whole / 60), fmod(whole, 60));
    else {
        whole = round(value / 3600);
        snprintf(buf, size, "%s%.0fd%02.0fh", minus, floor(whole / 24), fmod(whole, 24));
    }
    return buf;
}

char *units_format_s(char *buf, size_t size, double seconds)
{
    return format_s(buf, size, seconds, 3);
}

char *units_format_about_s(char *buf, size_t size, double seconds)
{
    return format_s(buf, size, seconds, 2);
}

/* Divides value, not negative, by the largest power of 1000 of which there is at least one; returns its
 * prefix. */
static const char *scale_down(double *value)
{
    static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
    size_t p = 0;

    while (p + 1 < sizeof(prefixes) / sizeof(prefixes[0]) && *value >= 999.5) {
        *value /= 1000;
        p++;
    }
    return prefixes[p];
}

static char *format_scaled(char *buf, size_t size, double number, const char *unit)
{
    double value = fabs(number);
    const char *prefix = scale_down(&value);

    if (special_text(number))
        snprintf(buf, size, "%s", special_text(number));
    else
        snprintf(buf, size, "%s%.*f %s%s", number < 0 ? "-" : "", *prefix ? decimals_of(value) : 0, value,
                 prefix, unit);
    return buf;
}

char *units_format_bytes(char *buf, size_t size, double bytes)
{
    return format_scaled(buf, size, bytes, "B");
}

char *units_format_rate(char *buf, size_t size, double bytes_per_s)
{
    return format_scaled(buf, size, bytes_per_s, "B/s");
}

static char *format_factor(char *buf, size_t size, double factor, const char *unit)
{
    if (special_text(factor))
        snprintf(buf, size, "%s", special_text(factor));
    else if (factor > FIGURE_MAX)
        snprintf(buf, size, "over %.0f%s", FIGURE_MAX, unit);
    else
        snprintf(buf, size, "%.*f%s", decimals_of(fabs(factor)), factor, unit);
    return buf;
}

char *units_format_percent(char *buf, size_t size, double ratio)
{
    return format_factor(buf, size, ratio * 100, " %");
}

char *units_format_times(char *buf, size_t size, double factor)
{
    return format_factor(buf, size, factor, "x");
}

char *units_format_factor(char *buf, size_t size, double factor)
{
    return format_factor(buf, size, factor, "");
}

char *units_format_number(char *buf, size_t size, double number)
{
    const char *minus = number < 0 ? "-" : "", *prefix;
    double value = fabs(number);

    prefix = scale_down(&value);
    if (special_text(number))
        snprintf(buf, size, "%s", special_text(number));
    else if (!*prefix && value == floor(value))
        snprintf(buf, size, "%s%.0f", minus, value);
    else if (!*prefix && value < 1) /* leading zeros do not count */
        snprintf(buf, size, value < 1e-4 ? "%s%.2e" : "%s%.3g", minus, value);
    else
        snprintf(buf, size, "%s%.*f%s", minus, decimals_of(value), value, prefix);
    return buf;
}
