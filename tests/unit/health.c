/* Health of a node and of its processes: parsers on recorded texts, then a whole tree. */
#include "nodefigures/health.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodefigures/health_text.h"
#include "tests/tap.h"
#include "tests/tree.h"

static const char *recorded(const char *name)
{
    static char text[16384];
    const char *top = getenv("top_srcdir");
    char path[4096];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/fuzz/health_text.corpus/%s", top ? top : ".", name);
    f = fopen(path, "re");
    if (f) {
        n = fread(text, 1, sizeof(text) - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    return text;
}

/* ---- texts ---- */

static void cpusets(void)
{
    static const struct {
        const char *text;
        int n; /* -1: refused */
    } cases[] = {
        { "0-3,8,10-11\n", 7 }, { "5", 1 },       { "0-1,1-2\n", 3 },   { "\n", 0 },
        { "3-1", -1 },          { "a", -1 },      { "1-", -1 },         { "1,-2", -1 },
        { "1;2", -1 },          { "999999", -1 }, { "2047-99999", -1 }, { "1 2", -1 },
        { "2047", 1 },          { "0-2048", -1 },
    };
    struct cpuset s, all;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int rc = cpuset_parse(&s, cases[i].text);

        ok(rc < 0 ? cases[i].n < 0 && !s.n : (int)s.n == cases[i].n, "the CPUs \"%.*s\" are %d",
           (int)strcspn(cases[i].text, "\n"), cases[i].text, cases[i].n);
    }
    cpuset_parse(&s, "1,64");
    cpuset_parse(&all, "0-64");
    ok(cpuset_within(&s, &all) && !cpuset_within(&all, &s),
       "a set is within a larger one, and not the reverse");
    ok(cpuset_next(&s, 0) == 1 && cpuset_next(&s, 2) == 64 && cpuset_next(&s, 65) == CPUSET_MAX,
       "cpuset_next() finds a set's CPUs in order");
}

static void node_texts(void)
{
    static struct health_ticks cpu[4];
    struct health_nic nic[8];
    struct health_stat s;
    char path[128];
    uint64_t n;

    ok(health_text_stat(recorded("stat"), &s, cpu, 4), "/proc/stat is parsed");
    ok(s.n == 2 && s.running == 9, "/proc/stat has two CPUs and 9 tasks running or ready");
    ok(s.all.total == cpu[0].total + cpu[1].total && s.all.steal == 3744,
       "/proc/stat: total ticks are the sum of both CPUs'");
    ok(!health_text_stat("intr 0\n", &s, cpu, 4) && s.running == UINT32_MAX,
       "/proc/stat without CPU lines is refused, and the running tasks are unknown");
    ok(health_text_stat("cpu  1 2 3 4\n", &s, cpu, 4) && s.all.busy == 6 && s.all.steal == 0 &&
           s.running == UINT32_MAX,
       "a short or cut /proc/stat gives the fields it has");
    ok(health_text_pressure(recorded("pressure"), &n) && n == 3619413836,
       "a pressure file gives the time in which some task waited");
    ok(!health_text_pressure("full avg10=0.00 total=5\n", &n),
       "a pressure file without the line 'some' is refused");
    ok(!health_text_pressure("some avg10=0.00\nfull avg10=0.00 total=5\n", &n),
       "the total of the line 'full' is not taken for that of 'some'");
    ok(health_text_value(recorded("vmstat"), "pswpout", &n) && n == 30,
       "pages swapped out are read from /proc/vmstat");
    ok(!health_text_value(recorded("vmstat"), "pswp", &n),
       "the prefix of a key in /proc/vmstat is not found");
    ok(health_text_table(recorded("snmp"), "Tcp", "RetransSegs", &n) && n == 77,
       "retransmitted segments are read from /proc/net/snmp");
    ok(!health_text_table(recorded("snmp"), "Udp", "InErrors", &n),
       "a group missing in /proc/net/snmp is unknown");
    is_int((long long)health_text_nics(recorded("dev"), nic, 8), 2,
           "/proc/net/dev has two interfaces besides the loopback");
    ok(!strcmp(nic[1].name, "eth0") && nic[1].errors == 1 + 2 + 3 + 4,
       "errors and drops of both directions are added");
    ok(health_text_cgroup(recorded("cgroup"), path, sizeof(path)), "/proc/PID/cgroup is parsed");
    is_str(path, "/system.slice/slurmstepd.scope/job_12/step_0", "the cgroup is the step's, not the task's");
    ok(!health_text_cgroup("4:memory:/x\n", path, sizeof(path)) &&
           !health_text_cgroup("0::/0123456789\n", path, 5),
       "a cgroup of the old hierarchy, or one that does not fit, is refused");
}

static void process_texts(void)
{
    struct health_process p;
    struct health_status s;
    uint64_t run, delay;

    ok(health_text_schedstat(recorded("schedstat"), &run, &delay) && delay == 340000000,
       "schedstat gives the time on a CPU and the time ready without one");
    ok(!health_text_schedstat("123\n", &run, &delay), "schedstat with one number is refused");
    ok(health_text_process(recorded("process"), &p),
       "/proc/PID/stat of a process whose name contains brackets and blanks is parsed");
    ok(p.cpu_ticks == 1000 && p.major_faults == 17 && p.started == 8415 && p.cpu == 5,
       "/proc/PID/stat gives faults, ticks, start and CPU");
    ok(!health_text_process("1 (x) R 1 2\n", &p), "a short /proc/PID/stat is refused");
    ok(health_text_status(recorded("status"), &s), "/proc/PID/status is parsed");
    ok(s.uid == 1000 && s.pid == 12 && s.voluntary == 150 && s.involuntary == 2511 && s.cpus.n == 8,
       "/proc/PID/status gives user, process id in its own namespace, switches and CPUs");
    ok(s.signals_known && s.endured == (1ull << 63 | 1 << 16 | 1 << 12 | 1 << 9),
       "the signals that do not end a process are those that it catches, ignores or blocks");
    is_str(s.cpus_text, "0-3,64-67", "the text of the allowed CPUs is as in the file");
    ok(health_text_status("Pid:\t1\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0,2,4,6,8,10,12,14,16,18,20,22,24\n"
                          "voluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t1\n",
                          &s),
       "/proc/PID/status with many CPUs is parsed");
    ok(!s.signals_known, "without lines of signals these are unknown");
    is_str(s.cpus_text, "0,2,4,6,8,10,12,14,16,18,20..", "a long text of allowed CPUs is cut after a number");
}

/* ---- a tree ---- */

static unsigned long long caught; /* by every process */

static void put_process(int pid, const char *cpus, long long delay_ns, int ticks, int involuntary)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    put(path,
        "%d (t) R 1 1 1 0 1 0 1 0 0 0 %d 0 0 0 20 0 1 0 77 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 1 0 0 0 0 0 1 1 "
        "1 1 1 1 1 0",
        pid, ticks);
    snprintf(path, sizeof(path), "proc/%d/schedstat", pid);
    put(path, "1 %lld 1\n", delay_ns);
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    put(path,
        "Pid:\t%d\nUid:\t%u\t%u\t0\t0\nNSpid:\t%d\nSigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\nCpus_allowed_list:\t%s\nvoluntary_ctxt_switches:\t0\n"
        "nonvoluntary_ctxt_switches:\t%d\n",
        pid, geteuid(), geteuid(), pid, 0ull, 0ull, caught, cpus, involuntary);
}

static struct telemetry_item told[32];
static size_t n_told;

static void take(const struct telemetry_item *item, void *arg)
{
    (void)arg;
    if (n_told < ARRAY_SIZE(told))
        told[n_told++] = *item;
}

static const struct telemetry_item *find(enum telemetry_kind kind, uint32_t rank)
{
    for (size_t i = n_told; i-- > 0;)
        if (told[i].kind == kind && (kind == TELEMETRY_NODE || told[i].task.rank == rank))
            return &told[i];
    return NULL;
}

static void look(struct health *h, double now_s)
{
    n_told = 0;
    for (uint32_t r = 0; r < 3; r++)
        health_rank(h, r, 0, (pid_t)(100 + r));
    health_look(h, now_s, take, NULL);
}

/* Ticks of two CPUs in a second: cpu0 all busy, cpu1 half; steal on cpu1. */
static void put_second(int second)
{
    int t = 100 * (int)sysconf(_SC_CLK_TCK) / 100 * (second + 1);

    put("proc/stat",
        "cpu  %d 0 0 %d 0 0 0 %d\ncpu0 %d 0 0 0 0 0 0 0\ncpu1 %d 0 0 %d 0 0 0 %d\nprocs_running 4\n",
        t + t / 2, t / 4, t / 4, t, t / 2, t / 4, t / 4);
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1900000\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n");
    put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "%d\n", 7 * second);
    put("proc/pressure/memory", "some avg10=0 total=%d\n", 180000 * second);
    put("proc/net/dev",
        "a\nb\n  eth0: 0 0 %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n  eth1: 0 0 5 5 0 0 0 0 0 0 0 0 0 0 0 0\n",
        210 * second);
    put("sys/class/infiniband/mlx5_0/ports/1/hw_counters/packet_seq_err", "%d\n", second);
}

static void a_node(void)
{
    const struct telemetry_item *node, *task;
    struct health *h;
    int hz = (int)sysconf(_SC_CLK_TCK);

    tree_new();
    put_second(0);
    put_process(100, "0", 0, 0, 0);
    put_process(101, "1", 0, 0, 0);
    put_process(102, "0-1", 0, 0, 0);
    h = health_new(root);
    look(h, 10);
    node = find(TELEMETRY_NODE, 0);
    task = find(TELEMETRY_TASK, 1);
    ok(node && node->node.run_queue == 3 && node->node.cpus == 2 && isnan(node->node.steal_ratio) &&
           isnan(node->node.nic_errors_per_s),
       "rates are unknown, not zero, in the first look");
    ok(task && !strcmp(task->task.cpus, "1") && task->task.n_cpus == 1 && isnan(task->task.run_delay_ratio),
       "the first look has a rank's CPUs");
    ok(!task->task.flags && find(TELEMETRY_TASK, 2)->task.flags == TASK_SHARED_CPU,
       "of three ranks on two CPUs, the one that may run on both shares CPUs");

    put_second(1);
    put_process(100, "0", 340000000, hz / 2, 250);
    put_process(101, "1", 0, hz / 4, 0);
    put_process(102, "0-1", 0, 0, 0);
    look(h, 11);
    node = find(TELEMETRY_NODE, 0);
    ok(node && near(node->node.steal_ratio, 0.125, 1e-3) && near(node->node.busy_ratio, 0.75, 1e-3),
       "steal is a share of the time of all CPUs");
    ok(near(node->node.frequency_hz, 1.9e9, 1e-3) && near(node->node.frequency_ratio, 0.5, 1e-3),
       "the clock is read from a busy CPU");
    ok(near(node->node.memory_pressure_ratio, 0.18, 1e-3) && isnan(node->node.throttled_per_s),
       "the second look has memory pressure, but no throttling: the ranks' CPUs were unknown before");
    ok(isnan(node->node.io_pressure_ratio) && isnan(node->node.swap_per_s) && isnan(node->node.quota_ratio),
       "figures of a missing file are unknown");
    ok(near(node->node.nic_errors_per_s, 210, 1e-3) && !strcmp(node->node.nic, "eth0"),
       "network errors are reported with their interface");
    task = find(TELEMETRY_TASK, 0);
    ok(near(task->task.run_delay_ratio, 0.34, 1e-3) && near(task->task.involuntary_per_s, 250, 1e-3) &&
           near(task->task.cpu_ratio, 0.5, 1e-3),
       "a rank that waited 34 %% of the time for its CPU is reported so");
    ok(near(task->task.foreign_ratio, 0.5, 1e-3), "the share of another process on a rank's CPU is half");

    put_second(2);
    look(h, 12);
    ok(near(find(TELEMETRY_NODE, 0)->node.throttled_per_s, 7, 1e-3), "the third look has throttling");
    put_second(3);
    look(h, 13);
    ok(!find(TELEMETRY_TASK, 1), "figures that did not change are not sent again");
    look(h, 17.5);
    ok(find(TELEMETRY_TASK, 1) && find(TELEMETRY_NODE, 0),
       "figures that did not change are sent again after 5 s");
    put_process(101, "0", 0, hz / 4, 0);
    look(h, 19);
    ok(find(TELEMETRY_TASK, 1)->task.flags == TASK_SHARED_CPU && find(TELEMETRY_TASK, 0)->task.flags,
       "two ranks bound to one CPU are marked as sharing it");
    ok(!health_has_too_many_cpus(h), "CPUs that fit into a set are not too many");
    put_process(101, "0-4095", 0, hz / 4, 0);
    look(h, 19.5);
    task = find(TELEMETRY_TASK, 1);
    ok(task && task->task.n_cpus == 0 && task->task.numa == -1 && !task->task.flags &&
           !strcmp(task->task.cpus, "0-4095"),
       "of a rank on CPUs that do not fit into a set their text is sent, and nothing that rests on the set");
    ok(health_has_too_many_cpus(h), "that a rank may run on CPUs that do not fit into a set can be asked");
    put("proc/101/status", "Pid:\t101\n");
    look(h, 20);
    ok(!health_has_too_many_cpus(h), "a process that is hidden has not too many CPUs");
    ok(!find(TELEMETRY_TASK, 1) && !find(TELEMETRY_TASK, 0)->task.flags,
       "no item is sent for a process that is hidden");
    ok(!find(TELEMETRY_SIGNALS, 0), "a controller that does not know the item of signals does not get it");

    health_newest_item(h, TELEMETRY_NEWEST);
    look(h, 21);
    ok(find(TELEMETRY_SIGNALS, 0) && !find(TELEMETRY_SIGNALS, 0)->signals.endured &&
           !find(TELEMETRY_SIGNALS, 1),
       "one that does gets it for each process that is visible");
    look(h, 22);
    ok(!find(TELEMETRY_SIGNALS, 0), "signals that did not change are not sent again");
    caught = 1 << 9;
    put_process(100, "0", 340000000, hz / 2, 250);
    look(h, 23);
    ok(find(TELEMETRY_SIGNALS, 0) && find(TELEMETRY_SIGNALS, 0)->signals.endured == 1 << 9 &&
           !find(TELEMETRY_SIGNALS, 2),
       "a handler that is new is sent at once");
    look(h, 28.5);
    ok(find(TELEMETRY_SIGNALS, 0) && find(TELEMETRY_SIGNALS, 2),
       "signals that did not change are sent again after 5 s");
    n_told = 0;
    health_look(h, 35, take, NULL);
    is_int((long long)n_told, 0, "without ranks no item is sent");
    health_free(h);
    tree_remove();
}

int main(void)
{
    cpusets();
    node_texts();
    process_texts();
    a_node();
    return done_testing();
}
