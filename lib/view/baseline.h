/* baseline.h - what the first collectives of each communicator should take, and which communicators are
 * slower than that from the start: a fallback to a slow device, a wrong algorithm or order of ranks.
 *
 * Detectors that compare with before see nothing where it was never better.  Here the first blocking
 * collectives of each communicator, operation and size (after some that may set up connections) are compared
 * with
 * - what the nodes' adapters need for the bytes of an all-reduce between nodes (2 (n - 1) / n of them,
 * Patarasuk & Yuan 2009);
 * - communicators of as many ranks, nodes and switches: the median of all of them;
 * - smaller collectives of the same communicator: the time of a size over another one grows no faster than
 * the size. Their fast quarter must be slower than that by a wide margin: BASELINE_ADAPTER times for the
 * adapters, whose rate no library reaches, BASELINE_TIMES otherwise.  Jobs on real networks differ by less
 * than a factor of two between peers.
 *
 * Pure.  Seconds, bytes.  Memory: some 150 bytes a communicator, operation and size; at most
 * BASELINE_KINDS_MAX. */
#ifndef SYNCGUARD_VIEW_BASELINE_H
#define SYNCGUARD_VIEW_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASELINE_KINDS_MAX 2048u
#define BASELINE_TIMES     3.0
#define BASELINE_ADAPTER   8.0

struct baseline;

struct baseline *baseline_new(void);
void baseline_free(struct baseline *r); /* NULL is fine */

/* A kind of collectives: sizes within a factor of two are one. NULL: enough of them were seen, or there are
 * too many kinds. */
struct baseline_kind;
struct baseline_kind *baseline_kind_get(struct baseline *r, uint64_t comm, uint8_t op, double bytes);
/* Its shape is not known yet: baseline_shape() first. */
bool baseline_is_new(const struct baseline_kind *k);
void baseline_shape(struct baseline_kind *k, uint32_t ranks, uint32_t nodes, uint32_t switches);
void baseline_take(struct baseline *r, struct baseline_kind *k, double bytes, double transfer_s);

enum baseline_source { BASELINE_BY_ADAPTER, BASELINE_BY_PEERS, BASELINE_BY_SIZES };
struct baseline_shortfall {
    uint64_t comm;
    uint8_t op;
    uint32_t ranks, nodes;
    double bytes, time_s; /* of the first ones: their median */
    double expected_s;
    enum baseline_source source;
    uint32_t peers;                  /* by peers: how many */
    double smaller_bytes, smaller_s; /* by sizes: what it is compared with */
};
/* How often a kind came to be known: while it is the same, so is the answer of baseline_find() with the same
 * adapter. */
uint32_t baseline_known(const struct baseline *r);
/* Those that fall short, the worst first, one of each shape and source; adapter_bytes_per_s: what a node's
 * adapters send together, 0 unknown. Returns how many, at most max. */
size_t baseline_find(const struct baseline *r, double adapter_bytes_per_s, struct baseline_shortfall *out,
                     size_t max);

#endif
