/* slurm/accounting with commands that stand for Slurm's: what is asked, what becomes of answers and
 * refusals, and whom the failure rate of a job is learnt from. */
#include "slurm/accounting.h"

#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/config.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "history/history.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/jobs.h"
#include "tests/tap.h"
#include "tests/tree.h"

#define EVENTS                                                             \
    "|2020-01-01T00:00:00|Unknown||slurm(64030)|Cluster Registered TRES\n" \
    "node1|%s|Unknown|DOWN*|slurm(64030)|Not responding\n"                 \
    "node2|%s|Unknown|DOWN|slurm(64030)|Node unexpectedly rebooted\n"

static struct event_base *base;
static double now_s;

static void tool(const char *name, const char *script)
{
    char path[128];

    put(name, "#!/bin/sh\n%s\n", script);
    snprintf(path, sizeof(path), "%s/%s", root, name);
    chmod(path, 0700);
}

/* What sacctmgr answers from now on. */
static void answers(const char *script)
{
    char *text =
        xasprintf("echo \"$*\" >>%s/asked\ncase $2 in configuration) echo 'PurgeEventAfter = NONE';; *) %s;; "
                  "esac",
                  root, script);

    tool("sacctmgr", text);
    free(text);
}

static void failing_nodes(void)
{
    time_t first = time(NULL) - 86400 * 20, second = first + 86400;
    char a[32], b[32];

    strftime(a, sizeof(a), "%Y-%m-%dT%H:%M:%S", localtime(&first));
    strftime(b, sizeof(b), "%Y-%m-%dT%H:%M:%S", localtime(&second));
    put("events", EVENTS, a, b);
}

/* The file's first line that has the word. */
static bool says(const char *name, const char *word)
{
    char path[128], text[1000];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    f = fopen(path, "re");
    while (f && !found && fgets(text, sizeof(text), f))
        found = strstr(text, word) != NULL;
    if (f)
        fclose(f);
    return found;
}

static int count(const char *name)
{
    char path[128], text[1000];
    int n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    f = fopen(path, "re");
    while (f && fgets(text, sizeof(text), f))
        n++;
    if (f)
        fclose(f);
    return n;
}

/* Until an answer is there, or something failed; true: an answer. */
static bool wait_for(struct accounting *a, const char *log_word)
{
    for (int i = 0; i < 1000; i++) {
        if (accounting_tick(a, now_s))
            return true;
        if (log_word && says("log", log_word))
            return false;
        event_base_loop(base, EVLOOP_NONBLOCK);
        usleep(10000);
    }
    return false;
}

static void asking(struct accounting *a)
{
    struct outages_seen s;
    int asked;

    ok(!accounting_see(NULL, "main", 1, &s) && !accounting_see(a, "main", 1, &s),
       "before it was asked nothing is known");
    ok(!wait_for(a, "not running a supported") && !accounting_see(a, "main", 1, &s),
       "a cluster without accounting: nothing is known");
    asked = count("asked");
    for (int i = 0; i < 20; i++)
        accounting_tick(a, now_s + 60 * i);
    is_int(count("asked"), asked, "and it is not asked again soon");
    answers("cat $(dirname $0)/events");
    now_s += 4000;
    ok(wait_for(a, NULL) && accounting_see(a, "main", 1, &s), "an hour later it is");
    ok(s.failures == 2 && s.events == 2 && s.nodes == 64 && fabs(s.node_s - 64 * 90 * 86400.0) < 1,
       "%.1f failures, %u events on %u nodes in %.0f days", s.failures, s.events, s.nodes, s.span_s / 86400);
    ok(says("asked", "-nP show event Start=now-90days format=" OUTAGES_EVENTS),
       "sacctmgr is asked for events");
    answers("echo no; exit 1");
    now_s += 22000;
    ok(!wait_for(a, "failed without a message") && accounting_see(a, "main", 1, &s) && s.failures == 2,
       "when it refuses later, what was known stays");
    answers("true");
    now_s += 4000;
    ok(!wait_for(a, "no events of this cluster") && accounting_see(a, "main", 1, &s),
       "when it knows of nothing, too");
    tool("sinfo", "kill -9 $$");
    answers("cat $(dirname $0)/events");
    now_s += 4000;
    ok(!wait_for(a, "sinfo: it failed") && accounting_see(a, "main", 1, &s), "and when sinfo dies");
    is_int(count("log"), 5, "a line for each of these, and one when there was an answer");
}

/* ---- whom a rate is learnt from ---- */

static const char *source_of(struct job *j, double *failures)
{
    json_t *o = cadence_json(j, 0), *rate = json_object_get(o, "failure_rate");
    static char text[200];
    const char *told = json_string_value(json_object_get(rate, "source_text"));

    *failures = json_number_value(json_object_get(rate, "failures"));
    snprintf(text, sizeof(text), "%s: %s", json_string_value(json_object_get(rate, "source")),
             told ? told : "");
    json_decref(o);
    return text;
}

static struct job *job_of(uint32_t number, uint32_t restarts)
{
    struct config_policy policy = { .hang_timeout_s = 30, .checkpoint = CONFIG_CHECKPOINT_ADVISE };
    struct job_id id = { .uid = 7, .job = number, .restarts = restarts };
    struct job *j = job_new(&id, &policy, 0);

    snprintf(j->partition, sizeof(j->partition), "main");
    j->nodes_total = 1;
    return j;
}

/* Runs of a node each for a day. */
static void ran(struct store *s, uint32_t number, uint32_t restarts, bool broken)
{
    struct job *j = job_of(number, restarts);
    struct err err;

    store_run(s, &(struct store_run){ .job = j, .steps = 100, .broken = broken, .node_s = 86400 }, &err);
    job_free(j);
}

static void outcome(struct store *s, uint32_t number, enum job_outcome o)
{
    struct history *h = history_new(s);
    struct job *j = job_of(number, 0);
    struct err err;

    j->outcome = o;
    history_outcome(h, j, &err);
    job_free(j);
    history_free(h);
}

static void learning(struct accounting *a)
{
    struct err err;
    struct store *s = store_open(root, &err);
    struct history *h = history_new(s);
    struct job *j = job_of(100, 2);
    double failures;

    history_failures(h, NULL, j);
    is_str(source_of(j, &failures), "published: ", "nothing is known");
    history_failures(NULL, a, j);
    is_str(source_of(j, &failures), "slurm: from Slurm's accounting: 2 events on 64 nodes in 90 days",
           "the accounting's word alone");
    ok(failures == 2, "%.1f failures", failures);
    ran(s, 1, 0, false);
    ran(s, 2, 0, true);
    history_failures(h, a, j);
    ok(!strncmp(source_of(j, &failures), "slurm", 5), "few guarded jobs do not stand against it");
    history_failures(h, NULL, j);
    is_str(source_of(j, &failures), "history: ", "without it they are all that is known");
    ok(failures == 1, "%.1f failed", failures);
    ran(s, 3, 0, true);
    ran(s, 4, 0, true);
    history_failures(h, a, j);
    is_str(source_of(j, &failures), "partition: ", "jobs that failed more often than their nodes went down");
    ok(failures == 3, "%.1f failed", failures);
    outcome(s, 3, JOB_OUTCOME_FAILED);
    history_failures(h, NULL, j);
    is_str(source_of(j, &failures), "partition: ", "Slurm says that one failed: no change");
    outcome(s, 4, JOB_OUTCOME_ENDED);
    history_failures(h, NULL, j);
    source_of(j, &failures);
    ok(failures == 2, "one that was cancelled is no failure: %.1f failed", failures);
    history_failures(h, a, j);
    ok(!strncmp(source_of(j, &failures), "slurm", 5), "and then they are few again");
    job_free(j);
    history_free(h);
    store_close(s);
}

/* The same job failed twice before it was requeued. */
static void own(void)
{
    struct err err;
    struct store *s = store_open(root, &err);
    struct history *h = history_new(s);
    struct job *j = job_of(100, 2), *other = job_of(101, 0);
    json_t *o, *p;
    double rate, without;

    ran(s, 100, 0, true);
    ran(s, 100, 1, true);
    ran(s, 100, 2, false); /* itself */
    history_failures(h, NULL, j);
    cadence_history_set(j, 0, 0, "published", "");
    cadence_history_set(other, 0, 0, "published", "");
    o = cadence_json(j, 0);
    p = cadence_json(other, 0);
    rate = json_number_value(json_object_get(json_object_get(o, "failure_rate"), "value"));
    without = json_number_value(json_object_get(json_object_get(p, "failure_rate"), "value"));
    ok(json_number_value(json_object_get(json_object_get(o, "failure_rate"), "own_failures")) == 2,
       "its own failures");
    /* one failure in 1000/6.5 node-days, then two in two */
    ok(fabs(without - 0.0065) < 1e-6 && fabs(rate - 3 / (1000 / 6.5 + 2)) < 1e-6,
       "they count in full: %.4f instead of %.4f a node and day", rate, without);
    json_decref(o);
    json_decref(p);
    job_free(j);
    job_free(other);
    history_free(h);
    store_close(s);
}

int main(void)
{
    static struct config c; /* large */
    char path[512], log[128];
    struct accounting *a;
    struct err err;

    tree_new();
    snprintf(path, sizeof(path), "%s:%s", root, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(log, sizeof(log), "%s/log", root);
    log_open("test", log, LOG_LEVEL_INFO, &err);
    answers("echo 'You are not running a supported accounting_storage plugin' >&2; exit 1");
    tool("sinfo", "for i in $(seq 64); do echo \"main|node$i\"; done");
    failing_nodes();
    base = event_base_new();
    a = accounting_new(base);
    c.accounting_days = 90;
    snprintf(c.slurm_user, sizeof(c.slurm_user), "slurm");
    accounting_configure(a, &c);
    asking(a);
    learning(a);
    own();
    c.accounting_days = 0;
    accounting_configure(a, &c);
    ok(accounting_tick(a, now_s) && !accounting_see(a, "main", 1, &(struct outages_seen){ 0 }),
       "AccountingDays=0: nothing is asked, nothing is known");
    accounting_free(a);
    accounting_free(NULL);
    event_base_free(base);
    tree_remove();
    return done_testing();
}
