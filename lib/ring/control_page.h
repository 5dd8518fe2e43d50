/* control_page.h - settings that the agent passes to the probes of its node, in one page that they map
 * read-only.  Every field is read with a relaxed load and stays valid after the agent has exited:
 * a probe never waits for the controller. */
#ifndef SYNCGUARD_RING_CONTROL_PAGE_H
#define SYNCGUARD_RING_CONTROL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#define CONTROL_PAGE_FILE    "control"
#define CONTROL_PAGE_MAGIC   0x53474354u /* "SGCT" */
#define CONTROL_PAGE_VERSION 2u

/* A requested checkpoint, which all ranks receive at the same call (steps.h).  Call number `at` of a rank
 * returns true if its program is `app` and the state is committed by then, else false; later calls do not
 * match. */
enum control_page_asked { CONTROL_PAGE_ASKED_NONE, CONTROL_PAGE_ASKED_ARMED, CONTROL_PAGE_ASKED_COMMITTED };
struct control_page_checkpoint {
    uint64_t at;  /* n-th call of steps_due(), from 1; 0: none */
    uint32_t app; /* the incarnation whose calls are counted */
    uint32_t state;
};

/* Pacing (pacing/pacer.h).  All zero: off. */
struct control_page_pace {
    uint32_t levers;       /* PACER_... that may be used; 0: none */
    uint32_t max_delay_us; /* a rank is held back for no longer than that, once a collective */
    uint32_t share;        /* of what a rank is reliably early by that it may sleep, in thousandths */
    uint32_t epoch;        /* consecutive collectives with the lever, or without */
    uint32_t every;        /* one epoch in `every` runs without the lever in force */
    uint32_t generation;   /* grows with every change of these */
    uint32_t reserved[10];
};

struct control_page {
    uint32_t magic, version;
    uint32_t generation; /* grows with every change */
    uint32_t record;     /* 0: the probe passes every call straight through; 1: it records */
    uint32_t reserved[12];
    struct control_page_checkpoint checkpoint;
    uint32_t reserved_checkpoint[12];
    struct control_page_pace pace;
    uint32_t unused[976];
};
_Static_assert(sizeof(struct control_page) == 4096, "the control page is a page");

/* Agent: make DIR/control (recording on) and map it for writing.  NULL on failure, errno set. */
struct control_page *control_page_create(const char *dir);
/* Guest: map it for reading, and create it if missing: the agent starts when it sees the ranks' rings.  Where
 * that fails, a page that says to record; it is not closed. */
const struct control_page *control_page_follow(const char *dir);
/* Map it for reading.  NULL when it is missing or not ours; the probe then records. */
const struct control_page *control_page_open(const char *dir);
void control_page_close(const struct control_page *page); /* NULL is fine */

/* Agent: set the request.  A rank never sees the call of one request with the state of another. */
void control_page_ask(struct control_page *page, uint64_t at, uint32_t app, enum control_page_asked state);
/* Rank: does the request apply to its n-th call? */
bool control_page_asked(const struct control_page *page, uint64_t n, uint32_t app);

#endif
