#include "agent/arguments.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "topology/address.h"
#include "topology/topology_conf.h"

static const struct option_spec dir = { "dir", "DIR", VALUE(VALUE_ANY),
                                        "directory of the step in shared memory" };
static const struct option_spec policy = { "policy", "POLICY", VALUE(VALUE_ANY), "policy of the step" };
static const struct option_spec policy_asked = { .name = "policy-asked",
                                                 .text = "the user asked for that policy" };
static const struct option_spec controller = {
    "controller", "HOSTS", VALUE(VALUE_ANY), "send to the first of host[:port][,host[:port]...] that answers"
};
static const struct option_spec rate = { "rate", "HZ", VALUE_RANGE(VALUE_NUMBER, 0.1, 10000),
                                         "target number of samples per rank and second" };
static const struct option_spec cluster = { "cluster", "NAME", VALUE(VALUE_ANY), "name of the cluster" };
static const struct option_spec trust = {
    "trust", "USERS", VALUE(VALUE_ANY),
    "accept a controller of these users, with commas, in addition to root and the user of this process"
};
static const struct option_spec identity_fd = {
    "identity-fd", "N", VALUE_RANGE(VALUE_INTEGER, 3, 1023),
    "descriptor with the step's credential (syncguard-credential)"
};
static const struct option_spec node = {
    "node", "NAME", VALUE(VALUE_ANY), "name of this node; default: $SLURMD_NODENAME, or else the host name"
};

static const struct option_use uses[] = {
    { &dir, OPTION_REQUIRED },
    { &policy, "balanced" },
    { &policy_asked, NULL },
    { &controller, "localhost" },
    { &option_munge_socket, NULL },
    { &rate, "50" },
    { &cluster, NULL },
    { &trust, NULL },
    { &identity_fd, NULL },
    { &node, NULL },
    { NULL, NULL },
};

static const struct options_command only = { .name = "", .operands = "", .uses = uses };

static const struct {
    const char *variable;
    size_t offset;
} strings[] = {
    { "SLURM_JOB_USER", offsetof(struct agent_arguments, user) },
    { "SLURM_JOB_NAME", offsetof(struct agent_arguments, name) },
    { "SLURM_JOB_PARTITION", offsetof(struct agent_arguments, partition) },
    { "SLURM_JOB_ACCOUNT", offsetof(struct agent_arguments, account) },
    { "SLURM_JOB_QOS", offsetof(struct agent_arguments, qos) },
    { "SYNCGUARD_NOTES", offsetof(struct agent_arguments, notes) },
    { "SLURM_STEP_NODELIST", offsetof(struct agent_arguments, nodelist) },
}, numbers[] = {
    { "SLURM_JOB_ID", offsetof(struct agent_arguments, job) },
    { "SLURM_STEP_ID", offsetof(struct agent_arguments, step) },
    { "SLURM_NNODES", offsetof(struct agent_arguments, nodes) },
    { "SLURM_NTASKS", offsetof(struct agent_arguments, tasks) },
    { "SYNCGUARD_LOCAL_TASKS", offsetof(struct agent_arguments, local_tasks) },
    { "SYNCGUARD_TASKS_PARENT", offsetof(struct agent_arguments, tasks_parent) },
    { "SLURM_NODEID", offsetof(struct agent_arguments, node_index) },
    { "SLURM_HET_JOB_ID", offsetof(struct agent_arguments, het_job) },
    { "SLURM_HET_JOB_OFFSET", offsetof(struct agent_arguments, het_offset) },
    { "SLURM_RESTART_COUNT", offsetof(struct agent_arguments, restarts) },
    { "SLURM_JOB_END_TIME", offsetof(struct agent_arguments, end_time) },
};

static void print_variables(FILE *out)
{
    fputs("\nThese environment variables describe the step:\n", out);
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        fprintf(out, "  %s\n", strings[i].variable);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        fprintf(out, "  %s\n", numbers[i].variable);
    fputs(
        "  SLURM_TOPOLOGY_ADDR\n  SLURM_TOPOLOGY_ADDR_PATTERN\n  SLURMD_NODENAME\n  SYNCGUARD_PLACEMENT\n  SYNCGUARD_ALGORITHM\n",
        out);
}

const struct options_program agent_program = {
    .name = "syncguard-agent",
    .text =
        "Read what the ranks of one job step do on one node and send it to the controller. Started by the Slurm "
        "plugin, not by hand.",
    .only = &only,
    .help_more = print_variables,
};

static int64_t environment_number(const char *text)
{
    unsigned long long n;
    char *end;

    if (!text || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    n = strtoull(text, &end, 10);
    return *end || errno || n > UINT32_MAX ? -1 : (int64_t)n;
}

static size_t count_dots(const char *text, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        n += text[i] == '.';
    return n;
}

/* By topology.conf, if it is here.  Switches are separated by blanks then. */
static bool take_declared(struct agent_arguments *a, size_t levels)
{
    size_t begins[TOPOLOGY_LEVELS_MAX];
    struct topology *t;
    char path[4096];
    bool known;

    topology_conf_locate(path, sizeof(path));
    t = topology_conf_read(path, NULL, NULL);
    known = t && address_cut(t, a->switches, levels, begins);
    topology_free(t);
    for (size_t i = 1; known && i < levels; i++)
        a->switches[begins[i] - 1] = ' ';
    if (known)
        snprintf(a->switch_name, sizeof(a->switch_name), "%s", a->switches + begins[levels - 1]);
    return known;
}

/* "core.spine0.leaf1.node3", by the pattern "switch.switch.switch.node".  Names may have dots of their own,
 * which Slurm does not escape.  The node's name is known; the rest can be split if the pattern has a single
 * switch, by topology.conf, or if all switches' names can have the same number of dots.  Otherwise they stay
 * unknown. */
static void take_switches(struct agent_arguments *a, const char *address, const char *pattern)
{
    size_t bytes = address ? strlen(address) : 0, own = strlen(a->node), parts, levels, dots = 0, leaf = 0;
    const char *last = address ? strrchr(address, '.') : NULL;

    if (!last)
        return;
    if (bytes > own && address[bytes - own - 1] == '.' && !strcasecmp(address + bytes - own, a->node))
        bytes -= own + 1;
    else
        bytes = (size_t)(last - address);
    parts = count_dots(address, bytes) + 1;
    levels = pattern && *pattern ? count_dots(pattern, strlen(pattern)) : parts;
    if (!bytes || !levels || parts < levels || bytes + 2 > sizeof(a->switches))
        return;
    memcpy(a->switches, address, bytes);
    if (parts > levels && levels > 1 && take_declared(a, levels))
        return;
    if (parts % levels) {
        a->switches[0] = '\0';
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        if (address[i] == '.' && ++dots % (parts / levels) == 0) {
            a->switches[i] = parts > levels ? ' ' : '.';
            leaf = i + 1;
        }
    snprintf(a->switch_name, sizeof(a->switch_name), "%s", a->switches + leaf);
    if (parts > levels && levels == 1)
        a->switches[bytes] = ' ';
}

/* As in spank/launch.c: "on ring 0.04 0.02".  Anything else is ignored. */
static bool take_choice(struct agent_choice *choice, const char *text)
{
    static const struct {
        const char *word;
        bool applied, compared;
    } modes[] = { { "on", true, false },
                  { "advise", false, false },
                  { "placed", true, true },
                  { "held-out", false, true } };
    struct agent_choice c = { .name = "" };
    char mode[16];
    int end = -1;

    if (!text || sscanf(text, "%15s %31s %lf %lf%n", mode, c.name, &c.before_s, &c.after_s, &end) != 4 ||
        text[end] || !isfinite(c.before_s) || !isfinite(c.after_s))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
        if (!strcmp(mode, modes[i].word)) {
            c.applied = modes[i].applied;
            c.compared = modes[i].compared;
            *choice = c;
            return true;
        }
    return false;
}

int agent_arguments_read(struct agent_arguments *a, const struct options *o, struct err *err)
{
    static char host[256];
    const char *munge_socket = options_text(o, "munge-socket"), *text;
    char name[64];
    size_t n;

    *a = (struct agent_arguments){
        .dir = options_text(o, "dir"),
        .policy = options_text(o, "policy"),
        .policy_asked = options_given(o, "policy-asked"),
        .controller = options_text(o, "controller"),
        .end = { .munge_socket = munge_socket && *munge_socket ? munge_socket : NULL,
                 .cluster = options_text(o, "cluster") },
        .identity_fd = options_given(o, "identity-fd") ? (int)options_number(o, "identity-fd") : -1,
        .rate_hz = options_number(o, "rate")
    };
    for (const char *p = options_text(o, "trust"); p && *p; p += n + (p[n] == ',')) { /* "slurm,syncguard" */
        n = strcspn(p, ",");
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        link_end_trust(&a->end, name);
    }
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
        text = getenv(strings[i].variable);
        *(const char **)((char *)a + strings[i].offset) = text && *text ? text : NULL;
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        *(int64_t *)((char *)a + numbers[i].offset) = environment_number(getenv(numbers[i].variable));
    take_choice(&a->placement, getenv("SYNCGUARD_PLACEMENT"));
    text = getenv("SYNCGUARD_ALGORITHM");
    a->algorithm_looked = take_choice(&a->algorithm, text) || (text && !strcmp(text, "default"));
    a->node = getenv("SLURMD_NODENAME");
    if (!*a->dir)
        return err_set(err, "missing --dir=DIR: the step's directory");
    if (options_text(o, "node"))
        a->node = options_text(o, "node");
    if (!a->node || !*a->node) {
        if (gethostname(host, sizeof(host) - 1) < 0)
            strcpy(host, "localhost");
        a->node = host;
    }
    take_switches(a, getenv("SLURM_TOPOLOGY_ADDR"), getenv("SLURM_TOPOLOGY_ADDR_PATTERN"));
    return 0;
}
