/* screen_job.c - one job: what is going on, what it costs, which rank and node to look at. */
#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "report/job_line.h"
#include "report/verdict_words.h"
#include "term/draw.h"
#include "term/padded.h"
#include "tui/keymap.h"
#include "tui/look.h"
#include "tui/outlook.h"
#include "tui/panel.h"
#include "tui/screen.h"
#include "tui/timeline.h"

#define STUCK_S 5.0 /* a rank that is in a phase of its step for so long is said to be */

/* ---- the table of ranks ---- */

/* Of a link both ends are words. */
static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (; n && *text; text += strspn(text, ", ")) {
        size_t bytes = strcspn(text, ", ");

        if (bytes == n && !memcmp(text, word, n))
            return true;
        text += bytes;
    }
    return false;
}

static bool is_blamed(const struct report_row *j, const struct report_rank *r)
{
    char rank[24];

    snprintf(rank, sizeof(rank), "r%lld", (long long)r->rank);
    for (size_t i = 0; i < j->verdicts.n; i++) {
        const struct json_texts *culprits = &j->verdicts.list[i].culprits;

        for (size_t k = 0; k < culprits->n; k++)
            if (has_word(culprits->text[k], rank) || has_word(culprits->text[k], r->node) ||
                has_word(culprits->text[k], r->switch_name))
                return true;
    }
    return false;
}

/* "!" beside a culprit, so that mono screens show it too. */
static void draw_node(const struct table_cell *at, const void *row)
{
    const struct ui *ui = at->context;
    const struct report_rank *r = row;
    char text[72];

    if (!is_blamed(&ui->view->job, r)) {
        table_put(at, STYLE_TEXT, r->node);
        return;
    }
    snprintf(text, sizeof(text), "%.*s!", at->width - 1, r->node);
    table_put(at, look_severity_style(look_job_severity(&ui->view->job)), text);
}

static enum style slowdown_style(const void *row)
{
    double slowdown = ((const struct report_rank *)row)->slowdown;

    return slowdown >= VERDICT_BAD_SLOWDOWN ? STYLE_BAD : slowdown >= 1.02 ? STYLE_WARN : STYLE_TEXT;
}

/* The board of last arrivers: the share of collectives that waited for this rank. */
static void draw_last(const struct table_cell *at, const void *row)
{
    double last = ((const struct report_rank *)row)->last_ratio;
    enum style style = last >= 0.5 ? STYLE_BAD : last >= 0.2 ? STYLE_WARN : STYLE_ACCENT;
    char text[16] = "   -";

    if (!isnan(last))
        snprintf(text, sizeof(text), "%3.0f%%", last * 100);
    canvas_put(at->canvas, at->y, at->x, 4, STYLE_TEXT, text);
    draw_bar(at->canvas, at->y, at->x + 5, at->width - 5, style, last);
}

/* All of its digits: it is typed. */
static void draw_pid(const struct table_cell *at, const void *row)
{
    table_put(at, STYLE_TEXT, text_count((double)((const struct report_rank *)row)->pid).s);
}

/* What the process does, and for how long where something keeps it from running. */
static void draw_state(const struct table_cell *at, const void *row)
{
    const struct report_rank *r = row;
    char text[64] = "";

    text_append(text, sizeof(text), "%s", *r->state ? r->state : "unknown");
    if (!isnan(r->state_s))
        text_append(text, sizeof(text), " %s", text_age(r->state_s).s);
    table_put(at, strcmp(r->state, "running") != 0 ? STYLE_BAD : STYLE_TEXT, text);
}

#define WHOLE_CALL 34 /* columns for an operation, its number and communicator, and how long */

static void draw_inside(const struct table_cell *at, const void *row)
{
    const struct report_rank *r = row;
    char text[128];
    double for_s;

    if (!*report_rank_inside(text, sizeof(text), r, at->width < WHOLE_CALL, &for_s)) {
        table_put(at, STYLE_DIM, "unknown");
        return;
    }
    if (!isnan(for_s))
        text_append(text, sizeof(text), " %s", text_age(for_s).s);
    table_put(at, STYLE_WARN, text);
}

/* Of a job that goes on: a rank that is stuck, or cannot run. */
static void draw_stuck(const struct table_cell *at, const void *row)
{
    const struct report_rank *r = row;

    if (!isnan(r->state_s) || (!r->inside && strcmp(r->state, "running") != 0))
        draw_state(at, row);
    else if (r->inside)
        draw_inside(at, row);
}

static void draw_heat_row(const struct table_cell *at, const void *row)
{
    const struct ui *ui = at->context;

    draw_heat(at->canvas, at->y, at->x, at->width, ((const struct report_rank *)row)->heat,
              ui->view->heat.scale.n);
}

enum {
    COLUMN_RANK,
    COLUMN_NODE,
    COLUMN_SWITCH,
    COLUMN_PID,
    COLUMN_STATE,
    COLUMN_CALL,
    COLUMN_LATE,
    COLUMN_P95,
    COLUMN_COMPUTE,
    COLUMN_WORK,
    COLUMN_LAST,
    COLUMN_STUCK,
    COLUMN_HEAT
};

/* On narrower screens the heat map takes the room of these columns. */
static const struct {
    int column, width;
} from_width[] = { { COLUMN_WORK, 90 },
                   { COLUMN_PID, 90 },
                   { COLUMN_P95, 120 },
                   { COLUMN_SWITCH, 130 },
                   { COLUMN_STUCK, 150 } };

/* Of a job that goes on, and of one that stands still, these are not shown. */
static const unsigned of_still = 1u << COLUMN_PID | 1u << COLUMN_STATE | 1u << COLUMN_CALL,
                      of_moving = 1u << COLUMN_LATE | 1u << COLUMN_P95 | 1u << COLUMN_COMPUTE |
                                  1u << COLUMN_WORK | 1u << COLUMN_LAST | 1u << COLUMN_STUCK;

static const struct table_column columns[] = {
    { "RANK", 6, 0, 0, TABLE_RANK, offsetof(struct report_rank, rank), .plain = STYLE_BOLD, .key = "rank",
      .meaning = "rank in the step" },
    { "NODE", 9, 6, 0, TABLE_TEXT, 0, draw_node, .key = "node", .meaning = "where it runs; ! is blamed" },
    { "SWITCH", 8, 4, 5, TABLE_TEXT, offsetof(struct report_rank, switch_name), .plain = STYLE_DIM,
      .unsorted = true, .meaning = "the node's switch" },
    { "PID", 8, 0, 0, TABLE_TEXT, 0, draw_pid, .unsorted = true, .meaning = "of a hang: its process" },
    { "STATE", 13, 1, 0, TABLE_TEXT, 0, draw_state, .unsorted = true,
      .meaning = "of a hang: what that does" },
    { "INSIDE", 15, 22, 0, TABLE_TEXT, 0, draw_inside, .unsorted = true, .meaning = "of a hang: its call" },
    { "LATE", 7, 0, 0, TABLE_SECONDS, offsetof(struct report_rank, lateness_s), .key = "lateness",
      .meaning = "after the first arrival" },
    { "P95", 7, 0, 4, TABLE_ABOUT_SECONDS, offsetof(struct report_rank, lateness_p95_s), .unsorted = true,
      .meaning = "95 % are less late" },
    { "COMPUTE", 7, 0, 2, TABLE_SECONDS, offsetof(struct report_rank, compute_s), .key = "compute",
      .meaning = "its own work in a step" },
    { "WORK", 5, 0, 3, TABLE_TIMES, offsetof(struct report_rank, slowdown), .style = slowdown_style,
      .unsorted = true, .meaning = "own work over the others'" },
    { "LAST", 12, 4, 1, TABLE_TEXT, 0, draw_last, .key = "last", .meaning = "steps in which it was last" },
    { "STUCK", 14, 4, 6, TABLE_TEXT, 0, draw_stuck, .unsorted = true, .meaning = "the call it is stuck in" },
    { "LATENESS", 30, REPORT_HEAT_MAX, 0, TABLE_TEXT, 0, draw_heat_row, .unsorted = true,
      .meaning = "over time, now at the right" },
};

static unsigned hidden(const struct ui *ui, int width)
{
    unsigned narrow = ui->view && report_row_still(&ui->view->job) ? of_moving : of_still;

    for (size_t i = 0; i < ARRAY_SIZE(from_width); i++)
        if (width < from_width[i].width)
            narrow |= 1u << from_width[i].column;
    return table_hidden(columns, ARRAY_SIZE(columns), width - 2, narrow);
}

static void fit_columns(struct table_layout *l, const struct ui *ui, int width)
{
    table_fit(l, columns, ARRAY_SIZE(columns), 1, width - 2, hidden(ui, width));
}

int screen_job_heat_columns(const struct ui *ui, int width)
{
    struct table_layout l;
    int heat;

    fit_columns(&l, ui, width);
    heat = table_width(&l, COLUMN_HEAT);
    return heat < REPORT_HEAT_MAX ? heat : REPORT_HEAT_MAX;
}

static const void *rank_row(const struct ui *ui, int i)
{
    int64_t at = i - ui->view->offset;

    /* After a scroll the rows are those of the answer to come. */
    return at >= 0 && at < (int64_t)ui->view->n_ranks ? &ui->view->rank[at] : NULL;
}

/* ---- the layout ---- */

#define HEIGHT_ANY   1000
#define REPORT_RANKS 32 /* a report names the worst ones */

#define WIDE  120 /* from here on the communicators stand beside the events */
#define TALL  30  /* from here on there is room for more than the least */
#define SHORT 20  /* below, the table has the room of trends and events */

#define PANEL_RANKS_ASKED 32 /* a panel lists the first ranks of the table */
/* of a drawn step, beside its ranks: its figures, why, axis, key */
#define PICTURE_LINES 5
#define PICTURE_LEAST 6 /* ranks */

struct layout {
    int sentence_rows, facts, sparks, shares, found, next, ahead, past; /* 0: not there */
    int table, rows, timeline, timeline_rows, detail, bottom, bottom_rows;
};

/* What a verdict costs stands at the end of the sentence: one with long names gets more rows, and a screen
 * without room for them still one. */
static int sentence_rows(const struct report *v, int width, int height)
{
    int least = width < 76 ? 3 : width < 130 ? 2 : 1, most = least + (height < SHORT ? 1 : 2), rows;

    if (!v)
        return least;
    rows = canvas_text_rows(v->job.sentence, width - canvas_text_width(job_line_tag(&v->job)) - 3, width - 1);
    return rows < least ? least : rows > most ? most : rows;
}

static struct timeline_place place_of(const struct ui *ui, int width)
{
    struct table_layout l;

    fit_columns(&l, ui, width);
    return (struct timeline_place){ l.x[l.n - 1], screen_job_heat_columns(ui, width),
                                    ui->view->heat.column_s };
}

/* The rows above the table; returns the first below them. */
static int lay_out_head(struct layout *l, const struct report *v, int width, int height)
{
    const struct report_verdict *told = v ? report_row_told(&v->job) : NULL;
    int y = 1;

    l->sentence_rows = sentence_rows(v, width, height);
    y += l->sentence_rows;
    l->facts = y++;
    l->sparks = height < SHORT ? 0 : y;
    y += height < SHORT ? 0 : 2;
    l->shares = y++;
    l->found = y++;
    l->next = told && told->next[0] ? y++ : 0;
    l->ahead =
        v && v->projection.known && report_row_alive(&v->job) && (height >= TALL || v->projection.trend[0])
            ? y++
            : 0;
    l->past = v && height >= TALL && v->past.text[0] ? y++ : 0;
    return y;
}

/* The rows under the table: some always, more on high screens, all that the table does not need. */
static void lay_out(struct layout *l, const struct ui *ui, int64_t total, int width, int height)
{
    const struct report *v = ui->view;
    int end = ui->report ? height : height - 1, free_rows; /* the bottom line is the frame's */
    int bottom = height < SHORT  ? 0
                 : height < TALL ? 2
                 : height < 40   ? 5
                                 : 9,
        lines = height < TALL ? 2
                : height < 40 ? 3
                              : 5;
    struct timeline_place place;

    l->table = lay_out_head(l, v, width, height);
    l->timeline_rows = 1;
    if (v) {
        place = place_of(ui, width);
        l->timeline_rows = timeline_rows(v, &place, lines);
    }
    free_rows =
        end - (l->table + 1) - l->timeline_rows - (height < SHORT ? 1 : 2); /* the header; detail, and rule */
    l->rows = free_rows - bottom;
    if (l->rows > total)
        l->rows = total > 1 ? (int)total : 1;
    if (l->rows < 1)
        l->rows = 1;
    l->timeline = l->table + 1 + l->rows;
    l->detail = l->timeline + l->timeline_rows;
    l->bottom = l->detail + 1;
    l->bottom_rows = end - l->bottom - 1; /* -1: not there */
}

static int room(const struct ui *ui, int width, int height)
{
    struct layout l;

    lay_out(&l, ui, ui->view ? ui->view->rank_total : REPORT_RANKS_MAX, width, height);
    return l.rows;
}

int screen_job_rows_max(const struct ui *ui)
{
    struct layout l;

    if (ui->panel != PANEL_RANKS)
        return PANEL_RANKS_ASKED;
    lay_out(&l, ui, REPORT_RANKS_MAX, ui->width, ui->height);
    return l.rows;
}

int screen_job_picture_rows(const struct ui *ui)
{
    int rows = panel_room(ui, ui->height - screen_job_head_rows(ui)) - PICTURE_LINES;

    if (ui->report)
        return REPORT_RANKS;
    return rows < PICTURE_LEAST ? PICTURE_LEAST : rows < (int)PICTURE_ROWS_MAX ? rows : (int)PICTURE_ROWS_MAX;
}

int screen_job_head_rows(const struct ui *ui)
{
    return 2 + sentence_rows(ui->view, ui->width, ui->height); /* title, sentence, what was found */
}

static int natural(const struct ui *ui, int width)
{
    const struct report *v = ui->view;
    int events = (int)(v->events.n + v->notes.n), comms = (int)v->comms.n;
    int bottom = width >= WIDE ? (events > comms ? events : comms) : events + comms + (comms ? 2 : 0);

    int ranks = v->rank_total < REPORT_RANKS ? (int)v->rank_total : REPORT_RANKS;
    struct timeline_place place = place_of(ui, width);
    struct layout l;

    if (ui->panel != PANEL_RANKS)
        return screen_job_head_rows(ui) + 1 + panel_rows(ui, width);
    /* the header, detail and rule */
    return lay_out_head(&l, v, width, HEIGHT_ANY) + 1 + ranks + timeline_rows(v, &place, 5) + 2 +
           (bottom > 9 ? bottom : 9);
}

/* ---- the parts ---- */

static void draw_sentence(struct canvas *c, const struct report_row *j, int rows)
{
    enum severity s = look_job_severity(j);
    char tag[16];
    int x;

    snprintf(tag, sizeof(tag), " %s ", job_line_tag(j));
    x = canvas_put(c, 1, 0, c->width, look_severity_tag_style(s), tag) + 1;
    canvas_wrap(c, 1, x, 1, c->width - x, rows, s >= SEVERITY_WARN ? look_severity_style(s) : STYLE_BOLD,
                j->sentence[0] ? j->sentence : "not known yet");
}

/* "label value" with the value in bold; returns where the next can stand. */
static int draw_fact(struct canvas *c, int y, int x, const char *label, const char *value)
{
    if (x + canvas_text_width(label) + canvas_text_width(value) + 1 > c->width)
        return c->width;
    if (label[0])
        x += canvas_put(c, y, x, c->width - x, STYLE_DIM, label) + 1;
    x += canvas_put(c, y, x, c->width - x, STYLE_BOLD, value[0] ? value : "-");
    return x + 2;
}

static int draw_count_of(struct canvas *c, int y, int x, const char *label, int64_t have, int64_t all)
{
    char text[64], have_text[24] = "?";

    if (have >= 0)
        snprintf(have_text, sizeof(have_text), "%lld", (long long)have);
    if (all >= 0 && all != have)
        snprintf(text, sizeof(text), "%s/%lld", have_text, (long long)all);
    else
        snprintf(text, sizeof(text), "%s", have_text);
    return draw_fact(c, y, x, label, text);
}

static void draw_facts(struct canvas *c, const struct report *v, int y)
{
    const struct report_row *j = &v->job;
    char ago[64];
    int x = 1;

    x = draw_fact(c, y, x, "", j->state);
    if (*j->unconfirmed)
        x = draw_fact(c, y, x, "", "unconfirmed");
    x = draw_fact(c, y, x, report_row_alive(j) ? "for" : "ran", text_age(j->elapsed_s).s);
    if (!isnan(j->left_s))
        x = draw_fact(c, y, x, "left", text_age(j->left_s).s);
    if (!report_row_alive(j) && !isnan(j->age_s)) {
        snprintf(ago, sizeof(ago), "%s ago", text_age(j->age_s).s);
        x = draw_fact(c, y, x, "ended", ago);
    }
    x = draw_fact(c, y, x, "regime", j->regime);
    x = draw_count_of(c, y, x, "ranks", j->ranks, v->probe.ranks_total);
    x = draw_count_of(c, y, x, "nodes", j->nodes, j->nodes_total);
    x = draw_fact(c, y, x, "steps", padded_steps(j->steps).s);
    if (!isnan(j->samples_per_s))
        x = draw_fact(c, y, x, "samples/s", text_number(j->samples_per_s).s);
    if (!isnan(j->step_p99_s))
        x = draw_fact(c, y, x, "p99 step", text_s(j->step_p99_s).s);
    x = draw_fact(c, y, x, "policy", j->policy);
    if (j->period > 0 || j->steps < 0) /* not where messages count the steps */
        x = draw_count_of(c, y, x, "collectives/step", j->period, -1);
    if (v->probe.dropped > 0)
        x = draw_fact(c, y, x, "dropped", padded_trim(padded_count(v->probe.dropped)).s);
    draw_fact(c, y, x, "estimated probe cost", text_percent(v->probe.overhead_ratio).s);
}

static void draw_trend(struct canvas *c, int y, int x, int width, const char *label, const char *value,
                       enum style style, const struct json_series *s)
{
    canvas_put(c, y, x, 8, STYLE_DIM, label);
    canvas_put_right(c, y, x + 8, 7, STYLE_BOLD, value);
    draw_spark(c, y, x + 16, width - 16, style, s->value, s->n);
}

static void draw_trends(struct canvas *c, const struct report *v, int y)
{
    const struct report_row *j = &v->job;
    int half = (c->width - 3) / 2, right = 1 + half + 1;

    draw_trend(c, y, 1, half, "step", padded_s(j->step_p50_s).s, STYLE_ACCENT, &v->history.step_s);
    draw_trend(c, y, right, half, "steps/s", padded_number(j->steps_per_s).s, STYLE_GOOD,
               &v->history.steps_per_s);
    draw_trend(c, y + 1, 1, half, "skew", padded_s(j->skew_p50_s).s, STYLE_ACCENT, &v->history.skew_s);
    draw_trend(c, y + 1, right, half, "sync", padded_percent(j->synchronisation_ratio).s, STYLE_ACCENT,
               &v->history.synchronisation_ratio);
}

static void draw_time(struct canvas *c, const struct report_row *j, int y)
{
    static const char *const names[] = { "compute", "comm", "sync", "p2p" };
    static const enum style styles[] = { STYLE_SHARE_COMPUTE, STYLE_SHARE_COMMUNICATION,
                                         STYLE_SHARE_SYNCHRONISATION, STYLE_SHARE_P2P };
    int x = 1;

    x += canvas_put(c, y, x, 8, STYLE_DIM, "time") + 2;
    for (int i = 0; i < SHARES; i++) {
        char share[16] = "  -";

        if (!isnan(j->share[i]))
            snprintf(share, sizeof(share), "%3.0f%%", j->share[i] * 100);
        x += canvas_put(c, y, x, c->width - x, styles[i], names[i]);
        canvas_put(c, y, x, c->width - x, STYLE_BOLD, share);
        x += 6;
    }
    look_shares_draw(c, y, x, c->width - 1 - x, j->share);
}

/* The title of the heat map has the time that it covers. */
static void draw_table(struct canvas *c, const struct ui *ui, const struct layout *l)
{
    const struct report *v = ui->view;
    struct table_layout layout;
    struct screen_rows rows = { .y = l->table + 1,
                                .height = l->rows,
                                .layout = &layout,
                                .columns = columns,
                                .row = rank_row,
                                .context = ui };
    int heat, x;
    char text[64];

    fit_columns(&layout, ui, c->width);
    canvas_fill(c, l->table, 0, c->width, STYLE_HEADER, ' ');
    table_header(c, l->table, &layout, columns, ui->list[SCREEN_JOB].sort, false, KEY_ACTION_SORT);
    heat = screen_job_heat_columns(ui, c->width);
    x = layout.x[layout.n - 1];
    if (v->heat.column_s > 0) {
        snprintf(text, sizeof(text), "last %s", text_age(v->heat.column_s * heat).s);
        canvas_put_right(c, l->table, x + 9, heat - 9, STYLE_HEADER, text);
    }
    rows.plain = layout.n - 1;
    while (rows.plain && layout.column[rows.plain - 1] >= COLUMN_LAST)
        rows.plain--; /* bars and heat keep their colours under the cursor */
    screen_rows_draw(c, ui, &rows);
    if (!ui->list[SCREEN_JOB].n)
        canvas_put(c, l->table + 1, 2, c->width - 4, STYLE_DIM,
                   ui->list[SCREEN_JOB].filter[0] ? "no rank matches the filter" : "no rank is known yet");
}

static void draw_detail(struct canvas *c, const struct ui *ui, int y)
{
    const struct ui_list *l = &ui->list[SCREEN_JOB];
    const struct report_rank *r = rank_row(ui, l->selected);
    char text[512], inside[200] = "", pid[32] = "";

    if (!r || ui->report || l->selected >= (int)l->n)
        return;
    if (r->inside)
        snprintf(inside, sizeof(inside), " · inside %s on %s #%lld for %s", r->op, r->comm[0] ? r->comm : "?",
                 (long long)r->seq, text_age(r->inside_age_s).s);
    if (r->pid > 0)
        snprintf(pid, sizeof(pid), " · pid %lld", (long long)r->pid);
    if (r->phase[0] && r->phase_s >= STUCK_S)
        text_append(inside, sizeof(inside), " · in phase %s for %s", r->phase, text_age(r->phase_s).s);
    snprintf(text, sizeof(text), "r%lld %s%s%s%s · %s%s · work %s · p95 %s · stays %s · computes %s",
             (long long)r->rank, r->node, r->switch_name[0] ? " " : "", r->switch_name, pid,
             r->state[0] ? r->state : "?", inside, text_times(r->slowdown).s,
             text_about_s(r->lateness_p95_s).s, text_s(r->stay_s).s, text_s(r->compute_s).s);
    canvas_put(c, y, 1, c->width - 2, STYLE_ACCENT, text);
}

static void draw_events(struct canvas *c, const struct report *v, int y, int x, int width, int rows)
{
    char nodes[128];
    int at = 0;
    size_t event = 0;

    if (v->silent.number > 0)
        canvas_printf(c, y + at++, x, width, STYLE_WARN, "%lld of %lld agents do not report: %s",
                      (long long)v->silent.number, (long long)v->agents_total,
                      report_silent_names(&v->silent, SIZE_MAX, nodes, sizeof(nodes)));
    if (v->missing.number > 0)
        canvas_printf(c, y + at++, x, width, STYLE_WARN, "nothing was heard from %lld of %lld nodes%s%s",
                      (long long)v->missing.number, (long long)v->job.nodes_total,
                      v->missing.nodes.n ? ": " : "",
                      report_silent_names(&v->missing, SIZE_MAX, nodes, sizeof(nodes)));
    /* Verdicts that the sentence does not mention come first. */
    for (size_t i = 1; i < v->job.verdicts.n && at < rows; i++) {
        enum style style = look_severity_style(look_verdict_severity(&v->job.verdicts.list[i]));
        int label = canvas_put(c, y + at, x, width, style, "also: ");

        at += canvas_wrap(c, y + at, x + label, x + label, width - label, rows - at < 2 ? rows - at : 2,
                          style, v->job.verdicts.list[i].text);
    }
    for (; event < v->events.n && at < rows; event++, at++) {
        const struct report_event *e = &v->events.list[event];

        canvas_put(c, y + at, x, 6, STYLE_DIM, padded_age(e->age_s).s);
        if (e->count > 1)
            canvas_printf(c, y + at, x + 7, width - 7, STYLE_TEXT, "%lldx in %s: %s", (long long)e->count,
                          text_age(e->over_s).s, e->text);
        else
            canvas_put(c, y + at, x + 7, width - 7, STYLE_TEXT, e->text);
    }
    for (size_t i = 0; i < v->notes.n && at < rows; i++, at++)
        canvas_printf(c, y + at, x, width, STYLE_WARN, "note: %s", v->notes.text[i]);
    if (at == 0 && rows > 0)
        canvas_put(c, y, x, width, STYLE_DIM, "none yet");
}

static const struct table_column comm_columns[] = {
    { "COMMUNICATOR", 12, 20, 0, TABLE_TEXT, .field = offsetof(struct report_comm, label) },
    { "SIZE", 5, 0, 0, TABLE_COUNT, .field = offsetof(struct report_comm, size) },
    { "COUNT", 5, 0, 3, TABLE_COUNT, .field = offsetof(struct report_comm, instances) },
    { "COLL/S", 6, 0, 0, TABLE_NUMBER, .field = offsetof(struct report_comm, collectives_per_s) },
    { "BYTES/S", 7, 0, 2, TABLE_BYTES, .field = offsetof(struct report_comm, bytes_per_s) },
    { "SKEW", 7, 0, 0, TABLE_SECONDS, .field = offsetof(struct report_comm, skew_s) },
    { "TRANSFER", 8, 0, 1, TABLE_SECONDS, .field = offsetof(struct report_comm, transfer_s) },
    { "EFFIC", 6, 0, 4, TABLE_PERCENT, .field = offsetof(struct report_comm, efficiency.parallel) },
};

static void draw_comms(struct canvas *c, const struct report *v, int y, int x, int width, int rows)
{
    struct table_layout layout;

    table_fit(&layout, comm_columns, ARRAY_SIZE(comm_columns), x, width, 0);
    canvas_fill(c, y, x, width, STYLE_HEADER, ' ');
    table_header(c, y, &layout, comm_columns, -1, false, KEY_ACTION_NONE);
    for (int i = 0; i + 1 < rows && i < (int)v->comms.n; i++)
        table_row(c, y + 1 + i, &layout, comm_columns, &v->comms.list[i], NULL);
}

static void draw_bottom(struct canvas *c, const struct report *v, const struct layout *l)
{
    int y = l->bottom, rows = l->bottom_rows, half = c->width / 2, comms = (int)v->comms.n;

    if (c->width >= WIDE) {
        draw_comms(c, v, y, 1, half - 3, rows + 1);
        draw_rule(c, y, half, c->width - half, "events");
        draw_events(c, v, y + 1, half + 1, c->width - half - 2, rows);
        return;
    }
    if (rows >= 5 && comms) {
        int show = comms < rows / 3 + 1 ? comms : rows / 3 + 1;

        draw_comms(c, v, y, 1, c->width - 2, show + 1);
        y += show + 1;
        rows -= show + 1;
    }
    draw_rule(c, y, 0, c->width, "events");
    draw_events(c, v, y + 1, 1, c->width - 2, rows);
}

static void draw(struct canvas *c, const struct ui *ui)
{
    const struct report *v = ui->view;
    struct timeline_place place = place_of(ui, c->width);
    struct layout l;

    if (ui->panel != PANEL_RANKS) { /* above it stay the sentence and what was found */
        int head = screen_job_head_rows(ui);

        draw_sentence(c, &v->job, head - 2);
        outlook_verdicts(c, head - 1, 1, c->width - 2, &v->job);
        panel_draw(c, ui, head);
        return;
    }
    lay_out(&l, ui, v->rank_total, c->width, c->height);
    draw_sentence(c, &v->job, l.sentence_rows);
    draw_facts(c, v, l.facts);
    if (l.sparks)
        draw_trends(c, v, l.sparks);
    draw_time(c, &v->job, l.shares);
    outlook_verdicts(c, l.found, 1, c->width - 2, &v->job);
    if (l.next)
        outlook_next(c, l.next, 1, c->width - 2, report_row_told(&v->job));
    if (l.ahead)
        outlook_projection_draw(c, l.ahead, 1, c->width - 2, &v->projection);
    if (l.past) {
        int x = 5 + canvas_put(c, l.past, 1, 5, STYLE_DIM, "past");

        canvas_put(c, l.past, x, c->width - x - 1, v->past.unusual ? STYLE_WARN : STYLE_TEXT, v->past.text);
    }
    draw_table(c, ui, &l);
    timeline_draw(c, l.timeline, l.timeline_rows, v, &place);
    draw_detail(c, ui, l.detail);
    if (l.bottom_rows >= 0)
        draw_bottom(c, v, &l);
}

const struct screen_ops screen_job = {
    .title = "job",
    .columns = columns,
    .n_columns = ARRAY_SIZE(columns),
    .sort = COLUMN_LATE,
    .draw = draw,
    .hidden = hidden,
    .rows = room,
    .natural = natural,
};
