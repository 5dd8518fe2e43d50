/* What the tables of a program say: its commands, their words, options and operands. */
#include <ctype.h>
#include <string.h>

#include "common/options_private.h"
#include "common/xalloc.h"

const struct option_spec option_conf = {
    .name = "conf",
    .value = "FILE",
    .text = "read this syncguard.conf instead of $SYNCGUARD_CONF or the installed one",
};
const struct option_spec option_controller = {
    .name = "controller",
    .value = "HOSTS",
    .text = "ask host[:port][,host[:port]...] instead of the configured controllers",
};
const struct option_spec option_munge_socket = {
    .name = "munge-socket",
    .value = "PATH",
    .text = "authenticate through this munged",
};
const struct option_spec option_json = {
    .name = "json",
    .text = "print the answer as one JSON object",
};
const struct option_spec option_help = { .name = "help", .text = "print this help" };
const struct option_spec option_version = { .name = "version", .text = "print the version" };

const struct options_command options_help_command = {
    .name = "help",
    .operands = "[COMMAND...]",
    .text = "describe a command, or list all of them",
};

/* Letters are those of Slurm's programs where these have the option: -f is the configuration of slurmctld and
 * slurmd. */
char option_letter(const struct options_program *p, const struct option_spec *o)
{
    static const struct {
        const char *name;
        char letter;
        const char *only; /* the one program in which the option has this letter */
    } letters[] = {
        { "ascii", 'a', NULL },        { "controller", 'c', NULL }, { "dump", 'd', NULL },
        { "events", 'e', NULL },       { "conf", 'f', NULL },       { "help", 'h', NULL },
        { "interval", 'i', "sgtop" },  { "json", 'j', NULL },       { "mono", 'm', NULL },
        { "munge-socket", 'M', NULL }, { "dry-run", 'n', NULL },    { "output", 'o', NULL },
        { "replay", 'r', NULL },       { "seconds", 's', NULL },    { "size", 'S', NULL },
        { "verbose", 'v', NULL },      { "version", 'V', NULL },    { "speed", 'x', NULL },
        { "yes", 'y', NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
        if (!strcmp(letters[i].name, o->name) && (!letters[i].only || !strcmp(letters[i].only, p->name)))
            return letters[i].letter;
    return '\0';
}

const struct options_command *options_own(const struct options_program *p, size_t i)
{
    if (p->only)
        return i ? NULL : p->only;
    return p->command(i);
}

bool options_has_commands(const struct options_program *p)
{
    return *options_own(p, 0)->name;
}

const struct options_command *options_command(const struct options_program *p, size_t i)
{
    size_t n = 0;

    while (n <= i && options_own(p, n))
        n++;
    if (i < n)
        return options_own(p, i);
    return i == n && options_has_commands(p) ? &options_help_command : NULL;
}

const struct option_use *options_use(const struct options_program *p, const struct options_command *c,
                                     size_t i)
{
    static const struct option_use last[] = { { &option_help, NULL }, { &option_version, NULL } };

    for (const struct option_use *use = c ? c->uses : NULL; use && use->option; use++)
        if (i-- == 0)
            return use;
    for (const struct option_use *use = p->common; use && use->option; use++)
        if (i-- == 0)
            return use;
    return i < ARRAY_SIZE(last) ? &last[i] : NULL;
}

const char *options_noun(const struct options_program *p, char *buf, size_t size)
{
    size_t i = 0;

    for (; p->noun[i] && i + 1 < size; i++)
        buf[i] = (char)toupper((unsigned char)p->noun[i]);
    buf[i] = '\0';
    return buf;
}

const char *options_word(const struct options_command *c, const char *group)
{
    size_t n = strlen(group);

    if (!n)
        return strchr(c->name, ' ') ? NULL : c->name;
    return !strncmp(c->name, group, n) && c->name[n] == ' ' ? c->name + n + 1 : NULL;
}

bool options_operand(const char **at, struct options_operand *operand)
{
    const char *word = *at + strspn(*at, " ");
    size_t n = strcspn(word, " ");

    if (!n)
        return false;
    *at = word + n;
    operand->optional = *word == '[';
    operand->repeated = false;
    if (operand->optional) {
        word++;
        n -= 2;
    }
    if (n > 3 && !strncmp(word + n - 3, "...", 3)) {
        operand->repeated = true;
        n -= 3;
    }
    snprintf(operand->name, sizeof(operand->name), "%.*s", (int)n, word);
    return true;
}

bool options_marked(const struct option_use *use, const char *mark)
{
    return use->otherwise && !strcmp(use->otherwise, mark);
}
