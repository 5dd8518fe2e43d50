/* pacing.h - pacing between controller and ranks.  What the controller allows goes to the control page; what
 * the ranks' leader reports goes to the controller.  The ranks pace by themselves; without an agent they
 * continue by the last state of the page. */
#ifndef SYNCGUARD_AGENT_PACING_H
#define SYNCGUARD_AGENT_PACING_H

#include <jansson.h>

#include "ring/control_page.h"

/* Read the object "pace" of a control message, see doc/protocol.md.  Keys that are missing leave their field
 * as it is; values out of range are bounded; a list with an unknown lever allows none. */
void pacing_control(const json_t *pace, struct control_page_pace *c);
/* Write it to the page if it differs.  A NULL page is fine. */
void pacing_apply(struct control_page *page, const struct control_page_pace *wanted);

struct pacing;
struct pacing *pacing_new(const char *dir); /* dir is lent */
void pacing_free(struct pacing *p);         /* NULL is fine */
/* The ranks' report if it has changed or was not sent for 10 s, else NULL.  The caller frees it. */
json_t *pacing_news(struct pacing *p, double now_s);

#endif
