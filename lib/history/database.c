#include "history/database.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/xalloc.h"

/* ---- opening ---- */

static int refuse_newer(int version, const struct database_tables *t, struct err *err)
{
    return err_set(err, "its version is %d, from a newer program; this one knows versions up to %d", version,
                   t->version);
}

static int migrate_tables(struct database *d, const struct database_tables *t, struct err *err)
{
    int n = (int)database_ask(d, "PRAGMA user_version", -1);

    if (n < 0)
        return err_set(err, "%s", sqlite3_errmsg(d->db));
    if (n > t->version)
        return refuse_newer(n, t, err);
    for (; n < t->version; n++) {
        char *text = xasprintf("BEGIN IMMEDIATE;%sPRAGMA user_version=%d;COMMIT;", t->migrations[n], n + 1);
        int rc = database_execute(d, text, err);

        free(text);
        if (rc < 0) {
            sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
            return -1;
        }
    }
    return 0;
}

/* SQLite gives its journals the mode of the database, but creates a new database by the umask.  The mode of
 * another user's file is not changed. */
static int claim_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(err, "%s", strerror(errno));
    fchmod(fd, 0600);
    close(fd);
    return 0;
}

static bool shared;

void database_share(void)
{
    shared = true;
}

/* path: NULL for memory. */
static struct database *open_path(const char *path, const struct database_tables *t, struct err *err)
{
    struct database *d = xcalloc(1, sizeof(*d) + (size_t)t->statements * sizeof(d->st[0]));

    d->statements = t->statements;
    if (path && claim_file(path, err) < 0)
        goto fail;
    if (sqlite3_open(path ? path : ":memory:", &d->db) != SQLITE_OK) {
        err_set(err, "%s", sqlite3_errmsg(d->db));
        goto fail;
    }
    if (database_execute(d, "PRAGMA busy_timeout=200;", err) < 0 ||
        database_execute(d, shared ? "PRAGMA journal_mode=DELETE" : "PRAGMA journal_mode=WAL", err) < 0 ||
        database_execute(d, "PRAGMA synchronous=NORMAL", err) < 0 || migrate_tables(d, t, err) < 0)
        goto fail;
    for (int i = 0; i < t->statements; i++)
        if (sqlite3_prepare_v3(d->db, t->sql[i], -1, SQLITE_PREPARE_PERSISTENT, &d->st[i], NULL) !=
            SQLITE_OK) {
            err_set(err, "%s", sqlite3_errmsg(d->db));
            goto fail;
        }
    return d;
fail:
    if (path)
        err_prefix(err, "%s", path);
    database_close(d);
    return NULL;
}

struct database *database_open(const char *dir, const struct database_tables *t, struct err *err)
{
    char *path = xasprintf("%s/%s", dir, t->file);
    struct database *d = NULL;

    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        err_set(err, "%s: %s", dir, strerror(errno));
    else
        d = open_path(path, t, err);
    free(path);
    return d;
}

struct database *database_open_memory(const struct database_tables *t)
{
    struct database *d = open_path(NULL, t, NULL);

    if (!d)
        abort(); /* out of memory */
    return d;
}

void database_close(struct database *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->statements; i++)
        sqlite3_finalize(d->st[i]);
    sqlite3_close(d->db);
    free(d);
}

/* ---- files as a whole ---- */

int database_copy(const char *from, const char *to, struct err *err)
{
    sqlite3 *source = NULL, *copy = NULL;
    sqlite3_backup *b = NULL;
    const char *file = from;
    int rc = sqlite3_open_v2(from, &source, SQLITE_OPEN_READWRITE, NULL);

    sqlite3_busy_timeout(source, 10000);
    if (rc == SQLITE_OK) {
        file = to;
        rc = sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE,
                             NULL);
    }
    if (rc == SQLITE_OK && (b = sqlite3_backup_init(copy, "main", source, "main")))
        sqlite3_backup_step(b, -1); /* its error is the one of _finish() */
    if (rc == SQLITE_OK)
        rc = b ? sqlite3_backup_finish(b) : sqlite3_errcode(copy);
    /* With a WAL it could not be read on a medium that cannot be written. */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(copy, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        err_set(err, "%s: %s", file, sqlite3_errstr(rc));
    sqlite3_close(copy);
    sqlite3_close(source);
    return rc == SQLITE_OK ? 0 : -1;
}

static int check_content(struct database *d, const struct database_tables *t, struct err *err)
{
    int version = (int)database_ask(d, "PRAGMA user_version", -1), rc = -1;
    sqlite3_stmt *st = NULL;

    if (version < 0)
        return err_set(err, "%s", sqlite3_errmsg(d->db));
    if (version == 0)
        return err_set(err, "it is no database of this program");
    if (version > t->version)
        return refuse_newer(version, t, err);
    if (sqlite3_prepare_v2(d->db, "PRAGMA integrity_check(1)", -1, &st, NULL) != SQLITE_OK ||
        sqlite3_step(st) != SQLITE_ROW)
        err_set(err, "%s", sqlite3_errmsg(d->db));
    else if (strcmp(database_text(st, 0), "ok") != 0)
        err_set(err, "it is damaged: %s", database_text(st, 0));
    else
        rc = 0;
    sqlite3_finalize(st);
    return rc;
}

int database_check(const char *dir, const struct database_tables *t, struct err *err)
{
    char *path = xasprintf("%s/%s", dir, t->file);
    struct database *d = xcalloc(1, sizeof(*d));
    int rc = sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READONLY, NULL);

    rc = rc != SQLITE_OK ? err_set(err, "%s", sqlite3_errstr(rc)) : check_content(d, t, err);
    if (rc < 0)
        err_prefix(err, "%s", path);
    database_close(d);
    free(path);
    return rc;
}

/* ---- running ---- */

int database_execute(struct database *d, const char *text, struct err *err)
{
    if (sqlite3_exec(d->db, text, NULL, NULL, NULL) != SQLITE_OK)
        return err_set(err, "%s", sqlite3_errmsg(d->db));
    return 0;
}

int database_run(sqlite3_stmt *st, const char *what, struct err *err)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_DONE)
        err_set(err, "%s: %s", what, sqlite3_errmsg(sqlite3_db_handle(st)));
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc == SQLITE_DONE ? 0 : -1;
}

bool database_row(sqlite3_stmt *st)
{
    if (sqlite3_step(st) == SQLITE_ROW)
        return true;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return false;
}

int64_t database_number(sqlite3_stmt *st, int64_t otherwise)
{
    int64_t n = otherwise;

    while (database_row(st))
        n = sqlite3_column_int64(st, 0);
    return n;
}

int64_t database_ask(struct database *d, const char *text, int64_t otherwise)
{
    sqlite3_stmt *st;
    int64_t n;

    if (sqlite3_prepare_v2(d->db, text, -1, &st, NULL) != SQLITE_OK)
        return otherwise;
    n = database_number(st, otherwise);
    sqlite3_finalize(st);
    return n;
}

int database_run_synced(sqlite3_stmt *st, const char *what, struct err *err)
{
    sqlite3 *db = sqlite3_db_handle(st);
    int rc;

    sqlite3_exec(db, "PRAGMA synchronous=FULL", NULL, NULL, NULL);
    rc = database_run(st, what, err);
    sqlite3_exec(db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    return rc;
}

/* ---- values ---- */

void database_bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

void database_bind_real(sqlite3_stmt *st, int at, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(st, at, value);
    else
        sqlite3_bind_null(st, at);
}

void database_bind_id(sqlite3_stmt *st, int at, const struct job_id *id)
{
    sqlite3_bind_int64(st, at, id->uid);
    sqlite3_bind_int64(st, at + 1, id->job);
    sqlite3_bind_int64(st, at + 2, id->step);
    sqlite3_bind_int64(st, at + 3, id->restarts);
}

void database_bind_uid(sqlite3_stmt *st, int at, uid_t uid)
{
    sqlite3_bind_int64(st, at, uid == UINT32_MAX ? -1 : (int64_t)uid);
}

double database_real(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? NAN : sqlite3_column_double(st, at);
}

const char *database_text(sqlite3_stmt *st, int at)
{
    const char *text = (const char *)sqlite3_column_text(st, at);

    return text ? text : "";
}

struct job_id database_id(sqlite3_stmt *st, int at)
{
    return (struct job_id){ (uid_t)sqlite3_column_int64(st, at), (uint32_t)sqlite3_column_int64(st, at + 1),
                            (uint32_t)sqlite3_column_int64(st, at + 2),
                            (uint32_t)sqlite3_column_int64(st, at + 3) };
}
