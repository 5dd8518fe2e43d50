/* ui.h - what keys and answers do to the state behind the screens (ui_state.h).
 *
 * Keys and answers go in, questions come out, and frame.h draws the state; no terminal, socket or clock in
 * here (times are the caller's monotonic seconds), so that tests drive it as the main loop does. */
#ifndef SYNCGUARD_TUI_UI_H
#define SYNCGUARD_TUI_UI_H

#include <jansson.h>
#include <stdbool.h>

#include "term/canvas.h"
#include "tui/keymap.h"
#include "tui/ui_state.h"

void ui_init(struct ui *ui);
void ui_reset(struct ui *ui); /* gives back what it holds */

/* A key as term/term.h names them, a click or turn of the wheel (arg of KEY_ACTION_WHEEL).
 * True when the question changed and should be asked at once. */
bool ui_key(struct ui *ui, int key);
bool ui_act(struct ui *ui, enum key_action action, int arg);
/* Where a click went, on the canvas drawn last. */
bool ui_click(struct ui *ui, const struct canvas *c, int y, int x, bool twice);

/* What a question asked for: the rows of a job, for a picture that was frozen then or not. */
struct ui_asked {
    bool frozen;
    struct report_selection rows;
};
/* The question that the screen shown needs now (new reference), or NULL: frozen.  *asked is for ui_answer. */
json_t *ui_question(const struct ui *ui, struct ui_asked *asked);
json_t *ui_question_status(void);
/* The controller's answer to a question of that screen. */
void ui_answer(struct ui *ui, enum screen screen, const struct ui_asked *asked, const json_t *answer);
void ui_answer_status(struct ui *ui, const json_t *answer);

/* What a screen shows: that one of them which is the screen's. */
struct ui_content {
    struct report_rows *jobs;
    struct report *view;
    struct report_node_rows *nodes;
};
/* The rows of a job that its screen needs now. */
void ui_selection_get(const struct ui *ui, struct report_selection *s);
/* Show it on that screen; problem: why there is none, or "".  Content and status then are the ui's. */
void ui_take(struct ui *ui, enum screen screen, const struct ui_asked *asked, const struct ui_content *c,
             const char *problem);
void ui_take_status(struct ui *ui, const struct report_status *status);

void ui_link_changed(struct ui *ui, bool up, const char *why);
void ui_open(struct ui *ui, const char *job_id);

/* Seconds since the answer on this screen when that is too long to be called live; NaN otherwise. */
double ui_stale_s(const struct ui *ui);

/* Fit lists, panel and help to the size at which frame.h draws them next. */
void ui_fit(struct ui *ui, int width, int height);

#endif
