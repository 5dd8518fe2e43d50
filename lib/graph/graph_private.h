/* graph_private.h - the parts of a graph, for the files of this module. */
#ifndef SYNCGUARD_GRAPH_GRAPH_PRIVATE_H
#define SYNCGUARD_GRAPH_GRAPH_PRIVATE_H

#include <math.h>

#include "common/hash.h"
#include "common/map.h"
#include "graph/clock.h"
#include "graph/graph.h"

#define NO_SLOT UINT16_MAX
#define SIGNS   4u   /* different sets of calls that a rank's steps are counted by */
#define HELD_S  5e-6 /* who stayed shorter than this in a completing call was not held */

#define MEETINGS_LENT 8u
/* meetings of the newest step that is forgotten are still known */
#define KEPT_MAX (GRAPH_STEPS + 1)

/* A call, or one half of a nonblocking one, as it came. */
struct raw {
    uint32_t meeting;   /* its slot */
    uint8_t side, does; /* enum call_side, enum graph_does */
    bool lost;          /* calls are missing before it */
    bool blocking;
    uint64_t enter_ns, leave_ns;
};

static inline double raw_stay_s(const struct raw *raw)
{
    return (double)(raw->leave_ns - raw->enter_ns) * 1e-9;
}

struct slot {
    uint32_t token; /* what is called there */
    uint32_t place; /* the number of the place; GRAPH_NONE: not yet */
    uint32_t first; /* the number that it would have had in step 0, counted back, ... */
    uint16_t each;  /* ... by as many calls in a step as are numbered together with it */
};

struct end { /* of a rank's step */
    uint32_t number;
    size_t at;         /* in raw; counted from the rank's beginning */
    uint64_t begun_ns; /* when the call that ended the step before was left; 0: there is none */
};

/* What a rank called in the steps so far, in any order and in its own. */
struct tallies {
    struct tally {
        struct {
            uint64_t sign;
            uint32_t steps;
        } of[SIGNS];
    } calls, orders;
};

struct rank {
    bool known, ended, lost,
        /* ended: it makes no more calls; begun: it came to the end of a step, so that what follows is whole
           steps; whole: no call is missing in its usual step */
        begun, whole;
    uint32_t role;
    uint32_t node;
    struct raw *raw;
    size_t n, cap, gone; /* gone: raw calls that were taken into steps */
    struct end *end;
    size_t n_ends, ends_cap;
    uint64_t ended_ns; /* its newest step; 0: none */
    uint64_t sign;     /* what it calls in most steps; in some a call is missing */
    uint64_t order;    /* the same in its order; 0: that varies */
    uint32_t program;  /* the role, before parts of it were taken out */
    uint32_t seat[GRAPH_SEATINGS];
    struct slot *slot; /* places in its usual step */
    uint32_t places;
    uint32_t others; /* steps in a row with another number of calls */
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
    uint32_t taken;
    double usual_s;
};

/* How messages of about one size are sent, within a node or between nodes: receivers that came late and found
 * it there, and those for whom it began only then. */
struct protocol {
    uint32_t found, waited;
    uint32_t left; /* of the latter those whose sender had gone on before the receiver came */
};

/* A meeting that calls may still come to. */
struct meeting {
    uint64_t key;
    uint32_t kind, seq;
    uint32_t number; /* once a step has it; GRAPH_NONE: none has */
    /* slot of the meeting before it on its communicator, while its step is put together; GRAPH_NONE */
    uint32_t before;
    uint32_t refs; /* calls of it in no step yet */
    uint32_t open; /* arrivals not yet in the order of the step at hand */
    float transfer_s, max_s, over_s;
    uint8_t
        newest; /* steps that had been taken when it was new, or when one had it; of these the last bits */
    bool used : 1;
    bool measured : 1; /* the step at hand has a call of it, ... */
    bool numbered : 1; /* ... which is in the order, ... */
    bool listed : 1;   /* ... and held */
    double start_s, end_s;
    union {
        struct {
            /* when it was sent, by the sender's clock, or received, by the receiver's: the earlier one */
            uint64_t half_ns;
            double send_s, recv_s; /* as the clocks lay in the step that had the call; NaN: not known */
            float recv_stay_s, send_stay_s; /* send: until its call, or the one that completes it, was left */
            bool sent, received;            /* half_ns is that of */
        } message;
        struct {
            float min_stay_s, max_stay_s;
            double held_left_s, least_left_s; /* the first that was held, the first of all */
            uint64_t posted_ns; /* by posted_by, the rank that was looked at last, where it is nonblocking */
            uint32_t posted_by;
        } all;
    };
};
/* Open meetings are the largest part of what a job that passes messages takes. */
_Static_assert(sizeof(struct meeting) <= 104, "a meeting has no holes");

/* What stays of one in a step that is remembered; with what its step shares with others it is a struct
 * graph_meeting.  Of seconds those of kept_pack(). */
struct past {
    float start_s;      /* after the begin of its step */
    uint16_t over, max; /* max: PAST_KNOWN, its transfer is known, which is over then */
};
#define PAST_KNOWN 0xfffeu

struct place {           /* in a rank's program */
    float usual_s;       /* its work there */
    uint32_t class : 24; /* places of all ranks where the same is called */
    uint32_t seen : 8;   /* steps in it; SEEN_MAX: or more */
};

/* What is the same of an operation and of a meeting whenever the step is: steps share it. */
enum shaped {
    SHAPED_WORK = 1,
    SHAPED_LAG = 2,
    SHAPED_FIRST = 4,
    SHAPED_KNOWN = 8,
    SHAPED_DOES = 4 /* bits */
};

struct shaped_op {
    uint32_t rank;
    int32_t meeting; /* its number, counted from the first new one of the step */
    uint32_t place : 24, is : 8;
};
#define SHAPED_NOWHERE 0xffffffu

struct shaped_meeting {
    uint32_t kind;
    int32_t before; /* counted likewise; SHAPED_NONE */
};
#define SHAPED_NONE INT32_MIN

struct shape {
    uint64_t name;
    uint32_t steps; /* that have it */
    uint32_t meetings;
    size_t n;
    struct shaped_meeting *meeting; /* the step's new ones */
    struct shaped_op op[];
};

struct kept {
    struct graph_step s; /* without its operations */
    struct shape *shape;
    uint16_t *
        /* of the operations in turn: work_s and usual_s where there is work, lag_s where there is a lag;
           kept_pack() */
        value;
    float *begin_s;    /* by rank, after the step's begin; NaN: it took no part */
    struct past *past; /* meetings `first` to first + n_past - 1: those that no step before had */
    uint32_t first, n_past, ranks;
    size_t bytes;
};

struct graph {
    struct rank *rank;
    size_t ranks_cap;
    uint32_t n_ranks, nodes;
    struct graph_clock *clock;
    bool one_clock; /* graph_share_clock() */
    uint64_t origin_ns;
    double error_s; /* of it */
    struct comm *comm;
    size_t n_comms, comms_cap;
    struct kind *kind;
    size_t n_kinds, kinds_cap;
    struct protocol protocol[65][2]; /* by graph_kind_info's size; between nodes */
    struct map comms, kinds, meetings, places, classes;
    struct place *place;
    uint32_t n_places, n_classes;
    size_t places_cap;
    struct meeting *meeting;    /* that are open: a slot each */
    uint32_t n_meetings, slots; /* slots: that were in use so far */
    uint32_t free_slot;         /* the first of those that are not; a list through `before` */
    size_t meetings_cap;
    uint32_t *meeting_at; /* slots by their keys, of a power of two; GRAPH_NONE is none */
    size_t at_size;
    uint32_t next; /* number of the next meeting that a step has */
    struct kept kept[KEPT_MAX];
    uint64_t steps;    /* taken */
    uint32_t n_kept;   /* remembered */
    size_t ops, bytes; /* in them */
    struct opened {
        struct graph_op *op;
        size_t cap;
        uint64_t step; /* which of those taken, from 1 on; 0: none */
    } newest, other;   /* the newest step, and the one that was asked for last */
    struct graph_meeting lent[MEETINGS_LENT];
    uint32_t lend, found;  /* found: which step, back, had the meeting that was asked for last */
    struct tallies *tally; /* by rank, until roles are known */
    size_t tally_cap;
    uint32_t roles, tried; /* tried: steps in which ranks did not always make the same calls */
    bool seated;           /* seats in groups are known, as far as there are any */
    uint32_t seat_tries;   /* steps in which they were looked for */
    bool merged;           /* the step at hand is two */
    double held_s; /* in the step that is taken: who stays shorter in a completing call was not held */
    bool spans;    /* calls are begun in one step and completed in another */
    uint32_t from; /* steps up to this one are not whole on all ranks */
    bool finished;
    double *now_s; /* of a replay, by rank */
    size_t now_cap;
    uint32_t oldest,
        /* oldest: end of a step that is not taken, GRAPH_NONE not known; a rank that had not come to it */
        waits_for;
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

/* The same of three numbers, and quicker. */
static inline uint64_t key_of_numbers(uint64_t a, uint64_t b, uint64_t c)
{
    return hash_mix(hash_mix(hash_mix(a) + b) + c);
}

static inline struct meeting *meeting_at(const struct graph *g, uint32_t slot)
{
    return &g->meeting[slot];
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

/* Do messages of this kind not wait for their receiver?  One kind does not show it: where the clocks of two
 * nodes are not aligned well, its transfers look longer than they are. */
static inline bool graph_is_eager(const struct graph *g, const struct kind *k)
{
    const struct protocol *p = &g->protocol[k->info.size][graph_crosses(g, k)];

    return p->found > 4 * p->waited;
}

/* Does what carries these messages let their senders go on (as a thread or the network does for them)? */
static inline bool graph_lets_go(const struct graph *g, const struct kind *k)
{
    const struct protocol *p = &g->protocol[k->info.size][graph_crosses(g, k)];

    return graph_is_eager(g, k) || 2 * p->left > p->waited;
}

/* graph_meeting.c: the slot of the open meeting with that key, GRAPH_NONE: there is none; a new one; what
 * nobody comes to any more is forgotten, or all */
uint32_t meeting_find(const struct graph *g, uint64_t key);
uint32_t meeting_new(struct graph *g, uint64_t key);
uint64_t meeting_collective_key(uint64_t comm, uint32_t seq);
void meetings_close(struct graph *g);
void meetings_forget(struct graph *g);

/* graph_kept.c: keep the newest step, whose operations are in g->newest, with meetings `first` to g->next -
 * 1; forget the oldest one, or all */
void kept_add(struct graph *g, const struct graph_step *s, const double *begin_s, uint32_t first);
void kept_forget_oldest(struct graph *g);
void kept_forget(struct graph *g);
static inline struct kept *kept_at(const struct graph *g, uint32_t back)
{
    return (struct kept *)&g->kept[(g->steps - 1 - back) % KEPT_MAX];
}
void kept_let_go(struct graph *g); /* what was lent is not in use any more */
struct graph_op *opened_reserve(struct opened *o, size_t n);
struct graph_meeting kept_meeting(const struct kept *k, uint32_t at); /* its meeting `first` + at */

/* Seconds, from 0.1 ns on, in two bytes: the exponent and ten bits, which is 0.05 % at most beside it. */
#define PACKED_FROM (93u << 10) /* 2^-34 s */
#define PACKED_NAN  0xffffu
static inline uint16_t kept_pack(float s)
{
    union {
        float s;
        uint32_t bits;
    } u = { s };
    uint32_t packed = (u.bits + 0x1000) >> 13;

    if (isnan(s))
        return PACKED_NAN;
    if (!(s > 0) || packed <= PACKED_FROM)
        return 0;
    return (uint16_t)(packed - PACKED_FROM < PAST_KNOWN ? packed - PACKED_FROM : PAST_KNOWN - 1);
}

static inline float kept_unpack(uint16_t packed)
{
    union {
        uint32_t bits;
        float s;
    } u = { (packed + PACKED_FROM) << 13 };

    return packed == PACKED_NAN ? NAN : packed ? u.s : 0;
}

/* Its operation i, whose values begin here; where those of the next one do. */
static inline const uint16_t *kept_op(const struct kept *k, size_t i, const uint16_t *value,
                                      struct graph_op *op)
{
    const struct shaped_op *s = &k->shape->op[i];

    *op = (struct graph_op){ .rank = s->rank,
                             .meeting = k->first + (uint32_t)s->meeting,
                             .place = s->place == SHAPED_NOWHERE ? GRAPH_NONE : s->place,
                             .does = s->is >> SHAPED_DOES,
                             .has_work = s->is & SHAPED_WORK,
                             .first = s->is & SHAPED_FIRST,
                             .known = s->is & SHAPED_KNOWN };
    if (s->is & SHAPED_WORK) {
        op->work_s = kept_unpack(*value++);
        op->usual_s = kept_unpack(*value++);
    }
    if (s->is & SHAPED_LAG)
        op->lag_s = kept_unpack(*value++);
    return value;
}

/* graph_rank.c: one more call of the rank, at that place among its calls; ends of steps behind it remain the
 * same calls */
void graph_raw_insert(struct graph *g, struct rank *k, size_t at, const struct raw *raw);
/* in the order of the program: behind those that began earlier */
void graph_raw_add(struct graph *g, struct rank *k, const struct raw *raw);
/* forget those of its calls */
void graph_raw_drop(struct graph *g, struct rank *k, size_t from, size_t to);
/* one more end of a step, at that place among its ends; its first one is gone */
void graph_end_insert(struct rank *k, size_t at, const struct end *end);
void graph_end_drop(struct rank *k);
/* graph_measure.c: align the clocks by the step's calls, then find when each meeting began and ended */
void graph_align(struct graph *g, const struct window *w);
void graph_measure(struct graph *g, const struct window *w);
/* graph_order.c: the step's operations, each after those that it waits for, into g->newest, still with slots
 * of meetings; what was more than usual in it; where each rank began.  Returns the number of its first new
 * meeting. */
uint32_t graph_order(struct graph *g, struct graph_step *s, double *begin_s, const struct window *w);
/* graph_roles.c: as soon as every rank's calls are known */
void graph_find_roles(struct graph *g, const struct window *w);

/* What a call does, and in what kind of meeting. */
static inline uint32_t graph_token(const struct graph *g, const struct raw *raw)
{
    return meeting_at(g, raw->meeting)->kind << 8 | raw->side << 4 | raw->does;
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
/* Roles are known, or looked for from the beginning. */
void graph_tally_forget(struct graph *g);
/* graph_repair.c: put back calls whose records are missing, as far as the rank's usual step and the others'
 * records show what they were, and the end of a step, where some ranks have it.  false: it cannot be found */
void graph_repair(struct graph *g, struct window *w, uint32_t number);
bool graph_repair_end(struct graph *g, uint32_t number);

#endif
