#include "tui/arguments.h"

#include <math.h>
#include <string.h>

#include "common/xalloc.h"
#include "tui/keymap.h"
#include "tui/playback.h"
#include "wire/session.h"

#define SIDE_MIN 10
#define SIDE_MAX 1000

static const struct option_spec dump = {
    .name = "dump", .text = "print the report as text once, as when the output is no terminal"
};
static const struct option_spec once = { .name = "once", .text = "the same as --dump" };
static const struct option_spec size = { .name = "size",
                                         .value = "WxH",
                                         .text = "print the screen at this size, as --dump does" };
static const struct option_spec interval = { "interval", "TIME", VALUE_RANGE(VALUE_SECONDS, 0.1, 60),
                                             "time between two questions to the controller" };
static const struct option_spec mono = { .name = "mono",
                                         .text = "no colours, as with NO_COLOR in the environment" };
static const struct option_spec ascii = { .name = "ascii",
                                          .text =
                                              "no characters beyond ASCII, as in a locale without UTF-8" };
static const struct option_spec replay = {
    .name = "replay",
    .value = "TRACE",
    .text = "play a trace that sgctl record wrote, instead of asking a controller"
};
static const struct option_spec speed = {
    .name = "speed",
    .value = "X",
    .text = "with --replay: multiple of the recorded speed, 0.25 to 1000, or max"
};
static const struct option_spec from = { "from", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                         "with --replay: begin at this time of the trace" };

static const struct option_use uses[] = {
    { &dump, NULL },
    { &once, NULL },
    { &option_json, NULL },
    { &size, NULL },
    { &interval, "250ms" },
    { &mono, NULL },
    { &ascii, NULL },
    { &option_conf, NULL },
    { &option_controller, NULL },
    { &option_munge_socket, NULL },
    { &replay, NULL },
    { &speed, "1" },
    { &from, NULL },
    { NULL, NULL },
};

static const struct options_command only = { .name = "", .operands = "[JOB]", .uses = uses };

static void print_keys(FILE *out)
{
    fputs("\nKeys:\n", out);
    keymap_print_help(keymap, out);
    fputs("\nKeys while a trace is replayed:\n", out);
    keymap_print_help(keymap_replay, out);
}

const struct options_program sgtop_program = {
    .name = "sgtop",
    .text = "Show live who holds a synchronised job back: guarded jobs, one job, nodes.",
    .only = &only,
    .examples = { "sgtop 4711", "sgtop --replay=job.trace --speed=10" },
    .help_more = print_keys,
    .help_end =
        "Exit status: 0, 1 (no answer from the controller, or no trace), 2 (wrong usage). Manual page: "
        "sgtop(1).",
    .complete = session_complete,
};

int arguments_read(struct arguments *a, const struct options *o, struct err *err)
{
    const char *wxh = options_text(o, "size"), *speed_text = options_text(o, "speed");
    int end = 0;

    *a = (struct arguments){ .options = o,
                             .job = o->n_operands ? o->operands[0] : NULL,
                             .replay = options_text(o, "replay"),
                             .interval_s = options_number(o, "interval"),
                             .from_s = options_number(o, "from"),
                             .dump = options_given(o, "dump") || options_given(o, "once") || wxh,
                             .json = options_given(o, "json"),
                             .mono = options_given(o, "mono"),
                             .ascii = options_given(o, "ascii") };
    if (wxh && (sscanf(wxh, "%4dx%4d%n", &a->width, &a->height, &end) != 2 || wxh[end] ||
                a->width < SIDE_MIN || a->width > SIDE_MAX || a->height < SIDE_MIN || a->height > SIDE_MAX))
        return err_set(err, "--size: '%.40s' is not accepted: WIDTHxHEIGHT, each from %d to %d (80x24)", wxh,
                       SIDE_MIN, SIDE_MAX);
    if (playback_speed_parse(speed_text, &a->speed) < 0)
        return err_set(err, "--speed: '%.40s' is not accepted: %g to %g, or max", speed_text,
                       PLAYBACK_SPEED_MIN, PLAYBACK_SPEED_MAX);
    if (a->job && a->replay)
        return err_set(err, "unexpected argument '%.60s': a trace is of one job", a->job);
    if (a->job && session_check_job(a->job, err) < 0)
        return -1;
    return 0;
}
