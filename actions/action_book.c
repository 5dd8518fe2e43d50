#include "actions/action_book.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/xalloc.h"
#include "history/statement.h"

static const char pragmas[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=200;";
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS action("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, asked_by INTEGER,"
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, job_text TEXT, nodes TEXT, signal INTEGER,"
    " rule TEXT, policy TEXT, reason TEXT, figures TEXT, asked REAL, state INTEGER, tries INTEGER,"
    " under_way INTEGER, tried REAL, ended REAL, outcome TEXT);"
    "CREATE INDEX IF NOT EXISTS action_job ON action(job);"
    "CREATE INDEX IF NOT EXISTS action_pending ON action(state) WHERE state=0;"
    "PRAGMA user_version=1;";

#define COLUMNS                                                                                          \
    "id, key, kind, asked_by, uid, job, step, restarts, job_text, nodes, signal, rule, policy, reason, " \
    "figures, asked, state, tries, under_way, tried, ended, outcome"

enum statement { ADD, PUT, GET, FIND, PENDING, LIST, EXPIRE, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [ADD] = "INSERT INTO action(key, kind, asked_by, uid, job, step, restarts, job_text, nodes, signal, rule,"
            " policy, reason, figures, asked, state, tries, under_way, outcome)"
            " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,0,0,0,'')",
    [PUT] = "UPDATE action SET state=?2, tries=?3, under_way=?4, tried=?5, ended=?6, outcome=?7 WHERE id=?1",
    [GET] = "SELECT " COLUMNS " FROM action WHERE id=?1",
    [FIND] = "SELECT " COLUMNS " FROM action WHERE key=?1",
    [PENDING] = "SELECT " COLUMNS " FROM action WHERE state=0 ORDER BY id",
    [LIST] = "SELECT " COLUMNS " FROM action WHERE (?1=0 OR job=?1) AND (?2<0 OR uid=?2)"
             " ORDER BY id DESC LIMIT ?3",
    [EXPIRE] = "DELETE FROM action WHERE state<>0 AND ended<?1",
};

struct action_book {
    sqlite3 *db;
    sqlite3_stmt *st[STATEMENTS];
};

/* ---- opening ---- */

static int prepare(struct action_book *b, struct err *err)
{
    int version = 0;
    sqlite3_stmt *st;

    if (sqlite3_exec(b->db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
        return err_set(err, "%s", sqlite3_errmsg(b->db));
    if (sqlite3_prepare_v2(b->db, "PRAGMA user_version", -1, &st, NULL) != SQLITE_OK)
        return err_set(err, "%s", sqlite3_errmsg(b->db));
    if (sqlite3_step(st) == SQLITE_ROW)
        version = sqlite3_column_int(st, 0);
    sqlite3_finalize(st);
    if (version > 1)
        return err_set(err, "its version is %d, of a newer program; this one knows 1", version);
    if (sqlite3_exec(b->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return err_set(err, "%s", sqlite3_errmsg(b->db));
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(b->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &b->st[i], NULL) != SQLITE_OK)
            return err_set(err, "%s", sqlite3_errmsg(b->db));
    return 0;
}

static struct action_book *open_path(const char *path, struct err *err)
{
    struct action_book *b = xcalloc(1, sizeof(*b));

    if (sqlite3_open(path, &b->db) != SQLITE_OK)
        err_set(err, "%s: %s", path, sqlite3_errmsg(b->db));
    else if (prepare(b, err) < 0)
        err_prefix(err, "%s", path);
    else
        return b;
    action_book_close(b);
    return NULL;
}

struct action_book *action_book_open(const char *dir, struct err *warning)
{
    char *path = xasprintf("%s/actions.sqlite", dir);
    struct action_book *b = NULL;

    warning->text[0] = '\0';
    if (mkdir(dir, 0750) < 0 && errno != EEXIST)
        err_set(warning, "%s: %s", dir, strerror(errno));
    else
        b = open_path(path, warning);
    free(path);
    return b ? b : open_path(":memory:", NULL);
}

void action_book_close(struct action_book *b)
{
    if (!b)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(b->st[i]);
    sqlite3_close(b->db);
    free(b);
}

/* ---- writing ---- */

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    statement_bind_text(st, at, text ? text : "");
}

int64_t action_book_add(struct action_book *b, const struct action *a, const char *key, double now,
                        struct err *err)
{
    sqlite3_stmt *st = b->st[ADD];
    char *figures = a->figures ? json_dumps(a->figures, JSON_COMPACT) : NULL;
    int rc;

    bind_text(st, 1, key);
    bind_text(st, 2, action_name(a->kind));
    sqlite3_bind_int64(st, 3, a->by);
    sqlite3_bind_int64(st, 4, a->job.uid);
    sqlite3_bind_int64(st, 5, a->job.job);
    sqlite3_bind_int64(st, 6, a->job.step);
    sqlite3_bind_int64(st, 7, a->job.restarts);
    bind_text(st, 8, a->job_text);
    bind_text(st, 9, a->nodes);
    sqlite3_bind_int(st, 10, a->signal);
    bind_text(st, 11, a->rule);
    bind_text(st, 12, a->policy);
    bind_text(st, 13, a->reason);
    bind_text(st, 14, figures);
    sqlite3_bind_double(st, 15, now);
    rc = statement_run(st, "the book of actions", err);
    free(figures);
    return rc == 0 ? sqlite3_last_insert_rowid(b->db) : 0;
}

int action_book_put(struct action_book *b, const struct action_entry *e, struct err *err)
{
    sqlite3_stmt *st = b->st[PUT];

    sqlite3_bind_int64(st, 1, e->r.id);
    sqlite3_bind_int(st, 2, (int)e->r.state);
    sqlite3_bind_int64(st, 3, e->r.tries);
    sqlite3_bind_int(st, 4, e->under_way);
    statement_bind_real(st, 5, e->r.tried_s);
    statement_bind_real(st, 6, e->r.ended_s);
    bind_text(st, 7, e->r.outcome);
    return statement_run(st, "the book of actions", err);
}

/* ---- reading ---- */

static char *text_column(sqlite3_stmt *st, int at)
{
    const char *text = (const char *)sqlite3_column_text(st, at);

    return xstrdup(text ? text : "");
}

static double time_column(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? NAN : sqlite3_column_double(st, at);
}

/* The row; NULL when it is of a kind that we do not know. */
static struct action_entry *entry(sqlite3_stmt *st)
{
    const char *kind = (const char *)sqlite3_column_text(st, 2), *figures;
    int k = kind ? action_parse(kind) : -1;
    struct action_entry *e;

    if (k < 0)
        return NULL;
    e = xcalloc(1, sizeof(*e));
    figures = (const char *)sqlite3_column_text(st, 14);
    e->r = (struct action_record){
        .id = sqlite3_column_int64(st, 0),
        .key = text_column(st, 1),
        .kind = (enum action_kind)k,
        .by = (uid_t)sqlite3_column_int64(st, 3),
        .job = { .uid = (uid_t)sqlite3_column_int64(st, 4),
                 .job = (uint32_t)sqlite3_column_int64(st, 5),
                 .step = (uint32_t)sqlite3_column_int64(st, 6),
                 .restarts = (uint32_t)sqlite3_column_int64(st, 7) },
        .job_text = text_column(st, 8),
        .nodes = text_column(st, 9),
        .signal = sqlite3_column_int(st, 10),
        .rule = text_column(st, 11),
        .policy = text_column(st, 12),
        .reason = text_column(st, 13),
        .figures = figures && *figures ? json_loads(figures, 0, NULL) : NULL,
        .asked_s = sqlite3_column_double(st, 15),
        .state = (enum action_state)sqlite3_column_int(st, 16),
        .tries = (unsigned)sqlite3_column_int64(st, 17),
        .tried_s = time_column(st, 19),
        .ended_s = time_column(st, 20),
        .outcome = text_column(st, 21),
    };
    e->under_way = sqlite3_column_int(st, 18);
    if (e->r.state > ACTION_FAILED)
        e->r.state = ACTION_FAILED;
    return e;
}

void action_entry_free(struct action_entry *e)
{
    const char *text[] = { e ? e->r.key : NULL,    e ? e->r.job_text : NULL, e ? e->r.nodes : NULL,
                           e ? e->r.rule : NULL,   e ? e->r.policy : NULL,   e ? e->r.reason : NULL,
                           e ? e->r.outcome : NULL };

    for (size_t i = 0; i < ARRAY_SIZE(text); i++)
        free((char *)text[i]);
    if (e)
        json_decref((json_t *)e->r.figures);
    free(e);
}

static struct action_entry *one(sqlite3_stmt *st)
{
    struct action_entry *e = sqlite3_step(st) == SQLITE_ROW ? entry(st) : NULL;

    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return e;
}

struct action_entry *action_book_get(struct action_book *b, int64_t id)
{
    sqlite3_bind_int64(b->st[GET], 1, id);
    return one(b->st[GET]);
}

struct action_entry *action_book_find(struct action_book *b, const char *key)
{
    bind_text(b->st[FIND], 1, key);
    return one(b->st[FIND]);
}

void action_book_pending(struct action_book *b, void (*each)(struct action_entry *e, void *arg), void *arg)
{
    sqlite3_stmt *st = b->st[PENDING];

    while (sqlite3_step(st) == SQLITE_ROW) {
        struct action_entry *e = entry(st);

        if (e)
            each(e, arg);
    }
    sqlite3_reset(st);
}

json_t *action_book_list(struct action_book *b, uint32_t job, uid_t uid, int limit)
{
    sqlite3_stmt *st = b->st[LIST];
    json_t *list = json_array();

    sqlite3_bind_int64(st, 1, job);
    sqlite3_bind_int64(st, 2, uid == UINT32_MAX ? -1 : (int64_t)uid);
    sqlite3_bind_int(st, 3, limit);
    while (sqlite3_step(st) == SQLITE_ROW) {
        struct action_entry *e = entry(st);

        if (e)
            json_array_append_new(list, action_object(&e->r));
        action_entry_free(e);
    }
    sqlite3_reset(st);
    return list;
}

void action_book_expire(struct action_book *b, double before)
{
    sqlite3_bind_double(b->st[EXPIRE], 1, before);
    statement_run(b->st[EXPIRE], "the book of actions", NULL);
}
