/* Texts and tables: invalid UTF-8, columns, widths. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/utf8.h"
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

static const struct {
    const char *text;
    int want;
    const char *what;
} widths[] = {
    { "node1", 5, "ASCII" },
    { "gr\u00fc\u00df", 4, "characters of two bytes" },
    { "\u6f22\u5b57", 4, "two Chinese characters" },
    { "e\u0301t\u00e9", 3, "an accent that combines with the letter before" },
    { "\U0001f600", 2, "an emoji" },
    { "a\xff\x80", 3, "bytes that are no UTF-8" },
    { "a\tb", 3, "a control character" },
};

/* Columns stand under each other as a terminal shows them. */
static void aligned(void)
{
    static const struct text_column columns[] = { { "NAME", false, 0 }, { "N", true, 0 } };
    struct table *t = table_new(columns, 2);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    table_cell(t, "\u6f22\u5b57\u6f22");
    table_cell(t, "1");
    table_cell(t, "e\u0301");
    table_cell(t, "20");
    table_print(t, out, 0, 0);
    fclose(out);
    is_str(text, "NAME     N\n\u6f22\u5b57\u6f22   1\ne\u0301       20\n",
           "table_print: columns with wide and combining characters are aligned");
    free(text);
    table_free(t);
    text = NULL;
    out = open_memstream(&text, &bytes);
    text_wrap(out, "\u6f22\u5b57 \u6f22\u5b57", 0, 8);
    text_wrap(out, "e\u0301e\u0301e\u0301 e\u0301ee", 0, 8);
    fclose(out);
    is_str(text, "\u6f22\u5b57\n\u6f22\u5b57\ne\u0301e\u0301e\u0301 e\u0301ee\n",
           "text_wrap: a paragraph is broken by columns, not bytes");
    free(text);
}

static void is_table(const struct table *t, int indent, int columns, const char *wanted, const char *what)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    table_print(t, out, indent, columns);
    fclose(out);
    is_str(text, wanted, "table_print: %s", what);
    free(text);
}

/* Cells of any length; spare columns are left out and text is broken where the terminal is narrow. */
static void fitted(void)
{
    static const struct text_column columns[] = {
        { "NODE", false, 0 }, { "CPU", true, 2 }, { "MEM", true, 1 }, { "VERDICT", false, 0 }
    };
    struct table *t = table_new(columns, 4);
    char wide[2000], wanted[2100];

    table_cell(t, "n1,n2,n3,n4,n5");
    table_cell(t, "0.40 %%");
    table_cell(t, "6.29 MB");
    table_cell(t, "computes 24 %% longer than its peers");
    is_table(t, 0, 0,
             "NODE               CPU      MEM  VERDICT\n"
             "n1,n2,n3,n4,n5  0.40 %  6.29 MB  computes 24 % longer than its peers\n",
             "a table that is not for a terminal is as wide as needed");
    is_table(t, 0, 52,
             "NODE               CPU      MEM  VERDICT\n"
             "n1,n2,n3,n4,n5  0.40 %  6.29 MB  computes 24 %\n"
             "                                 longer than its\n"
             "                                 peers\n",
             "text is broken between words so that the table fits the terminal");
    is_table(t, 2, 38,
             "  NODE              MEM  VERDICT\n"
             "  n1,n2,n3,n4,  6.29 MB  computes 24 %\n"
             "  n5                     longer than\n"
             "                         its peers\n"
             "  Left out at this width (--wide shows\n"
             "  all): CPU\n",
             "the most dispensable column is left out first, and named");
    is_table(t, 0, 26,
             "NODE          VERDICT\n"
             "n1,n2,n3,n4,  computes 24\n"
             "n5            % longer\n"
             "              than its\n"
             "              peers\n"
             "Left out at this width\n"
             "(--wide shows all): CPU,\n"
             "MEM\n",
             "a list is broken behind a comma");
    table_free(t);
    memset(wide, 'x', sizeof(wide) - 1);
    wide[sizeof(wide) - 1] = '\0';
    t = table_new(columns, 1);
    table_cell(t, "%s\u00fc", wide);
    snprintf(wanted, sizeof(wanted), "NODE\n%s\u00fc\n", wide);
    is_table(t, 0, 0, wanted, "a cell of 2001 characters is printed in full");
    table_free(t);
    t = table_new(columns, 1);
    table_cell(t, "gr\u00fc\u00dfe\u6f22\u5b57gr\u00fc\u00dfegr\u00fc\u00dfegr\u00fc\u00dfegr\u00fc\u00dfe");
    is_table(
        t, 0, 24,
        "NODE\ngr\u00fc\u00dfe\u6f22\u5b57gr\u00fc\u00dfegr\u00fc\u00dfegr\u00fc\u00dfe\ngr\u00fc\u00dfe\n",
        "a word of more than 24 columns is broken between characters");
    table_free(t);
}

int main(void)
{
    is_str(text_plural(1), "", "text_plural: one has no plural");
    is_str(text_plural(0), "s", "text_plural: none has the plural");
    is_str(text_plural(2), "s", "text_plural: two have the plural");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char buf[32];

        snprintf(buf, sizeof(buf), "%s", cases[i].text);
        is_str(utf8_mend(buf), cases[i].want, "utf8_mend: %s", cases[i].what);
    }
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        is_int(utf8_width(widths[i].text, strlen(widths[i].text)), widths[i].want,
               "utf8_width: the columns of %s", widths[i].what);
    aligned();
    fitted();
    return done_testing();
}
