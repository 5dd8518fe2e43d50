/* source.h - where the screens' answers come from: the controller over its link, or a recorded trace. To the
 * screens there is no difference. */
#ifndef SYNCGUARD_TUI_SOURCE_H
#define SYNCGUARD_TUI_SOURCE_H

#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>

#include "tui/playback.h"
#include "tui/replay.h"
#include "wire/client.h"

struct source;

/* Events have NULL as client where there is none; answers come in the questions' order.  o and events are
 * borrowed. */
struct source *source_link(struct event_base *base, const struct client_options *o,
                           const struct client_events *events, void *arg);
/* r and p are borrowed: p has the speed and the seeks, and receives the position. */
struct source *source_replay(struct event_base *base, struct replay *r, struct playback *p,
                             const struct client_events *events, void *arg);
void source_free(struct source *s); /* NULL is fine */

/* -1 when it cannot be asked now: ask again from the next answer or timer. */
int source_ask(struct source *s, const json_t *question);
/* It has been silent for too long: the question is lost, connect again. */
void source_restart(struct source *s);
/* The playback was changed: do not wait for the next tick. */
void source_hurry(struct source *s);

#endif
