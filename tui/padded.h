/* padded.h - numbers for columns: written as common/units.h has them, flush right, of the same width, so that
 * nothing jumps when a value changes.  Unknown (NaN, negative counts) is "-", never 0.
 * By value, so that a call can stand inside another: canvas_put(..., padded_s(x).text). */
#ifndef SYNCGUARD_TUI_PADDED_H
#define SYNCGUARD_TUI_PADDED_H

#include <stdint.h>

struct padded {
    char text[24];
};

struct padded padded_s(double seconds);       /* "24.3 ms", "2m05s": 7 columns */
struct padded padded_about_s(double seconds); /* " 24 ms", "1.3 s": two digits in the same 7 columns */
struct padded padded_percent(double ratio);   /* "14.2 %": 6 columns */
struct padded padded_times(double factor);    /* "1.17x": 5 columns */
struct padded padded_number(double number);   /* "41.2", "4.12k": 5 columns, 6 below 1 */
struct padded padded_count(int64_t n);        /* "12345", "1234k": 5 columns */
struct padded padded_bytes(double bytes);     /* "12.3 MB": 7 columns */
struct padded padded_age(double seconds);     /* "12 s", "3m05s", "2h07m", "3d04h": 6 columns */
struct padded padded_steps(int64_t n);        /* "1 234 567": as long as it must be */

/* Without the blanks around it, for running text. */
struct padded padded_trim(struct padded f);

#endif
