/* markup.h - text in XML and HTML: whatever a name contains, it stays text. */
#ifndef SYNCGUARD_REPORT_MARKUP_H
#define SYNCGUARD_REPORT_MARKUP_H

#include <stdio.h>

/* As the text of an element, or as the value of an attribute in quotes: markup is escaped; what XML does not
 * allow, control characters but line breaks, and broken UTF-8 become '?'. */
void markup_text(FILE *out, const char *text);

#endif
