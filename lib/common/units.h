/* units.h - numbers with units, read and written the way people write them.
 * Everything inside the programs is SI: seconds, bytes, ratios. */
#ifndef SYNCGUARD_COMMON_UNITS_H
#define SYNCGUARD_COMMON_UNITS_H

#include <stddef.h>

#include "common/err.h"

/* Each parses the whole string, or fails with the accepted forms as reason.  NaN and infinity are rejected.
 * seconds: "250ms", "30s", "5m", "2h", "1-12:00:00", "10:00" (Slurm's forms: minutes:seconds), bare = seconds
 * bytes:   "64K", "2MiB", "1GB" (K/M/G/T and KiB.. are powers of 1024, KB/MB/GB/TB of 1000), bare = bytes
 * ratio:   "5%", "0.05"
 * rate:    bytes per second: "25GB/s", "1.5GiB/s", "400Gbit/s"
 * number:  "0.08", "1e-3"
 * count:   "64", "175e9", "7B", "1.5M" (K/M/B/T are powers of 1000)
 * "Gb" and similar suffixes are rejected as sizes and rates, because they may mean bits or bytes. */
int units_seconds(const char *text, double *seconds, struct err *err);
int units_bytes(const char *text, double *bytes, struct err *err);
int units_ratio(const char *text, double *ratio, struct err *err);
int units_rate(const char *text, double *bytes_per_s, struct err *err);
int units_number(const char *text, double *number, struct err *err);
int units_count(const char *text, double *count, struct err *err);

/* How all programs write a figure: three significant digits, SI, "?" for NaN.  The functions
 * above parse the written times, sizes, rates and ratios.  Return buf. */
char *units_format_s(char *buf, size_t size, double seconds);        /* "1.23 ms", "45.6 s", "2h05m" */
char *units_format_about_s(char *buf, size_t size, double seconds);  /* two digits: "1.2 ms" */
char *units_format_bytes(char *buf, size_t size, double bytes);      /* "1.50 MB" */
char *units_format_rate(char *buf, size_t size, double bytes_per_s); /* "25.0 GB/s" */
char *units_format_percent(char *buf, size_t size, double ratio);    /* "12.3 %" */
char *units_format_times(char *buf, size_t size, double factor);     /* "1.22x" */
char *units_format_factor(char *buf, size_t size, double factor);    /* "1.22", for sentences: "1.22 times" */
char *units_format_number(char *buf, size_t size, double number);    /* "12.3", "4.56k" */

#endif
