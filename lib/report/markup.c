#include "report/markup.h"

#include <stddef.h>
#include <stdint.h>

#include "common/utf8.h"

void markup_text(FILE *out, const char *text)
{
    while (*text) {
        const char *at = text;
        uint32_t ch = utf8_next(&text);

        if (ch == '<')
            fputs("&lt;", out);
        else if (ch == '>')
            fputs("&gt;", out);
        else if (ch == '&')
            fputs("&amp;", out);
        else if (ch == '"')
            fputs("&quot;", out);
        else if ((ch < 0x20 && ch != '\n') || (ch >= 0x7f && ch < 0xa0) || ch == UTF8_BROKEN ||
                 ch == 0xfffe || ch == 0xffff)
            fputc('?', out);
        else
            fwrite(at, 1, (size_t)(text - at), out);
    }
}
