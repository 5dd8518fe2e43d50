/* utf8.h - characters of UTF-8 text, and the columns that they take on a terminal.
 *
 * Columns are those of wcwidth(): 2 for a Chinese character, 0 for a combining accent, whatever the locale of
 * the program. */
#ifndef SYNCGUARD_COMMON_UTF8_H
#define SYNCGUARD_COMMON_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_BROKEN 0xfffdu

/* Take the next character off *text; 0 at its end (and stays there).  A byte that begins no character is
 * UTF8_BROKEN. */
uint32_t utf8_next(const char **text);

/* 0, 1 or 2; -1: not printable. */
int utf8_columns(uint32_t ch);

/* Columns of the first bytes of text, or of all of it where it is shorter; what is not printable counts 1. */
int utf8_width(const char *text, size_t bytes);

/* In place: each byte that is not part of a character becomes '?'.  Returns text. */
char *utf8_mend(char *text);

/* Copy into size bytes, cut at a character's boundary.  Invalid bytes, and control and text-direction
 * characters, which could garble a terminal, become '?'.  to may be from.  Every text from outside passes
 * through here before it reaches a terminal or the log: in json_get_text() and json_show_text()
 * (wire/json.h), on pages (ctl/page_parts.c), in err_set() and log_warn(). */
void utf8_clean(char *to, size_t size, const char *from);

#endif
