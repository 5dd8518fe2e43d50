/* The agent's command line and environment. */
#include "agent/arguments.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

static int read_options(struct agent_arguments *a, struct err *err, const char *one, const char *two)
{
    char *argv[] = { (char *)"agent", (char *)one, (char *)two, NULL };
    struct options o;

    return options_parse(&o, &agent_program,
                         two   ? 3
                         : one ? 2
                               : 1,
                         argv, err) < 0
               ? -1
               : agent_arguments_read(a, &o, err);
}

/* Where names have dots, topology.conf says how to cut the address. */
static void check_declared(void)
{
    char dir[] = "/tmp/agent-XXXXXX", path[64];
    struct agent_arguments o;
    struct err err;
    FILE *f;

    if (!mkdtemp(dir))
        return;
    snprintf(path, sizeof(path), "%s/slurm.conf", dir);
    setenv("SLURM_CONF", path, 1);
    snprintf(path, sizeof(path), "%s/topology.conf", dir);
    f = fopen(path, "w");
    fputs("SwitchName=leaf.b Nodes=node3.site\nSwitchName=core Switches=leaf.b\n", f);
    fclose(f);
    setenv("SLURMD_NODENAME", "node3.site", 1);
    setenv("SLURM_TOPOLOGY_ADDR", "core.leaf.b.node3.site", 1);
    setenv("SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    is_str(o.switch_name, "leaf.b",
           "with topology.conf at hand, the switch of core.leaf.b.node3.site is leaf.b");
    is_str(o.switches, "core leaf.b", "and the switches above it end with core");
    unsetenv("SLURM_CONF");
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    static const char *const bad[] = { "--rate=0",  "--rate=1e9", "--rate=nan", "--rate=",
                                       "--rate=5x", "--no-such",  "extra" };
    static const struct {
        const char *node, *address, *pattern, *switch_name, *switches;
    } addresses[] = {
        { "node3", "core.spine0.leaf1.node3", "", "leaf1", "core.spine0.leaf1" },
        { "node3", "core.spine0.leaf1.node3", "switch.switch.switch.node", "leaf1", "core.spine0.leaf1" },
        { "n7", "leaf.node", "", "leaf", "leaf" },
        { "node3", "node3", "", "", "" },
        { "node3", "", "", "", "" },
        { "node3", ".x", "", "", "" },
        { "node3", "core[0-1].leaf1.node3", "switch.switch.node", "leaf1", "core[0-1].leaf1" },
        /* topology/flat */
        { "node3.hpc.example", "node3.hpc.example", "node", "", "" },
        { "node3.hpc.example", "core.leaf1.node3.hpc.example", "switch.switch.node", "leaf1", "core.leaf1" },
        { "Node3.HPC", "Core.Leaf1.Node3.HPC", "switch.switch.node", "Leaf1", "Core.Leaf1" },
        { "node3", "Core.Leaf1.NODE3", "switch.switch.node", "Leaf1", "Core.Leaf1" },
        { "node3", "rack7.dc1.node3", "switch.node", "rack7.dc1", "rack7.dc1 " },
        { "n.1", "core.a.leaf.b.n.1", "switch.switch.node", "leaf.b", "core.a leaf.b" },
        { "n1", "c.a.x.s.a.x.l.a.x.n1", "switch.switch.switch.node", "l.a.x", "c.a.x s.a.x l.a.x" },
        { "node3", "core.leaf.b.node3", "switch.switch.node", "", "" },
    };
    static const char *const odd[] = { "",
                                       "on",
                                       "on ring",
                                       "on ring 1",
                                       "on ring nan 1",
                                       "on ring 1 inf",
                                       "on ring x 1",
                                       "off ring 2 1",
                                       "on ring 2 1 0",
                                       "on ring-of-more-than-thirty-one-letters 2 1" };
    struct agent_arguments o;
    struct err err;

    clearenv();
    ok(read_options(&o, &err, NULL, NULL) < 0, "the agent refuses to start without --dir: %s", err.text);
    ok(!read_options(&o, &err, "--dir=/x", NULL) && o.job == -1 && o.het_job == -1 && !o.name &&
           o.rate_hz == 50,
       "with an empty environment numbers are -1 and strings NULL");
    ok(o.node && *o.node, "without SLURMD_NODENAME the node is the host's name: %s", o.node);
    is_str(o.controller, "localhost", "the default of --controller is localhost");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        ok(read_options(&o, &err, "--dir=/x", bad[i]) < 0, "%s: %s", bad[i], err.text);
    setenv("SLURM_JOB_ID", "123", 1);
    setenv("SLURM_STEP_ID", "-5", 1);
    setenv("SLURM_NTASKS", "4294967296", 1);
    setenv("SLURM_NODEID", "0", 1);
    setenv("SLURM_NNODES", "8(x2)", 1);
    setenv("SLURM_JOB_NAME", "", 1);
    setenv("SLURMD_NODENAME", "n7", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(o.job == 123 && o.node_index == 0 && o.step == -1 && o.tasks == -1 && o.nodes == -1 && !o.name,
       "numbers in the environment are read if valid, else unknown");
    is_str(o.node, "n7", "the node is SLURMD_NODENAME");
    read_options(&o, &err, "--dir=/x", "--node=n8");
    is_str(o.node, "n8", "--node overrides SLURMD_NODENAME");
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        setenv("SLURMD_NODENAME", addresses[i].node, 1);
        setenv("SLURM_TOPOLOGY_ADDR", addresses[i].address, 1);
        setenv("SLURM_TOPOLOGY_ADDR_PATTERN", addresses[i].pattern, 1);
        read_options(&o, &err, "--dir=/x", NULL);
        is_str(o.switch_name, addresses[i].switch_name, "%s", addresses[i].address);
        is_str(o.switches, addresses[i].switches, "and the switches above: '%s'", addresses[i].switches);
    }
    check_declared();
    setenv("SYNCGUARD_PLACEMENT", "on pipeline:8x4 0.04 0.02", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(o.placement.applied && !strcmp(o.placement.name, "pipeline:8x4") &&
           near(o.placement.before_s, 0.04, 1e-9) && near(o.placement.after_s, 0.02, 1e-9),
       "the order of ranks that srun chose is read");
    setenv("SYNCGUARD_PLACEMENT", "advise ring 1 1", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(!o.placement.applied && !strcmp(o.placement.name, "ring"), "and one that it only advises");
    ok(!o.placement.compared, "which is not compared");
    setenv("SYNCGUARD_PLACEMENT", "placed ring 2 1", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(o.placement.applied && o.placement.compared, "one that is compared with others");
    setenv("SYNCGUARD_PLACEMENT", "held-out ring 2 1", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(!o.placement.applied && o.placement.compared, "and one that is held out for that");
    read_options(&o, &err, "--dir=/x", NULL);
    ok(!o.algorithm_looked, "srun has not looked for an algorithm of all-reduces");
    setenv("SYNCGUARD_ALGORITHM", "default", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(o.algorithm_looked && !*o.algorithm.name, "it has, and found none");
    setenv("SYNCGUARD_ALGORITHM", "placed recursive_doubling 0.02 0.01", 1);
    read_options(&o, &err, "--dir=/x", NULL);
    ok(o.algorithm_looked && o.algorithm.applied && o.algorithm.compared &&
           !strcmp(o.algorithm.name, "recursive_doubling") && near(o.algorithm.before_s, 0.02, 1e-9) &&
           near(o.algorithm.after_s, 0.01, 1e-9),
       "the algorithm that the library was told is read");
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        setenv("SYNCGUARD_ALGORITHM", odd[i], 1);
        read_options(&o, &err, "--dir=/x", NULL);
        ok(!o.algorithm_looked && !*o.algorithm.name, "algorithm '%s' is not", odd[i]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
        setenv("SYNCGUARD_PLACEMENT", odd[i], 1);
        read_options(&o, &err, "--dir=/x", NULL);
        is_str(o.placement.name, "", "'%s' is not", odd[i]);
    }
    return done_testing();
}
