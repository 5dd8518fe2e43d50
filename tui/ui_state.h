/* ui_state.h - what the terminal shows and why: the state behind the screens.
 * ui.c and user_action.c change it; screens and panels only read it. */
#ifndef SYNCGUARD_TUI_UI_STATE_H
#define SYNCGUARD_TUI_UI_STATE_H

#include <stdbool.h>

#include "tui/playback.h"
#include "report/report.h"
#include "wire/client.h"

/* ---- what a person does about the job (user_action.h) ---- */

enum user_action_kind {
    USER_ACTION_PACE,
    USER_ACTION_CHECKPOINT,
    USER_ACTION_ACKNOWLEDGE,
    USER_ACTION_PAUSE,
    USER_ACTION_EXCLUDE
};

enum user_action_state {
    USER_ACTION_NONE,
    USER_ACTION_CHECKING, /* may it be done?  The controller is asked */
    USER_ACTION_ASKING,   /* the person is asked */
    USER_ACTION_DOING,    /* the controller has the request */
};

struct user_action {
    enum user_action_state state;
    enum user_action_kind kind;
    bool sent; /* the question of this state is under way */
    bool off;  /* pacing is switched off; the policy is paused */
    char job[48], node[64], key[CLIENT_KEY_BYTES], text[240];
};

/* ---- screens ---- */

enum screen { SCREEN_JOBS, SCREEN_JOB, SCREEN_NODES, SCREENS };

/* What is drawn below the sentence of a job. */
enum panel {
    PANEL_RANKS,
    PANEL_EVIDENCE,
    PANEL_STEP,
    PANEL_PATH,
    PANEL_SCALING,
    PANEL_WAYS,
    PANEL_POLICY,
    PANEL_SWITCHES
};

/* A table's place: which rows, in what order, where the cursor stands. */
struct ui_list {
    int selected, top, rows; /* rows: as many as the screen has room for */
    int stride;              /* top is a multiple of it: rows of a column, where there are several; 0: 1 */
    int sort;
    bool reverse;
    char filter[64];
    char key[80]; /* what the selected row is, so that the cursor stays on it when rows move */
    int *order;   /* the rows shown, as indices into the report */
    size_t n, cap;
};

enum ui_link { UI_CONNECTING, UI_UP, UI_DOWN };

/* A page that may be longer than its place. */
struct ui_scroll {
    int top, rows, room; /* first row shown, all rows, room for them */
};

struct ui {
    enum screen screen;
    bool overview; /* the jobs as short cells (overview.h) */
    struct {
        bool open;
        int column; /* under its cursor */
    } sort_menu;
    bool help, filtering, frozen, finished, report; /* report: as text, without keys */
    bool quit;
    double frozen_s;   /* when the picture was frozen */
    bool frozen_whole; /* ... and all ranks of the job fetched */
    char job_id[48];
    int64_t job_run; /* which of its runs, between which Slurm requeued it: 1 is the first; 0: the newest */
    enum panel panel;
    struct ui_scroll panel_scroll, help_scroll;
    struct ui_list list[SCREENS];

    struct report_rows *jobs;
    struct report *view;
    struct report_node_rows *nodes;
    struct report_status status;
    bool has_status;
    double chosen_s;            /* when this screen was chosen, or unfrozen */
    double got_s[SCREENS];      /* when its last answer came; NaN: never */
    char problem[SCREENS][256]; /* why the last answer was none; "" */

    struct user_action user_action; /* what a person is about to do */
    struct playback playback;       /* what is shown is a trace, when it is on */

    enum ui_link link;
    char hosts[256], conf[256],
        why[256];  /* the controllers; the file that names them; why the link is down */
    double down_s; /* since when */
    double now_s, wall_s, interval_s;
    char message[128]; /* on the bottom line until the next key */
    int width, height;
};

#endif
