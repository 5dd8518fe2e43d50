/* player.h - a recorded trace played on the event loop: it reads on as far as the playback asks for by now.
 */
#ifndef SYNCGUARD_TUI_PLAYER_H
#define SYNCGUARD_TUI_PLAYER_H

#include <event2/event.h>

#include "tui/playback.h"
#include "tui/replay.h"

struct player;

/* r and p are borrowed: p has the speed and the seeks, and receives the position.  ready is called once, when
 * there is something to show. */
struct player *player_new(struct event_base *base, struct replay *r, struct playback *p,
                          void (*ready)(void *arg), void *arg);
void player_free(struct player *p); /* NULL is fine */

/* The playback was changed: do not wait for the next tick. */
void player_hurry(struct player *p);

#endif
