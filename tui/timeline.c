#include "tui/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/verdict_words.h"
#include "term/padded.h"
#include "tui/look.h"

#define LETTERS 3 /* side by side, of verdicts that began together */

/* Standing verdicts before those that are over, hangs before those with a price, then the largest price. */
static int by_weight(const void *pa, const void *pb)
{
    const struct report_verdict *a = *(const struct report_verdict *const *)pa,
                                *b = *(const struct report_verdict *const *)pb;

    if (isnan(a->to_s) != isnan(b->to_s))
        return isnan(b->to_s) - isnan(a->to_s);
    if (verdict_stops(a->class) != verdict_stops(b->class))
        return verdict_stops(b->class) - verdict_stops(a->class);
    if (a->slowdown != b->slowdown && !isnan(a->slowdown) && !isnan(b->slowdown))
        return a->slowdown < b->slowdown ? 1 : -1;
    return (a > b) - (a < b);
}

/* Those that reach into the columns, the heaviest first; returns how many. */
static size_t choose(const struct report_verdict *chosen[REPORT_VERDICTS_MAX], const struct report *v,
                     const struct timeline_place *at)
{
    size_t n = 0;

    for (size_t i = 0; i < v->timeline.n; i++) {
        const struct report_verdict *s = &v->timeline.list[i];

        if (s->from_s >= 0 && !(s->to_s >= at->columns * at->column_s))
            chosen[n++] = s;
    }
    qsort(chosen, n, sizeof(*chosen), by_weight);
    return n;
}

int timeline_rows(const struct report *v, const struct timeline_place *at, int max)
{
    const struct report_verdict *chosen[REPORT_VERDICTS_MAX];
    int n = (int)choose(chosen, v, at);

    return n < 1 ? 1 : n > max ? max : n;
}

/* Columns back from the newest; -1: not within them. */
static int column_of(const struct timeline_place *at, double age_s)
{
    double back = age_s / at->column_s;

    return back < at->columns ? (int)back : -1;
}

/* The column on the canvas where it began; -1: before the oldest. */
static int begin_of(const struct timeline_place *at, const struct report_verdict *s)
{
    int back = column_of(at, s->from_s);

    return back < 0 ? -1 : at->x + at->columns - 1 - back;
}

static void draw_span(struct canvas *c, int y, const struct report_verdict *s,
                      const struct timeline_place *at)
{
    enum style style = look_class_style(s->class);
    int begin = begin_of(at, s), from = begin < 0 ? at->x : begin;
    int to = at->x + at->columns - 1 - (isnan(s->to_s) ? 0 : column_of(at, s->to_s));

    canvas_fill(c, y, from, to - from + 1, style, 0x2501);
    if (to > from)
        canvas_fill(c, y, to, 1, style, isnan(s->to_s) ? 0x25b6 : 0x2502);
    if (begin < 0 && to > from)
        canvas_fill(c, y, from++, 1, style, 0x25c0);
    look_class_draw(c, y, from, s->class);
}

/* What lies under a heavier one shows at least its letter where it began, or just after those that are there.
 */
static void draw_above(struct canvas *c, int y, const struct report_verdict *s,
                       const struct timeline_place *at)
{
    int x = begin_of(at, s), end = at->x + at->columns - 1;
    const struct cell *cell;

    for (int last = x + LETTERS; x >= 0 && x < last && x < end; x++) {
        cell = canvas_at(c, y, x);
        if (!cell || !(cell->ch >= 'A' && cell->ch <= 'Z')) {
            look_class_draw(c, y, x, s->class);
            return;
        }
    }
}

void timeline_draw(struct canvas *c, int y, int rows, const struct report *v, const struct timeline_place *at)
{
    const struct report_verdict *chosen[REPORT_VERDICTS_MAX];
    size_t n = choose(chosen, v, at);
    int width = at->x - 2;

    if (!(at->column_s > 0))
        return;
    for (int i = 0; i < rows; i++)
        canvas_fill(c, y + i, at->x, at->columns, STYLE_DIM, 0x2500);
    if (!n)
        canvas_put_right(c, y, 1, width, STYLE_DIM, "no verdict in this time");
    for (size_t i = 0; i < (size_t)rows && i < n; i++, y++) {
        const struct report_verdict *s = chosen[i];
        /* The last line has all that have none of their own. */
        size_t end = i + 1 == (size_t)rows ? n : i + 1;
        char text[256], names[160];

        for (size_t k = end; k-- > i;)
            draw_span(c, y, chosen[k], at);
        for (size_t k = i + 1; k < end; k++)
            draw_above(c, y, chosen[k], at);
        snprintf(text, sizeof(text), "%s%s%s", s->class[0] ? s->class : "?", s->culprits.n ? " " : "",
                 verdict_names(names, sizeof(names), VERDICT_NAMES_CELL, &s->culprits));
        if (end > i + 1)
            text_append(text, sizeof(text), " and %zu more", end - i - 1);
        else if (report_verdict_is_priced(s) && !isnan(s->to_s))
            text_append(text, sizeof(text), " %s", text_times(s->slowdown).s);
        canvas_put_right(c, y, 1, width, isnan(s->to_s) ? look_class_style(s->class) : STYLE_DIM, text);
    }
}
