/* On how few switches a job fits that is about to be submitted: the script's directives, the partition's
 * nodes, what the user decided. */
#include "spank/advice.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank/cmdline.h"
#include "spank/lemons.h"
#include "spank/question.h"
#include "tests/tap.h"
#include "topology/slurm_conf.h"
#include "topology/topology_conf.h"

static char folder[] = "/tmp/advice-XXXXXX", topology[64], slurm[64], script[64];

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    fputs(text, f);
    fclose(f);
}

/* Words separated by blanks. */
static void make(struct cmdline *l, const char *text)
{
    l->words = strdup(text);
    l->bytes = strlen(text) + 1;
    for (size_t i = 0; i < l->bytes; i++)
        if (l->words[i] == ' ')
            l->words[i] = '\0';
}

/* Words joined by '|'. */
static void join(const struct cmdline *l, char *to, size_t size)
{
    size_t used = 0;

    *to = '\0';
    for (size_t at = 0; at < l->bytes && used < size; at += strlen(l->words + at) + 1)
        used += (size_t)snprintf(to + used, size - used, "%s%s", at ? "|" : "", l->words + at);
}

/* ---- the script ---- */

static void test_directives(void)
{
    static const struct {
        const char *text, *want;
    } good[] = {
        { "", "sbatch|-N9|job" },
        { "#!/bin/sh\n#SBATCH -N4 --sync-guard\n\n# a comment\n  \n#SBATCH --switches 2\ntrue\n#SBATCH -n 7\n",
          "sbatch|-N4|--sync-guard|--switches|2|-N9|job" },
        { "#SBATCH -J 'a b' --comment=\"c # \\\" d\" # -w n1\n", "sbatch|-J|a b|--comment=c # \" d|-N9|job" },
        { "#SBATCH -J a\\ b -N\\\n4", "sbatch|-J|a b|-N\\|-N9|job" },
        { "#SLURM -w n1\r\n#SBATCH\t-Nx#y\n", "sbatch|-w|n1|-Nx|-N9|job" },
        { "#SBATCH\n#SBATCH '' -w n1\n#sbatch -w n1\n# SBATCH -w n1\n", "sbatch|-N9|job" },
    };
    static const struct {
        const char *text, *want;
    } bad[] = {
        { "#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\n", "heterogeneous" },
        { "#SBATCH packjob", "heterogeneous" },
        { "#PBS -l nodes=4\n", "another batch system" },
        { "#SBATCH -J \"a\n", "quote without its end" },
    };
    char *comments = malloc(CMDLINE_HEAD_MAX), got[512];
    struct cmdline l;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        make(&l, "sbatch -N9 job");
        ok(cmdline_insert(&l, good[i].text, strlen(good[i].text), &err) == 0, "directives %zu are read", i);
        join(&l, got, sizeof(got));
        is_str(got, good[i].want, "directives %zu come before the options of the command line", i);
        cmdline_free(&l);
    }
    make(&l, "sbatch -N9 job");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(cmdline_insert(&l, bad[i].text, strlen(bad[i].text), &err) < 0 && strstr(err.text, bad[i].want),
           "directives are not certain: %s", err.text);
    ok(cmdline_insert(&l, "#\0#", 3, &err) < 0 && strstr(err.text, "not a text file"),
       "a program is not a script");
    memset(comments, '#', CMDLINE_HEAD_MAX);
    ok(cmdline_insert(&l, comments, CMDLINE_HEAD_MAX, &err) < 0 && strstr(err.text, "64 KiB"),
       "directives without an end: %s", err.text);
    free(comments);
    ok(cmdline_insert_script(&l, "/nonexistent/job", &err) < 0 && strstr(err.text, "cannot read the script"),
       "no script: %s", err.text);
    ok(cmdline_insert_script(&l, "/dev/zero", &err) < 0, "a device is not read");
    ok(cmdline_insert_script(&l, folder, &err) < 0, "a folder is not read");
    mkfifo(script, 0600);
    ok(cmdline_insert_script(&l, script, &err) < 0, "a pipe is not waited for");
    unlink(script);
    join(&l, got, sizeof(got));
    is_str(got, "sbatch|-N9|job", "after a failure the command line is as it was");
    write_file(script, "#SBATCH -N4\n");
    ok(cmdline_insert_script(&l, script, &err) == 0, "a script is read");
    join(&l, got, sizeof(got));
    is_str(got, "sbatch|-N4|-N9|job", "and its directives come first");
    cmdline_free(&l);
    ok(cmdline_own(&l, &err) == 0 && l.bytes > 1 && strstr(l.words, "advice") && !l.words[l.bytes - 1],
       "this process's own words");
    ok(setenv("PATH", folder, 1) == 0 && chdir("/") == 0 && cmdline_insert_script(&l, "job.sh", &err) == 0,
       "a bare name is found in PATH");
    cmdline_free(&l);
}

/* ---- options ---- */
static void test_programs(void)
{
    static const struct {
        const char *line, *nodes, *what;
        enum command_program program;
    } cases[] = {
        { "sbatch -W -N4 job", "4", "job", COMMAND_SBATCH },
        { "srun -W 3 -N4 a", "4", "a", COMMAND_SRUN },
        { "/usr/bin/salloc --no-shell -K -N 4", "4", NULL, COMMAND_SALLOC },
        { "sbatch -a 1-9 --wrap true -N4", "4", NULL, COMMAND_SBATCH },
        { "sbatch --parsable -N4 -- job -N5", "4", "job", COMMAND_SBATCH },
        { "other -N4 a", "4", "a", COMMAND_SRUN },
    };
    struct cmdline l;
    struct command c;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        make(&l, cases[i].line);
        ok(command_read(&c, l.words, l.bytes, NULL) == 0 && c.program == cases[i].program, "%s: the program",
           cases[i].line);
        is_str(c.nodes ? c.nodes : "", cases[i].nodes, "%s: nodes", cases[i].line);
        is_str(c.what ? c.what : "none", cases[i].what ? cases[i].what : "none", "%s: what is run",
               cases[i].line);
        cmdline_free(&l);
    }
    make(&l, "srun -a 1 x");
    ok(command_read(&c, l.words, l.bytes, NULL) < 0, "-a is sbatch's alone");
    cmdline_free(&l);
    make(&l, "sbatch -vp fast --sync-guard=placement=on --switch 2 -D /tmp -M other --wrap=x");
    ok(command_read(&c, l.words, l.bytes, NULL) == 0 && c.verbose && c.switches && c.chdir && c.wrap,
       "flags of a submission");
    is_str(c.partition, "fast", "its partition");
    is_str(c.sync_guard, "placement=on", "its --sync-guard");
    is_str(c.limits, "clusters", "what leaves it some nodes");
    cmdline_free(&l);
}

/* ---- slurm.conf ---- */

static void test_partitions(void)
{
    static const char text[] =
        "ClusterName=c # x\nTopologyPlugin=topology/Tree\nSchedulerParameters=a=1,b\nNodeName=n[1-9] CPUs=2\n"
        "PartitionName=all Nodes=ALL\nPartitionName=DEFAULT Nodes=n[1-4] State=UP\n"
        "PartitionName=main Default=YES\nPartitionName=fast Nodes=n[5-6]\nPartitionName=none Nodes=\"\"\n"
        "PartitionName=sets Nodes=first,n[5,6]x[1-2],last,gpus\nNodeSet=first Nodes=n[1-2],n3\nnodeset=last nodes=n9\n"
        "NodeSet=gpus Feature=gpu\nNodeName=g[1-2],h1 Features=old,gpu\nNodeName=g3 Feature=gpus\n"
        "NodeName=DEFAULT Features=gpu,new\nNodeName=k[1-2]\nNodeName=k3 Feature=other\n"
        "NodeSet=both Feature=other Nodes=n1,later\nNodeSet=later Nodes=n2\nNodeSet=whole Nodes=all\n"
        "NodeSet=nobody Feature=none\n"
        "NodeSet=rack1 Nodes=n1\nNodeSet=rack3 Feature=other\nPartitionName=racks Nodes=\"first rack[1-3],\tn8\"\n"
        "PartitionName=both Nodes=both,first\nPartitionName=whole Nodes=n1,whole\nPartitionName=nobody Nodes=nobody\n";
    static const char named[] =
        "PartitionName=DEFAULT Topology=eth\nPartitionName=a Nodes=n1 Topology=ib\nPartitionName=b Nodes=n1\n";
    static const struct {
        const char *partition, *nodes; /* NULL nodes: fails */
    } cases[] = { { NULL, "n[1-4]" },
                  { "main", "n[1-4]" },
                  { "fast", "n[5-6]" },
                  { "all", "everything" },
                  { "none", "" },
                  { "slow", NULL },
                  { "sets", "n[1-2],n3,n[5,6]x[1-2],n9,g[1-2],h1,k[1-2]" },
                  { "both", "k3,n1,n2,n[1-2],n3" },
                  { "whole", "everything" },
                  { "racks", "n[1-2],n3,rack2,k3,n1,n8" },
                  { "nobody", "" } };
    struct slurm_partition p;
    struct err err;
    char path[64];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int rc = slurm_conf_parse("slurm.conf", text, sizeof(text) - 1, cases[i].partition, &p, &err);

        is_str(rc < 0    ? "none"
               : p.nodes ? p.nodes
                         : "everything",
               cases[i].nodes ? cases[i].nodes : "none", "partition %s: its nodes",
               cases[i].partition ? cases[i].partition : "by default");
        if (rc == 0)
            is_str(p.name, cases[i].partition ? cases[i].partition : "main", "its name");
        ok(rc < 0 ? strstr(err.text, "slurm.conf: ") != NULL : p.tree, "and switches, or the reason: %s",
           rc < 0 ? err.text : "");
        slurm_partition_free(&p);
    }
    ok(slurm_conf_parse("s", "PartitionName=a Default=YES Nodes=n1", 36, NULL, &p, &err) == 0 && !p.tree,
       "without TopologyPlugin there are no switches");
    slurm_partition_free(&p);
    ok(slurm_conf_parse("s", "PartitionName=a Nodes=n1", 24, NULL, &p, &err) < 0 &&
           strstr(err.text, "no partition is the default"),
       "%s", err.text);
    ok(slurm_conf_parse("s", "Partition", 9, NULL, &p, &err) < 0 && strstr(err.text, "s:1"),
       "a broken line: %s", err.text);
    ok(slurm_conf_parse("s", named, sizeof(named) - 1, "a", &p, &err) == 0 && p.topology,
       "a partition with a topology");
    is_str(p.topology ? p.topology : "", "ib", "its own line names it");
    slurm_partition_free(&p);
    ok(slurm_conf_parse("s", named, sizeof(named) - 1, "b", &p, &err) == 0 && p.topology, "another one");
    is_str(p.topology ? p.topology : "", "eth", "so may that of PartitionName=DEFAULT");
    slurm_partition_free(&p);
    ok(slurm_conf_parse("s", text, sizeof(text) - 1, "fast", &p, &err) == 0 && !p.topology,
       "else it is the default topology");
    slurm_partition_free(&p);
    setenv("SLURM_CONF", "/a/b/mine.conf", 1);
    slurm_conf_locate("topology.conf", path, sizeof(path));
    is_str(path, "/a/b/topology.conf", "files are beside SLURM_CONF");
    slurm_conf_locate(SLURM_CONF_NAME, path, sizeof(path));
    is_str(path, "/a/b/mine.conf", "which may have another name");
    unsetenv("SLURM_CONF");
}

/* ---- leaves ---- */

static void test_leaves(void)
{
    static const char text[] =
        "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-10]\nSwitchName=c Nodes=n[11-13]\nSwitchName=top Switches=a,b,c\n";
    static const struct {
        const char *nodes;
        uint32_t wanted, fewest, all;
        const char *want; /* part of the reason, or NULL */
    } cases[] = {
        { NULL, 6, 1, 3, NULL },       { NULL, 7, 2, 3, NULL },
        { NULL, 10, 2, 3, NULL },      { NULL, 11, 3, 3, NULL },
        { NULL, 13, 3, 3, NULL },      { NULL, 14, 0, 0, "there are 13" },
        { "n[1-5]", 4, 1, 2, NULL },   { "n[1-5]", 5, 2, 2, NULL },
        { "n1,n1,n5", 2, 2, 2, NULL }, { "n1,n1", 2, 0, 0, "there are 1" },
        { "n[1-4]", 2, 1, 1, NULL },   { "n1,x", 2, 0, 0, "node x is below no switch" },
        { "n[1-", 2, 0, 0, "n[1-" },
    };
    struct topology *t = topology_conf_parse("t", text, sizeof(text) - 1, NULL);
    struct leaves l;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int rc = leaves_count(t, cases[i].nodes, cases[i].wanted, &l, &err);

        if (cases[i].want)
            ok(rc < 0 && strstr(err.text, cases[i].want), "%u of %s: %s", cases[i].wanted,
               cases[i].nodes ? cases[i].nodes : "all", err.text);
        else
            ok(rc == 0 && l.fewest == cases[i].fewest && l.all == cases[i].all,
               "%u of %s: %u of %u leaf switches", cases[i].wanted, cases[i].nodes ? cases[i].nodes : "all",
               l.fewest, l.all);
    }
    topology_free(t);
}

/* ---- the advice ---- */

static const char *const *given; /* NAME=VALUE, ended by NULL */

static char *env(const char *name)
{
    size_t length = strlen(name);

    for (const char *const *e = given; *e; e++)
        if (!strncmp(*e, name, length) && (*e)[length] == '=')
            return (char *)(*e + length + 1);
    return NULL;
}

static void choose(struct advice *a, const char *line)
{
    const struct advice_files files = { topology, slurm };
    struct cmdline l;
    struct command c;

    make(&l, line);
    ok(command_read(&c, l.words, l.bytes, NULL) == 0, "%s: is read", line);
    advice_choose(a, &c, &files, env);
    cmdline_free(&l);
}

static void test_advice(void)
{
    static const struct {
        const char *line, *env, *want; /* "NODES FEWEST/ALL", or the reason's beginning */
    } cases[] = {
        { "sbatch -N4 job", NULL, "4 1/2" },
        { "salloc --nodes=2", NULL, "2 1/2" },
        { "srun -N3 a", NULL, "3 1/2" },
        { "srun a", "SLURM_JOB_NUM_NODES=3", "3 1/2" },
        { "srun a", "SLURM_NNODES=3", "3 1/2" },
        { "sbatch job", "SLURM_NNODES=3", "the number of nodes is not certain" },
        { "sbatch -n 7 --ntasks-per-node 2 job", NULL, "4 1/2" },
        { "sbatch -n 7 job", NULL, "the number of nodes is not certain" },
        { "sbatch -N2-4 job", NULL, "the number of nodes is not certain" },
        { "sbatch -N1 job", NULL, "the job asks for one node" },
        { "sbatch -N5 job", NULL, "the job needs all 2 leaf switches" },
        { "sbatch -N9 job", NULL, "the job asks for 9 nodes, and there are 8" },
        { "sbatch -p half -N2 job", NULL, "all nodes are below one switch" },
        { "sbatch -N2 job", "SBATCH_PARTITION=half", "all nodes are below one switch" },
        { "sbatch -N2 job", "SALLOC_PARTITION=half", "2 1/2" },
        { "sbatch -p half -N2 job", "SBATCH_PARTITION=main", "two partitions are given" },
        { "sbatch -p half,main -N2 job", NULL, "several partitions are given" },
        { "sbatch -N4 --switches=2 job", NULL, "--switches is given" },
        { "sbatch -N4 job", "SBATCH_REQ_SWITCH=2", "SBATCH_REQ_SWITCH is set" },
        { "salloc -N4", "SALLOC_WAIT4SWITCH=2", "SALLOC_WAIT4SWITCH is set" },
        { "srun -N4 a", "SLURM_REQ_SWITCH=2", "SLURM_REQ_SWITCH is set" },
        { "srun -N4 a", "SBATCH_REQ_SWITCH=2", "4 1/2" },
        { "sbatch -N4 -w n1 job", NULL, "--nodelist is given" },
        { "sbatch -N4 -x n1 job", NULL, "--exclude is given" },
        { "sbatch -N4 -C big job", NULL, "--constraint is given" },
        { "sbatch -N4 --reservation=r job", NULL, "--reservation is given" },
        { "sbatch -N4 -M other job", NULL, "--clusters is given" },
        { "sbatch -N4 job", "SLURM_CLUSTERS=other", "SLURM_CLUSTERS is set" },
        { "sbatch -N4 --use-min-nodes job", NULL, "the number of nodes is not certain with --use-min-nodes" },
        { "srun --jobid 7 -N4 a", NULL, "the number of nodes is not certain with --jobid" },
        { "srun -N4 a : -N2 b", NULL, "the job is heterogeneous" },
    };
    static const char tree[] =
        "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=top Switches=a,b\n";
    static const char conf[] =
        "TopologyPlugin=topology/tree\nPartitionName=main Nodes=n[1-8] Default=YES\nPartitionName=half Nodes=n[1-4]\n";
    static const char *const nothing[] = { NULL };
    struct advice a;

    write_file(topology, tree);
    write_file(slurm, conf);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *const with[] = { cases[i].env, NULL };
        char got[640];

        given = with;
        choose(&a, cases[i].line);
        if (a.result == ADVICE_FITS)
            snprintf(got, sizeof(got), "%u %u/%u", a.nodes, a.leaves.fewest, a.leaves.all);
        else
            snprintf(got, sizeof(got), "%.*s", (int)strlen(cases[i].want),
                     a.result == ADVICE_NONE ? a.text : "failed");
        is_str(got, cases[i].want, "%s, %s", cases[i].line, cases[i].env ? cases[i].env : "nothing set");
    }
    given = nothing;
    write_file(slurm, "PartitionName=main Nodes=n[1-8] Default=YES\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, "does not use topology/tree"), "Slurm knows no switches: %s",
       a.text);
    write_file(slurm, "TopologyPlugin=topology/tree\nPartitionName=main Nodes=n[1-9] Default=YES\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, "n9"), "a node that topology.conf lacks: %s", a.text);
    write_file(slurm, "broken\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_FAILED && strstr(a.text, slurm), "a broken slurm.conf\n%s", a.text);
    write_file(slurm, conf);
    write_file(topology, "SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_FAILED && strstr(a.text, topology), "a loop of switches\n%s", a.text);
    write_file(topology, "# none\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, ": no switch: "), "a topology.conf without switches\n%s",
       a.text);
    write_file(slurm, "TopologyPlugin=topology/tree\nPartitionName=main Default=YES\n");
    write_file(topology, "SwitchName=a Nodes=n[1-8]\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, "has no nodes"), "a partition without nodes\n%s", a.text);
    write_file(slurm, "TopologyPlugin=topology/tree\nPartitionName=main Nodes=switch{a} Default=YES\n");
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, "functions"), "functions of a newer Slurm\n%s", a.text);
    write_file(slurm, conf);
    unlink(topology);
    choose(&a, "sbatch -N4 job");
    ok(a.result == ADVICE_NONE && strstr(a.text, "there is no"), "no topology.conf\n%s", a.text);
}

/* ---- a Slurm with a prefix of its own ---- */

static void test_prefix(void)
{
    static const char *const made[] = { "bin", "etc", "bin/scontrol", "etc/slurm.conf" };
    char prefix[] = "/tmp/prefix-XXXXXX", list[128], path[128], want[128], file[4][64];
    char *before = strdup(getenv("PATH"));

    if (access("/etc/slurm/slurm.conf", F_OK) == 0 || access("/run/slurm/conf/slurm.conf", F_OK) == 0 ||
        !ok(!!mkdtemp(prefix), "a prefix")) {
        free(before);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
        snprintf(file[i], sizeof(file[i]), "%s/%s", prefix, made[i]);
        if (i < 2)
            mkdir(file[i], 0700);
        else
            write_file(file[i], "");
    }
    snprintf(list, sizeof(list), "/nowhere::%s/bin:/bin", prefix);
    setenv("PATH", list, 1);
    slurm_conf_locate(SLURM_CONF_NAME, path, sizeof(path));
    is_str(path, "/etc/slurm/slurm.conf", "a scontrol that cannot be run tells no prefix");
    chmod(file[2], 0700);
    slurm_conf_locate(SLURM_CONF_NAME, path, sizeof(path));
    is_str(path, file[3], "slurm.conf is found below the prefix of the scontrol in PATH");
    slurm_conf_locate("topology.conf", path, sizeof(path));
    snprintf(want, sizeof(want), "%s/etc/topology.conf", prefix);
    is_str(path, want, "topology.conf is looked for in the same folder");
    setenv("SLURM_CONF", "/a/b/mine.conf", 1);
    slurm_conf_locate(SLURM_CONF_NAME, path, sizeof(path));
    is_str(path, "/a/b/mine.conf", "SLURM_CONF has precedence over the prefix");
    unsetenv("SLURM_CONF");
    unlink(file[3]);
    slurm_conf_locate("topology.conf", path, sizeof(path));
    is_str(path, "/etc/slurm/topology.conf", "a prefix without slurm.conf is none of Slurm's");
    for (size_t i = ARRAY_SIZE(made); i-- > 0;)
        remove(file[i]);
    rmdir(prefix);
    setenv("PATH", before, 1);
    free(before);
}

/* ---- nodes to exclude ---- */

/* A program of this name answers in the controller's stead. */
static size_t ask_lemons(const char *answer, double limit_s, char list[LEMONS_SIZE])
{
    char path[64];
    size_t n;

    snprintf(path, sizeof(path), "%s/sgctl", folder);
    write_file(path, answer);
    chmod(path, 0700);
    n = lemons_ask("/nonexistent", limit_s, "n[1-8]", list);
    unlink(path);
    return n;
}

static void test_lemons(void)
{
    static const struct {
        const char *answer, *nodes, *want;
    } cases[] = {
        { "n3\n", NULL, "n3" },
        { "n3,n[7-8]\n", NULL, "n3,n7,n8" },
        { "n3,n7", "n[5-9]", "n7" },
        { "n3\n", "n[5-9]", "" },
        { "", NULL, "" },
        { "\n", NULL, "" },
        { "n3\nn4\n", NULL, "" },
        { "n3,$(reboot)\n", NULL, "" },
        { "sgctl: no controller\n", NULL, "" },
        { "n[1-99999]\n", NULL, "" },
        { "n[1-20]\n", NULL, "n1,n2,n3,n4,n5,n6,n7,n8,n9,n10,n11,n12,n13,n14,n15,n16" },
    };
    char list[LEMONS_SIZE], path[64];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t n = lemons_parse(cases[i].answer, cases[i].nodes, list);

        is_str(list, cases[i].want, "nodes to exclude, case %zu", i);
        ok((n > 0) == (*list != '\0'), "their number, case %zu", i);
    }
    snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
    setenv("PATH", path, 1);
    is_int((int)ask_lemons("#!/bin/sh\necho n3,x7\n", 60, list), 1,
           "sgctl answers with a node of the partition");
    is_str(list, "n3", "which is taken");
    is_int((int)ask_lemons("#!/bin/sh\necho n3\nexit 1\n", 60, list), 0, "sgctl fails: no nodes");
    is_int((int)ask_lemons("#!/bin/sh\necho n3\nexec sleep 1000\n", QUESTION_LIMIT_S, list), 0,
           "sgctl does not end: it is not waited for");
    is_int((int)ask_lemons("#!/bin/sh\nexec >&- 2>&-\nexec sleep 1000\n", QUESTION_LIMIT_S, list), 0,
           "nor if it closes its output");
    is_int((int)ask_lemons("#!/bin/sh\nyes n3\n", 60, list), 0, "sgctl prints without an end: no nodes");
    setenv("PATH", folder, 1);
    is_int((int)lemons_ask("/nonexistent", 60, NULL, list), 0, "there is no sgctl: no nodes");
}

int main(void)
{
    if (!mkdtemp(folder))
        return skip_all("there is no temporary folder");
    snprintf(topology, sizeof(topology), "%s/topology.conf", folder);
    snprintf(slurm, sizeof(slurm), "%s/slurm.conf", folder);
    snprintf(script, sizeof(script), "%s/job.sh", folder);
    unsetenv("SLURM_CONF");
    test_directives();
    test_programs();
    test_partitions();
    test_leaves();
    test_advice();
    test_prefix();
    test_lemons();
    unlink(slurm);
    unlink(script);
    rmdir(folder);
    return done_testing();
}
