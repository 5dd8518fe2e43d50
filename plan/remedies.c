#include "plan/remedies.h"

#include <string.h>

#define SERVER "Algorithm=server "
#define GATE   "Gate=node Node=0 Limit="

const struct trial_remedy remedies[REMEDIES] = {
    [REMEDY_UNCOORDINATED] = { "uncoordinated", "no remedy", SERVER, NULL, NULL, 0, false },
    [REMEDY_PACING] = { "pacing", "early nodes sleep", SERVER "Pacing=delay PaceMaxDelay=1s", NULL, NULL, 0,
                        false },
    [REMEDY_GATED] = { "gate_2", "2 messages at a time at the server", SERVER, NULL, GATE "2", 0, false },
    { "gate_1", "1 message at a time", SERVER, NULL, GATE "1", 0, false },
    { "gate_4", "4 messages at a time", SERVER, NULL, GATE "4", 0, false },
    { "gate_8", "8 messages at a time", SERVER, NULL, GATE "8", 0, false },
    { "stagger", "1 message every 5 ms", SERVER, NULL, GATE "0 Gap=5ms", 0, false },
    { "quiet_link", "no other traffic at the server", SERVER, NULL, NULL, 0, true },
    { "quiet_gate_2", "quiet_link and gate_2", SERVER, NULL, GATE "2", 0, true },
    { "servers_4", "4 servers, each with a link", SERVER "Servers=4", NULL, NULL, 0, false },
    { "stale_1", "staleness bound of 1 iteration", SERVER "Sync=staleness Staleness=1", NULL, NULL, 0,
      false },
    { "local_4", "exchange every 4 iterations", SERVER "Sync=local Every=4", NULL, NULL, 0, false },
    { "tree", "a binomial tree, no server", "Algorithm=tree", NULL, NULL, 0, false },
    { "ring", "a ring, no server", "Algorithm=ring", NULL, NULL, 0, false },
};

const struct trial_remedy remedies_collective[REMEDIES_COLLECTIVE] = {
    { "server", "all ranks send to one server", SERVER, NULL, NULL, 8, true },
    { "ring", "a ring, node by node", "Algorithm=ring", NULL, NULL, 8, true },
    { "ring_dealt", "a ring, every hop between nodes", "Algorithm=ring Placement=round-robin", NULL, NULL, 8,
      true },
    { "ring_shuffled", "a ring in random order", "Algorithm=ring Placement=shuffled", NULL, NULL, 8, true },
    { "hierarchical", "in the nodes, then across, 1 link per node", "Algorithm=hierarchical", NULL, NULL, 8,
      true },
    { "hierarchical_rails", "in the nodes, then across, 1 link per rank", "Algorithm=hierarchical", "Rails=8",
      NULL, 8, true },
    { "halving_rails", "in the nodes, then halving across", "Algorithm=hierarchical-halving", "Rails=8", NULL,
      8, true },
};

bool remedies_need_exact(const struct trial_remedy *r)
{
    return r->job && !strncmp(r->job, SERVER, strlen(SERVER)) && !r->ranks_per_node;
}
