#include "agent/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"

#define RATE_MIN_HZ 0.1
#define RATE_MAX_HZ 10000.0

/* One table for getopt and --help. */
static const struct {
    const char *name, *value, *text;
    char key;
} table[] = {
    { "dir", "DIR", "the step's directory in shared memory (required)", 'd' },
    { "policy", "NAME", "the policy the step runs under (default: balanced)", 'p' },
    { "policy-asked", NULL, "the user asked for that policy", 'a' },
    { "controller", "HOSTS", "host[:port][,host[:port]...] (default: localhost)", 'c' },
    { "munge-socket", "PATH", "munged's socket (default: munge's own)", 'm' },
    { "rate", "HZ", "samples a rank and second to aim at, 0.1 to 10000 (default: 50)", 'r' },
    { "node", "NAME", "this node (default: SLURMD_NODENAME, or the host name)", 'n' },
    { "help", NULL, "print this and exit", 'h' },
    { "version", NULL, "print the version and exit", 'V' },
};

static const struct {
    const char *variable;
    size_t offset;
} strings[] = {
    { "SLURM_JOB_USER", offsetof(struct options, user) },
    { "SLURM_JOB_NAME", offsetof(struct options, name) },
    { "SLURM_JOB_PARTITION", offsetof(struct options, partition) },
    { "SLURM_JOB_ACCOUNT", offsetof(struct options, account) },
    { "SLURM_JOB_QOS", offsetof(struct options, qos) },
    { "SYNCGUARD_NOTES", offsetof(struct options, notes) },
}, numbers[] = {
    { "SLURM_JOB_ID", offsetof(struct options, job) },
    { "SLURM_STEP_ID", offsetof(struct options, step) },
    { "SLURM_NNODES", offsetof(struct options, nodes) },
    { "SLURM_NTASKS", offsetof(struct options, tasks) },
    { "SYNCGUARD_LOCAL_TASKS", offsetof(struct options, local_tasks) },
    { "SLURM_NODEID", offsetof(struct options, node_index) },
    { "SLURM_HET_JOB_ID", offsetof(struct options, het_job) },
    { "SLURM_HET_JOB_OFFSET", offsetof(struct options, het_offset) },
    { "SLURM_ARRAY_JOB_ID", offsetof(struct options, array_job) },
    { "SLURM_ARRAY_TASK_ID", offsetof(struct options, array_task) },
    { "SLURM_RESTART_COUNT", offsetof(struct options, restarts) },
    { "SLURM_JOB_END_TIME", offsetof(struct options, end_time) },
};

static void print_help(void)
{
    puts("Usage: syncguard-agent --dir DIR [OPTION...]\n"
         "Reads the ranks of one job step on one node and tells the controller about them.\n"
         "The plugin starts it; nobody has to.\n");
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        printf("  --%s%s%-*s %s\n", table[i].name, table[i].value ? "=" : "",
               20 - (int)strlen(table[i].name) - !!table[i].value, table[i].value ? table[i].value : "",
               table[i].text);
    puts("\nThe step is read from the environment:");
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
        printf("  %s\n", strings[i].variable);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        printf("  %s\n", numbers[i].variable);
    puts("  SLURM_TOPOLOGY_ADDR\n  SLURMD_NODENAME");
}

static int64_t parse_number(const char *text)
{
    unsigned long long n;
    char *end;

    if (!text || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    n = strtoull(text, &end, 10);
    return *end || errno || n > UINT32_MAX ? -1 : (int64_t)n;
}

/* "core.spine0.leaf1.node3": the leaf is what stands before the node. */
static void take_switch(struct options *o, const char *address)
{
    const char *end = address ? strrchr(address, '.') : NULL, *begin;

    if (!end)
        return;
    for (begin = end; begin > address && begin[-1] != '.'; begin--)
        ;
    snprintf(o->leaf_switch, sizeof(o->leaf_switch), "%.*s", (int)(end - begin), begin);
}

static void read_environment(struct options *o)
{
    for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
        const char *value = getenv(strings[i].variable);

        *(const char **)((char *)o + strings[i].offset) = value && *value ? value : NULL;
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        *(int64_t *)((char *)o + numbers[i].offset) = parse_number(getenv(numbers[i].variable));
    take_switch(o, getenv("SLURM_TOPOLOGY_ADDR"));
    o->node = getenv("SLURMD_NODENAME");
}

static int take_option(struct options *o, int key, const char *value, struct err *err)
{
    char *end;

    switch (key) {
    case 'd':
        o->dir = value;
        return 0;
    case 'p':
        o->policy = value;
        return 0;
    case 'a':
        o->policy_asked = true;
        return 0;
    case 'c':
        o->controller = value;
        return 0;
    case 'm':
        o->munge_socket = *value ? value : NULL;
        return 0;
    case 'n':
        o->node = value;
        return 0;
    case 'r':
        o->rate_hz = strtod(value, &end);
        if (end == value || *end || !(o->rate_hz >= RATE_MIN_HZ && o->rate_hz <= RATE_MAX_HZ))
            return err_set(err, "--rate=%s: expected %g to %g samples a second", value, RATE_MIN_HZ,
                           RATE_MAX_HZ);
        return 0;
    case 'h':
        print_help();
        return 1;
    case 'V':
        puts("syncguard-agent " PACKAGE_VERSION);
        return 1;
    default:
        return err_set(err, "unknown option, or one without its value; see --help");
    }
}

int options_read(struct options *o, int argc, char **argv, struct err *err)
{
    static char host[256];
    struct option longs[ARRAY_SIZE(table) + 1] = { { 0 } };
    int key, rc = 0;

    *o = (struct options){ .policy = "balanced", .controller = "localhost", .rate_hz = 50 };
    read_environment(o);
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        longs[i] = (struct option){ table[i].name, table[i].value ? required_argument : no_argument, NULL,
                                    table[i].key };
    optind = 0;
    opterr = 0;
    while (!rc && (key = getopt_long(argc, argv, "", longs, NULL)) != -1)
        rc = take_option(o, key, optarg, err);
    if (rc)
        return rc;
    if (optind < argc)
        return err_set(err, "unexpected argument \"%s\"; see --help", argv[optind]);
    if (!o->dir || !*o->dir)
        return err_set(err, "--dir is required: the step's directory");
    if (!o->node || !*o->node) {
        if (gethostname(host, sizeof(host) - 1) < 0)
            strcpy(host, "localhost");
        o->node = host;
    }
    return 0;
}
