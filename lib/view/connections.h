/* connections.h - the TCP connections between a view's nodes: where they became slower, slow collectives have
 * their place. */
#ifndef SYNCGUARD_VIEW_CONNECTIONS_H
#define SYNCGUARD_VIEW_CONNECTIONS_H

#include "detect/finding.h"
#include "view/pairs.h"
#include "view/quota.h"
#include "view/roster.h"

struct connections;
struct connections *connections_new(struct quota *quota, struct roster *roster); /* lent */
void connections_free(struct connections *s);                                    /* NULL is fine */
void connections_forget(struct connections *s);
void connections_take(struct connections *s, double now_s, const struct traffic_item *t);
/* Give slow collectives that have no place the one whose connections became slower, if there is one.  Returns
 * whether it did. */
bool connections_place(struct connections *s, double now_s, struct finding *f);
/* By how much those of the last place became slower, in words; returns buf. */
char *connections_text(const struct connections *s, char *buf, size_t size);

#endif
