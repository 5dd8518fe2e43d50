/* outbox.h - collects items into batches, and puts full batches into a backlog. */
#ifndef SYNCGUARD_AGENT_OUTBOX_H
#define SYNCGUARD_AGENT_OUTBOX_H

#include "agent/backlog.h"
#include "wire/telemetry.h"

struct outbox;

struct outbox *outbox_new(struct backlog *to);
void outbox_free(struct outbox *b); /* NULL is fine; items not flushed are lost */

void outbox_put(struct outbox *b, const struct telemetry_item *item); /* may complete a batch */
void outbox_flush(struct outbox *b); /* complete the batch now, unless it is empty */

#endif
