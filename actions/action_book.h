/* action_book.h - the records of actions: SQLite, a file of its own.
 *
 * Written before an action is done and after it, each time synced to the disk (the history is not: it may
 * lose its last moments): what is not in the book was not done.  Times: Unix seconds. */
#ifndef SYNCGUARD_ACTIONS_ACTION_BOOK_H
#define SYNCGUARD_ACTIONS_ACTION_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "actions/action_record.h"
#include "common/err.h"

struct action_book;

/* A record and what is not for others to see.  All text and figures are owned: action_entry_free(). */
struct action_entry {
    struct action_record r;
    bool under_way; /* a try had begun and its outcome is not known */
};
void action_entry_free(struct action_entry *e); /* NULL is fine */

/* DIR/actions.sqlite; when that cannot be had, memory, and warning says why ("": all is well). NULL: not even
 * that. */
struct action_book *action_book_open(const char *dir, struct err *warning);
void action_book_close(struct action_book *b);

/* A new record: its id, 0 when it cannot be written. */
int64_t action_book_add(struct action_book *b, const struct action *a, const char *key, double now,
                        struct err *err);
/* Its state, tries, under_way, tried_s, ended_s and outcome as they are now. */
int action_book_put(struct action_book *b, const struct action_entry *e, struct err *err);

/* The caller's; NULL: there is none. */
struct action_entry *action_book_get(struct action_book *b, int64_t id);
struct action_entry *action_book_find(struct action_book *b, const char *key);
/* Each one that is pending, oldest first; the entry is each's. */
void action_book_pending(struct action_book *b, void (*each)(struct action_entry *e, void *arg), void *arg);
/* As actions_list(). */
json_t *action_book_list(struct action_book *b, uint32_t job, uid_t uid, int limit);
void action_book_expire(struct action_book *b, double before);

#endif
