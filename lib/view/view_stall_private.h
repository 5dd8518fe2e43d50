/* view_stall_private.h - what a search for those who hold up a job found: view_stall.c searches,
 * view_stall_words.c writes the sentence. */
#ifndef SYNCGUARD_VIEW_VIEW_STALL_PRIVATE_H
#define SYNCGUARD_VIEW_VIEW_STALL_PRIVATE_H

#include "view/view_private.h"

#define STALL_IDLE_RATIO 0.05 /* of a CPU: a process that uses less does not compute */

/* What a rank does. */
enum stall_doing {
    STALL_ELSEWHERE, /* in short calls and between them, or nothing is known */
    STALL_OUTSIDE,   /* in no call for long */
    STALL_COLLECTIVE,
    STALL_MESSAGE
};
enum stall_doing view_stall_doing(const struct view *v, const struct view_rank *k, double now_s);
/* Is it known what the rank does? */
bool view_stall_is_seen(const struct view_rank *k, double now_s);
/* A guest counts what it does and records none of it. */
bool view_stall_is_counted(const struct view_rank *k);

/* A member of the communicator, or one that has ended, which may have been. */
bool view_stall_belongs(const struct view *v, uint64_t comm, uint32_t rank);

/* Since when no rank has come further: a step, or a collective of the communicator that steps are counted on;
 * without steps, any call.  Infinite: not known. */
double view_stall_idle_since_s(const struct view *v);

struct stall_scene {
    uint32_t ranks, collectives, messages; /* that run; of them, that wait in ... */
    uint32_t halted;                       /* whose process cannot run */
    uint32_t ended;                        /* that do not run any more */
    struct view_silence silence;
    uint32_t heard;                           /* that do not run on silent nodes */
    double collective_s, message_s, halted_s; /* since when the first of them has; infinite: none */
    bool open_collective, open_message;       /* in a trace: the record ends inside of one */
};

/* A communicator in whose newest collective ranks wait. */
struct stall_front {
    uint64_t comm;
    uint32_t seq, waiting;
    uint8_t op;
    double since_s;
};

enum stall_why {
    STALL_NOBODY, /* is known to hold it up */
    STALL_HALTED,
    STALL_LOST,      /* its node has gone silent */
    STALL_BEHIND,    /* inside of an older collective than the others */
    STALL_DIFFERS,   /* in another collective than the others */
    STALL_SIZES,     /* in the same one with another number of bytes */
    STALL_CIRCLE,    /* they wait for each other */
    STALL_ALONE,     /* in a collective that most ranks do not call */
    STALL_MISSING,   /* where the others wait */
    STALL_ROOTS,     /* all chains of ranks that wait for one another end at them */
    STALL_UNRECORDED /* at ranks of which nothing is recorded, and these are most */
};

/* Where a chain of ranks that wait for one another ends. */
enum stall_end {
    STALL_END_NONE,    /* not at this rank */
    STALL_END_UNKNOWN, /* whom the rank waits for, if for anybody, is not known */
    STALL_END_FREE,    /* it is in no call, and others wait for it */
    /* it is in a collective to which all have come, and which others have left; where not all is told, others
     * wait for it besides: else it may wait for the transfer */
    STALL_END_BEHIND,
    STALL_END_UNRECORDED, /* others wait for it, and nothing of it is recorded */
};

struct stall_search {
    const struct view *v;
    double now_s;
    struct stall_scene scene;
    struct place *place;
    size_t n_places;
    bool told;        /* how far ranks have come in their communicators is said: nothing has to be guessed */
    uint8_t *mark;    /* by rank, and so are these: */
    bool *awaited;    /* somebody waits for it */
    uint8_t *end;     /* enum stall_end */
    uint32_t *waiter; /* who waits for its message; UINT32_MAX: nobody */
    struct stall_front *missed; /* the collective in which most wait for it; waiting 0: none */
    uint32_t *circle, n_circle; /* ranks that wait for each other, each for the next one */
    bool circle_order;          /* among them: who has made the other's call, behind the one that it is in */
    bool unsure;                /* others seem to wait for each other, and that is not sure */
    struct stall_front front;   /* in which most wait; waiting 0: none */
    uint32_t *rank, n;          /* that hold it up */
    enum stall_why why;
};

/* view_stall_waits.c: fills end, awaited, waiter, missed and the circle */
void stall_waits_find(struct stall_search *s);

/* The sentence.  Returns buf. */
char *view_stall_words(const struct stall_search *s, char *buf, size_t size);

#endif
