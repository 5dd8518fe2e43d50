/* store_schema.h - the history's tables as SQL: migrations as database.h has them, private to store.c and
 * store_schema.c.
 *
 * Each may find its own work done already: a program from before the versions were looked at sets the version
 * back to 1. */
#ifndef SYNCGUARD_HISTORY_STORE_SCHEMA_H
#define SYNCGUARD_HISTORY_STORE_SCHEMA_H

#define STORE_VERSION 4

extern const char *const store_migrations[STORE_VERSION];

#endif
