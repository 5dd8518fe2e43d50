#include "tui/overview.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/job_line.h"
#include "tui/keymap.h"
#include "tui/look.h"

#define ID_MAX 14 /* columns of a job's name in Slurm */
#define WORD   5  /* of "ENDED" and of "100 %" */

static const struct report_row *job_of(const struct ui *ui, size_t i)
{
    return &ui->jobs->job[ui->list[SCREEN_JOBS].order[i]];
}

/* "4711" of 4711.0: most jobs have one guarded step. */
static int id_width(const struct report_row *j)
{
    int n = (int)strlen(j->id);

    return n > 2 && !strcmp(j->id + n - 2, ".0") ? n - 2 : n;
}

static int cell_width(const struct ui *ui)
{
    int id = 1;

    for (size_t i = 0; i < ui->list[SCREEN_JOBS].n; i++)
        if (id_width(job_of(ui, i)) > id)
            id = id_width(job_of(ui, i));
    return 1 + (id < ID_MAX ? id : ID_MAX) + 1 + WORD;
}

int overview_across(const struct ui *ui, int width)
{
    int across = width / cell_width(ui);

    return across > 1 ? across : 1;
}

static bool is_tag(const struct report_row *j, const char *tag)
{
    return !strcmp(job_line_tag(j), tag);
}

static void draw_counts(struct canvas *c, const struct ui *ui, int y)
{
    static const char *const tags[] = { "HUNG",  "LOST", "NAN",   "SLOW", "SEEN", "OK",
                                        "EARLY", "PART", "START", "SUSP", "?",    "ENDED" };
    int x = 1;

    for (size_t t = 0; t < ARRAY_SIZE(tags); t++) {
        enum severity worst = SEVERITY_NONE;
        size_t n = 0;

        for (size_t i = 0; i < ui->list[SCREEN_JOBS].n; i++) {
            if (!is_tag(job_of(ui, i), tags[t]))
                continue;
            if (look_job_severity(job_of(ui, i)) > worst)
                worst = look_job_severity(job_of(ui, i));
            n++;
        }
        if (n)
            x += 2 + canvas_printf(c, y, x, c->width - x, look_severity_style(worst), "%zu %s", n, tags[t]);
    }
}

static void draw_cell(struct canvas *c, int y, int x, int width, const struct report_row *j)
{
    enum style style = look_severity_style(look_job_severity(j));
    double cost = job_line_cost(j);
    char word[16];

    if (!isnan(cost) && (is_tag(j, "SLOW") || is_tag(j, "SEEN")))
        snprintf(word, sizeof(word), "%.0f %%", 100 * cost);
    else
        snprintf(word, sizeof(word), "%s", job_line_tag(j));
    canvas_printf(c, y, x + 1, width - 2 - WORD, report_row_alive(j) ? STYLE_TEXT : STYLE_DIM, "%.*s",
                  id_width(j), j->id);
    canvas_put_right(c, y, x + width - WORD, WORD, style, word);
}

void overview_draw(struct canvas *c, const struct ui *ui, int y, int rows)
{
    const struct ui_list *l = &ui->list[SCREEN_JOBS];
    int width = cell_width(ui), across = overview_across(ui, c->width);

    draw_counts(c, ui, y++);
    for (int i = 0; i < across * rows && l->top + i < (int)l->n; i++) {
        int at = y + i % rows, x = i / rows * width;

        draw_cell(c, at, x, width, job_of(ui, (size_t)(l->top + i)));
        if (l->top + i == l->selected) {
            canvas_put(c, at, x, 1, STYLE_TEXT, "▶");
            canvas_reverse(c, at, x, width);
        }
        if (i % rows == 0)
            canvas_hit(c, y, x, rows, width, KEY_ACTION_ROW, l->top + i);
    }
}
