/* control.h - what the agent tells the probes of its node: one page, mapped read-only by them.
 * Every field is read with a relaxed load and means the same when the agent is gone:
 * a probe never waits for the controller. */
#ifndef SYNCGUARD_RING_CONTROL_H
#define SYNCGUARD_RING_CONTROL_H

#include <stdint.h>

#define CONTROL_FILE    "control"
#define CONTROL_MAGIC   0x53474354u /* "SGCT" */
#define CONTROL_VERSION 1u

struct control_page {
    uint32_t magic, version;
    uint32_t generation; /* grows with every change */
    uint32_t record;     /* 0: the probe passes every call straight through; 1: it records */
    uint32_t reserved[1020];
};
_Static_assert(sizeof(struct control_page) == 4096, "the control page is a page");

/* Agent: make DIR/control (recording on) and map it for writing.  NULL on failure, errno set. */
struct control_page *control_create(const char *dir);
/* Probe: map it for reading.  NULL when it is not there or not ours: then the probe records. */
const struct control_page *control_open(const char *dir);
void control_close(const struct control_page *page); /* NULL is fine */

#endif
