/* Any bytes as SLURM_TOPOLOGY_ADDR: where it is cut, each name begins behind a dot, from the top down. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "topology/address.h"
#include "topology/topology_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char tree[] =
        "SwitchName=a Nodes=n[1-2]\nSwitchName=a.b Nodes=n3\nSwitchName=b.a Nodes=n4\n"
        "SwitchName=a.a Switches=a,a.b\nSwitchName=b Switches=b.a\nSwitchName=. Switches=b,a.a\n";
    struct topology *t = topology_conf_parse("tree", tree, sizeof(tree) - 1, NULL);
    size_t begins[TOPOLOGY_LEVELS_MAX];
    char *address = calloc(1, size + 1);

    if (!t || !address)
        abort();
    memcpy(address, data, size);
    for (size_t levels = 0; levels <= TOPOLOGY_LEVELS_MAX + 1; levels++)
        if (address_cut(t, address, levels, begins))
            for (size_t i = 0; i < levels; i++)
                if (begins[i] > strlen(address) || (i ? begins[i] <= begins[i - 1] : begins[i] != 0) ||
                    (i && address[begins[i] - 1] != '.'))
                    abort();
    free(address);
    topology_free(t);
    return 0;
}
