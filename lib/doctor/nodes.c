#include "doctor/nodes.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/now.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define SHOWN 8 /* names in a sentence */

enum node_use nodes_use(const struct slurm_node *n, const char *allocation)
{
    static const char *const free_states[] = { "IDLE", "MIXED" }, *const harmless[] = {
        "CLOUD", "DYNAMIC_NORM", "PLANNED", "COMPLETING"
    };
    const char *flag = n->state + strcspn(n->state, "+");
    bool idle = false;

    if (allocation)
        return hostlist_has(allocation, n->name) ? NODE_ASKED : NODE_BUSY;
    if (!strncmp(n->state, "ALLOCATED", 9))
        return NODE_BUSY;
    for (size_t i = 0; i < ARRAY_SIZE(free_states);
         i++) /* "IDLE*" does not respond, "IDLE~" is powered down */
        idle |= strlen(free_states[i]) == (size_t)(flag - n->state) &&
                !strncmp(n->state, free_states[i], (size_t)(flag - n->state));
    if (!idle || !*n->partitions)
        return NODE_CLOSED;
    while (*flag) {
        size_t length = strcspn(flag + 1, "+");
        bool known = false;

        for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
            known |= strlen(harmless[i]) == length && !strncmp(flag + 1, harmless[i], length);
        if (!known)
            return NODE_CLOSED;
        flag += 1 + length;
    }
    return NODE_ASKED;
}

/* ---- nodes with the same trouble are one finding ---- */

struct troubles {
    struct trouble {
        const char *check; /* a literal */
        char *text, *next;
        enum finding_state state;
        json_t *nodes;
    } * trouble;
    size_t n, cap;
};

__attribute__((format(printf, 6, 7))) static void add_trouble(struct troubles *t, enum finding_state state,
                                                              const char *check, const char *node,
                                                              const char *next, const char *fmt, ...)
{
    struct trouble *same = NULL;
    char *text;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    for (size_t i = 0; i < t->n && !same; i++)
        if (!strcmp(t->trouble[i].check, check) && t->trouble[i].state == state &&
            !strcmp(t->trouble[i].text, text))
            same = &t->trouble[i];
    if (!same) {
        t->trouble = xgrow(t->trouble, &t->cap, t->n + 1, sizeof(*t->trouble));
        same = &t->trouble[t->n++];
        *same = (struct trouble){ check, xstrdup(text), xstrdup(next), state, json_array() };
    }
    json_array_append_new(same->nodes, json_of_text(node));
    free(text);
}

static void report_troubles(struct troubles *t, struct findings *f)
{
    char names[512];

    for (size_t i = 0; i < t->n; i++) {
        struct trouble *one = &t->trouble[i];

        findings_add(f, one->state, one->check, one->nodes, one->next, "%s: %s",
                     json_show_list(one->nodes, SHOWN, names, sizeof(names)), one->text);
        free(one->text);
        free(one->next);
    }
    free(t->trouble);
}

/* ---- judging one node ---- */

static void judge_checks(const struct host_report *r, bool no_controller, struct troubles *t)
{
    bool missing = false;
    char next[400];

    for (size_t i = 0; i < r->n_checks; i++) {
        const struct host_check *check = &r->check[i];
        const char *name = doctor_check_name(check->name);

        if (!check->missing || (no_controller && !strcmp(name, "controller")))
            continue;
        /* A node that misses something runs unguarded: that is no finding of its own. */
        if (missing && !strcmp(name, "preload"))
            continue;
        missing |= strcmp(name, "controller") && strcmp(name, "limits");
        if (strstr(check->next, r->node))
            snprintf(next, sizeof(next), "%s", check->next);
        else
            snprintf(next, sizeof(next), "%s   (on %.90s)", check->next, r->node);
        add_trouble(t, FINDING_FAULT, name, r->node, next, "%s", check->found);
    }
}

static bool misses(const struct host_report *r, const char *name)
{
    for (size_t i = 0; i < r->n_checks; i++)
        if (r->check[i].missing && !strcmp(r->check[i].name, name))
            return true;
    return false;
}

static void judge_files(const struct nodes_facts *c, const struct host_report *r, struct troubles *t)
{
    bool same_platform = !strcmp(r->platform, c->own->platform);
    char next[1000];

    snprintf(next, sizeof(next), FINDINGS_NEXT_VERSION, r->node);
    if (strcmp(r->version, c->own->version) != 0) {
        add_trouble(t, FINDING_FAULT, "version", r->node, next, "sgctl there is version %s, here %s",
                    r->version, c->own->version);
        return; /* all its files are other ones */
    }
    for (size_t i = 0; i < HOST_FILES; i++) {
        const struct host_digest *there = &r->file[i], *here = &c->own->file[i];

        if (!*there->hash || !*here->hash || !strcmp(there->hash, here->hash))
            continue;
        snprintf(next, sizeof(next), "srun -N1 -w %.200s cksum %.300s; cksum %.300s", r->node, there->path,
                 here->path);
        if (i == HOST_CONFIGURATION)
            add_trouble(t, FINDING_FAULT, host_file_names[i], r->node, next,
                        "%s has another content than %s on this host (hash %.8s, here %.8s)", there->path,
                        here->path, there->hash, here->hash);
        else
            add_trouble(
                t, same_platform ? FINDING_FAULT : FINDING_NOTE, host_file_names[i], r->node, next,
                "%s is another build of version %s than %s on this host (hash %.8s, here %.8s%s%s)",
                there->path, r->version, here->path, there->hash, here->hash,
                same_platform ? "" : "; its platform differs, too: ", same_platform ? "" : r->platform);
    }
}

static void judge_munge(const struct nodes_facts *c, const struct host_report *r, struct troubles *t)
{
    struct err err = { "" };
    char next[400];

    if (misses(r, "munge"))
        return;
    snprintf(next, sizeof(next), "munge -n | srun -N1 -w %.200s unmunge", r->node);
    if (*r->refused)
        add_trouble(t, FINDING_FAULT, "munge", r->node, next,
                    "munge there does not decode a credential made here: %s", r->refused);
    else if (*r->credential && *c->decode(c->arg, r->credential, &err))
        add_trouble(t, FINDING_FAULT, "munge", r->node, next,
                    "munge here does not decode a credential made there: %s", err.text);
}

/* The report was written after srun was started here and before it was read here: between these two lies what
 * the node's clock differs by. */
struct clocks {
    size_t known;
    double worst_s,
        wide_s; /* of those that agree: the largest difference that there can be; the widest doubt */
};

static void judge_clock(const struct nodes_facts *c, const struct node_answer *a, const struct host_report *r,
                        struct troubles *t, struct clocks *k)
{
    double low_s = r->at_s - a->at_s, high_s = r->at_s - c->answers->from_s;
    double off_s = (low_s + high_s) / 2, doubt_s = (high_s - low_s) / 2;
    char next[400];

    if (isnan(r->at_s) || !(doubt_s >= 0))
        return;
    snprintf(next, sizeof(next), FINDINGS_NEXT_CLOCK, r->node);
    if (low_s > DOCTOR_CLOCK_S || high_s < -DOCTOR_CLOCK_S)
        add_trouble(t, FINDING_FAULT, "clock", r->node, next,
                    "its clock is %s %s this host's, give or take %s; munge refuses at 5 minutes",
                    text_about_s(fabs(off_s)).s, off_s > 0 ? "ahead of" : "behind", text_about_s(doubt_s).s);
    else if (low_s < -DOCTOR_CLOCK_S || high_s > DOCTOR_CLOCK_S)
        add_trouble(t, FINDING_UNKNOWN, "clock", r->node, next,
                    "its clock may be up to %s from this host's: its answer took too long to say more",
                    text_about_s(fmax(-low_s, high_s)).s);
    else {
        k->known++;
        k->worst_s = fmax(k->worst_s, fmax(-low_s, high_s));
        k->wide_s = fmax(k->wide_s, doubt_s);
    }
}

/* ---- all ---- */

static bool is_asked(const struct nodes_facts *c, const char *node)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->asked[i], node))
            return true;
    return false;
}

static void judge_unreported(const struct nodes_facts *c, const struct node_answer *a, const char *why,
                             struct troubles *t)
{
    char next[500];

    snprintf(next, sizeof(next), FINDINGS_NEXT_VERSION, a->node);
    if (*a->version && strcmp(a->version, c->own->version) != 0)
        add_trouble(t, FINDING_FAULT, "version", a->node, next, "sgctl there is version %s, here %s",
                    a->version, c->own->version);
    else if (*a->version)
        add_trouble(t, FINDING_FAULT, "version", a->node, next,
                    "sgctl there gives no report, so it is another build of version %s: %s", a->version, why);
    else
        add_trouble(t, FINDING_FAULT, "sgctl", a->node, next, "sgctl does not run there: %s", why);
}

static void judge_silent(const struct nodes_facts *c, const json_t *heard, struct troubles *t)
{
    char next[500];

    for (size_t i = 0; i < c->n; i++) {
        if (json_object_get(heard, c->asked[i]))
            continue;
        snprintf(next, sizeof(next), "srun -N1 -w %.200s hostname; scontrol show node %.200s", c->asked[i],
                 c->asked[i]);
        add_trouble(t, FINDING_FAULT, "answers", c->asked[i], next, "no answer%s%s%s%s",
                    c->answers->late ? " within " : "", c->answers->late ? text_about_s(c->limit_s).s : "",
                    *c->answers->srun ? "; srun says: " : "", c->answers->srun);
    }
}

/* Slurm gave nothing to run on: that says nothing of the nodes. */
static bool is_refused(const struct nodes_facts *c, const json_t *heard)
{
    for (size_t i = 0; i < c->answers->n; i++)
        if (*c->answers->answer[i].node) /* it has begun there */
            return false;
    return !json_object_size(heard) &&
           (strstr(c->answers->srun, "llocat") || strstr(c->answers->srun, "submit") || !*c->answers->srun ||
            strstr(c->answers->srun, "fatal"));
}

void nodes_judge(const struct nodes_facts *c, struct findings *f)
{
    struct troubles t = { 0 };
    struct clocks k = { 0 };
    json_t *heard = json_object();
    struct host_report *r = xcalloc(1, sizeof(*r));
    size_t reported = 0, before;
    bool no_controller = misses(c->own, "controller"), no_plugin = misses(c->own, "plugin");
    struct err err;

    for (size_t i = 0; i < c->answers->n; i++) {
        const struct node_answer *a = &c->answers->answer[i];
        bool whole = a->report && !a->open;

        if (!is_asked(c, a->node) || (!whole && !*a->said && c->answers->late)) /* the latter is silent */
            continue;
        json_object_set_new(heard, a->node, json_true());
        if (!whole || host_report_read(r, a->report, a->bytes, &err) < 0) {
            judge_unreported(c, a, whole ? err.text : *a->said ? a->said : "it says nothing", &t);
            continue;
        }
        snprintf(r->node, sizeof(r->node), "%s", a->node);
        reported++;
        for (size_t j = 0; j < r->n_checks && no_plugin; j++)
            r->check[j].missing &= strcmp(r->check[j].name, "preload") != 0;
        judge_checks(r, no_controller, &t);
        judge_files(c, r, &t);
        judge_munge(c, r, &t);
        if (!findings_has(f, "clock", a->node)) /* as --probe found, which is more exact */
            judge_clock(c, a, r, &t, &k);
    }
    if (is_refused(c, heard))
        findings_add(f, FINDING_UNKNOWN, "answers", NULL, "srun -N1 hostname",
                     "Slurm gives no step on %zu node%s, so %s not looked at: %s", c->n,
                     text_plural((int64_t)c->n), c->n == 1 ? "it was" : "they were",
                     *c->answers->srun ? c->answers->srun : "srun says nothing");
    else
        judge_silent(c, heard, &t);
    before = t.n;
    report_troubles(&t, f);
    if (no_plugin && reported)
        findings_add(f, FINDING_UNKNOWN, "preload", NULL, "sgctl doctor",
                     "this host's srun loads no plugin: what tasks get was not seen");
    if (!before && reported)
        findings_add(f, FINDING_OK, "setup", NULL, NULL,
                     "%zu of %zu node%s asked %s what guarded jobs need, and the same files as this host",
                     reported, c->n, text_plural((int64_t)c->n), reported == 1 ? "has" : "have");
    if (k.known)
        findings_add(f, FINDING_OK, "clock", NULL, NULL,
                     "%zu clock%s with this host's within %s, of which %s is doubt", k.known,
                     k.known == 1 ? " agrees" : "s agree", text_about_s(k.worst_s).s,
                     text_about_s(k.wide_s).s);
    free(r);
    json_decref(heard);
}

/* ---- asking ---- */

static const char *decode_here(void *arg, const char *credential, struct err *err)
{
    return host_credential_check(arg, credential, err) < 0 ? err->text : "";
}

static bool in_partition(const struct slurm_node *n, const char *partition, size_t length)
{
    for (const char *s = n->partitions; *s; s += strcspn(s, ","), s += *s == ',')
        if (strcspn(s, ",") == length && !strncmp(s, partition, length))
            return true;
    return false;
}

/* The nodes that are left of the first one's partition, into names.  0: none. */
static size_t next_group(const struct slurm_nodes *slurm, const char *allocation, bool *done,
                         const char **names, char *partition, size_t size)
{
    size_t n = 0, length = 0;

    *partition = '\0';
    for (size_t i = 0; i < slurm->n; i++) {
        const struct slurm_node *one = &slurm->node[i];

        if (done[i] || one->silent || nodes_use(one, allocation) != NODE_ASKED)
            continue;
        if (!n && !allocation) {
            length = strcspn(one->partitions, ",");
            snprintf(partition, size, "%.*s", (int)length, one->partitions);
        }
        if (!allocation && !in_partition(one, partition, strlen(partition)))
            continue;
        done[i] = true;
        names[n++] = one->name;
    }
    return n;
}

/* Nodes that are not asked. */
static void report_others(const struct slurm_nodes *slurm, const char *allocation, struct findings *f)
{
    json_t *busy = json_array(), *closed = json_array();
    char names[512], example[300] = "";

    for (size_t i = 0; i < slurm->n; i++) {
        enum node_use use = nodes_use(&slurm->node[i], allocation);

        if (use == NODE_CLOSED && !json_array_size(closed))
            snprintf(example, sizeof(example), "%.100s is %.100s", slurm->node[i].name, slurm->node[i].state);
        if (use != NODE_ASKED)
            json_array_append_new(use == NODE_BUSY ? busy : closed, json_of_text(slurm->node[i].name));
    }
    if (json_array_size(busy))
        findings_add(
            f, FINDING_UNKNOWN, "answers", json_incref(busy),
            "salloc -w NODES sgctl doctor --cluster   (when they are free)", "%zu %s %s and %s not asked: %s",
            json_array_size(busy), json_array_size(busy) == 1 ? "node is" : "nodes are",
            allocation ? "outside this allocation" : "busy", json_array_size(busy) == 1 ? "was" : "were",
            json_show_list(busy, SHOWN, names, sizeof(names)));
    if (json_array_size(closed))
        findings_add(f, FINDING_NOTE, "answers", json_incref(closed), "sinfo -R",
                     "%zu node%s no jobs and %s not asked: %s (%s)", json_array_size(closed),
                     json_array_size(closed) == 1 ? " takes" : "s take",
                     json_array_size(closed) == 1 ? "was" : "were",
                     json_show_list(closed, SHOWN, names, sizeof(names)), example);
    json_decref(busy);
    json_decref(closed);
}

void nodes_check(const struct doctor *d, const char *conf, const struct slurm_nodes *slurm,
                 const char *allocation, double limit_s, struct findings *f)
{
    struct host_report *own = xcalloc(1, sizeof(*own));
    struct nodes_facts facts = {
        .own = own, .limit_s = limit_s, .decode = decode_here, .arg = (void *)d->client.end.munge_socket
    };
    double until_s = now_s() + limit_s;
    char program[PATH_MAX] = "", partition[256], *credential = NULL;
    const char **names = NULL;
    bool *done = NULL;
    struct err err = { "" };

    host_report_take(own, d, NULL);
    credential = host_credential_make(d->client.end.munge_socket, &err);
    if (!credential)
        findings_add(f, FINDING_UNKNOWN, "munge", NULL, "sgctl doctor",
                     "this host makes no credential for the nodes to decode: %s", err.text);
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
        snprintf(program, sizeof(program), "sgctl");
    names = xcalloc(slurm->n, sizeof(*names));
    done = xcalloc(slurm->n, sizeof(*done));
    report_others(slurm, allocation, f);
    for (size_t i = 0; i < NODES_STEPS_MAX && now_s() < until_s; i++) {
        struct node_answers answers = { 0 };
        struct node_step step = { .nodes = names,
                                  .program = program,
                                  .conf = conf,
                                  .credential = credential,
                                  .limit_s = until_s - now_s(),
                                  .progress = isatty(STDERR_FILENO) };

        step.n = next_group(slurm, allocation, done, names, partition, sizeof(partition));
        if (!step.n)
            break;
        step.partition = allocation ? NULL : partition;
        if (node_step_run(&step, &answers, &err) < 0) {
            findings_add(f, FINDING_UNKNOWN, "answers", NULL, "srun -N1 hostname",
                         "%s: the nodes were not looked at", err.text);
            node_answers_free(&answers);
            break;
        }
        facts.asked = names;
        facts.n = step.n;
        facts.answers = &answers;
        nodes_judge(&facts, f);
        node_answers_free(&answers);
    }
    free(credential);
    free(names);
    free(done);
    free(own);
}
