/* slurm/accounting with scripts in place of Slurm's commands: the queries, their answers and failures, and
 * the source of a job's failure rate. */
#include "slurm/accounting.h"

#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "history/history.h"
#include "history/store.h"
#include "job/cadence.h"
#include "job/jobs.h"
#include "report/report_cadence.h"
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

/* Set the answer of sacctmgr. */
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

/* Whether a line of the file has the word. */
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

#define TICKS 12000 /* of 10 ms: what no answer comes near */

static int n_news;
static struct err news; /* the latest */

/* Keep what it reports. */
static bool tick(struct accounting *a, double at_s)
{
    struct err now;
    bool answer = accounting_tick(a, at_s, &now);

    n_news += *now.text != '\0';
    if (*now.text)
        news = now;
    return answer;
}

/* Wait for an answer. */
static bool answered(struct accounting *a)
{
    for (int i = 0; i < TICKS; i++) {
        if (tick(a, now_s))
            return true;
        event_base_loop(base, EVLOOP_NONBLOCK);
        usleep(10000);
    }
    return false;
}

/* Wait for a failure that is reported with the word; false: there was an answer, or neither. */
static bool failed(struct accounting *a, const char *word)
{
    for (int i = 0; i < TICKS && !tick(a, now_s); i++) {
        if (strstr(news.text, word))
            return true;
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
       "before the first answer the failure rate is unknown");
    ok(failed(a, "not running a supported") && !accounting_see(a, "main", 1, &s),
       "on a cluster without accounting the failure rate is unknown");
    asked = count("asked");
    for (int i = 0; i < 20; i++)
        tick(a, now_s + 60 * i);
    answers("cat $(dirname $0)/events");
    now_s += 4000;
    ok(answered(a) && accounting_see(a, "main", 1, &s),
       "an hour after a failure the accounting is asked again");
    /* for its events and its configuration */
    is_int(count("asked"), asked + 2, "after a failure the accounting is not asked for 20 minutes");
    ok(s.failures == 2 && s.events == 2 && s.nodes == 64 && fabs(s.node_s - 64 * 90 * 86400.0) < 1,
       "the answer has 2 failures, 2 events on 64 nodes in 90 days\n%.1f, %u, %u, %.0f", s.failures, s.events,
       s.nodes, s.span_s / 86400);
    ok(says("asked", "-nP show event Start=now-90days format=" OUTAGES_EVENTS),
       "sacctmgr is asked for events");
    answers("echo no; exit 1");
    now_s += 22000;
    ok(failed(a, "sacctmgr: failed without a message") && accounting_see(a, "main", 1, &s) && s.failures == 2,
       "after a refusal the earlier answer stays valid");
    answers("true");
    now_s += 4000;
    ok(failed(a, "no events of this cluster") && accounting_see(a, "main", 1, &s),
       "after an empty answer the earlier answer stays valid");
    tool("sinfo", "kill -9 $$");
    answers("cat $(dirname $0)/events");
    now_s += 4000;
    ok(failed(a, "sinfo: failed without a message") && accounting_see(a, "main", 1, &s),
       "after sinfo was killed the earlier answer stays valid");
    is_int(n_news, 5, "each failure and the first answer after one are reported once");
}

/* ---- the source of a failure rate ---- */

static const char *source_of(struct job *j, double *failures)
{
    struct report_cadence c;
    static char text[200];

    cadence_get(&c, j, 0);
    *failures = c.rate.failures;
    snprintf(text, sizeof(text), "%s: %s", c.rate.source, c.rate.source_text);
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

    store_run(s, &(struct store_run){ .job = j, .training_steps = 100, .broken = broken, .node_s = 86400 },
              &err);
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
    struct history *h = history_new(s), *none = history_new(NULL);
    struct job *j = job_of(100, 2);
    double failures;

    history_failures(h, NULL, j);
    is_str(source_of(j, &failures),
           "published: ", "without history and accounting the published failure rate is used");
    history_failures(none, a, j);
    is_str(source_of(j, &failures), "slurm: from Slurm's accounting: 2 events on 64 nodes in 90 days",
           "without a history the accounting's failure rate is used");
    is_near(failures, 2, 1e-9, "the accounting has 2 failures");
    ran(s, 1, 0, false);
    ran(s, 2, 0, true);
    history_failures(h, a, j);
    ok(!strncmp(source_of(j, &failures), "slurm", 5),
       "the accounting has precedence over fewer than 3 failed jobs");
    history_failures(h, NULL, j);
    is_str(source_of(j, &failures),
           "history: ", "without accounting the failure rate of guarded jobs is used");
    is_near(failures, 1, 1e-9, "the history has 1 failed job");
    ran(s, 3, 0, true);
    ran(s, 4, 0, true);
    history_failures(h, a, j);
    is_str(source_of(j, &failures), "partition: ",
           "jobs that failed more often than their nodes went down have precedence over the accounting");
    is_near(failures, 3, 1e-9, "the partition has 3 failed jobs");
    outcome(s, 3, JOB_OUTCOME_FAILED);
    history_failures(h, NULL, j);
    is_str(source_of(j, &failures), "partition: ", "a job whose failure Slurm confirms still counts");
    outcome(s, 4, JOB_OUTCOME_ENDED);
    history_failures(h, NULL, j);
    source_of(j, &failures);
    ok(failures == 2, "a cancelled job does not count as a failure\n%.1f of 2", failures);
    history_failures(h, a, j);
    ok(!strncmp(source_of(j, &failures), "slurm", 5),
       "with fewer than 3 failed jobs the accounting has precedence again");
    job_free(j);
    history_free(none);
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
    struct report_cadence with, without;

    ran(s, 100, 0, true);
    ran(s, 100, 1, true);
    ran(s, 100, 2, false); /* itself */
    history_failures(h, NULL, j);
    cadence_history_set(j, 0, 0, "published", "");
    cadence_history_set(other, 0, 0, "published", "");
    cadence_get(&with, j, 0);
    cadence_get(&without, other, 0);
    ok(with.rate.own_failures == 2, "a requeued job has the failures of its earlier runs");
    /* one failure in 1000/6.5 node-days, then two in two */
    ok(fabs(without.rate.value - 0.0065) < 1e-6 && fabs(with.rate.value - 3 / (1000 / 6.5 + 2)) < 1e-6,
       "own failures count in full\n%.4f instead of %.4f per node and day", with.rate.value,
       without.rate.value);
    job_free(j);
    job_free(other);
    history_free(h);
    store_close(s);
}

int main(void)
{
    static struct config c; /* large */
    char path[512];
    struct accounting *a;

    tree_new();
    snprintf(path, sizeof(path), "%s:%s", root, getenv("PATH"));
    setenv("PATH", path, 1);
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
    ok(tick(a, now_s) && !accounting_see(a, "main", 1, &(struct outages_seen){ 0 }),
       "with AccountingDays=0 the failure rate is unknown");
    accounting_free(a);
    accounting_free(NULL);
    event_base_free(base);
    tree_remove();
    return done_testing();
}
