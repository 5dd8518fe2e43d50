/* database.h - a database of the controller: an SQLite file that is opened, brought to the present version and
 * asked by prepared statements.
 *
 * A user of it is two tables: migrations and statements. The file is the controller's alone (0600): it holds
 * names of jobs and of users. A reader of it waits for nobody longer than 0.2 s, and no writer for a reader (WAL).
 * NaN, infinity and NULL are null; texts are copied. */
#ifndef SYNCGUARD_HISTORY_DATABASE_H
#define SYNCGUARD_HISTORY_DATABASE_H

#include <sqlite3.h>
#include <sys/types.h>

#include "common/err.h"
#include "job/job.h"

struct database_tables {
    const char *file; /* in the folder */
    bool synced;      /* each commit is on the disk before it returns; else the last moments may be lost */
    /* The nth brings a database from version n to n + 1 (PRAGMA user_version); a new one takes them all, and what
     * fails leaves the version before it whole. What was released is never changed: another is added. */
    const char *const *migrations;
    int version; /* how many */
    const char *const *sql;
    int statements;
};

struct database {
    sqlite3 *db;
    int statements;
    sqlite3_stmt *st[]; /* as in the table */
};

/* The folder is made when it is missing. NULL with the reason: one of a newer program is refused, too. */
struct database *database_open(const char *dir, const struct database_tables *t, struct err *err);
/* In memory where that fails, and warning is why ("": all is well). NULL: not even that. */
struct database *database_open_or_memory(const char *dir, const struct database_tables *t,
                                         struct err *warning);
void database_close(struct database *d); /* NULL is fine */

/* Statements that give no rows, one after the other. 0, or -1 with SQLite's reason. */
int database_execute(struct database *d, const char *text, struct err *err);
/* Run a statement that gives no rows, and make it ready again. 0, or -1 with "WHAT: " and SQLite's reason. */
int database_run(sqlite3_stmt *st, const char *what, struct err *err);

void database_bind_text(sqlite3_stmt *st, int at, const char *text);
void database_bind_real(sqlite3_stmt *st, int at, double value);
/* uid, job, step and restarts, from `at` on. */
void database_bind_id(sqlite3_stmt *st, int at, const struct job_id *id);
/* For "?<0 OR uid=?": UINT32_MAX is everybody. */
void database_bind_uid(sqlite3_stmt *st, int at, uid_t uid);

double database_real(sqlite3_stmt *st, int at);
const char *database_text(sqlite3_stmt *st, int at); /* lent until the next row; "" of null */
struct job_id database_id(sqlite3_stmt *st, int at);

#endif
