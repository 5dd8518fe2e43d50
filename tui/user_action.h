/* user_action.h - what a person does about the job from the terminal: pacing on or off, a checkpoint now, an
 * acknowledgement, policy paused or not, a node excluded.
 *
 * A key begins it; an action that the controller could refuse is tried as a dry run first; then the bottom
 * line shows what will be done, and only `y` confirms it. Keys and answers go in, questions and a line of
 * text come out; no terminal and no clock. */
#ifndef SYNCGUARD_TUI_USER_ACTION_H
#define SYNCGUARD_TUI_USER_ACTION_H

#include <jansson.h>
#include <stdbool.h>

#include "tui/ui_state.h"

/* Whether there is something that it can be done to, as far as the job's report says. */
bool user_action_possible(const struct ui *ui, enum user_action_kind kind);
/* False: it cannot be started; ui->message has the reason. */
bool user_action_begin(struct ui *ui, enum user_action_kind kind);
/* A key while the person is asked: y does it, whatever else does not. */
void user_action_key(struct ui *ui, int key);
/* The question that is to be sent now (new reference), or NULL; it counts as sent. */
json_t *user_action_question(struct ui *ui);
void user_action_answer(struct ui *ui, const json_t *answer);
/* The link is gone: what was under way may or may not have been done. */
void user_action_lost(struct ui *ui);

#endif
