/* graph_private.h - the parts of a graph, for the files of this module. */
#ifndef SYNCGUARD_GRAPH_GRAPH_PRIVATE_H
#define SYNCGUARD_GRAPH_GRAPH_PRIVATE_H

#include "common/hash.h"
#include "common/map.h"
#include "graph/clock.h"
#include "graph/graph.h"

#define NO_SLOT UINT16_MAX
#define SIGNS   4u   /* different sets of calls that a rank's steps are counted by */
#define HELD_S  5e-6 /* who stayed shorter than this in a completing call was not held */

/* A call, or one half of a nonblocking one, as it came. */
struct raw {
    uint32_t meeting;
    uint8_t kind, does;
    bool lost; /* calls are missing before it */
    bool blocking;
    uint64_t enter_ns, leave_ns;
};

struct slot {
    uint64_t token; /* what is called there */
    uint32_t place; /* the number of the place; GRAPH_NONE: not yet */
    uint32_t each;  /* calls in a step that are numbered together with it, and ... */
    uint32_t first; /* ... the number that it would have had in step 0, counted back */
};

struct end { /* of a rank's step */
    uint32_t number;
    size_t at;         /* in raw; counted from the rank's beginning */
    uint64_t begun_ns; /* when the call that ended the step before was left; 0: there is none */
};

struct rank {
    bool known, ended, lost,
        begun; /* ended: it makes no more calls; begun: it came to the end of a step, so that what follows is whole steps */
    uint32_t node;
    struct raw *raw;
    size_t n, cap, gone; /* gone: raw calls that were taken into steps */
    struct end *end;
    size_t n_ends, ends_cap;
    uint64_t ended_ns; /* its newest step; 0: none */
    uint64_t sign;     /* what it calls in most steps; in some a call is missing */
    struct sign {
        uint64_t sign;
        uint32_t steps;
    } tally[SIGNS]; /* what it called in the steps so far */
    uint32_t role;
    struct slot *slot; /* places in its usual step */
    size_t places, slots_cap;
    uint32_t others; /* steps in a row with another number of calls */
    bool whole;      /* no call is missing in its usual step */
};

struct comm {
    uint32_t *node; /* ascending */
    uint32_t nodes;
    size_t cap;
};

struct kind {
    struct graph_kind_info info;
    uint32_t pair[2]; /* nodes of a message */
    uint32_t comm;    /* number */
    double usual_s;
    uint32_t taken;
};

/* How messages of about one size are sent, within a node or between nodes: receivers that came late and found it there, and those for
 * whom it began only then. */
struct protocol {
    uint32_t found, waited;
};

struct meeting {
    struct graph_meeting m;
    uint64_t key;
    uint32_t seq;
    bool listed;   /* an operation that it holds is in the order */
    uint32_t open; /* arrivals not yet in the order of the step at hand */
    /* while its step is put together */
    double send_s, recv_s, recv_left_s; /* a message's */
    uint64_t sent_ns, received_ns;
    double least_stay_s, most_stay_s; /* a collective's */
    double held_left_s, least_left_s; /* the first that was held, the first of all */
};

struct place {      /* in a rank's program */
    float usual_s;  /* its work there */
    uint32_t seen;  /* steps in it */
    uint32_t class; /* places of all ranks where the same is called */
};

struct kept {
    struct graph_step s;
    struct graph_op *op;
    double *begin_s; /* by rank; NaN: it took no part */
    uint32_t ranks;  /* of begin_s */
    uint32_t first;  /* the oldest of its meetings */
};

struct graph {
    struct rank *rank;
    size_t ranks_cap;
    uint32_t n_ranks, nodes;
    struct graph_clock *clock;
    struct comm *comm;
    size_t n_comms, comms_cap;
    struct kind *kind;
    size_t n_kinds, kinds_cap;
    struct protocol protocol[65][2]; /* by graph_kind_info's size; between nodes */
    struct map comms, kinds, meetings, places, classes;
    struct place *place;
    uint32_t n_places, n_classes;
    size_t places_cap;
    struct meeting *meeting; /* from number `base` on */
    uint32_t base, n_meetings;
    size_t meetings_cap;
    struct kept kept[GRAPH_STEPS];
    uint64_t steps;        /* taken */
    uint32_t n_kept;       /* remembered */
    size_t ops;            /* in them */
    uint32_t roles, tried; /* tried: steps in which ranks did not always make the same calls */
    bool merged;           /* the step at hand is two */
    double held_s;         /* who stays shorter in a completing call was not held */
    bool spans;            /* calls are begun in one step and completed in another */
    uint32_t from;         /* steps up to this one are not whole on all ranks */
    bool finished;
    double *now_s, *start_s, *over_s; /* of a replay */
    size_t now_cap, start_cap, over_cap;
};

struct window { /* a rank's calls of the step at hand */
    struct raw *raw;
    size_t n;
    uint64_t begun_ns; /* as in struct end */
};

static inline uint64_t key_of(const void *words, size_t bytes)
{
    return hash_bytes(HASH_START, words, bytes);
}

static inline struct meeting *meeting_at(const struct graph *g, uint32_t number)
{
    return &g->meeting[number - g->base];
}

/* A moment on a rank's node, by the common clock. */
static inline double moment_s(const struct graph *g, uint32_t rank, uint64_t ns)
{
    return graph_clock_s(g->clock, g->rank[rank].node, ns);
}

static inline bool graph_crosses(const struct graph *g, const struct kind *k)
{
    return g->rank[k->info.from].node != g->rank[k->info.to].node;
}

/* Do messages of this kind not wait for their receiver?  One kind does not show it: where the clocks of two nodes are not aligned well, its
 * transfers look longer than they are. */
static inline bool graph_is_eager(const struct graph *g, const struct kind *k)
{
    const struct protocol *p = &g->protocol[k->info.size][graph_crosses(g, k)];

    return p->found > 4 * p->waited;
}

/* When a meeting could begin: at its last arrival, and one after another on a communicator. */
double meeting_begin_s(const struct graph *g, const struct meeting *m);

/* graph_measure.c: align the clocks by the step's calls, then find when each of its meetings began and ended */
void graph_align(struct graph *g, const struct window *w);
void graph_measure(struct graph *g, const struct window *w);
/* graph_order.c: the step's operations, each after those that it waits for; what was more than usual in it */
void graph_order(struct graph *g, struct kept *kept, const struct window *w);
/* graph_roles.c: as soon as every rank's calls are known */
void graph_find_roles(struct graph *g, const struct window *w);

/* What a call does, and in what kind of meeting. */
static inline uint64_t graph_token(const struct graph *g, const struct raw *raw)
{
    return (uint64_t)meeting_at(g, raw->meeting)->m.kind << 8 | raw->kind << 4 | raw->does;
}

static inline bool window_lost(const struct window *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->raw[i].lost)
            return true;
    return false;
}

/* The same for the same calls in any order, with whomever. */
uint64_t graph_sign(const struct graph *g, const struct window *w);
/* graph_repair.c: put back calls whose records are missing, as far as the rank's usual step and the others' records show what they were,
 * and the end of a step, where some ranks have it.  false: it cannot be found. */
void graph_repair(struct graph *g, struct window *w, uint32_t number);
bool graph_repair_end(struct graph *g, uint32_t number);

#endif
