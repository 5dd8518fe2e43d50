/* store_schema.h - the history's tables as SQL, private to store.c.
 *
 * The nth brings a store from version n to n + 1 (PRAGMA user_version, which the caller sets); a new one
 * takes them all. Each may find its own work done already: a program from before the versions were looked at
 * sets the version back to 1. What was released is never changed: another version is added. */
#ifndef SYNCGUARD_HISTORY_STORE_SCHEMA_H
#define SYNCGUARD_HISTORY_STORE_SCHEMA_H

extern const char *const store_migrations[];
extern const int store_version; /* how many: the present one */

#endif
