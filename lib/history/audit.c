#include "history/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "history/database.h"
#include "wire/json.h"

#define EARLIER_ACTIONS "actions.sqlite" /* where an earlier release kept them */

static const char *const migrations[] = {
    "CREATE TABLE IF NOT EXISTS audit("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL, uid INTEGER, job INTEGER, step INTEGER,"
    " restarts INTEGER, job_text TEXT, policy TEXT, command INTEGER, by INTEGER, rule TEXT, action TEXT,"
    " signal INTEGER, nodes TEXT, n_nodes INTEGER, ends_run INTEGER, state INTEGER, sentence TEXT,"
    " why_not TEXT, projected_ratio REAL, outcome INTEGER, outcome_text TEXT, before_s REAL,"
    " effect_ratio REAL, effect TEXT);"
    "CREATE INDEX IF NOT EXISTS audit_job ON audit(job, at);"
    "CREATE INDEX IF NOT EXISTS audit_at ON audit(at);",
    /* effects of older entries have no intervals */
    "ALTER TABLE audit ADD COLUMN before_error REAL;"
    "ALTER TABLE audit ADD COLUMN before_n REAL;"
    "ALTER TABLE audit ADD COLUMN effect_low REAL;"
    "ALTER TABLE audit ADD COLUMN effect_high REAL;",
    "CREATE TABLE IF NOT EXISTS action("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, asked_by INTEGER,"
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, job_text TEXT, nodes TEXT, signal INTEGER,"
    " rule TEXT, policy TEXT, reason TEXT, figures TEXT, asked REAL, state INTEGER, tries INTEGER,"
    " under_way INTEGER, tried REAL, ended REAL, outcome TEXT);"
    "CREATE INDEX IF NOT EXISTS action_job ON action(job);"
    "CREATE INDEX IF NOT EXISTS action_pending ON action(state) WHERE state=0;",
};

#define COLUMNS                                                                                          \
    "id, at, uid, job, step, restarts, job_text, policy, command, by, rule, action, signal, nodes, "     \
    "state, sentence, why_not, projected_ratio, outcome, outcome_text, before_s, effect_ratio, effect, " \
    "before_error, before_n, effect_low, effect_high"
#define ACTION_COLUMNS "id, " ACTION_VALUES
#define ACTION_VALUES                                                                                \
    "key, kind, asked_by, uid, job, step, restarts, job_text, nodes, signal, rule, policy, reason, " \
    "figures, asked, state, tries, under_way, tried, ended, outcome"
#define OF_ASKER \
    "id<?4 AND (?1=0 OR job=?1) AND (?2<0 OR uid=?2) ORDER BY id DESC LIMIT ?3" /* bind_asker() */

enum statement {
    ADD,
    UPDATE,
    LIST,
    SPENT,
    EARLIER,
    ACTED,
    ASKED,
    RUN,
    GET,
    EXPIRE,
    ACTION_ADD,
    ACTION_UPDATE,
    ACTION_GET,
    ACTION_FIND,
    ACTION_PENDING_LIST,
    ACTION_LIST,
    ACTION_EXPIRE,
    STATEMENTS
};

static const char *const sql[STATEMENTS] = {
    [ADD] =
        "INSERT INTO audit(at, uid, job, step, restarts, job_text, policy, command, by, rule, action, signal,"
        " nodes, state, sentence, why_not, projected_ratio, outcome, outcome_text, before_s, effect_ratio,"
        " effect, n_nodes, ends_run, before_error, before_n)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,"
        "?25,?26)",
    [UPDATE] =
        "UPDATE audit SET outcome=?2, outcome_text=?3, effect_ratio=?4, effect=?5, effect_low=?6, effect_high=?7 WHERE id=?1",
    [LIST] = "SELECT " COLUMNS " FROM audit WHERE " OF_ASKER,
    /* state<2: not withheld; by=4294967295: AUDIT_NOBODY */
    [SPENT] =
        "SELECT at, n_nodes, uid FROM audit WHERE NOT command AND by=4294967295 AND at>=?1 AND outcome<>3"
        " AND ((?2=0 AND state=1) OR (job=?2 AND uid=?3 AND state<2)) ORDER BY id",
    [EARLIER] =
        "SELECT " COLUMNS " FROM audit WHERE uid=?1 AND job=?2 AND step=?3 AND restarts<?4 AND ends_run"
        " AND outcome=2 ORDER BY id DESC LIMIT 4",
    [ACTED] = "SELECT rule, at FROM audit WHERE uid=?1 AND job=?2 AND step=?3 AND restarts<?4 AND NOT command"
              " AND by=4294967295 AND state<2 AND outcome<>3 ORDER BY id",
    [ASKED] =
        "SELECT " COLUMNS " FROM audit WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4 AND NOT command"
        " AND outcome=1 AND action=?5 AND by=?6 ORDER BY id LIMIT 1",
    [RUN] = "SELECT " COLUMNS " FROM audit WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4 ORDER BY id",
    [GET] = "SELECT " COLUMNS " FROM audit WHERE id=?1",
    [EXPIRE] = "DELETE FROM audit WHERE at<?1",
    [ACTION_ADD] =
        "INSERT INTO action(key, kind, asked_by, uid, job, step, restarts, job_text, nodes, signal, rule,"
        " policy, reason, figures, asked, state, tries, under_way, outcome)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,0,0,0,'')",
    [ACTION_UPDATE] =
        "UPDATE action SET state=?2, tries=?3, under_way=?4, tried=?5, ended=?6, outcome=?7 WHERE id=?1",
    [ACTION_GET] = "SELECT " ACTION_COLUMNS " FROM action WHERE id=?1",
    [ACTION_FIND] = "SELECT " ACTION_COLUMNS " FROM action WHERE key=?1",
    [ACTION_PENDING_LIST] = "SELECT " ACTION_COLUMNS " FROM action WHERE state=0 ORDER BY id",
    [ACTION_LIST] = "SELECT " ACTION_COLUMNS " FROM action WHERE " OF_ASKER,
    [ACTION_EXPIRE] = "DELETE FROM action WHERE state<>0 AND ended<?1",
};
_Static_assert(ACTION_PENDING == 0 && DECISION_WITHHELD == 2 && AUDIT_PENDING == 1 && AUDIT_DONE == 2 &&
                   AUDIT_FAILED == 3 && AUDIT_NOBODY == 4294967295 && AUDIT_EARLIER == 4,
               "as the statements say");

const struct database_tables audit_tables = {
    .file = "audit.sqlite",
    .migrations = migrations,
    .version = ARRAY_SIZE(migrations),
    .sql = sql,
    .statements = STATEMENTS,
};

struct audit {
    struct database *db;
    char *lines; /* NULL: no file */
    bool lines_failed, lines_reported;
    struct err lines_error;
};

/* A controller that was killed when it had just made the file has left no table in it. */
static int copy_actions(struct database *d, const char *path, struct err *err)
{
    char *attach = sqlite3_mprintf("ATTACH %Q AS earlier", path);
    int rc = attach ? database_execute(d, attach, err) : err_set(err, "out of memory");

    sqlite3_free(attach);
    if (rc == 0 && sqlite3_table_column_metadata(d->db, "earlier", "action", NULL, NULL, NULL, NULL, NULL,
                                                 NULL) == SQLITE_OK)
        rc = database_execute(
            d,
            "PRAGMA main.synchronous=FULL;"
            "BEGIN IMMEDIATE;"
            "INSERT INTO main.action(" ACTION_COLUMNS ") SELECT"
            " CASE WHEN id IN (SELECT id FROM main.action) THEN NULL ELSE id END," ACTION_VALUES
            " FROM earlier.action"
            " WHERE key NOT IN (SELECT key FROM main.action) ORDER BY id;"
            "COMMIT;"
            "PRAGMA main.synchronous=NORMAL;",
            err);
    if (rc == 0)
        rc = database_execute(d, "DETACH earlier", err);
    return rc;
}

/* An earlier release kept the actions in a file of their own.  If it keeps its name it is copied again at the
 * next start, and no action comes twice: their keys differ.  After a downgrade its numbers begin again: an
 * action whose id is taken gets another. */
static int take_earlier_actions(struct database *d, const char *dir, struct err *err)
{
    char *from = xasprintf("%s/" EARLIER_ACTIONS, dir), *to = xasprintf("%s.imported", from);
    int rc = access(from, F_OK) == 0 ? copy_actions(d, from, err) : 1;

    if (rc < 0)
        err_prefix(err,
                   "cannot take in an earlier release's actions (move the file away to start without): %s",
                   from);
    else if (rc == 0)
        rename(from, to);
    free(from);
    free(to);
    return rc;
}

struct audit *audit_open(const char *dir, struct err *warning)
{
    struct audit *a = xcalloc(1, sizeof(*a));

    warning->text[0] = '\0';
    a->db = database_open(dir, &audit_tables, warning);
    if (a->db && take_earlier_actions(a->db, dir, warning) < 0) {
        database_close(a->db);
        a->db = NULL;
    }
    if (!a->db)
        a->db = database_open_memory(&audit_tables);
    return a;
}

void audit_close(struct audit *a)
{
    if (!a)
        return;
    database_close(a->db);
    free(a->lines);
    free(a);
}

void audit_log_to(struct audit *a, const char *path)
{
    free(a->lines);
    a->lines = *path ? xstrdup(path) : NULL;
    a->lines_failed = a->lines_reported = false;
}

int audit_log_check(struct audit *a, struct err *err)
{
    bool report = a->lines_failed && !a->lines_reported;

    a->lines_reported = a->lines_failed;
    return report ? err_set(err, "%s", a->lines_error.text) : 0;
}

/* ---- entries as rows ---- */

static void take_entry(sqlite3_stmt *st, struct audit_entry *e)
{
    int action;

    memset(e, 0, sizeof(*e));
    e->id = sqlite3_column_int64(st, 0);
    e->at = sqlite3_column_double(st, 1);
    e->job = database_id(st, 2);
    snprintf(e->job_text, sizeof(e->job_text), "%s", database_text(st, 6));
    snprintf(e->policy, sizeof(e->policy), "%s", database_text(st, 7));
    e->command = sqlite3_column_int(st, 8);
    e->by = (uid_t)sqlite3_column_int64(st, 9);
    snprintf(e->d.rule, sizeof(e->d.rule), "%s", database_text(st, 10));
    action = action_parse(database_text(st, 11));
    e->d.action = action < 0 ? ACTION_SIGNAL : (enum action_kind)action;
    e->d.signal = sqlite3_column_int(st, 12);
    for (const char *node = database_text(st, 13); *node && e->d.n_nodes < FIGURE_NODES_MAX;
         node += node[0] == ',') {
        size_t n = strcspn(node, ",");

        snprintf(e->d.node[e->d.n_nodes++], sizeof(e->d.node[0]), "%.*s", (int)n, node);
        node += n;
    }
    e->d.state = (enum decision_state)sqlite3_column_int(st, 14);
    snprintf(e->d.sentence, sizeof(e->d.sentence), "%s", database_text(st, 15));
    snprintf(e->d.why_not, sizeof(e->d.why_not), "%s", database_text(st, 16));
    e->d.projected_ratio = database_real(st, 17);
    e->outcome = (enum audit_outcome)sqlite3_column_int(st, 18);
    snprintf(e->outcome_text, sizeof(e->outcome_text), "%s", database_text(st, 19));
    e->before = (struct effect_level){ database_real(st, 20), database_real(st, 23), database_real(st, 24) };
    e->effect_ratio =
        (struct effect_ratio){ database_real(st, 21), database_real(st, 25), database_real(st, 26) };
    snprintf(e->effect, sizeof(e->effect), "%s", database_text(st, 22));
}

/* ---- JSON ---- */

void audit_report(struct report_decision *to, const struct audit_entry *e)
{
    static const char *const outcomes[] = { "", "pending", "done", "failed" };
    const struct decision *d = &e->d;

    *to = (struct report_decision){
        .known = true,
        .id = e->id,
        .at = e->at,
        .restarts = e->job.restarts,
        .by = e->by == AUDIT_NOBODY ? -1 : (int64_t)e->by,
        .signal = !e->command && d->action == ACTION_SIGNAL ? d->signal : -1,
        .projected_ratio = d->projected_ratio,
        .step_before_s = e->before.median_s,
        .effect_ratio = e->effect_ratio.value,
        .effect_low = e->effect_ratio.low,
        .effect_high = e->effect_ratio.high,
    };
    snprintf(to->job, sizeof(to->job), "%s", e->job_text);
    snprintf(to->policy, sizeof(to->policy), "%s", e->policy);
    snprintf(to->state, sizeof(to->state), "%s", e->command ? "command" : decision_state_name(d->state));
    snprintf(to->rule, sizeof(to->rule), "%s", d->rule);
    snprintf(to->action, sizeof(to->action), "%s", e->command ? "" : action_name(d->action));
    snprintf(to->sentence, sizeof(to->sentence), "%s", d->sentence);
    snprintf(to->why_not, sizeof(to->why_not), "%s", d->why_not);
    snprintf(to->outcome, sizeof(to->outcome), "%s", outcomes[e->outcome]);
    snprintf(to->outcome_text, sizeof(to->outcome_text), "%s", e->outcome_text);
    snprintf(to->effect, sizeof(to->effect), "%s", e->effect);
    for (size_t i = 0; i < d->n_nodes; i++)
        json_texts_add(&to->nodes, d->node[i]);
}

json_t *audit_object(const struct audit_entry *e)
{
    struct report_decision d;
    json_t *o;

    audit_report(&d, e);
    o = report_decision_json(&d);
    report_decision_free(&d);
    return o;
}

/* What the database has. */
static void write_line(struct audit *a, const struct audit_entry *e, const char *event)
{
    json_t *o;
    char *text, *line;
    int fd;
    bool good;

    if (!a->lines)
        return;
    o = audit_object(e);
    json_object_set_new(o, "event", json_string(event));
    json_object_set_new(o, "written", json_real(wall_s()));
    text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
    line = xasprintf("%s\n", text ? text : "{}");
    fd = open(a->lines, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    good = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    if (!good)
        err_set(&a->lines_error, "AuditLog=%s: %s", a->lines, strerror(errno));
    a->lines_failed = !good;
    if (fd >= 0)
        close(fd);
    free(line);
    free(text);
    json_decref(o);
}

/* ---- writing ---- */

int audit_add(struct audit *a, struct audit_entry *e, struct err *err)
{
    const struct decision *d = &e->d;
    char nodes[DECISION_NODES_MAX];
    sqlite3_stmt *st = a->db->st[ADD];

    sqlite3_bind_double(st, 1, e->at);
    database_bind_id(st, 2, &e->job);
    database_bind_text(st, 6, e->job_text);
    database_bind_text(st, 7, e->policy);
    sqlite3_bind_int(st, 8, e->command);
    sqlite3_bind_int64(st, 9, e->by);
    database_bind_text(st, 10, d->rule);
    database_bind_text(st, 11, e->command ? "" : action_name(d->action));
    sqlite3_bind_int(st, 12, d->signal);
    database_bind_text(st, 13, decision_nodes(d, nodes));
    sqlite3_bind_int(st, 14, d->state);
    database_bind_text(st, 15, d->sentence);
    database_bind_text(st, 16, d->why_not);
    database_bind_real(st, 17, d->projected_ratio);
    sqlite3_bind_int(st, 18, e->outcome);
    database_bind_text(st, 19, e->outcome_text);
    database_bind_real(st, 20, e->before.median_s);
    database_bind_real(st, 21, e->effect_ratio.value);
    database_bind_text(st, 22, e->effect);
    sqlite3_bind_int(st, 23, (int)d->n_nodes);
    sqlite3_bind_int(st, 24, !e->command && action_table[d->action].ends_run);
    database_bind_real(st, 25, e->before.error);
    database_bind_real(st, 26, e->before.n);
    if (database_run(st, "audit", err) < 0)
        return -1;
    e->id = sqlite3_last_insert_rowid(a->db->db);
    write_line(a, e, e->command ? "command" : "decision");
    return 0;
}

int audit_update(struct audit *a, const struct audit_entry *e, struct err *err)
{
    sqlite3_stmt *st = a->db->st[UPDATE];

    if (!e->id)
        return 0;
    sqlite3_bind_int64(st, 1, e->id);
    sqlite3_bind_int(st, 2, e->outcome);
    database_bind_text(st, 3, e->outcome_text);
    database_bind_real(st, 4, e->effect_ratio.value);
    database_bind_text(st, 5, e->effect);
    database_bind_real(st, 6, e->effect_ratio.low);
    database_bind_real(st, 7, e->effect_ratio.high);
    if (database_run(st, "audit", err) < 0)
        return -1;
    write_line(a, e, *e->effect ? "effect" : "outcome");
    return 0;
}

int audit_expire(struct audit *a, int days, struct err *err)
{
    static const enum statement each[] = { EXPIRE, ACTION_EXPIRE };
    double before = wall_s() - days * 86400.0;
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
        sqlite3_bind_double(a->db->st[each[i]], 1, before);
        rc |= database_run(a->db->st[each[i]], "audit", err);
    }
    return rc;
}

/* ---- reading ---- */

static void bind_asker(sqlite3_stmt *st, uint32_t job, uid_t uid, int64_t before, int64_t limit)
{
    sqlite3_bind_int64(st, 1, job);
    database_bind_uid(st, 2, uid);
    sqlite3_bind_int64(st, 3, limit);
    sqlite3_bind_int64(st, 4, before > 0 ? before : INT64_MAX);
}

void audit_list(struct audit *a, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                bool (*each)(const struct audit_entry *e, void *arg), void *arg)
{
    struct audit_entry e;
    sqlite3_stmt *st = a->db->st[LIST];
    bool more = true;

    bind_asker(st, job, uid, before, limit);
    while (more && database_row(st)) {
        take_entry(st, &e);
        more = each(&e, arg);
    }
    sqlite3_reset(st);
}

void audit_spent(struct audit *a, const struct job_id *job, double since,
                 void (*each)(double at, uint32_t nodes, uid_t uid, void *arg), void *arg)
{
    sqlite3_stmt *st = a->db->st[SPENT];

    sqlite3_bind_double(st, 1, since);
    sqlite3_bind_int64(st, 2, job ? job->job : 0);
    sqlite3_bind_int64(st, 3, job ? job->uid : 0);
    while (database_row(st))
        each(sqlite3_column_double(st, 0), (uint32_t)sqlite3_column_int64(st, 1),
             (uid_t)sqlite3_column_int64(st, 2), arg);
}

size_t audit_earlier(struct audit *a, const struct job_id *id, struct audit_entry e[AUDIT_EARLIER])
{
    sqlite3_stmt *st = a->db->st[EARLIER];
    size_t n = 0;

    database_bind_id(st, 1, id);
    while (database_row(st))
        take_entry(st, &e[n++]);
    return n;
}

static int one_row(sqlite3_stmt *st, struct audit_entry *e)
{
    int rc = sqlite3_step(st) == SQLITE_ROW ? 0 : -1;

    if (rc == 0)
        take_entry(st, e);
    sqlite3_reset(st);
    return rc;
}

void audit_acted(struct audit *a, const struct job_id *id,
                 void (*each)(const char *rule, double at, void *arg), void *arg)
{
    sqlite3_stmt *st = a->db->st[ACTED];

    database_bind_id(st, 1, id);
    while (database_row(st))
        each((const char *)sqlite3_column_text(st, 0), sqlite3_column_double(st, 1), arg);
}

int audit_asked(struct audit *a, const struct job_id *id, enum action_kind action, uid_t by,
                struct audit_entry *e)
{
    sqlite3_stmt *st = a->db->st[ASKED];

    database_bind_id(st, 1, id);
    database_bind_text(st, 5, action_name(action));
    sqlite3_bind_int64(st, 6, by);
    return one_row(st, e);
}

void audit_run(struct audit *a, const struct job_id *id, void (*each)(const struct audit_entry *e, void *arg),
               void *arg)
{
    sqlite3_stmt *st = a->db->st[RUN];
    struct audit_entry e;

    database_bind_id(st, 1, id);
    while (database_row(st)) {
        take_entry(st, &e);
        each(&e, arg);
    }
}

int audit_get(struct audit *a, int64_t id, struct audit_entry *e)
{
    sqlite3_bind_int64(a->db->st[GET], 1, id);
    return one_row(a->db->st[GET], e);
}

/* ---- actions ---- */

int64_t audit_action_add(struct audit *a, const struct action *action, double at, struct err *err)
{
    sqlite3_stmt *st = a->db->st[ACTION_ADD];
    char *figures = action_figures_text(action);
    int rc;

    database_bind_text(st, 1, action->key);
    database_bind_text(st, 2, action_name(action->kind));
    sqlite3_bind_int64(st, 3, action->by);
    database_bind_id(st, 4, &action->job);
    database_bind_text(st, 8, action->job_text);
    database_bind_text(st, 9, action->nodes);
    sqlite3_bind_int(st, 10, action->signal);
    database_bind_text(st, 11, action->rule);
    database_bind_text(st, 12, action->policy);
    database_bind_text(st, 13, action->reason);
    database_bind_text(st, 14, figures);
    sqlite3_bind_double(st, 15, at);
    rc = database_run_synced(st, "audit", err);
    free(figures);
    return rc == 0 ? sqlite3_last_insert_rowid(a->db->db) : 0;
}

int audit_action_update(struct audit *a, const struct action_record *r, struct err *err)
{
    sqlite3_stmt *st = a->db->st[ACTION_UPDATE];

    sqlite3_bind_int64(st, 1, r->id);
    sqlite3_bind_int(st, 2, (int)r->state);
    sqlite3_bind_int64(st, 3, r->tries);
    sqlite3_bind_int(st, 4, r->under_way);
    database_bind_real(st, 5, r->tried_s);
    database_bind_real(st, 6, r->ended_s);
    database_bind_text(st, 7, r->outcome);
    return database_run_synced(st, "audit", err);
}

/* The present row; NULL if its kind of action is unknown. */
static struct action_record *take_record(sqlite3_stmt *st)
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

static struct action_record *one_record(sqlite3_stmt *st)
{
    struct action_record *r = sqlite3_step(st) == SQLITE_ROW ? take_record(st) : NULL;

    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return r;
}

struct action_record *audit_action_get(struct audit *a, int64_t id)
{
    sqlite3_bind_int64(a->db->st[ACTION_GET], 1, id);
    return one_record(a->db->st[ACTION_GET]);
}

struct action_record *audit_action_find(struct audit *a, const char *key)
{
    database_bind_text(a->db->st[ACTION_FIND], 1, key);
    return one_record(a->db->st[ACTION_FIND]);
}

void audit_actions_pending(struct audit *a, void (*each)(struct action_record *r, void *arg), void *arg)
{
    sqlite3_stmt *st = a->db->st[ACTION_PENDING_LIST];

    while (database_row(st)) {
        struct action_record *r = take_record(st);

        if (r)
            each(r, arg);
    }
}

void audit_actions_list(struct audit *a, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                        action_listed *each, void *arg)
{
    sqlite3_stmt *st = a->db->st[ACTION_LIST];
    bool more = true;

    bind_asker(st, job, uid, before, limit);
    while (more && database_row(st)) {
        struct action_record *r = take_record(st);

        more = !r || each(r, arg);
        action_record_free(r);
    }
    sqlite3_reset(st);
}
