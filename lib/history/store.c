#include "history/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "history/database.h"
#include "history/store_schema.h"
#include "report/report_nodes.h"
#include "wire/json.h"

#define STEPS_MIN    20   /* least number of steps of a run that is compared */
#define FAILURES_MAX 5000 /* at most this many of the newest runs count for the failure rate */
#define TRIM_MIN     16   /* steps are deleted at once; more of a user who has many */
#define TRIM_SHARE   20
#define TRIM_ROUNDS  64  /* of one call: the loop waits for it */
#define SIZES_ALIKE  1.1 /* of two runs of the same program */
#define STARTS_MAX   256 /* at most this many rows are searched for similar runs */

/* What came of a choice at launch, in starts that are compared; and of an algorithm, that none was set. */
#define PLACED   "placed"
#define HELD_OUT "held out"
#define DEFAULT  "default"

enum statement {
    PUT_STEP,
    PUT_VERDICT,
    PUT_RUN,
    PUT_PART,
    GET_REPORT,
    PUT_LISTED,
    DELETE_LISTED,
    PUT_UNFINISHED,
    DELETE_UNFINISHED,
    GET_UNFINISHED,
    GET_LISTED,
    GET_OWN_LISTED,
    COUNT_LISTED,
    COUNT_OWN_LISTED,
    COUNT_UNLISTED,
    LIST_EARLIER,
    DELETE_UNLISTED,
    GET_NODE,
    GET_STARTS,
    GET_NODE_JOBS,
    PUT_OUTCOME,
    GET_FAILURES,
    GET_OWN_FAILURES,
    SET_OUTCOME,
    SET_RUN_OUTCOME,
    PUT_SCALING,
    GET_SCALING,
    PUT_LAUNCH,
    GET_LAUNCHES,
    GET_STARTED,
    GET_NODE_STEPS,
    GET_STARTED_ALGORITHM,
    PUT_ALGORITHM,
    GET_ALGORITHMS,
    STATEMENTS
};

/* Runs of one choice at launch: its table, what came of it, and what was chosen. */
#define STARTED(table, told, choice)                                                              \
    "SELECT l." told ", r.step_p50_s FROM " table " l JOIN run r USING(uid, job, step, restarts)" \
    " WHERE l.uid=?1 AND l.name=?2 AND l.ranks=?3 AND l.nodes=?4 AND l." choice "=?5 AND l." told \
    " IN ('" PLACED "','" HELD_OUT "')"                                                           \
    " AND r.partition=?6 AND r.period=?7 AND r.steps>=?8 AND r.step_p50_s>0 ORDER BY l.begin DESC LIMIT ?9"

#define NEWEST_FIRST " ORDER BY updated DESC, uid DESC, job DESC, step DESC, restarts DESC"

static const char *const sql[STATEMENTS] = {
    [PUT_STEP] = "INSERT OR REPLACE INTO step VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
    [PUT_VERDICT] = "INSERT INTO verdict VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
    /* ?17: STORE_RERUN_S */
    [PUT_RUN] =
        "INSERT INTO run VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,"
        " ?4>0 OR EXISTS(SELECT 1 FROM run WHERE uid=?1 AND name=?5 AND partition=?6"
        "  AND begin<=?9 AND broken AND heard BETWEEN ?9-?17 AND ?9+1 AND NOT(job=?2 AND step=?3)),"
        " ?13,?14,?15,?16)"
        " ON CONFLICT DO UPDATE SET ranks=excluded.ranks, period=excluded.period, heard=excluded.heard,"
        " ended=excluded.ended, broken=excluded.broken, rerun=excluded.rerun,"
        " steps=excluded.steps, step_p50_s=excluded.step_p50_s, step_cv=excluded.step_cv,"
        " energy_j_per_step=excluded.energy_j_per_step",
    [PUT_PART] = "INSERT OR REPLACE INTO part VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)",
    [GET_REPORT] = "SELECT report FROM step WHERE job=?1 AND (?2<0 OR step=?2) AND (?3<0 OR uid=?3)"
                   " AND (?4<0 OR restarts=?4)"
                   " ORDER BY restarts DESC, updated DESC LIMIT 1",
    [PUT_LISTED] = "INSERT OR REPLACE INTO listed VALUES(?1,?2,?3,?4,?5,?6)",
    [DELETE_LISTED] = "DELETE FROM listed WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4",
    [PUT_UNFINISHED] = "INSERT OR REPLACE INTO unfinished VALUES(?1,?2,?3,?4,?5,?6)",
    [DELETE_UNFINISHED] = "DELETE FROM unfinished WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4",
    [GET_UNFINISHED] = "SELECT earlier FROM unfinished WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4",
    [GET_LISTED] = "SELECT updated, uid, job, step, restarts, row FROM listed"
                   " WHERE (updated, uid, job, step, restarts)<(?1,?2,?3,?4,?5)" NEWEST_FIRST,
    [GET_OWN_LISTED] = "SELECT updated, uid, job, step, restarts, row FROM listed"
                       " WHERE uid=?2 AND (updated, job, step, restarts)<(?1,?3,?4,?5)" NEWEST_FIRST,
    [COUNT_LISTED] = "SELECT count(*) FROM listed",
    [COUNT_OWN_LISTED] = "SELECT count(*) FROM listed WHERE uid=?1",
    [COUNT_UNLISTED] = "SELECT count(*) FROM unlisted",
    /* Of reports that earlier releases stored, whose keys these are: later ones keep their row, and a new key
     * is none of these. */
    [LIST_EARLIER] =
        "INSERT OR IGNORE INTO listed"
        " SELECT uid, job, step, restarts, step.updated, (SELECT json_group_object(key, CASE"
        "   WHEN key='policy' THEN json_object('name', json_extract(report,'$.policy.name'))"
        "   WHEN type IN ('true','false') THEN json(type) WHEN type IN ('object','array') THEN json(value) ELSE value END)"
        "  FROM json_each(report) WHERE key IN ('job','step','id','name','user','partition','unconfirmed','policy','state','start',"
        "   'elapsed_s','age_s','ranks','nodes','nodes_total','samples_per_s','steps','period','phases','step_s','steps_per_s','skew_s',"
        "   'synchronisation_ratio','shares','regime','non_finite','judged','mds_ratio','limits','sentence','worst','verdicts'))"
        " FROM (SELECT * FROM unlisted" NEWEST_FIRST " LIMIT ?1) JOIN step USING(uid, job, step, restarts)"
        " WHERE state IN ('finished','lost') AND json_valid(report)",
    [DELETE_UNLISTED] = "DELETE FROM unlisted WHERE (updated, uid, job, step, restarts) IN"
                        " (SELECT updated, uid, job, step, restarts FROM unlisted" NEWEST_FIRST " LIMIT ?1)",
    [GET_NODE] = "SELECT count(*), max(at) FROM verdict WHERE node=?1",
    [GET_STARTS] =
        "SELECT job, step, restarts, ranks, period, rerun, steps, step_p50_s, step_cv, energy_j_per_step"
        " FROM run WHERE uid=?1 AND name=?2 AND partition=?3 AND begin<=?4 ORDER BY begin DESC LIMIT ?5",
    /* the order of the key, so that SQLite need not sort */
    [GET_NODE_JOBS] = "SELECT node, uid, sum(seconds), sum(culprit_s), max(at) FROM part WHERE node>?1"
                      " GROUP BY node, uid, job ORDER BY node, uid, job",
    /* rows of the list have a step's name for people, which one that goes on lacks */
    [GET_NODE_STEPS] =
        "SELECT coalesce(json_extract(l.row,'$.id'), p.job||'.'||p.step), s.user, s.name, p.at, p.seconds, p.culprit_s,"
        " p.lost_s, p.slowdown, p.class, (SELECT text FROM verdict v WHERE v.node=p.node AND v.uid=p.uid"
        "  AND v.job=p.job AND v.step=p.step ORDER BY v.at DESC LIMIT 1),"
        " p.uid, p.job, p.step, p.restarts"
        " FROM part p LEFT JOIN step s USING(uid, job, step, restarts) LEFT JOIN listed l USING(uid, job, step, restarts)"
        " WHERE p.node=?1 AND (?2<0 OR p.uid=?2) ORDER BY p.at DESC LIMIT ?3",
    [PUT_OUTCOME] = "INSERT OR REPLACE INTO outcome VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
    /* only the newest runs, by the index on heard, to bound the time */
    [GET_FAILURES] = "SELECT sum(broken), sum(node_s) FROM (SELECT broken, node_s FROM outcome"
                     " WHERE steps>=?1 AND node_s>0 AND (?2='' OR partition=?2) AND NOT(job=?3 AND uid=?4)"
                     " ORDER BY heard DESC LIMIT ?5)",
    [GET_OWN_FAILURES] = "SELECT sum(broken), sum(node_s) FROM outcome WHERE uid=?1 AND job=?2"
                         " AND NOT(step=?3 AND restarts=?4) AND steps>=?5 AND node_s>0",
    [SET_OUTCOME] = "UPDATE outcome SET broken=?5 WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4",
    [SET_RUN_OUTCOME] = "UPDATE run SET broken=?5 WHERE uid=?1 AND job=?2 AND step=?3 AND restarts=?4",
    [PUT_SCALING] = "INSERT OR REPLACE INTO scaling VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
    /* the newest for each number of ranks: with max() SQLite takes the other columns from that row */
    [GET_SCALING] =
        "SELECT run, max(heard) FROM scaling WHERE uid=?1 AND name=?2 AND partition=?3 AND ranks<>?4"
        " GROUP BY ranks ORDER BY max(heard) DESC LIMIT ?5",
    [PUT_LAUNCH] = "INSERT OR REPLACE INTO launch VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
    [GET_LAUNCHES] =
        "SELECT pattern, communication_ratio, placement FROM launch WHERE uid=?1 AND name=?2 AND ranks=?3"
        " AND (?4=0 OR nodes=?4) AND steps>=?5 ORDER BY begin DESC LIMIT ?6",
    [GET_STARTED] = STARTED("launch", "placement", "placed_for"),
    [GET_STARTED_ALGORITHM] = STARTED("algorithm", "told", "algorithm"),
    [PUT_ALGORITHM] =
        "INSERT OR REPLACE INTO algorithm VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)",
    [GET_ALGORITHMS] =
        "SELECT library, allreduces, step_s, told FROM algorithm WHERE uid=?1 AND name=?2 AND ranks=?3"
        " AND (?4=0 OR nodes=?4) AND steps>=?5 ORDER BY begin DESC LIMIT ?6",
};

const struct database_tables store_tables = {
    .file = "history.sqlite",
    .migrations = store_migrations,
    .version = STORE_VERSION,
    .sql = sql,
    .statements = STATEMENTS,
};

struct store {
    struct database *db;
};

struct store *store_open(const char *dir, struct err *err)
{
    struct database *db = database_open(dir, &store_tables, err);
    struct store *s = db ? xcalloc(1, sizeof(*s)) : NULL;

    if (s)
        s->db = db;
    return s;
}

void store_close(struct store *s)
{
    if (s)
        database_close(s->db);
    free(s);
}

/* The step's row of a table of texts; NULL: it has none there. */
static int put_row(struct store *s, enum statement put, enum statement delete, const struct job *j,
                   double updated, const json_t *o, struct err *err)
{
    sqlite3_stmt *st = s->db->st[o ? put : delete];
    char *text;
    int rc;

    database_bind_id(st, 1, &j->id);
    if (!o)
        return database_run(st, "history", err);
    text = json_dumps(o, JSON_COMPACT);
    sqlite3_bind_double(st, 5, updated);
    database_bind_text(st, 6, text);
    rc = database_run(st, "history", err);
    free(text);
    return rc;
}

int store_unfinished(struct store *s, const struct job *j, const json_t *earlier, struct err *err)
{
    return put_row(s, PUT_UNFINISHED, DELETE_UNFINISHED, j, wall_s(), earlier, err);
}

json_t *store_unfinished_get(struct store *s, const struct job_id *id)
{
    sqlite3_stmt *st = s ? s->db->st[GET_UNFINISHED] : NULL;
    json_t *o = NULL;

    if (!st)
        return NULL;
    database_bind_id(st, 1, id);
    while (database_row(st))
        o = o ? o : json_loads(database_text(st, 0), JSON_REJECT_DUPLICATES, NULL);
    return o;
}

int64_t store_unlisted_count(struct store *s)
{
    return s ? database_number(s->db->st[COUNT_UNLISTED], 0) : 0;
}

int store_list_earlier(struct store *s, int64_t max, struct err *err)
{
    int rc;

    store_begin(s);
    sqlite3_bind_int64(s->db->st[LIST_EARLIER], 1, max);
    rc = database_run(s->db->st[LIST_EARLIER], "history", err);
    sqlite3_bind_int64(s->db->st[DELETE_UNLISTED], 1, max);
    if (rc == 0)
        rc = database_run(s->db->st[DELETE_UNLISTED], "history", err);
    return store_end(s, err) < 0 ? -1 : rc;
}

int store_step(struct store *s, const struct job *j, const json_t *report, const json_t *row, struct err *err)
{
    sqlite3_stmt *st = s->db->st[PUT_STEP];
    double updated = wall_s();
    char *text;
    int rc;

    text = json_dumps(report, JSON_COMPACT);
    database_bind_id(st, 1, &j->id);
    database_bind_text(st, 5, j->name);
    database_bind_text(st, 6, j->user);
    database_bind_text(st, 7, j->partition);
    sqlite3_bind_double(st, 8, j->start_wall_s);
    sqlite3_bind_double(st, 9, updated);
    database_bind_text(st, 10, job_state_name(j->state));
    database_bind_text(st, 11, text);
    rc = database_run(st, "history", err);
    free(text);
    /* A lost step that is heard of again leaves the list. */
    return rc == 0 ? put_row(s, PUT_LISTED, DELETE_LISTED, j, updated, row, err) : rc;
}

int store_verdict(struct store *s, const struct job *j, const char *class, const char *scope,
                  const char *culprit, const char *node, double slowdown, const char *text, struct err *err)
{
    sqlite3_stmt *st = s->db->st[PUT_VERDICT];

    sqlite3_bind_double(st, 1, wall_s());
    sqlite3_bind_int64(st, 2, j->id.uid);
    sqlite3_bind_int64(st, 3, j->id.job);
    sqlite3_bind_int64(st, 4, j->id.step);
    database_bind_text(st, 5, class);
    database_bind_text(st, 6, scope);
    database_bind_text(st, 7, culprit);
    database_bind_text(st, 8, node);
    database_bind_real(st, 9, slowdown);
    database_bind_text(st, 10, text);
    return database_run(st, "history", err);
}

/* ---- runs ---- */

int store_run(struct store *s, const struct store_run *r, struct err *err)
{
    sqlite3_stmt *st = s->db->st[PUT_RUN];

    database_bind_id(st, 1, &r->job->id);
    database_bind_text(st, 5, r->job->name);
    database_bind_text(st, 6, r->job->partition);
    sqlite3_bind_int64(st, 7, r->ranks);
    if (r->period)
        sqlite3_bind_int64(st, 8, r->period);
    sqlite3_bind_double(st, 9, r->job->start_wall_s);
    sqlite3_bind_double(st, 10, r->heard);
    sqlite3_bind_int(st, 11, r->ended);
    sqlite3_bind_int(st, 12, r->broken);
    sqlite3_bind_int64(st, 13, (sqlite3_int64)r->training_steps);
    database_bind_real(st, 14, r->figures.step_p50_s);
    database_bind_real(st, 15, r->figures.step_cv);
    database_bind_real(st, 16, r->figures.energy_j_per_step);
    sqlite3_bind_double(st, 17, STORE_RERUN_S);
    if (database_run(st, "history", err) < 0)
        return -1;
    st = s->db->st[PUT_OUTCOME];
    database_bind_id(st, 1, &r->job->id);
    database_bind_text(st, 5, r->job->partition);
    sqlite3_bind_double(st, 6, r->heard);
    sqlite3_bind_int(st, 7, r->broken);
    sqlite3_bind_int64(st, 8, (sqlite3_int64)r->training_steps);
    sqlite3_bind_double(st, 9, r->node_s);
    return database_run(st, "history", err);
}

/* The first columns of what was chosen at a launch, whatever it was. */
static void bind_start(sqlite3_stmt *st, const struct store_run *r)
{
    database_bind_id(st, 1, &r->job->id);
    database_bind_text(st, 5, r->job->name);
    sqlite3_bind_int64(st, 6, r->ranks);
    sqlite3_bind_int64(st, 7, r->job->nodes_total);
    sqlite3_bind_double(st, 8, r->job->start_wall_s);
    sqlite3_bind_double(st, 9, r->heard);
    sqlite3_bind_int64(st, 10, (sqlite3_int64)r->training_steps);
}

/* What came of a choice: left is its name where it was not taken. */
static const char *came_of(const struct job_choice *c, const char *left)
{
    if (c->compared)
        return c->applied ? PLACED : HELD_OUT;
    return c->applied ? config_placements[CONFIG_PLACEMENT_ON] : left;
}

int store_launch(struct store *s, const struct store_run *r, const struct store_launch *l, struct err *err)
{
    const struct job_choice *p = &r->job->placement;
    sqlite3_stmt *st = s->db->st[PUT_LAUNCH];

    bind_start(st, r);
    if (*l->pattern)
        database_bind_text(st, 11, l->pattern);
    database_bind_real(st, 12, l->communication_ratio);
    if (*p->name) {
        database_bind_text(st, 13, came_of(p, config_placements[CONFIG_PLACEMENT_ADVISE]));
        database_bind_text(st, 14, p->name);
    }
    return database_run(st, "history", err);
}

/* Turns are taken the newest first. */
static void take_turn(struct store_turns *t, const char *told)
{
    bool held_out = !strcmp(told, HELD_OUT);

    if (held_out && !t->placed && !t->held_out)
        t->held_out_last = true;
    t->held_out += held_out;
    t->placed += !strcmp(told, PLACED);
}

static void bind_name(sqlite3_stmt *st, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes)
{
    sqlite3_bind_int64(st, 1, uid);
    database_bind_text(st, 2, name);
    sqlite3_bind_int64(st, 3, ranks);
    sqlite3_bind_int64(st, 4, nodes);
    sqlite3_bind_int64(st, 5, STEPS_MIN);
    sqlite3_bind_int(st, 6, STARTS_MAX);
}

void store_launches(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes,
                    struct store_launches *out)
{
    sqlite3_stmt *st;

    *out = (struct store_launches){ .newest = { .communication_ratio = NAN } };
    if (!s)
        return;
    st = s->db->st[GET_LAUNCHES];
    bind_name(st, uid, name, ranks, nodes);
    while (database_row(st)) {
        const char *pattern = database_text(st, 0);

        take_turn(&out->turns, database_text(st, 2));
        if (out->n == 0) {
            snprintf(out->newest.pattern, sizeof(out->newest.pattern), "%s", pattern);
            out->newest.communication_ratio = database_real(st, 1);
        } else if (out->n == 1 && *pattern && strcmp(pattern, out->newest.pattern) != 0) {
            out->newest.pattern[0] = '\0';
        }
        out->n++;
    }
}

size_t store_starts(struct store *s, const struct store_run *r, enum store_choice choice, struct start *start,
                    size_t max)
{
    sqlite3_stmt *st = s->db->st[choice == STORE_ORDER ? GET_STARTED : GET_STARTED_ALGORITHM];
    size_t n = 0;

    sqlite3_bind_int64(st, 1, r->job->id.uid);
    database_bind_text(st, 2, r->job->name);
    sqlite3_bind_int64(st, 3, r->ranks);
    sqlite3_bind_int64(st, 4, r->job->nodes_total);
    database_bind_text(st, 5, store_choice_get(r->job, choice)->name);
    database_bind_text(st, 6, r->job->partition);
    sqlite3_bind_int64(st, 7, r->period);
    sqlite3_bind_int64(st, 8, STEPS_MIN);
    sqlite3_bind_int64(st, 9, (sqlite3_int64)max);
    while (database_row(st))
        if (n < max)
            start[n++] = (struct start){ !strcmp(database_text(st, 0), HELD_OUT), database_real(st, 1) };
    return n;
}

/* ---- all-reduces ---- */

json_t *store_sizes(const struct store_allreduces *a)
{
    json_t *sizes = json_array();

    for (size_t i = 0; i < a->n; i++)
        json_array_append_new(
            sizes, json_pack("[o,o,o,o,o]", json_of_real(a->size[i].bytes), json_of_real(a->size[i].per_step),
                             json_of_real(a->size[i].time_s), json_of_real(a->size[i].stay_s),
                             json_of_real(a->size[i].time_error)));
    return sizes;
}

static void sizes_parse(const char *text, struct store_allreduces *a)
{
    json_t *sizes = json_loads(text, 0, NULL), *o;
    size_t i;

    json_array_foreach(sizes, i, o)
        if (i < ALGORITHM_SIZES)
            a->size[a->n++] = (struct algorithm_size){ json_number_of(json_array_get(o, 0)),
                                                       json_number_of(json_array_get(o, 1)),
                                                       json_number_of(json_array_get(o, 2)),
                                                       json_number_of(json_array_get(o, 3)),
                                                       json_number_of(json_array_get(o, 4)) };
    json_decref(sizes);
}

int store_allreduces(struct store *s, const struct store_run *r, const struct store_allreduces *a,
                     struct err *err)
{
    const struct job_choice *told = &r->job->algorithm;
    sqlite3_stmt *st = s->db->st[PUT_ALGORITHM];
    json_t *sizes = store_sizes(a);
    char *text = json_dumps(sizes, JSON_COMPACT | JSON_REAL_PRECISION(9));
    int rc;

    bind_start(st, r);
    database_bind_text(st, 11, a->library);
    database_bind_text(st, 12, text);
    database_bind_real(st, 13, a->step_s);
    database_bind_text(st, 14, came_of(told, DEFAULT));
    if (*told->name)
        database_bind_text(st, 15, told->name);
    rc = database_run(st, "history", err);
    free(text);
    json_decref(sizes);
    return rc;
}

static bool is_alike(const struct store_allreduces *a, const struct store_allreduces *b)
{
    bool alike = a->n == b->n && !strcmp(a->library, b->library);

    for (size_t i = 0; alike && i < a->n; i++)
        alike = fmax(a->size[i].bytes, b->size[i].bytes) <=
                SIZES_ALIKE * fmin(a->size[i].bytes, b->size[i].bytes);
    return alike;
}

void store_usual(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes,
                 struct store_allreduces *usual, struct store_turns *turns)
{
    struct store_allreduces read;
    sqlite3_stmt *st;
    size_t runs = 0;

    *usual = (struct store_allreduces){ .n = 0 };
    *turns = (struct store_turns){ .placed = 0 };
    if (!s)
        return;
    st = s->db->st[GET_ALGORITHMS];
    bind_name(st, uid, name, ranks, nodes);
    while (database_row(st)) {
        const char *came = database_text(st, 3);

        take_turn(turns, came);
        if (runs == 2 || (strcmp(came, DEFAULT) != 0 && strcmp(came, HELD_OUT) != 0))
            continue;
        read = (struct store_allreduces){ .step_s = database_real(st, 2) };
        snprintf(read.library, sizeof(read.library), "%s", database_text(st, 0));
        sizes_parse(database_text(st, 1), &read);
        if (runs++ == 0)
            *usual = read;
        else if (!is_alike(usual, &read))
            usual->n = 0;
    }
}

void store_similar_runs(struct store *s, const struct store_run *r, struct store_similar_runs *out)
{
    const struct job_id *id = &r->job->id;
    sqlite3_stmt *st = s->db->st[GET_STARTS];

    out->n = out->n_starts = 0;
    sqlite3_bind_int64(st, 1, r->job->id.uid);
    database_bind_text(st, 2, r->job->name);
    database_bind_text(st, 3, r->job->partition);
    sqlite3_bind_double(st, 4, r->job->start_wall_s);
    sqlite3_bind_int(st, 5, STARTS_MAX);
    while (database_row(st)) {
        bool self = sqlite3_column_int64(st, 0) == id->job && sqlite3_column_int64(st, 1) == id->step &&
                    sqlite3_column_int64(st, 2) == id->restarts;

        if (out->n_starts < PAST_RUNS_MAX)
            out->rerun[out->n_starts++] = sqlite3_column_int(st, 5);
        if (self || out->n == PAST_RUNS_MAX || sqlite3_column_int64(st, 3) != r->ranks ||
            sqlite3_column_int64(st, 4) != r->period || sqlite3_column_int64(st, 6) < STEPS_MIN)
            continue;
        out->run[out->n++] =
            (struct past_run){ database_real(st, 7), database_real(st, 8), database_real(st, 9) };
    }
}

int store_parts(struct store *s, const struct job *j, double now, const struct store_part *part, size_t n,
                struct err *err)
{
    sqlite3_stmt *st = s->db->st[PUT_PART];

    for (size_t i = 0; i < n; i++) {
        database_bind_text(st, 1, part[i].node);
        database_bind_id(st, 2, &j->id);
        sqlite3_bind_double(st, 6, now);
        sqlite3_bind_double(st, 7, part[i].seconds);
        sqlite3_bind_double(st, 8, part[i].culprit_s);
        database_bind_real(st, 9, part[i].lost_s);
        database_bind_real(st, 10, part[i].slowdown);
        if (part[i].class)
            database_bind_text(st, 11, part[i].class);
        if (database_run(st, "history", err) < 0)
            return -1;
    }
    return 0;
}

int store_node_jobs(struct store *s, char node[STORE_NODE_MAX], size_t max, store_node_job *each, void *arg)
{
    sqlite3_stmt *st = s->db->st[GET_NODE_JOBS];
    size_t n = 0;
    int rc;

    database_bind_text(st, 1, node);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(st, 0);

        if (n >= max && strcmp(name, node))
            break;
        snprintf(node, STORE_NODE_MAX, "%s", name);
        each(name, sqlite3_column_int64(st, 1), sqlite3_column_double(st, 2), sqlite3_column_double(st, 3),
             sqlite3_column_double(st, 4), arg);
        n++;
    }
    sqlite3_reset(st);
    return rc == SQLITE_ROW;
}

void store_node_steps(struct store *s, uid_t uid, const char *node, size_t max, store_node_step *each,
                      void *arg)
{
    struct report_node_step r;
    sqlite3_stmt *st;
    struct job_id id;

    if (!s)
        return;
    st = s->db->st[GET_NODE_STEPS];
    database_bind_text(st, 1, node);
    sqlite3_bind_int64(st, 2, uid == UINT32_MAX ? -1 : (int64_t)uid);
    sqlite3_bind_int64(st, 3, (sqlite3_int64)max);
    while (database_row(st)) {
        r = (struct report_node_step){ .at = database_real(st, 3),
                                       .age_s = NAN,
                                       .seconds = database_real(st, 4),
                                       .culprit_s = database_real(st, 5),
                                       .lost_s = database_real(st, 6),
                                       .slowdown = database_real(st, 7) };
        snprintf(r.id, sizeof(r.id), "%s", database_text(st, 0));
        snprintf(r.user, sizeof(r.user), "%s", database_text(st, 1));
        snprintf(r.name, sizeof(r.name), "%s", database_text(st, 2));
        snprintf(r.class, sizeof(r.class), "%s", database_text(st, 8));
        snprintf(r.verdict, sizeof(r.verdict), "%s", database_text(st, 9));
        id = database_id(st, 10);
        each(&id, &r, arg);
    }
}

/* Read the sums over outcomes. */
static void take_failures(sqlite3_stmt *st, double *failures, double *node_s)
{
    *failures = *node_s = 0;
    while (database_row(st)) {
        *failures = sqlite3_column_double(st, 0);
        *node_s = sqlite3_column_double(st, 1);
    }
}

void store_failures(struct store *s, const struct job *j, const char *partition, double *failures,
                    double *node_s)
{
    sqlite3_stmt *st = s->db->st[GET_FAILURES];

    sqlite3_bind_int64(st, 1, STEPS_MIN);
    database_bind_text(st, 2, partition);
    sqlite3_bind_int64(st, 3, j->id.job);
    sqlite3_bind_int64(st, 4, j->id.uid);
    sqlite3_bind_int64(st, 5, FAILURES_MAX);
    take_failures(st, failures, node_s);
}

void store_own_failures(struct store *s, const struct job *j, double *failures, double *node_s)
{
    sqlite3_stmt *st = s->db->st[GET_OWN_FAILURES];

    database_bind_id(st, 1, &j->id);
    sqlite3_bind_int64(st, 5, STEPS_MIN);
    take_failures(st, failures, node_s);
}

int store_outcome(struct store *s, const struct job *j, bool failed, struct err *err)
{
    static const enum statement both[] = { SET_OUTCOME, SET_RUN_OUTCOME };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(both) && rc == 0; i++) {
        sqlite3_stmt *st = s->db->st[both[i]];

        database_bind_id(st, 1, &j->id);
        sqlite3_bind_int(st, 5, failed);
        rc = database_run(st, "history", err);
    }
    return rc;
}

int store_scaling(struct store *s, const struct job *j, uint32_t ranks, double heard, const char *run_text,
                  struct err *err)
{
    sqlite3_stmt *st = s->db->st[PUT_SCALING];

    database_bind_id(st, 1, &j->id);
    database_bind_text(st, 5, j->name);
    database_bind_text(st, 6, j->partition);
    sqlite3_bind_int64(st, 7, ranks);
    sqlite3_bind_double(st, 8, heard);
    database_bind_text(st, 9, run_text);
    return database_run(st, "history", err);
}

void store_scaling_runs(struct store *s, const struct job *j, uint32_t ranks, size_t max,
                        store_scaling_run *each, void *arg)
{
    sqlite3_stmt *st = s->db->st[GET_SCALING];

    sqlite3_bind_int64(st, 1, j->id.uid);
    database_bind_text(st, 2, j->name);
    database_bind_text(st, 3, j->partition);
    sqlite3_bind_int64(st, 4, ranks);
    sqlite3_bind_int64(st, 5, (sqlite3_int64)max);
    while (database_row(st))
        each(database_text(st, 0), arg);
}

void store_begin(struct store *s)
{
    sqlite3_exec(s->db->db, "BEGIN", NULL, NULL, NULL);
}

int store_end(struct store *s, struct err *err)
{
    if (database_execute(s->db, "COMMIT", err) == 0)
        return 0;
    err_prefix(err, "history");
    sqlite3_exec(s->db->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int store_expire(struct store *s, int days, struct err *err)
{
    char text[700];
    double before = wall_s() - days * 86400.0;

    snprintf(text, sizeof(text),
             "DELETE FROM step WHERE updated < %.0f; DELETE FROM verdict WHERE at < %.0f;"
             "DELETE FROM run WHERE heard < %.0f; DELETE FROM part WHERE at < %.0f;"
             "DELETE FROM outcome WHERE heard < %.0f; DELETE FROM scaling WHERE heard < %.0f;"
             "DELETE FROM launch WHERE heard < %.0f;"
             "DELETE FROM algorithm WHERE heard < %.0f; DELETE FROM listed WHERE updated < %.0f;"
             "DELETE FROM unfinished WHERE updated < %.0f;",
             before, before, before, before, before, before, before, before, before, before);
    return database_execute(s->db, text, err) < 0 ? err_prefix(err, "history") : 0;
}

/* ---- size ---- */

double store_used_bytes(struct store *s)
{
    return s ? (double)(database_ask(s->db, "PRAGMA page_count", 0) -
                        database_ask(s->db, "PRAGMA freelist_count", 0)) *
                   (double)database_ask(s->db, "PRAGMA page_size", 0)
             : NAN;
}

/* The user with the most steps, and how many; -1: there are none. */
static int64_t largest_user(struct store *s, int64_t *steps)
{
    sqlite3_stmt *st;
    int64_t uid = -1;

    if (sqlite3_prepare_v2(s->db->db,
                           "SELECT uid, count(*) FROM step GROUP BY uid ORDER BY count(*) DESC LIMIT 1", -1,
                           &st, NULL) != SQLITE_OK)
        return -1;
    if (sqlite3_step(st) == SQLITE_ROW) {
        uid = sqlite3_column_int64(st, 0);
        *steps = sqlite3_column_int64(st, 1);
    }
    sqlite3_finalize(st);
    return uid;
}

static int delete_oldest(struct store *s, int64_t uid, int64_t n, struct err *err)
{
    static const char *const of_step[] = { "run",    "part",      "outcome", "scaling",
                                           "launch", "algorithm", "listed",  "step" };
    char text[2400], *at = text;

    at += snprintf(at, 200,
                   "BEGIN IMMEDIATE; CREATE TEMP TABLE gone AS SELECT uid, job, step, restarts FROM step"
                   " WHERE uid=%lld ORDER BY updated LIMIT %lld;",
                   (long long)uid, (long long)n);
    at += snprintf(at, 200,
                   "DELETE FROM verdict WHERE uid=%lld AND (job, step) IN (SELECT job, step FROM gone);",
                   (long long)uid);
    for (size_t i = 0; i < ARRAY_SIZE(of_step); i++)
        at += snprintf(
            at, 200, "DELETE FROM %s WHERE uid=%lld AND (uid, job, step, restarts) IN (SELECT * FROM gone);",
            of_step[i], (long long)uid);
    snprintf(at, 60, "DROP TABLE gone; COMMIT;");
    if (database_execute(s->db, text, err) == 0)
        return 0;
    sqlite3_exec(s->db->db, "ROLLBACK", NULL, NULL, NULL);
    return err_prefix(err, "history");
}

int store_trim(struct store *s, double max_bytes, struct err *err)
{
    int64_t uid, steps, n;
    int deleted = 0;

    if (!s || store_used_bytes(s) <= max_bytes)
        return 0;
    for (int i = 0; i < TRIM_ROUNDS && store_used_bytes(s) > max_bytes - max_bytes / TRIM_SHARE; i++) {
        uid = largest_user(s, &steps);
        if (uid < 0)
            break;
        n = steps / TRIM_SHARE > TRIM_MIN ? steps / TRIM_SHARE : TRIM_MIN;
        if (delete_oldest(s, uid, n, err) < 0)
            return -1;
        deleted += (int)(n < steps ? n : steps);
    }
    return deleted;
}

bool store_has_space(struct store *s, double free_bytes)
{
    struct statvfs fs;

    return !s || statvfs(sqlite3_db_filename(s->db->db, "main"), &fs) < 0 ||
           (double)fs.f_bavail * (double)fs.f_frsize >= free_bytes;
}

/* ---- queries ---- */

/* Whether there is a row; the caller resets st. */
static bool find_report(sqlite3_stmt *st, int64_t job, int64_t step, int64_t restarts, uid_t uid)
{
    sqlite3_bind_int64(st, 1, job);
    sqlite3_bind_int64(st, 2, step);
    database_bind_uid(st, 3, uid);
    sqlite3_bind_int64(st, 4, restarts);
    return sqlite3_step(st) == SQLITE_ROW;
}

json_t *store_report(struct store *s, int64_t job, int64_t step, int64_t restarts, uid_t uid)
{
    sqlite3_stmt *st = s ? s->db->st[GET_REPORT] : NULL;
    bool found = st && find_report(st, job, step, restarts, uid);
    json_t *report = found ? json_loads(database_text(st, 0), 0, NULL) : NULL;

    sqlite3_reset(st);
    return report;
}

bool store_has_report(struct store *s, int64_t job, int64_t step, uid_t uid)
{
    sqlite3_stmt *st = s ? s->db->st[GET_REPORT] : NULL;
    bool found = st && find_report(st, job, step, -1, uid);

    sqlite3_reset(st);
    return found;
}

bool store_list(struct store *s, uid_t uid, struct store_place *at, store_listed *each, void *arg)
{
    sqlite3_stmt *st;
    bool more = false;

    if (!s)
        return false;
    st = s->db->st[uid == UINT32_MAX ? GET_LISTED : GET_OWN_LISTED];
    sqlite3_bind_double(st, 1, at->updated);
    database_bind_id(st, 2, &at->id);
    if (uid != UINT32_MAX)
        sqlite3_bind_int64(st, 2, uid);
    while (!more && database_row(st)) {
        at->updated = database_real(st, 0);
        at->id = database_id(st, 1);
        more = !each(json_loads(database_text(st, 5), 0, NULL), (size_t)sqlite3_column_bytes(st, 5), arg);
    }
    sqlite3_reset(st);
    return more;
}

int64_t store_listed_count(struct store *s, uid_t uid)
{
    bool all = uid == UINT32_MAX;

    if (!s)
        return 0;
    if (!all)
        sqlite3_bind_int64(s->db->st[COUNT_OWN_LISTED], 1, uid);
    return database_number(s->db->st[all ? COUNT_LISTED : COUNT_OWN_LISTED], 0);
}

int store_node(struct store *s, const char *node, int *count, double *last_wall_s)
{
    sqlite3_stmt *st;

    *count = 0;
    *last_wall_s = 0;
    if (!s)
        return -1;
    st = s->db->st[GET_NODE];
    database_bind_text(st, 1, node);
    while (database_row(st)) {
        *count = sqlite3_column_int(st, 0);
        *last_wall_s = sqlite3_column_double(st, 1);
    }
    return 0;
}

double store_bytes(struct store *s)
{
    struct stat st;

    if (!s || stat(sqlite3_db_filename(s->db->db, "main"), &st) < 0)
        return NAN;
    return (double)st.st_size;
}
