/* Typed values: what is accepted, the reason when a value is not, and what is written. */
#include "common/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static const char *const colours[] = { "red", "green", "blue", NULL };

static const struct {
    struct value_type type;
    const char *text;
    double number;       /* NaN: rejected, or a text */
    const char *written; /* or the reason */
} cases[] = {
    { VALUE_RANGE(VALUE_INTEGER, 1, 64), "8", 8, "8" },
    { VALUE_RANGE(VALUE_INTEGER, 1, 64), "65", NAN, "a whole number from 1 to 64" },
    { VALUE_RANGE(VALUE_INTEGER, 1, 64), "1.5", NAN, "a whole number from 1 to 64" },
    { VALUE_UNITS(1, 64, "nodes"), "x", NAN, "a whole number of nodes from 1 to 64" },
    { VALUE_RANGE(VALUE_COUNT, 1, 1e12), "7B", 7e9, "7000000000" },
    { VALUE_RANGE(VALUE_COUNT, 1, INFINITY), "0", NAN, "a whole number of at least 1" },
    { VALUE_RANGE(VALUE_NUMBER, VALUE_POSITIVE, 5), "0", NAN, "a number of more than zero, at most 5" },
    { VALUE_RANGE(VALUE_NUMBER, 0, 5), "5%", NAN, "a number such as 0.08 or 1e-3; from 0 to 5" },
    { VALUE_RANGE(VALUE_RATIO, 0, 1), "5%", 0.05, "0.05" },
    { VALUE_RANGE(VALUE_RATIO, 0, INFINITY), "2s", NAN, "a ratio such as 0.05 or 5%" },
    { VALUE_RANGE(VALUE_RATIO, 0, 1), "2", NAN, "a ratio from 0 to 1" },
    { VALUE_RANGE(VALUE_SECONDS, 1, 86400), "90m", 5400, "5400s" },
    { VALUE_RANGE(VALUE_SECONDS, 1e-6, 86400), "0.02", 0.02, "20ms" },
    { VALUE_RANGE(VALUE_SECONDS, 1e-6, 86400), "0.25ms", 250e-6, "250us" },
    { VALUE_RANGE(VALUE_SECONDS, 0, 86400), "0", 0, "0s" },
    { VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY), "0s", NAN, "a time of more than zero" },
    { VALUE_RANGE(VALUE_HERTZ, 1, 1000), "0", NAN, "a rate from 1 to 1000 a second" },
    { VALUE_RANGE(VALUE_BYTES, 1, 1e6), "64K", 65536, "65536" },
    { VALUE_RANGE(VALUE_BYTES, 1, 1e6), "2MB", NAN, "a size from 1 B to 1.00 MB" },
    { VALUE_RANGE(VALUE_RATE, 1e3, INFINITY), "8Mbit/s", 1e6, "1000000B/s" },
    { VALUE_RANGE(VALUE_RATE, 1e3, INFINITY), "1B/s", NAN, "a bandwidth of at least 1.00 kB/s" },
    { VALUE_ONE_OF(colours), "Green", 1, "green" },
    { VALUE_ONE_OF(colours), "gree", NAN, "red, green or blue" },
    { VALUE_SOME_OF(colours), "blue,red", 5, "red,blue" },
    { VALUE_SOME_OF(colours), "none", 0, "none" },
    { VALUE_SOME_OF(colours), "red,", NAN, "none, or one or more of red, green or blue, with commas" },
    { VALUE_RANGE(VALUE_NAME, 1, 4), "abcde", NAN, "a name of at most 4 letters, digits, '_', '-' and '.'" },
    { VALUE_RANGE(VALUE_NAME, 1, 4), "", NAN, "a name of at most 4 letters, digits, '_', '-' and '.'" },
    { VALUE_RANGE(VALUE_TEXT, 0, 4), "a\nb", NAN, "at most 4 printable characters" },
    { VALUE(VALUE_PATH), "tmp", NAN, "a path that begins with /" },
};

static const struct {
    struct value_type type;
    const char *text;
} texts[] = {
    { VALUE(VALUE_ANY), "a\nb" },
    { VALUE_RANGE(VALUE_TEXT, 0, 4), "" },
    { VALUE_RANGE(VALUE_NAME, 1, 4), "a-1" },
    { VALUE(VALUE_PATH), "/tmp" },
    { VALUE(VALUE_HOSTS), "a:1,[::1]:2" },
    { VALUE(VALUE_HOSTS), "a_b.c-d,fe80::1%eth0" },
    { VALUE(VALUE_AUTHINFO), "socket=/run/munge" },
};

int main(void)
{
    char buf[240];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double number = NAN;
        struct err err = { "" };
        int rc = value_parse(&cases[i].type, cases[i].text, &number, &err);

        is_int(rc, isnan(cases[i].number) ? -1 : 0, "value_parse: '%s' is %s", cases[i].text,
               isnan(cases[i].number) ? "rejected" : "accepted");
        if (rc == 0)
            is_near(number, cases[i].number, 1e-12, "value_parse: '%s' has the expected number",
                    cases[i].text);
        is_str(rc < 0 ? err.text : value_write(&cases[i].type, number, buf, sizeof(buf)), cases[i].written,
               "%s: '%s' gives the expected text", rc < 0 ? "value_parse, reason" : "value_write",
               cases[i].text);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double number = 1;

        ok(value_parse(&texts[i].type, texts[i].text, &number, NULL) == 0 && isnan(number),
           "value_parse: text '%s' is accepted, and its number is NaN", texts[i].text);
    }
    return done_testing();
}
