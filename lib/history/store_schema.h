/* store_schema.h - the history's tables as SQL migrations (database.h), private to store.c and
 * store_schema.c.
 *
 * A migration must accept that its changes exist already: the first released program sets the version back to
 * 1 whenever it opens the database. */
#ifndef SYNCGUARD_HISTORY_STORE_SCHEMA_H
#define SYNCGUARD_HISTORY_STORE_SCHEMA_H

#define STORE_VERSION 9

extern const char *const store_migrations[STORE_VERSION];

#endif
