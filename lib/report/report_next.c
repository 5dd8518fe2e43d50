#include "report/report_next.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"

/* What has to be true of the job for a command. */
enum when {
    ANY_TIME,
    RUNNING,
    RESTARTS, /* running, and Slurm can start it again */
    SPARES,   /* that, and its policy lets actions take so many nodes from it */
};

/* The first row that fits; scope NULL: any.  {job} and {nodes} are filled in; a row with {nodes} fits only
 * where nodes are named. */
static const struct {
    const char *class, *scope;
    enum when when;
    const char *command;
} commands[] = {
    { "straggler", "node", SPARES, "sgctl action {job} exclude {nodes}" },
    { "straggler", "node", RUNNING, "sgctl node {nodes} drain slow in job {job}" },
    { "straggler", "node", ANY_TIME, "sgctl lemons" },
    { "straggler", "switch", ANY_TIME, "sgctl doctor --cluster --probe" },
    { "straggler", NULL, RUNNING, "sgctl step {job}" },
    { "drift", "node", SPARES, "sgctl action {job} exclude {nodes}" },
    { "drift", "node", RUNNING, "sgctl node {nodes} drain slow in job {job}" },
    { "drift", "node", ANY_TIME, "sgctl lemons" },
    { "drift", "switch", ANY_TIME, "sgctl doctor --cluster --probe" },
    { "drift", NULL, RUNNING, "sgctl step {job}" },
    { "hang", NULL, RESTARTS, "sgctl action {job} requeue" },
    { "hang", NULL, ANY_TIME, "sgctl doctor --cluster" },
    { "lost", NULL, ANY_TIME, "sgctl doctor --cluster" },
    { "jitter", NULL, RUNNING, "sgctl record {job} --seconds=60s --output={job}.trace" },
    { "imbalance", NULL, RUNNING, "sgctl step {job}" },
    { "communication", "none", ANY_TIME, "sgctl doctor --cluster --probe --mpi" },
    { "communication", NULL, ANY_TIME, "sgctl doctor --cluster --probe" },
    { "congestion", NULL, RUNNING, "sgctl jobs" },
    { "oscillation", NULL, RUNNING, "sgctl job {job} --full" },
};

static bool fits(enum when when, const struct report_next_job *j, const struct report_verdict *v)
{
    int nodes = (int)v->culprits.n;

    switch (when) {
    case ANY_TIME:
        return true;
    case RUNNING:
        return !j->ended;
    case RESTARTS:
        return !j->ended && !j->no_requeue;
    case SPARES:
        return !j->ended && !j->no_requeue && nodes <= j->nodes_per_hour && nodes <= j->nodes_at_once;
    }
    return false;
}

/* {job} and {nodes} become these. */
static void fill(char *buf, size_t size, const char *text, const char *job, const char *nodes)
{
    buf[0] = '\0';
    while (*text) {
        size_t plain = strcspn(text, "{");

        text_append(buf, size, "%.*s", (int)plain, text);
        text += plain;
        if (*text) {
            text_append(buf, size, "%s", !strncmp(text, "{job}", 5) ? job : nodes);
            text += strcspn(text, "}") + 1;
        }
    }
}

char *report_next(char *buf, size_t size, const struct report_next_job *j, const struct report_verdict *v)
{
    char nodes[300];

    buf[0] = '\0';
    if (!v->standing && !j->ended)
        return buf;
    report_next_nodes(nodes, sizeof(nodes), v);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (strcmp(v->class, commands[i].class) != 0 ||
            (commands[i].scope && strcmp(v->scope, commands[i].scope) != 0) ||
            !fits(commands[i].when, j, v) || (strstr(commands[i].command, "{nodes}") && !*nodes))
            continue;
        fill(buf, size, commands[i].command, j->id, nodes);
        break;
    }
    return buf;
}

void report_next_fill(struct report_verdicts *v, const struct report_next_job *j)
{
    for (size_t i = 0; i < v->n; i++)
        report_next(v->list[i].next, sizeof(v->list[i].next), j, &v->list[i]);
}

char *report_next_nodes(char *buf, size_t size, const struct report_verdict *v)
{
    /* nothing for a shell */
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
    const struct json_texts *names = &v->culprits;

    buf[0] = '\0';
    if (strcmp(v->scope, "node") != 0 || names->n > REPORT_NEXT_NODES_MAX)
        return buf;
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->text[i];

        if (!*name || name[strspn(name, letters)] || strlen(buf) + strlen(name) + 2 > size) {
            buf[0] = '\0';
            return buf;
        }
        text_append(buf, size, "%s%s", i ? "," : "", name);
    }
    return buf;
}
