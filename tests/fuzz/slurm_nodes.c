/* slurm_nodes.c - fuzz target: what scontrol prints of nodes, and after a line "--" of switches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "doctor/slurm_nodes.h"
#include "doctor/slurm_release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xcalloc(1, size + 1), *switches;
    struct slurm_nodes s = { 0 };
    struct slurm_release release;
    struct err err = { "" };

    memcpy(text, data, size);
    slurm_nodes_port(text);
    slurm_release_parse(text, &release);
    switches = strstr(text, "--\n");
    if (switches) {
        *switches = '\0';
        switches += 3;
    }
    if (slurm_nodes_parse(&s, text, &err) < 0) {
        if (!err.text[0])
            abort(); /* a failure without a reason */
    } else {
        if (switches)
            slurm_nodes_leaves(&s, switches, &err);
        for (size_t i = 0; i < s.n; i++)
            if (slurm_nodes_find(&s, s.node[i].name) != &s.node[i] || !s.node[i].address ||
                !s.node[i].state || !s.node[i].partitions)
                abort();
    }
    slurm_nodes_free(&s);
    free(text);
    return 0;
}
