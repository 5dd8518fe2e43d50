#include "actions/action_book.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "history/database.h"

static const char *const migrations[] = {
    "CREATE TABLE IF NOT EXISTS action("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, asked_by INTEGER,"
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, job_text TEXT, nodes TEXT, signal INTEGER,"
    " rule TEXT, policy TEXT, reason TEXT, figures TEXT, asked REAL, state INTEGER, tries INTEGER,"
    " under_way INTEGER, tried REAL, ended REAL, outcome TEXT);"
    "CREATE INDEX IF NOT EXISTS action_job ON action(job);"
    "CREATE INDEX IF NOT EXISTS action_pending ON action(state) WHERE state=0;",
};

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
    [LIST] = "SELECT " COLUMNS " FROM action WHERE id<?4 AND (?1=0 OR job=?1) AND (?2<0 OR uid=?2)"
             " ORDER BY id DESC LIMIT ?3",
    [EXPIRE] = "DELETE FROM action WHERE state<>0 AND ended<?1",
};

static const struct database_tables tables = {
    .file = "actions.sqlite",
    .synced = true,
    .migrations = migrations,
    .version = ARRAY_SIZE(migrations),
    .sql = sql,
    .statements = STATEMENTS,
};

struct action_book {
    struct database *db;
};

struct action_book *action_book_open(const char *dir, struct err *warning)
{
    struct action_book *b = xcalloc(1, sizeof(*b));

    b->db = database_open_or_memory(dir, &tables, warning);
    return b;
}

void action_book_close(struct action_book *b)
{
    database_close(b->db);
    free(b);
}

/* ---- writing ---- */

int64_t action_book_add(struct action_book *b, const struct action *a, double now, struct err *err)
{
    sqlite3_stmt *st = b->db->st[ADD];
    char *figures = action_figures_text(a->figures);
    int rc;

    database_bind_text(st, 1, a->key);
    database_bind_text(st, 2, action_name(a->kind));
    sqlite3_bind_int64(st, 3, a->by);
    database_bind_id(st, 4, &a->job);
    database_bind_text(st, 8, a->job_text);
    database_bind_text(st, 9, a->nodes);
    sqlite3_bind_int(st, 10, a->signal);
    database_bind_text(st, 11, a->rule);
    database_bind_text(st, 12, a->policy);
    database_bind_text(st, 13, a->reason);
    database_bind_text(st, 14, figures);
    sqlite3_bind_double(st, 15, now);
    rc = database_run(st, "actions.sqlite", err);
    free(figures);
    return rc == 0 ? sqlite3_last_insert_rowid(b->db->db) : 0;
}

int action_book_put(struct action_book *b, const struct action_record *r, struct err *err)
{
    sqlite3_stmt *st = b->db->st[PUT];

    sqlite3_bind_int64(st, 1, r->id);
    sqlite3_bind_int(st, 2, (int)r->state);
    sqlite3_bind_int64(st, 3, r->tries);
    sqlite3_bind_int(st, 4, r->under_way);
    database_bind_real(st, 5, r->tried_s);
    database_bind_real(st, 6, r->ended_s);
    database_bind_text(st, 7, r->outcome);
    return database_run(st, "actions.sqlite", err);
}

/* ---- reading ---- */

/* The present row; NULL if its kind of action is unknown. */
static struct action_record *record(sqlite3_stmt *st)
{
    int k = action_parse(database_text(st, 2));
    struct action_record *r;

    if (k < 0)
        return NULL;
    r = xcalloc(1, sizeof(*r));
    *r = (struct action_record){
        .id = sqlite3_column_int64(st, 0),
        .key = xstrdup(database_text(st, 1)),
        .kind = (enum action_kind)k,
        .by = (uid_t)sqlite3_column_int64(st, 3),
        .job = database_id(st, 4),
        .job_text = xstrdup(database_text(st, 8)),
        .nodes = xstrdup(database_text(st, 9)),
        .signal = sqlite3_column_int(st, 10),
        .rule = xstrdup(database_text(st, 11)),
        .policy = xstrdup(database_text(st, 12)),
        .reason = xstrdup(database_text(st, 13)),
        .figures = xstrdup(database_text(st, 14)),
        .asked_s = sqlite3_column_double(st, 15),
        .state = (enum action_state)sqlite3_column_int(st, 16),
        .tries = (unsigned)sqlite3_column_int64(st, 17),
        .under_way = sqlite3_column_int(st, 18),
        .tried_s = database_real(st, 19),
        .ended_s = database_real(st, 20),
        .outcome = xstrdup(database_text(st, 21)),
    };
    if (r->state > ACTION_FAILED)
        r->state = ACTION_FAILED;
    return r;
}

void action_record_free(struct action_record *r)
{
    const char *text[] = { r ? r->key : NULL,     r ? r->job_text : NULL, r ? r->nodes : NULL,
                           r ? r->rule : NULL,    r ? r->policy : NULL,   r ? r->reason : NULL,
                           r ? r->outcome : NULL, r ? r->figures : NULL };

    for (size_t i = 0; i < ARRAY_SIZE(text); i++)
        free((char *)text[i]);
    free(r);
}

static struct action_record *one(sqlite3_stmt *st)
{
    struct action_record *r = sqlite3_step(st) == SQLITE_ROW ? record(st) : NULL;

    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return r;
}

struct action_record *action_book_get(struct action_book *b, int64_t id)
{
    sqlite3_bind_int64(b->db->st[GET], 1, id);
    return one(b->db->st[GET]);
}

struct action_record *action_book_find(struct action_book *b, const char *key)
{
    database_bind_text(b->db->st[FIND], 1, key);
    return one(b->db->st[FIND]);
}

void action_book_pending(struct action_book *b, void (*each)(struct action_record *r, void *arg), void *arg)
{
    sqlite3_stmt *st = b->db->st[PENDING];

    while (database_row(st)) {
        struct action_record *r = record(st);

        if (r)
            each(r, arg);
    }
}

void action_book_list(struct action_book *b, uint32_t job, uid_t uid, int64_t before, int64_t limit, action_listed *each, void *arg)
{
    sqlite3_stmt *st = b->db->st[LIST];
    bool more = true;

    sqlite3_bind_int64(st, 1, job);
    database_bind_uid(st, 2, uid);
    sqlite3_bind_int64(st, 3, limit);
    sqlite3_bind_int64(st, 4, before > 0 ? before : INT64_MAX);
    while (more && database_row(st)) {
        struct action_record *r = record(st);

        more = !r || each(r, arg);
        action_record_free(r);
    }
    sqlite3_reset(st);
}

void action_book_expire(struct action_book *b, double before)
{
    sqlite3_bind_double(b->db->st[EXPIRE], 1, before);
    database_run(b->db->st[EXPIRE], "actions.sqlite", NULL);
}
