#include "spank/command.h"

#include <string.h>

/* What is kept of an option, in the member of struct command that its row names. */
enum keeps { KEEPS_NOTHING, KEEPS_NAME, KEEPS_VALUE, KEEPS_FLAG };

#define PLAIN         KEEPS_NOTHING, 0
#define OPTION(field) KEEPS_NAME, offsetof(struct command, field)
#define VALUE(field)  KEEPS_VALUE, offsetof(struct command, field)
#define FLAG(field)   KEEPS_FLAG, offsetof(struct command, field)

#define SRUN   (1u << COMMAND_SRUN)
#define SBATCH (1u << COMMAND_SBATCH)
#define SALLOC (1u << COMMAND_SALLOC)
#define ALL    (SRUN | SBATCH | SALLOC)

/* Options from Slurm 20.11 to 25.05. An optional value is never a word of its own, so it is as if there were
 * none. */
static const struct slurm_option {
    char letter;       /* or 0 */
    const char *names; /* separated by blanks; one where it is kept */
    bool value;
    enum keeps keeps;
    size_t where;
    unsigned programs; /* whose it is */
} options[] = {
    { 'w', "nodelist", true, OPTION(decided), ALL },
    { 'm', "distribution", true, OPTION(decided), ALL },
    { 'x', "exclude", true, OPTION(decided), ALL },
    { 'r', "relative", true, OPTION(decided), ALL },
    { 'F', "nodefile", true, OPTION(decided), ALL },
    { 'C', "constraint", true, OPTION(decided), ALL },
    { 0, "contiguous", false, OPTION(decided), ALL },
    { 0, "multi-prog", false, OPTION(decided), ALL }, /* its file names ranks, perhaps for their nodes */
    { 0, "spread-job", false, OPTION(decided), ALL },
    { 'N', "nodes", true, VALUE(nodes), ALL },
    { 'n', "ntasks", true, VALUE(tasks), ALL },
    { 0, "ntasks-per-node", true, VALUE(tasks_per_node), ALL },
    { 0, "tasks-per-node", true, VALUE(tasks_per_node), ALL },
    { 'c', "cpus-per-task", true, FLAG(cpus), ALL },
    { 'B', "extra-node-info", true, OPTION(unsure), ALL },
    { 'Z', "no-allocate", false, OPTION(unsure), ALL },
    { 0, "cores-per-socket", true, OPTION(unsure), ALL },
    { 0, "external-launcher", false, OPTION(unsure), ALL },
    { 0, "het-group", true, OPTION(unsure), ALL },
    { 0, "interactive", false, OPTION(unsure), ALL },
    { 0, "jobid", true, OPTION(unsure), ALL },
    { 0, "ntasks-per-core", true, OPTION(unsure), ALL },
    { 0, "ntasks-per-gpu", true, OPTION(unsure), ALL },
    { 0, "ntasks-per-socket", true, OPTION(unsure), ALL },
    { 0, "pack-group", true, OPTION(unsure), ALL },
    { 0, "sockets-per-node", true, OPTION(unsure), ALL },
    { 0, "threads-per-core", true, OPTION(unsure), ALL },
    { 0, "use-min-nodes", false, OPTION(unsure), ALL },
    { 'A', "account", true, PLAIN, ALL },
    { 'D', "chdir", true, FLAG(chdir), ALL },
    { 'E', "preserve-env", false, PLAIN, ALL },
    { 'G', "gpus", true, PLAIN, ALL },
    { 'H', "hold", false, PLAIN, ALL },
    { 'I', "immediate", false, PLAIN, ALL },
    { 'J', "job-name", true, VALUE(job_name), ALL },
    { 'K', "kill-on-bad-exit", false, PLAIN, SRUN },
    { 'K', "kill-command", false, PLAIN, SALLOC },
    { 'L', "licenses", true, PLAIN, ALL },
    { 'M', "clusters", true, OPTION(limits), ALL },
    { 'M', "cluster", true, OPTION(limits), ALL },
    { 'O', "overcommit", false, PLAIN, ALL },
    { 'Q', "quiet", false, PLAIN, ALL },
    { 'S', "core-spec", true, PLAIN, ALL },
    { 'T', "threads", true, PLAIN, ALL },
    { 'V', "version", false, PLAIN, ALL },
    { 'W', "wait", true, PLAIN, SRUN },
    { 'W', "wait", false, PLAIN, SBATCH },
    { 'X', "disable-status", false, PLAIN, ALL },
    { 'd', "dependency", true, PLAIN, ALL },
    { 'e', "error", true, PLAIN, ALL },
    { 'h', "help", false, PLAIN, ALL },
    { 'i', "input", true, PLAIN, ALL },
    { 'j', "join", false, PLAIN, ALL },
    { 'k', "no-kill", false, PLAIN, ALL },
    { 'l', "label", false, PLAIN, ALL },
    { 'o', "output", true, PLAIN, ALL },
    { 'p', "partition", true, VALUE(partition), ALL },
    { 'q', "qos", true, PLAIN, ALL },
    { 's', "oversubscribe", false, PLAIN, ALL },
    { 's', "share", false, PLAIN, ALL },
    { 't', "time", true, PLAIN, ALL },
    { 'u', "unbuffered", false, PLAIN, ALL },
    { 'v', "verbose", false, FLAG(verbose), ALL },
    { 'b', "begin", true, PLAIN, ALL },
    { 0, "cluster-constraint", true, OPTION(limits), ALL },
    { 0, "reservation", true, OPTION(limits), ALL },
    { 0, "switches", true, FLAG(switches), ALL },
    { 0, "sync-guard", false, VALUE(sync_guard), ALL },
    { 0, "ntasks-per-tres", true, OPTION(unsure), ALL },
    { 0, "segment", true, OPTION(limits), ALL },
    { 0, "x11", false, PLAIN, SRUN | SALLOC },
    { 0, "wait-all-nodes", true, PLAIN, SBATCH | SALLOC },
    { 0, "get-user-env", false, PLAIN, SBATCH | SALLOC },
    { 0, "bell", false, PLAIN, SALLOC },
    { 0, "no-bell", false, PLAIN, SALLOC },
    { 0, "no-shell", false, PLAIN, SALLOC },
    { 'a', "array", true, PLAIN, SBATCH },
    { 0, "batch", true, PLAIN, SBATCH },
    { 0, "export-file", true, PLAIN, SBATCH },
    { 0, "external", false, PLAIN, SBATCH },
    { 0, "ignore-pbs", false, PLAIN, SBATCH },
    { 0, "kill-on-invalid-dep", true, PLAIN, SBATCH },
    { 0, "no-requeue", false, PLAIN, SBATCH },
    { 0, "parsable", false, PLAIN, SBATCH },
    { 0, "requeue", false, PLAIN, SBATCH },
    { 0, "wrap", true, FLAG(wrap), SBATCH },
    { 0,
      "accel-bind acctg-freq bb bbf bcast-exclude comment container container-id cpu-bind cpu-freq "
      "cpus-per-gpu deadline delay-boot epilog export extra gid gpu-bind gpu-freq gpus-per-node "
      "gpus-per-socket gpus-per-task gres gres-flags hint mail-type mail-user max-exit-timeout "
      "mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincores mincpus minsockets minthreads mpi "
      "msg-timeout network open-mode power prefer priority profile prolog signal slurmd-debug "
      "task-epilog task-prolog thread-spec time-min tmp tree-width treewidth tres-bind "
      "tres-per-task uid wckey",
      true, PLAIN, ALL },
    { 0,
      "bcast compress exact exclusive nice oom-kill-step overlap propagate pty quit-on-interrupt "
      "reboot resv-ports send-libs stepmgr test-only usage whole",
      false, PLAIN, ALL },
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static bool is_of(const struct slurm_option *o, enum command_program program)
{
    return o->programs & (1u << program);
}

/* NULL: unknown, or an abbreviation of several that differ in what matters here. */
static const struct slurm_option *find_name(enum command_program program, const char *name, size_t length)
{
    const struct slurm_option *found = NULL;

    for (size_t i = 0; i < OPTIONS; i++) {
        const struct slurm_option *o = &options[i];
        size_t whole;

        for (const char *one = o->names; *one && is_of(o, program); one += whole + (one[whole] == ' ')) {
            whole = strcspn(one, " ");
            if (whole < length || strncmp(one, name, length) != 0)
                continue;
            if (whole == length)
                return o;
            if (found && (found->value != o->value || found->keeps != o->keeps || found->where != o->where))
                return NULL;
            found = o;
        }
    }
    return length ? found : NULL;
}

static const struct slurm_option *find_letter(enum command_program program, char letter)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].letter == letter && is_of(&options[i], program))
            return &options[i];
    return NULL;
}

static void take_option(struct command *c, const struct slurm_option *o, const char *value)
{
    void *at = (char *)c + o->where;

    switch (o->keeps) {
    case KEEPS_NOTHING:
        break;
    case KEEPS_NAME:
        *(const char **)at = o->names;
        break;
    case KEEPS_VALUE:
        *(const char **)at = value;
        break;
    case KEEPS_FLAG:
        *(bool *)at = true;
        break;
    }
}

struct words {
    const char *next, *end;
};

/* NULL: there are no more. */
static const char *next_word(struct words *w)
{
    const char *one = w->next, *nul = one < w->end ? memchr(one, '\0', (size_t)(w->end - one)) : NULL;

    if (!nul)
        return NULL;
    w->next = nul + 1;
    return one;
}

static const char *const programs[] = { "srun", "sbatch", "salloc" };

static int unreadable(const struct command *c, const char *option, struct err *err)
{
    return err_set(err, "%s's command line has the option %.60s, which is not known", programs[c->program],
                   option);
}

static int read_long(struct command *c, struct words *w, const char *given, struct err *err)
{
    const char *name = given + 2, *equals = strchr(name, '=');
    const struct slurm_option *o =
        find_name(c->program, name, equals ? (size_t)(equals - name) : strlen(name));

    if (o)
        take_option(c, o, equals ? equals + 1 : o->value ? next_word(w) : "");
    else if (!equals && (w->next == w->end || *w->next != '-'))
        return unreadable(c, given, err); /* is the next word its value, or the program? */
    return 0;
}

static int read_letters(struct command *c, struct words *w, const char *given, struct err *err)
{
    for (const char *letter = given + 1; *letter; letter++) {
        const struct slurm_option *o = find_letter(c->program, *letter);

        if (!o)
            return unreadable(c, given, err);
        if (o->value) {
            take_option(c, o, letter[1] ? letter + 1 : next_word(w));
            break;
        }
        take_option(c, o, "");
        if (*letter == 'I' || *letter == 'K' || *letter == 'k')
            break; /* what follows is their optional value */
    }
    return 0;
}

int command_read(struct command *c, const char *words, size_t bytes, struct err *err)
{
    struct words w = { words, words + bytes };
    const char *one = next_word(&w), *slash;

    memset(c, 0, sizeof(*c));
    if (!one)
        return err_set(err, "the command line is empty");
    slash = strrchr(one, '/');
    c->program = COMMAND_SRUN; /* under any other name, too: its options are the most */
    for (enum command_program p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
        if (!strcmp(slash ? slash + 1 : one, programs[p]))
            c->program = p;
    while ((one = next_word(&w)) && one[0] == '-' && one[1] && strcmp(one, "--") != 0)
        if ((one[1] == '-' ? read_long(c, &w, one, err) : read_letters(c, &w, one, err)) < 0)
            return -1;
    if (one && !strcmp(one, "--"))
        one = next_word(&w);
    c->what = one;
    for (; one; one = next_word(&w))
        if (!strcmp(one, ":"))
            c->unsure = ":"; /* the next component of a heterogeneous step */
    return 0;
}
