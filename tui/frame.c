#include "tui/frame.h"

#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "term/padded.h"
#include "tui/screen.h"
#include "tui/sort_menu.h"
#include "tui/ui.h"
#include "tui/user_action.h"

/* ---- title ---- */

static int draw_tab(struct canvas *c, const struct ui *ui, int x, enum screen s)
{
    char label[96];
    int width;

    if (s == SCREEN_JOB && ui->job_id[0])
        snprintf(label, sizeof(label), " %d job %s ", s + 1, ui->job_id);
    else
        snprintf(label, sizeof(label), " %d %s ", s + 1, screens[s]->title);
    width = canvas_put(c, 0, x, c->width - x, s == ui->screen ? STYLE_TAB : STYLE_TITLE, label);
    canvas_hit(c, 0, x, 1, width, KEY_ACTION_SCREEN, s);
    return x + width;
}

/* The controller answers with a reason. */
static bool is_refused(const struct ui *ui)
{
    return ui->link != UI_DOWN && ui->problem[ui->screen][0];
}

/* Whether the picture is live, frozen or old, or why there is none; returns its style. */
static enum style liveness_text(const struct ui *ui, char *text, size_t size)
{
    double stale = ui_stale_s(ui);
    const char *why = ui->link == UI_DOWN ? "connection lost, retrying"
                      : is_refused(ui)    ? "refused"
                                          : "no answer";

    if (ui->playback.on) {
        char playback[160];

        snprintf(text, size, " %s ", playback_text(&ui->playback, playback, sizeof(playback)));
        return ui->playback.problem[0]                     ? STYLE_BAD_TAG
               : ui->playback.paused || ui->playback.ended ? STYLE_WARN_TAG
                                                           : STYLE_TITLE;
    }
    if (ui->frozen) {
        snprintf(text, size, " FROZEN %s ", text_age(ui->now_s - ui->frozen_s).s);
        return STYLE_WARN_TAG;
    }
    if (!isnan(stale)) {
        snprintf(text, size, " STALE %s, %s ", text_age(stale).s, why);
        return STYLE_BAD_TAG;
    }
    if (ui->link != UI_UP) {
        snprintf(text, size, " %s ", ui->link == UI_DOWN ? "not connected, retrying" : "connecting …");
        return ui->link == UI_DOWN ? STYLE_BAD_TAG : STYLE_TITLE;
    }
    snprintf(text, size, " live ");
    return STYLE_TITLE;
}

/* On a job's screen the job, elsewhere the controller. */
static void controller_text(const struct ui *ui, char *text, size_t size)
{
    const struct report_status *s = &ui->status;
    const struct report_row *j = ui->view ? &ui->view->job : NULL;

    text[0] = '\0';
    if (ui->screen == SCREEN_JOB && j) {
        if (ui->playback.on) /* a trace does not contain the user */
            snprintf(text, size, "%s ", j->name);
        else
            snprintf(text, size, "%s · %s · %s ", j->name[0] ? j->name : "-", j->user[0] ? j->user : "-",
                     j->partition[0] ? j->partition : "-");
        return;
    }
    if (!ui->has_status)
        return;
    snprintf(text, size, "%s up %s · %lld job%s · %lld rank%s ", s->host[0] ? s->host : "controller",
             text_age(s->uptime_s).s, (long long)s->jobs, s->jobs == 1 ? "" : "s", (long long)s->ranks,
             s->ranks == 1 ? "" : "s");
}

static void draw_title(struct canvas *c, const struct ui *ui)
{
    char live[128] = "", status[320];
    enum style style = STYLE_TITLE;
    int x, width, right = c->width;

    canvas_fill(c, 0, 0, c->width, STYLE_TITLE, ' ');
    x = canvas_put(c, 0, 0, c->width, STYLE_TITLE, " sgtop ");
    for (int s = 0; s < SCREENS; s++)
        x = draw_tab(c, ui, x, (enum screen)s);
    if (!ui->report)
        style = liveness_text(ui, live, sizeof(live));
    width = canvas_text_width(live);
    if (width > right - x)
        width = right - x;
    right -= width;
    canvas_put(c, 0, right, width, style, live);
    controller_text(ui, status, sizeof(status));
    width = canvas_text_width(status);
    if (x + 2 + width <= right)
        canvas_put(c, 0, right - width, width, STYLE_TITLE, status);
}

/* ---- bottom line ---- */

static void draw_filter(struct canvas *c, const struct ui *ui, int y)
{
    const struct ui_list *l = &ui->list[ui->screen];
    int x = canvas_put(c, y, 0, c->width, STYLE_KEY, "/");

    x += canvas_put(c, y, x, c->width - x - 34, STYLE_BOLD, l->filter);
    canvas_reverse(c, y, x++, 1);
    canvas_put_right(c, y, x, c->width - x, STYLE_DIM, "Enter keeps the filter, Esc removes it");
}

#define ENTRY_GAP 2 /* columns between entries */

/* In what order the entries get their room: an entry is shown whole or not at all. */
enum wanted { WANTED_ALWAYS, WANTED_FIRST, WANTED, WANTED_NOT };

/* The keys that help and lead back and out always stand there; then what is done about a verdict. */
static enum wanted is_wanted(const struct ui *ui, const struct keymap_entry *table,
                             const struct keymap_entry *e)
{
    if (table == keymap_replay)
        return e->label ? WANTED : WANTED_NOT;
    if (!e->label || (e->action == KEY_ACTION_OPEN && ui->screen == SCREEN_JOB) ||
        (e->action == KEY_ACTION_PANEL && ui->screen != SCREEN_JOB) ||
        (e->action == KEY_ACTION_OVERVIEW && ui->screen != SCREEN_JOBS) ||
        (e->action == KEY_ACTION_ON_JOB && !user_action_possible(ui, (enum user_action_kind)e->arg)) ||
        (ui->playback.on && keymap_replaced(e)))
        return WANTED_NOT;
    switch (e->action) {
    case KEY_ACTION_HELP:
    case KEY_ACTION_FILTER:
    case KEY_ACTION_BACK:
    case KEY_ACTION_QUIT:
        return WANTED_ALWAYS;
    case KEY_ACTION_FREEZE: /* how to go on stands there for as long as the picture stands still */
        return ui->frozen ? WANTED_ALWAYS : WANTED;
    case KEY_ACTION_PANEL:
    case KEY_ACTION_OPEN:
        return WANTED_FIRST;
    case KEY_ACTION_ON_JOB: /* about a verdict; the others are never urgent */
        return e->arg == USER_ACTION_EXCLUDE || e->arg == USER_ACTION_ACKNOWLEDGE ? WANTED_FIRST : WANTED;
    default:
        return WANTED;
    }
}

/* What the key does now: the one that stopped the picture lets it go on. */
static const char *label_of(const struct ui *ui, const struct keymap_entry *e)
{
    const struct playback *p = &ui->playback;

    if (e->action == KEY_ACTION_PAUSE && p->ended)
        return "again";
    if (e->action == KEY_ACTION_PAUSE ? p->paused : e->action == KEY_ACTION_FREEZE && ui->frozen)
        return "go on";
    if (e->action == KEY_ACTION_OVERVIEW && ui->overview)
        return "list";
    if (e->action == KEY_ACTION_ON_JOB && e->arg == USER_ACTION_PAUSE && ui->view->control.paused)
        return "resume";
    return e->label;
}

/* An entry of a replay shows all its keys, because each does something else. */
static int key_width(const struct keymap_entry *table, const struct keymap_entry *e)
{
    return !e->keys                 ? 1 /* the first of its keys is a letter */
           : table == keymap_replay ? (int)strlen(e->keys)
                                    : (int)strcspn(e->keys, " ");
}

/* Columns of an entry and the gap behind it. */
static int entry_width(const struct ui *ui, const struct keymap_entry *table, const struct keymap_entry *e)
{
    return key_width(table, e) + 1 + canvas_text_width(label_of(ui, e)) + ENTRY_GAP;
}

/* One bit for each entry that fits into that many columns. */
static uint64_t entries_within(const struct ui *ui, const struct keymap_entry *table, int width)
{
    uint64_t shown = 0;
    int used = 0;

    for (enum wanted w = WANTED_ALWAYS; w < WANTED_NOT; w++)
        for (const struct keymap_entry *e = table; e->action; e++) {
            if (is_wanted(ui, table, e) != w || used + entry_width(ui, table, e) - ENTRY_GAP > width)
                continue;
            used += entry_width(ui, table, e);
            shown |= UINT64_C(1) << (e - table);
        }
    return shown;
}

/* Columns that the keys of a replay leave to the others. */
static int always_width(const struct ui *ui)
{
    int width = 0;

    for (const struct keymap_entry *e = keymap; e->action; e++)
        if (is_wanted(ui, keymap, e) == WANTED_ALWAYS)
            width += entry_width(ui, keymap, e);
    return width;
}

/* "? help  / filter ..." before end; returns the column after them. */
static int draw_labels(struct canvas *c, const struct ui *ui, const struct keymap_entry *table, int y, int x,
                       int end)
{
    uint64_t shown = entries_within(ui, table, end - x);

    for (const struct keymap_entry *e = table; e->action; e++) {
        int from = x;

        if (!(shown >> (e - table) & 1))
            continue;
        if (e->keys)
            x += canvas_printf(c, y, x, end - x, STYLE_KEY, "%.*s", key_width(table, e), e->keys);
        else
            x += canvas_printf(c, y, x, end - x, STYLE_KEY, "%c", e->key[0]);
        x += 1 + canvas_put(c, y, x + 1, end - x - 1, STYLE_TEXT, label_of(ui, e));
        canvas_hit(c, y, from, 1, x - from, e->action, e->arg);
        x += ENTRY_GAP;
    }
    return x;
}

static void draw_keys(struct canvas *c, const struct ui *ui, int y)
{
    const struct ui_list *l = &ui->list[ui->screen];
    char rows[96], filter[80] = "";
    int x = 0, width;

    if (l->filter[0])
        snprintf(filter, sizeof(filter), "filter: %s  ", l->filter);
    if (ui->help && ui->help_scroll.rows > ui->help_scroll.room)
        snprintf(rows, sizeof(rows), "%d to %d of %d", ui->help_scroll.top + 1,
                 ui->help_scroll.top + ui->help_scroll.room, ui->help_scroll.rows);
    else if (ui->screen == SCREEN_JOB && ui->panel != PANEL_RANKS)
        snprintf(rows, sizeof(rows), "%s", filter);
    else
        snprintf(rows, sizeof(rows), "%s%d/%d", filter, l->n ? l->selected + 1 : 0, (int)l->n);
    width = canvas_text_width(rows);
    canvas_put_right(c, y, c->width - width - 1, width, l->filter[0] ? STYLE_WARN : STYLE_DIM, rows);
    if (ui->playback.on)
        x = draw_labels(c, ui, keymap_replay, y, x, c->width - width - 2 - always_width(ui));
    draw_labels(c, ui, keymap, y, x, c->width - width - 2);
}

/* What will be done, in full, and the keys that confirm or refuse it. */
static void draw_user_action(struct canvas *c, const struct user_action *a)
{
    static const char keys[] = "  y: do it   any other key: do not";
    char text[sizeof(a->text) + sizeof(keys)];
    int wide = canvas_text_width(a->text) + (int)sizeof(keys) - 1;
    int rows = wide <= c->width ? 1 : wide <= 2 * c->width - 16 ? 2 : 3; /* words are not broken */

    if (a->state != USER_ACTION_ASKING) {
        canvas_put(c, c->height - 1, 0, c->width, STYLE_DIM, "asking the controller …");
        return;
    }
    snprintf(text, sizeof(text), "%s%s", a->text, keys);
    for (int i = 1; i <= rows; i++)
        canvas_fill(c, c->height - i, 0, c->width, STYLE_WARN, ' ');
    canvas_wrap(c, c->height - rows, 0, 0, c->width, rows, STYLE_WARN, text);
}

static void draw_bottom(struct canvas *c, const struct ui *ui)
{
    int y = c->height - 1;

    if (ui->user_action.state != USER_ACTION_NONE)
        draw_user_action(c, &ui->user_action);
    else if (ui->filtering)
        draw_filter(c, ui, y);
    else if (ui->sort_menu.open)
        canvas_put(c, y, 0, c->width, STYLE_DIM,
                   "Enter: sort by it; by the present one: reverse  Esc: close");
    else if (ui->playback.problem[0])
        canvas_put(c, y, 0, c->width, STYLE_BAD, ui->playback.problem);
    else if (ui->message[0])
        canvas_put(c, y, 0, c->width, STYLE_WARN, ui->message);
    else if (is_refused(ui) && !isnan(ui_stale_s(ui)))
        canvas_put(c, y, 0, c->width, STYLE_BAD, ui->problem[ui->screen]);
    else
        draw_keys(c, ui, y);
}

/* ---- nothing to show yet ---- */

static const char *const checks[] = {
    "· Is it running?          systemctl status syncguardd",
    "· Is it the right host?   Controller= in the file below, or --controller",
    "· Does munge work?        munge -n | unmunge; the same key on both hosts",
    "· Is its port open?       6825/tcp, unless Port= names another",
};

static void draw_down(struct canvas *c, const struct ui *ui, int y, int gap)
{
    char retrying[128];

    snprintf(retrying, sizeof(retrying),
             "Retrying since %s; this screen appears as soon as the controller answers.",
             text_age(ui->now_s - ui->down_s).s);
    canvas_printf(c, y, 2, c->width - 4, STYLE_BAD, "No controller: cannot reach %s", ui->hosts);
    y += 1 + canvas_wrap(c, y + 1, 4, 4, c->width - 6, 3, STYLE_BOLD, ui->why);
    y += gap + canvas_wrap(c, y + gap, 2, 4, c->width - 4, 2, STYLE_TEXT, retrying);
    canvas_put(c, y + gap, 2, c->width - 4, STYLE_BOLD, "What to check");
    y += gap + 1;
    for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
        y += canvas_wrap(c, y, 4, 30, c->width - 6, 2, STYLE_TEXT, checks[i]);
    canvas_printf(c, y + gap, 4, c->width - 6, STYLE_DIM, "configuration: %s", ui->conf);
}

static void draw_wait(struct canvas *c, const struct ui *ui)
{
    int gap = c->height < 20 ? 0 : 1, y = 2 + gap;

    if (ui->link == UI_DOWN)
        draw_down(c, ui, y, gap);
    else if (ui->problem[ui->screen][0])
        canvas_wrap(c, y, 2, 2, c->width - 4, 4, STYLE_BAD, ui->problem[ui->screen]);
    else if (ui->link == UI_CONNECTING)
        canvas_printf(c, y, 2, c->width - 4, STYLE_TEXT, "connecting to %s …", ui->hosts);
    else
        canvas_put(c, y, 2, c->width - 4, STYLE_DIM, "waiting for the answer …");
}

/* ---- all of it ---- */

static bool has_data(const struct ui *ui)
{
    return ui->screen == SCREEN_JOBS  ? ui->jobs != NULL
           : ui->screen == SCREEN_JOB ? ui->view != NULL
                                      : ui->nodes != NULL;
}

void frame_draw(struct canvas *c, const struct ui *ui)
{
    canvas_clear(c);
    if (!ui->report && (c->width < FRAME_WIDTH_MIN || c->height < FRAME_HEIGHT_MIN)) {
        canvas_printf(c, c->height / 2, 0, c->width, STYLE_WARN, "sgtop needs %dx%d, this is %dx%d",
                      FRAME_WIDTH_MIN, FRAME_HEIGHT_MIN, c->width, c->height);
        return;
    }
    draw_title(c, ui);
    if (ui->help)
        screen_help_draw(c, ui);
    else if (ui->sort_menu.open)
        sort_menu_draw(c, ui);
    else if (has_data(ui))
        screens[ui->screen]->draw(c, ui);
    else
        draw_wait(c, ui);
    if (!ui->report)
        draw_bottom(c, ui);
}

int frame_natural_height(const struct ui *ui, int width)
{
    return has_data(ui) ? screens[ui->screen]->natural(ui, width) : 8;
}
