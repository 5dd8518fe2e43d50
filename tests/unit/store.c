/* The history on disk: an old version is migrated without loss, similar runs are found, nodes' jobs are
 * summed. */
#include "history/store.h"
#include "history/store_schema.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "history/history.h"
#include "job/jobs.h"
#include "report/report_nodes.h"
#include "tests/tap.h"
#include "wire/json.h"

static char dir[64];

static char *path(void)
{
    static char p[96];

    snprintf(p, sizeof(p), "%s/history.sqlite", dir);
    return p;
}

static void fresh_dir(void)
{
    snprintf(dir, sizeof(dir), "/tmp/store-test.XXXXXX");
    if (!mkdtemp(dir))
        printf("Bail out! cannot create a directory\n");
}

static void remove_dir(void)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };

    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        char *p = xasprintf("%s%s", path(), suffixes[i]);

        unlink(p);
        free(p);
    }
    ok(rmdir(dir) == 0, "the store leaves no other files in its folder");
}

static struct store *opened(const char *what)
{
    struct err err = { "" };
    struct store *s = store_open(dir, &err);

    ok(s != NULL, "%s opens %s", what, err.text);
    return s;
}

static double clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* First column of the first row, read by a connection of its own. */
static long long by_hand(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *st;
    long long n = -1;

    sqlite3_open(path(), &db);
    while (*sql && sqlite3_prepare_v2(db, sql, -1, &st, &sql) == SQLITE_OK && st) {
        if (sqlite3_step(st) == SQLITE_ROW)
            n = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
    }
    sqlite3_close(db);
    return n;
}

/* ---- migration ---- */

/* A database exactly as the first version wrote it. */
static const char version_1[] =
    "PRAGMA journal_mode=WAL;"
    "CREATE TABLE step("
    " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, name TEXT, user TEXT, partition TEXT,"
    " begin REAL, updated REAL, state TEXT, report TEXT,"
    " PRIMARY KEY(uid, job, step, restarts)) WITHOUT ROWID;"
    "CREATE INDEX step_updated ON step(updated);"
    "CREATE TABLE verdict("
    " at REAL, uid INTEGER, job INTEGER, step INTEGER, class TEXT, scope TEXT, culprit TEXT, node TEXT,"
    " slowdown REAL, text TEXT);"
    "CREATE INDEX verdict_node ON verdict(node, at);"
    "INSERT INTO step VALUES(7,100,0,0,'train','anna','gpu',1000,1600,'finished',"
    " '{\"id\":\"100.0\",\"ranks\":4,\"period\":3,\"steps\":500,\"elapsed_s\":600,"
    "\"step_s\":{\"p50\":0.5,\"cv\":0.1},\"agents\":[{\"node\":\"n1\"},{\"node\":\"n2\"}]}');"
    "INSERT INTO step VALUES(7,101,0,1,'train','anna','gpu',2000,2300,'lost',"
    " '{\"id\":\"101.0\",\"ranks\":4,\"period\":null,\"steps\":null,\"elapsed_s\":300,"
    "\"step_s\":{\"p50\":null},\"agents\":[{\"node\":\"n1\"}]}');"
    "INSERT INTO step VALUES(7,102,0,0,'train','anna','gpu',3000,3300,'finished','not JSON');"
    "INSERT INTO verdict VALUES(1200,7,100,0,'straggler','node','n2','n2',1.2,'n2 is slow');"
    "PRAGMA user_version=1;";

static void first_job(const char *node, int64_t uid, double seconds, double culprit_s, double at, void *arg)
{
    char *list = arg;

    snprintf(list + strlen(list), 256 - strlen(list), "%s:%lld %.0f/%.0f at %.0f; ", node, (long long)uid,
             culprit_s, seconds, at);
}

struct node_steps {
    struct job_id id;
    struct report_node_step step;
    size_t n;
};

static void take_step(const struct job_id *id, const struct report_node_step *step, void *arg)
{
    struct node_steps *t = arg;

    t->id = *id;
    t->step = *step;
    t->n++;
}

static void an_old_one(void)
{
    struct job_id id = { .uid = 7, .job = 200 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_run r = { .job = j, .ranks = 4, .period = 3 };
    struct store_similar_runs past;
    struct node_steps n1 = { .n = 0 }, n2 = { .n = 0 }, others = { .n = 0 };
    char list[256] = "", from[STORE_NODE_MAX] = "";
    struct err err = { "" };
    struct stat file;
    struct store *s;
    json_t *report;
    double last_s;
    int count;

    fresh_dir();
    by_hand(version_1);
    s = opened("a history of version 1");
    report = store_report(s, 100, 0, -1, 7);
    is_str(json_string_value(json_object_get(report, "id")), "100.0",
           "version 1: a report is read after the migration");
    json_decref(report);
    is_int(by_hand("SELECT count(*) FROM step"), 3,
           "version 1: all 3 steps are kept, including one with an invalid report");
    store_node(s, "n2", &count, &last_s);
    ok(count == 1 && last_s == 1200, "version 1: the verdict is counted after the migration");
    is_int(store_unlisted_count(s), 3, "version 1: no ended step is in the list yet");
    is_int(store_list_earlier(s, 2, &err), 0, "version 1: the newest two are put into the list %s", err.text);
    ok(store_unlisted_count(s) == 1 && by_hand("SELECT job FROM listed") == 101 &&
           by_hand("SELECT count(*) FROM listed") == 1,
       "version 1: of them the one with a report is listed");
    store_list_earlier(s, 2, &err);
    ok(store_unlisted_count(s) == 0 && by_hand("SELECT count(*) FROM listed") == 2,
       "version 1: then all with a report are listed");
    is_int(by_hand("SELECT count(*) FROM listed WHERE job=100 AND json_extract(row,'$.step_s.cv')=0.1"
                   " AND json_extract(row,'$.id')='100.0' AND json_extract(row,'$.agents') IS NULL"),
           1, "their rows have a report's first keys, and no others");
    is_int(by_hand("PRAGMA user_version"), STORE_VERSION,
           "version 1: the database has the present version after the migration");
    is_int(stat(path(), &file) == 0 ? (int)(file.st_mode & 0777) : -1, 0600,
           "version 1: the file's mode becomes 0600");
    snprintf(j->name, sizeof(j->name), "train");
    snprintf(j->partition, sizeof(j->partition), "gpu");
    j->start_wall_s = 5000;
    store_similar_runs(s, &r, &past);
    ok(past.n == 1 && past.run[0].step_p50_s == 0.5 && isnan(past.run[0].energy_j_per_step),
       "version 1: its runs are found as similar runs");
    ok(past.n_starts == 2 && past.rerun[0] && !past.rerun[1], "version 1: a requeued run is a re-run");
    is_int(store_node_jobs(s, from, 1, first_job, list), 1,
           "version 1: at most 1 job is asked for: the first node, and there are more");
    is_str(from, "n1", "version 1: the reading stops at n1");
    is_int(store_node_jobs(s, from, 1, first_job, list), 0,
           "version 1: the reading goes on with the other nodes to the end");
    is_str(list, "n1:7 0/600 at 1600; n2:7 400/600 at 1600; ",
           "version 1: nodes have the time of runs with steps, as culprit from the verdict on");
    store_node_steps(s, UINT32_MAX, "n1", 2, take_step, &n1);
    is_int(n1.n, 1, "version 1: a step with training steps ran on n1");
    ok(job_id_same(&n1.id, &(struct job_id){ .uid = 7, .job = 100 }) && !strcmp(n1.step.id, "100.0") &&
           !n1.step.running && n1.step.culprit_s == 0 && isnan(n1.step.slowdown),
       "and n1 did not hold it back");
    store_node_steps(s, 7, "n2", 2, take_step, &n2);
    is_int(n2.n, 1, "it ran on n2, too");
    ok(!strcmp(n2.step.user, "anna") && !strcmp(n2.step.name, "train") && n2.step.seconds == 600 &&
           n2.step.culprit_s == 400 && n2.step.slowdown == 1.2 && !strcmp(n2.step.class, "straggler") &&
           !strcmp(n2.step.verdict, "n2 is slow"),
       "which it held back: for how long, by how much, and what was said");
    store_node_steps(s, 8, "n2", 2, take_step, &others);
    is_int(others.n, 0, "another user sees none of them");
    store_close(s);

    by_hand("PRAGMA user_version=1");
    s = opened("a history whose version an old program set back");
    is_int(by_hand("SELECT count(*) FROM part"), 2, "a repeated migration duplicates no rows");
    is_int(by_hand("SELECT count(*) FROM launch"), 0,
           "a repeated migration has the newest table, empty: old runs do not tell what they communicated");
    store_close(s);
    by_hand("PRAGMA user_version=99");
    s = store_open(dir, &err);
    ok(!s && strstr(err.text, "99") && strstr(err.text, "newer"),
       "a history of a newer version is refused\n%s", err.text);
    is_int(by_hand("SELECT count(*) FROM step"), 3, "a history of a newer version is not changed");
    job_free(j);
    remove_dir();
}

/* A migration that fails half-way leaves the old version intact. */
static void no_half_migration(void)
{
    struct err err;

    fresh_dir();
    by_hand(version_1);
    by_hand("CREATE TABLE part(something TEXT)");
    ok(!store_open(dir, &err), "a migration fails at a table that exists with other columns\n%s", err.text);
    ok(by_hand("PRAGMA user_version") == 1 &&
           by_hand("SELECT count(*) FROM sqlite_master WHERE name='run'") == 0,
       "a failed migration leaves version and tables unchanged");
    remove_dir();
}

/* ---- runs ---- */

struct run {
    uint32_t job, restarts, ranks;
    double begin_s, over_s, p50_s;
    bool broken;
};

static void put(struct store *s, const struct run *run)
{
    struct job_id id = { .uid = 7, .job = run->job, .restarts = run->restarts };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_run r = { .job = j,
                           .ranks = run->ranks,
                           .period = 3,
                           .training_steps = 100,
                           .heard = run->over_s,
                           .ended = true,
                           .broken = run->broken,
                           .node_s = run->ranks * (run->over_s - run->begin_s),
                           .figures = { run->p50_s, 0.1, NAN } };
    struct err err;

    j->start_wall_s = run->begin_s;
    snprintf(j->name, sizeof(j->name), "train");
    ok(store_run(s, &r, &err) == 0, "run %u is stored", run->job);
    job_free(j);
}

struct taken {
    char text[8][8];
    size_t n;
};

static void take_text(const char *text, void *arg)
{
    struct taken *t = arg;

    snprintf(t->text[t->n++ % 8], sizeof(t->text[0]), "%s", text);
}

/* Runs with other numbers of ranks: the newest for each number, newest first. */
static void other_sizes(void)
{
    static const struct {
        uint32_t job, ranks;
        double heard;
        const char *name, *text;
    } runs[] = {
        { 1, 8, 100, "train", "a" },  { 2, 8, 300, "train", "b" },  { 3, 16, 200, "train", "c" },
        { 4, 32, 400, "train", "d" }, { 5, 64, 500, "other", "e" }, { 3, 16, 250, "train", "f" },
    };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct taken taken = { .n = 0 };
    struct err err = { "" };
    struct job *j = NULL;
    struct store *s;

    fresh_dir();
    s = opened("a history of several sizes");
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        struct job_id id = { .uid = 7, .job = runs[i].job };

        job_free(j);
        j = job_new(&id, &policy, 0);
        snprintf(j->name, sizeof(j->name), "%s", runs[i].name);
        store_scaling(s, j, runs[i].ranks, runs[i].heard, runs[i].text, &err);
    }
    snprintf(j->name, sizeof(j->name), "train");
    store_scaling_runs(s, j, 32, 8, take_text, &taken);
    ok(taken.n == 2 && !strcmp(taken.text[0], "b") && !strcmp(taken.text[1], "f"),
       "the newest run for each other number of ranks, newest first\n%zu of 2 %s", taken.n, err.text);
    taken.n = 0;
    store_scaling_runs(s, j, 128, 2, take_text, &taken);
    ok(taken.n == 2 && !strcmp(taken.text[0], "d"), "at most 2 runs are returned, newest first");
    store_close(s);
    job_free(j);
    remove_dir();
}

/* Slurm's outcome of a broken run. */
static void others_end(struct store *s)
{
    struct job_id id = { .uid = 7, .job = 2 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct err err;

    is_int(store_outcome(s, j, false, &err), 0, "an outcome is stored");
    job_free(j);
}

static void like_runs(void)
{
    static const struct run runs[] = {
        { 1, 0, 4, 1000, 1900, 0.10, false },  { 2, 0, 4, 3000, 3500, 0.11, true },
        { 3, 0, 4, 3560, 4000, 0.12, false },  /* a minute after a broken run */
        { 4, 0, 8, 5000, 5900, 0.07, false },  /* another number of ranks */
        { 5, 2, 4, 7000, 7900, 0.13, true },   /* requeued */
        { 6, 0, 4, 9000, 9900, 0.14, false },  /* long after the broken run */
        { 7, 0, 4, 20000, 20900, 0.9, false }, /* later than the run that is compared */
    };
    struct job_id id = { .uid = 7, .job = 6 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_run r = { .job = j, .ranks = 4, .period = 3 };
    struct store_similar_runs past;
    double failures, node_s;
    struct store *s;

    fresh_dir();
    s = opened("a new history");
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        put(s, &runs[i]);
    put(s, &runs[2]);
    snprintf(j->name, sizeof(j->name), "train");
    j->start_wall_s = 9000;
    store_similar_runs(s, &r, &past);
    is_int((long long)past.n, 4,
           "4 similar runs: earlier ones with the same number of ranks, without the run itself");
    ok(past.run[0].step_p50_s == 0.13 && past.run[3].step_p50_s == 0.10,
       "similar runs are ordered newest first");
    is_int((long long)past.n_starts, 6, "6 starts: of all numbers of ranks, including the run itself");
    ok(!past.rerun[0] && past.rerun[1] && !past.rerun[2] && past.rerun[3] && !past.rerun[4] && !past.rerun[5],
       "a start soon after a broken run, or after a requeue, is a re-run");
    snprintf(j->name, sizeof(j->name), "other");
    store_similar_runs(s, &r, &past);
    is_int((long long)(past.n + past.n_starts), 0,
           "another user's runs of the same name are not similar runs");
    store_failures(s, j, "", &failures, &node_s);
    ok(failures == 2 && node_s == 21760, "failures of other jobs\n%.0f, expected 2, in %.0f node-seconds",
       failures, node_s);
    store_failures(s, j, "gpu", &failures, &node_s);
    ok(failures == 0 && node_s == 0, "another partition has no failures");
    others_end(s);
    store_failures(s, j, "", &failures, &node_s);
    ok(failures == 1 && node_s == 21760,
       "a run that Slurm reports as cancelled is no failure\n%.0f failed, expected 1", failures);
    store_own_failures(s, j, &failures, &node_s);
    ok(failures == 0 && node_s == 0, "a job without other runs has no failures of its own");
    j->id.job = 5;
    j->id.restarts = 3;
    store_own_failures(s, j, &failures, &node_s);
    ok(failures == 1 && node_s == 3600,
       "a requeued job has its earlier run's failure\n%.0f in %.0f node-seconds", failures, node_s);
    store_close(s);
    job_free(j);
    remove_dir();
}

/* ---- what runs communicated ---- */

static void launched(struct store *s, uint32_t uid, uint32_t number, uint64_t steps, const char *pattern)
{
    struct job_id id = { .uid = uid, .job = number };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_run r = {
        .job = j, .ranks = 8, .training_steps = steps, .heard = 1e9, .figures = { 0.5, NAN, NAN }
    };
    struct store_launch l = { .communication_ratio = 0.25 };
    struct err err = { "" };

    snprintf(j->name, sizeof(j->name), "train");
    snprintf(l.pattern, sizeof(l.pattern), "%s", pattern);
    j->nodes_total = 4;
    j->start_wall_s = number;
    if (number == 1)
        j->placement = (struct job_choice){ .name = "ring", .applied = true, .before_s = 2, .after_s = 1 };
    ok(store_launch(s, &r, &l, &err) == 0, "run %u is stored %s", number, err.text);
    job_free(j);
}

static const char *pattern_of(struct store *s, uid_t uid, const char *name, uint32_t ranks, uint32_t nodes)
{
    static struct store_launches found;

    store_launches(s, uid, name, ranks, nodes, &found);
    return found.newest.pattern;
}

static void launches(void)
{
    struct store_launches found;
    struct store *s;
    struct err err;

    fresh_dir();
    s = opened("a history of launches");
    is_str(pattern_of(s, 7, "train", 8, 4), "", "of no run no pattern is known");
    launched(s, 7, 1, 100, "groups:4");
    is_int(by_hand("SELECT count(*) FROM launch WHERE placement='on' AND placed_for='ring'"), 1,
           "a run has the order of its ranks");
    is_str(pattern_of(s, 7, "train", 8, 4), "groups:4", "the pattern of the one run");
    is_str(pattern_of(s, 7, "train", 8, 0), "groups:4", "on any number of nodes");
    is_str(pattern_of(s, 7, "train", 8, 2), "", "on another number of nodes: none");
    is_str(pattern_of(s, 7, "train", 16, 4), "", "of another number of ranks: none");
    is_str(pattern_of(s, 7, "test", 8, 4), "", "of another name: none");
    is_str(pattern_of(s, 8, "train", 8, 4), "", "of another user: none");
    launched(s, 7, 2, 10, "ring");
    is_str(pattern_of(s, 7, "train", 8, 4), "groups:4", "a run of 10 steps does not count");
    launched(s, 7, 3, 100, "");
    store_launches(s, 7, "train", 8, 4, &found);
    ok(found.n == 2 && !*found.newest.pattern && found.newest.communication_ratio == 0.25,
       "a newest run that is not certain: there is none");
    launched(s, 7, 4, 100, "ring");
    is_str(pattern_of(s, 7, "train", 8, 4), "ring", "the newest, where the one before it is not certain");
    is_int(by_hand("SELECT count(*) FROM launch WHERE placement IS NULL AND pattern IS NULL"), 1,
           "what is not known is null");
    launched(s, 7, 5, 100, "groups:4");
    is_str(pattern_of(s, 7, "train", 8, 4), "", "two that differ: none");
    launched(s, 7, 6, 100, "groups:4");
    is_str(pattern_of(s, 7, "train", 8, 4), "groups:4", "two that agree");
    ok(store_expire(s, 1, &err) == 0 && by_hand("SELECT count(*) FROM launch") == 0, "old ones expire");
    store_launches(NULL, 7, "train", 8, 4, &found);
    ok(!found.n && !*found.newest.pattern && isnan(found.newest.communication_ratio),
       "without a store there are none");
    store_close(s);
    remove_dir();
}

/* ---- starts whose order is compared ---- */

static void reduced(struct store *s, struct job *j, uint32_t number, struct job_choice algorithm,
                    double bytes, const char *library)
{
    struct store_run r = { .job = j,
                           .ranks = 8,
                           .period = 2,
                           .training_steps = 100,
                           .heard = 1e9,
                           .figures = { 0.5 + number, NAN, NAN } };
    struct store_allreduces a = { .size = { { 8, 1, 1e-3, 2e-3, 0.01 }, { bytes, 2.5, 3e-3, 4e-3, 0.02 } },
                                  .n = 2,
                                  .step_s = 0.25 };
    struct err err = { "" };

    snprintf(a.library, sizeof(a.library), "%s", library);
    j->id.job = number;
    j->start_wall_s = number;
    j->algorithm = algorithm;
    ok(store_run(s, &r, &err) == 0 && store_allreduces(s, &r, &a, &err) == 0,
       "all-reduces of run %u are stored %s", number, err.text);
}

/* What the next start of a job knows of its all-reduces: of runs whose library chose itself. */
static void allreduces(void)
{
    static const struct job_choice none = { .name = "" },
                                   told = { .name = "ring", .applied = true, .compared = true },
                                   held_out = { .name = "ring", .compared = true };
    struct job_id id = { .uid = 7 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_run r = { .job = j, .ranks = 8, .period = 2, .training_steps = 100, .heard = 1e9 };
    struct store_allreduces usual;
    struct store_turns turns;
    struct start start[4];
    struct store *s;

    fresh_dir();
    s = opened("a history of all-reduces");
    snprintf(j->name, sizeof(j->name), "train");
    j->nodes_total = 4;
    store_usual(s, 7, "train", 8, 4, &usual, &turns);
    ok(!usual.n && !turns.placed && !turns.held_out, "no run: nothing is known");
    reduced(s, j, 1, none, 2048, "MPICH 4.0.2");
    reduced(s, j, 2, told, 4096, "MPICH 4.0.2");
    store_usual(s, 7, "train", 8, 4, &usual, &turns);
    ok(usual.n == 2 && near(usual.size[1].bytes, 2048, 1e-9) && near(usual.size[1].per_step, 2.5, 1e-9) &&
           near(usual.size[1].time_s, 3e-3, 1e-9) && near(usual.size[1].stay_s, 4e-3, 1e-9) &&
           near(usual.size[1].time_error, 0.02, 1e-9),
       "the newest run that was told nothing has the sizes and times");
    ok(!strcmp(usual.library, "MPICH 4.0.2") && near(usual.step_s, 0.25, 1e-9),
       "its library, and its step time");
    ok(turns.placed == 1 && !turns.held_out && !turns.held_out_last, "one start was told an algorithm");
    reduced(s, j, 3, held_out, 2049, "MPICH 4.0.2");
    store_usual(s, 7, "train", 8, 4, &usual, &turns);
    ok(usual.n == 2 && near(usual.size[1].bytes, 2049, 1e-9) && turns.held_out == 1 && turns.held_out_last,
       "a run that was held out was told nothing, too");
    is_int((long long)store_starts(s, &r, STORE_ALGORITHM, start, 4), 2, "two starts are compared");
    ok(start[0].held_out && !start[1].held_out && near(start[1].step_p50_s, 2.5, 1e-9), "the newest first");
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 4), 0, "their order is not");
    store_usual(s, 7, "train", 16, 4, &usual, &turns);
    ok(!usual.n, "of another number of ranks nothing is known");
    store_usual(s, 8, "train", 8, 4, &usual, &turns);
    ok(!usual.n, "nor of another user's runs");
    reduced(s, j, 4, none, 9999, "MPICH 4.0.2");
    store_usual(s, 7, "train", 8, 4, &usual, &turns);
    ok(!usual.n, "two runs of different sizes: the name may stand for two programs");
    reduced(s, j, 5, none, 9999, "Open MPI 4.1.4");
    store_usual(s, 7, "train", 8, 4, &usual, &turns);
    ok(!usual.n, "and of different libraries");
    store_usual(NULL, 7, "train", 8, 4, &usual, &turns);
    ok(!usual.n && !turns.placed, "without a store nothing is known");
    job_free(j);
    store_close(s);
    remove_dir();
}

static struct store_run started(struct store *s, struct job *j, uint32_t number, bool placed, double step_s)
{
    struct store_run r = { .job = j,
                           .ranks = 8,
                           .period = 2,
                           .training_steps = 100,
                           .heard = 1e9,
                           .figures = { step_s, NAN, NAN } };
    struct store_launch l = { .pattern = "ring", .communication_ratio = 0.25 };
    struct err err = { "" };

    j->id.job = number;
    j->start_wall_s = number;
    j->placement = (struct job_choice){
        .name = "ring", .applied = placed, .compared = true, .before_s = 2, .after_s = 1
    };
    ok(store_run(s, &r, &err) == 0 && store_launch(s, &r, &l, &err) == 0, "start %u is stored %s", number,
       err.text);
    return r;
}

static void starts(void)
{
    struct job_id id = { .uid = 7 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_launches found;
    struct start start[4];
    struct store_run r;
    struct store *s;

    fresh_dir();
    s = opened("a history of starts that are compared");
    snprintf(j->name, sizeof(j->name), "train");
    j->nodes_total = 4;
    started(s, j, 1, true, 0.5);
    started(s, j, 2, false, 0.75);
    store_launches(s, 7, "train", 8, 4, &found);
    ok(found.turns.placed == 1 && found.turns.held_out == 1 && found.turns.held_out_last,
       "one start was placed, and the last was held out");
    r = started(s, j, 3, true, 0.25);
    store_launches(s, 7, "train", 8, 4, &found);
    ok(found.turns.placed == 2 && found.turns.held_out == 1 && !found.turns.held_out_last,
       "two were placed, the last, too");
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 4), 3,
           "the run itself is among those that are compared");
    ok(!start[0].held_out && near(start[0].step_p50_s, 0.25, 1e-9) && start[1].held_out &&
           near(start[1].step_p50_s, 0.75, 1e-9),
       "the newest first, with their step times");
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 2), 2, "at most so many");
    r.period = 3;
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 4), 0, "of another period: none");
    r.period = 2;
    r.ranks = 16;
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 4), 0, "of another number of ranks: none");
    r.ranks = 8;
    snprintf(j->placement.name, sizeof(j->placement.name), "groups:4");
    is_int((long long)store_starts(s, &r, STORE_ORDER, start, 4), 0, "placed for another pattern: none");
    by_hand("UPDATE launch SET placement='on'");
    store_launches(s, 7, "train", 8, 4, &found);
    ok(!found.turns.placed && !found.turns.held_out && !found.turns.held_out_last,
       "starts before the comparison do not count");
    job_free(j);
    store_close(s);
    remove_dir();
}

/* ---- without a store, and with a large one ---- */

static void no_store(void)
{
    struct store_place at = STORE_LIST_BEGIN;
    int count;
    double last_s;

    is_int(store_node(NULL, "n1", &count, &last_s), -1, "without a store a node's verdicts are unknown");
    ok(!store_report(NULL, 1, 0, -1, UINT32_MAX) && !store_list(NULL, UINT32_MAX, &at, NULL, NULL) &&
           store_listed_count(NULL, UINT32_MAX) == 0 && isnan(store_bytes(NULL)),
       "without a store there are neither reports nor a size");
}

static void count_jobs(const char *node, int64_t uid, double seconds, double culprit_s, double at, void *arg)
{
    long *n = arg;

    (void)node, (void)uid, (void)seconds, (void)culprit_s, (void)at;
    ++*n;
}

/* Milliseconds for what the answer to "nodes" reads from the history for each node. */
static double ask_all(struct store *s, struct history *h, char (*name)[16], int n)
{
    double begin_ms = clock_ms(), last_s;
    int count;

    for (int i = 0; i < n; i++) {
        struct report_node row = { 0 };

        snprintf(row.node, sizeof(row.node), "%s", name[i]);
        store_node(s, name[i], &count, &last_s);
        history_node_get(h, &row);
    }
    return clock_ms() - begin_ms;
}

/* A step of the maximum size. */
static void a_wide_step(struct store *s)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job_id id = { .uid = 1, .job = 99999 };
    struct job *j = job_new(&id, &policy, 0);
    struct store_part *part = xcalloc(JOB_AGENTS_MAX, sizeof(*part));
    char(*name)[16] = xcalloc(JOB_AGENTS_MAX, sizeof(*name));
    double begin_ms = clock_ms();
    struct err err = { "" };

    for (uint32_t i = 0; i < JOB_AGENTS_MAX; i++) {
        snprintf(name[i], sizeof(*name), "wide%05u", i);
        part[i] = (struct store_part){ .node = name[i], .seconds = 60, .slowdown = NAN };
    }
    store_begin(s);
    ok(store_parts(s, j, (double)time(NULL), part, JOB_AGENTS_MAX, &err) == 0 && store_end(s, &err) == 0,
       "a step of %u nodes is written %s", JOB_AGENTS_MAX, err.text);
    printf("# written in %.0f ms\n", clock_ms() - begin_ms);
    job_free(j);
    free(part);
    free(name);
}

/* 100000 rows: 1000 runs on 100 of 1000 nodes.  The times are printed and not bounded. */
static void a_large_one(void)
{
    enum { RUNS = 1000, PER_RUN = 100, NODES = 1000 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct store_part *part = xcalloc(PER_RUN, sizeof(*part));
    char(*name)[16] = xcalloc(NODES, sizeof(*name));
    double begin_ms = clock_ms(), last_ms = 0, now = (double)time(NULL);
    struct store_similar_runs past;
    struct history *h;
    struct store *s;
    struct err err;
    char from[STORE_NODE_MAX] = "";
    int parts = 0;
    long n = 0;

    fresh_dir();
    s = opened("a history of 100000 rows");
    for (int i = 0; i < NODES; i++)
        snprintf(name[i], sizeof(*name), "node%04d", i);
    for (uint32_t i = 0; i < RUNS; i++) {
        struct job_id id = { .uid = i % 20, .job = i + 1 };
        struct job *j = job_new(&id, &policy, 0);
        struct store_run r = {
            .job = j, .ranks = 100, .period = 3, .training_steps = 1000, .heard = now + i
        };
        double from_ms = clock_ms();

        snprintf(j->name, sizeof(j->name), "train%u", i % 3);
        j->start_wall_s = now + i;
        for (uint32_t k = 0; k < PER_RUN; k++)
            part[k] = (struct store_part){
                .node = name[(i * 37 + k) % NODES], .seconds = 3600, .culprit_s = k ? 0 : 60, .slowdown = NAN
            };
        store_begin(s);
        store_run(s, &r, &err);
        store_similar_runs(s, &r, &past);
        store_parts(s, j, now + i, part, PER_RUN, &err);
        if (store_end(s, &err) < 0)
            printf("# %s\n", err.text);
        last_ms = i >= RUNS - 100 ? last_ms + (clock_ms() - from_ms) / 100 : 0;
        job_free(j);
    }
    is_int(by_hand("SELECT count(*) FROM part"), (long long)RUNS * PER_RUN,
           "100 nodes of 1000 runs are 100000 rows");
    printf("# written in %.0f ms; the last runs, with 100 nodes each, took %.2f ms\n", clock_ms() - begin_ms,
           last_ms);
    begin_ms = clock_ms();
    while (store_node_jobs(s, from, 2000, count_jobs, &n) > 0)
        parts++;
    is_int(n, (long long)RUNS * PER_RUN, "all rows are read");
    printf("# read in %.1f ms, in %d parts\n", clock_ms() - begin_ms, parts + 1);
    h = history_new(s);
    history_tick(h, 0);
    printf("# a query of 1000 nodes took %.1f ms\n", ask_all(s, h, name, NODES));
    history_free(h);
    ok(store_expire(s, 1, &err) == 0 && by_hand("SELECT count(*) FROM part") == (long long)RUNS * PER_RUN,
       "rows of today do not expire");
    a_wide_step(s);
    store_close(s);
    free(name);
    free(part);
    remove_dir();
}

/* ---- the list of ended steps ---- */

struct listed {
    char text[400];
    int page; /* rows of one */
    int rows;
};

static bool one_listed(json_t *row, size_t bytes, void *arg)
{
    struct listed *l = arg;

    ok(row && bytes == json_dumpb(row, NULL, 0, JSON_COMPACT), "a row is JSON of the size that is told");
    snprintf(l->text + strlen(l->text), sizeof(l->text) - strlen(l->text), "%lld ",
             (long long)json_get_count(row, "job"));
    json_decref(row);
    return ++l->rows % l->page;
}

static void write_step(struct store *s, uid_t uid, uint32_t number, bool ended)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct job_id id = { .uid = uid, .job = number };
    struct job *j = job_new(&id, &policy, 0);
    json_t *report = json_pack("{s:i,s:s}", "job", (int)number, "more", "of the report"),
           *row = json_pack("{s:i}", "job", (int)number);
    struct err err = { "" };

    is_int(store_step(s, j, report, ended ? row : NULL, &err), 0, "a step is written%s", err.text);
    json_decref(report);
    json_decref(row);
    job_free(j);
}

/* A job that Slurm requeued twice. */
static void runs_of_a_job(void)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct err err = { "" };
    struct store *s;

    fresh_dir();
    s = opened("a history of three runs");
    for (uint32_t restarts = 0; restarts < 3; restarts++) {
        struct job_id id = { .uid = 7, .job = 40, .restarts = restarts };
        struct job *j = job_new(&id, &policy, 0);
        json_t *report = json_pack("{s:i}", "restarts", (int)restarts);

        is_int(store_step(s, j, report, report, &err), 0, "run %u is written%s", restarts, err.text);
        json_decref(report);
        job_free(j);
    }
    for (int64_t restarts = -1; restarts < 4; restarts++) {
        json_t *report = store_report(s, 40, -1, restarts, 7);

        is_int(json_get_count(report, "restarts"),
               restarts < 0   ? 2
               : restarts < 3 ? restarts
                              : -1,
               "the report of a job that was restarted %lld times", (long long)restarts);
        json_decref(report);
    }
    store_close(s);
    remove_dir();
}

/* All pages, of so many rows, that uid sees. */
static void is_listed(struct store *s, uid_t uid, int page, const char *jobs, const char *what)
{
    struct store_place at = STORE_LIST_BEGIN;
    struct listed l = { .page = page };

    while (store_list(s, uid, &at, one_listed, &l))
        ;
    is_str(l.text, jobs, "%s", what);
}

static void a_list(void)
{
    struct store *s;

    fresh_dir();
    s = opened("a history with a list");
    for (uint32_t i = 1; i <= 7; i++)
        write_step(s, i % 2 ? 7 : 8, i, i != 6);
    by_hand("UPDATE listed SET updated=CASE WHEN job<4 THEN 100 ELSE 100+job END");
    for (int page = 1; page <= 8; page++)
        is_listed(s, UINT32_MAX, page, "7 5 4 2 3 1 ",
                  "ended steps, the newest first, each once in pages of any size");
    is_listed(s, 7, 2, "7 5 3 1 ", "a user's own");
    is_listed(s, 9, 2, "", "nothing for who has none");
    ok(store_listed_count(s, UINT32_MAX) == 6 && store_listed_count(s, 8) == 2,
       "how many there are is known");
    write_step(s, 7, 5, false);
    is_listed(s, 7, 9, "7 3 1 ", "a step that runs again is not listed");
    store_close(s);
    remove_dir();
}

/* User 7 writes many steps, user 8 a few: those of 8 stay. */
static void a_full_one(void)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    char *text = xcalloc(4001, 1);
    json_t *report;
    struct store *s;
    struct err err = { "" };
    double used;

    fresh_dir();
    s = opened("a history that is bounded");
    memset(text, 'x', 4000);
    report = json_pack("{s:s}", "id", text);
    store_begin(s);
    for (uint32_t i = 0; i < 520; i++) {
        struct job_id id = { .uid = i < 500 ? 7 : 8, .job = i + 1 };
        struct job *j = job_new(&id, &policy, 0);

        store_step(s, j, report, report, &err);
        store_verdict(s, j, "straggler", "node", "n", "n", 1.2, "n is slow", &err);
        job_free(j);
    }
    ok(store_end(s, &err) == 0, "520 steps are written %s", err.text);
    used = store_used_bytes(s);
    ok(used > 520 * 4000, "their size is known\n%.0f bytes", used);
    is_int(store_trim(s, used + 1, &err), 0, "below the size nothing is deleted");
    ok(store_trim(s, 1e6, &err) > 200, "above it steps are deleted %s", err.text);
    ok(store_used_bytes(s) <= 1e6, "the history is within its size\n%.0f bytes", store_used_bytes(s));
    is_int(by_hand("SELECT count(*) FROM step WHERE uid=8"), 20, "the user with few steps keeps all of them");
    ok(by_hand("SELECT min(job) FROM step WHERE uid=7") > 200,
       "the oldest steps of the user with the most are gone");
    is_int(by_hand("SELECT count(*) FROM listed"), by_hand("SELECT count(*) FROM step"),
           "the list goes with them");
    is_int(by_hand("SELECT count(*) FROM verdict v WHERE NOT EXISTS(SELECT 1 FROM step WHERE job=v.job)"), 0,
           "verdicts go with their steps");
    ok(store_has_space(s, 1), "there is space for a byte");
    ok(!store_has_space(s, 1e18), "there is no space for an exabyte");
    json_decref(report);
    free(text);
    store_close(s);
    remove_dir();
}

int main(void)
{
    an_old_one();
    no_half_migration();
    like_runs();
    other_sizes();
    launches();
    starts();
    allreduces();
    no_store();
    a_list();
    a_large_one();
    a_full_one();
    runs_of_a_job();
    return done_testing();
}
