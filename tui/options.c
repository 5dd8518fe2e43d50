#include "tui/options.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "common/units.h"
#include "common/xalloc.h"
#include "tui/keymap.h"
#include "tui/pace.h"

#define INTERVAL_MIN_S 0.1
#define INTERVAL_MAX_S 60.0
#define SIZE_MIN       10
#define SIZE_MAX       1000

static const struct {
    char letter; /* what getopt gives; a small letter is a short option too */
    const char *name, *value, *text;
} table[] = {
    { 'd', "dump", NULL, "print the report as text once (as when the output is no terminal)" },
    { 'j', "json", NULL, "print the controller's answer as it is" },
    { 'S', "size", "WxH", "with --dump: the screen at this size" },
    { 'i', "interval", "S", "seconds between two questions (0.25; at least 0.1)" },
    { 'm', "mono", NULL, "no colours (also: NO_COLOR in the environment)" },
    { 'a', "ascii", NULL, "no characters beyond ASCII (also: a locale without UTF-8)" },
    { 'C', "controller", "HOSTS", "host[:port][,host[:port]...] instead of Controller= in the file" },
    { 'M', "munge-socket", "PATH", "instead of AuthInfo= in the file" },
    { 'F', "conf", "FILE",
      "configuration instead of $SYNCGUARD_CONF, or " SYSCONFDIR "/syncguard/syncguard.conf" },
    { 'r', "replay", "TRACE", "play a trace that sgctl record wrote, instead of asking a controller" },
    { 'x', "speed", "X", "with --replay: so many times as fast as it was, 0.25 to 1000, or max (1)" },
    { 'f', "from", "S", "with --replay: begin at this second of the trace" },
    { 'h', "help", NULL, "this text" },
    { 'V', "version", NULL, "the version" },
};

static int parse_size(struct options *o, const char *text, struct err *err)
{
    int end = 0;

    if (sscanf(text, "%4dx%4d%n", &o->width, &o->height, &end) != 2 || text[end] || o->width < SIZE_MIN ||
        o->width > SIZE_MAX || o->height < SIZE_MIN || o->height > SIZE_MAX)
        return err_set(err, "--size=%s: expected WIDTHxHEIGHT, each from %d to %d (80x24)", text, SIZE_MIN,
                       SIZE_MAX);
    return 0;
}

static int parse_interval(struct options *o, const char *text, struct err *err)
{
    if (units_seconds(text, &o->interval_s, err) < 0)
        return err_prefix(err, "--interval");
    if (o->interval_s < INTERVAL_MIN_S || o->interval_s > INTERVAL_MAX_S)
        return err_set(err, "--interval=%s: expected %g s to %g s", text, INTERVAL_MIN_S, INTERVAL_MAX_S);
    return 0;
}

static int parse_speed(struct options *o, const char *text, struct err *err)
{
    if (pace_speed_parse(text, &o->speed) < 0)
        return err_set(err, "--speed=%s: expected %g to %g, or max", text, PACE_SPEED_MIN, PACE_SPEED_MAX);
    return 0;
}

static int parse_from(struct options *o, const char *text, struct err *err)
{
    return units_seconds(text, &o->from_s, err) < 0 ? err_prefix(err, "--from") : 0;
}

static int take(struct options *o, int letter, const char *value, struct err *err)
{
    switch (letter) {
    case 'd':
        o->dump = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case 'S':
        o->dump = true;
        return parse_size(o, value, err);
    case 'i':
        return parse_interval(o, value, err);
    case 'm':
        o->mono = true;
        return 0;
    case 'a':
        o->ascii = true;
        return 0;
    case 'C':
        o->controller = value;
        return 0;
    case 'M':
        o->munge_socket = value;
        return 0;
    case 'F':
        o->conf = value;
        return 0;
    case 'r':
        o->replay = value;
        return 0;
    case 'x':
        return parse_speed(o, value, err);
    case 'f':
        return parse_from(o, value, err);
    case 'h':
        o->help = true;
        return 0;
    default:
        o->version = true;
        return 0;
    }
}

/* Names of jobs are Slurm's: "123", "123.0", "123_4", "123+1", "123_4.0". */
static int check_job(const char *job, struct err *err)
{
    if (!isdigit((unsigned char)job[0]) || strspn(job, "0123456789._+") != strlen(job) || strlen(job) > 40)
        return err_set(err, "%s: expected a job as 123, 123.0, 123_4 or 123+1", job);
    return 0;
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
    struct option longs[ARRAY_SIZE(table) + 1];
    char shorts[2 * ARRAY_SIZE(table) + 2] = ":",
                                        *at = shorts + 1; /* ':' first: tell a missing value apart */
    int letter;

    memset(o, 0, sizeof(*o));
    memset(longs, 0, sizeof(longs));
    o->interval_s = 0.25;
    o->speed = 1;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        longs[i] = (struct option){ table[i].name, table[i].value ? required_argument : no_argument, NULL,
                                    table[i].letter };
        *at++ = table[i].letter;
        if (table[i].value)
            *at++ = ':';
    }
    *at = '\0';
    optind = 0; /* begin anew: tests parse more than once */
    opterr = 0;
    while ((letter = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (letter == ':')
            return err_set(err, "%s needs a value, see --help", argv[optind - 1]);
        if (letter == '?')
            return err_set(err, "%s is no option of sgtop, see --help", argv[optind - 1]);
        if (take(o, letter, optarg, err) < 0)
            return -1;
    }
    if (argc - optind > 1)
        return err_set(err, "%s: one job at most", argv[optind + 1]);
    o->job = optind < argc ? argv[optind] : NULL;
    if (o->job && o->replay)
        return err_set(err, "%s: a trace is of one job, with --replay none can be chosen", o->job);
    return o->job ? check_job(o->job, err) : 0;
}

void options_names(FILE *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        fprintf(out, ".It Fl %c , Fl -%s%s%s\n", table[i].letter, table[i].name,
                table[i].value ? " Ns = Ns Ar " : "", table[i].value ? table[i].value : "");
}

void options_help(FILE *out)
{
    fputs("Usage: sgtop [OPTIONS] [JOB]\n"
          "Who holds a synchronised job back, live: guarded jobs, one job, nodes.\n\n",
          out);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        char name[48];

        snprintf(name, sizeof(name), "-%c, --%s%s%s", table[i].letter, table[i].name,
                 table[i].value ? "=" : "", table[i].value ? table[i].value : "");
        fprintf(out, "  %-26s %s\n", name, table[i].text);
    }
    fputs("\nKeys:\n", out);
    keymap_print_help(keymap, out);
    fputs("\nKeys while a trace is replayed:\n", out);
    keymap_print_help(keymap_replay, out);
    fputs("\nExit status: 0 good, 1 no answer from the controller or no trace, 2 wrong usage.\n", out);
}
