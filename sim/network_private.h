/* network_private.h - what the files of the network share. */
#ifndef SYNCGUARD_SIM_NETWORK_PRIVATE_H
#define SYNCGUARD_SIM_NETWORK_PRIVATE_H

#include "sim/network.h"
#include "sim/share.h"

struct network {
    struct fabric fabric;
    double eager_bytes;
    double *link_extra_s;  /* NULL: none has any */
    double *rank_slowdown; /* NULL: none is slow */
    uint64_t faults;       /* grows with every change */
    struct share *share;   /* capacities; flows only while somebody runs */
};

/* A message's way: links, latency and the most that it gets alone, faults included. */
struct network_way {
    uint32_t hops;
    const uint32_t *link;
    double latency_s, bound;
    struct fabric_route route;
};
void network_way(const struct network *n, uint32_t from_rank, uint32_t to_rank, struct network_way *way);

/* A round's messages with what they cost; the same for all rounds with these partners. */
struct round {
    uint64_t faults; /* those it was solved under */
    uint32_t messages;
    uint32_t *from, *to; /* members */
    double *latency_s, *s_per_byte;
    bool solved, shared;
};

struct entered; /* a collective under way (play.c) */

struct network_collective {
    struct network *network;
    struct schedule schedule;
    uint32_t *rank;
    /* By rounds. */
    uint32_t *of_stage; /* index of a stage's round in round; NOBODY: too many, solved when they are walked */
    struct round *round;
    uint32_t rounds;
    struct round scratch_round;
    double *scratch;
    int exact; /* is by rounds exact?  -1: not known yet */
    /* Exact. */
    uint64_t *entries; /* of each member in the play that goes on; NULL: none does */
    struct entered *oldest;
    uint64_t oldest_number;
    struct network_collective *next_played;
};

void network_run_rounds(struct network_collective *c, const double *arrive_s, double *leave_s,
                        struct network_count *count);
void network_rounds_free(struct network_collective *c);

#endif
