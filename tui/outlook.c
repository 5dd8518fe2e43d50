#include "tui/outlook.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/verdict_words.h"
#include "tui/draw.h"
#include "tui/padded.h"

#define MINUTES(s) ((s) / 60)

/* "node05 is slow (straggler) 1.26x for 18 s" */
static void describe(const struct snap_verdict *v, char *buf, size_t size)
{
    char price[32] = "", age[64] = "", names[160], words[256];

    if (!isnan(v->slowdown))
        snprintf(price, sizeof(price), " %s", padded_trim(padded_times(v->slowdown)).text);
    if (!v->standing)
        snprintf(age, sizeof(age), ", over%s%s", isnan(v->over_s) ? "" : " for ",
                 isnan(v->over_s) ? "" : padded_trim(padded_age(v->over_s)).text);
    else if (!isnan(v->since_s))
        snprintf(age, sizeof(age), " for %s", padded_trim(padded_age(v->since_s)).text);
    else if (!isnan(v->found_s))
        snprintf(age, sizeof(age), ", found %s ago", padded_trim(padded_age(v->found_s)).text);
    draw_culprits(names, sizeof(names), v->culprits, v->n_culprits);
    snprintf(buf, size, "%s%s%s%s",
             verdict_words(words, sizeof(words), v->class[0] ? v->class : "?", names, v->n_culprits), price,
             age, v->acknowledged ? ", acknowledged" : "");
}

static void draw_none(struct canvas *c, int y, int x, int width, const struct snap_job *j)
{
    if (!isnan(j->mds_ratio))
        canvas_printf(c, y, x, width, STYLE_GOOD, "nothing: a rank %s slower or more would be seen",
                      padded_trim(padded_percent(j->mds_ratio)).text);
    else
        canvas_put(c, y, x, width, STYLE_DIM,
                   strcmp(j->state, "running") != 0 ? "-"
                   : !strcmp(j->regime, "starting") ? "nothing yet: learning how much its work varies"
                                                    : "nothing");
}

void outlook_verdicts(struct canvas *c, int y, int x, int width, const struct snap_job *j)
{
    int end = x + width;

    x += canvas_put(c, y, x, width, STYLE_DIM, "found") + 3;
    if (!j->n_verdicts)
        draw_none(c, y, x, end - x, j);
    for (size_t i = 0; i < j->n_verdicts; i++) {
        char text[256], more[32] = "";
        int room = end - x;

        describe(&j->verdict[i], text, sizeof(text));
        if (i + 1 < j->n_verdicts) {
            snprintf(more, sizeof(more), "+%zu more", j->n_verdicts - i);
            room -= (int)strlen(more) + 2;
        }
        if (i && canvas_text_width(text) > room) {
            canvas_printf(c, y, x, end - x, STYLE_WARN, "+%zu more", j->n_verdicts - i);
            return;
        }
        x += canvas_put(c, y, x, room, draw_severity_style(snap_verdict_severity(&j->verdict[i])), text) + 2;
    }
}

/* "40 min", "3.2 h" */
static void put_time(char *buf, size_t size, double s)
{
    if (s < 2 * 3600)
        snprintf(buf, size, "%.0f min", fmax(1, MINUTES(s)));
    else if (s < 86400 * 2)
        snprintf(buf, size, "%.1f h", s / 3600);
    else
        snprintf(buf, size, "%.0f d", fmin(s / 86400, 9999));
}

char *outlook_projection(const struct snap_projection *p, char *buf, size_t size)
{
    char p50[24], p10[24], p90[24];

    buf[0] = '\0';
    if (p->text[0]) {
        snprintf(buf, size, "%s", p->text);
    } else if (p->reach_p50_s >= 0) {
        put_time(p50, sizeof(p50), p->reach_p50_s);
        put_time(p10, sizeof(p10), p->reach_p10_s);
        put_time(p90, sizeof(p90), p->reach_p90_s);
        snprintf(buf, size, "synchronisation in about %s", p50);
        if (!isnan(p->reach_p10_s) && !isnan(p->reach_p90_s))
            snprintf(buf + strlen(buf), size - strlen(buf), " (%s to %s)", p10, p90);
    } else if (!strcmp(p->trend, "none")) {
        snprintf(buf, size, "no trend");
    } else if (p->trend[0] && !isnan(p->per_hour)) {
        snprintf(buf, size, "synchronisation is %s by %s an hour", p->trend,
                 padded_trim(padded_percent(fabs(p->per_hour))).text);
    }
    return buf;
}

void outlook_projection_draw(struct canvas *c, int y, int x, int width, const struct snap_projection *p)
{
    char text[320];
    enum style style = p->warning || p->reach_p50_s >= 0 ? STYLE_WARN : STYLE_TEXT;
    int end = x + width;

    x += canvas_put(c, y, x, width, STYLE_DIM, "ahead") + 3;
    outlook_projection(p, text, sizeof(text));
    x += canvas_put(c, y, x, end - x, style, text[0] ? text : "-");
    if (p->warning)
        canvas_put(c, y, x, end - x, STYLE_WARN, " · it swings wider and slower: a change is near");
}

char *outlook_past(const struct snap_past *p, char *buf, size_t size)
{
    buf[0] = '\0';
    if (p->text[0])
        snprintf(buf, size, "%s", p->text);
    else if (p->runs > 0 && !isnan(p->step_ratio))
        snprintf(buf, size, "step %s of the median of %lld similar runs",
                 padded_trim(padded_times(p->step_ratio)).text, (long long)p->runs);
    return buf;
}
