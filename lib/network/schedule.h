/* schedule.h - the messages of an all-reduce: who sends how many bytes to whom in which round.
 *
 * Computed, never stored: a schedule of 16,384 members takes no more memory than one of two.  A member enters
 * the next round when its own messages of this one, sent and received, are complete; members without messages
 * do so at once.  Rounds come in stages: within one, members have the same partners and sizes in every round.
 *
 *   ring          Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009
 *   tree          binomial: reduce to member 0, then broadcast; not pipelined
 *   doubling      recursive doubling, the whole buffer each round
 *   halving       recursive halving, then doubling (Rabenseifner 2004).  Both fold members beyond a power of
 *                 two into their neighbours first, and give them the result at the end (Thakur et al. 2005)
 *   hierarchical  ring reduce-scatter among the `group` members of a node, then an all-reduce among those
 *                 with the same place in their nodes (a ring, or halving), then a ring all-gather in the node
 *   server        parameter server: `shards` of the buffer, each summed and given back by one member; all
 *                 members send at once
 *
 * Not modelled: pipelining in segments.
 *
 * Pure, no allocation.  Bytes. */
#ifndef SYNCGUARD_NETWORK_SCHEDULE_H
#define SYNCGUARD_NETWORK_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum schedule_algorithm {
    SCHEDULE_RING,
    SCHEDULE_TREE,
    SCHEDULE_DOUBLING,
    SCHEDULE_HALVING,
    SCHEDULE_HIERARCHICAL_RING,
    SCHEDULE_HIERARCHICAL_HALVING,
    SCHEDULE_SERVER,
};

extern const char *const schedule_algorithms[]; /* "ring", "tree", ..., NULL */

struct schedule_spec {
    enum schedule_algorithm algorithm;
    uint32_t members;
    double bytes;    /* of the whole buffer */
    uint32_t group;  /* hierarchical: members of a node, next to each other; divides members */
    uint32_t shards; /* server: 1 to members; shard s is on member s * members / shards */
};

#define SCHEDULE_STAGES_MAX 80u
#define SCHEDULE_SERVER_MAX (1u << 24) /* members x shards: messages of a round */

enum schedule_pattern {
    SCHEDULE_P_RING,     /* to the next of a ring */
    SCHEDULE_P_EXCHANGE, /* with the partner at a distance */
    SCHEDULE_P_FOLD_IN,
    SCHEDULE_P_FOLD_OUT,
    SCHEDULE_P_GATHER, /* up a binomial tree */
    SCHEDULE_P_SPREAD, /* down */
    SCHEDULE_P_PUSH,   /* to the servers */
    SCHEDULE_P_PULL,
};

struct schedule_stage {
    enum schedule_pattern pattern;
    uint32_t rounds;
    uint64_t first;  /* its first round */
    double bytes;    /* of each message */
    uint32_t size;   /* members of each of the groups that do the same side by side */
    uint32_t stride; /* between the members of a group; they are next to each other (1), or equally far */
    uint32_t distance;
};

struct schedule {
    struct schedule_spec spec;
    uint64_t rounds;
    uint64_t messages; /* of all members and rounds */
    uint32_t stages;
    struct schedule_stage stage[SCHEDULE_STAGES_MAX];
};

void schedule_init(struct schedule *s, const struct schedule_spec *spec);

/* The stage that a round belongs to. */
const struct schedule_stage *schedule_stage(const struct schedule *s, uint64_t round);

/* A server is a service of its node: a message to or from it starts as soon as its sender is ready.  Other
 * messages wait for both ends. */
bool schedule_has_server(const struct schedule *s);
/* Does the sender continue at once, before the round's messages are transferred?  A member on a server's node
 * has the sum there, and does not wait until others have fetched theirs. */
bool schedule_detached(const struct schedule *s, uint64_t round);

/* Calls for each message that member sends (or receives) in the round. */
struct schedule_message {
    uint32_t from, to;
    double bytes;
};
typedef void schedule_visit(void *arg, const struct schedule_message *m);
void schedule_sends(const struct schedule *s, uint64_t round, uint32_t member, schedule_visit *visit,
                    void *arg);
void schedule_receives(const struct schedule *s, uint64_t round, uint32_t member, schedule_visit *visit,
                       void *arg);

#endif
