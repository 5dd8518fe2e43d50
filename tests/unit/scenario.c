#include "sim/scenario.h"

#include <stdlib.h>

#include "network/schedule.h"
#include "pacing/pacer.h"
#include "tests/tap.h"

#define HEAD "Run=r\nFabric=flat Nodes=4\n"
#define GOOD HEAD "Job=a Ranks=16 RanksPerNode=4\n"

static const struct {
    const char *text, *want;
} wrong[] = {
    { "", "t: a line Run=NAME is missing" },
    { "Run=r\n", "t: a line Fabric=flat Nodes=... is missing" },
    { HEAD, "t: a line Job=NAME Ranks=... is missing" },
    { "Color=blue", "t:1: Color=blue: a line begins with Run=, Fabric=, Job=, Noise=, Fault=, Checkpoint=, "
                    "Policy=, Gate=" },
    { "Run=r Run2=x", "t:1: Run2=x: unknown key. Did you mean 'Run'?" },
    { "Run=r Seed=1 Seed=2", "t:1: Seed=2: set twice on this line" },
    { "Run=r Seed=1.5", "t:1: Seed=1.5: a whole number from 0 to 2147483647 (default 1)" },
    { "Run=r\nRun=s", "t:2: Run=s: only one run per file" },
    { "Fabric=torus Nodes=4", "t:1: Fabric=torus: flat, leafspine or fattree" },
    { "Fabric=fattree Nodes=64 LeavesPerPod=0",
      "t:1: LeavesPerPod=0: a whole number from 1 to 4096 (default 8)" },
    { "Run=r Lost=2", "t:1: Lost=2: a ratio from 0 to 1 (default 0)" },
    { "Fabric=flat", "t:1: Fabric=flat: Nodes= is missing: a whole number from 1 to 65536" },
    { "Fabric=flat Nodes=4 Link=25Gb",
      "t:1: Link=25Gb: 'Gb' may be bits or bytes: write one such as GB/s or Gbit/s; from 1.00 kB/s to 100 TB/s "
      "(default 25GB/s)" },
    { "Fabric=flat Nodes=4 Link=1B/s",
      "t:1: Link=1B/s: a bandwidth from 1.00 kB/s to 100 TB/s (default 25GB/s)" },
    { HEAD "Job=a Ranks=0", "t:3: Ranks=0: a whole number from 1 to 262144" },
    { HEAD "Job=a Ranks=16 \\\n Compute=never",
      "t:4: Compute=never: a time such as 250ms, 30s, 5m, 2h, 1h30m, 10:00 (minutes:seconds) or 1-12:00:00; "
      "from 0 s to 1d00h (default 100ms)" },
    { HEAD "Job=a Ranks=16 Sync=sometimes",
      "t:3: Sync=sometimes: synchronous, staleness, local or asynchronous (default synchronous)" },
    { HEAD "Job=a Ranks=64 RanksPerNode=8",
      "t:3: Job=a: the last of its 8 nodes is node 7; the fabric has 4 nodes" },
    { HEAD "Job=a Ranks=4\nJob=A Ranks=4", "t:4: Job=A: duplicate job name" },
    { HEAD "Job=a Ranks=6 RanksPerNode=4 Algorithm=hierarchical",
      "t:3: Job=a: Algorithm=hierarchical needs full nodes and Placement=contiguous" },
    { "Run=r\nFabric=flat Nodes=64\nJob=a Ranks=8192 RanksPerNode=128 Algorithm=server Servers=4096",
      "t:3: Job=a: Servers=4096 times Ranks=8192: a product of at most 16777216 is accepted" },
    { GOOD "Gate=node", "t:4: Gate=node: Gate=node needs Node=, Gate=switch needs Switch=" },
    { GOOD "Gate=node Switch=0", "t:4: Gate=node: Gate=node needs Node=, Gate=switch needs Switch=" },
    { GOOD "Gate=node Node=4", "t:4: Gate=node: Node=4: a node from 0 to 3" },
    { GOOD "Gate=switch Switch=0", "t:4: Gate=switch: Switch=0: a flat fabric has no uplinks" },
    { GOOD "Gate=node Node=1 Limit=0", "t:4: Gate=node: Limit=0 needs Gap=" },
    { GOOD "Noise=loss Node=1",
      "t:4: Noise=loss: Noise=link needs exactly one of Node= and Switch=; other noise has neither" },
    { GOOD "Noise=loss Static=0.1", "t:4: Noise=loss: Noise=loss has only Cv=, Shape= and Autocorrelation=" },
    { HEAD "Job=a Ranks=4 Pacing=gate", "t:3: Job=a: Pacing=gate needs Cores=" },
    { HEAD "Job=a Ranks=4 Pacing=auto Overlap=yes",
      "t:3: Job=a: Pacing=auto needs ranks that wait: Overlap=no, Sync=synchronous or local" },
    { HEAD "Job=a Ranks=4 PaceLevers=gate,nap",
      "t:3: PaceLevers=gate,nap: none, or one or more of release, gate, delay or stagger, with commas "
      "(default release,gate)" },
    { HEAD "Job=a Ranks=4 PaceLevers=gate,",
      "t:3: PaceLevers=gate,: none, or one or more of release, gate, delay or stagger, with commas "
      "(default release,gate)" },
    { HEAD "Job=a Ranks=4 PaceHoldout=1",
      "t:3: PaceHoldout=1: a whole number of epochs from 2 to 12 (default 12)" },
    { GOOD "Policy=a From=0 PaceLevers=gate", "t:4: Policy=a: the job needs Pacing=auto" },
    { GOOD "Policy=b From=0 PaceLevers=gate", "t:4: Policy=b: unknown job \"b\"" },
    { GOOD "Policy=a From=9",
      "t:4: Policy=a: PaceLevers= is missing: none, or one or more of release, gate, delay or "
      "stagger, with commas" },
    { HEAD "Job=a Ranks=4 Cores=2 Overlap=yes",
      "t:3: Job=a: Cores= needs ranks that wait: Overlap=no, Sync=synchronous or local" },
    { HEAD "Job=a Ranks=4 Sync=asynchronous Inner=1",
      "t:3: Job=a: Sync=asynchronous has no collectives: Overlap=no Inner=0 are expected" },
    { HEAD "Job=a Ranks=4 Sync=asynchronous Pacing=delay",
      "t:3: Job=a: with Sync=asynchronous nobody waits for others: Pacing=none is expected" },
    { HEAD "Job=a Ranks=4 Sync=asynchronous\nNoise=loss Cv=0.1",
      "t:4: Noise=loss: an asynchronous job has its servers' links, which no other traffic uses" },
    { HEAD "Job=a Ranks=4 Sync=asynchronous\nFault=death Rank=1",
      "t:4: Fault=death: in an asynchronous job only slow, drift and stall are possible" },
    { HEAD "Job=a Ranks=4 Sync=asynchronous\nFault=link Node=1 Ratio=0.5",
      "t:4: Fault=link: in an asynchronous job only slow, drift and stall are possible" },
    { GOOD "Noise=rank Job=b", "t:4: Noise=rank: unknown job \"b\"" },
    { GOOD "Noise=rank Shape=gamma Autocorrelation=0.5",
      "t:4: Noise=rank: Autocorrelation= needs Shape=normal or lognormal" },
    { GOOD "Noise=link",
      "t:4: Noise=link: Noise=link needs exactly one of Node= and Switch=; other noise has neither" },
    { GOOD "Noise=rank Node=1",
      "t:4: Noise=rank: Noise=link needs exactly one of Node= and Switch=; other noise has neither" },
    { GOOD "Noise=link Node=1 Static=0.1",
      "t:4: Noise=link: Noise=link has only Cv=, Shape= and Autocorrelation=" },
    { GOOD "Noise=link Node=4", "t:4: Noise=link: Node=4: a node from 0 to 3" },
    { GOOD "Noise=link Switch=0", "t:4: Noise=link: Switch=0: a flat fabric has no uplinks" },
    { GOOD "Fault=slow", "t:4: Fault=slow: exactly one of Rank=, Node= and Switch= is expected" },
    { GOOD "Fault=slow Rank=1 Node=1",
      "t:4: Fault=slow: exactly one of Rank=, Node= and Switch= is expected" },
    { GOOD "Fault=link Rank=1", "t:4: Fault=link: exactly one of Node= and Switch= is expected" },
    { GOOD "Fault=slow Rank=16", "t:4: Fault=slow: Rank=16: a rank of a from 0 to 15" },
    { GOOD "Fault=slow Node=4", "t:4: Fault=slow: Node=4: a node from 0 to 3" },
    { GOOD "Fault=slow Rank=1 From=9 Until=9", "t:4: Fault=slow: Until= must be a step after From=" },
    { GOOD "Fault=link Switch=0 Ratio=0.5", "t:4: Fault=link: Switch=0: a flat fabric has no uplinks" },
    { GOOD "Fault=link Node=0 Ratio=2",
      "t:4: Fault=link: Fault=link needs Ratio= of at most 1: the link's bandwidth over the usual" },
    { GOOD "Checkpoint=b", "t:4: Checkpoint=b: Cadence=exact needs NodeMtbf=; without it use Cadence=fixed" },
    { GOOD "Checkpoint=b Cadence=fixed", "t:4: Checkpoint=b: unknown job \"b\"" },
    { GOOD "Checkpoint=a Cadence=fixed\nCheckpoint=a Cadence=fixed",
      "t:5: Checkpoint=a: duplicate checkpoints of this job" },
};

static struct scenario s;

static void test_wrong(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
        struct err err = { "" };

        scenario_parse(&s, "t", wrong[i].text, strlen(wrong[i].text), &err);
        is_str(err.text, wrong[i].want, "a scenario with a mistake is rejected, case %zu", i);
    }
}

static void test_values(void)
{
    static const char text[] =
        "Run=r Seed=7\nFabric=leafspine Nodes=64 NodesPerSwitch=16 Spines=4 Link=400Gbit/s\n"
        "Job=a Ranks=16 RanksPerNode=2 FirstNode=1 NodeStride=2 Compute=250ms Bytes=1GB Algorithm=halving\n"
        "Job=b Ranks=8 RanksPerNode=1 FirstNode=20\n"
        "Noise=node Job=b Cv=5%\nFault=drift Job=b Rank=3 Ratio=1.3 From=10 Over=20\n";
    struct err err = { "" };

    ok(scenario_parse(&s, "t", text, strlen(text), &err) == 0, "a scenario without mistakes is read %s",
       err.text);
    ok(s.seed == 7 && s.n_jobs == 2 && s.n_noises == 1 && s.n_faults == 1,
       "seed, jobs, noise and fault of a scenario are read");
    ok(s.fabric.link_bytes_per_s == 50e9 && scenario_switches(&s.fabric) == 4,
       "the fabric has the rate and switches of its line");
    ok(s.jobs[0].compute_s == 0.25 && s.jobs[0].bytes == 1e9 && s.jobs[0].buckets == 4,
       "a job has the values of its line, and defaults for the others");
    ok(scenario_job_nodes(&s.jobs[0]) == 8 && scenario_job_node(&s.jobs[0], 7) == 15,
       "NodeStride=2 places a job on every second node");
    ok(s.noises[0].job == 1 && s.noises[0].cv == 0.05 && s.faults[0].job == 1,
       "noise and fault refer to the job that they name");
    ok(s.faults[0].rank == 3 && s.faults[0].node == -1, "a fault of a rank names no node");
    ok(isinf(s.checkpoints[0].node_mtbf_s),
       "nodes do not fail unless the scenario sets a mean time between failures");
}

/* Levers have the bits that pacing/pacer.h gives them; the latest policy rules. */
static void test_policies(void)
{
    static const char text[] =
        GOOD "Job=b Ranks=4 FirstNode=0 Pacing=auto\n"
             "Policy=b From=20 PaceLevers=none\nPolicy=b From=10 PaceLevers=Delay,stagger\n";
    char line[128];
    struct err err = { "" };

    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        snprintf(line, sizeof(line), HEAD "Job=a Ranks=4 Pacing=auto PaceLevers=%s\n",
                 pacer_lever_name(1u << i));
        ok(scenario_parse(&s, "t", line, strlen(line), &err) == 0 && scenario_levers(&s, 0, 0) == 1u << i,
           "PaceLevers=%s is read %s", pacer_lever_name(1u << i), err.text);
    }
    ok(scenario_parse(&s, "t", text, strlen(text), &err) == 0,
       "a scenario whose job changes its policy twice is read %s", err.text);
    ok(scenario_levers(&s, 1, 9) == (PACER_RELEASE | PACER_GATE),
       "before the first change a job has its own levers");
    ok(scenario_levers(&s, 1, 10) == (PACER_DELAY | PACER_STAGGER),
       "from the step of the first change on a job has that policy's levers");
    ok(scenario_levers(&s, 1, 20) == 0 && scenario_levers(&s, 1, 99) == 0,
       "from the step of the second change on a job has no levers, although that line comes first");
    ok(s.jobs[1].pace.epoch == 16 && s.jobs[1].pace.holdout == 12,
       "a job's pacing has the defaults of syncguard.conf");
}

/* Algorithm= accepts all algorithms of network/schedule.h. */
static void test_algorithms(void)
{
    char text[256];

    for (int a = 0; a <= SCHEDULE_SERVER; a++) {
        struct err err = { "" };

        snprintf(text, sizeof(text), HEAD "Job=a Ranks=16 RanksPerNode=4 Algorithm=%s\n",
                 schedule_algorithms[a]);
        ok(scenario_parse(&s, "t", text, strlen(text), &err) == 0 && s.jobs[0].algorithm == a,
           "Algorithm=%s is read %s", schedule_algorithms[a], err.text);
    }
}

/* What ships can be simulated. */
static void test_shipped(void)
{
    static const char *const names[] = { "healthy",  "straggler", "incast", "staleness",
                                         "failures", "large",     "cores",  "paced" };
    const char *top = getenv("top_srcdir");
    char path[4096];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct err err = { "" };

        snprintf(path, sizeof(path), "%s/lib/sim/scenarios/%s.conf", top ? top : ".", names[i]);
        ok(scenario_read(&s, path, &err) == 0, "the shipped scenario %s.conf is read %s", names[i], err.text);
        is_str(s.name, names[i], "a shipped scenario has the name of its file");
    }
}

int main(void)
{
    test_wrong();
    test_values();
    test_policies();
    test_algorithms();
    test_shipped();
    return done_testing();
}
