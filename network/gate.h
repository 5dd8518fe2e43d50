/* gate.h - who may use a shared link now: so many messages at a time, so long after one another.
 *
 * Pure: counts and times in, a time out; no clock, no queue, no memory of its own.  Whoever gates keeps the
 * queue, first come, first served; the simulator calls these very functions, and so would whoever handed out
 * tokens in a cluster.
 *
 * For messages that come one by one, as those to a parameter server or of a shard.  Not for entering a
 * collective that ends when the last has entered: who holds a token until it leaves waits for those who wait
 * for its token. */
#ifndef SYNCGUARD_NETWORK_GATE_H
#define SYNCGUARD_NETWORK_GATE_H

#include <stdint.h>

struct gate_params {
    uint32_t limit; /* inside at a time; 0: any number */
    double gap_s;   /* from one entry to the next, at least */
};

struct gate_state {
    uint32_t inside;
    uint64_t entries;
    double last_s; /* the newest entry */
};

/* When may one more enter?  now_s: at once; INFINITY: not before one has left. */
double gate_opens_s(const struct gate_state *s, const struct gate_params *p, double now_s);

void gate_enter(struct gate_state *s, double now_s);
void gate_leave(struct gate_state *s);

#endif
