/* reach.h - communicators that are slower from the start than they should be: a fallback to a slow device, a
 * wrong algorithm or order of ranks.
 *
 * Detectors that compare with before see nothing where it was never better.  Here the first blocking
 * collectives of each communicator, operation and size (after some that may set up connections) are compared
 * with
 * - what the nodes' adapters need for the bytes of an all-reduce between nodes (2 (n - 1) / n of them,
 * Patarasuk & Yuan 2009);
 * - communicators of as many ranks, nodes and switches: the median of all of them;
 * - smaller collectives of the same communicator: the time of a size over another one grows no faster than
 * the size. Their fast quarter must be slower than that by a wide margin: REACH_ADAPTER times for the
 * adapters, whose rate no library reaches, REACH_TIMES otherwise.  Jobs on real networks differ by less than
 * a factor of two between peers.
 *
 * Pure.  Seconds, bytes.  Memory: some 150 bytes a communicator, operation and size; at most REACH_KINDS_MAX.
 */
#ifndef SYNCGUARD_VIEW_REACH_H
#define SYNCGUARD_VIEW_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REACH_KINDS_MAX 2048u
#define REACH_TIMES     3.0
#define REACH_ADAPTER   8.0

struct reach;

struct reach *reach_new(void);
void reach_free(struct reach *r); /* NULL is fine */

/* A kind of collectives: sizes within a factor of two are one. NULL: enough of them were seen, or there are
 * too many kinds. */
struct reach_kind;
struct reach_kind *reach_kind_get(struct reach *r, uint64_t comm, uint8_t op, double bytes);
/* Its shape is not known yet: reach_shape() first. */
bool reach_is_new(const struct reach_kind *k);
void reach_shape(struct reach_kind *k, uint32_t ranks, uint32_t nodes, uint32_t switches);
void reach_take(struct reach *r, struct reach_kind *k, double bytes, double transfer_s);

enum reach_source { REACH_BY_ADAPTER, REACH_BY_PEERS, REACH_BY_SIZES };
struct reach_short {
    uint64_t comm;
    uint8_t op;
    uint32_t ranks, nodes;
    double bytes, time_s; /* of the first ones: their median */
    double expected_s;
    enum reach_source source;
    uint32_t peers;                  /* by peers: how many */
    double smaller_bytes, smaller_s; /* by sizes: what it is compared with */
};
/* How often a kind came to be known: while it is the same, so is the answer of reach_find() with the same
 * adapter. */
uint32_t reach_known(const struct reach *r);
/* Those that fall short, the worst first, one of each shape and source; adapter_bytes_per_s: what a node's
 * adapters send together, 0 unknown. Returns how many, at most max. */
size_t reach_find(const struct reach *r, double adapter_bytes_per_s, struct reach_short *out, size_t max);

#endif
