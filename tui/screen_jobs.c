/* screen_jobs.c - the list of guarded jobs. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/xalloc.h"
#include "report/job_line.h"
#include "term/draw.h"
#include "term/padded.h"
#include "tui/look.h"
#include "tui/overview.h"
#include "tui/screen.h"

#define SILENT_S 5 /* figures of a running job are old after this time without telemetry */

static bool is_silent(const struct report_row *j)
{
    return report_row_alive(j) && j->age_s > SILENT_S;
}

static enum style faded_style(const void *row)
{
    const struct report_row *j = row;

    return !report_row_alive(j) || is_silent(j) ? STYLE_DIM : STYLE_TEXT;
}

static enum style id_style(const void *row)
{
    return report_row_alive(row) ? STYLE_BOLD : STYLE_DIM;
}

static enum style state_style(const void *row)
{
    const struct report_row *j = row;

    return look_job_severity(j) == SEVERITY_BAD && strcmp(j->state, "running") ? STYLE_BAD : faded_style(j);
}

/* Where "ended 3m ago" has no room only when: the tag before it says that it ended, and how. */
static void draw_state(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;
    const char *text, *when;
    char buf[64];

    text = job_line_state(j, buf, sizeof(buf));
    when = strchr(text, ' ');
    table_put(at, when ? faded_style(j) : state_style(j),
              when && canvas_text_width(text) > at->width ? when + 1 : text);
}

static bool begins_state(const void *row, const char *text)
{
    return job_line_in_state(row, text);
}

static enum style synchronisation_style(const void *row)
{
    const struct report_row *j = row;

    return j->synchronisation_ratio >= 0.1 && faded_style(j) == STYLE_TEXT ? STYLE_WARN : faded_style(j);
}

static void draw_tag(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;

    table_put(at, look_severity_style(look_job_severity(j)), job_line_tag(j));
}

static void draw_regime(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;
    static const struct {
        const char *name, *brief;
    } brief[] = { { "communication", "comm" }, { "synchronisation", "sync" }, { "starting", "start" } };
    const char *text = j->regime[0] ? j->regime : "-";

    for (size_t i = 0; i < ARRAY_SIZE(brief) && (int)strlen(text) > at->width; i++)
        if (!strcmp(text, brief[i].name))
            text = brief[i].brief;
    table_put(at, faded_style(j), text);
}

static double cost_of(const void *row)
{
    return job_line_cost(row);
}

static enum style cost_style(const struct report_row *j)
{
    const struct report_verdict *told = report_row_told(j);
    enum style faded = faded_style(j);

    return faded != STYLE_TEXT ? faded
           : told              ? look_severity_style(look_verdict_severity(told))
                               : look_severity_style(report_row_severity(j));
}

static void draw_cost(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;

    if (isnan(cost_of(j)))
        table_put(at, STYLE_DIM, "-");
    else
        table_put(at, cost_style(j), text_percent(cost_of(j)).s);
}

static enum style trend_style(const void *row)
{
    const struct report_row *j = row;

    return !strcmp(j->trend, "rising") && faded_style(j) == STYLE_TEXT ? STYLE_WARN : faded_style(j);
}

static void draw_culprit(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;
    char names[160];

    table_put(at, report_row_told(j) ? cost_style(j) : STYLE_DIM, job_line_culprit(j, names, sizeof(names)));
}

static void draw_verdict(const struct table_cell *at, const void *row)
{
    const struct report_row *j = row;
    const struct report_verdict *told = report_row_told(j);
    char text[1152];

    if (is_silent(j)) {
        snprintf(text, sizeof(text), "no telemetry for %s", text_age(j->age_s).s);
        table_put(at, STYLE_WARN, text);
    } else if (!report_row_alive(j) && !isnan(j->age_s)) {
        snprintf(text, sizeof(text), "ended %s ago%s%s", text_age(j->age_s).s, j->verdicts.n ? "; " : "",
                 j->verdicts.n ? j->verdicts.list[0].text : "");
        table_put(at, STYLE_DIM, text);
    } else if (told) {
        table_put(at, look_severity_style(look_verdict_severity(told)), told->text);
    } else if (report_row_still(j)) {
        table_put(at, look_severity_style(report_row_severity(j)), j->sentence);
    } else {
        table_put(at, STYLE_DIM, "-");
    }
}

static int by_urgency(const void *a, const void *b)
{
    return job_line_compare(a, b);
}

static int by_culprit(const void *a, const void *b)
{
    char names_a[160], names_b[160];
    const char *of_a = job_line_culprit(a, names_a, sizeof(names_a)),
               *of_b = job_line_culprit(b, names_b, sizeof(names_b));

    if (!*of_a || !*of_b)
        return !*of_a - !*of_b;
    return strverscmp(of_a, of_b);
}

static bool begins_culprit(const void *row, const char *text)
{
    char names[160];

    return !strncasecmp(job_line_culprit(row, names, sizeof(names)), text, strlen(text));
}

static int newest_first(const void *a, const void *b)
{
    return strverscmp(((const struct report_row *)b)->id, ((const struct report_row *)a)->id);
}

enum { COLUMN_SAMPLES = 8 };

static const struct table_column columns[] = {
    { "", 5, 0, 0, TABLE_TEXT, 0, draw_tag, by_urgency, .meaning = "severity, worst first" },
    { "JOB", 8, 4, 0, TABLE_TEXT, offsetof(struct report_row, id), NULL, newest_first, id_style,
      .meaning = "Slurm's job and step" },
    { "NAME", 8, 16, 1, TABLE_TEXT, offsetof(struct report_row, name), .style = faded_style,
      .meaning = "the job's name" },
    { "USER", 8, 2, 3, TABLE_TEXT, offsetof(struct report_row, user), .plain = STYLE_DIM,
      .meaning = "its owner" },
    { "STATE", 9, 3, 2, TABLE_TEXT, offsetof(struct report_row, state), draw_state, .begins = begins_state,
      .meaning = "the job's state, or when it ended" },
    { "RANKS", 5, 0, 7, TABLE_COUNT, offsetof(struct report_row, ranks), .style = faded_style,
      .meaning = "guarded ranks" },
    { "STEP", 7, 0, 4, TABLE_SECONDS, offsetof(struct report_row, step_p50_s), .style = faded_style,
      .meaning = "median time of a step" },
    { "STEPS/S", 7, 0, 8, TABLE_NUMBER, offsetof(struct report_row, steps_per_s), .style = faded_style,
      .meaning = "steps a second" },
    { "SAMP/S", 6, 0, 9, TABLE_NUMBER, offsetof(struct report_row, samples_per_s), .style = faded_style,
      .meaning = "samples a second, if known" },
    { "SKEW", 7, 0, 10, TABLE_SECONDS, offsetof(struct report_row, skew_p50_s), .style = faded_style,
      .meaning = "last minus first arrival" },
    { "SYNC", 6, 0, 6, TABLE_PERCENT, offsetof(struct report_row, synchronisation_ratio),
      .style = synchronisation_style, .meaning = "share of time spent waiting" },
    { "REGIME", 7, 8, 5, TABLE_TEXT, offsetof(struct report_row, regime), draw_regime,
      .meaning = "what limits its speed" },
    { "COST", 6, 0, 0, TABLE_PERCENT, .number = cost_of, .draw = draw_cost,
      .meaning = "step time that the worst verdict costs" },
    { "TREND", 7, 0, 0, TABLE_TEXT, offsetof(struct report_row, trend), .style = trend_style,
      .meaning = "whether its loss rises or falls" },
    { "CULPRIT", 10, 12, 0, TABLE_TEXT, 0, draw_culprit, by_culprit, .begins = begins_culprit,
      .meaning = "whom the worst verdict names" },
    { "VERDICT", 40, 400, 11, TABLE_TEXT, 0, draw_verdict, .unsorted = true, .meaning = "what was found" },
};

static const void *job_row(const struct ui *ui, int i)
{
    return &ui->jobs->job[ui->list[SCREEN_JOBS].order[i]];
}

static unsigned hidden(const struct ui *ui, int width)
{
    unsigned unknown = 1u << COLUMN_SAMPLES;

    for (size_t i = 0; ui->jobs && i < ui->jobs->n; i++)
        if (!isnan(ui->jobs->job[i].samples_per_s))
            unknown = 0;
    return table_hidden(columns, ARRAY_SIZE(columns), width - 1, unknown);
}

/* The sentence of the job under the cursor, in two lines under the list. */
static void draw_selected(struct canvas *c, const struct ui *ui, int y)
{
    const struct ui_list *l = &ui->list[SCREEN_JOBS];
    const struct report_row *j;
    char title[512], ended[64] = "";

    if (l->selected >= (int)l->n) {
        draw_rule(c, y, 0, c->width, "");
        return;
    }
    j = job_row(ui, l->selected);
    if (!report_row_alive(j) && !isnan(j->age_s))
        snprintf(ended, sizeof(ended), ", ended %s ago", text_age(j->age_s).s);
    snprintf(title, sizeof(title), "%s %s · %s · %s · policy %s · %s%s", j->id, j->name,
             j->user[0] ? j->user : "-", j->partition[0] ? j->partition : "-", j->policy[0] ? j->policy : "-",
             text_age(j->elapsed_s).s, ended);
    draw_rule(c, y, 0, c->width, title);
    if (is_silent(j))
        canvas_printf(c, y + 1, 1, c->width - 2, STYLE_WARN, "no telemetry for %s: these figures are old",
                      text_age(j->age_s).s);
    else
        canvas_wrap(c, y + 1, 1, 1, c->width - 2, 2, look_severity_style(look_job_severity(j)), j->sentence);
}

int screen_jobs_cell_rows(int height)
{
    return height > 7 ? height - 6 : 1; /* title, counts; rule, two lines, keys */
}

static int room(const struct ui *ui, int width, int height)
{
    if (ui->overview)
        return overview_across(ui, width) * screen_jobs_cell_rows(height);
    return ui->report ? height - 3 : height - 6; /* title, header; rule, two lines, keys */
}

static int natural(const struct ui *ui, int width)
{
    (void)width;
    return 3 + (ui->list[SCREEN_JOBS].n ? (int)ui->list[SCREEN_JOBS].n : 1);
}

static void draw(struct canvas *c, const struct ui *ui)
{
    if (ui->overview && ui->list[SCREEN_JOBS].n)
        overview_draw(c, ui, 1, screen_jobs_cell_rows(c->height));
    else
        screen_list_draw(c, ui, &screen_jobs, job_row,
                         ui->list[SCREEN_JOBS].filter[0] ? "no job matches the filter"
                         : ui->finished ? "no guarded job; start one with: srun --sync-guard ..."
                                        : "no guarded job is running (e shows those that ended)");
    if (!ui->report)
        draw_selected(c, ui, c->height - 4);
}

const struct screen_ops screen_jobs = {
    .title = "jobs",
    .columns = columns,
    .n_columns = ARRAY_SIZE(columns),
    .draw = draw,
    .hidden = hidden,
    .rows = room,
    .natural = natural,
};
