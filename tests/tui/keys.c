/* Keys and clicks against the state behind the screens, and the texts that are made from the same tables. */
#include "tests/tap.h"

#include <locale.h>
#include <stdlib.h>
#include <time.h>

#include "common/xalloc.h"
#include "term/padded.h"
#include "term/term.h"
#include "tests/tui/fake.h"
#include "tui/arguments.h"
#include "tui/frame.h"
#include "tui/screen.h"
#include "tui/ui.h"
#include "tui/user_action.h"

static struct ui ui;
static struct canvas *canvas;
static const struct ui_asked nothing_asked;

static void answer(void)
{
    struct ui_asked asked;
    json_t *question = ui_question(&ui, &asked), *a;

    if (!question)
        return;
    a = fake_answer(&fake_default, question, 30);
    ui_answer(&ui, ui.screen, &asked, a);
    json_decref(question);
    json_decref(a);
    ui_fit(&ui, 80, 24);
}

static void keys(const char *text)
{
    for (; *text; text++)
        ui_key(&ui, *text);
    ui_fit(&ui, 80, 24);
    answer();
}

static char *asked(void)
{
    struct ui_asked asked;
    json_t *question = ui_question(&ui, &asked);
    char *text = question ? json_dumps(question, JSON_COMPACT) : xstrdup("nothing");

    json_decref(question);
    return text;
}

static void is_asked(const char *part, bool want)
{
    char *text = asked();

    if (!ok((strstr(text, part) != NULL) == want, "%s is %sasked for", part, want ? "" : "not "))
        printf("# %s\n", text);
    free(text);
}

static const char *selected(void)
{
    const struct ui_list *l = &ui.list[ui.screen];

    return ui.screen == SCREEN_JOBS ? ui.jobs->job[l->order[l->selected]].id
                                    : ui.nodes->node[l->order[l->selected]].node;
}

static void start(void)
{
    ui_reset(&ui);
    ui_link_changed(&ui, true, NULL);
    ui_fit(&ui, 80, 24);
    answer();
}

/* A filter of texts and comparisons, typed into the list of jobs, and the rows that it shows. */
static const struct {
    const char *filter;
    int rows;
    const char *what;
} filters[] = {
    { "alice train", 1, "two texts in different columns" },
    { "alice nowhere", 0, "two texts of which one is nowhere" },
    { "cost>10", 2, "a share in per cent; what hangs costs everything" },
    { "COST>10% alice", 1, "a share with its sign, and a text" },
    { "cost<10", 0, "the other way: what is unknown is not less" },
    { "step>", 5, "a comparison that is not finished" },
    { "step>1s ranks>1", 2, "times with a unit, and counts" },
    { "state=fin", 1, "the beginning of a text" },
    { "state=ended", 1, "the state as the screen has it" },
    { "cost>10 culprit=r9", 1, "whom the worst verdict names" },
    { "hung", 1, "the word before a job" },
    { "cost>dear", 0, "no figure: a text, which is nowhere" },
};

static void test_filters(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
        keys("/");
        keys(filters[i].filter);
        is_int((long long)ui.list[SCREEN_JOBS].n, filters[i].rows, "filter: %s", filters[i].what);
        keys("\033");
    }
}

static void test_list(void)
{
    start();
    is_str(selected(), "4712.0", "the list begins with the worst job");
    keys("j");
    is_str(selected(), "4711.0", "j selects the next row");
    keys("G");
    is_str(selected(), "4692.0", "the last row is selected");
    keys("j");
    is_str(selected(), "4692.0", "j on the last row stays there");
    keys("kkkkkkkkk");
    is_str(selected(), "4712.0", "k on the first row stays there");
    keys("j/cfd");
    is_int((long long)ui.list[SCREEN_JOBS].n, 1, "a filter shows only the rows that match");
    keys("\n");
    ok(!ui.filtering, "Enter ends the typing");
    keys("\033");
    is_int((long long)ui.list[SCREEN_JOBS].n, 5, "Esc drops the filter");
    ok(!ui.quit, "Esc after a filter does not quit");
    test_filters();
    keys("\033\033");
    ok(!ui.quit, "a second Esc does not quit");
    keys("e");
    is_int((long long)ui.list[SCREEN_JOBS].n, 4, "e hides ended jobs");
    keys("q");
    ok(ui.quit, "q on the list quits");
}

/* A question of the person's, answered by the fake controller. */
static bool send_user_action(const char *part)
{
    json_t *question = user_action_question(&ui), *a;
    char *text = question ? json_dumps(question, JSON_COMPACT) : NULL;
    bool has = text && strstr(text, part) != NULL;

    if (text && !has)
        printf("# %s\n", text);
    free(text);
    if (!question)
        return false;
    a = fake_answer(&fake_default, question, 30);
    user_action_answer(&ui, a);
    json_decref(a);
    json_decref(question);
    return has;
}

/* A run that Slurm requeued and the one since, and a task of an array; nothing else is known of them. */
static void test_runs(void)
{
    json_t *jobs =
        json_pack("{s:[{s:s, s:s, s:i, s:i, s:i}, {s:s, s:s, s:i, s:i, s:i}, "
                  "{s:s, s:s, s:i, s:i, s:i, s:i}]}",
                  "jobs", "id", "123.0", "state", "running", "job", 123, "step", 0, "restarts", 1, "id",
                  "123.0", "state", "finished", "job", 123, "step", 0, "restarts", 0, "id", "120_3.0",
                  "state", "finished", "job", 124, "step", 0, "restarts", 0, "ranks", 4);

    start();
    ui_answer(&ui, SCREEN_JOBS, &nothing_asked, jobs);
    ui_act(&ui, KEY_ACTION_SORT, 1);
    ui_act(&ui, KEY_ACTION_HOME, 0);
    is_str(selected(), "123.0", "sorted by job its two runs are the first rows");
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    ui_answer(&ui, SCREEN_JOBS, &nothing_asked, jobs);
    is_int(ui.list[SCREEN_JOBS].selected, 1, "the cursor stays on the second of two runs");
    ui_act(&ui, KEY_ACTION_REVERSE, 0);
    ui_act(&ui, KEY_ACTION_HOME, 0);
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    ui_answer(&ui, SCREEN_JOBS, &nothing_asked, jobs);
    is_int(ui.list[SCREEN_JOBS].selected, 1, "and on the first of them");
    ui_key(&ui, '\n');
    is_asked("\"run\":", false);
    ui_act(&ui, KEY_ACTION_SCREEN, SCREEN_JOBS);
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    ui_key(&ui, '\n');
    is_asked("\"job\":\"123.0\"", true);
    is_asked("\"run\":1", true);
    ui_act(&ui, KEY_ACTION_SCREEN, SCREEN_JOBS);
    ui_act(&ui, KEY_ACTION_HOME, 0);
    ui_key(&ui, '\n');
    is_asked("\"job\":\"124.0\"", true);
    ui_act(&ui, KEY_ACTION_SCREEN, SCREEN_JOBS);
    for (const char *key = "/ranks<9"; *key; key++)
        ui_key(&ui, *key);
    is_int((long long)ui.list[SCREEN_JOBS].n, 1, "a number of ranks that is not known is not less than any");
    json_decref(jobs);
}

static void test_lost_job(void)
{
    const struct ui_list *l = &ui.list[SCREEN_JOBS];
    struct report_row *first;

    start();
    first = &ui.jobs->job[l->order[0]];
    ok(report_row_alive(first), "a job that runs stands at the top");
    snprintf(first->state, sizeof(first->state), "lost");
    first->age_s = 1;
    ui_key(&ui, 'r');
    ui_key(&ui, 'r');
    ok(report_row_alive(&ui.jobs->job[l->order[0]]), "once it is lost, another that runs does");
    ok(&ui.jobs->job[l->order[l->n - 2]] == first, "and it is the newest of those that ended");
}

static void test_user_actions(void)
{
    start();
    ui_key(&ui, 'P');
    ok(ui.user_action.state == USER_ACTION_NONE && ui.message[0], "no user action is possible from the list");
    ok(!user_action_possible(&ui, USER_ACTION_EXCLUDE), "the list's key bar offers no action");
    ui_open(&ui, "4711.0");
    answer();
    ok(user_action_possible(&ui, USER_ACTION_EXCLUDE) && user_action_possible(&ui, USER_ACTION_ACKNOWLEDGE),
       "a job's key bar offers to exclude a node that is to blame, and to acknowledge its verdict");
    ui_key(&ui, 'X');
    ok(send_user_action("\"nodes\":\"node05\",\"dry_run\":true"),
       "X sends a dry run of excluding the culprit's node");
    is_int(ui.user_action.state, USER_ACTION_ASKING, "the user is asked to confirm");
    ui_key(&ui, 'n');
    ok(ui.user_action.state == USER_ACTION_NONE && !user_action_question(&ui),
       "any other key than y sends nothing");
    is_str(ui.message, "not done", "a cancelled user action is reported");

    ui_key(&ui, 'X');
    send_user_action("dry_run");
    ui_key(&ui, 'y');
    ok(send_user_action("\"action\":\"exclude\",\"job\":\"4711.0\",\"key\":"),
       "y sends the user action once");
    ok(!user_action_question(&ui), "after y the question is gone");
    ok(strstr(ui.message, "started") != NULL, "the message after y refers to the outcome");

    ui_key(&ui, 'C');
    ui_key(&ui, 'X');
    ok(ui.user_action.kind == USER_ACTION_CHECKPOINT && ui.user_action.state == USER_ACTION_CHECKING,
       "while a user action is under way no other begins");
    send_user_action("\"action\":\"checkpoint\"");
    is_str(ui.message, "not done: no rank of this job asks for checkpoints",
           "a rejected user action shows the controller's reason");
    is_int(ui.user_action.state, USER_ACTION_NONE, "a rejected user action asks no question");

    ui_key(&ui, 'P');
    ui_key(&ui, 'y');
    ok(send_user_action("\"do\":\"set\",\"job\":\"4711.0\",\"words\":[\"Pacing=off\"]"),
       "P switches pacing off when it is on");
    ui_key(&ui, 'Z');
    ui_key(&ui, 'y');
    ok(send_user_action("\"do\":\"pause\""), "Z pauses the policy");
    ui_key(&ui, 'A');
    ui_key(&ui, 'y');
    ok(send_user_action("\"do\":\"acknowledge\""), "A acknowledges the verdict");

    ui_key(&ui, 'Z');
    ui_key(&ui, 'y');
    json_decref(user_action_question(&ui));
    ui_link_changed(&ui, false, "gone");
    ok(strstr(ui.message, "may have been done") != NULL,
       "a lost link reports that the user action may have been done");
    ui_key(&ui, 'P');
    is_str(ui.message, "no controller", "a user action without controller is rejected");
}

/* A verdict about a rank whose row the table does not have, and a cheaper one about a node. */
static void test_culprit_unseen(void)
{
    json_t *job =
        json_pack("{s:s, s:s, s:{s:i, s:s}, s:[{s:s, s:s, s:[s]}, {s:s, s:s, s:[s]}]}", "id", "1.0", "state",
                  "running", "worst", "rank", 9, "node", "node11", "verdicts", "class", "hang", "scope",
                  "rank", "culprits", "r9", "class", "straggler", "scope", "node", "culprits", "node05");

    start();
    ui_open(&ui, "1.0");
    ui_answer(&ui, SCREEN_JOB, &nothing_asked, job);
    ui_key(&ui, 'X');
    is_str(ui.user_action.node, "node11", "X excludes the node of a rank that is not seen");
    user_action_lost(&ui);
    json_object_del(job, "worst");
    ui_answer(&ui, SCREEN_JOB, &nothing_asked, job);
    ui_key(&ui, 'X');
    ok(ui.user_action.state == USER_ACTION_NONE && strstr(ui.message, "no single node is known"),
       "where that is not known it excludes no node of a cheaper verdict");
    json_decref(job);
}

static void test_sort(void)
{
    start();
    keys("s");
    is_str(selected(), "4712.0", "sorted by job the newest is first");
    keys("r");
    keys("g");
    is_str(selected(), "4690.0", "in reversed order the oldest job is first");
    keys("j");
    ui_act(&ui, KEY_ACTION_SORT, 1);
    is_str(selected(), "4691.0", "the cursor stays on its row when the order changes");

    ui_fit(&ui, 60, 16);
    for (int i = 0, n = screen_jobs.n_columns; i < n; i++) {
        ui_key(&ui, 's');
        if (screen_jobs.hidden(&ui, 60) & 1u << ui.list[SCREEN_JOBS].sort)
            n = 0;
        ok(n, "s sorts by a column that is seen at 60x16\n%d", ui.list[SCREEN_JOBS].sort);
    }
}

static void test_job(void)
{
    start();
    keys("j\n");
    ok(ui.screen == SCREEN_JOB && !strcmp(ui.job_id, "4711.0"), "Enter opens the job");
    is_asked("\"sort\":\"lateness\"", true);
    is_asked("\"offset\":0,\"count\":7,\"columns\":", true);
    keys("G");
    is_asked("\"offset\":57", true);
    ok(ui.view->offset == 57 && ui.view->n_ranks == 7, "only the visible rows are requested");
    keys("s");
    is_asked("\"sort\":\"compute\"", true);
    ok(ui.list[SCREEN_JOB].top == 0, "another order begins at the top");
    keys("/node03\n");
    is_asked("\"filter\":\"node03\"", true);
    is_int((long long)ui.list[SCREEN_JOB].n, 8, "the filter of ranks is sent to the controller");
    keys("q");
    ok(ui.screen == SCREEN_JOB && !ui.list[SCREEN_JOB].filter[0], "q drops the filter first");
    keys("q");
    ok(ui.screen == SCREEN_JOBS && !ui.quit, "q without a filter returns to the list");
    keys("3");
    keys("/node05\n\n");
    ok(ui.screen == SCREEN_JOB && !strcmp(ui.list[SCREEN_JOB].filter, "node05"),
       "Enter on a node opens its job there");
}

static void draw(void)
{
    frame_draw(canvas, &ui);
}

static bool drawn(const char *text)
{
    char *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    bool found;

    draw();
    canvas_print(canvas, out);
    fclose(out);
    found = strstr(all, text) != NULL;
    if (!found)
        printf("# %s is not in\n%s", text, all);
    free(all);
    return found;
}

static void test_sort_menu(void)
{
    struct ui_list *l = &ui.list[SCREEN_JOBS];

    start();
    keys("o");
    ok(ui.sort_menu.open && drawn("sort by") && drawn("severity, worst first"),
       "o opens the menu, which says what can be sorted by");
    keys("jj\n");
    ok(!ui.sort_menu.open, "Enter closes the menu");
    is_str(screen_jobs.columns[l->sort].title, "NAME", "and sorts by what its cursor stood on");
    keys("o\n");
    ok(l->reverse, "the present order again is reversed");
    keys("oj");
    ui_key(&ui, TERM_KEY_ESC);
    ok(!ui.sort_menu.open && !strcmp(screen_jobs.columns[l->sort].title, "NAME"),
       "Esc closes the menu, and the order stays");
    keys("oG");
    is_str(screen_jobs.columns[ui.sort_menu.column].title, "CULPRIT", "its last row can be sorted by");
    keys("q");
    keys("o");
    for (int i = 0;
         i < screen_jobs.n_columns && strcmp(screen_jobs.columns[ui.sort_menu.column].title, "SYNC"); i++)
        keys("j");
    ui_key(&ui, '\n');
    is_str(ui.message, "sorted by SYNC, which has no room here", "a column that is not seen is named");
    ok(drawn("sorted by SYNC"), "on the bottom line");
    keys("o");
    ui_click(&ui, canvas, 0, 27, false);
    ok(!ui.sort_menu.open, "another screen has no menu of this one");
}

/* 102 jobs at 80x24: 18 rows of cells, of which 6 stand side by side. */
static void test_overview(void)
{
    static const struct fake many = {
        .ranks = 64, .ranks_per_node = 8, .slow_at_s = 12, .slow_node = 5, .jobs = 100
    };
    const struct ui_list *l = &ui.list[SCREEN_JOBS];
    json_t *question, *a;
    struct ui_asked asked;

    start();
    ui_key(&ui, 'm');
    question = ui_question(&ui, &asked);
    a = fake_answer(&many, question, 30);
    ui_answer(&ui, SCREEN_JOBS, &asked, a);
    json_decref(question);
    json_decref(a);
    ui_fit(&ui, 80, 24);
    ok(drawn("4712  HUNG") && drawn("4711  20 %") && drawn("1 HUNG  1 SLOW"),
       "the overview has jobs in cells");
    is_int((long long)l->n, 102, "as many as there are");
    ok(l->rows >= 102 && l->top == 0, "102 jobs are seen at once on 80x24\n%d", l->rows);
    ui_key(&ui, TERM_KEY_RIGHT);
    is_int(l->selected, 18, "an arrow to the right leads to the next column of cells");
    ui_key(&ui, TERM_KEY_LEFT);
    ui_key(&ui, TERM_KEY_DOWN);
    is_int(l->selected, 1, "and one down to the next cell");
    ui_fit(&ui, 60, 16);
    ui_key(&ui, 'G');
    ok(l->selected == 101 && l->top % l->stride == 0 && l->top + l->rows > 101,
       "on a smaller screen whole columns are scrolled\n%d from %d", l->selected, l->top);
    ui_act(&ui, KEY_ACTION_WHEEL, -3);
    ok(l->top % l->stride == 0 && l->selected < l->top + l->rows, "by the wheel, too");
    ui_fit(&ui, 80, 24);
    ui_key(&ui, 'g');
    draw();
    ui_click(&ui, canvas, 3, 14, false);
    is_int(l->selected, 19, "a click chooses a cell");
    ui_key(&ui, TERM_KEY_ESC);
    ok(!ui.overview && !ui.quit && ui.screen == SCREEN_JOBS, "Esc leads back to the list");
    keys("3m");
    ok(ui.overview && ui.screen == SCREEN_JOBS, "m leads to the overview from any screen");
    ui_key(&ui, 'm');
    ok(!ui.overview, "and back to the list");
}

static void test_panels(void)
{
    start();
    keys("jv");
    ok(ui.screen == SCREEN_JOB && ui.panel == PANEL_EVIDENCE && !strcmp(ui.job_id, "4711.0"),
       "v in the list opens the job's evidence");
    ok(!drawn("sure") && drawn("cause: its CPUs run at 54 %"),
       "the evidence shows the cause and no probability");
    is_asked("\"offset\":0,\"count\":32", true);
    keys("jj");
    is_int(ui.panel_scroll.top, 2, "j scrolls a panel");
    ok(!drawn("97 % sure"), "rows above the scrolled panel are not shown");
    keys("G");
    is_int(ui.panel_scroll.top, ui.panel_scroll.rows - ui.panel_scroll.room, "G shows the end of a panel");
    keys("k");
    keys("f");
    is_int(ui.panel_scroll.top, ui.panel_scroll.rows - ui.panel_scroll.room,
           "j at the end of a panel does not scroll");
    keys("c");
    ok(ui.panel == PANEL_PATH && ui.panel_scroll.top == 0 &&
           drawn("58.0 % of the collectives wait for the same rank (by chance: 1.56 %)"),
       "c shows the critical path from its beginning");
    keys("q");
    ok(ui.screen == SCREEN_JOB && ui.panel == PANEL_RANKS, "q goes back to the ranks");
    keys("cc");
    ok(ui.panel == PANEL_RANKS, "the same key again returns to the ranks");
    keys("3");
    keys("/node05\nc");
    ok(ui.screen == SCREEN_JOB && ui.panel == PANEL_PATH, "c on a node opens its job's path");
}

static void test_freeze(void)
{
    start();
    keys("j\n");
    keys(" ");
    ok(ui.frozen && ui.view->n_ranks == 64, "a frozen picture has all ranks");
    is_asked("nothing", true);
    keys("G");
    ok(ui.list[SCREEN_JOB].selected == 63, "a frozen picture can be scrolled");
    keys(" ");
    ok(!ui.frozen, "Space continues a frozen picture");
    is_asked("\"count\":7", true);
}

/* The answer to a question that was asked before Space lacks most ranks. */
static void test_freeze_late(void)
{
    struct ui_asked asked;
    json_t *question, *a, *error = json_pack("{s:s}", "error", "busy");

    start();
    keys("j\n");
    question = ui_question(&ui, &asked);
    a = fake_answer(&fake_default, question, 30);
    ui_key(&ui, ' ');
    ui_answer(&ui, SCREEN_JOB, &asked, a);
    ok(!ui.frozen_whole, "an answer to an earlier question is no frozen picture");
    json_decref(question);
    json_decref(ui_question(&ui, &asked));
    ui_answer(&ui, SCREEN_JOB, &asked, error);
    is_asked("\"count\":1024", true);
    answer();
    ok(ui.frozen_whole && ui.view->n_ranks == 64, "nor is a refusal, and the question is asked again");
    ui_key(&ui, '/');
    ok(!ui.filtering, "a frozen job is not filtered");
    is_str(ui.message, "frozen: press Space to go on, then filter", "and the reason is told");
    json_decref(a);
    json_decref(error);
}

/* A report as the history has it: all rows, whatever was asked for, and ages from the end. */
static void answer_saved(void)
{
    struct ui_asked asked;
    json_t *question = ui_question(&ui, &asked), *a;

    json_object_del(question, "view");
    a = fake_answer(&fake_default, question, 30);
    json_object_set_new(a, "state", json_string("finished"));
    json_object_set_new(a, "age_s", json_real(600));
    json_object_set_new(a, "verdicts",
                        json_pack("[{s:s, s:s, s:[s], s:f, s:f, s:b}]", "class", "straggler", "scope", "node",
                                  "culprits", "node05", "since_s", 400.0, "over_s", 100.0, "standing", 0));
    json_object_set_new(a, "timeline",
                        json_pack("[{s:s, s:f, s:f, s:s}]", "class", "straggler", "from_s", 400.0, "to_s",
                                  100.0, "text", "it was slow"));
    ui_answer(&ui, ui.screen, &asked, a);
    json_decref(question);
    json_decref(a);
    ui_fit(&ui, 80, 24);
}

static void key_saved(const char *text)
{
    for (; *text; text++)
        ui_key(&ui, *text);
    answer_saved();
}

static void test_saved(void)
{
    const struct ui_list *l = &ui.list[SCREEN_JOB];
    time_t moved = 1790000000 - 600 - 18;
    struct tm tm;
    char text[64];

    start();
    ui_open(&ui, "4711.0");
    answer_saved();
    key_saved("G");
    is_int(l->selected, 63, "the last of all rows of a saved report is chosen");
    snprintf(text, sizeof(text), "r%lld ", (long long)ui.view->rank[63].rank);
    ok(ui.view->offset == 0 && drawn(text), "and drawn");
    for (int i = 0; i < screen_job.n_columns; i++)
        if (screen_job.columns[i].key && !strcmp(screen_job.columns[i].key, "node"))
            ui_act(&ui, KEY_ACTION_SORT, i);
    answer_saved();
    ok(ui.view->rank[0].rank == 0 && ui.view->rank[63].rank == 63, "a saved report is sorted here");
    key_saved("/node03\n");
    ok(l->n == 8 && ui.view->n_ranks == 8 && !strcmp(ui.view->rank[0].node, "node03"), "and filtered here");
    key_saved(" ");
    ok(l->n == 8 && ui.view->n_ranks == 8, "frozen, too");
    key_saved(" q");
    is_int((long long)l->n, 64, "without the filter all rows are there again");
    ui_key(&ui, 'v');
    answer_saved();
    ok(drawn("for 5m00s · over"), "the evidence has how long a verdict stood that was over");
    ok(drawn("16m40s to 11m40s ago"), "and of one before how long ago it was, from now");
    ui_key(&ui, 'c');
    ui.wall_s = 1790000000;
    answer_saved();
    strftime(text, sizeof(text), "node05 at %H:%M:%S", localtime_r(&moved, &tm));
    ok(drawn(text), "the critical path has the time of day at which it moved");
}

/* Of one it is not said that they are many. */
static void test_one(void)
{
    start();
    keys("j\np");
    ui.view->cadence.asked = ui.view->pace.node[0].late_holds = 1;
    ok(drawn("1 request, ") && drawn("1 hold ended"), "one request, one hold");
    keys("v");
    for (size_t i = 9; i < ui.view->n_ranks; i++)
        ui.view->rank[i].health.known = false;
    for (size_t i = 1; i < ui.view->n_agents; i++)
        ui.view->agent[i].health = ui.view->agent[5].health;
    ui_fit(&ui, 80, 24);
    ok(drawn("1 other: nothing found"), "one other rank");
    ui_key(&ui, 'G');
    ui_fit(&ui, 80, 24);
    ok(drawn("1 other is fine"), "one other node");
    keys("3");
    for (size_t i = 0; i < ui.nodes->n; i++)
        ui.nodes->node[i].seen_jobs = ui.nodes->node[i].culprit_jobs = 1;
    ok(drawn("culprit in 1 of 1 job "), "one job");
    keys("/work>1.2\n");
    is_int((long long)ui.list[SCREEN_NODES].n, 1, "a factor is compared with a fraction");
}

static void put_name(char **name)
{
    free(*name);
    *name = xstrdup("gpu-cluster-rack12-node0017.cluster.example.org");
}

/* What a verdict costs stands at the end of its sentence, and behind its names. */
static void test_long_names(void)
{
    struct report_row *j;

    start();
    keys("j\n");
    j = &ui.view->job;
    snprintf(
        j->sentence, sizeof(j->sentence),
        "gpu-cluster-rack12-node0017.cluster.example.org is slow: its 8 ranks arrive 6.2 ms late since 18 s; the step "
        "takes 30.6 ms, without it 24.4 ms (20 %% of the job's time is lost).");
    put_name(&j->verdicts.list[0].culprits.text[0]);
    ok(drawn("time is lost)."), "at 80 columns a sentence with a long name is drawn to its end");
    ok(drawn("…"), "at 80 columns a long name is shortened");
    ok(drawn(" is slow (straggler) 1.26x (1.23x to 1.30x) for 18 s"),
       "at 80 columns the price of a verdict with a long name is drawn");
    ok(drawn("gpu-cluster-"), "of a shortened name its first part stays");
    ok(drawn("example.org is slow"), "of a shortened name its last part stays");
}

static void test_mouse(void)
{
    start();
    draw();
    ui_click(&ui, canvas, 4, 20, false);
    is_str(selected(), "4690.0", "a click chooses the row");
    ui_click(&ui, canvas, 1, 10, false);
    is_int(ui.list[SCREEN_JOBS].sort, 1, "a click on a title sorts by it");
    ui_click(&ui, canvas, 0, 27, false);
    answer();
    ok(ui.screen == SCREEN_NODES, "a click on a tab shows the screen");
    ui_act(&ui, KEY_ACTION_SCREEN, SCREEN_JOBS);
    draw();
    ui_click(&ui, canvas, 3, 20, true);
    ok(ui.screen == SCREEN_JOB, "a double click opens the job");
    answer();
    ui_act(&ui, KEY_ACTION_WHEEL, 3);
    is_int(ui.list[SCREEN_JOB].top, 3, "the wheel turns three rows");
    ui_act(&ui, KEY_ACTION_WHEEL, -30);
    is_int(ui.list[SCREEN_JOB].top, 0, "the wheel does not scroll beyond the first row");
    ui_act(&ui, KEY_ACTION_WHEEL, 3000);
    is_int(ui.list[SCREEN_JOB].top, 57, "the wheel does not scroll beyond the last row");
}

/* A job whose verdict names these culprits, the last of which is rank 0's node. */
static json_t *job_of(const char *id, const char *const *culprit, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(culprit[i]));
    return json_pack("{s:s, s:s, s:[{s:s, s:s, s:o, s:f, s:s}], s:[{s:i, s:s}]}", "id", id, "state",
                     "running", "verdicts", "class", "straggler", "scope", "node", "culprits", list,
                     "slowdown", 1.5, "text", "they are slow", "rank_table", "rank", 0, "node",
                     culprit[n - 1]);
}

static void test_many_culprits(void)
{
    static char name[64][16];
    const char *culprit[ARRAY_SIZE(name)];
    json_t *job;

    for (size_t i = 0; i < ARRAY_SIZE(name); i++) {
        snprintf(name[i], sizeof(name[i]), "node-%04zu", i);
        culprit[i] = name[i];
    }
    start();
    ui_open(&ui, "1.0");
    job = job_of("1.0", culprit, ARRAY_SIZE(culprit));
    ui_answer(&ui, SCREEN_JOB, &nothing_asked, job);
    json_decref(job);
    ok(drawn("node-0063!"), "the last of 64 culprits, whose names take 700 bytes, is marked");
    ok(drawn("found   node-0000, node-0001 +62 are slow (straggler)"),
       "a line names the first culprits and the number of others");
    ui_key(&ui, 'v');
    ok(drawn("node-0008 +55 are"), "the evidence names more culprits, and the number of others");
}

static void test_sort_by_culprit(void)
{
    static const char *const names[][2] = { { "r3", "r17" }, { "r3", "r9" }, { "r12", "r13" } };
    json_t *rows = json_array(), *jobs;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char id[16];

        snprintf(id, sizeof(id), "%zu.0", i);
        json_array_append_new(rows, job_of(id, names[i], 2));
    }
    json_array_append_new(rows, json_pack("{s:s, s:s, s:[{s:s, s:[], s:f}]}", "id", "3.0", "state", "running",
                                          "verdicts", "class", "jitter", "culprits", "slowdown", 1.5));
    jobs = json_pack("{s:o}", "jobs", rows);
    start();
    ui_answer(&ui, SCREEN_JOBS, &nothing_asked, jobs);
    json_decref(jobs);
    for (int i = 0; i < screen_jobs.n_columns; i++)
        if (!strcmp(screen_jobs.columns[i].title, "CULPRIT"))
            ui_act(&ui, KEY_ACTION_SORT, i);
    ui_act(&ui, KEY_ACTION_HOME, 0);
    is_str(selected(), "3.0", "sorted by culprit the class of a verdict without one is its name");
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    is_str(selected(), "1.0", "of jobs with the same first culprit the second decides");
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    is_str(selected(), "0.0", "r17 comes behind r9");
    ui_act(&ui, KEY_ACTION_DOWN, 0);
    is_str(selected(), "2.0", "r12 comes behind r3");
}

static void test_honest(void)
{
    json_t *error = json_pack("{s:s}", "error", "no guarded job has this id");

    ui_reset(&ui);
    snprintf(ui.hosts, sizeof(ui.hosts), "ctl01:6825");
    ok(drawn("connecting to ctl01:6825"), "the first picture shows the connection attempt");
    ui_link_changed(&ui, false, "ctl01:6825: Connection refused");
    ok(drawn("Connection refused") && drawn("What to check"),
       "without controller the screen shows the reason and what to check");
    start();
    ui.now_s += 1;
    ok(drawn("  live"), "an answer is live");
    ui.now_s += 10;
    ok(drawn("STALE 11 s, no answer"), "an old answer is marked as stale, with its age");
    ui_answer(&ui, SCREEN_JOBS, &nothing_asked, error);
    ok(drawn("STALE 11 s, refused") && drawn("no guarded job has this id"),
       "an old picture whose questions are refused is marked so, with the reason");
    ui_link_changed(&ui, false, "gone");
    ok(drawn("connection lost, retrying") && drawn("4711.0"),
       "the old picture stays after the connection is lost");
    ui_open(&ui, "99");
    ui_link_changed(&ui, true, NULL);
    ui_answer(&ui, SCREEN_JOB, &nothing_asked, error);
    ok(drawn("no guarded job has this id"), "a rejected query is shown");
    json_decref(error);
}

static void test_figures(void)
{
    static const double seconds[] = { 0,     4e-9,  9.9951e-6, 1.2345e-3, 0.0999, 0.9996,
                                      59.94, 999.4, 999.6,     1e5,       NAN,    -1 };
    static const char *const want[] = { "    0 s", "4.00 ns", "10.0 us", "1.23 ms", "99.9 ms", " 1.00 s",
                                        " 59.9 s", " 16m39s", " 16m40s", "  1d04h", "      -", "      -" };

    for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
        struct text f = padded_s(seconds[i]);

        is_str(f.s, want[i], "seconds are padded");
        ok(canvas_text_width(f.s) == 7, "padded seconds have seven columns");
    }
    is_int(canvas_text_width("\u6f22\u5b57"), 4, "Chinese characters take two columns each");
    is_int(canvas_text_width("e\u0301"), 2, "a combining accent is shown as a question mark");
    is_str(padded_percent(0.0004).s, "0.04 %", "a small share is not shown as zero");
    is_str(padded_percent(0).s, "0.00 %", "a share of zero is shown as zero");
    is_str(padded_percent(1).s, " 100 %", "a share of 1 is 100 %%");
    is_str(padded_number(999.7).s, "1.00k", "a number of thousands is written with k");
    is_str(padded_bytes(3270000).s, "3.27 MB", "bytes are written in units of 1000");
    is_str(padded_times(1.17).s, "1.17x", "a factor ends in x");
    is_str(padded_age(59.4).s, "  59 s", "an age has no tenths");
    is_str(padded_age(125).s, " 2m05s", "an age of minutes is written in minutes and seconds");
    is_str(padded_steps(1234567).s, "1 234 567", "steps are grouped by thousands");
    is_str(padded_about_s(0.00204).s, " 2.0 ms", "a value known to 5 %% is shown with two digits");
    is_str(padded_about_s(0.1137).s, " 110 ms", "a value of three digits known to 5 %% is rounded to two");
}

static void test_options(void)
{
    static const struct {
        const char *argv[4];
        const char *want; /* NULL: accepted */
    } cases[] = {
        { { "sgtop", "123.0", "-i", "1s" }, NULL },
        { { "sgtop", "--size=80x24" }, NULL },
        { { "sgtop", "--size=80" },
          "--size: '80' is not accepted: WIDTHxHEIGHT, each from 10 to 1000 (80x24)" },
        { { "sgtop", "--interval=0" }, "--interval: '0' is not accepted: a time from 100 ms to 1m00s" },
        { { "sgtop", "--colour" }, "unknown option '--colour'" },
        { { "sgtop", "--conf" }, "option '--conf' needs a value: --conf=FILE" },
        { { "sgtop", "--replay=t", "--speed=max", "--from=10s" }, NULL },
        { { "sgtop", "--replay=t", "--speed=0" }, "--speed: '0' is not accepted: 0.25 to 1000, or max" },
        { { "sgtop", "--replay=t", "1" }, "unexpected argument '1': a trace is of one job" },
        { { "sgtop", "1", "2" }, "unexpected argument '2'" },
        { { "sgtop", "train" },
          "invalid job 'train': expected 123, 123.0 (a step), 123_4 (of an array) or 123+1 (of a het job)" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *argv[5] = { NULL }, *words[5];
        struct options o;
        struct arguments a;
        struct err err = { "" };
        int argc = 0;

        while (argc < 4 && cases[i].argv[argc]) {
            argv[argc] = words[argc] = xstrdup(cases[i].argv[argc]);
            argc++;
        }
        if (options_parse(&o, &sgtop_program, argc, argv, &err) == 0 && arguments_read(&a, &o, &err) == 0)
            ok(!cases[i].want, "%s is accepted", cases[i].argv[1]);
        else
            is_str(err.text, cases[i].want, "a wrong command line is rejected with its reason");
        while (argc)
            free(words[--argc]);
    }
}

/* The manual page holds each key as the tables have them. */
static void test_manual(void)
{
    static const struct keymap_entry *const tables[] = { keymap, keymap_replay };
    const char *top = getenv("top_srcdir");
    char *path = xasprintf("%s/doc/sgtop.1.in", top ? top : "."), *want, *page = xcalloc(1, 1 << 16);
    FILE *in = fopen(path, "r");

    if (ok(in != NULL, "sgtop.1.in is there\n%s", path)) {
        page[fread(page, 1, (1 << 16) - 1, in)] = '\0';
        fclose(in);
    }
    for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
        for (const struct keymap_entry *e = tables[t]; e->action; e++) {
            if (!e->keys)
                continue;
            want = xasprintf(".It Ic %s\n%s\n", e->keys, e->text);
            ok(strstr(page, want) != NULL, "the manual page has: %s %s", e->keys, e->text);
            free(want);
        }
    free(page);
    free(path);
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8") && !setlocale(LC_ALL, "en_US.UTF-8"))
        return skip_all("no UTF-8 locale here");
    ui_init(&ui);
    canvas = canvas_new(80, 24, false);
    test_list();
    test_many_culprits();
    test_sort_by_culprit();
    test_sort();
    test_sort_menu();
    test_overview();
    test_runs();
    test_lost_job();
    test_culprit_unseen();
    test_user_actions();
    test_job();
    test_panels();
    test_freeze();
    test_freeze_late();
    test_saved();
    test_one();
    test_long_names();
    test_mouse();
    test_honest();
    test_figures();
    test_options();
    test_manual();
    ui_reset(&ui);
    canvas_free(canvas);
    return done_testing();
}
