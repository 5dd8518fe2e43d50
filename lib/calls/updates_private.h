/* updates_private.h - what is kept of servers and workers, which updates.c takes from their calls and
 * updates_figures.c and updates_servers.c compare. */
#ifndef SYNCGUARD_CALLS_UPDATES_PRIVATE_H
#define SYNCGUARD_CALLS_UPDATES_PRIVATE_H

#include "calls/accesses.h"
#include "calls/serving.h"
#include "calls/updates.h"
#include "common/map.h"

#define NONE UINT32_MAX

/* newest updates of a server, of which it is known when they came: answers may be begun before the newest */
#define RECENT 64u

/* A worker's newest intervals at a server, which are compared with one another: an order that repeats after
 * up to half as many of its own updates is seen in them. */
#define ORDER 16u

enum phase { QUIET, TAKES, GIVES }; /* the way of the newest large messages */

/* A rank's exchange with another one, as it is seen from the former. */
struct pair {
    uint32_t rank, peer;
    uint32_t epoch, gap; /* the rank's when it was looked at last */
    uint8_t phase;
    bool went;             /* by another peer of the rank, or that one went by it: go_by() */
    bool partial;          /* the run that goes on may have begun before */
    bool read_known;       /* at_read is */
    uint32_t takes, gives; /* runs of large messages received, and sent */
    uint32_t alike;
    uint32_t went_at;                /* takes when others went by it last */
    uint64_t took_bytes, gave_bytes; /* of the runs that go on */
    uint64_t usual_take, usual_give; /* of the newest complete ones; 0: none yet */
    /* Of the rank's runs received, from all: the newest of this peer, and the last two of them that were
     * answered; 0: none. */
    uint64_t newest, answered, answered_before;
    /* Of accesses: when these runs began, and the newest write ended.  gone_by_ns: the peer of pair gone_by
     * went by this one until then, if its next write begins later; 0: nobody did. */
    uint64_t begun_ns, answered_ns, answered_before_ns, wrote_ns, gone_by_ns;
    uint32_t gone_by;
    uint64_t at_read; /* others' updates that were applied when it read */
    uint64_t took_ns; /* when the newest of its runs was received */
    uint64_t gave_ns; /* when the newest run was begun */
    float answer_s;   /* from there until the answer came, mean of the newest; 0: not known */
    /* Runs of others between this peer's, modulo 256, in the stretch that goes on: order_follows(). */
    uint8_t others[ORDER], n_others;
    bool follows;          /* since its run before nothing was missing */
    uint8_t irregular;     /* stretches that do not repeat; counted up to STRETCHES_MIN, and so are ... */
    uint8_t regular;       /* ... those that do */
    uint32_t older, newer; /* pairs of this rank by their newest; NONE */
    uint32_t next;         /* of the same rank; NONE */
};

struct history { /* of a rank, the newest of each at n - 1, modulo its length */
    uint32_t n, n_stale;
    /* work: a server's, from an update to its answer, 0: not known */
    float turn_s[UPDATES_TURNS], work_s[UPDATES_TURNS], wait_s[UPDATES_TURNS];
    uint32_t stale[UPDATES_STALE], stale_max;
    uint64_t took_ns[RECENT]; /* when a server received its newest updates ... */
    uint32_t from[RECENT];    /* ... and from whom */
};

struct member {                /* a rank */
    bool serves;               /* it was seen to go on without somebody */
    struct accesses *accesses; /* of others to its memory; NULL: none */
    uint64_t accessed_ns;      /* when the newest of them ended */
    uint32_t clock;
    bool ended, slow, limit; /* slow, limit: as it was told last */
    uint32_t epoch;          /* collectives that it took part in */
    uint32_t gap;            /* times that calls were missing */
    uint32_t first;          /* pair; NONE */
    uint32_t oldest, newest;
    uint32_t anchor;         /* pair that its iterations are counted by */
    uint64_t takes;          /* runs received, from all, in this epoch ... */
    uint64_t took_ns;        /* ... and when the newest one was */
    bool called;             /* since some server was seen */
    uint64_t left_ns;        /* its newest call; 0: not known */
    uint64_t begun_ns;       /* the iteration that goes on; 0: none */
    double work_s, wait_s;   /* in it */
    struct history *history; /* NULL: no server was seen yet */
    /* Server: what its newest update took it until the answer; 0: it has not answered it, or not at once. */
    double served_s;
    struct serving *serving; /* all such times; NULL: there are none */
};

struct updates {
    struct member *member;
    size_t members_cap;
    uint32_t n;
    struct pair *pair;
    size_t pairs_cap;
    uint32_t n_pairs;
    struct map pairs;
    bool beyond; /* there are too many pairs */
    bool any;    /* some server was seen */
    bool found;
    bool undecided;                   /* but for their order, of which too little was seen, it is */
    bool computed, goes_on;           /* since the newest call, and whether it does */
    uint32_t calls;                   /* since it was last looked at all of them */
    struct updates_rank *rank, *kept; /* kept: those of last */
    size_t rank_cap, kept_cap;
    struct updates_figures last; /* as it was found last; without ranks: it never was */
};

/* The pair, as far as it is known and counts; NULL: it does not. */
static inline const struct pair *valid_pair(const struct updates *u, uint32_t rank, uint32_t peer)
{
    uint32_t at = map_get(&u->pairs, (uint64_t)rank << 32 | peer);
    const struct pair *p = at == MAP_NONE ? NULL : &u->pair[at];

    return p && p->epoch == u->member[rank].epoch ? p : NULL;
}

/* updates_servers.c: what a server costs, whether it became slower, and whether it is the limit: slow, times,
 * slowdown, since_..., busy..., limit */
void updates_server(const struct updates *u, const struct updates_figures *f, struct updates_rank *k);

#endif
