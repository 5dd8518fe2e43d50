/* exchange.h - the pattern of what a job communicates, by the names of topology/pattern.h: ring, groups:G,
 * pipeline:SxR.
 *
 * From its communicators and, where ranks pass messages, from who sends to whom. There is a name only where
 * nearly all bytes fit it: a wrong one would place ranks that communicate far from each other. So halos,
 * all-to-all, collectives with a root, three dimensions of groups and pipelines whose replicas are numbered
 * first have none. Halving is never said, because which algorithm an MPI library uses for an all-reduce is
 * not seen: a ring stands for all of them.
 *
 * Pure but for memory. */
#ifndef SYNCGUARD_CALLS_EXCHANGE_H
#define SYNCGUARD_CALLS_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCHANGE_NAME_SIZE 32

struct exchange_comm {
    uint32_t first, size, stride; /* the ranks first, first + stride, ...; stride 0: they are no such row */
    /* of collectives that a ring over the members does: all-reduce, all-gather, reduce-scatter */
    bool sums;
    double bytes; /* of all members, in some steps */
};
struct exchange_message {
    uint32_t from, to;
    double bytes; /* in the same steps */
};
struct exchange {
    uint32_t ranks; /* 0 to ranks - 1; all other numbers are below it */
    const struct exchange_comm *comm;
    size_t n_comms;
    const struct exchange_message *message;
    size_t n_messages;
};

/* False: there is no certain one, and name is "". */
bool exchange_name(const struct exchange *e, char name[EXCHANGE_NAME_SIZE]);

#endif
