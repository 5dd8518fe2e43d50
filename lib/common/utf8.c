#include "common/utf8.h"

#include <locale.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

/* How many bytes the character at s has (RFC 3629); 0: none begins there. */
static size_t character_bytes(const unsigned char *s)
{
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, halves of surrogate pairs, and numbers beyond U+10FFFF. */
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) || (*s == 0xf0 && s[1] < 0x90) ||
        (*s == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

uint32_t utf8_next(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    size_t n = character_bytes(s);
    uint32_t ch = n < 2 ? *s : *s & (0x7fu >> n);

    if (!*s)
        return 0;
    *text += n ? n : 1;
    for (size_t i = 1; i < n; i++)
        ch = ch << 6 | (s[i] & 0x3fu);
    return n ? ch : UTF8_BROKEN;
}

/* In the locale "C", which a program has unless it calls setlocale(), wcwidth() knows ASCII alone. */
int utf8_columns(uint32_t ch)
{
    static locale_t utf8;
    locale_t own;
    int columns;

    if (ch < 0x80)
        return ch < 0x20 || ch == 0x7f ? -1 : 1;
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    own = uselocale(utf8); /* NULL: changes nothing */
    columns = wcwidth((wchar_t)ch);
    uselocale(own);
    return columns;
}

int utf8_width(const char *text, size_t bytes)
{
    const char *end = text + bytes;
    uint32_t ch;
    int width = 0;

    while (text < end && (ch = utf8_next(&text))) {
        int columns = utf8_columns(ch);

        width += columns < 0 ? 1 : columns;
    }
    return width;
}

char *utf8_mend(char *text)
{
    for (char *c = text; *c;) {
        size_t n = character_bytes((unsigned char *)c);

        if (!n)
            *c = '?';
        c += n ? n : 1;
    }
    return text;
}

/* C0, DEL and C1 controls, and the invisible characters that turn or join text: a job's name is its
 * user's. */
static bool dangerous(uint32_t ch)
{
    return ch < 0x20 || (ch >= 0x7f && ch <= 0x9f) || (ch >= 0x200b && ch <= 0x200f) ||
           (ch >= 0x2028 && ch <= 0x202e) || (ch >= 0x2060 && ch <= 0x206f);
}

void utf8_clean(char *to, size_t size, const char *from)
{
    size_t at = 0;

    while (*from) {
        const char *next = from;
        bool bad = dangerous(utf8_next(&next)) || !character_bytes((const unsigned char *)from);
        size_t bytes = bad ? 1 : (size_t)(next - from);

        if (at + bytes >= size)
            break;
        if (!bad)
            memmove(to + at, from, bytes);
        else
            to[at] = '?';
        at += bytes;
        from = next;
    }
    to[at] = '\0';
}
