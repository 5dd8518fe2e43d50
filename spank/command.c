#include "spank/command.h"

#include <string.h>

enum role {
    PLAIN,
    DECIDES,
    UNSURE,
    NODES,
    TASKS,
    TASKS_PER_NODE,
    CPUS,
    SWITCHES,
    LIMITS,
    PARTITION,
    JOB_NAME,
    CHDIR,
    WRAP,
    SYNC_GUARD,
    VERBOSE
};

#define SRUN   (1u << COMMAND_SRUN)
#define SBATCH (1u << COMMAND_SBATCH)
#define SALLOC (1u << COMMAND_SALLOC)
#define ALL    (SRUN | SBATCH | SALLOC)

/* Options from Slurm 20.11 to 25.05. An optional value is never a word of its own, so it is as if there were
 * none. */
static const struct slurm_option {
    char letter; /* or 0 */
    const char *name;
    bool value;
    enum role role;
    unsigned programs; /* whose it is */
} options[] = {
    { 'w', "nodelist", true, DECIDES, ALL },
    { 'm', "distribution", true, DECIDES, ALL },
    { 'x', "exclude", true, DECIDES, ALL },
    { 'r', "relative", true, DECIDES, ALL },
    { 'F', "nodefile", true, DECIDES, ALL },
    { 'C', "constraint", true, DECIDES, ALL },
    { 0, "contiguous", false, DECIDES, ALL },
    { 0, "multi-prog", false, DECIDES, ALL }, /* its file names ranks, perhaps for their nodes */
    { 0, "spread-job", false, DECIDES, ALL },
    { 'N', "nodes", true, NODES, ALL },
    { 'n', "ntasks", true, TASKS, ALL },
    { 0, "ntasks-per-node", true, TASKS_PER_NODE, ALL },
    { 0, "tasks-per-node", true, TASKS_PER_NODE, ALL },
    { 'c', "cpus-per-task", true, CPUS, ALL },
    { 'B', "extra-node-info", true, UNSURE, ALL },
    { 'Z', "no-allocate", false, UNSURE, ALL },
    { 0, "cores-per-socket", true, UNSURE, ALL },
    { 0, "external-launcher", false, UNSURE, ALL },
    { 0, "het-group", true, UNSURE, ALL },
    { 0, "interactive", false, UNSURE, ALL },
    { 0, "jobid", true, UNSURE, ALL },
    { 0, "ntasks-per-core", true, UNSURE, ALL },
    { 0, "ntasks-per-gpu", true, UNSURE, ALL },
    { 0, "ntasks-per-socket", true, UNSURE, ALL },
    { 0, "pack-group", true, UNSURE, ALL },
    { 0, "sockets-per-node", true, UNSURE, ALL },
    { 0, "threads-per-core", true, UNSURE, ALL },
    { 0, "use-min-nodes", false, UNSURE, ALL },
    { 'A', "account", true, PLAIN, ALL },
    { 'D', "chdir", true, CHDIR, ALL },
    { 'E', "preserve-env", false, PLAIN, ALL },
    { 'G', "gpus", true, PLAIN, ALL },
    { 'H', "hold", false, PLAIN, ALL },
    { 'I', "immediate", false, PLAIN, ALL },
    { 'J', "job-name", true, JOB_NAME, ALL },
    { 'K', "kill-on-bad-exit", false, PLAIN, SRUN },
    { 'K', "kill-command", false, PLAIN, SALLOC },
    { 'L', "licenses", true, PLAIN, ALL },
    { 'M', "clusters", true, LIMITS, ALL },
    { 'M', "cluster", true, LIMITS, ALL },
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
    { 'p', "partition", true, PARTITION, ALL },
    { 'q', "qos", true, PLAIN, ALL },
    { 's', "oversubscribe", false, PLAIN, ALL },
    { 's', "share", false, PLAIN, ALL },
    { 't', "time", true, PLAIN, ALL },
    { 'u', "unbuffered", false, PLAIN, ALL },
    { 'v', "verbose", false, VERBOSE, ALL },
    { 0, "accel-bind", true, PLAIN, ALL },
    { 0, "acctg-freq", true, PLAIN, ALL },
    { 0, "bb", true, PLAIN, ALL },
    { 0, "bbf", true, PLAIN, ALL },
    { 0, "bcast", false, PLAIN, ALL },
    { 0, "bcast-exclude", true, PLAIN, ALL },
    { 'b', "begin", true, PLAIN, ALL },
    { 0, "cluster-constraint", true, LIMITS, ALL },
    { 0, "comment", true, PLAIN, ALL },
    { 0, "compress", false, PLAIN, ALL },
    { 0, "container", true, PLAIN, ALL },
    { 0, "container-id", true, PLAIN, ALL },
    { 0, "cpu-bind", true, PLAIN, ALL },
    { 0, "cpu-freq", true, PLAIN, ALL },
    { 0, "cpus-per-gpu", true, PLAIN, ALL },
    { 0, "deadline", true, PLAIN, ALL },
    { 0, "delay-boot", true, PLAIN, ALL },
    { 0, "epilog", true, PLAIN, ALL },
    { 0, "exact", false, PLAIN, ALL },
    { 0, "exclusive", false, PLAIN, ALL },
    { 0, "export", true, PLAIN, ALL },
    { 0, "extra", true, PLAIN, ALL },
    { 0, "gid", true, PLAIN, ALL },
    { 0, "gpu-bind", true, PLAIN, ALL },
    { 0, "gpu-freq", true, PLAIN, ALL },
    { 0, "gpus-per-node", true, PLAIN, ALL },
    { 0, "gpus-per-socket", true, PLAIN, ALL },
    { 0, "gpus-per-task", true, PLAIN, ALL },
    { 0, "gres", true, PLAIN, ALL },
    { 0, "gres-flags", true, PLAIN, ALL },
    { 0, "hint", true, PLAIN, ALL },
    { 0, "mail-type", true, PLAIN, ALL },
    { 0, "mail-user", true, PLAIN, ALL },
    { 0, "max-exit-timeout", true, PLAIN, ALL },
    { 0, "mcs-label", true, PLAIN, ALL },
    { 0, "mem", true, PLAIN, ALL },
    { 0, "mem-bind", true, PLAIN, ALL },
    { 0, "mem-per-cpu", true, PLAIN, ALL },
    { 0, "mem-per-gpu", true, PLAIN, ALL },
    { 0, "mincores", true, PLAIN, ALL },
    { 0, "mincpus", true, PLAIN, ALL },
    { 0, "minsockets", true, PLAIN, ALL },
    { 0, "minthreads", true, PLAIN, ALL },
    { 0, "mpi", true, PLAIN, ALL },
    { 0, "msg-timeout", true, PLAIN, ALL },
    { 0, "network", true, PLAIN, ALL },
    { 0, "nice", false, PLAIN, ALL },
    { 0, "open-mode", true, PLAIN, ALL },
    { 0, "overlap", false, PLAIN, ALL },
    { 0, "power", true, PLAIN, ALL },
    { 0, "prefer", true, PLAIN, ALL },
    { 0, "priority", true, PLAIN, ALL },
    { 0, "profile", true, PLAIN, ALL },
    { 0, "prolog", true, PLAIN, ALL },
    { 0, "propagate", false, PLAIN, ALL },
    { 0, "pty", false, PLAIN, ALL },
    { 0, "quit-on-interrupt", false, PLAIN, ALL },
    { 0, "reboot", false, PLAIN, ALL },
    { 0, "reservation", true, LIMITS, ALL },
    { 0, "resv-ports", false, PLAIN, ALL },
    { 0, "send-libs", false, PLAIN, ALL },
    { 0, "signal", true, PLAIN, ALL },
    { 0, "slurmd-debug", true, PLAIN, ALL },
    { 0, "switches", true, SWITCHES, ALL },
    { 0, "sync-guard", false, SYNC_GUARD, ALL },
    { 0, "task-epilog", true, PLAIN, ALL },
    { 0, "task-prolog", true, PLAIN, ALL },
    { 0, "test-only", false, PLAIN, ALL },
    { 0, "thread-spec", true, PLAIN, ALL },
    { 0, "time-min", true, PLAIN, ALL },
    { 0, "tmp", true, PLAIN, ALL },
    { 0, "tree-width", true, PLAIN, ALL },
    { 0, "treewidth", true, PLAIN, ALL },
    { 0, "tres-bind", true, PLAIN, ALL },
    { 0, "tres-per-task", true, PLAIN, ALL },
    { 0, "uid", true, PLAIN, ALL },
    { 0, "usage", false, PLAIN, ALL },
    { 0, "wckey", true, PLAIN, ALL },
    { 0, "whole", false, PLAIN, ALL },
    { 0, "ntasks-per-tres", true, UNSURE, ALL },
    { 0, "segment", true, LIMITS, ALL },
    { 0, "oom-kill-step", false, PLAIN, ALL },
    { 0, "stepmgr", false, PLAIN, ALL },
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
    { 0, "wrap", true, WRAP, SBATCH },
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

        if (!is_of(o, program) || strncmp(o->name, name, length) != 0)
            continue;
        if (!o->name[length])
            return o;
        if (found && (found->value != o->value || found->role != o->role))
            return NULL;
        found = o;
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
    switch (o->role) {
    case PLAIN:
        break;
    case DECIDES:
        c->decided = o->name;
        break;
    case UNSURE:
        c->unsure = o->name;
        break;
    case NODES:
        c->nodes = value;
        break;
    case TASKS:
        c->tasks = value;
        break;
    case TASKS_PER_NODE:
        c->tasks_per_node = value;
        break;
    case CPUS:
        c->cpus = true;
        break;
    case SWITCHES:
        c->switches = true;
        break;
    case LIMITS:
        c->limits = o->name;
        break;
    case PARTITION:
        c->partition = value;
        break;
    case JOB_NAME:
        c->job_name = value;
        break;
    case CHDIR:
        c->chdir = true;
        break;
    case WRAP:
        c->wrap = true;
        break;
    case SYNC_GUARD:
        c->sync_guard = value;
        break;
    case VERBOSE:
        c->verbose = true;
        break;
    }
}

struct words {
    const char *next, *end;
};

/* NULL: there are no more. */
static const char *word(struct words *w)
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
        take_option(c, o, equals ? equals + 1 : o->value ? word(w) : "");
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
            take_option(c, o, letter[1] ? letter + 1 : word(w));
            break;
        }
        take_option(c, o, "");
        if (*letter == 'I' || *letter == 'K' || *letter == 'k')
            break; /* what follows is their optional value */
    }
    return 0;
}

/* Under any other name it is taken for srun, whose options are the most. */
static enum command_program program_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (enum command_program p = 0; p < sizeof(programs) / sizeof(programs[0]); p++)
        if (!strcmp(name, programs[p]))
            return p;
    return COMMAND_SRUN;
}

int command_read(struct command *c, const char *words, size_t bytes, struct err *err)
{
    struct words w = { words, words + bytes };
    const char *one = word(&w);

    memset(c, 0, sizeof(*c));
    if (!one)
        return err_set(err, "the command line is empty");
    c->program = program_of(one);
    while ((one = word(&w)) && one[0] == '-' && one[1] && strcmp(one, "--") != 0)
        if ((one[1] == '-' ? read_long(c, &w, one, err) : read_letters(c, &w, one, err)) < 0)
            return -1;
    if (one && !strcmp(one, "--"))
        one = word(&w);
    c->what = one;
    for (; one; one = word(&w))
        if (!strcmp(one, ":"))
            c->unsure = ":"; /* the next component of a heterogeneous step */
    return 0;
}
