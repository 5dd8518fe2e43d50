/* database.h - a database of the controller: opens an SQLite file, migrates it to the present version and
 * prepares its statements.
 *
 * A module describes its database by two tables: migrations and statements.  Only the controller's user may
 * access the file (0600), because it contains names of jobs and users.  Readers wait at most 0.2 s for a
 * lock, and writers do not wait for readers (WAL), but for databases on shared storage.  NaN, infinity and
 * NULL are stored as null; texts are copied. */
#ifndef SYNCGUARD_HISTORY_DATABASE_H
#define SYNCGUARD_HISTORY_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "job/job.h"

struct database_tables {
    const char *file; /* name in the folder */
    /* The nth migration changes version n to n + 1 (PRAGMA user_version).  A new database runs all of them.
     * Each is one transaction, so that a failure leaves the earlier version intact.  A released migration is
     * never changed; a new one is appended. */
    const char *const *migrations;
    int version; /* number of migrations */
    const char *const *sql;
    int statements;
};

struct database {
    sqlite3 *db;
    int statements;
    sqlite3_stmt *st[]; /* in the order of the table */
};

/* From now on databases are opened for a file system that several hosts share: with a rollback journal, since
 * WAL needs memory that its users share. */
void database_share(void);
/* Open the file, and create the folder if it is missing.  NULL with a reason; a database of a newer program
 * is refused. */
struct database *database_open(const char *dir, const struct database_tables *t, struct err *err);
/* A database in memory.  Never returns NULL. */
struct database *database_open_memory(const struct database_tables *t);
void database_close(struct database *d); /* NULL is fine */

/* Copy the database in one file, which may be in use, to a new one, as of one moment.  0, or -1 with a
 * reason; what was written until then remains.  Programs that write to a database on shared storage meanwhile
 * find it locked. */
int database_copy(const char *from, const char *to, struct err *err);
/* Read all of the file DIR/FILE of t, and change nothing: whether it is whole, and of a version that this
 * program knows.  -1 with a reason. */
int database_check(const char *dir, const struct database_tables *t, struct err *err);

/* Execute statements that return no rows.  -1 with SQLite's reason. */
int database_execute(struct database *d, const char *text, struct err *err);
/* Execute a prepared statement that returns no rows, and reset it.  -1 with "WHAT: " and SQLite's reason.  A
 * crash of the host may lose the latest of them. */
int database_run(sqlite3_stmt *st, const char *what, struct err *err);
/* The same, and wait until this and all before it is on the disk. */
int database_run_synced(sqlite3_stmt *st, const char *what, struct err *err);

/* Fetch the next row of a prepared statement.  false: there are no more, and it is reset. */
bool database_row(sqlite3_stmt *st);
/* The whole number that a statement, prepared or as text, has in its only row; otherwise: if none. */
int64_t database_number(sqlite3_stmt *st, int64_t otherwise);
int64_t database_ask(struct database *d, const char *text, int64_t otherwise);

/* Bind a value to parameter `at`, which counts from 1. */
void database_bind_text(sqlite3_stmt *st, int at, const char *text);
void database_bind_real(sqlite3_stmt *st, int at, double value);
/* Bind uid, job, step and restarts to four parameters from `at` on. */
void database_bind_id(sqlite3_stmt *st, int at, const struct job_id *id);
/* Bind uid for "?<0 OR uid=?"; UINT32_MAX, which stands for all users, as -1. */
void database_bind_uid(sqlite3_stmt *st, int at, uid_t uid);

/* Column `at`, which counts from 0, of the present row. */
double database_real(sqlite3_stmt *st, int at);      /* NaN for null */
const char *database_text(sqlite3_stmt *st, int at); /* valid until the next row; "" for null */
struct job_id database_id(sqlite3_stmt *st, int at); /* four columns */

#endif
