#include "tui/outlook.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/verdict_words.h"
#include "term/padded.h"
#include "tui/look.h"

#define NAME_LEAST 8 /* columns of a name that is shortened */

/* "node05 is slow (straggler) 1.26x for 18 s", with the range of the price or without. */
static void describe(const struct report_verdict *v, const char *names, bool range, char *buf, size_t size)
{
    verdict_words(buf, size, v->class[0] ? v->class : "?", names, v->culprits.n);
    if (!isnan(v->slowdown))
        text_append(buf, size, " %s",
                    range ? text_times_between(v->slowdown, v->slowdown_low, v->slowdown_high).s
                          : text_times(v->slowdown).s);
    if (!v->standing)
        text_append(buf, size, isnan(v->over_s) ? ", over" : ", over for %s", text_age(v->over_s).s);
    else if (!isnan(v->since_s))
        text_append(buf, size, " for %s", text_age(v->since_s).s);
    else if (!isnan(v->found_s))
        text_append(buf, size, ", found %s ago", text_age(v->found_s).s);
    if (v->acknowledged)
        text_append(buf, size, ", acknowledged");
}

/* "a-long…node7": the name with so many columns less, which the middle gives, because names differ at either
 * end. */
static void shorten(const char *name, int columns, char *buf, size_t size)
{
    int bytes = (int)strlen(name), keep = bytes - columns - 1;

    if (columns <= 0 || keep < NAME_LEAST || bytes != canvas_text_width(name)) /* not ASCII: cut at its end */
        snprintf(buf, size, "%s", name);
    else
        snprintf(buf, size, "%.*s…%s", keep - keep / 2, name, name + bytes - keep / 2);
}

/* What it costs stands behind the names: long ones are shortened for it, and where that is not enough the
 * price is without its range. */
static void describe_within(const struct report_verdict *v, int room, char *buf, size_t size)
{
    char names[160], shorter[168];

    verdict_names(names, sizeof(names), VERDICT_NAMES_CELL, &v->culprits);
    for (int range = 1; range >= 0; range--) {
        describe(v, names, range, buf, size);
        shorten(names, canvas_text_width(buf) - room, shorter, sizeof(shorter));
        describe(v, shorter, range, buf, size);
        if (canvas_text_width(buf) <= room)
            return;
    }
}

static void draw_none(struct canvas *c, int y, int x, int width, const struct report_row *j)
{
    if (!isnan(j->mds_ratio) && !isnan(j->limits.transfers))
        canvas_printf(c, y, x, width, STYLE_GOOD,
                      "nothing: a rank %s, transfers %s slower or more would be seen",
                      text_percent(j->mds_ratio).s, text_percent(j->limits.transfers).s);
    else if (!isnan(j->mds_ratio))
        canvas_printf(c, y, x, width, STYLE_GOOD, "nothing: a rank %s slower or more would be seen",
                      text_percent(j->mds_ratio).s);
    else
        canvas_put(c, y, x, width, STYLE_DIM,
                   strcmp(j->state, "running") != 0 ? "-"
                   : !strcmp(j->regime, "starting") ? "nothing yet: learning how much its work varies"
                                                    : "not judged");
}

void outlook_verdicts(struct canvas *c, int y, int x, int width, const struct report_row *j)
{
    int end = x + width;

    x += canvas_put(c, y, x, width, STYLE_DIM, "found") + 3;
    if (!j->verdicts.n)
        draw_none(c, y, x, end - x, j);
    for (size_t i = 0; i < j->verdicts.n; i++) {
        char text[256], names[160], more[32] = "";
        int room = end - x;

        if (i + 1 < j->verdicts.n) {
            snprintf(more, sizeof(more), "+%zu more", j->verdicts.n - i);
            room -= (int)strlen(more) + 2;
        }
        if (i)
            describe(&j->verdicts.list[i],
                     verdict_names(names, sizeof(names), VERDICT_NAMES_CELL, &j->verdicts.list[i].culprits),
                     true, text, sizeof(text));
        else
            describe_within(&j->verdicts.list[i], room, text, sizeof(text));
        if (i && canvas_text_width(text) > room) {
            canvas_printf(c, y, x, end - x, STYLE_WARN, "+%zu more", j->verdicts.n - i);
            return;
        }
        x += canvas_put(c, y, x, room, look_severity_style(look_verdict_severity(&j->verdicts.list[i])),
                        text) +
             2;
    }
}

void outlook_next(struct canvas *c, int y, int x, int width, const struct report_verdict *v)
{
    int end = x + width;

    x += canvas_put(c, y, x, width, STYLE_DIM, "next:") + 3;
    canvas_put(c, y, x, end - x, STYLE_BOLD, v->next);
}

void outlook_projection_draw(struct canvas *c, int y, int x, int width, const struct report_projection *p)
{
    enum style style = p->warning || p->reach_s[1] >= 0 ? STYLE_WARN : STYLE_TEXT;
    int end = x + width;

    x += canvas_put(c, y, x, width, STYLE_DIM, "ahead") + 3;
    x += canvas_put(c, y, x, end - x, style, p->text[0] ? p->text : "-");
    if (p->warning)
        canvas_put(c, y, x, end - x, STYLE_WARN, " · it swings wider and slower: a change is near");
}
