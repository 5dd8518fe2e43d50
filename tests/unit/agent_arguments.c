/* The agent's command line and environment. */
#include "agent/arguments.h"

#include <stdlib.h>

#include "tests/tap.h"

static int read_options(struct arguments *a, struct err *err, const char *one, const char *two)
{
    char *argv[] = { (char *)"agent", (char *)one, (char *)two, NULL };
    struct options o;

    return options_parse(&o, &agent_program, two ? 3 : one ? 2 : 1, argv, err) < 0 ? -1 : agent_arguments_read(a, &o, err);
}

int main(void)
{
    static const char *const bad[] = { "--rate=0",  "--rate=1e9", "--rate=nan", "--rate=",
                                       "--rate=5x", "--no-such",  "extra" };
    static const struct {
        const char *address, *switch_name;
    } addresses[] = { { "core.spine0.leaf1.node3", "leaf1" },
                      { "leaf.node", "leaf" },
                      { "node3", "" },
                      { "", "" },
                      { ".x", "" } };
    struct arguments o;
    struct err err;

    clearenv();
    ok(read_options(&o, &err, NULL, NULL) < 0, "without a directory: %s", err.text);
    ok(!read_options(&o, &err, "--dir=/x", NULL) && o.job == -1 && o.array_task == -1 && !o.name &&
           o.rate_hz == 50,
       "nothing is known, and said to be unknown");
    ok(o.node && *o.node, "the node is at least the host: %s", o.node);
    is_str(o.controller, "localhost", "the controller's default");
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
       "numbers of the environment are believed when they are some");
    is_str(o.node, "n7", "the node is Slurm's");
    read_options(&o, &err, "--dir=/x", "--node=n8");
    is_str(o.node, "n8", "or the plugin's");
    for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
        setenv("SLURM_TOPOLOGY_ADDR", addresses[i].address, 1);
        read_options(&o, &err, "--dir=/x", NULL);
        is_str(o.switch_name, addresses[i].switch_name, "%s", addresses[i].address);
    }
    return done_testing();
}
