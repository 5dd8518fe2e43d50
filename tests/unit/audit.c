/* The audit log: entries are read back as written, for the job and user they belong to, and after a restart. */
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
                             .brought = { NAN, NAN, NAN } };

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
           back.outcome == AUDIT_PENDING && isnan(back.brought.value) &&
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
    e.brought = (struct effect_ratio){ 0.83, 0.79, 0.87 };
    snprintf(e.effect, sizeof(e.effect), "excluded n5,n6: 0.83 of the step time");
    audit_update(audit, &e, &err);
    ok(audit_earlier(audit, &id, earlier) == 1 && !strcmp(earlier[0].effect, e.effect),
       "the action that ended the run before has its effect after it was measured");
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
    ok(json_array_size(rest) == 1 && json_equal(json_array_get(rest, 0), json_array_get(list, 4)), "the list goes on behind any entry");
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

static void test_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    int n = 0;

    while (f && fgets(line, sizeof(line), f))
        n++;
    if (f)
        fclose(f);
    is_int(n, 9, "AuditLog has a line for each decision, command, outcome and effect");
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
    rc = sqlite3_exec(db,
                      "ALTER TABLE audit DROP COLUMN before_error; ALTER TABLE audit DROP COLUMN before_n;"
                      "ALTER TABLE audit DROP COLUMN effect_low; ALTER TABLE audit DROP COLUMN effect_high;"
                      "PRAGMA user_version=1;",
                      NULL, NULL, NULL);
    sqlite3_close(db);
    free(path);
    audit = audit_open(dir, &warning);
    ok(rc == SQLITE_OK && !*warning.text, "a database of version 1 is opened: %s", warning.text);
    ok(audit_get(audit, 1, &back) == 0 && near(back.before.median_s, 0.5, 1e-12) &&
           isnan(back.before.error) && isnan(back.brought.low),
       "an entry of version 1 has unknown intervals");
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
    audit_expire(audit, 1);
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
