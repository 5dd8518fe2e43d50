#include "slurm/accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "common/config.h"
#include "common/xalloc.h"
#include "slurm/child.h"
#include "slurm/slurmtool.h"

#define EVERY_S    21600.0
#define AGAIN_S    3600.0 /* interval after a failure */
#define TIMEOUT_S  60.0
#define OUTPUT_MAX (4u << 20) /* about 50,000 events */
#define DAY_S      86400.0

/* The queries, in their order. */
enum question { EVENTS, PURGE, NODES, QUESTIONS };

static const char *const tools[QUESTIONS] = {
    [EVENTS] = "sacctmgr", [PURGE] = "sacctmgr", [NODES] = "sinfo"
};

struct accounting {
    struct event_base *base;
    struct child *child;
    enum question question;
    char *answer[QUESTIONS];
    char path[QUESTIONS][SLURMTOOL_PATH_MAX];
    char slurm_user[64];
    int days; /* 0: the accounting is not used */
    double due_s;
    bool failed, fresh;
    char why[256];   /* of the last failure; "": it has answered since */
    struct err news; /* for the next tick */
    struct outages *outages;
};

struct accounting *accounting_new(struct event_base *base)
{
    struct accounting *a = xcalloc(1, sizeof(*a));

    a->base = base;
    a->question = QUESTIONS;
    for (size_t i = 0; i < QUESTIONS; i++)
        slurmtool_find(a->path[i], tools[i]);
    return a;
}

static void forget_answers(struct accounting *a)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        free(a->answer[i]);
        a->answer[i] = NULL;
    }
}

void accounting_free(struct accounting *a)
{
    if (!a)
        return;
    child_cancel(a->child);
    forget_answers(a);
    outages_free(a->outages);
    free(a);
}

void accounting_configure(struct accounting *a, const struct config *c)
{
    if (a->days == c->accounting_days && !strcmp(a->slurm_user, c->slurm_user))
        return;
    snprintf(a->slurm_user, sizeof(a->slurm_user), "%s", c->slurm_user);
    a->days = c->accounting_days;
    a->due_s = 0;
    child_cancel(a->child);
    a->child = NULL;
    a->question = QUESTIONS;
    if (a->days == 0) {
        outages_free(a->outages);
        a->outages = NULL;
        a->fresh = true;
    }
}

/* ---- answers ---- */

static void record_failure(struct accounting *a, const char *why)
{
    char line[sizeof(a->why)];
    size_t n = strcspn(why, "\n");

    snprintf(line, sizeof(line), "%.*s", (int)n, why);
    if (strcmp(line, a->why))
        err_set(&a->news, "Slurm's accounting has no failure rate of nodes: %s; %s", line,
                a->outages ? "using its earlier answer" : "using the failure rate of guarded jobs");
    memcpy(a->why, line, sizeof(line));
    a->failed = true;
}

static void on_end(void *arg, const struct child_end *end)
{
    struct accounting *a = arg;
    const char *tool = tools[a->question];
    double now_s = (double)time(NULL);
    struct outages *o;
    char why[400];

    a->child = NULL;
    if (end->timed_out)
        snprintf(why, sizeof(why), "%s did not answer in %.0f s", tool, TIMEOUT_S);
    else if (!WIFEXITED(end->status) || WEXITSTATUS(end->status))
        snprintf(why, sizeof(why), "%s: %s", tool, *end->errors ? end->errors : "failed without a message");
    else if (end->output_bytes >= OUTPUT_MAX)
        snprintf(why, sizeof(why), "%s: more than %u bytes", tool, OUTPUT_MAX);
    else
        *why = '\0';
    if (*why) {
        record_failure(a, why);
        return;
    }
    a->answer[a->question] = xstrdup(end->output);
    if (++a->question < QUESTIONS)
        return;
    o = outages_new(a->answer[EVENTS], a->answer[PURGE], a->answer[NODES], a->slurm_user,
                    now_s - a->days * DAY_S, now_s);
    forget_answers(a);
    if (!outages_known(o)) {
        outages_free(o);
        record_failure(a, "it has no events of this cluster");
        return;
    }
    if (*a->why)
        err_set(&a->news, "Slurm's accounting has the failure rate of nodes again");
    *a->why = '\0';
    outages_free(a->outages);
    a->outages = o;
    a->fresh = true;
}

/* ---- questions ---- */

static void start_question(struct accounting *a)
{
    char start[32], missing[32];
    const char *const args[QUESTIONS][8] = {
        [EVENTS] = { "-nP", "show", "event", start, "format=" OUTAGES_EVENTS, NULL },
        [PURGE] = { "show", "configuration", NULL },
        [NODES] = { "-ahN", "--format", OUTAGES_NODES, NULL },
    };
    struct child_options o = { .path = a->path[a->question],
                               .args = args[a->question],
                               .input = "",
                               .timeout_s = TIMEOUT_S,
                               .output_max = OUTPUT_MAX };
    struct err err;

    if (!*o.path) {
        snprintf(missing, sizeof(missing), "%s not found", tools[a->question]);
        record_failure(a, missing);
        return;
    }
    snprintf(start, sizeof(start), "Start=now-%ddays", a->days);
    a->child = child_start(a->base, &o, on_end, a, &err);
    if (!a->child)
        record_failure(a, err.text);
}

bool accounting_tick(struct accounting *a, double now_s, struct err *news)
{
    bool fresh = a->fresh;

    a->fresh = false;
    if (!a->child && a->failed) {
        a->failed = false;
        a->question = QUESTIONS;
        a->due_s = now_s + AGAIN_S;
    }
    if (!a->child && a->question == QUESTIONS && a->days && now_s >= a->due_s) {
        forget_answers(a);
        a->question = EVENTS;
        a->due_s = now_s + EVERY_S;
    }
    if (!a->child && a->question < QUESTIONS)
        start_question(a);
    *news = a->news;
    a->news.text[0] = '\0';
    return fresh;
}

bool accounting_see(struct accounting *a, const char *partition, double job_nodes, struct outages_seen *out)
{
    return a && outages_see(a->outages, partition, job_nodes, out);
}
