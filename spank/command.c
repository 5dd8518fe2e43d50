#include "spank/command.h"

#include <string.h>

enum role { PLAIN, DECIDES, UNSURE, NODES, TASKS, TASKS_PER_NODE, CPUS };

/* Options of srun from Slurm 20.11 to 25.05. An optional value is never a word of its own, so it is as if there were none. */
static const struct srun_option {
    char letter; /* or 0 */
    const char *name;
    bool value;
    enum role role;
} options[] = {
    { 'w', "nodelist", true, DECIDES },
    { 'm', "distribution", true, DECIDES },
    { 'x', "exclude", true, DECIDES },
    { 'r', "relative", true, DECIDES },
    { 'F', "nodefile", true, DECIDES },
    { 'C', "constraint", true, DECIDES },
    { 0, "contiguous", false, DECIDES },
    { 0, "multi-prog", false, DECIDES }, /* its file names ranks, perhaps for their nodes */
    { 0, "spread-job", false, DECIDES },
    { 'N', "nodes", true, NODES },
    { 'n', "ntasks", true, TASKS },
    { 0, "ntasks-per-node", true, TASKS_PER_NODE },
    { 0, "tasks-per-node", true, TASKS_PER_NODE },
    { 'c', "cpus-per-task", true, CPUS },
    { 'B', "extra-node-info", true, UNSURE },
    { 'Z', "no-allocate", false, UNSURE },
    { 0, "cores-per-socket", true, UNSURE },
    { 0, "external-launcher", false, UNSURE },
    { 0, "het-group", true, UNSURE },
    { 0, "interactive", false, UNSURE },
    { 0, "jobid", true, UNSURE },
    { 0, "ntasks-per-core", true, UNSURE },
    { 0, "ntasks-per-gpu", true, UNSURE },
    { 0, "ntasks-per-socket", true, UNSURE },
    { 0, "pack-group", true, UNSURE },
    { 0, "sockets-per-node", true, UNSURE },
    { 0, "threads-per-core", true, UNSURE },
    { 0, "use-min-nodes", false, UNSURE },
    { 'A', "account", true, PLAIN },
    { 'D', "chdir", true, PLAIN },
    { 'E', "preserve-env", false, PLAIN },
    { 'G', "gpus", true, PLAIN },
    { 'H', "hold", false, PLAIN },
    { 'I', "immediate", false, PLAIN },
    { 'J', "job-name", true, PLAIN },
    { 'K', "kill-on-bad-exit", false, PLAIN },
    { 'L', "licenses", true, PLAIN },
    { 'M', "clusters", true, PLAIN },
    { 'M', "cluster", true, PLAIN },
    { 'O', "overcommit", false, PLAIN },
    { 'Q', "quiet", false, PLAIN },
    { 'S', "core-spec", true, PLAIN },
    { 'T', "threads", true, PLAIN },
    { 'V', "version", false, PLAIN },
    { 'W', "wait", true, PLAIN },
    { 'X', "disable-status", false, PLAIN },
    { 'd', "dependency", true, PLAIN },
    { 'e', "error", true, PLAIN },
    { 'h', "help", false, PLAIN },
    { 'i', "input", true, PLAIN },
    { 'j', "join", false, PLAIN },
    { 'k', "no-kill", false, PLAIN },
    { 'l', "label", false, PLAIN },
    { 'o', "output", true, PLAIN },
    { 'p', "partition", true, PLAIN },
    { 'q', "qos", true, PLAIN },
    { 's', "oversubscribe", false, PLAIN },
    { 's', "share", false, PLAIN },
    { 't', "time", true, PLAIN },
    { 'u', "unbuffered", false, PLAIN },
    { 'v', "verbose", false, PLAIN },
    { 0, "accel-bind", true, PLAIN },
    { 0, "acctg-freq", true, PLAIN },
    { 0, "bb", true, PLAIN },
    { 0, "bbf", true, PLAIN },
    { 0, "bcast", false, PLAIN },
    { 0, "bcast-exclude", true, PLAIN },
    { 0, "begin", true, PLAIN },
    { 0, "cluster-constraint", true, PLAIN },
    { 0, "comment", true, PLAIN },
    { 0, "compress", false, PLAIN },
    { 0, "container", true, PLAIN },
    { 0, "container-id", true, PLAIN },
    { 0, "cpu-bind", true, PLAIN },
    { 0, "cpu-freq", true, PLAIN },
    { 0, "cpus-per-gpu", true, PLAIN },
    { 0, "deadline", true, PLAIN },
    { 0, "delay-boot", true, PLAIN },
    { 0, "epilog", true, PLAIN },
    { 0, "exact", false, PLAIN },
    { 0, "exclusive", false, PLAIN },
    { 0, "export", true, PLAIN },
    { 0, "extra", true, PLAIN },
    { 0, "gid", true, PLAIN },
    { 0, "gpu-bind", true, PLAIN },
    { 0, "gpu-freq", true, PLAIN },
    { 0, "gpus-per-node", true, PLAIN },
    { 0, "gpus-per-socket", true, PLAIN },
    { 0, "gpus-per-task", true, PLAIN },
    { 0, "gres", true, PLAIN },
    { 0, "gres-flags", true, PLAIN },
    { 0, "hint", true, PLAIN },
    { 0, "mail-type", true, PLAIN },
    { 0, "mail-user", true, PLAIN },
    { 0, "max-exit-timeout", true, PLAIN },
    { 0, "mcs-label", true, PLAIN },
    { 0, "mem", true, PLAIN },
    { 0, "mem-bind", true, PLAIN },
    { 0, "mem-per-cpu", true, PLAIN },
    { 0, "mem-per-gpu", true, PLAIN },
    { 0, "mincores", true, PLAIN },
    { 0, "mincpus", true, PLAIN },
    { 0, "minsockets", true, PLAIN },
    { 0, "minthreads", true, PLAIN },
    { 0, "mpi", true, PLAIN },
    { 0, "msg-timeout", true, PLAIN },
    { 0, "network", true, PLAIN },
    { 0, "nice", false, PLAIN },
    { 0, "open-mode", true, PLAIN },
    { 0, "overlap", false, PLAIN },
    { 0, "power", true, PLAIN },
    { 0, "prefer", true, PLAIN },
    { 0, "priority", true, PLAIN },
    { 0, "profile", true, PLAIN },
    { 0, "prolog", true, PLAIN },
    { 0, "propagate", false, PLAIN },
    { 0, "pty", false, PLAIN },
    { 0, "quit-on-interrupt", false, PLAIN },
    { 0, "reboot", false, PLAIN },
    { 0, "reservation", true, PLAIN },
    { 0, "resv-ports", false, PLAIN },
    { 0, "send-libs", false, PLAIN },
    { 0, "signal", true, PLAIN },
    { 0, "slurmd-debug", true, PLAIN },
    { 0, "switches", true, PLAIN },
    { 0, "sync-guard", false, PLAIN },
    { 0, "task-epilog", true, PLAIN },
    { 0, "task-prolog", true, PLAIN },
    { 0, "test-only", false, PLAIN },
    { 0, "thread-spec", true, PLAIN },
    { 0, "time-min", true, PLAIN },
    { 0, "tmp", true, PLAIN },
    { 0, "tree-width", true, PLAIN },
    { 0, "treewidth", true, PLAIN },
    { 0, "tres-bind", true, PLAIN },
    { 0, "tres-per-task", true, PLAIN },
    { 0, "uid", true, PLAIN },
    { 0, "usage", false, PLAIN },
    { 0, "wckey", true, PLAIN },
    { 0, "whole", false, PLAIN },
};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

/* NULL: unknown, or an abbreviation of several that differ in what matters here. */
static const struct srun_option *find_name(const char *name, size_t length)
{
    const struct srun_option *found = NULL;

    for (size_t i = 0; i < OPTIONS; i++) {
        const struct srun_option *o = &options[i];

        if (strncmp(o->name, name, length) != 0)
            continue;
        if (!o->name[length])
            return o;
        if (found && (found->value != o->value || found->role != o->role))
            return NULL;
        found = o;
    }
    return length ? found : NULL;
}

static const struct srun_option *find_letter(char letter)
{
    for (size_t i = 0; i < OPTIONS; i++)
        if (options[i].letter == letter)
            return &options[i];
    return NULL;
}

static void take(struct command *c, const struct srun_option *o, const char *value)
{
    switch (o->role) {
    case PLAIN: break;
    case DECIDES: c->decided = o->name; break;
    case UNSURE: c->unsure = o->name; break;
    case NODES: c->nodes = value; break;
    case TASKS: c->tasks = value; break;
    case TASKS_PER_NODE: c->tasks_per_node = value; break;
    case CPUS: c->cpus = true; break;
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

static int unreadable(const char *option, struct err *err)
{
    return err_set(err, "srun's command line has the option %.60s, which is not known", option);
}

static int read_long(struct command *c, struct words *w, const char *given, struct err *err)
{
    const char *name = given + 2, *equals = strchr(name, '=');
    const struct srun_option *o = find_name(name, equals ? (size_t)(equals - name) : strlen(name));

    if (o)
        take(c, o, equals ? equals + 1 : o->value ? word(w) : "");
    else if (!equals && (w->next == w->end || *w->next != '-'))
        return unreadable(given, err); /* is the next word its value, or the program? */
    return 0;
}

static int read_letters(struct command *c, struct words *w, const char *given, struct err *err)
{
    for (const char *letter = given + 1; *letter; letter++) {
        const struct srun_option *o = find_letter(*letter);

        if (!o)
            return unreadable(given, err);
        if (o->value) {
            take(c, o, letter[1] ? letter + 1 : word(w));
            break;
        }
        take(c, o, "");
        if (*letter == 'I' || *letter == 'K' || *letter == 'k')
            break; /* what follows is their optional value */
    }
    return 0;
}

int command_read(struct command *c, const char *words, size_t bytes, struct err *err)
{
    struct words w = { words, words + bytes };
    const char *one = word(&w);

    memset(c, 0, sizeof(*c));
    if (!one)
        return err_set(err, "srun's command line is empty");
    while ((one = word(&w)) && one[0] == '-' && one[1] && strcmp(one, "--") != 0)
        if ((one[1] == '-' ? read_long(c, &w, one, err) : read_letters(c, &w, one, err)) < 0)
            return -1;
    for (; one; one = word(&w))
        if (!strcmp(one, ":"))
            c->unsure = ":"; /* the next component of a heterogeneous step */
    return 0;
}
