/* ui.h - what the terminal shows and why: the state behind the screens.
 *
 * Keys and answers go in, questions and pictures come out; no terminal, socket or clock in here (times are
 * the caller's monotonic seconds), so that tests drive it as the main loop does. */
#ifndef SYNCGUARD_TUI_UI_H
#define SYNCGUARD_TUI_UI_H

#include <jansson.h>
#include <stdbool.h>

#include "tui/canvas.h"
#include "tui/keymap.h"
#include "tui/playback.h"
#include "tui/snapshot.h"
#include "tui/user_action.h"

#define UI_WIDTH_MIN  80
#define UI_HEIGHT_MIN 24

enum screen { SCREEN_JOBS, SCREEN_JOB, SCREEN_NODES, SCREENS };

/* What stands under the sentence of a job. */
enum panel { PANEL_RANKS, PANEL_EVIDENCE, PANEL_PATH, PANEL_SCALING, PANEL_WAYS, PANEL_POLICY };

/* A table's place: which rows, in what order, where the cursor stands. */
struct ui_list {
    int selected, top, rows; /* rows: as many as the screen has room for */
    int sort;
    bool reverse;
    char filter[64];
    char key[64]; /* what the selected row is, so that the cursor stays on it when rows move */
    int *order;   /* the rows shown, as indices into the snapshot */
    size_t n, cap;
};

enum ui_link { UI_CONNECTING, UI_UP, UI_DOWN };

struct ui {
    enum screen screen;
    bool help, filtering, frozen, finished, report; /* report: as text, without keys */
    bool quit;
    double frozen_s;   /* when the picture was frozen */
    bool frozen_whole; /* ... and all ranks of the job fetched */
    char job_id[48];
    enum panel panel;
    int panel_top, panel_rows, panel_room; /* first row shown, all rows, room for them */
    struct ui_list list[SCREENS];

    struct snap_jobs *jobs;
    struct snap_view *view;
    struct snap_nodes *nodes;
    struct snap_status status;
    bool has_status;
    double chosen_s;            /* when this screen was chosen, or let go on */
    double got_s[SCREENS];      /* when its last answer came; NaN: never */
    char problem[SCREENS][256]; /* why the last answer was none; "" */

    struct user_action user_action; /* what a person is about to do */
    struct playback playback;       /* what is shown is a trace, when it is on */

    enum ui_link link;
    char hosts[256], conf[256], why[256]; /* whom we ask; the file that says so; why it is down */
    double down_s;                        /* since when */
    double now_s, wall_s, interval_s;
    char message[128]; /* on the bottom line until the next key */
    int width, height;
};

void ui_init(struct ui *ui);
void ui_reset(struct ui *ui); /* gives back what it holds */

/* A key as keymap.h names them, a click or turn of the wheel (arg of KEY_ACTION_WHEEL).
 * True when the question changed and should be asked at once. */
bool ui_key(struct ui *ui, int key);
bool ui_act(struct ui *ui, enum key_action action, int arg);
/* Where a click went, on the canvas drawn last. */
bool ui_click(struct ui *ui, const struct canvas *c, int y, int x, bool twice);

/* The question that the screen shown needs now (new reference), or NULL: frozen. *offset is for ui_answer. */
json_t *ui_question(const struct ui *ui, int64_t *offset);
json_t *ui_question_status(void);
/* The answer to a question of that screen. */
void ui_answer(struct ui *ui, enum screen screen, int64_t offset, const json_t *answer);
void ui_answer_status(struct ui *ui, const json_t *answer);
void ui_link_changed(struct ui *ui, bool up, const char *why);
void ui_open(struct ui *ui, const char *job_id);

/* Seconds since the answer on this screen when that is too long to be called live; NaN otherwise. */
double ui_stale_s(const struct ui *ui);

/* Fit the lists to a size, then paint; ui_draw changes nothing. */
void ui_fit(struct ui *ui, int width, int height);
void ui_draw(struct canvas *c, const struct ui *ui);
/* The height at which the screen shows everything that it has. */
int ui_natural_height(const struct ui *ui, int width);

#endif
