#include "daemon/store.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/xalloc.h"
#include "daemon/job.h"

static const char schema[] =
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=NORMAL;"
    "PRAGMA busy_timeout=200;"
    "CREATE TABLE IF NOT EXISTS step("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, user TEXT, partition TEXT,"
    " begin REAL, updated REAL, state TEXT, report TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS step_updated ON step(updated);"
    "CREATE TABLE IF NOT EXISTS verdict("
    " at REAL, uid INTEGER, job INTEGER, step INTEGER, class TEXT, scope TEXT, culprit TEXT, node TEXT,"
    " slowdown REAL, text TEXT);"
    "CREATE INDEX IF NOT EXISTS verdict_node ON verdict(node, at);"
    "PRAGMA user_version=1;";

enum statement { PUT_STEP, PUT_VERDICT, GET_REPORT, GET_LIST, GET_NODE, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [PUT_STEP] = "INSERT OR REPLACE INTO step VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
    [PUT_VERDICT] = "INSERT INTO verdict VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
    [GET_REPORT] = "SELECT report FROM step WHERE job=?1 AND (?2<0 OR step=?2) AND (?3<0 OR uid=?3)"
                   " ORDER BY restarts DESC, updated DESC LIMIT 1",
    [GET_LIST] = "SELECT report FROM step WHERE (?1<0 OR uid=?1) AND state IN ('finished','lost')"
                 " ORDER BY updated DESC LIMIT ?2",
    [GET_NODE] = "SELECT count(*), max(at) FROM verdict WHERE node=?1",
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *st[STATEMENTS];
};

static double now_wall_s(void)
{
    return (double)time(NULL);
}

struct store *store_open(const char *dir, struct err *err)
{
    struct store *s = xcalloc(1, sizeof(*s));
    char *path = xasprintf("%s/history.sqlite", dir), *why = NULL;

    if (mkdir(dir, 0750) < 0 && errno != EEXIST) {
        err_set(err, "%s: %s", dir, strerror(errno));
        goto fail;
    }
    if (sqlite3_open(path, &s->db) != SQLITE_OK) {
        err_set(err, "%s: %s", path, sqlite3_errmsg(s->db));
        goto fail;
    }
    if (sqlite3_exec(s->db, schema, NULL, NULL, &why) != SQLITE_OK) {
        err_set(err, "%s: %s", path, why ? why : "cannot make its tables");
        goto fail;
    }
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->st[i], NULL) != SQLITE_OK) {
            err_set(err, "%s: %s", path, sqlite3_errmsg(s->db));
            goto fail;
        }
    free(path);
    return s;
fail:
    sqlite3_free(why);
    free(path);
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(s->st[i]);
    sqlite3_close(s->db);
    free(s);
}

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

/* Run a statement that gives no rows, and make it ready again. */
static int run(struct store *s, sqlite3_stmt *st, struct err *err)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_DONE)
        err_set(err, "history: %s", sqlite3_errmsg(s->db));
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return rc == SQLITE_DONE ? 0 : -1;
}

int store_step(struct store *s, const struct job *j, const json_t *report, struct err *err)
{
    sqlite3_stmt *st;
    char *text;
    int rc;

    if (!s)
        return 0;
    st = s->st[PUT_STEP];
    text = json_dumps(report, JSON_COMPACT);
    sqlite3_bind_int64(st, 1, j->id.uid);
    sqlite3_bind_int64(st, 2, j->id.job);
    sqlite3_bind_int64(st, 3, j->id.step);
    sqlite3_bind_int64(st, 4, j->id.restarts);
    bind_text(st, 5, j->name);
    bind_text(st, 6, j->user);
    bind_text(st, 7, j->partition);
    sqlite3_bind_double(st, 8, j->start_wall_s);
    sqlite3_bind_double(st, 9, now_wall_s());
    bind_text(st, 10, job_state_name(j->state));
    bind_text(st, 11, text);
    rc = run(s, st, err);
    free(text);
    return rc;
}

int store_verdict(struct store *s, const struct job *j, const char *class, const char *scope,
                  const char *culprit, const char *node, double slowdown, const char *text, struct err *err)
{
    sqlite3_stmt *st;

    if (!s)
        return 0;
    st = s->st[PUT_VERDICT];
    sqlite3_bind_double(st, 1, now_wall_s());
    sqlite3_bind_int64(st, 2, j->id.uid);
    sqlite3_bind_int64(st, 3, j->id.job);
    sqlite3_bind_int64(st, 4, j->id.step);
    bind_text(st, 5, class);
    bind_text(st, 6, scope);
    bind_text(st, 7, culprit);
    bind_text(st, 8, node);
    if (!isnan(slowdown))
        sqlite3_bind_double(st, 9, slowdown);
    bind_text(st, 10, text);
    return run(s, st, err);
}

static int64_t uid_filter(uid_t uid)
{
    return uid == UINT32_MAX ? -1 : (int64_t)uid;
}

static json_t *report_column(sqlite3_stmt *st)
{
    const char *text = (const char *)sqlite3_column_text(st, 0);

    return text ? json_loads(text, 0, NULL) : NULL;
}

json_t *store_report(struct store *s, int64_t job, int64_t step, uid_t uid)
{
    sqlite3_stmt *st;
    json_t *report = NULL;

    if (!s)
        return NULL;
    st = s->st[GET_REPORT];
    sqlite3_bind_int64(st, 1, job);
    sqlite3_bind_int64(st, 2, step);
    sqlite3_bind_int64(st, 3, uid_filter(uid));
    if (sqlite3_step(st) == SQLITE_ROW)
        report = report_column(st);
    sqlite3_reset(st);
    return report;
}

json_t *store_list(struct store *s, uid_t uid, int limit)
{
    json_t *list = json_array();
    sqlite3_stmt *st;

    if (!s)
        return list;
    st = s->st[GET_LIST];
    sqlite3_bind_int64(st, 1, uid_filter(uid));
    sqlite3_bind_int(st, 2, limit);
    while (sqlite3_step(st) == SQLITE_ROW) {
        json_t *report = report_column(st);

        if (report)
            json_array_append_new(list, report);
    }
    sqlite3_reset(st);
    return list;
}

int store_node(struct store *s, const char *node, int *count, double *last_wall_s)
{
    sqlite3_stmt *st;

    *count = 0;
    *last_wall_s = 0;
    if (!s)
        return -1;
    st = s->st[GET_NODE];
    bind_text(st, 1, node);
    if (sqlite3_step(st) == SQLITE_ROW) {
        *count = sqlite3_column_int(st, 0);
        *last_wall_s = sqlite3_column_double(st, 1);
    }
    sqlite3_reset(st);
    return 0;
}

int store_expire(struct store *s, int days, struct err *err)
{
    char text[256], *why = NULL;
    double before = now_wall_s() - days * 86400.0;

    if (!s)
        return 0;
    snprintf(text, sizeof(text),
             "DELETE FROM step WHERE updated < %.0f; DELETE FROM verdict WHERE at < %.0f;", before, before);
    if (sqlite3_exec(s->db, text, NULL, NULL, &why) != SQLITE_OK) {
        err_set(err, "history: %s", why ? why : "cannot expire");
        sqlite3_free(why);
        return -1;
    }
    return 0;
}

double store_bytes(struct store *s)
{
    struct stat st;

    if (!s || stat(sqlite3_db_filename(s->db, "main"), &st) < 0)
        return NAN;
    return (double)st.st_size;
}
