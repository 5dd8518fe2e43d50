/* action_book.h - the records of actions, in an SQLite file of their own.
 *
 * A record is written before and after an action is carried out, each time synced to the disk, so that every action
 * that was carried out has a record.  (The history is not synced, and may lose its latest rows.)
 * Times: Unix seconds. */
#ifndef SYNCGUARD_ACTIONS_ACTION_BOOK_H
#define SYNCGUARD_ACTIONS_ACTION_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "actions/action_record.h"
#include "common/err.h"

struct action_book;

/* Open DIR/actions.sqlite; if that fails, use memory and give the reason in warning ("": no failure). */
struct action_book *action_book_open(const char *dir, struct err *warning);
void action_book_close(struct action_book *b);

/* Add a record; returns its id, or 0 with a reason if it cannot be written. */
int64_t action_book_add(struct action_book *b, const struct action *a, double now, struct err *err);
/* Write state, tries, under_way, tried_s, ended_s and outcome.  -1 with a reason. */
int action_book_put(struct action_book *b, const struct action_record *r, struct err *err);

/* The caller frees the record, which owns its strings, by action_record_free(); NULL: there is none. */
struct action_record *action_book_get(struct action_book *b, int64_t id);
struct action_record *action_book_find(struct action_book *b, const char *key);
/* Call each for the pending actions, oldest first; each frees its record. */
void action_book_pending(struct action_book *b, void (*each)(struct action_record *r, void *arg), void *arg);
void action_record_free(struct action_record *r); /* NULL is fine */
/* See actions_list(). */
void action_book_list(struct action_book *b, uint32_t job, uid_t uid, int64_t before, int64_t limit, action_listed *each, void *arg);
void action_book_expire(struct action_book *b, double before); /* delete actions that ended before */

#endif
