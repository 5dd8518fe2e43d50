#include "common/units.h"

#include "tests/tap.h"

typedef int read_fn(const char *, double *, struct err *);

static const struct {
    read_fn *read;
    const char *text;
    double want; /* NAN: refused */
} reads[] = {
    { units_seconds, "250ms", 0.25 },
    { units_seconds, "30s", 30 },
    { units_seconds, "30", 30 },
    { units_seconds, "1.5 s", 1.5 },
    { units_seconds, ".5", 0.5 },
    { units_seconds, "5m", 300 },
    { units_seconds, "5min", 300 },
    { units_seconds, "2h", 7200 },
    { units_seconds, "2h05m", 7500 },
    { units_seconds, "1d 2h", 93600 },
    { units_seconds, "3us", 3e-6 },
    { units_seconds, "40ns", 40e-9 },
    { units_seconds, "10:00", 600 },
    { units_seconds, "90:30", 5430 },
    { units_seconds, "1:00:01", 3601 },
    { units_seconds, "1-12:00:00", 129600 },
    { units_seconds, "1-12", 129600 },
    { units_seconds, "1-12:30", 131400 },
    { units_seconds, "", NAN },
    { units_seconds, " ", NAN },
    { units_seconds, "-1", NAN },
    { units_seconds, "nan", NAN },
    { units_seconds, "inf", NAN },
    { units_seconds, "0x10", NAN },
    { units_seconds, "1e3", NAN },
    { units_seconds, "5x", NAN },
    { units_seconds, "5m5h", NAN },
    { units_seconds, "5m30", NAN },
    { units_seconds, "10:60", NAN },
    { units_seconds, "10:", NAN },
    { units_seconds, "1:2:3:4", NAN },
    { units_seconds, "1-24:00:00", NAN },
    { units_seconds, "1.5:00", NAN },
    { units_seconds, "1.:00", NAN },
    { units_seconds, "99999999999999999999999999999999999999999999", NAN },
    { units_bytes, "0", 0 },
    { units_bytes, "4096", 4096 },
    { units_bytes, "512B", 512 },
    { units_bytes, "64K", 65536 },
    { units_bytes, "2MiB", 2097152 },
    { units_bytes, "2 mib", 2097152 },
    { units_bytes, "1GB", 1e9 },
    { units_bytes, "1.5k", 1536 },
    { units_bytes, "3T", 3.0 * (1ull << 40) },
    { units_bytes, "1KBB", NAN },
    { units_bytes, "K", NAN },
    { units_bytes, "-4", NAN },
    { units_bytes, "700MB", 7e8 },
    { units_bytes, "1e9", 1e9 },
    { units_bytes, "8Gbit", 1e9 },
    { units_bytes, "2 kbit", 250 },
    { units_bytes, "1Gb", NAN }, /* bits or bytes? */
    { units_bytes, "1 mb", NAN },
    { units_bytes, "1Gib", NAN },
    { units_bytes, "1GB/s", NAN },
    { units_bytes, "1e400", NAN },
    { units_rate, "25GB/s", 25e9 },
    { units_rate, "12.5 GB/s", 12.5e9 },
    { units_rate, "400Gbit/s", 50e9 },
    { units_rate, "1GiB/s", 0x1p30 },
    { units_rate, "100B/s", 100 },
    { units_rate, "25", NAN }, /* of what? */
    { units_rate, "25GB", NAN },
    { units_rate, "25/s", NAN },
    { units_rate, "400Gb/s", NAN },
    { units_rate, "400Gb", NAN },
    { units_rate, "-1GB/s", NAN },
    { units_number, "0.08", 0.08 },
    { units_number, "1e-3", 1e-3 },
    { units_number, "2.5E+2", 250 },
    { units_number, "1e", NAN },
    { units_number, "1e2.", NAN },
    { units_number, "5%", NAN },
    { units_number, "-1", NAN },
    { units_count, "64", 64 },
    { units_count, "175e9", 175e9 },
    { units_count, "7B", 7e9 },
    { units_count, "1.1B", 1.1e9 },
    { units_count, "1.5m", 1.5e6 },
    { units_count, "1.5", NAN },
    { units_count, "0.5e1", 5 },
    { units_count, "7x", NAN },
    { units_count, "", NAN },
    { units_ratio, "5%", 0.05 },
    { units_ratio, "5 %", 0.05 },
    { units_ratio, "0.05", 0.05 },
    { units_ratio, "1.02", 1.02 },
    { units_ratio, "1e-3", 1e-3 },
    { units_ratio, "1e", NAN },
    { units_ratio, "0,05", NAN },
    { units_ratio, "5%%", NAN },
    { units_ratio, "+1", NAN },
    { units_ratio, ".", NAN },
};

typedef char *format_fn(char *, size_t, double);

static const struct {
    format_fn *format;
    double value;
    const char *want;
} formats[] = {
    { units_format_s, NAN, "?" },
    { units_format_s, 0, "0 s" },
    { units_format_s, 40e-9, "40.0 ns" },
    { units_format_s, 1.234e-6, "1.23 us" },
    { units_format_s, 0.00123456, "1.23 ms" },
    { units_format_s, 0.0009996, "1.00 ms" },
    { units_format_s, 0.9999, "1.00 s" },
    { units_format_s, 0.123, "123 ms" },
    { units_format_s, 45.64, "45.6 s" },
    { units_format_s, 9.999, "10.0 s" },
    { units_format_s, -0.0123, "-12.3 ms" },
    { units_format_s, 59.97, "1m00s" },
    { units_format_s, 125, "2m05s" },
    { units_format_s, 3599.7, "1h00m" },
    { units_format_s, 7500, "2h05m" },
    { units_format_s, 86399, "1d00h" },
    { units_format_s, 273600, "3d04h" },
    { units_format_s, INFINITY, "inf" },
    { units_format_about_s, NAN, "?" },
    { units_format_about_s, 0, "0 s" },
    { units_format_about_s, 0.00204, "2.0 ms" },
    { units_format_about_s, 0.0123456, "12 ms" },
    { units_format_about_s, 0.1137, "110 ms" },
    { units_format_about_s, 0.00996, "10 ms" },
    { units_format_about_s, 1.84, "1.8 s" },
    { units_format_about_s, 125, "2m05s" },
    { units_format_bytes, NAN, "?" },
    { units_format_bytes, 0, "0 B" },
    { units_format_bytes, 512, "512 B" },
    { units_format_bytes, 1572864, "1.57 MB" },
    { units_format_bytes, 999.6e3, "1.00 MB" },
    { units_format_bytes, 1536, "1.54 kB" },
    { units_format_bytes, 7e8, "700 MB" },
    { units_format_bytes, 5e15, "5.00 PB" },
    { units_format_times, NAN, "?" },
    { units_format_times, 1.219, "1.22x" },
    { units_format_times, 12.34, "12.3x" },
    { units_format_factor, 1.219, "1.22" },
    { units_format_factor, 119.81, "120" },
    { units_format_factor, 1e6, "over 9999" },
    { units_format_rate, NAN, "?" },
    { units_format_rate, 25e9, "25.0 GB/s" },
    { units_format_rate, 1.25e9, "1.25 GB/s" },
    { units_format_percent, NAN, "?" },
    { units_format_percent, 0.123, "12.3 %" },
    { units_format_percent, 0.0012, "0.12 %" },
    { units_format_percent, 1, "100 %" },
    { units_format_percent, 0.09999, "10.0 %" },
    { units_format_number, NAN, "?" },
    { units_format_number, 0, "0" },
    { units_format_number, 42, "42" },
    { units_format_number, 12.34, "12.3" },
    { units_format_number, 0.01234, "0.0123" },
    { units_format_number, 4560, "4.56k" },
    { units_format_number, 999.7, "1.00k" },
    { units_format_number, 2.5e9, "2.50G" },
    { units_format_number, -1500, "-1.50k" },
};

static void test_read(size_t i)
{
    struct err err = { "" };
    double got = -7;
    int rc = reads[i].read(reads[i].text, &got, &err);

    if (isnan(reads[i].want))
        ok(rc == -1 && got == -7 && strstr(err.text, " such as "),
           "units: '%s' is rejected with an example, the value is kept", reads[i].text);
    else
        is_near(got, reads[i].want, 1e-15, "units: '%s' is read as %g", reads[i].text, reads[i].want);
}

int main(void)
{
    char buf[32], tiny[4];
    double seconds;

    for (size_t i = 0; i < ARRAY_SIZE(reads); i++)
        test_read(i);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
        is_str(formats[i].format(buf, sizeof(buf), formats[i].value), formats[i].want,
               "units: %g is written as '%s'", formats[i].value, formats[i].want);
    is_str(units_format_bytes(tiny, sizeof(tiny), 1572864), "1.5",
           "units: a text is cut to the size of its buffer");
    struct err err = { "" };

    ok(units_rate("400Gb/s", &seconds, &err) < 0 && strstr(err.text, "bits or bytes") &&
           strstr(err.text, "Gbit/s"),
       "units: 400Gb/s, which may be bits or bytes, is rejected with the reason: %s", err.text);
    for (double s = 1e-8; s < 1e7; s *= 1.37) {
        units_format_s(buf, sizeof(buf), s);
        seconds = NAN;
        units_seconds(buf, &seconds, NULL);
        is_near(seconds, s, 0.05, "units: '%s', as it is written, is read again", buf);
    }
    return done_testing();
}
