/* filter.h - which rows of a list a filter shows: those that have all its words, as in "alice cost>10".
 *
 * A word is a text that stands anywhere in the row, or compares a column with a value: its title in any
 * case, then '>' or '<' and a figure ("cost>10" or "cost>10%", "step>250ms", "ranks>64"), or '=' and the
 * beginning of a text ("state=run").  What is unknown is neither more nor less than anything.  A comparison
 * without its value, as while it is typed, is true; a word with an unknown title or no figure is a text. */
#ifndef SYNCGUARD_TUI_FILTER_H
#define SYNCGUARD_TUI_FILTER_H

#include <stdbool.h>

#include "term/table.h"

/* has: whether the text stands in one of the row's texts, in any case. */
bool filter_shows(const char *filter, const struct table_column *columns, int n, const void *row,
                  bool (*has)(const void *row, const char *text));

#endif
