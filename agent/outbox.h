/* outbox.h - items on their way into batches, and those into a backlog. */
#ifndef SYNCGUARD_AGENT_OUTBOX_H
#define SYNCGUARD_AGENT_OUTBOX_H

#include "agent/backlog.h"
#include "wire/telemetry.h"

struct outbox;

struct outbox *outbox_new(struct backlog *to);
void outbox_free(struct outbox *b); /* NULL is fine; what was not flushed is lost */

void outbox_put(struct outbox *b, const struct telemetry_item *item); /* a full batch goes into the backlog */
void outbox_flush(struct outbox *b); /* so does what there is; nothing when empty */

#endif
