/* Texts as they are written: what is no UTF-8. */
#include "common/text.h"

#include <string.h>

#include "tests/tap.h"

static const struct {
    const char *text, *want, *what;
} cases[] = {
    { "", "", "an empty text stays as it is" },
    { "plain", "plain", "ASCII stays as it is" },
    { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "characters of two bytes stay as they are" },
    { "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80",
      "characters of three and four bytes stay as they are" },
    { "gr\xc3\xbc\xc3", "gr\xc3\xbc?", "a character of two bytes that was cut becomes one '?'" },
    { "\xf0\x9f\x98", "???", "a character of four bytes that was cut becomes three '?'" },
    { "gr\xfc\xdf", "gr??", "letters of Latin 1 become '?'" },
    { "\xc0\xaf", "??", "a slash in two bytes becomes two '?'" },
    { "\xe0\x80\xaf", "???", "a slash in three bytes becomes three '?'" },
    { "\xed\xa0\x80", "???", "half of a surrogate pair becomes three '?'" },
    { "\xf4\x90\x80\x80", "????", "a character beyond U+10FFFF becomes four '?'" },
    { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "U+10FFFF stays as it is" },
    { "\x80z\xff", "?z?", "bytes that begin no character become '?'" },
};

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[32];

        snprintf(buf, sizeof(buf), "%s", cases[i].text);
        is_str(text_utf8(buf), cases[i].want, "text_utf8: %s", cases[i].what);
    }
    return done_testing();
}
