/* page_parts.c - paragraphs, figures and tables. */
#include "ctl/page_parts.h"

#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define CHARS_MAX 2048           /* longer than any sentence of an answer */
#define AT_MAX    253402300800.0 /* Unix time of the year 10000 */

struct shown shown(const json_t *o, const char *key)
{
    struct shown t;

    json_show_text(o, key, t.s, sizeof(t.s));
    return t;
}

/* Text that is styled once it is laid out, because escape sequences have no width. */
struct styled {
    FILE *out;
    char *text;
    size_t size;
};

static void styled_begin(struct styled *s)
{
    s->out = open_memstream(&s->text, &s->size);
    if (!s->out)
        abort();
}

/* The first lines get the style, the others none.  Each line by itself, because a pager ends colours with the
 * line. */
static void styled_end(struct styled *s, const struct page *p, enum page_style style, int lines)
{
    static const char *const codes[] = {
        [PAGE_PLAIN] = NULL, [PAGE_TITLE] = "1", [PAGE_DIM] = "2",
        [PAGE_GOOD] = "32",  [PAGE_WARN] = "33", [PAGE_BAD] = "1;31",
    };
    const char *at;

    fclose(s->out);
    for (at = s->text; *at && p->form.colour && codes[style] && lines > 0; lines--) {
        int bytes = (int)strcspn(at, "\n");

        fprintf(p->out, "\033[%sm%.*s\033[0m\n", codes[style], bytes, at);
        at += bytes + (at[bytes] == '\n');
    }
    fputs(at, p->out);
    free(s->text);
}

static void put_paragraph(const struct page *p, enum page_style style, int indent, const char *text)
{
    char clean[2048]; /* as long as page_line() makes one; a trace's names are as the trace has them */
    struct styled s;

    utf8_clean(clean, sizeof(clean), text);
    styled_begin(&s);
    text_wrap(s.out, clean, indent, p->form.columns);
    styled_end(&s, p, style, INT_MAX);
}

void page_line(const struct page *p, int indent, const char *fmt, ...)
{
    char line[2048];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    put_paragraph(p, PAGE_PLAIN, indent, line);
}

void page_title(const struct page *p, const char *text)
{
    fputc('\n', p->out);
    put_paragraph(p, PAGE_TITLE, 0, text);
}

void page_hang(const struct page *p, enum page_style style, const char *head, const char *text)
{
    char clean[2048];
    struct styled s;

    utf8_clean(clean, sizeof(clean), text);
    styled_begin(&s);
    text_hang(s.out, PAGE_INDENT, head, clean, PAGE_EVIDENCE, p->form.columns);
    styled_end(&s, p, style, INT_MAX);
}

/* ---- a job ---- */

enum page_style page_severity(enum severity s)
{
    static const enum page_style styles[] = {
        [SEVERITY_NONE] = PAGE_PLAIN,
        [SEVERITY_GOOD] = PAGE_GOOD,
        [SEVERITY_WARN] = PAGE_WARN,
        [SEVERITY_BAD] = PAGE_BAD,
    };

    return styles[s];
}

void page_sentence(const struct page *p)
{
    const struct report_row *j = &p->report->job;
    char text[600];

    if (*j->sentence)
        snprintf(text, sizeof(text), "%s", j->sentence);
    else
        snprintf(text, sizeof(text), "Job %s is %s; nothing can be said about it yet.", page_word(j->id),
                 page_word(j->state));
    put_paragraph(p, page_severity(report_severity(p->report)), 0, text);
}

/* ---- figures and tables ---- */

struct table *page_figures(void)
{
    static const struct text_column layout[] = { { "", false, 0 }, { "", false, 0 } };

    return table_new(layout, ARRAY_SIZE(layout));
}

void page_figure(struct table *t, const char *name, const char *fmt, ...)
{
    char words[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    utf8_clean(words, sizeof(words), words);
    if (!*words || !strcmp(words, "-"))
        return;
    table_cell(t, "%s", name);
    table_cell(t, "%s", words);
}

void page_put_figures(const struct page *p, int indent, struct table *t)
{
    table_print(t, p->out, indent, p->form.columns);
    table_free(t);
}

struct text page_ago(double age_s)
{
    struct text t = text_s(age_s);

    if (!isnan(age_s))
        text_append(t.s, sizeof(t.s), " ago");
    return t;
}

struct text page_at(double unix_s)
{
    struct text t = { "-" };
    time_t at = unix_s > 0 && unix_s < AT_MAX ? (time_t)unix_s : 0;
    struct tm tm;

    if (at && localtime_r(&at, &tm))
        strftime(t.s, sizeof(t.s), "%Y-%m-%d %H:%M:%S", &tm);
    return t;
}

struct text page_user(double uid)
{
    bool valid = uid >= 0 && uid < UINT32_MAX;
    const struct passwd *pw = valid ? getpwuid((uid_t)uid) : NULL;
    struct text t = { "-" };

    if (pw)
        snprintf(t.s, sizeof(t.s), "%s", pw->pw_name);
    else if (valid)
        snprintf(t.s, sizeof(t.s), "uid %.0f", uid);
    return t;
}

struct text page_count(int64_t n)
{
    return text_count((double)n);
}

struct text page_number(int64_t n)
{
    return text_number(n < 0 ? NAN : (double)n);
}

const char *page_word(const char *text)
{
    return *text ? text : "-";
}

static void put_cell(const struct page *p, struct table *t, const void *row, const struct page_column *c)
{
    const void *at = (const char *)row + c->field;
    size_t size = c->chars ? c->chars : CHARS_MAX;
    char buf[CHARS_MAX];
    double number;

    if (c->cell) {
        table_cell(t, "%s", c->cell(row, buf, size));
    } else if (c->words) {
        number = c->key ? json_get_number(row, c->key) : *(const double *)at;
        table_cell(t, "%s", c->words(c->when ? json_get_number(p->answer, "now") - number : number).s);
    } else if (c->count) {
        table_cell(t, "%s", page_count(*(const int64_t *)at).s);
    } else if (c->key) {
        table_cell(t, "%s", json_show_text(row, c->key, buf, size));
    } else {
        utf8_clean(buf, size, page_word(at));
        table_cell(t, "%s", buf);
    }
}

/* size 0: rows is a JSON array. */
void page_table(const struct page *p, const char *title, const void *rows, size_t n, size_t size,
                const struct page_column *column, size_t columns, int indent)
{
    struct text_column *layout = xcalloc(columns, sizeof(*layout));
    struct table *t = table_new(layout, columns);
    struct styled s;

    if (title && n)
        page_title(p, title);
    for (size_t i = 0; i < columns; i++)
        layout[i] =
            (struct text_column){ column[i].title, column[i].words || column[i].count || column[i].right,
                                  column[i].spare };
    for (size_t i = 0; i < n; i++) {
        const void *row = size ? (const char *)rows + i * size : (const void *)json_array_get(rows, i);

        for (size_t c = 0; c < columns; c++)
            put_cell(p, t, row, &column[c]);
    }
    styled_begin(&s);
    table_print(t, s.out, indent, p->form.columns);
    styled_end(&s, p, PAGE_DIM, *layout[0].title != '\0'); /* the titles */
    table_free(t);
    free(layout);
}

void page_objects(const struct page *p, const char *title, const json_t *rows,
                  const struct page_column *column, size_t columns, int indent)
{
    page_table(p, title, rows, json_array_size(rows), 0, column, columns, indent);
}
