/* sgtop.c - the program: command line, and the loop between keys, answers and the screen. */
#include <errno.h>
#include <event2/event.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "term/term.h"
#include "tui/arguments.h"
#include "tui/batch.h"
#include "tui/frame.h"
#include "tui/player.h"
#include "tui/replay.h"
#include "tui/ui.h"
#include "tui/user_action.h"
#include "wire/json.h"
#include "wire/loop.h"
#include "wire/pages.h"
#include "wire/session.h"

#define ASKED_MAX     4
#define LISTS_EVERY_S 0.5 /* jobs and nodes change slowly and are answered whole */
/* of the time, at most, they are under way: there may be thousands */
#define LISTS_SHARE    0.2
#define STATUS_EVERY_S 5
#define GIVE_UP_S      10 /* connect again when the controller has been silent this long */
#define DOUBLE_CLICK_S 0.4
#define TIMEOUT_S      10 /* of a report */

enum { EXIT_GOOD, EXIT_NO_ANSWER, EXIT_USAGE };

struct asked {
    json_t *question; /* ours */
    bool status, user_action;
    enum screen screen;
    struct ui_asked view;
};

/* Where the screens' content comes from: a trace, or where replay is NULL, a controller. */
struct origin {
    const struct client_options *client;
    struct client_call *call; /* of a report, after its first question */
    const char *conf;         /* where the controller's name comes from */
    struct replay *replay;
};

struct app {
    const struct origin *origin;
    struct event_base *base;
    struct event *tick, *keys, *paint;
    struct event *signals[8];
    struct client *client; /* of these two there is one */
    struct player *player;
    struct ui ui;
    struct canvas *canvas;
    bool ascii;
    struct asked asked[ASKED_MAX]; /* answers come in the order of the questions */
    size_t n_asked;
    struct pages pages; /* of a list that is being gathered */
    double list_asked_s, lists_every_s;
    bool ask_again; /* the question changed while one was under way */
    double asked_s, status_s, click_s;
    int click_y;
    int caught; /* signal to die of, once the terminal is put back */
};

static void update_clock(struct app *a)
{
    a->ui.now_s = now_s();
    a->ui.wall_s = wall_s();
}

/* ---- the picture ---- */

/* Whatever wants to be seen asks for a picture; however many ask, one is painted. */
static void want_paint(struct app *a)
{
    event_active(a->paint, EV_TIMEOUT, 0);
}

static void paint(struct app *a)
{
    int width, height;

    term_size(&width, &height);
    if (!a->canvas || a->canvas->width != width || a->canvas->height != height) {
        canvas_free(a->canvas);
        a->canvas = canvas_new(width, height, a->ascii);
    }
    ui_fit(&a->ui, width, height);
    frame_draw(a->canvas, &a->ui);
    term_show(a->canvas);
}

static void on_paint(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    update_clock(arg);
    paint(arg);
}

/* ---- questions ---- */

static void send_question(struct app *a, json_t *question, struct asked asked)
{
    if (question && a->n_asked < ASKED_MAX && client_send(a->client, question) == 0) {
        asked.question = json_incref(question);
        a->asked[a->n_asked++] = asked;
        a->asked_s = a->ui.now_s;
    }
    json_decref(question);
}

/* What was asked will not be answered. */
static void forget_asked(struct app *a)
{
    while (a->n_asked)
        json_decref(a->asked[--a->n_asked].question);
    pages_free(&a->pages);
}

static void ask(struct app *a)
{
    struct asked asked = { .screen = a->ui.screen };
    json_t *question;

    if (a->player) {
        replay_show(a->origin->replay, &a->ui);
        a->asked_s = a->ui.now_s;
        want_paint(a);
        return;
    }
    if (a->n_asked) {
        a->ask_again = true;
        return;
    }
    a->ask_again = false;
    pages_free(&a->pages);
    a->list_asked_s = a->ui.now_s;
    send_question(a, user_action_question(&a->ui), (struct asked){ .user_action = true });
    question = ui_question(&a->ui, &asked.view);
    send_question(a, question, asked);
    if (a->ui.now_s - a->status_s >= STATUS_EVERY_S) {
        a->status_s = a->ui.now_s;
        send_question(a, ui_question_status(), (struct asked){ .status = true });
    }
}

/* Of the screen.  A list is shown when all its pages have come. */
static void take_answer(struct app *a, const struct asked *asked, json_t *answer)
{
    struct err err;
    json_t *problem = NULL;
    int more = json_get_string(answer, "error") ? 0 : pages_take(&a->pages, asked->question, answer, &err);

    if (more > 0 && a->ask_again) { /* another screen was chosen meanwhile */
        pages_free(&a->pages);
        return;
    }
    if (more > 0) {
        send_question(a, json_incref(a->pages.question), *asked);
        return;
    }
    if (more < 0)
        problem = json_pack("{s:s}", "error", err.text);
    ui_answer(&a->ui, asked->screen, &asked->view,
              problem                            ? problem
              : json_get_string(answer, "error") ? answer
                                                 : a->pages.answer);
    json_decref(problem);
    pages_free(&a->pages);
    a->lists_every_s = fmax(LISTS_EVERY_S, (a->ui.now_s - a->list_asked_s) / LISTS_SHARE);
}

static void on_answer(struct client *client, json_t *answer, void *arg)
{
    struct app *a = arg;
    struct asked asked;

    (void)client;
    if (!a->n_asked)
        return;
    asked = a->asked[0];
    memmove(a->asked, a->asked + 1, --a->n_asked * sizeof(*a->asked));
    update_clock(a);
    if (asked.status)
        ui_answer_status(&a->ui, answer);
    else if (asked.user_action)
        user_action_answer(&a->ui, answer);
    else
        take_answer(a, &asked, answer);
    json_decref(asked.question);
    if (a->ask_again && !a->n_asked)
        ask(a);
    if (!asked.status)
        want_paint(a);
}

static void on_state(struct client *client, bool up, const char *why, void *arg)
{
    struct app *a = arg;

    (void)client;
    update_clock(a);
    forget_asked(a);
    a->status_s = -INFINITY;
    ui_link_changed(&a->ui, up, why);
    if (up)
        ask(a);
    want_paint(a);
}

static const struct client_events client_events = { .answer = on_answer, .state = on_state };

static void on_ready(void *arg)
{
    on_state(NULL, true, NULL, arg);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct app *a = arg;
    double every_s = a->ui.screen == SCREEN_JOB ? 0 : a->lists_every_s;

    (void)fd;
    (void)what;
    update_clock(a);
    if (a->n_asked && a->ui.now_s - a->asked_s > GIVE_UP_S) {
        forget_asked(a);
        client_free(a->client);
        a->client = client_new(a->base, a->origin->client, &client_events, a);
        ui_link_changed(&a->ui, false, "connected, but it does not answer");
    }
    /* The half of a tick: ticks are not exact, and a list asked for every second one should be. */
    if (!a->n_asked && a->ui.link == UI_UP && a->ui.now_s - a->asked_s > every_s - a->ui.interval_s / 2)
        ask(a);
    if (a->ui.frozen || a->ui.link != UI_UP || !isnan(ui_stale_s(&a->ui)))
        want_paint(a); /* ages go on; when nothing else changed, that is all that is sent */
}

/* ---- keys and signals ---- */

static bool handle_input(struct app *a, const struct term_input *in)
{
    bool twice;

    if (in->key == ('L' & 0x1f))
        term_repaint();
    if (in->key)
        return ui_key(&a->ui, in->key);
    if (in->wheel)
        return ui_act(&a->ui, KEY_ACTION_WHEEL, in->wheel);
    twice = in->y == a->click_y && a->ui.now_s - a->click_s < DOUBLE_CLICK_S;
    a->click_y = in->y;
    a->click_s = a->ui.now_s;
    return a->canvas && ui_click(&a->ui, a->canvas, in->y, in->x, twice);
}

/* The terminal is gone: readable, and nothing to read. */
static bool at_end(void)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

static void on_keys(evutil_socket_t fd, short what, void *arg)
{
    struct app *a = arg;
    struct term_input in;
    bool any = false, changed = false;

    (void)fd;
    (void)what;
    update_clock(a);
    while (!a->ui.quit && term_read(&in)) {
        any = true;
        changed |= handle_input(a, &in);
    }
    if (a->ui.quit || (!any && at_end())) {
        event_base_loopbreak(a->base);
        return;
    }
    if (a->player)
        player_hurry(a->player);
    if (changed && a->ui.link == UI_UP) {
        /* What is shown at once needs the place that the answer will have. */
        ui_fit(&a->ui, a->ui.width, a->ui.height);
        ask(a);
    }
    want_paint(a);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
    struct app *a = arg;

    (void)what;
    if (sig == SIGWINCH) {
        term_resized();
        update_clock(a);
        paint(a);
        if (a->ui.link == UI_UP)
            ask(a);
    } else if (sig == SIGTSTP) {
        term_suspend();
        raise(SIGSTOP);
        term_resume();
        want_paint(a);
    } else {
        a->caught = sig == SIGINT ? 0 : (int)sig; /* Ctrl-C is a way to quit like q */
        event_base_loopbreak(a->base);
    }
}

/* ---- the program ---- */

static int run_screen(const struct origin *from, const struct arguments *o)
{
    static const int signals[] = { SIGWINCH, SIGTSTP, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    struct app a = { .origin = from,
                     .ascii = o->ascii,
                     .lists_every_s = LISTS_EVERY_S,
                     .status_s = -INFINITY,
                     .click_s = -INFINITY };
    struct timeval interval = loop_timeval(o->interval_s);
    struct err err;

    ui_init(&a.ui);
    a.ui.interval_s = o->interval_s;
    snprintf(a.ui.hosts, sizeof(a.ui.hosts), "%s", from->replay ? o->replay : from->client->hosts);
    snprintf(a.ui.conf, sizeof(a.ui.conf), "%s", from->conf);
    if (from->replay) {
        a.ui.playback.on = true;
        a.ui.playback.speed = o->speed;
        a.ui.playback.seek_s = o->from_s > 0 ? o->from_s : NAN;
        ui_open(&a.ui, replay_job(from->replay));
    } else if (o->job) {
        ui_open(&a.ui, o->job);
    }
    if (term_open(o->mono, &err) < 0) {
        fprintf(stderr, "sgtop: %s\n", err.text);
        return EXIT_USAGE;
    }
    update_clock(&a);
    paint(&a); /* before anything that can wait */
    a.base = loop_new();
    a.paint = event_new(a.base, -1, 0, on_paint, &a);
    a.keys = event_new(a.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_keys, &a);
    a.tick = event_new(a.base, -1, EV_PERSIST, on_tick, &a);
    event_add(a.keys, NULL);
    event_add(a.tick, &interval);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
        a.signals[i] = evsignal_new(a.base, signals[i], on_signal, &a);
        event_add(a.signals[i], NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    if (from->replay)
        a.player = player_new(a.base, from->replay, &a.ui.playback, on_ready, &a);
    else
        a.client = client_new(a.base, from->client, &client_events, &a);
    event_base_dispatch(a.base);
    forget_asked(&a);
    client_free(a.client);
    player_free(a.player);
    for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
        event_free(a.signals[i]);
    event_free(a.tick);
    event_free(a.keys);
    event_free(a.paint);
    event_base_free(a.base);
    canvas_free(a.canvas);
    ui_reset(&a.ui);
    term_close();
    if (a.caught) {
        signal(a.caught, SIG_DFL);
        raise(a.caught);
    }
    return EXIT_GOOD;
}

static json_t *ask_controller(const json_t *question, void *arg, struct err *err)
{
    struct origin *from = arg;

    return from->call ? client_call_ask(from->call, question, TIMEOUT_S, err)
                      : client_call(&from->call, from->client, question, TIMEOUT_S, err);
}

static int run_report(struct origin *from, const struct arguments *o)
{
    struct batch_source source = { from->replay, ask_controller, from };
    struct err err = { "" };
    int rc = 0;

    if (from->replay && replay_read(from->replay, INFINITY, SIZE_MAX, &err) == REPLAY_FAILED)
        rc = err_prefix(&err, "%s", o->replay);
    if (rc == 0)
        rc = o->json ? batch_json(&source, o, stdout, &err) : batch_text(&source, o, stdout, &err);
    if (rc < 0)
        fprintf(stderr, "sgtop: %s\n", err.text);
    return rc < 0 || fflush(stdout) != 0 ? EXIT_NO_ANSWER : EXIT_GOOD;
}

static int run(struct origin *from, const struct arguments *o)
{
    if (!o->dump && !o->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term_can_draw())
        return run_screen(from, o);
    return run_report(from, o);
}

static int run_trace(struct arguments *o)
{
    static struct config config;
    struct origin from = { .conf = "" };
    struct err err = { "" };
    const struct config_policy *policy =
        config_default_policy(&config, options_text(o->options, "conf"), &err);
    int rc;

    from.replay = policy ? replay_open(o->replay, policy, &err) : NULL;
    if (!from.replay) {
        fprintf(stderr, "sgtop: %s\n", err.text);
        return policy ? EXIT_NO_ANSWER : EXIT_USAGE;
    }
    o->job = replay_job(from.replay);
    rc = run(&from, o);
    replay_close(from.replay);
    return rc;
}

static int run_live(const struct arguments *o)
{
    const char *path = config_path(options_text(o->options, "conf"));
    struct err err = { "" };
    struct session *s = session_open(o->options, &err);
    struct origin from = { .conf = path ? path : CONFIG_DEFAULT_PATH };
    int rc;

    if (!s) {
        fprintf(stderr, "sgtop: %s\n", err.text);
        return EXIT_USAGE;
    }
    from.client = &s->client;
    rc = run(&from, o);
    client_call_end(from.call);
    session_close(s);
    return rc;
}

int main(int argc, char **argv)
{
    struct options options;
    struct arguments a;
    struct err err;
    int rc = options_start(&options, &sgtop_program, argc, argv);

    if (rc >= 0)
        return rc;
    if (arguments_read(&a, &options, &err) < 0)
        return options_misuse(&options, &err);
    if (!setlocale(LC_ALL, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        a.ascii = true;
    setlocale(LC_NUMERIC, "C"); /* columns are the same everywhere */
    return a.replay ? run_trace(&a) : run_live(&a);
}
