/* The audit log: entries are read back as written, for the job and user they belong to, and after a restart.
 */
#include "history/audit.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "tests/tap.h"

static char dir[] = "/tmp/sg-audit.XXXXXX";
static struct audit *audit;
static struct audit_entry seen[16], earlier[AUDIT_EARLIER];
static size_t n_seen;
static uint32_t spent_nodes, spent_actions;

static void see(const struct audit_entry *e, void *arg)
{
    (void)arg;
    if (n_seen < ARRAY_SIZE(seen))
        seen[n_seen++] = *e;
}

static void spend(double at, uint32_t nodes, uid_t uid, void *arg)
{
    (void)uid;
    (void)at;
    (void)arg;
    spent_actions++;
    spent_nodes += nodes;
}

static struct job_id run_of(uint32_t restarts)
{
    return (struct job_id){ .uid = 1000, .job = 7, .step = 0, .restarts = restarts };
}

/* A decision ago_s seconds ago in that run, to exclude n5 and n6. */
static struct audit_entry entry(uint32_t restarts, double ago_s, enum decision_state state)
{
    struct audit_entry e = { .at = (double)time(NULL) - ago_s,
                             .job = run_of(restarts),
                             .job_text = "7.0",
                             .policy = "p",
                             .by = AUDIT_NOBODY,
                             .before = { 0.5, 0.01, 8 },
                             .effect_ratio = { NAN, NAN, NAN } };

    e.d = (struct decision){ .state = state,
                             .rule = "slow",
                             .action = ACTION_EXCLUDE,
                             .n_nodes = 2,
                             .node = { "n5", "n6" },
                             .projected_ratio = 0.8,
                             .sentence = "slow: exclude n5,n6" };
    e.outcome = state == DECISION_ENFORCED ? AUDIT_PENDING : AUDIT_NONE;
    return e;
}

static void acted(const char *rule, double at, void *arg)
{
    (void)arg;
    spent_actions += !strcmp(rule, "slow") && at > 0;
}

static void test_entries(void)
{
    struct audit_entry e = entry(0, 100, DECISION_ENFORCED), back, old = entry(0, 7200, DECISION_ENFORCED),
                       dry = entry(1, 50, DECISION_DRYRUN), withheld = entry(1, 40, DECISION_WITHHELD),
                       command = entry(1, 30, DECISION_DRYRUN);
    struct err err = { "" };
    struct job_id id = run_of(1);

    ok(audit_add(audit, &old, &err) == 0 && audit_add(audit, &e, &err) == 0 && e.id > old.id,
       "two entries are written with ascending ids %s", err.text);
    ok(audit_get(audit, e.id, &back) == 0 && !strcmp(back.d.rule, "slow") &&
           back.d.action == ACTION_EXCLUDE && back.d.n_nodes == 2 && !strcmp(back.d.node[1], "n6") &&
           back.outcome == AUDIT_PENDING && isnan(back.effect_ratio.value) &&
           near(back.before.median_s, 0.5, 1e-12) && near(back.before.error, 0.01, 1e-12) &&
           back.before.n == 8 && near(back.d.projected_ratio, 0.8, 1e-12),
       "an entry is read back as it was written");
    is_int(audit_get(audit, 4711, &back), -1, "an unknown id is not found");
    audit_add(audit, &dry, &err);
    audit_add(audit, &withheld, &err);
    command.command = true;
    command.by = 1000;
    snprintf(command.d.sentence, sizeof(command.d.sentence), "set HangTimeout=5s");
    audit_add(audit, &command, &err);

    audit_spent(audit, NULL, (double)time(NULL) - 3600, spend, NULL);
    ok(spent_actions == 1 && spent_nodes == 2,
       "last hour, all jobs: 1 action against 2 nodes, without dry runs\n%u against %u", spent_actions,
       spent_nodes);
    spent_actions = spent_nodes = 0;
    audit_spent(audit, &id, (double)time(NULL) - 3600, spend, NULL);
    ok(spent_actions == 2 && spent_nodes == 4,
       "last hour, this job: 2 actions against 4 nodes\n%u against %u", spent_actions, spent_nodes);
    id.uid = 1001;
    spent_actions = 0;
    audit_spent(audit, &id, 0, spend, NULL);
    is_int(spent_actions, 0, "a job of the same number of another user has no actions");
    id = run_of(1);
    dry.outcome = AUDIT_FAILED;
    audit_update(audit, &dry, &err);
    spent_actions = 0;
    audit_spent(audit, &id, (double)time(NULL) - 3600, spend, NULL);
    is_int(spent_actions, 1, "an action that failed does not count");
    dry.outcome = AUDIT_NONE;
    audit_update(audit, &dry, &err);
    audit_run(audit, &id, see, NULL);
    ok(n_seen == 3 && seen[0].d.state == DECISION_DRYRUN && seen[2].command && seen[2].by == 1000,
       "all 3 entries of a run are listed, oldest first");
    is_int((long long)audit_earlier(audit, &id, earlier), 0,
           "an action that is under way has not ended a run");
    e.outcome = AUDIT_DONE;
    snprintf(e.outcome_text, sizeof(e.outcome_text), "requeued");
    audit_update(audit, &e, &err);
    ok(audit_earlier(audit, &id, earlier) == 1 && earlier[0].id == e.id && !*earlier[0].effect,
       "the action that ended the run before is found, without an effect");
    e.effect_ratio = (struct effect_ratio){ 0.83, 0.79, 0.87 };
    snprintf(e.effect, sizeof(e.effect), "excluded n5,n6: 0.83 of the step time");
    audit_update(audit, &e, &err);
    ok(audit_earlier(audit, &id, earlier) == 1 && !strcmp(earlier[0].effect, e.effect),
       "the action that ended the run before has its effect after it was measured");
    spent_actions = 0;
    audit_acted(audit, &id, acted, NULL);
    is_int(spent_actions, 2, "rules acted twice in earlier runs");
    id = run_of(2);
    audit_acted(audit, &id, acted, NULL);
    is_int(spent_actions, 5, "before a later run once more, in a dry run; what was withheld is no act");
    id = run_of(0);
    is_int((long long)audit_earlier(audit, &id, earlier), 0, "no action ended a run before the first");
}

static void test_by_hand(void)
{
    struct audit_entry asked = entry(2, 20, DECISION_ENFORCED), back;
    struct job_id id = run_of(2);
    struct err err;

    spent_actions = 0;
    audit_spent(audit, NULL, 0, spend, NULL);
    n_seen = spent_actions;
    is_int(audit_asked(audit, &id, ACTION_EXCLUDE, 1000, &back), -1,
           "a run without a user's action has none under way");
    asked.by = 1000;
    *asked.d.rule = '\0';
    audit_add(audit, &asked, &err);
    ok(audit_asked(audit, &id, ACTION_EXCLUDE, 1000, &back) == 0 && back.id == asked.id &&
           back.d.n_nodes == 2 && back.by == 1000,
       "an action that a user asked for is found");
    ok(audit_asked(audit, &id, ACTION_REQUEUE, 1000, &back) < 0 &&
           audit_asked(audit, &id, ACTION_EXCLUDE, 1001, &back) < 0,
       "an action of another kind or user is not found");
    spent_actions = 0;
    audit_spent(audit, NULL, 0, spend, NULL);
    ok(spent_actions == n_seen, "an action that a user asked for does not count against a budget");
    asked.outcome = AUDIT_FAILED;
    audit_update(audit, &asked, &err);
    is_int(audit_asked(audit, &id, ACTION_EXCLUDE, 1000, &back), -1,
           "a user's action that failed is no longer under way");
}

static bool one_listed(const struct audit_entry *e, void *arg)
{
    json_array_append_new(arg, audit_object(e));
    return json_array_size(arg) < 10;
}

static json_t *listed(uint32_t job, uid_t uid, int64_t before, int64_t limit)
{
    json_t *list = json_array();

    audit_list(audit, job, uid, before, limit, one_listed, list);
    return list;
}

static void test_list(void)
{
    json_t *list = listed(0, UINT32_MAX, 0, 10), *e = json_array_get(list, 0), *rest;

    is_int((long long)json_array_size(list), 5, "the list has all 5 entries");
    is_str(json_string_value(json_object_get(e, "state")), "command",
           "the list begins with the newest entry");
    ok(json_is_null(json_object_get(e, "action")) && json_integer_value(json_object_get(e, "by")) == 1000,
       "a user's command is listed with its user and without an action");
    e = json_array_get(list, 3);
    is_str(json_string_value(json_object_get(e, "outcome")), "done", "the outcome of an action is listed");
    ok(near(json_number_value(json_object_get(e, "effect_ratio")), 0.83, 1e-9) &&
           near(json_number_value(json_object_get(e, "effect_low")), 0.79, 1e-9) &&
           near(json_number_value(json_object_get(e, "effect_high")), 0.87, 1e-9),
       "the effect of an action is listed with its interval");
    rest = listed(0, UINT32_MAX, json_integer_value(json_object_get(e, "id")), 10);
    ok(json_array_size(rest) == 1 && json_equal(json_array_get(rest, 0), json_array_get(list, 4)),
       "the list goes on behind any entry");
    json_decref(rest);
    rest = listed(0, UINT32_MAX, 0, 2);
    is_int((long long)json_array_size(rest), 2, "the list has no more entries than were asked for");
    json_decref(rest);
    json_decref(list);
    list = listed(8, UINT32_MAX, 0, 10);
    is_int((long long)json_array_size(list), 0, "the list of another job is empty");
    json_decref(list);
    list = listed(0, 1001, 0, 10);
    is_int((long long)json_array_size(list), 0, "the list of another user is empty");
    json_decref(list);
}

/* Text that is not valid UTF-8, such as the truncated output of a command. */
static void test_bytes(void)
{
    struct audit_entry e = entry(0, 1, DECISION_ENFORCED);
    json_t *o;

    snprintf(e.outcome_text, sizeof(e.outcome_text), "gr\xc3");
    snprintf(e.d.sentence, sizeof(e.d.sentence), "slow\xff");
    o = audit_object(&e);
    is_str(json_string_value(json_object_get(o, "outcome_text")), "gr?",
           "an incomplete character in an outcome is replaced by ?");
    is_str(json_string_value(json_object_get(o, "sentence")), "slow?",
           "an invalid byte in a sentence is replaced by ?");
    json_decref(o);
}

static int line_count(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    int n = 0;

    while (f && fgets(line, sizeof(line), f))
        n++;
    if (f)
        fclose(f);
    return n;
}

static void put_text_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

static void test_lines(const char *path)
{
    is_int(line_count(path), 9, "AuditLog has a line for each decision, command, outcome and effect");
}

/* A database of version 1, which has no columns for intervals. */
static void test_version_1(void)
{
    char *path = xasprintf("%s/audit.sqlite", dir);
    struct audit_entry back;
    sqlite3 *db;
    struct err warning;
    int rc;

    audit_close(audit);
    sqlite3_open(path, &db);
    rc = sqlite3_exec(
        db,
        "ALTER TABLE audit DROP COLUMN before_error; ALTER TABLE audit DROP COLUMN before_n;"
        "ALTER TABLE audit DROP COLUMN effect_low; ALTER TABLE audit DROP COLUMN effect_high; DROP TABLE action;"
        "PRAGMA user_version=1;",
        NULL, NULL, NULL);
    sqlite3_close(db);
    free(path);
    audit = audit_open(dir, &warning);
    ok(rc == SQLITE_OK && !*warning.text, "a database of version 1 is opened: %s", warning.text);
    ok(audit_get(audit, 1, &back) == 0 && near(back.before.median_s, 0.5, 1e-12) &&
           isnan(back.before.error) && isnan(back.effect_ratio.low),
       "an entry of version 1 has unknown intervals");
}

/* What an earlier release has left. */
static int make_actions(const char *path, const char *rows)
{
    char *text = xasprintf(
        "PRAGMA journal_mode=WAL;"
        "CREATE TABLE action("
        " id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, asked_by INTEGER,"
        " uid INTEGER, job INTEGER, step INTEGER, restarts INTEGER, job_text TEXT, nodes TEXT, signal INTEGER,"
        " rule TEXT, policy TEXT, reason TEXT, figures TEXT, asked REAL, state INTEGER, tries INTEGER,"
        " under_way INTEGER, tried REAL, ended REAL, outcome TEXT);"
        "PRAGMA user_version=1; %s",
        rows);
    sqlite3 *db;
    int rc = sqlite3_open(path, &db) == SQLITE_OK ? sqlite3_exec(db, text, NULL, NULL, NULL) : -1;

    sqlite3_close(db);
    free(text);
    return rc == SQLITE_OK ? 0 : -1;
}

static void hold(struct action_record *r, void *arg)
{
    *(int64_t *)arg = *(int64_t *)arg * 100 + r->id;
    action_record_free(r);
}

static bool count(const struct action_record *r, void *arg)
{
    (void)r;
    ++*(int *)arg;
    return true;
}

/* Ids of what is pending, written one behind the other: 809 is 8 and 9. */
static void check_taken(int expected, int64_t pending_expected, const char *when)
{
    struct audit_entry entry_back;
    int64_t pending = 0;
    int n = 0;

    audit_actions_list(audit, 0, UINT32_MAX, 0, 100, count, &n);
    audit_actions_pending(audit, hold, &pending);
    ok(n == expected && pending == pending_expected,
       "%s the audit log has %d actions, of which those pending are still so, by their ids\n%d, %lld", when,
       expected, n, (long long)pending);
    ok(audit_get(audit, 1, &entry_back) == 0, "%s the audit log has the decisions that it had", when);
}

static const char rows[] =
    "INSERT INTO action VALUES(3,'decision/1/1000/7.0/0/5','requeue',4294967295,1000,7,0,0,'7.0','',0,'slow','p','slow: requeue',"
    "'{\"steps\":5}',100.5,1,2,0,101,102,'requeued');"
    "INSERT INTO action VALUES(8,'by hand/0/abcdefgh','drain',0,0,0,0,0,'','n5,n6',0,'','','broken','',200,0,1,1,201,NULL,'');"
    "INSERT INTO action VALUES(9,'by hand/0/abcdefgi','resume',0,0,0,0,0,'','n7',0,'','','mended','',300,0,0,0,NULL,NULL,'');";

/* The file of an earlier release is taken in once, and kept by another name. */
static void test_earlier_actions(void)
{
    char *from = xasprintf("%s/actions.sqlite", dir), *to = xasprintf("%s.imported", from);
    struct action_record *r;
    struct err warning, err;

    audit_close(audit);
    ok(make_actions(from, rows) == 0, "a file of actions is made as an earlier release did");
    audit = audit_open(dir, &warning);
    is_str(warning.text, "", "the audit log takes in an earlier release's actions without a warning");
    check_taken(3, 809, "when an earlier release's actions were taken in,");
    ok(access(from, F_OK) < 0 && access(to, F_OK) == 0,
       "the file of the actions that were taken in is kept by another name");
    r = audit_action_find(audit, "decision/1/1000/7.0/0/5");
    ok(r && r->id == 3 && r->kind == ACTION_REQUEUE && r->by == ACTION_BY_ITSELF && r->job.job == 7 &&
           r->state == ACTION_DONE && r->tries == 2 && near(r->ended_s, 102, 1e-9) &&
           !strcmp(r->figures, "{\"steps\":5}") && !strcmp(r->outcome, "requeued"),
       "an action that was taken in is what it was");
    action_record_free(r);
    r = audit_action_get(audit, 8);
    ok(r && r->under_way && isnan(r->ended_s) && !strcmp(r->nodes, "n5,n6"),
       "an action that was under way then is known as interrupted");
    r->state = ACTION_FAILED;
    r->ended_s = (double)time(NULL);
    free((char *)r->outcome);
    r->outcome = xstrdup("too late");
    ok(audit_action_update(audit, r, &err) == 0, "an action that was taken in is ended");
    action_record_free(r);
    audit_close(audit);

    rename(to, from);
    audit = audit_open(dir, &warning);
    is_str(warning.text, "", "a file that was taken in already does no harm");
    check_taken(3, 9, "when the same file was there once more,");
    audit_close(audit);

    ok(make_actions(
           from,
           "INSERT INTO action VALUES(3,'by hand/0/abcdefgj','resume',0,0,0,0,0,'','n9',0,'','','mended','',"
           "400,0,0,0,NULL,NULL,'');") == 0,
       "a file of actions is made whose numbers begin again, as after a downgrade");
    audit = audit_open(dir, &warning);
    r = audit_action_find(audit, "by hand/0/abcdefgj");
    ok(r && r->id > 9 && !strcmp(r->nodes, "n9"),
       "an action whose number is taken is taken in by another number\n%lld", r ? (long long)r->id : 0);
    action_record_free(r);
    check_taken(4, 910, "when a file whose numbers begin again was taken in,");
    audit_close(audit);

    unlink(to);
    put_text_file(from, "");
    audit = audit_open(dir, &warning);
    is_str(warning.text, "", "an empty file of actions is taken in without a warning");
    check_taken(4, 910, "when an empty file of actions was taken in,");
    audit_close(audit);

    unlink(to);
    put_text_file(from, "no database, whatever its name says: it was written over by something else\n");
    audit = audit_open(dir, &warning);
    ok(strstr(warning.text, "/actions.sqlite: ") != NULL,
       "a file of actions that cannot be read is a warning\n%s", warning.text);
    ok(access(from, F_OK) == 0, "a file of actions that cannot be read stays where it is");
    audit_close(audit);
    unlink(from);
    audit = audit_open(dir, &warning);
    check_taken(4, 910, "without the file that cannot be read,");
    free(from);
    free(to);
}

/* The file has what the database has taken, and no more. */
static void test_order(const char *lines)
{
    char *path = xasprintf("%s/audit.sqlite", dir), *folder = xasprintf("%s/no/such/file", dir);
    struct audit_entry e = entry(4, 1, DECISION_DRYRUN);
    struct err err = { "" };
    sqlite3 *db;
    int before;

    audit_log_to(audit, lines);
    ok(audit_add(audit, &e, &err) == 0, "an entry is written");
    before = line_count(lines);
    sqlite3_open(path, &db);
    sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    snprintf(e.outcome_text, sizeof(e.outcome_text), "late");
    ok(audit_update(audit, &e, &err) < 0 && strstr(err.text, "locked"),
       "an outcome that the database does not take fails\n%s", err.text);
    is_int(line_count(lines), before, "AuditLog has no line of an outcome that the database did not take");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    ok(audit_update(audit, &e, &err) == 0 && line_count(lines) == before + 1,
       "AuditLog has a line of the outcome that the database has taken");
    is_int(audit_log_check(audit, &err), 0, "nothing is reported of AuditLog as long as it takes the lines");
    audit_log_to(audit, folder);
    ok(audit_update(audit, &e, &err) == 0, "an outcome is recorded though AuditLog cannot be written");
    ok(audit_log_check(audit, &err) < 0 && strstr(err.text, "No such file"),
       "that AuditLog cannot be written is reported\n%s", err.text);
    ok(audit_update(audit, &e, &err) == 0 && audit_log_check(audit, &err) == 0,
       "that AuditLog cannot be written is reported once");
    audit_log_to(audit, "");
    free(path);
    free(folder);
}

int main(void)
{
    struct err warning;
    char *lines, *command;

    if (!mkdtemp(dir))
        return skip_all("cannot create a temporary folder");
    lines = xasprintf("%s/audit.jsonl", dir);
    audit = audit_open(dir, &warning);
    is_str(warning.text, "", "the audit log opens without a warning");
    audit_log_to(audit, lines);
    test_entries();
    test_list();
    test_bytes();
    test_lines(lines);
    audit_close(audit);
    audit = audit_open(dir, &warning);
    test_list();
    test_by_hand();
    test_version_1();
    test_earlier_actions();
    test_order(lines);
    ok(audit_expire(audit, 1, &warning) == 0, "old entries are deleted");
    audit_close(audit);
    audit = audit_open("/nonexistent/folder", &warning);
    ok(audit && *warning.text, "without a folder the database is in memory, with a warning: %s",
       warning.text);
    audit_close(audit);
    command = xasprintf("rm -r '%s'", dir);
    is_int(system(command), 0, "the temporary folder is removed");
    free(command);
    free(lines);
    return done_testing();
}
