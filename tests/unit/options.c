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

static const struct options_command lone = { .name = "", .operands = "[FILE]", .uses = list_uses };

static const struct options_command *only(size_t i)
{
    return i ? NULL : &lone;
}

static const struct options_program single = {
    .name = "single", .text = "Do less.", .command = only, .once = true
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

    ok(parse(&program, &o, "drop 12 now --ratio=5%", &err) == 0, "a command with operands and option: %s",
       err.text);
    ok(o.command->id == 2 && o.n_operands == 2 && !strcmp(o.operands[1], "now"),
       "command and operands are known");
    ok(near(options_number(&o, "ratio"), 0.05, 1e-12), "a value is SI");
    ok(near(options_number(&o, "from"), 120, 1e-12) && !options_given(&o, "from"),
       "a default is read as a value is");
    ok(!options_given(&o, "yes") && !options_text(&o, "conf"), "what is not given is unknown");

    ok(parse(&program, &o, "-f x --rat 1 -c a,b:1 dro --ye 12 now --file a --file=b", &err) == 0,
       "options in front of the command, shortened ones, a shortened command: %s", err.text);
    is_str(options_text(&o, "conf"), "x", "a letter and its value");
    is_str(options_text(&o, "controller"), "a,b:1", "another");
    ok(options_given(&o, "yes") && options_number(&o, "ratio") == 1,
       "unique beginnings of options are accepted");
    ok(!strcmp(options_texts(&o, "file", 0), "a") && !strcmp(options_texts(&o, "file", 1), "b") &&
           !options_texts(&o, "file", 2),
       "an option that may be given several times");
    ok(parse(&program, &o, "list -jfx -f y", &err) == 0 && options_given(&o, "json") &&
           options_is(&o, "conf", "y"),
       "letters together, and the last of two values holds");
    ok(parse(&program, &o, "list -- -1 --size", &err) == 0 && o.n_operands == 2 &&
           !strcmp(o.operands[0], "-1"),
       "-- ends the options");
    ok(parse(&program, &o, "list -", &err) == 0 && !strcmp(o.operands[0], "-"), "a lone - is an operand");
    ok(parse(&program, &o, "draw", &err) == 0 && o.command->id == 3, "a command that others begin with");
    ok(parse(&program, &o, "draw pen 3 -j", &err) == 0 && o.command->id == 4 && o.n_operands == 1,
       "a command of two words");
    ok(parse(&program, &o, "draw penc", &err) == 0 && o.command->id == 5, "its second word shortened");
    ok(parse(&program, &o, "-c x other --json -h what", &err) == 0 && o.command->id == 6 &&
           o.n_operands == 3 && !o.help,
       "what belongs to another program is not looked at");
    ok(parse(&program, &o, "drop --help", &err) == 0 && o.help && o.command->id == 2,
       "--help asks for nothing else");
    ok(parse(&program, &o, "-V", &err) == 0 && o.version && !o.command, "--version needs no command");
    ok(parse(&program, &o, "help draw pen", &err) == 0 && o.n_operands == 3 - 1, "help of a command");
    ok(parse(&single, &o, "--size=1KB x -j", &err) == 0 && options_int(&o, "size", 0) == 1000 &&
           o.n_operands == 1,
       "a program without commands");
    ok(parse(&single, &o, "", &err) == 0 && options_int(&o, "size", 7) == 7, "and without anything");
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

        ok(parse(bad[i].program, &o, bad[i].line, &err) == -1, "`%s %s` is refused", bad[i].program->name,
           bad[i].line);
        is_str(err.text, bad[i].reason, "%s", bad[i].line);
    }
}

static void hints(void)
{
    struct options o;
    struct err err;
    char hint[128];

    parse(&program, &o, "draw pen", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'prog help draw pen' for more information.", "how to get help of a command");
    parse(&program, &o, "what", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'prog --help' for more information.", "how to get help of the program");
    parse(&single, &o, "--what", &err);
    options_hint(&o, hint, sizeof(hint));
    is_str(hint, "Try 'single --help' for more information.", "the same without commands");
}

/* What can stand in place of the last word; "_" is an empty one. */
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
        is_str(got, cases[i].words, "%s", cases[i].line);
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
    char *all = page(NULL, false), *drop = page(&table[1], false), *mdoc = page(NULL, true);

    ok(strstr(all, "\n  drop JOB ACTION") && strstr(all, "\n  draw pen JOB"),
       "help has a line for each command");
    ok(strstr(all, "Examples:\n  prog list\n  prog drop 12 now\n") != NULL, "and two examples");
    ok(strstr(drop, "Usage: prog [OPTION...] drop JOB ACTION\nDrop one.\n") != NULL, "help of a command");
    ok(strstr(drop, "(from 0 to 1; required)") && strstr(drop, "(default 2m)"), "range and default");
    ok(strstr(mdoc, ".Ss drop JOB ACTION\nDrop one.\n") &&
           strstr(mdoc, ".It Fl f , Fl \\-conf Ns = Ns Ar FILE\n"),
       "commands and options of a manual page");
    ok(strstr(mdoc, "By what; name or size; default name.\n") != NULL, "the words that are accepted");
    free(all);
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
