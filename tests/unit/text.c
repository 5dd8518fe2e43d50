/* Texts as they are written: what is no UTF-8. */
#include "common/text.h"

#include <string.h>

#include "tests/tap.h"

static const struct {
    const char *text, *want, *what;
} cases[] = {
    { "", "", "nothing" },
    { "plain", "plain", "ASCII" },
    { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "two bytes" },
    { "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80", "three and four" },
    { "gr\xc3\xbc\xc3", "gr\xc3\xbc?", "a character that was cut" },
    { "\xf0\x9f\x98", "???", "another" },
    { "gr\xfc\xdf", "gr??", "Latin 1" },
    { "\xc0\xaf", "??", "a slash with more bytes than it needs" },
    { "\xe0\x80\xaf", "???", "and more" },
    { "\xed\xa0\x80", "???", "half of a pair" },
    { "\xf4\x90\x80\x80", "????", "beyond U+10FFFF" },
    { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "U+10FFFF" },
    { "\x80z\xff", "?z?", "bytes that begin nothing" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[32];

        snprintf(buf, sizeof(buf), "%s", cases[i].text);
        is_str(text_utf8(buf), cases[i].want, cases[i].what);
    }
    return done_testing();
}
