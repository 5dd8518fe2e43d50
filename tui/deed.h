/* deed.h - what a person does about the job from the terminal: pacing on or off, a checkpoint now, an
 * acknowledgement, policy paused or not, a node excluded.
 *
 * A key begins it; what could be refused is asked of the controller first (a dry run, which also says what it
 * would do); then the bottom line says what will happen, and only `y` lets it. Like ui.h: keys and answers go
 * in, questions and a line of text come out; no terminal and no clock. */
#ifndef SYNCGUARD_TUI_DEED_H
#define SYNCGUARD_TUI_DEED_H

#include <jansson.h>
#include <stdbool.h>

#include "wire/client.h"

enum deed_kind { DEED_PACE, DEED_CHECKPOINT, DEED_ACKNOWLEDGE, DEED_PAUSE, DEED_EXCLUDE };

enum deed_state {
    DEED_NONE,
    DEED_CHECKING, /* may it be done?  The controller is asked */
    DEED_ASKING,   /* the person is asked */
    DEED_DOING,    /* the controller is told */
};

struct deed {
    enum deed_state state;
    enum deed_kind kind;
    bool sent; /* the question of this state is under way */
    bool off;  /* pacing is switched off; the policy is paused */
    char job[48], node[64], key[CLIENT_KEY_BYTES], text[240];
};

struct ui;

/* False: it cannot be begun, and ui->message says why. */
bool deed_begin(struct ui *ui, enum deed_kind kind);
/* A key while the person is asked: y does it, whatever else does not. */
void deed_key(struct ui *ui, int key);
/* The question that is to be sent now (new reference), or NULL; it counts as sent. */
json_t *deed_question(struct ui *ui);
void deed_answer(struct ui *ui, const json_t *answer);
/* The link is gone: what was under way may or may not have been done. */
void deed_lost(struct ui *ui);

#endif
