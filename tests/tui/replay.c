/* A trace played: however one gets to a moment, and by whatever pieces, the answers are the same; and what
 * the keys do to the playback. */
#include "tests/tap.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "term/padded.h"
#include "term/term.h"
#include "tui/frame.h"
#include "tui/replay.h"
#include "tui/ui.h"

#define RANKS  8
#define STEPS  400
#define SLOW   5   /* this rank */
#define ONSET  150 /* from this step on */
#define STEP_S 0.1

static struct config config;
static char path[] = "/tmp/syncguard-replay-XXXXXX";

/* Work with a little noise, the same in every run: r5 works half as long again from step 150 on. */
static double work_s(int rank, int step)
{
    double noise = (double)((unsigned)(rank * 7919 + step * 104729) % 97) / 97;

    return STEP_S * (0.8 + 0.02 * noise) * (rank == SLOW && step >= ONSET ? 1.5 : 1);
}

static void write_trace(const char *wrong_line)
{
    FILE *out = fopen(path, "w");
    double end_s = 0;

    fputs("{\"format\":\"syncguard-trace\",\"version\":1,\"job\":\"7.0\",\"ranks\":[", out);
    for (int r = 0; r < RANKS; r++)
        fprintf(out, "%s{\"rank\":%d,\"node\":\"n%d\"}", r ? "," : "", r, r / 2);
    fputs("]}\n", out);
    for (int s = 0; s < STEPS; s++) {
        double last_s = 0;

        for (int r = 0; r < RANKS; r++)
            last_s = fmax(last_s, end_s + work_s(r, s));
        for (int r = 0; r < RANKS; r++)
            fprintf(
                out,
                "{\"r\":%d,\"c\":\"world\",\"s\":%d,\"o\":\"allreduce\",\"b\":8,\"t0\":%.0f,\"t1\":%.0f}\n",
                r, s, (end_s + work_s(r, s)) * 1e9, (last_s + 1e-4) * 1e9);
        end_s = last_s + 1e-4;
    }
    fputs(wrong_line, out);
    fclose(out);
}

static struct replay *open_trace(void)
{
    struct err err = { "" };
    struct replay *r = replay_open(path, config_policy_find(&config, config.default_policy), &err);

    if (!r)
        printf("# %s\n", err.text);
    return r;
}

/* As JSON, which has all of it. */
static json_t *told_json(struct replay *r, const char *what)
{
    struct report *report;
    struct ui ui;
    json_t *o;

    if (!strcmp(what, "job")) {
        report = replay_report(r, &REPORT_ALL);
        o = report_json(report);
        report_free(report);
        return o;
    }
    ui_init(&ui);
    ui.screen = !strcmp(what, "nodes") ? SCREEN_NODES : SCREEN_JOBS;
    replay_show(r, &ui);
    if (!strcmp(what, "nodes")) {
        o = json_array();
        for (size_t i = 0; i < ui.nodes->n; i++)
            json_array_append_new(o, report_node_json(&ui.nodes->node[i], NODE_OF_TRACE));
    } else {
        o = !strcmp(what, "jobs") ? report_row_json(ui.jobs->job) : report_status_json(&ui.status);
    }
    ui_reset(&ui);
    return o;
}

static char *told(struct replay *r, const char *what)
{
    json_t *o = told_json(r, what);
    char *text = json_dumps(o, JSON_SORT_KEYS | JSON_INDENT(1));

    json_decref(o);
    return text;
}

static bool same(struct replay *a, struct replay *b)
{
    static const char *const all[] = { "job", "jobs", "nodes", "status" };
    bool equal = true;

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        char *x = told(a, all[i]), *y = told(b, all[i]);

        equal &= !strcmp(x, y);
        free(x);
        free(y);
    }
    return equal;
}

static void test_same(void)
{
    struct replay *a = open_trace(), *b = open_trace();
    struct err err = { "" };
    struct playback p;
    char *text;

    if (!ok(a && b, "a trace is opened"))
        return;
    is_str(replay_job(a), "7.0", "a replay has the job of its trace");
    ok(replay_read(a, 20, SIZE_MAX, &err) == REPLAY_REACHED && replay_now_s(a) >= 20 &&
           replay_now_s(a) < 20.3,
       "a replay is read to 20 s");
    while (replay_read(b, 20, 100, &err) == REPLAY_MORE)
        ;
    ok(same(a, b), "a replay read in small pieces gives the same answers");
    text = told(a, "job");
    ok(strstr(text, "\"straggler\"") && strstr(text, "r5"), "the slow rank is named at 20 s");
    free(text);
    replay_position_get(a, &p);
    ok(isnan(p.end_s) && p.share > 0.3 && p.share < 0.7,
       "before the end the share of the file is known, not the duration");
    ok(replay_read(a, INFINITY, SIZE_MAX, &err) == REPLAY_ENDED, "a replay is read to its end");
    replay_position_get(a, &p);
    ok(p.end_s > 40 && p.share == 1, "at the end of a replay its duration is known, and the file is read");
    text = told(a, "job");
    ok(strstr(text, "\"state\": \"finished\"") != NULL, "at the end of a replay the step is finished");
    ok(strstr(text, "\"state\": \"ended\"") && !strstr(text, "\"state\": \"running\""),
       "at the end of a replay no rank is running");
    free(text);
    ok(replay_rewind(a, &err) == 0 && replay_read(a, 20, SIZE_MAX, &err) == REPLAY_REACHED && same(a, b),
       "seeking back gives the same answers");
    replay_position_get(a, &p);
    ok(p.end_s > 40, "after the end the duration of a replay is known");
    ok(replay_rewind(a, &err) == 0 && replay_read(a, 10, SIZE_MAX, &err) == REPLAY_REACHED,
       "a replay is read to a time before the onset");
    text = told(a, "job");
    ok(!strstr(text, "\"straggler\"") && strstr(text, "\"state\": \"running\""),
       "before the onset no rank is named");
    free(text);
    replay_close(a);
    replay_close(b);
}

static char *drawn(struct ui *ui)
{
    struct canvas *c = canvas_new(100, 30, true);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ui_fit(ui, 100, 30);
    frame_draw(c, ui);
    canvas_print(c, out);
    fclose(out);
    canvas_free(c);
    return text;
}

/* The screens draw it as they draw a controller's answer. */
static void test_drawn(void)
{
    struct replay *r = open_trace();
    struct ui ui;
    struct err err;
    char *text, *later;

    replay_read(r, 30, SIZE_MAX, &err);
    ui_init(&ui);
    ui_link_changed(&ui, true, NULL);
    ui.playback.on = true;
    replay_position_get(r, &ui.playback);
    ui.playback.speed = 10;
    ui_open(&ui, replay_job(r));
    ui_fit(&ui, 100, 30);
    replay_show(r, &ui);
    text = drawn(&ui);
    ok(strstr(text, "replay x10  30.") && strstr(text, "% of the file)"),
       "the title shows speed and position of a replay");
    ok(strstr(text, "found   r5 is slow (straggler)") && strstr(text, ">r5 "),
       "the screen of a replay names the slow rank");
    ok(strstr(text, " straggler r5") != NULL, "the timeline under the heat map shows the verdict");
    ok(strstr(text, "+ - speed  Left Right seek") != NULL, "the keys of a replay are listed at the bottom");
    free(text);
    ui.screen = SCREEN_NODES;
    replay_show(r, &ui);
    ok(ui.nodes->n == RANKS / 2 && isnan(ui.nodes->node[0].agent.cpu_ratio),
       "the nodes of a replay have no agent, whose figures are unknown");
    ui.screen = SCREEN_JOB;
    ui.panel = PANEL_POLICY;
    text = drawn(&ui);
    ok(strstr(text, "a recorded job has no policy") != NULL,
       "the panel of the policy says that a replay has none");
    free(text);
    ui.panel = PANEL_STEP;
    ui_fit(&ui, 100, 30);
    replay_show(r, &ui);
    text = drawn(&ui);
    replay_rewind(r, &err);
    later = drawn(&ui);
    ok(strstr(text, " took ") && !strcmp(text, later),
       "a drawn step is shown until the next answer, though the trace is read again from its beginning");
    free(text);
    free(later);
    ui_reset(&ui);
    replay_close(r);
}

static void test_wrong(void)
{
    struct config_policy policy = *config_policy_find(&config, config.default_policy);
    struct err err = { "" };
    struct replay *r;

    ok(!replay_open("/nowhere/x", &policy, &err), "a missing file is an error");
    is_str(err.text, "/nowhere/x: No such file or directory",
           "the error of a missing file names it and the reason");
    ok(!replay_open("/dev/null", &policy, &err) && strstr(err.text, "no header"),
       "an empty file is rejected");
    write_trace("{\"r\":99}\n");
    r = open_trace();
    ok(replay_read(r, INFINITY, SIZE_MAX, &err) == REPLAY_FAILED && strstr(err.text, "line 3202"),
       "an invalid line is reported by its number");
    ok(replay_read(r, INFINITY, SIZE_MAX, &err) == REPLAY_FAILED, "a replay that failed is not read again");
    ok(replay_rewind(r, &err) == 0 && replay_read(r, 10, SIZE_MAX, &err) == REPLAY_REACHED,
       "what precedes an invalid line is shown");
    replay_close(r);
}

static const char *shown(const struct playback *p)
{
    static char text[160];

    return playback_text(p, text, sizeof(text));
}

static void test_pace(void)
{
    struct playback p;
    double speed;

    playback_init(&p);
    is_str(shown(&p), "replay ×1  0 s", "a replay starts at speed 1");
    playback_faster(&p, 1);
    ok(p.speed == 2, "+ doubles the speed");
    p.speed = 7;
    playback_faster(&p, 1);
    ok(p.speed == 10, "+ from a speed between two steps selects the next");
    playback_faster(&p, -1);
    ok(p.speed == 5, "- selects the next lower speed");
    for (int i = 0; i < 20; i++)
        playback_faster(&p, 1);
    ok(isinf(p.speed), "the highest speed is as fast as the file is read");
    for (int i = 0; i < 20; i++)
        playback_faster(&p, -1);
    ok(p.speed == PLAYBACK_SPEED_MIN, "the lowest speed is not zero");
    p.at_s = 65;
    p.share = 0.33;
    is_str(shown(&p), "replay ×0.25  1m05s (33 % of the file)",
           "the title shows the share of the file if the duration is unknown");
    p.end_s = 200;
    is_str(shown(&p), "replay ×0.25  1m05s of 3m20s", "the title shows the duration if it is known");
    playback_seek(&p, -10);
    playback_seek(&p, -10);
    ok(p.seek_s == 45, "two presses of a seek key seek twice as far");
    playback_seek(&p, -100);
    ok(p.seek_s == 0, "a seek stops at the start");
    playback_seek(&p, 1000);
    ok(isinf(p.seek_s), "a seek stops at the end");
    p.seek_s = NAN;
    p.step_s = 0.5;
    playback_seek_step(&p, 1);
    ok(p.paused && p.seek_s == 65.5, "a single step pauses the replay");
    p.seek_s = NAN;
    p.ended = true;
    playback_pause(&p);
    ok(p.seek_s == 0 && !p.paused, "Space at the end restarts the replay");
    ok(playback_speed_parse("max", &speed) == 0 && isinf(speed), "the speed max is accepted");
    ok(playback_speed_parse("0.25", &speed) == 0 && speed == 0.25, "the speed 0.25 is accepted");
    ok(playback_speed_parse("0", &speed) < 0 && playback_speed_parse("1001", &speed) < 0 &&
           playback_speed_parse("fast", &speed) < 0 && playback_speed_parse("nan", &speed) < 0 &&
           playback_speed_parse("2x", &speed) < 0,
       "an invalid speed is rejected");
}

static void test_keys(void)
{
    struct ui ui;

    ui_init(&ui);
    ui_key(&ui, ' ');
    ok(ui.frozen && !ui.playback.paused, "without a trace Space freezes");
    ui_reset(&ui);
    ui.playback.on = true;
    ui_open(&ui, "7.0");
    ui_key(&ui, ' ');
    ok(!ui.frozen && ui.playback.paused, "Space pauses a replay");
    ui_key(&ui, TERM_KEY_RIGHT);
    ok(ui.playback.seek_s == 10, "Right seeks 10 s forward");
    ui_key(&ui, TERM_KEY_END);
    ok(isinf(ui.playback.seek_s), "End seeks to the end");
    ui_key(&ui, TERM_KEY_HOME);
    ok(ui.playback.seek_s == 0, "Home seeks to the start");
    ui_key(&ui, '+');
    ok(ui.playback.speed == 2, "+ on the screen doubles the speed");
    ui_key(&ui, 'v');
    ok(ui.panel == PANEL_EVIDENCE, "other keys work in a replay");
    ui_reset(&ui);
}

int main(void)
{
    int fd;

    if (!setlocale(LC_ALL, "C.UTF-8") && !setlocale(LC_ALL, "en_US.UTF-8"))
        return skip_all("no UTF-8 locale here");
    fd = mkstemp(path);
    config_parse(&config, "defaults", "", 0, NULL);
    write_trace("");
    test_same();
    test_drawn();
    test_wrong();
    test_pace();
    test_keys();
    close(fd);
    unlink(path);
    return done_testing();
}
