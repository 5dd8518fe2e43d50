/* padded.h - numbers for columns: written as common/text.h has them, flush right, of the same width, so that
 * nothing jumps when a value changes.  Unknown (NaN, negative) is "-", never 0. */
#ifndef SYNCGUARD_TERM_PADDED_H
#define SYNCGUARD_TERM_PADDED_H

#include <stdint.h>

#include "common/text.h"

struct text padded_s(double seconds);       /* "24.3 ms", "2m05s": 7 columns */
struct text padded_about_s(double seconds); /* " 24 ms", "1.3 s": two digits in the same 7 columns */
struct text padded_percent(double ratio);   /* "14.2 %": 6 columns */
struct text padded_times(double factor);    /* "1.17x": 5 columns */
struct text padded_number(double number);   /* "41.2", "4.12k": 5 columns, 6 below 1 */
struct text padded_count(int64_t n);        /* "12345", "1234k": 5 columns */
struct text padded_bytes(double bytes);     /* "12.3 MB": 7 columns */
struct text padded_age(double seconds);     /* "12 s", "3m05s", "2h07m", "3d04h": 6 columns */
struct text padded_steps(int64_t n);        /* "1 234 567": as long as it must be */

/* Without the blanks before it, for running text. */
struct text padded_trim(struct text f);

#endif
