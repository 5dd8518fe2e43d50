/* A collective, and its execution: the mode is selected here, and each is a file of its own. */
#include "network/network_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

struct network_collective *network_collective_new(struct network *n, const struct schedule_spec *spec,
                                                  const uint32_t *rank)
{
    struct network_collective *c = xcalloc(1, sizeof(*c));

    c->network = n;
    schedule_init(&c->schedule, spec);
    c->can_sample = network_can_sample(&c->schedule);
    c->rank = xcalloc(spec->members, sizeof(*c->rank));
    memcpy(c->rank, rank, spec->members * sizeof(*rank));
    return c;
}

void network_collective_free(struct network_collective *c)
{
    if (!c)
        return;
    network_rounds_free(c->rounds);
    network_samples_free(c->samples);
    free(c->rank);
    free(c);
}

const char *const network_modes[] = { "auto", "rounds", "exact", "sampled", NULL };

void network_run(struct network_collective *c, enum network_mode mode, const double *arrive_s,
                 double *leave_s, struct network_count *count)
{
    if (gate_queues_any(c->network->gates))
        mode = NETWORK_EXACT; /* only the exact mode has messages that wait for each other */
    if (mode == NETWORK_AUTO)
        mode = c->can_sample && !network_rounds_exact(c) ? NETWORK_SAMPLED : NETWORK_ROUNDS;
    if (mode == NETWORK_SAMPLED && !c->can_sample)
        mode = NETWORK_ROUNDS;
    switch (mode) {
    case NETWORK_EXACT:
        network_run_exact(c, arrive_s, leave_s, count);
        break;
    case NETWORK_SAMPLED:
        network_run_sampled(c, arrive_s, leave_s, count);
        break;
    default:
        network_run_rounds(c, arrive_s, leave_s, count);
    }
    count->mode = mode;
}
