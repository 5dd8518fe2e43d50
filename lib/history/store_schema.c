/* store_schema.c - the history's tables, version by version. */
#include "history/store_schema.h"

const char *const store_migrations[STORE_VERSION] = {
    "CREATE TABLE IF NOT EXISTS step("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, user TEXT, partition TEXT,"
    " begin REAL, updated REAL, state TEXT, report TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS step_updated ON step(updated);"
    "CREATE TABLE IF NOT EXISTS verdict("
    " at REAL, uid INTEGER, job INTEGER, step INTEGER, class TEXT, scope TEXT, culprit TEXT, node TEXT,"
    " slowdown REAL, text TEXT);"
    "CREATE INDEX IF NOT EXISTS verdict_node ON verdict(node, at);",

    "CREATE TABLE IF NOT EXISTS run("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, partition TEXT, ranks INTEGER,"
    " period INTEGER, begin REAL, heard REAL, ended INTEGER, broken INTEGER, rerun INTEGER, steps INTEGER,"
    " step_p50_s REAL, step_cv REAL, energy_j_per_step REAL,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS run_name ON run(uid, name, partition, begin);"
    "CREATE INDEX IF NOT EXISTS run_heard ON run(heard);"
    "CREATE TABLE IF NOT EXISTS part("
    " node TEXT, uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, at REAL, seconds REAL,"
    " culprit_s REAL, lost_s REAL, slowdown REAL, class TEXT,"
    " PRIMARY KEY(node, uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS part_at ON part(at);"
    /* Fill the tables from earlier reports.  These lack the end of a verdict, so that it counts from when it
       was raised. */
    "INSERT OR IGNORE INTO run"
    " SELECT uid, job, step, restarts, name, partition, json_extract(report,'$.ranks'),"
    "  json_extract(report,'$.period'), begin, updated, state IN ('finished','lost'), state='lost',"
    "  restarts>0, json_extract(report,'$.steps'), json_extract(report,'$.step_s.p50'),"
    "  json_extract(report,'$.step_s.cv'), NULL FROM step WHERE json_valid(report);"
    "INSERT OR IGNORE INTO part"
    " SELECT a.node, a.uid, a.job, a.step, a.restarts, a.updated, a.seconds,"
    "  CASE WHEN v.at IS NULL THEN 0 ELSE min(a.seconds, max(0, a.updated-v.at)) END, NULL, v.slowdown,"
    "  v.class"
    " FROM (SELECT json_extract(e.value,'$.node') AS node, uid, job, step, restarts, updated,"
    "        json_extract(report,'$.elapsed_s') AS seconds"
    "       FROM (SELECT * FROM step WHERE json_valid(report)) JOIN json_each(report,'$.agents') AS e"
    "       WHERE json_extract(report,'$.period') IS NOT NULL) AS a"
    " LEFT JOIN (SELECT node, uid, job, step, min(at) AS at, max(slowdown) AS slowdown, class FROM verdict"
    "            GROUP BY node, uid, job, step) AS v"
    " ON v.node=a.node AND v.uid=a.uid AND v.job=a.job AND v.step=a.step"
    " WHERE a.node IS NOT NULL AND a.seconds>0;",

    /* Failures, and as their denominator the node-seconds of a run. */
    "CREATE TABLE IF NOT EXISTS outcome("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, partition TEXT, heard REAL, broken INTEGER,"
    " steps INTEGER, node_s REAL, PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS outcome_heard ON outcome(heard);",

    /* Measurements of a run for projections (job/scaling_run.h). */
    "CREATE TABLE IF NOT EXISTS scaling("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, partition TEXT, ranks INTEGER,"
    " heard REAL, run TEXT, PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS scaling_name ON scaling(uid, name, partition, ranks, heard);"
    "CREATE INDEX IF NOT EXISTS scaling_heard ON scaling(heard);",

    /* Whose steps are the most, and his oldest. */
    "CREATE INDEX IF NOT EXISTS step_uid ON step(uid, updated);",

    /* What a run communicates, and in which order its ranks were started: what the next start of the job goes
       by. */
    "CREATE TABLE IF NOT EXISTS launch("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, ranks INTEGER, nodes INTEGER,"
    " begin REAL, heard REAL, steps INTEGER, pattern TEXT, communication_ratio REAL, placement TEXT,"
    " placed_for TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS launch_name ON launch(uid, name, ranks, begin);"
    "CREATE INDEX IF NOT EXISTS launch_heard ON launch(heard);",

    /* A run's all-reduces ([[bytes, per step, shortest and mean stay, error], ...]), its MPI library, and
     * what came of the choice of another algorithm at launch ("default": the library was told none). */
    "CREATE TABLE IF NOT EXISTS algorithm("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, ranks INTEGER, nodes INTEGER,"
    " begin REAL, heard REAL, steps INTEGER, library TEXT, allreduces TEXT, step_s REAL, told TEXT, algorithm TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS algorithm_name ON algorithm(uid, name, ranks, begin);"
    "CREATE INDEX IF NOT EXISTS algorithm_heard ON algorithm(heard);",

    /* Rows of the list of ended steps, apart from the reports, which are a hundred times as long. */
    "CREATE TABLE IF NOT EXISTS listed("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, updated REAL, row TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS listed_updated ON listed(updated);"
    "CREATE INDEX IF NOT EXISTS listed_uid ON listed(uid, updated);"
    /* Those that ended before: their rows are made of their reports little by little. */
    "CREATE TABLE IF NOT EXISTS unlisted("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, updated REAL,"
    " PRIMARY KEY(updated, uid, job, step, restarts)) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO unlisted SELECT uid, job, step, restarts, updated FROM step WHERE state IN ('finished','lost');",

    /* What is known of steps that go on (job/earlier.h), for a controller that is started again. */
    "CREATE TABLE IF NOT EXISTS unfinished("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, updated REAL, earlier TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS unfinished_updated ON unfinished(updated);",
};
