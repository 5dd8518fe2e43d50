/* gate.h - admission to a shared link: a maximum number of messages at a time, and a minimum time between them.
 *
 * Pure: counts and times in, a time out; no clock, no queue, no memory of its own.  The caller keeps the
 * queue, first come, first served.  The simulator calls these functions, as would a token server in a cluster.
 *
 * It is for messages that arrive one by one, such as those to a parameter server or of a shard.  It must not guard
 * a collective that ends when the last rank has entered: ranks holding a token would wait for ranks that wait for
 * a token. */
#ifndef SYNCGUARD_NETWORK_GATE_H
#define SYNCGUARD_NETWORK_GATE_H

#include <stdint.h>

struct gate_params {
    uint32_t limit; /* maximum number inside at a time; 0: any number */
    double gap_s;   /* minimum time from one entry to the next */
};

struct gate_state {
    uint32_t inside;
    uint64_t entries;
    double last_s; /* the newest entry */
};

/* The time at which the next message may enter; now_s: at once; INFINITY: not before one has left. */
double gate_opens_s(const struct gate_state *s, const struct gate_params *p, double now_s);

void gate_enter(struct gate_state *s, double now_s);
void gate_leave(struct gate_state *s);

#endif
