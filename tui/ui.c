#include "tui/ui.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "common/xalloc.h"
#include "term/term.h"
#include "tui/panel.h"
#include "tui/rows.h"
#include "tui/screen.h"
#include "tui/sort_menu.h"
#include "tui/user_action.h"

/* for the panels; with the ranks of a frozen picture they fit into a frame */
#define AGENTS_ASKED 256

void ui_init(struct ui *ui)
{
    memset(ui, 0, sizeof(*ui));
    for (int i = 0; i < SCREENS; i++) {
        ui->got_s[i] = NAN;
        ui->list[i].sort = screens[i]->sort;
    }
    ui->interval_s = 0.25;
    ui->finished = true;
    playback_init(&ui->playback);
}

void ui_reset(struct ui *ui)
{
    report_rows_free(ui->jobs);
    report_free(ui->view);
    report_node_rows_free(ui->nodes);
    report_status_free(&ui->status);
    for (int i = 0; i < SCREENS; i++)
        free(ui->list[i].order);
    ui_init(ui);
}

/* ---- actions ---- */

static bool switch_to(struct ui *ui, enum screen s)
{
    ui->frozen = false; /* the other screen's picture would be another moment's */
    ui->screen = s;
    ui->sort_menu.open = false;
    ui->chosen_s = ui->now_s;
    return true;
}

static void open_run(struct ui *ui, const char *job_id, int64_t run)
{
    struct ui_list *l = &ui->list[SCREEN_JOB];

    if (strcmp(ui->job_id, job_id) != 0 || ui->job_run != run) {
        report_free(ui->view);
        ui->view = NULL;
        ui->got_s[SCREEN_JOB] = NAN;
        ui->problem[SCREEN_JOB][0] = '\0';
        l->selected = l->top = 0;
        l->n = 0;
        l->filter[0] = '\0';
        utf8_clean(ui->job_id, sizeof(ui->job_id), job_id);
        ui->job_run = run;
    }
    switch_to(ui, SCREEN_JOB);
}

void ui_open(struct ui *ui, const char *job_id)
{
    open_run(ui, job_id, 0);
}

/* Another run of the job may have begun since this one ended; and the history has the tasks of an array by
 * their own numbers. */
static void open_ended(struct ui *ui, const struct report_row *j)
{
    int64_t run = j->restarts >= 0 ? j->restarts + 1 : 0;
    char id[48];

    snprintf(id, sizeof(id), "%lld.%lld", (long long)j->job, (long long)j->step);
    open_run(ui, j->job > 0 && j->step >= 0 ? id : j->id, run);
}

/* The job under the cursor of the list. */
static bool open_listed(struct ui *ui)
{
    const struct ui_list *l = &ui->list[SCREEN_JOBS];
    const struct report_row *j = l->selected < (int)l->n ? &ui->jobs->job[l->order[l->selected]] : NULL;

    if (!j || !j->id[0]) {
        snprintf(ui->message, sizeof(ui->message), "no job to show");
        return false;
    }
    if (report_row_alive(j))
        ui_open(ui, j->id);
    else
        open_ended(ui, j);
    return true;
}

static bool show_screen(struct ui *ui, enum screen s)
{
    return s == SCREEN_JOB && !ui->job_id[0] ? open_listed(ui) : switch_to(ui, s);
}

/* A job's screen without a job is passed over. */
static bool show_next(struct ui *ui, int by)
{
    enum screen s = (ui->screen + (enum screen)by) % SCREENS;

    if (s == SCREEN_JOB && !ui->job_id[0] && !ui->list[SCREEN_JOBS].n)
        s = (s + (enum screen)by) % SCREENS;
    return show_screen(ui, s);
}

static bool open_selected(struct ui *ui)
{
    const struct ui_list *l = &ui->list[ui->screen];
    const struct report_node *node;

    if (ui->screen == SCREEN_JOBS)
        return open_listed(ui);
    if (ui->screen == SCREEN_JOB || l->selected >= (int)l->n)
        return false;
    node = &ui->nodes->node[l->order[l->selected]];
    if (!node->jobs.n) {
        snprintf(ui->message, sizeof(ui->message), "no guarded job on %s", node->node);
        return false;
    }
    ui_open(ui, node->jobs.text[0]);
    utf8_clean(ui->list[SCREEN_JOB].filter, sizeof(ui->list[SCREEN_JOB].filter), node->node);
    return true;
}

/* On another screen: of the job that Enter would open. */
static bool show_panel(struct ui *ui, enum panel p)
{
    if (ui->screen != SCREEN_JOB) {
        ui->panel = PANEL_RANKS;
        if (!open_selected(ui))
            return false;
    }
    ui->panel = ui->panel == p ? PANEL_RANKS : p;
    ui->panel_scroll.top = 0;
    return true;
}

static bool toggle_freeze(struct ui *ui)
{
    ui->frozen = !ui->frozen;
    ui->frozen_s = ui->chosen_s = ui->now_s;
    /* A step and the switches are frozen as they are seen. */
    ui->frozen_whole = ui->screen != SCREEN_JOB || ui->panel == PANEL_STEP || ui->panel == PANEL_SWITCHES;
    return true;
}

static bool go_back(struct ui *ui, bool quit)
{
    struct ui_list *l = &ui->list[ui->screen];

    if (ui->help) {
        ui->help = false;
        return false;
    }
    if (ui->screen == SCREEN_JOB && ui->panel != PANEL_RANKS)
        return show_panel(ui, ui->panel);
    if (l->filter[0]) {
        l->filter[0] = '\0';
        if (ui->screen == SCREEN_JOB && ui->frozen)
            toggle_freeze(ui); /* the frozen picture lacks the other ranks */
        rows_arrange(ui, ui->screen);
        return true;
    }
    if (ui->screen != SCREEN_JOBS)
        return show_screen(ui, SCREEN_JOBS);
    if (ui->overview) {
        ui->overview = false;
        return false;
    }
    ui->quit = quit;
    return false;
}

static bool in_panel(const struct ui *ui)
{
    return ui->screen == SCREEN_JOB && ui->panel != PANEL_RANKS;
}

/* What the keys scroll in place of a table, or NULL. */
static struct ui_scroll *scrolled(struct ui *ui)
{
    return ui->help ? &ui->help_scroll : in_panel(ui) ? &ui->panel_scroll : NULL;
}

static void scroll_page(struct ui_scroll *s, int by)
{
    int last = s->rows - s->room;

    s->top += by;
    if (s->top > last)
        s->top = last;
    if (s->top < 0)
        s->top = 0;
}

static bool move_cursor(struct ui *ui, int by)
{
    struct ui_list *l = &ui->list[ui->screen];
    int top = l->top;

    if (scrolled(ui)) {
        scroll_page(scrolled(ui), by);
        return false;
    }
    l->selected += by;
    rows_clamp(l);
    rows_hold(ui, ui->screen);
    return ui->screen == SCREEN_JOB && l->top != top;
}

/* The wheel moves the picture, and the cursor only as far as it must stay on it. */
static bool turn_wheel(struct ui *ui, int by)
{
    struct ui_list *l = &ui->list[ui->screen];
    int top = l->top;

    if (scrolled(ui)) {
        scroll_page(scrolled(ui), by);
        return false;
    }
    if (l->stride > 1)
        by = by < 0 ? -l->stride : l->stride;
    l->top += by;
    if (l->top > rows_last_top(l))
        l->top = rows_last_top(l);
    if (l->top < 0)
        l->top = 0;
    if (l->selected < l->top)
        l->selected = l->top;
    if (l->selected >= l->top + l->rows)
        l->selected = l->top + l->rows - 1;
    rows_clamp(l);
    rows_hold(ui, ui->screen);
    return ui->screen == SCREEN_JOB && l->top != top;
}

/* The controller chooses and sorts the ranks of a job: the frozen ones stay as they are. */
static bool ranks_frozen(struct ui *ui, const char *what)
{
    if (ui->screen != SCREEN_JOB || !ui->frozen)
        return false;
    snprintf(ui->message, sizeof(ui->message), "frozen: press Space to go on, then %s", what);
    return true;
}

static bool sort_by(struct ui *ui, int column)
{
    struct ui_list *l = &ui->list[ui->screen];

    if (ranks_frozen(ui, "sort"))
        return false;
    if (l->sort == column && ui->screen != SCREEN_JOB)
        l->reverse = !l->reverse;
    else
        l->reverse = false;
    l->sort = column;
    if (ui->screen == SCREEN_JOB)
        l->selected = l->top = 0;
    rows_arrange(ui, ui->screen);
    return ui->screen == SCREEN_JOB;
}

static bool sort_next(struct ui *ui, int by)
{
    const struct screen_ops *ops = screens[ui->screen];

    return sort_by(ui, table_sort_next(ops->columns, ops->n_columns, ops->hidden(ui, ui->width),
                                       ui->list[ui->screen].sort, by));
}

/* A column that is not seen is named. */
static bool sort_by_menu(struct ui *ui)
{
    const struct screen_ops *ops = screens[ui->screen];
    int column = ui->sort_menu.column;
    bool asks = sort_by(ui, column);

    if (!ui->message[0] && ops->hidden(ui, ui->width) & 1u << column)
        snprintf(ui->message, sizeof(ui->message), "sorted by %s, which has no room here",
                 ops->columns[column].title);
    return asks;
}

static bool toggle_overview(struct ui *ui)
{
    bool here = ui->screen == SCREEN_JOBS;

    ui->overview = !here || !ui->overview;
    return !here && switch_to(ui, SCREEN_JOBS);
}

static bool reverse_order(struct ui *ui)
{
    if (ui->screen == SCREEN_JOB) {
        snprintf(ui->message, sizeof(ui->message), "the ranks of a job are always worst first");
        return false;
    }
    ui->list[ui->screen].reverse = !ui->list[ui->screen].reverse;
    rows_arrange(ui, ui->screen);
    return false;
}

static bool click_row(struct ui *ui, int row, bool twice)
{
    struct ui_list *l = &ui->list[ui->screen];

    l->selected = row;
    rows_clamp(l);
    rows_hold(ui, ui->screen);
    return twice && open_selected(ui);
}

/* Any key leaves the help but those that scroll what is longer than the screen. */
static bool leaves_help(const struct ui *ui, enum key_action action)
{
    switch (action) {
    case KEY_ACTION_HELP:
    case KEY_ACTION_QUIT:
        return false;
    case KEY_ACTION_UP:
    case KEY_ACTION_DOWN:
    case KEY_ACTION_PAGE_UP:
    case KEY_ACTION_PAGE_DOWN:
    case KEY_ACTION_HOME:
    case KEY_ACTION_END:
    case KEY_ACTION_WHEEL:
        return ui->help_scroll.rows <= ui->help_scroll.room;
    default:
        return true;
    }
}

bool ui_act(struct ui *ui, enum key_action action, int arg)
{
    const struct ui_list *l = &ui->list[ui->screen];
    const struct ui_scroll *s = scrolled(ui);
    int page = s ? s->room : l->rows, all = s ? s->rows : (int)l->n;

    ui->message[0] = '\0';
    ui->sort_menu.open = false;
    if (ui->help && leaves_help(ui, action)) {
        ui->help = false;
        return false;
    }
    switch (action) {
    case KEY_ACTION_HELP:
        ui->help = !ui->help;
        ui->help_scroll.top = 0;
        return false;
    case KEY_ACTION_FILTER:
        ui->filtering = !ranks_frozen(ui, "filter");
        return false;
    case KEY_ACTION_SORT_MENU:
        sort_menu_open(ui);
        return false;
    case KEY_ACTION_SORT_NEXT:
        return sort_next(ui, 1);
    case KEY_ACTION_SORT_PREVIOUS:
        return sort_next(ui, -1);
    case KEY_ACTION_SORT:
        return sort_by(ui, arg);
    case KEY_ACTION_REVERSE:
        return reverse_order(ui);
    case KEY_ACTION_FREEZE:
        return toggle_freeze(ui);
    case KEY_ACTION_OPEN:
        return open_selected(ui);
    case KEY_ACTION_ROW:
        return click_row(ui, arg, false);
    case KEY_ACTION_BACK:
        return go_back(ui, arg != TERM_KEY_ESC && arg != TERM_KEY_LEFT);
    case KEY_ACTION_UP:
        return move_cursor(ui, -1);
    case KEY_ACTION_DOWN:
        return move_cursor(ui, 1);
    case KEY_ACTION_PAGE_UP:
        return move_cursor(ui, -page);
    case KEY_ACTION_PAGE_DOWN:
        return move_cursor(ui, page);
    case KEY_ACTION_HOME:
        return move_cursor(ui, -all);
    case KEY_ACTION_END:
        return move_cursor(ui, all);
    case KEY_ACTION_WHEEL:
        return turn_wheel(ui, arg);
    case KEY_ACTION_NEXT_SCREEN:
        return show_next(ui, 1);
    case KEY_ACTION_PREVIOUS_SCREEN:
        return show_next(ui, SCREENS - 1);
    case KEY_ACTION_SCREEN:
        return show_screen(ui, (enum screen)arg);
    case KEY_ACTION_PANEL:
        return show_panel(ui, (enum panel)arg);
    case KEY_ACTION_ON_JOB:
        return user_action_begin(ui, (enum user_action_kind)arg);
    case KEY_ACTION_FINISHED:
        ui->finished = !ui->finished;
        snprintf(ui->message, sizeof(ui->message), "ended jobs are %s", ui->finished ? "shown" : "hidden");
        rows_arrange(ui, SCREEN_JOBS);
        return true;
    case KEY_ACTION_OVERVIEW:
        return toggle_overview(ui);
    case KEY_ACTION_QUIT:
        ui->quit = true;
        return false;
    case KEY_ACTION_PAUSE:
        playback_pause(&ui->playback);
        return true;
    case KEY_ACTION_SPEED:
        playback_faster(&ui->playback, arg);
        return true;
    case KEY_ACTION_SEEK:
        playback_seek(&ui->playback, arg * PLAYBACK_SEEK_S);
        return true;
    case KEY_ACTION_SEEK_STEP:
        playback_seek_step(&ui->playback, arg);
        return true;
    case KEY_ACTION_SEEK_BEGIN:
    case KEY_ACTION_SEEK_END:
        ui->playback.seek_s = action == KEY_ACTION_SEEK_BEGIN ? 0 : INFINITY;
        return true;
    case KEY_ACTION_REDRAW:
    case KEY_ACTION_NONE:
        break;
    }
    return false;
}

/* A key while the filter is being typed. */
static bool filter_key(struct ui *ui, int key)
{
    struct ui_list *l = &ui->list[ui->screen];
    size_t n = strlen(l->filter);

    if (key == TERM_KEY_ENTER || key == '\r') {
        ui->filtering = false;
        return false;
    }
    if (key == TERM_KEY_ESC) {
        ui->filtering = false;
        l->filter[0] = '\0';
    } else if (key == TERM_KEY_BACKSPACE || key == 127 || key == 8) {
        l->filter[n ? n - 1 : 0] = '\0';
    } else if (key == ('U' & 0x1f)) {
        l->filter[0] = '\0';
    } else if (key >= 0x20 && key < 0x7f && n + 1 < sizeof(l->filter)) {
        l->filter[n] = (char)key;
        l->filter[n + 1] = '\0';
    } else {
        return false;
    }
    l->selected = l->top = 0;
    l->key[0] = '\0';
    rows_arrange(ui, ui->screen);
    return true;
}

bool ui_key(struct ui *ui, int key)
{
    int arg;
    enum key_action action;

    if (ui->user_action.state == USER_ACTION_ASKING && key != ('C' & 0x1f)) {
        user_action_key(ui, key);
        return true;
    }
    if (ui->filtering && key != ('C' & 0x1f))
        return filter_key(ui, key);
    action = keymap_find(key, ui->playback.on, &arg);
    if (ui->sort_menu.open && action != KEY_ACTION_QUIT)
        return sort_menu_act(ui, action) && sort_by_menu(ui);
    if (ui->screen == SCREEN_JOBS && ui->overview && !ui->help &&
        (key == TERM_KEY_LEFT || key == TERM_KEY_RIGHT))
        return move_cursor(ui, key == TERM_KEY_LEFT ? -ui->list[SCREEN_JOBS].stride
                                                    : ui->list[SCREEN_JOBS].stride);
    return ui_act(ui, action, action == KEY_ACTION_BACK ? key : arg);
}

bool ui_click(struct ui *ui, const struct canvas *c, int y, int x, bool twice)
{
    const struct canvas_hit *hit = canvas_hit_at(c, y, x);

    if (!hit)
        return false;
    if (hit->action == KEY_ACTION_ROW && !ui->help)
        return click_row(ui, hit->arg + y - hit->y, twice);
    if (hit->action == KEY_ACTION_BACK)
        return ui_act(ui, KEY_ACTION_BACK, TERM_KEY_ESC);
    return ui_act(ui, (enum key_action)hit->action, hit->arg);
}

/* ---- questions and answers ---- */

void ui_selection_get(const struct ui *ui, struct report_selection *s)
{
    const struct ui_list *l = &ui->list[SCREEN_JOB];
    bool later = ui->frozen || ui->report; /* they can show all panels later */

    *s = (struct report_selection){
        .sort = report_sort_find(screen_job.columns[l->sort].key),
        .offset = ui->frozen || in_panel(ui) ? 0 : (uint32_t)l->top,
        .count = ui->frozen ? REPORT_RANKS_MAX : (uint32_t)screen_job_rows_max(ui),
        .columns = (uint32_t)screen_job_heat_columns(ui, ui->width),
        .agents = later || in_panel(ui) ? AGENTS_ASKED : 0,
        .picture = later || ui->panel == PANEL_STEP ? (uint32_t)screen_job_picture_rows(ui) : 0,
        .switches = ui->report || ui->panel == PANEL_SWITCHES ? REPORT_SWITCHES_MAX : 0,
    };
    snprintf(s->filter, sizeof(s->filter), "%s", l->filter);
}

json_t *ui_question(const struct ui *ui, struct ui_asked *asked)
{
    json_t *question;

    *asked = (struct ui_asked){ .frozen = ui->frozen };
    if (ui->frozen && ui->frozen_whole)
        return NULL;
    switch (ui->screen) {
    case SCREEN_JOB:
        ui_selection_get(ui, &asked->rows);
        question = json_pack("{s:s, s:s, s:o}", "query", "job", "job", ui->job_id, "view",
                             report_selection_json(&asked->rows));
        if (ui->job_run)
            json_object_set_new(question, "run", json_integer((json_int_t)ui->job_run));
        return question;
    case SCREEN_NODES:
        return json_pack("{s:s}", "query", "nodes");
    default:
        return json_pack("{s:s, s:b, s:i}", "query", "jobs", "finished", ui->finished, "newest",
                         REPORT_FINISHED_MAX);
    }
}

json_t *ui_question_status(void)
{
    return json_pack("{s:s}", "query", "status");
}

/* The history has the report of an ended job as it was saved, whatever rows are asked for. */
static void select_ranks(struct report *v, const struct report_selection *s)
{
    int64_t n = (int64_t)v->n_ranks, left = v->rank_total > s->offset ? v->rank_total - s->offset : 0;
    bool saved = n != (left < s->count ? left : s->count);

    v->offset = s->offset;
    if (report_row_alive(&v->job) || (!saved && n != v->rank_total))
        return;
    report_select_ranks(v, s);
    if (saved || (int64_t)v->n_ranks != n) {
        v->offset = 0;
        v->rank_total = (int64_t)v->n_ranks;
    }
}

void ui_take(struct ui *ui, enum screen screen, const struct ui_asked *asked, const struct ui_content *c,
             const char *problem)
{
    if (ui->frozen && (ui->frozen_whole || screen != ui->screen || !asked->frozen)) {
        report_rows_free(c->jobs);
        report_free(c->view);
        report_node_rows_free(c->nodes);
        return;
    }
    ui->frozen_whole = ui->frozen && !problem[0];
    rows_hold(ui, screen);
    utf8_clean(ui->problem[screen], sizeof(ui->problem[screen]), problem);
    if (problem[0])
        return;
    if (c->jobs) {
        for (size_t i = 0; i < c->jobs->n; i++)
            report_row_count_from_now(&c->jobs->job[i]);
        report_rows_free(ui->jobs);
        ui->jobs = c->jobs;
    } else if (c->view) {
        select_ranks(c->view, &asked->rows);
        report_row_count_from_now(&c->view->job);
        report_free(ui->view);
        ui->view = c->view;
    } else {
        report_node_rows_free(ui->nodes);
        ui->nodes = c->nodes;
    }
    ui->got_s[screen] = ui->now_s;
    rows_arrange(ui, screen);
}

void ui_take_status(struct ui *ui, const struct report_status *status)
{
    report_status_free(&ui->status);
    ui->status = *status;
    ui->has_status = true;
}

void ui_answer(struct ui *ui, enum screen screen, const struct ui_asked *asked, const json_t *answer)
{
    struct ui_content c = { 0 };
    struct err err = { "" };

    if (screen == SCREEN_JOBS)
        c.jobs = report_rows_read(answer, REPORT_JOBS_MAX, &err);
    else if (screen == SCREEN_JOB)
        c.view = report_read(answer, &err);
    else
        c.nodes = report_node_rows_read(answer, &err);
    ui_take(ui, screen, asked, &c, err.text);
}

void ui_answer_status(struct ui *ui, const json_t *answer)
{
    report_status_free(&ui->status);
    ui->has_status = report_status_read(&ui->status, answer, NULL) == 0;
}

void ui_link_changed(struct ui *ui, bool up, const char *why)
{
    if (up) {
        ui->link = UI_UP;
        return;
    }
    user_action_lost(ui);
    if (ui->link != UI_DOWN)
        ui->down_s = ui->now_s;
    ui->link = UI_DOWN;
    utf8_clean(ui->why, sizeof(ui->why), why ? why : "");
}

double ui_stale_s(const struct ui *ui)
{
    double age = ui->now_s - ui->got_s[ui->screen];
    double waited = ui->now_s - fmax(ui->got_s[ui->screen], ui->chosen_s);

    if (ui->report || ui->frozen || isnan(age))
        return NAN;
    /* Some questions may be lost before it is called old; a screen just chosen has as long to be answered. */
    return waited > fmax(2, 4 * ui->interval_s) ? age : NAN;
}

void ui_fit(struct ui *ui, int width, int height)
{
    ui->width = width;
    ui->height = height;
    for (int i = 0; i < SCREENS; i++) {
        ui->list[i].rows = screens[i]->rows(ui, width, height);
        ui->list[i].stride = i == SCREEN_JOBS && ui->overview ? screen_jobs_cell_rows(height) : 1;
        rows_clamp(&ui->list[i]);
    }
    if (in_panel(ui) && ui->view) {
        ui->panel_scroll.rows = panel_rows(ui, width);
        ui->panel_scroll.room = panel_room(ui, height - screen_job_head_rows(ui));
        scroll_page(&ui->panel_scroll, 0);
    }
    if (ui->help) {
        ui->help_scroll.rows = screen_help_rows(ui, width);
        ui->help_scroll.room = height - 2; /* title; bottom line */
        scroll_page(&ui->help_scroll, 0);
    }
}
