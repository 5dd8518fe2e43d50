/* The order of a step's ranks at launch: what counts as decided by the user, how many tasks a node gets, and
 * the host file. */
#include "spank/placement.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "spank/args.h"
#include "tests/tap.h"

static char conf[] = "/tmp/placement-XXXXXX", slow[] = "/tmp/placement-XXXXXX";
static struct placement_files files = { conf, NULL, NULL };

/* NAME=VALUE, ended by NULL; and four that an allocation of n1 to n4 has, unless they are given. */
static const char *const *given;

static char *env(const char *name)
{
    static const char *const usual[] = { "SLURM_JOB_ID=7", "SLURM_JOB_NODELIST=n[1-4]",
                                         "SLURM_JOB_NUM_NODES=4", "SLURM_NNODES=4", NULL };
    const char *const *lists[] = { given, usual };
    size_t len = strlen(name);

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        for (const char *const *e = lists[i]; *e; e++)
            if (!strncmp(*e, name, len) && (*e)[len] == '=')
                return (*e)[len + 1] ? (char *)(*e + len + 1) : NULL;
    return NULL;
}

/* Words separated by blanks, as /proc has them. */
static size_t command_line(const char *text, char *words, size_t size)
{
    size_t n = (size_t)snprintf(words, size, "%s", text);

    for (size_t i = 0; i < n; i++)
        if (words[i] == ' ')
            words[i] = '\0';
    return n + 1;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    fputs(text, f);
    fclose(f);
}

static void write_conf(const char *text)
{
    write_file(conf, text);
}

static void choose(struct placement *p, const char *line, const char *pattern)
{
    struct pattern what = { .bytes = 1e8 };
    char words[512];
    size_t bytes = command_line(line, words, sizeof(words));

    ok(pattern_parse(&what, pattern, NULL) == 0, "%s: a pattern", pattern);
    placement_choose(p, &what, NULL, &files, true, words, bytes, env);
}

/* ---- the command line ---- */

static void test_command(void)
{
    static const struct {
        const char *line, *nodes, *tasks, *per_node, *decided, *unsure;
    } cases[] = {
        { "srun a.out", NULL, NULL, NULL, NULL, NULL },
        { "srun -N4 -n 8 --ntasks-per-node=2 a.out", "4", "8", "2", NULL, NULL },
        { "srun --nodes 4 --ntasks=8 --tasks-per-node 2 a.out", "4", "8", "2", NULL, NULL },
        { "srun -vln8 a.out", NULL, "8", NULL, NULL, NULL },
        { "srun --sync-guard python -m train -w 3 -n 5", NULL, NULL, NULL, NULL, NULL },
        { "srun --label -- -w", NULL, NULL, NULL, NULL, NULL },
        { "srun -w n1 a.out", NULL, NULL, NULL, "nodelist", NULL },
        { "srun --nodelist=n1 a.out", NULL, NULL, NULL, "nodelist", NULL },
        { "srun --nodelis n1 a.out", NULL, NULL, NULL, "nodelist", NULL },
        { "srun -mblock a.out", NULL, NULL, NULL, "distribution", NULL },
        { "srun --dist cyclic -n4 a.out", NULL, "4", NULL, "distribution", NULL },
        { "srun -x n2 a.out", NULL, NULL, NULL, "exclude", NULL },
        { "srun --relative=1 a.out", NULL, NULL, NULL, "relative", NULL },
        { "srun -lr1 a.out", NULL, NULL, NULL, "relative", NULL },
        { "srun -J -w a.out", NULL, NULL, NULL, NULL, NULL },
        { "srun --job-name -m a.out", NULL, NULL, NULL, NULL, NULL },
        { "srun -K1 -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun -Im -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun --exclusive -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun --exclusive=user -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun --newer=4 -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun --newer -n4 a.out", NULL, "4", NULL, NULL, NULL },
        { "srun -n1 a : -n2 b", NULL, "1", NULL, NULL, ":" },
        { "srun -Z a.out", NULL, NULL, NULL, NULL, "no-allocate" },
        { "srun --ntasks-per-gpu=1 a.out", NULL, NULL, NULL, NULL, "ntasks-per-gpu" },
    };
    static const char *const unreadable[] = { "srun --newer 4 a.out", "srun -y a.out", "srun --n 4 a.out" };
    struct command c;
    struct err err;
    char words[256];

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        size_t bytes = command_line(cases[i].line, words, sizeof(words));
        int rc = command_read(&c, words, bytes, &err);

        ok(rc == 0 && !strcmp(c.nodes ? c.nodes : "", cases[i].nodes ? cases[i].nodes : "") &&
               !strcmp(c.tasks ? c.tasks : "", cases[i].tasks ? cases[i].tasks : "") &&
               !strcmp(c.tasks_per_node ? c.tasks_per_node : "", cases[i].per_node ? cases[i].per_node : ""),
           "%s: nodes, tasks and tasks per node", cases[i].line);
        is_str(c.decided ? c.decided : "none", cases[i].decided ? cases[i].decided : "none",
               "%s: where ranks run", cases[i].line);
        is_str(c.unsure ? c.unsure : "none", cases[i].unsure ? cases[i].unsure : "none", "%s: the size",
               cases[i].line);
    }
    for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
        size_t bytes = command_line(unreadable[i], words, sizeof(words));

        ok(command_read(&c, words, bytes, &err) < 0 && strstr(err.text, "is not known"), "%s: unreadable",
           unreadable[i]);
    }
    ok(command_read(&c, "srun\0-n4", 8, &err) == 0 && !c.tasks, "a last word without its end is not read");
    ok(command_read(&c, "", 0, &err) < 0, "an empty command line is unreadable");
}

/* ---- the tasks ---- */

static void test_tasks(void)
{
    static const struct {
        const char *line, *env[4], *want; /* "2,2,1,1", or the reason */
    } cases[] = {
        { "srun a", { NULL }, "1,1,1,1" },
        { "srun -n4 a", { NULL }, "1,1,1,1" },
        { "srun -n8 --ntasks-per-node=2 a", { NULL }, "2,2,2,2" },
        { "srun -n8 a", { "SLURM_NTASKS_PER_NODE=2" }, "2,2,2,2" },
        { "srun -n8 a", { "SLURM_JOB_CPUS_PER_NODE=2(x4)" }, "2,2,2,2" },
        { "srun -n8 a", { "SLURM_JOB_CPUS_PER_NODE=3(x2),1(x2)" }, "3,3,1,1" },
        { "srun a",
          { "SLURM_NTASKS=7", "SLURM_TASKS_PER_NODE=2(x3),1", "SLURM_JOB_CPUS_PER_NODE=4(x4)" },
          "2,2,2,1" },
        { "srun a", { "SLURM_NTASKS=8", "SLURM_NTASKS_PER_NODE=2", "SLURM_CPUS_PER_TASK=3" }, "2,2,2,2" },
        { "srun -n6 a",
          { "SLURM_NTASKS=7", "SLURM_TASKS_PER_NODE=2(x3),1" },
          "how many tasks each node gets is not certain" },
        { "srun -n8 a", { "SLURM_JOB_CPUS_PER_NODE=4(x4)" }, "how many tasks each node gets is not certain" },
        { "srun -n8 -c2 a",
          { "SLURM_JOB_CPUS_PER_NODE=2(x4)" },
          "how many tasks each node gets is not certain" },
        { "srun -n6 --ntasks-per-node=2 a", { NULL }, "how many tasks each node gets is not certain" },
        { "srun --ntasks-per-node=2 a", { NULL }, "the number of tasks is not certain" },
        { "srun -n3x a", { NULL }, "the number of tasks is not certain" },
        { "srun -n3 a", { NULL }, "there are fewer tasks than nodes" },
        { "srun -N2 a", { NULL }, "the step may have other nodes than the 4" },
        { "srun -N2-4 a", { NULL }, "the step may have other nodes than the 4" },
        { "srun a", { "SLURM_NNODES=3" }, "the step may have other nodes than the 4" },
        { "srun -N4 a", { "SLURM_NNODES=3" }, "1,1,1,1" },
        { "srun a", { "SLURM_JOB_NODELIST=n1" }, "the allocation has one node" },
        { "srun a", { "SLURM_JOB_NODELIST=n[1-" }, "SLURM_JOB_NODELIST" },
        { "srun a", { "SLURM_JOB_NODELIST=n[1-99999999]" }, "SLURM_JOB_NODELIST" },
        { "srun a", { "SLURM_JOB_ID=" }, "srun was not started inside an allocation" },
        { "srun a", { "SLURM_HOSTFILE=/a" }, "SLURM_HOSTFILE is set" },
        { "srun a", { "SLURM_DISTRIBUTION=cyclic" }, "SLURM_DISTRIBUTION is set" },
        { "srun a", { "SLURM_HET_SIZE=2" }, "the step's size is not certain with SLURM_HET_SIZE" },
        { "srun a", { "SLURM_STEP_ID=3" }, "srun was started inside a step" },
        { "srun a", { "SLURM_STEP_ID=4294967290" }, "1,1,1,1" },
        { "srun -w n1 a", { NULL }, "--nodelist is given" },
        { "srun -m block a", { NULL }, "--distribution is given" },
        { "srun a : b", { NULL }, "the step is heterogeneous" },
        { "srun -B 1 a", { NULL }, "the step's size is not certain with --extra-node-info" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *with[5] = { NULL };
        struct tasks t;
        struct command c;
        struct err err = { "" };
        char words[256], got[512] = "";
        size_t bytes = command_line(cases[i].line, words, sizeof(words));

        memcpy(with, cases[i].env, sizeof(cases[i].env));
        given = with;
        command_read(&c, words, bytes, NULL);
        if (tasks_read(&t, &c, env, &err) < 0) {
            snprintf(got, sizeof(got), "%.*s", (int)strlen(cases[i].want), err.text);
        } else {
            for (size_t n = 0; n < t.n; n++)
                snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u", n ? "," : "", t.node[n].ranks);
            ok(!strcmp(t.node[0].name, "n1") && !strcmp(t.node[t.n - 1].name, "n4"),
               "case %zu: nodes in the order of the list", i);
            tasks_free(&t);
        }
        is_str(got, cases[i].want, "%s, %s", cases[i].line,
               cases[i].env[0] ? cases[i].env[0] : "nothing set");
    }
}

/* ---- the order ---- */

#define SCRAMBLED "SwitchName=a Nodes=n1,n3\nSwitchName=b Nodes=n2,n4\nSwitchName=top Switches=a,b\n"

static void test_choice(void)
{
    static const char *const nothing[] = { NULL }, *const four[] = { "SLURM_NTASKS=8",
                                                                     "SLURM_TASKS_PER_NODE=3,2,2,1", NULL };
    struct placement p;

    given = nothing;
    write_conf(SCRAMBLED);
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_BETTER && p.chosen_s < p.slurm_s, "nodes in turn on two switches: %s", p.text);
    is_str(p.hosts ? p.hosts : "", "n1\nn3\nn2\nn4\n", "the host file follows the switches");
    placement_free(&p);
    choose(&p, "srun a", "pipeline:2x2");
    ok(p.result == PLACEMENT_SLURM && !p.hosts && p.chosen_s <= p.slurm_s,
       "a gain of less than 1 %% is none: %s", p.text);
    placement_free(&p);
    given = four;
    choose(&p, "srun a", "ring");
    is_str(p.hosts ? p.hosts : "", "n1\nn1\nn1\nn3\nn3\nn2\nn2\nn4\n",
           "the host file keeps the tasks of each node");
    placement_free(&p);
    given = nothing;
    choose(&p, "srun -w n1 a", "ring");
    ok(p.result == PLACEMENT_LEFT && !p.hosts && !strcmp(p.text, "--nodelist is given"), "-w: left alone");
    choose(&p, "srun a", "groups:3");
    ok(p.result == PLACEMENT_FAILED && !p.hosts && strstr(p.text, "groups:3"),
       "a pattern that does not fit: %s", p.text);

    write_conf("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\nSwitchName=top Switches=a,b\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_SLURM && !p.hosts, "an order that is good already is kept: %s", p.text);
    write_conf("SwitchName=a Nodes=n[1-3]\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_FAILED && !p.hosts && strstr(p.text, "n4"),
       "a node that topology.conf lacks\n%s", p.text);
    write_conf("SwitchName=a Switches=b\nSwitchName=b Switches=a\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_FAILED && !p.hosts && *p.text, "a loop of switches\n%s", p.text);
    write_conf("SwitchName=a Nodes=n[1-4\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_FAILED && !p.hosts && strstr(p.text, conf), "a broken line\n%s", p.text);
    unlink(conf);
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_LEFT && !p.hosts && strstr(p.text, "there is no"), "no topology.conf\n%s",
       p.text);
}

/* ---- one of several topologies ---- */

static void test_partition(void)
{
    static const struct {
        const char *partition, *hosts; /* NULL hosts: as Slurm has them */
        enum placement_result result;
    } cases[] = {
        { NULL, NULL, PLACEMENT_SLURM },
        { "SLURM_JOB_PARTITION=usual", NULL, PLACEMENT_SLURM },
        { "SLURM_JOB_PARTITION=turns", "n1\nn3\nn2\nn4\n", PLACEMENT_BETTER },
        { "SLURM_JOB_PARTITION=plain", NULL, PLACEMENT_LEFT },
        { "SLURM_JOB_PARTITION=wrong", NULL, PLACEMENT_FAILED },
        { "SLURM_JOB_PARTITION=none", NULL, PLACEMENT_LEFT },
    };
    char yaml[64], slurm[64];
    struct placement p;

    snprintf(yaml, sizeof(yaml), "%s.yaml", conf);
    snprintf(slurm, sizeof(slurm), "%s.slurm", conf);
    write_file(
        yaml,
        "- topology: turns\n  tree: {switches: [{switch: a, nodes: 'n[1,3]'}, {switch: b, nodes: 'n[2,4]'},"
        " {switch: top, children: 'a,b'}]}\n"
        "- topology: all\n  cluster_default: true\n  tree: {switches: [{switch: s, nodes: 'n[1-4]'}]}\n"
        "- topology: flat\n  flat: true\n");
    write_file(slurm, "PartitionName=usual Nodes=n[1-4]\nPartitionName=turns Nodes=n[1-4] Topology=turns\n"
                      "PartitionName=DEFAULT Nodes=n[1-4] Topology=flat\nPartitionName=plain\n"
                      "PartitionName=wrong Topology=other\n");
    files = (struct placement_files){ yaml, slurm, NULL };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const char *const said[] = { cases[i].partition, NULL };

        given = said;
        choose(&p, "srun a", "ring");
        if (strstr(p.text, "libyaml")) {
            printf("# not tried: %s\n", p.text);
            break;
        }
        is_int(p.result, cases[i].result, "%s: %s", said[0] ? said[0] : "without a partition", p.text);
        is_str(p.hosts ? p.hosts : "", cases[i].hosts ? cases[i].hosts : "", "the order");
        placement_free(&p);
    }
    files = (struct placement_files){ conf, NULL, NULL };
    unlink(yaml);
    unlink(slurm);
}

/* ---- slow links ---- */

/* As if measured that long ago. */
static void write_slow(time_t ago_s, const char *lines)
{
    time_t at = time(NULL) - ago_s;
    char text[512], when[32];
    struct tm tm;

    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    snprintf(text, sizeof(text), "Measured=%s Nodes=4\n%s", when, lines);
    write_file(slow, text);
}

static void test_measured(void)
{
    static const char *const nothing[] = { NULL };
    struct placement p;

    given = nothing;
    files.measured = slow;
    write_conf("SwitchName=a Nodes=n[1-4]\n");
    write_slow(3600, "Pair=n1,n2 Slower=4\n");
    choose(&p, "srun a", "ring");
    is_str(p.hosts ? p.hosts : "", "n4\nn2\nn3\nn1\n", "the host file keeps the nodes of a slow pair apart");
    ok(strstr(p.text, "; 1 of the cluster's links was slow 1 hour ago"), "that links are slow is said: %s",
       p.text);
    placement_free(&p);
    write_slow(49 * 3600, "Pair=n1,n2 Slower=4\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_SLURM && !p.hosts &&
           strstr(p.text, " is 49 hours old and was not used (limit: 48)"),
       "an old file is not used, which is said\n%s", p.text);
    write_slow(-3600, "Pair=n1,n2 Slower=4\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_SLURM && strstr(p.text, "of the future and was not used"),
       "a file of the future is not used\n%s", p.text);
    write_slow(3600, "");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_SLURM && !strchr(p.text, ';'), "nothing was slow: nothing is said: %s", p.text);
    write_slow(3600, "Pair=n1 Slower=4\n");
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_FAILED && !p.hosts && strstr(p.text, slow) &&
           strstr(p.text, ":2: Pair=n1: two nodes are accepted"),
       "a broken file\n%s", p.text);
    unlink(slow);
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_SLURM && !strchr(p.text, ';'), "no file: as without one: %s", p.text);
    files.measured = NULL;
}

/* ---- what an earlier run communicated ---- */

static struct {
    const char *pattern; /* the answer; NULL: none */
    int times;
    char asked[64];
} earlier;

static bool answer(struct pattern *p, const char *name, uint32_t ranks, uint32_t nodes)
{
    earlier.times++;
    snprintf(earlier.asked, sizeof(earlier.asked), "%s %u %u", name, ranks, nodes);
    return earlier.pattern && pattern_parse(p, earlier.pattern, NULL) == 0;
}

static void choose_by_earlier(struct placement *p, const char *line, const char *pattern)
{
    struct pattern what = { .kind = PATTERN_RING, .bytes = 1e8 };
    char words[512];
    size_t bytes = command_line(line, words, sizeof(words));

    earlier.pattern = pattern;
    earlier.times = 0;
    placement_free(p);
    placement_choose(p, &what, answer, &files, false, words, bytes, env);
}

static void test_earlier(void)
{
    static const char *const named[] = { "SLURM_JOB_NAME=train", "SLURM_NTASKS_PER_NODE=2", "SLURM_NTASKS=8",
                                         NULL },
                             *const none[] = { NULL };
    struct placement p = { .hosts = NULL };
    char name[PATTERN_NAME_SIZE];

    write_conf("SwitchName=a Nodes=n[1,3]\nSwitchName=b Nodes=n[2,4]\nSwitchName=top Switches=a,b\n");
    given = named;
    choose_by_earlier(&p, "srun a", "pipeline:4x2");
    ok(p.result == PLACEMENT_BETTER &&
           strstr(p.text, "pipeline:4x2 (from the job's last run), 8 ranks on 4 nodes"),
       "its pattern is used: %s", p.text);
    is_str(pattern_name(&p.pattern, name), "pipeline:4x2", "and told");
    is_str(earlier.asked, "train 8 4", "it is asked for the job, its ranks and nodes");
    is_int(earlier.times, 1, "once");
    choose_by_earlier(&p, "srun -J test a", "ring");
    is_str(earlier.asked, "test 8 4", "by the name that srun is given");
    choose_by_earlier(&p, "srun a", NULL);
    ok(p.result == PLACEMENT_BETTER && !strncmp(p.text, "ring, 8 ranks", 13),
       "no answer: as without an earlier run: %s", p.text);
    choose_by_earlier(&p, "srun -w n1 a", "ring");
    is_int(earlier.times, 0, "a step that the user placed: nobody is asked");
    given = none;
    choose_by_earlier(&p, "srun a", "ring");
    is_int(earlier.times, 0, "a job without a name: nobody is asked");
    placement_free(&p);
}

/* Of latencies of 1 us a link, and links of 12.5 GB/s, of which a switch of two nodes has one up
 * (topology_usual). */
static void test_algorithms(void)
{
    static const char *const none[] = { NULL };
    struct placement p;

    write_conf("SwitchName=a Nodes=n[1,3]\nSwitchName=b Nodes=n[2,4]\nSwitchName=top Switches=a,b\n");
    given = none;
    choose(&p, "srun a", "ring");
    ok(p.result == PLACEMENT_BETTER && p.ranks == 4 && p.nodes == 4, "4 ranks whose order is bad");
    is_near(p.slurm[ALGORITHM_DOUBLING].fixed_s, 6e-6, 1e-9,
            "recursive doubling: a round through the top, and one below a switch");
    is_near(p.chosen[ALGORITHM_RABENSEIFNER].fixed_s, 12e-6, 1e-9, "Rabenseifner's: each of them twice");
    is_near(p.chosen[ALGORITHM_RING].fixed_s, 24e-6, 1e-9, "a ring: six rounds through the top");
    is_near(p.slurm[ALGORITHM_DOUBLING].s_per_byte, 3 / 12.5e9, 1e-9,
            "recursive doubling: two vectors share the link up, and one below a switch");
    is_near(p.slurm[ALGORITHM_RABENSEIFNER].s_per_byte, 2.5 / 12.5e9, 1e-9,
            "Rabenseifner's in Slurm's order: the halves share the link up");
    is_near(p.chosen[ALGORITHM_RABENSEIFNER].s_per_byte, 2 / 12.5e9, 1e-9,
            "in the order chosen: the quarters");
    is_near(p.chosen[ALGORITHM_RING].s_per_byte, 1.5 / 12.5e9, 1e-9, "a ring: one message on each link");
    placement_free(&p);
}

/* 16,384 nodes, 64 of each switch, dealt out to the switches in turn. */
static void test_large(void)
{
    static const char *const with[] = { "SLURM_JOB_NODELIST=n[1-16384]", "SLURM_JOB_NUM_NODES=16384",
                                        "SLURM_NNODES=16384", NULL };
    static const char *const patterns[] = { "ring", "halving", "groups:64", "pipeline:64x256" };
    FILE *f = fopen(conf, "we");
    struct timespec t0, t1;
    struct placement p;

    for (int s = 0; s < 256; s++) {
        fprintf(f, "SwitchName=s%d Nodes=n%d", s, s + 1);
        for (int i = 1; i < 64; i++)
            fprintf(f, ",n%d", 256 * i + s + 1);
        fprintf(f, "\n");
    }
    fprintf(f, "SwitchName=top Switches=s[0-255]\n");
    fclose(f);
    given = with;
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t0);
        choose(&p, "srun a", patterns[i]);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t1);
        ok(p.result >= PLACEMENT_SLURM && p.chosen_s <= p.slurm_s,
           "16,384 nodes: the chosen order costs no more than Slurm's\n%.2f s: %s",
           (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec), p.text);
        placement_free(&p);
    }
    unlink(conf);
}

/* ---- the option ---- */

static void test_option(void)
{
    static const struct {
        const char *text;
        enum choice_kind kind;
        int placement;
        const char *policy, *pattern;
    } good[] = {
        { "night", CHOICE_POLICY, ARGS_UNSAID, "night", "ring" },
        { "placement=on", CHOICE_DEFAULT, 2, "", "ring" },
        { "on,placement=ADVISE", CHOICE_DEFAULT, 1, "", "ring" },
        { "night,placement=off,groups=8", CHOICE_POLICY, 0, "night", "groups:8" },
        { "pattern=pipeline:8x4,night", CHOICE_POLICY, ARGS_UNSAID, "night", "pipeline:8x4" },
        { "off,placement=on", CHOICE_OFF, 2, "", "ring" },
        { "", CHOICE_DEFAULT, ARGS_UNSAID, "", "ring" },
    };
    static const struct {
        const char *text, *want;
    } bad[] = {
        { "placement=maybe", "placement=maybe: off, advise and on are accepted" },
        { "colour=red", "unknown argument 'colour=red'" },
        { "night,day", "one policy is accepted" },
        { "pattern=star", "pattern 'star' is not accepted" },
        { "groups=0", "pattern 'groups=0' is not accepted" },
    };
    char name[PATTERN_NAME_SIZE];
    struct choice c;
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        int rc = choice_parse(&c, good[i].text, &err);

        ok(rc == 0 && c.kind == good[i].kind && c.placement == good[i].placement &&
               !strcmp(c.policy, good[i].policy),
           "--sync-guard=%s: policy and placement", good[i].text);
        ok(c.patterned == (strstr(good[i].text, "pattern=") || strstr(good[i].text, "groups=")),
           "--sync-guard=%s: whether a pattern is given", good[i].text);
        is_str(pattern_name(&c.pattern, name), good[i].pattern, "--sync-guard=%s: pattern", good[i].text);
    }
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(choice_parse(&c, bad[i].text, &err) < 0 && strstr(err.text, bad[i].want),
           "--sync-guard=%s is refused: %s", bad[i].text, err.text);
}

int main(void)
{
    int fd = mkstemp(conf), second = mkstemp(slow);

    if (fd < 0 || second < 0)
        return skip_all("there is no temporary folder");
    close(fd);
    close(second);
    test_command();
    test_tasks();
    test_earlier();
    test_choice();
    test_partition();
    test_measured();
    test_algorithms();
    test_large();
    test_option();
    return done_testing();
}
