/* Any bytes as slurm.conf, for the default partition and one by name; what is accepted is counted on a tree's
 * leaves. */
#include <stdint.h>
#include <stdlib.h>

#include "topology/leaves.h"
#include "topology/slurm_conf.h"
#include "topology/topology_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *data, size_t size, const char *partition)
{
    static const char tree[] =
        "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=top Switches=a,b\n";
    struct err err = { "" };
    struct slurm_partition p;
    struct topology *t;
    struct leaves l;

    if (slurm_conf_parse("/nowhere/slurm.conf", (const char *)data, size, partition, &p, &err) < 0) {
        if (!err.text[0] || p.nodes)
            abort(); /* a failure without a reason, or with something left */
        return;
    }
    t = topology_conf_parse("tree", tree, sizeof(tree) - 1, NULL);
    if (t && leaves_count(t, p.nodes, 5, &l, &err) == 0 && (l.fewest != 2 || l.all != 2))
        abort();
    topology_free(t);
    slurm_partition_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(data, size, NULL);
    check(data, size, "main");
    return 0;
}
