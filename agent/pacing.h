/* pacing.h - pacing between controller and ranks: what it allows goes to the control page, what the ranks'
 * leader reports comes back.  The ranks pace by themselves; without an agent they go on by what the page
 * says. */
#ifndef SYNCGUARD_AGENT_PACING_H
#define SYNCGUARD_AGENT_PACING_H

#include <jansson.h>

#include "ring/control_page.h"

/* The "pace" of a control message, see doc/protocol.md.  Absent parts are left as they are; what cannot be is
 * bounded; a list of levers with an unknown one is none. */
void pacing_control(const json_t *pace, struct control_page_pace *c);
/* Write it to the page (NULL is fine) when it is different. */
void pacing_apply(struct control_page *page, const struct control_page_pace *wanted);

struct pacing;
struct pacing *pacing_new(const char *dir); /* dir is lent */
void pacing_free(struct pacing *p);         /* NULL is fine */
/* What the ranks report, when it is news or was not told for a while; NULL: nothing to tell. */
json_t *pacing_news(struct pacing *p, double now_s);

#endif
