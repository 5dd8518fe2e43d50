/* network_private.h - shared by network/network*.c only. */
#ifndef SYNCGUARD_NETWORK_NETWORK_PRIVATE_H
#define SYNCGUARD_NETWORK_NETWORK_PRIVATE_H

#include "network/gate_queues.h"
#include "network/network.h"
#include "network/share.h"

struct play; /* a running network_play() (network_play.c) */

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

/* ---- the network (network.c) ---- */

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

/* Watches an exact run: the start of each message, and its end. */
struct message_watch {
    void (*through)(struct message_watch *w, uint32_t round, uint32_t from, double start_s, double end_s);
};

struct network_collective {
    struct network *network;
    struct schedule schedule;
    uint32_t *rank;
    bool can_sample;
    struct network_rounds *rounds;   /* network_rounds.c; NULL: not run by rounds yet */
    struct network_samples *samples; /* network_sample.c; NULL: none was asked for yet */
    struct network_playing *playing; /* network_play.c; NULL: not in a play */
    struct message_watch *watch;     /* of exact runs; NULL: none */
    double at_once_s;                /* in them, events closer together count as simultaneous */
};

/* ---- by rounds (network_rounds.c) ---- */

void network_run_rounds(struct network_collective *c, const double *arrive_s, double *leave_s,
                        struct network_count *count);
/* The same with these costs, by stage and sender, not those of a round with all messages in progress */
void network_run_costs(struct network_collective *c, const double *cost_s, const double *arrive_s,
                       double *leave_s, struct network_count *count);
/* Number of stages, from this one on, that are one ring. */
uint32_t network_ring_stages(const struct schedule *s, uint32_t stage);
void network_rounds_free(struct network_rounds *r); /* NULL is fine */

/* ---- exact, alone on the network (network_alone.c) ---- */

void network_run_exact(struct network_collective *c, const double *arrive_s, double *leave_s,
                       struct network_count *count);

/* ---- sampled (network_sample.c) ---- */

/* Is a run of it, with its rings shortened, small enough? */
bool network_can_sample(const struct schedule *s);
void network_run_sampled(struct network_collective *c, const double *arrive_s, double *leave_s,
                         struct network_count *count);
void network_samples_free(struct network_samples *s); /* NULL is fine */

#endif
