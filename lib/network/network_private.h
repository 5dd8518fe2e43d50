/* network_private.h - shared by network/network*.c only. */
#ifndef SYNCGUARD_NETWORK_NETWORK_PRIVATE_H
#define SYNCGUARD_NETWORK_NETWORK_PRIVATE_H

#include "network/gate_queues.h"
#include "network/network.h"
#include "network/share.h"

struct play;

struct network {
    struct fabric fabric;
    bool weighs_latency;
    double *link_extra_s;      /* NULL: none has any */
    uint64_t faults;           /* hash of all faults; 0: none */
    struct share *share;       /* capacities; flows only during a run */
    struct play *play;         /* NULL: none is running */
    struct gate_queues *gates; /* NULL: none */
    struct incast {
        double loss;
        uint32_t buffer;
        uint32_t *flows; /* messages by link; NULL: loss was always 0 */
        double *own;     /* by link: its capacity without loss; NULL with flows */
    } incast;
};

/* A message's way: links and latency, faults included. */
struct network_way {
    uint32_t hops;
    uint32_t link[FABRIC_HOPS_MAX];
    double latency_s, weight;
};
void network_way(const struct network *n, uint32_t from_rank, uint32_t to_rank, struct network_way *way);

/* Messages in progress, on all links of their way: share_add() and its like, with what incast loses. */
bool network_flow_add(struct network *n, uint32_t flow, const struct network_way *way);
void network_flow_remove(struct network *n, uint32_t flow, const struct network_way *way);
void network_flows_clear(struct network *n);

/* A server is a service of its node: a message to or from it starts as soon as its sender is ready.  Other messages
 * wait for both ends. */
bool network_is_server(const struct network_collective *c);
/* Does the sender continue at once, before the round's messages are transferred?  A member on a server's node
 * has the sum there, and does not wait until others have fetched theirs. */
bool network_detached(const struct network_collective *c, uint64_t round);

/* The way that a member's last message took. */
struct kept_way {
    uint64_t faults;
    uint32_t to;
    struct network_way way;
};

/* A round's messages with what they cost; the same for all rounds with these partners. */
struct round {
    uint64_t faults; /* for which it was solved */
    uint32_t messages;
    uint32_t *from, *to; /* members */
    double *latency_s, *s_per_byte;
    bool solved, shared;
};

/* What a collective's messages took in exact runs (network_sample.c). */
struct cost_sample {
    uint64_t faults;
    uint32_t runs, used; /* runs are used in turn */
    double spread_s;     /* of the arrivals */
    double *cost_s;      /* [run][stage][sender]: from when both ends are ready to the end of the transfer */
};

/* Watches an exact run: the start of each message, and its end. */
struct message_watch {
    void (*through)(struct message_watch *w, uint32_t round, uint32_t from, double start_s, double end_s);
};

struct entered; /* a collective in progress (network_play.c) */

struct network_collective {
    struct network *network;
    struct schedule schedule;
    uint32_t *rank;
    /* By rounds. */
    uint32_t *of_stage; /* index of a stage's round in round; NOBODY: too many to keep, solved again when walked */
    struct round *round;
    uint32_t rounds;
    struct round scratch_round;
    double *scratch;
    int exact; /* is by rounds exact?  -1: not known yet */
    /* Sampled. */
    int can_sample; /* -1: not known yet */
    struct cost_sample *sample;
    uint32_t samples;
    /* Exact. */
    struct message_watch *watch; /* NULL: none */
    double at_once_s;            /* events closer together count as simultaneous */
    uint64_t *entries;           /* of each member in the running play; NULL: none is running */
    struct kept_way *way;        /* by member */
    struct entered *oldest;
    uint64_t oldest_number;
    struct network_collective *next_played;
};

void network_run_rounds(struct network_collective *c, const double *arrive_s, double *leave_s,
                        struct network_count *count);
void network_rounds_free(struct network_collective *c);
/* The same with these costs, by stage and sender, instead of those of a round with all messages in progress. */
void network_run_costs(struct network_collective *c, const double *cost_s, const double *arrive_s,
                       double *leave_s, struct network_count *count);
/* Number of stages, from this one on, that are one ring. */
uint32_t network_ring_stages(const struct schedule *s, uint32_t stage);

bool network_can_sample(struct network_collective *c);
void network_run_sampled(struct network_collective *c, const double *arrive_s, double *leave_s,
                         struct network_count *count);
void network_samples_free(struct network_collective *c);
void network_run_exact(struct network_collective *c, const double *arrive_s, double *leave_s,
                       struct network_count *count);

#endif
