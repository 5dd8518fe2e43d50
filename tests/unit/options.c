/* Command lines: a made-up program with commands, and one without. */
#include "common/options.h"

#include <math.h>
#include <stdlib.h>

#include "tests/tap.h"

#define WORDS_MAX 40

static const struct option_spec size = { "size", "SIZE", VALUE_RANGE(VALUE_BYTES, 1, 1e6), "how large" };
static const struct option_spec ratio = { "ratio", "R", VALUE_RANGE(VALUE_RATIO, 0, 1), "how much of it" };
static const struct option_spec sort = { "sort", "KEY", VALUE_ONE_OF(VALUE_WORDS("name", "size")),
                                         "by what" };
static const struct option_spec from = { "from", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                         "since when" };
static const struct option_spec file = { .name = "file", .value = "FILE", .text = "what" };
static const struct option_spec yes = { .name = "yes", .text = "do not ask" };

static const struct option_use common[] = { { &option_conf, NULL },
                                            { &option_controller, NULL },
                                            { NULL, NULL } };
static const struct option_use list_uses[] = {
    { &sort, "name" }, { &size, NULL }, { &option_json, NULL }, { NULL, NULL }
};
static const struct option_use drop_uses[] = {
    { &yes, NULL }, { &ratio, OPTION_REQUIRED }, { &file, OPTION_REPEATED }, { &from, "2m" }, { NULL, NULL }
};

static const struct options_command table[] = {
    { "list", "[JOB...]", "list them", "More of it.", list_uses, NULL, 1 },
    { "drop", "JOB ACTION", "drop one", NULL, drop_uses, "ACTION now later", 2 },
    { "draw", "", "draw them", NULL, NULL, NULL, 3 },
    { "draw pen", "JOB", "draw with a pen", NULL, list_uses, NULL, 4 },
    { "draw pencil", "", "draw with a pencil", NULL, NULL, NULL, 5 },
    { "other", NULL, "start another program", NULL, NULL, "vim", 6 },
};

static const struct options_command *command(size_t i)
{
    return i < ARRAY_SIZE(table) ? &table[i] : NULL;
}

static void known(const struct options *o, const char *name, FILE *out)
{
    if (!strcmp(name, "JOB"))
        fprintf(out, "12\tof %s\n17\n",
                options_text(o, "controller") ? options_text(o, "controller") : "nobody");
}

static const struct options_program program = {
    .name = "prog",
    .text = "Do nothing.",
    .noun = "command",
    .command = command,
    .common = common,
    .examples = { "prog list", "prog drop 12 now" },
    .complete = known,
};

static const struct options_command runner = { .name = "",
                                               .operands = "PROGRAM [ARGUMENT...]",
                                               .uses = list_uses };
static const struct options_command lone = { .name = "", .operands = "[FILE]", .uses = list_uses };

static const struct options_command *runs(size_t i)
{
    return i ? NULL : &runner;
}

static const struct options_program wrapper = {
    .name = "wrapper", .text = "Run it.", .command = runs, .runs_program = true
};
static const struct options_program single = {
    .name = "single", .text = "Do less.", .only = &lone, .once = true
};

static int words_of(const char *line, char *argv[])
{
    static char copy[512];
    int argc = 0;

    snprintf(copy, sizeof(copy), "prog %s", line);
    for (char *word = strtok(copy, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return argc;
}

static int parse(const struct options_program *p, struct options *o, const char *line, struct err *err)
{
    static char *argv[WORDS_MAX + 1];

    return options_parse(o, p, words_of(line, argv), argv, err);
}

static void accepted(void)
{
    struct options o;
    struct err err = { "" };

    ok(parse(&program, &o, "drop 12 now --ratio=5%", &err) == 0,
       "options_parse: a command with operands and an option is accepted: %s", err.text);
    ok(o.command->id == 2 && o.n_operands == 2 && !strcmp(o.operands[1], "now"),
       "options_parse: the command and its operands are stored");
    ok(near(options_number(&o, "ratio"), 0.05, 1e-12), "options_number: 5%% is 0.05");
    ok(near(options_number(&o, "from"), 120, 1e-12) && !options_given(&o, "from"),
       "options_number: a default is parsed like a value, and the option counts as not given");
    ok(!options_given(&o, "yes") && !options_text(&o, "conf"),
       "options_text: an option without default that is not given is NULL");

    ok(parse(&program, &o, "-f x --rat 1 -c a,b:1 dro --ye 12 now --file a --file=b", &err) == 0,
       "options_parse: options before the command and prefixes of options and commands are accepted: %s",
       err.text);
    is_str(options_text(&o, "conf"), "x", "options_parse: a letter takes the next word as its value");
    is_str(options_text(&o, "controller"), "a,b:1", "options_parse: -c is --controller");
    ok(options_given(&o, "yes") && options_number(&o, "ratio") == 1,
       "options_parse: the options given by their prefixes have their values");
    ok(!strcmp(options_texts(&o, "file", 0), "a") && !strcmp(options_texts(&o, "file", 1), "b") &&
           !options_texts(&o, "file", 2),
       "options_texts: a repeated option has all of its values in order");
    ok(parse(&program, &o, "list -jfx -f y", &err) == 0 && options_given(&o, "json") &&
           options_is(&o, "conf", "y"),
       "options_parse: letters can be combined, and the last of two values counts");
    ok(parse(&program, &o, "list -- -1 --size", &err) == 0 && o.n_operands == 2 &&
           !strcmp(o.operands[0], "-1"),
       "options_parse: all words after -- are operands");
    ok(parse(&program, &o, "list -", &err) == 0 && !strcmp(o.operands[0], "-"),
       "options_parse: a single - is an operand");
    ok(parse(&program, &o, "draw", &err) == 0 && o.command->id == 3,
       "options_parse: a command is found though longer commands begin with its name");
    ok(parse(&program, &o, "draw pen 3 -j", &err) == 0 && o.command->id == 4 && o.n_operands == 1,
       "options_parse: a command of two words is found, and its operand stored");
    ok(parse(&program, &o, "draw penc", &err) == 0 && o.command->id == 5,
       "options_parse: a prefix of a command's second word is accepted");
    ok(parse(&program, &o, "-c x other --json -h what", &err) == 0 && o.command->id == 6 &&
           o.n_operands == 3 && !o.help,
       "options_parse: options of another program are passed on as operands");
    ok(parse(&program, &o, "drop --help", &err) == 0 && o.help && o.command->id == 2,
       "options_parse: with --help required options and operands may be missing");
    ok(parse(&program, &o, "-V", &err) == 0 && o.version && !o.command,
       "options_parse: with -V the command may be missing");
    ok(parse(&program, &o, "help draw pen", &err) == 0 && o.n_operands == 3 - 1,
       "options_parse: help takes a command of two words");
    ok(parse(&single, &o, "--size=1KB x -j", &err) == 0 && options_int(&o, "size", 0) == 1000 &&
           o.n_operands == 1,
       "options_parse: a program without commands takes options and an operand");
    ok(parse(&wrapper, &o, "-j mpirun -n 4 --json x", &err) == 0 && options_given(&o, "json") &&
           o.n_operands == 5 && !strcmp(o.operands[0], "mpirun") && !strcmp(o.operands[3], "--json"),
       "options_parse: the options of a program to run are its own");
    ok(parse(&wrapper, &o, "-j -- mpirun -n 4", &err) == 0 && options_given(&o, "json") && o.n_operands == 3,
       "options_parse: -- may stand before a program to run");
    ok(parse(&single, &o, "", &err) == 0 && options_int(&o, "size", 7) == 7,
       "options_int: without the option the result is the given default");
}

static void refused(void)
{
    static const struct {
        const struct options_program *program;
        const char *line, *reason;
    } bad[] = {
        { &program, "", "missing COMMAND" },
        { &program, "lsit", "unknown command 'lsit'. Did you mean 'list'?" },
        { &program, "zzz", "unknown command 'zzz'" },
        { &wrapper, "-j", "missing PROGRAM" },
        { &program, "dr", "ambiguous command 'dr': drop, draw" },
        { &program, "draw pne", "unknown command 'draw pne'. Did you mean 'draw pen'?" },
        { &program, "draw zzz", "unknown command 'draw zzz'" },
        { &program, "draw p", "ambiguous command 'draw p': draw pen, draw pencil" },
        { &program, "draw pencil 3", "unexpected argument '3'" },
        { &program, "drop", "missing --ratio=R: how much of it" },
        { &program, "drop --ratio=1", "missing JOB" },
        { &program, "drop --ratio=1 12", "missing ACTION" },
        { &program, "drop --ratio=1 12 now 13", "unexpected argument '13'" },
        { &program, "drop --ratio=2 12 now", "--ratio: '2' is not accepted: a ratio from 0 to 1" },
        { &program, "list --sort=age", "--sort: 'age' is not accepted: name or size" },
        { &program, "list --size=2MB", "--size: '2MB' is not accepted: a size from 1 B to 1.00 MB" },
        { &program, "list --sizr=2", "unknown option '--sizr'. Did you mean '--size'?" },
        { &program, "list --zzz=2", "unknown option '--zzz'" },
        { &program, "list --s=2", "ambiguous option '--s': --sort, --size" },
        { &program, "list --yes", "unknown option '--yes'" },
        { &program, "--yes list", "unknown option '--yes' of 'list'" },
        { &program, "--yes", "missing COMMAND" },
        { &program, "list -jx", "unknown option '-x'" },
        { &program, "list --json=yes", "option '--json' takes no value" },
        { &program, "list --size", "option '--size' needs a value: --size=SIZE" },
        { &program, "list -jf", "option '--conf' needs a value: --conf=FILE" },
        { &program, "drop --file 1 --file 2 --file 3 --file 4 --file 5 --file 6 --file 7 --file 8 --file 9",
          "--file is given more than 8 times" },
        { &single, "a b", "unexpected argument 'b'" },
        { &single, "--size=1 --size=2", "--size is given twice" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct err err = { "" };
        struct options o;

        ok(parse(bad[i].program, &o, bad[i].line, &err) == -1, "options_parse: `%s %s` is rejected",
           bad[i].program->name, bad[i].line);
        is_str(err.text, bad[i].reason, "options_parse: `%s` is rejected with the reason", bad[i].line);
    }
}

static void hints(void)
{
    struct options o;
    struct err err;
    char hint[128];

    parse(&program, &o, "draw pen", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'prog help draw pen' for more information.",
           "options_hint: after a command the hint names its help");
    parse(&program, &o, "what", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'prog --help' for more information.",
           "options_hint: without a command the hint names --help");
    parse(&single, &o, "--what", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'single --help' for more information.",
           "options_hint: in a program without commands the hint names --help");
}

/* The candidates for the last word; "_" is an empty one. */
static void completed(void)
{
    static const struct {
        const char *line, *words;
    } cases[] = {
        { "_", "list drop draw other help " },
        { "d", "drop draw " },
        { "--", "--conf= --controller= --help --version " },
        { "list _", "12 17 " },
        { "list 12 1", "12 17 " },
        { "list 12 --", "--sort= --size= --json --conf= --controller= --help --version " },
        { "list --s", "--sort= --size= " },
        { "list --sort=s", "size " },
        { "list --sort _", "name size " },
        { "list -f _", "@files " },
        { "list --conf=/etc/h", "@files " },
        { "-c ctl _", "list drop draw other help " },
        { "-c _", "@hosts " },
        { "drop _", "12 17 " },
        { "drop 12 _", "now later " },
        { "drop 12 now _", "--yes --ratio= --file= --from= --conf= --controller= --help --version " },
        { "drop --ratio _", "" },
        { "draw _", "pen pencil " },
        { "draw pen _", "12 17 " },
        { "draw pencil -", "--conf= --controller= --help --version " },
        { "help d", "drop draw " },
        { "help draw _", "pen pencil " },
        { "other --x _", "@program vim 2 " },
        { "other --x", "@program vim 1 " },
        { "list -- --", "" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char *argv[WORDS_MAX + 1], empty[] = "", *text = NULL, got[512] = "", *rest = NULL;
        int argc = words_of(cases[i].line, argv);
        size_t length, at = 0;
        FILE *out = open_memstream(&text, &length);

        if (!strcmp(argv[argc - 1], "_"))
            argv[argc - 1] = empty;
        options_complete(out, &program, argc, argv);
        fclose(out);
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%.*s ", (int)strcspn(line, "\t"), line);
        is_str(got, cases[i].words, "options_complete: `%s` is completed", cases[i].line);
        free(text);
    }
}

static char *page(const struct options_command *c, bool mdoc)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (mdoc)
        options_mdoc(out, &program);
    else
        options_help(out, &program, c);
    fclose(out);
    return text;
}

static void pages(void)
{
    char *all = page(NULL, false), *drop = page(&table[1], false), *mdoc = page(NULL, true),
         *draw = page(&table[2], false);

    ok(strstr(all, "\n  drop JOB ACTION") && strstr(all, "\n  draw pen JOB"),
       "options_help: each command has a line");
    ok(strstr(all, "Examples:\n  prog list\n  prog drop 12 now\n") != NULL,
       "options_help: the examples are printed");
    ok(strstr(drop, "Usage: prog [OPTION...] drop JOB ACTION\nDrop one.\n") != NULL,
       "options_help: help of a command has its usage and text");
    ok(strstr(drop, "(from 0 to 1; required)") && strstr(drop, "(default 2m)"),
       "options_help: an option has its range and default");
    ok(strstr(mdoc, ".Ss drop JOB ACTION\nDrop one.\n") &&
           strstr(mdoc, ".It Fl f , Fl \\-conf Ns = Ns Ar FILE\n"),
       "options_mdoc: the manual page has the commands and options");
    ok(strstr(mdoc, "By what; name or size; default name.\n") != NULL,
       "options_mdoc: an option has the words that it accepts and its default");
    ok(strstr(draw, "Draw them.\n\nCommands:\n  draw pen JOB             draw with a pen\n"
                    "  draw pencil              draw with a pencil\n\nOptions:\n") != NULL,
       "options_help: help of a group lists the commands in it");
    ok(!strstr(drop, "Commands:"), "options_help: help of a command that is no group lists no commands");
    free(all);
    free(draw);
    free(drop);
    free(mdoc);
}

int main(void)
{
    accepted();
    refused();
    hints();
    completed();
    pages();
    return done_testing();
}
