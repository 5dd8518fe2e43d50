/* roster.h - a view's ranks: which there are, where they run, what they are doing. */
#ifndef SYNCGUARD_VIEW_ROSTER_H
#define SYNCGUARD_VIEW_ROSTER_H

#include "view/quota.h"
#include "wire/telemetry.h"

struct view_rank {
    bool known, ended, vanished;
    uint32_t node, switch_id; /* numbers of names; WORK_PLACE_NONE */
    int64_t pid;              /* of its process, as its node counts them; -1: not known */
    uint8_t left_op;          /* the collective that its newest sample is of */
    uint32_t left_seq;
    uint64_t left_comm;
    uint8_t inside_op, live_op; /* live_op: of the newest live item, also when the rank has left since */
    uint32_t inside_seq;
    uint64_t inside_comm, inside_ns; /* ns: by the node's clock */
    uint64_t inside_bytes;
    uint32_t queued;             /* calls that it has made, that are not over, beside that one */
    bool unrecorded;             /* nothing is known of its calls, see view_rank_record() */
    struct partner_item partner; /* of the call that it entered at partner.enter_ns; op RING_OP_NONE: none */
    double inside_since_s, live_at_s, left_at_s;
    struct left_item last; /* the call that it left last, by the newest item about it, and when that came */
    double last_at_s;
    bool never_left;
    enum process_state process; /* what kept its process from running, by the newest item about it */
    double process_since_s, process_at_s;
    uint64_t events, dropped, missed;
    struct losses_item losses;
    bool signals_known;
    uint64_t endured; /* signals, as in signals_item */
};

struct rank_count {
    uint32_t running, most; /* most that ran at a time */
    uint16_t app;
    double added_s;  /* when the last one was added */
    double active_s; /* when one was last known to have ended a call; infinite: not known */
};

struct roster;
struct roster *roster_new(struct quota *quota, double now_s); /* the quota is lent */
void roster_free(struct roster *s);
void roster_forget(struct roster *s, uint16_t app);

/* Bytes by which a new rank makes the view larger, at most. */
double roster_more_bytes(const struct roster *s, uint32_t rank);
void roster_add(struct roster *s, double now_s, uint32_t rank, const char *node, const char *switch_name);
/* pid: -1: not known. */
void roster_process_set(struct roster *s, uint32_t rank, uint16_t app, int64_t pid);
/* false: it is unknown, or had ended. */
bool roster_end(struct roster *s, uint32_t rank, uint16_t app, bool vanished);

void roster_take_sample(struct roster *s, double now_s, const struct sample *i);
void roster_take_partner(struct roster *s, const struct partner_item *i);
void roster_take_left(struct roster *s, double now_s, const struct left_item *i);
void roster_take_process(struct roster *s, double now_s, const struct process_item *i);
void roster_record(struct roster *s, uint32_t rank, bool recorded,
                   uint32_t queued); /* see view_rank_record() */
void roster_take_losses(struct roster *s, const struct losses_item *i);
void roster_take_signals(struct roster *s, const struct signals_item *i);
/* false: the item was refused. */
bool roster_take_live(struct roster *s, double now_s, const struct live *i);
bool roster_take_counts(struct roster *s, double now_s, const struct counts *i);

const struct view_rank *roster_at(const struct roster *s, uint32_t rank); /* rank < roster_limit() */
/* The rank that an item is of.  NULL: unknown; the item is counted as refused. */
const struct view_rank *roster_find(struct roster *s, uint32_t rank, uint16_t app);
uint32_t roster_limit(const struct roster *s); /* ranks are below this */
const struct rank_count *roster_count(const struct roster *s);

/* The one message that the call lasts for in which the rank is by its newest live item; NULL: none, or it is
 * not known. */
const struct partner_item *roster_partner(const struct view_rank *k);
/* The call that it left before its newest live item, by which it is in none; NULL: not known. */
const struct left_item *roster_last(const struct view_rank *k);
/* PROCESS_RUNS also where nothing is known of it. */
enum process_state roster_process(const struct view_rank *k, double now_s);

/* Nodes and switches by number; WORK_PLACE_NONE: there is none of that name, "": none of that number. */
uint32_t roster_place_find(const struct roster *s, const char *name);
const char *roster_place_name(const struct roster *s, uint32_t place);

#endif
