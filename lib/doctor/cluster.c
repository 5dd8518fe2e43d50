#include "doctor/cluster.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/hostlist.h"
#include "common/text.h"
#include "doctor/pairwise.h"
#include "topology/topology_conf.h"
#include "wire/json.h"

#define SHOWN     8    /* names in a sentence */
#define SETTLED_S 30.0 /* a step this old has its agents connected and its ranks known */
/* steps counted, before a node without recorded ranks is remarkable */
#define RECORDED_MIN 16

static const char *plural(size_t n, const char *some, const char *single)
{
    return n == 1 ? single : some;
}

/* ---- the declared tree, and Slurm's nodes ---- */

static void judge_missing(const struct cluster_facts *c, struct findings *f)
{
    json_t *undeclared = json_array(), *unknown = json_array();
    char names[512];

    for (size_t i = 0; i < c->slurm->n; i++)
        if (topology_find_node(c->topology, c->slurm->node[i].name) == TOPOLOGY_NONE)
            json_array_append_new(undeclared, json_of_text(c->slurm->node[i].name));
    for (size_t i = 0; i < c->topology->n_nodes; i++)
        if (!slurm_nodes_find(c->slurm, c->topology->node[i].name))
            json_array_append_new(unknown, json_of_text(c->topology->node[i].name));
    if (json_array_size(undeclared))
        findings_add(f, FINDING_FAULT, "nodes", json_incref(undeclared),
                     "scontrol reconfigure   (after adding them to the file)",
                     "%zu of Slurm's %zu nodes (scontrol show nodes) %s below no switch in %s: %s",
                     json_array_size(undeclared), c->slurm->n,
                     plural(json_array_size(undeclared), "are", "is"), c->path,
                     json_show_list(undeclared, SHOWN, names, sizeof(names)));
    if (json_array_size(unknown))
        findings_add(f, FINDING_FAULT, "nodes", json_incref(unknown),
                     "scontrol reconfigure   (after removing them from the file)",
                     "%zu of the %zu nodes in %s %s not known to Slurm (scontrol show nodes): %s",
                     json_array_size(unknown), c->topology->n_nodes, c->path,
                     plural(json_array_size(unknown), "are", "is"),
                     json_show_list(unknown, SHOWN, names, sizeof(names)));
    if (!json_array_size(undeclared) && !json_array_size(unknown))
        findings_add(f, FINDING_OK, "nodes", NULL, NULL, "all %zu of Slurm's nodes are in %s, and no other",
                     c->slurm->n, c->path);
    json_decref(undeclared);
    json_decref(unknown);
}

/* Is the node below this switch in the file, or below several, of which this is one or a list? */
static bool is_below(const struct cluster_facts *c, uint32_t node, const char *leaf)
{
    uint32_t parent = c->topology->node[node].parent, at = topology_find_switch(c->topology, leaf);

    return at == TOPOLOGY_NONE ? hostlist_has(leaf, c->topology->a_switch[parent].name)
                               : c->topology->a_switch[at].same == parent;
}

/* slurmctld reads the file when it starts or is told to. */
static void judge_loaded(const struct cluster_facts *c, struct findings *f)
{
    json_t *moved = json_array();
    char names[512], example[400] = "";

    for (size_t i = 0; i < c->slurm->n && c->slurm->tree; i++) {
        const struct slurm_node *n = &c->slurm->node[i];
        uint32_t at = topology_find_node(c->topology, n->name);
        const char *declared =
            at == TOPOLOGY_NONE ? NULL : c->topology->a_switch[c->topology->node[at].parent].name;

        if ((!declared && !n->leaf) || (declared && n->leaf && is_below(c, at, n->leaf)))
            continue;
        if (!json_array_size(moved))
            snprintf(example, sizeof(example), "%.80s is below %.80s in the file, below %.80s for slurmctld",
                     n->name, declared ? declared : "no switch", n->leaf ? n->leaf : "no switch");
        json_array_append_new(moved, json_of_text(n->name));
    }
    if (!c->slurm->tree)
        findings_add(f, FINDING_NOTE, "loaded", NULL, "scontrol show config | grep -i topology",
                     "slurmctld has no switches (scontrol show topology): only SyncGuard uses %s", c->path);
    else if (json_array_size(moved))
        findings_add(f, FINDING_FAULT, "loaded", json_incref(moved), "scontrol reconfigure",
                     "slurmctld has other switches than %s for %zu %s (scontrol show topology): %s; %s",
                     c->path, json_array_size(moved), plural(json_array_size(moved), "nodes", "node"),
                     json_show_list(moved, SHOWN, names, sizeof(names)), example);
    else
        findings_add(f, FINDING_OK, "loaded", NULL, NULL, "slurmctld has the leaf switches of %s", c->path);
    json_decref(moved);
}

/* Rails, or a mistake: slurmctld warns of it, too. */
static void judge_several(const struct cluster_facts *c, struct findings *f)
{
    json_t *several = json_array();
    char names[512];

    for (size_t i = 0; i < c->topology->n_nodes; i++)
        if (c->topology->node[i].n_above > 1)
            json_array_append_new(several, json_of_text(c->topology->node[i].name));
    if (json_array_size(several))
        findings_add(f, FINDING_NOTE, "topology", json_incref(several), NULL,
                     "%zu %s below several leaf switches in %s, which is right for rails only: %s",
                     json_array_size(several), plural(json_array_size(several), "nodes are", "node is"),
                     c->path, json_show_list(several, SHOWN, names, sizeof(names)));
    json_decref(several);
}

static void judge_tree(const struct cluster_facts *c, struct findings *f)
{
    size_t roots = 0;
    char names[512] = "";

    if (!c->topology && c->topology_why) {
        findings_add(f, FINDING_FAULT, "topology", NULL, "scontrol reconfigure   (after correcting the file)",
                     "%s", c->topology_why);
        return;
    }
    if (!c->topology || !c->topology->n_switches) {
        if (c->slurm && c->slurm->tree)
            findings_add(f, FINDING_UNKNOWN, "topology", NULL, "sgctl doctor --cluster --topology FILE",
                         c->topology
                             ? "slurmctld has switches (scontrol show topology), but %s declares none"
                             : "slurmctld has switches (scontrol show topology), but there is no %s here",
                         c->path);
        else
            findings_add(f, FINDING_NOTE, "topology", NULL, NULL,
                         c->topology ? "%s declares no switches" : "there is no %s: no switches are declared",
                         c->path);
        return;
    }
    for (size_t i = 0; i < c->topology->n_switches; i++) {
        if (c->topology->a_switch[i].parent != TOPOLOGY_NONE || !c->topology->a_switch[i].n_below)
            continue;
        if (roots++ < SHOWN)
            text_append(names, sizeof(names), "%s%.40s", roots > 1 ? ", " : "",
                        c->topology->a_switch[i].name);
    }
    findings_add(f, FINDING_OK, "topology", NULL, NULL, "%s: %zu %s below %zu %s", c->path,
                 c->topology->n_nodes, plural(c->topology->n_nodes, "nodes", "node"), c->topology->n_switches,
                 plural(c->topology->n_switches, "switches", "switch"));
    judge_several(c, f);
    if (roots > 1)
        findings_add(f, FINDING_NOTE, "topology", NULL, NULL,
                     "%s declares %zu trees that nothing connects, below %s%s: no job spans them", c->path,
                     roots, names, roots > SHOWN ? ", ..." : "");
    if (!c->slurm)
        return;
    judge_missing(c, f);
    judge_loaded(c, f);
}

/* ---- the controller's agents ---- */

/* Nodes whose agents run another version than the controller, a finding for each version. */
static void judge_versions(const struct cluster_facts *c, struct findings *f)
{
    const char *wanted = json_get_word(c->status, "version");
    json_t *by_version = json_object(), *list, *row;
    const json_t *rows = json_get_array(c->nodes, "nodes");
    size_t known = 0, unknown = 0, i;
    const char *version;
    char names[512], next[700], clean[64];

    json_array_foreach(rows, i, row) {
        const json_t *agent = json_get_object(row, "agent");

        version = json_get_word(agent, "version");
        if (!agent || !json_get_true(agent, "connected"))
            continue;
        unknown += !*version;
        known += !!*version;
        if (!*version || !strcmp(version, wanted))
            continue;
        list = json_object_get(by_version, version);
        if (!list)
            json_object_set_new(by_version, version, list = json_array());
        json_array_append(list, json_object_get(row, "node"));
    }
    json_object_foreach(by_version, version, list) {
        const char *first = json_string_value(json_array_get(list, 0));

        snprintf(next, sizeof(next), FINDINGS_NEXT_VERSION, first ? first : "NODE");
        findings_add(f, FINDING_FAULT, "versions", json_incref(list), next,
                     "the agents of %zu %s are version %.60s, the controller is %s (sgctl nodes): %s",
                     json_array_size(list), plural(json_array_size(list), "nodes", "node"), version,
                     json_show_text(c->status, "version", clean, sizeof(clean)),
                     json_show_list(list, SHOWN, names, sizeof(names)));
    }
    if (*wanted && strcmp(wanted, c->version) != 0)
        findings_add(f, FINDING_FAULT, "versions", NULL,
                     "make install   (in SyncGuard's tree; or its packages; the same version on both)",
                     "this sgctl is version %s, the controller is %s", c->version,
                     json_show_text(c->status, "version", clean, sizeof(clean)));
    else if (!json_object_size(by_version) && known)
        findings_add(f, FINDING_OK, "versions", NULL, NULL,
                     "the agents of %zu %s are version %s, as the controller", known,
                     plural(known, "nodes", "node"), wanted);
    if (unknown || !known)
        findings_add(f, FINDING_UNKNOWN, "versions", NULL, NULL,
                     unknown ? "of %zu agent%s the controller reports no version"
                             : "no agent is connected: no guarded job runs",
                     unknown, text_plural((int64_t)unknown));
    json_decref(by_version);
}

static const json_t *job_of(const struct cluster_facts *c, const char *id)
{
    json_t *job;
    size_t i;

    json_array_foreach(c->jobs, i, job)
        if (*id && !strcmp(json_get_word(job, "id"), id))
            return job;
    return NULL;
}

/* A node whose agent is there while none of its ranks is: something removed LD_PRELOAD, or its library has no
 * probe. */
static void judge_unrecorded(const struct cluster_facts *c, struct findings *f)
{
    const json_t *rows = json_get_array(c->nodes, "nodes");
    json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) {
        const json_t *ids = json_get_array(row, "jobs"), *agent = json_get_object(row, "agent");
        const char *node = json_get_word(row, "node"), *id = json_string_value(json_array_get(ids, 0));
        const json_t *job = json_array_size(ids) == 1 && id ? job_of(c, id) : NULL;
        const json_t *probe = json_get_object(job, "probe");
        int64_t guarded = json_get_count(probe, "ranks_guarded"),
                total = json_get_count(probe, "ranks_total");
        char next[400];

        if (!json_get_true(agent, "connected") || json_get_count(row, "ranks_recorded") != 0)
            continue;
        /* others of the job are recorded, and it has taken steps */
        if (guarded <= 0 || total <= guarded || json_get_count(job, "steps") < RECORDED_MIN ||
            !(json_get_number(job, "elapsed_s") > SETTLED_S))
            continue;
        snprintf(next, sizeof(next), "srun -N1 -w %.200s --sync-guard env | grep LD_PRELOAD", node);
        findings_add(
            f, FINDING_FAULT, "probe", json_pack("[o]", json_of_text(node)), next,
            "%.200s: its agent is connected, but none of its ranks of job %.60s is recorded, while %lld of the job's "
            "%lld ranks %s (sgctl nodes, sgctl job)",
            node, id, (long long)guarded, (long long)total, guarded == 1 ? "is" : "are");
    }
}

static void judge_job(const json_t *job, struct findings *f)
{
    const json_t *silent = json_get_object(job, "agents_silent"), *list;
    int64_t total = json_get_count(job, "nodes_total"), agents = json_get_count(job, "agents_total");
    int64_t n = json_get_count(silent, "number");
    bool settled = json_get_number(job, "elapsed_s") > SETTLED_S;
    char id[64], next[200], names[512], text[512], number[64];
    json_t *one_of;
    size_t i;

    json_get_text(job, "id", id, sizeof(id));
    list = json_get_array(silent, "nodes");
    snprintf(number, sizeof(number), "the agents of %lld nodes were", (long long)n);
    if (settled && n > 0) {
        const char *first = json_string_value(json_array_get(list, 0));

        snprintf(next, sizeof(next), "sgctl doctor   (on %.100s)", first ? first : "those nodes");
        findings_add(f, FINDING_FAULT, "agents", json_deep_copy(list), next,
                     "job %s: %s connected and no longer %s (sgctl job): %s", id,
                     n == 1 ? "the agent of one node was" : number, n == 1 ? "is" : "are",
                     json_show_list(list, SHOWN, names, sizeof(names)));
    }
    snprintf(next, sizeof(next), "sgctl job %s", id);
    if (settled && agents >= 0 && total > agents)
        findings_add(
            f, FINDING_FAULT, "agents", NULL, next,
            "job %s runs on %lld nodes, and agents of %lld have reported (sgctl job); sgctl doctor on the others finds why",
            id, (long long)total, (long long)agents);
    list = json_get_array(job, "verdicts");
    json_array_foreach(list, i, one_of)
        if (!strcmp(json_get_word(one_of, "scope"), "link") && json_get_true(one_of, "standing"))
            findings_add(f, FINDING_FAULT, "links", NULL, next, "job %s: %s", id,
                         json_show_text(one_of, "text", text, sizeof(text)));
    list = json_get_array(job, "notes");
    json_array_foreach(list, i, one_of)
        findings_add(f, FINDING_NOTE, "agents", NULL, next, "job %s: %s", id,
                     json_show_value(one_of, text, sizeof(text)));
}

/* Where slurmctld put a running step, and what the file says now. */
static void judge_switches(const struct cluster_facts *c, struct findings *f)
{
    const json_t *rows = json_get_array(c->nodes, "nodes");
    json_t *row, *moved = json_array();
    char names[512], example[400] = "";
    size_t i;

    json_array_foreach(rows, i, row) {
        const char *node = json_get_word(row, "node"), *leaf = json_get_word(row, "switch"), *declared;
        uint32_t at = c->topology ? topology_find_node(c->topology, node) : TOPOLOGY_NONE;

        if (at == TOPOLOGY_NONE || !*leaf || !json_get_true(json_get_object(row, "agent"), "connected"))
            continue;
        declared = c->topology->a_switch[c->topology->node[at].parent].name;
        if (is_below(c, at, leaf))
            continue;
        if (!json_array_size(moved))
            snprintf(example, sizeof(example),
                     "%.80s is below %.80s in the file, and was below %.80s when its step began", node,
                     declared, leaf);
        json_array_append_new(moved, json_of_text(node));
    }
    if (json_array_size(moved))
        findings_add(
            f, FINDING_FAULT, "switches", json_incref(moved), "scontrol show topology",
            "%zu %s a running step that Slurm placed by other switches than %s (SLURM_TOPOLOGY_ADDR): %s; %s",
            json_array_size(moved), plural(json_array_size(moved), "nodes have", "node has"), c->path,
            json_show_list(moved, SHOWN, names, sizeof(names)), example);
    json_decref(moved);
}

static void judge_controller(const struct cluster_facts *c, struct findings *f)
{
    json_t *job;
    size_t i, before;

    if (!c->status || !c->nodes) {
        findings_add(f, FINDING_FAULT, "controller", NULL, "sgctl doctor", "%s", c->controller_why);
        return;
    }
    if (!json_get_true(c->status, "operator"))
        findings_add(f, FINDING_NOTE, "controller", NULL, NULL,
                     "it shows you your own jobs only: what other users' jobs show of nodes is left out");
    judge_versions(c, f);
    judge_switches(c, f);
    before = f->n;
    judge_unrecorded(c, f);
    json_array_foreach(c->jobs, i, job)
        judge_job(job, f);
    if (f->n == before && json_array_size(c->jobs))
        findings_add(f, FINDING_OK, "jobs", NULL, NULL,
                     "%zu running guarded %s: every node has its agent, no verdict names a link",
                     json_array_size(c->jobs), plural(json_array_size(c->jobs), "steps", "step"));
}

void cluster_judge(const struct cluster_facts *c, struct findings *f)
{
    if (!c->slurm)
        findings_add(f, FINDING_UNKNOWN, "slurm", NULL, "scontrol -o show nodes", "%s", c->slurm_why);
    judge_tree(c, f);
    judge_controller(c, f);
}

/* ---- asking ---- */

static json_t *ask_controller(struct client_call **call, const struct client_options *client,
                              json_t *question, double timeout_s, struct err *err)
{
    json_t *answer = *call ? client_call_ask(*call, question, timeout_s, err)
                           : client_call(call, client, question, timeout_s, err);

    json_decref(question);
    return answer;
}

/* The running steps in full, as far as they answer. */
static json_t *ask_jobs(struct client_call **call, const struct client_options *client, double timeout_s)
{
    struct err err;
    json_t *list = ask_controller(call, client, json_pack("{s:s}", "query", "jobs"), timeout_s, &err),
           *jobs = json_array();
    size_t n;
    const json_t *rows = json_get_list(list, "jobs", CLUSTER_JOBS_MAX, &n);

    for (size_t i = 0; i < n && *call; i++) {
        const char *id = json_get_word(json_array_get(rows, i), "id");
        json_t *answer = ask_controller(call, client,
                                        json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "query", "job", "job", id,
                                                  "view", "count", 0, "columns", 1, "agents", 0),
                                        timeout_s, &err);

        if (answer)
            json_array_append_new(jobs, answer);
        else
            break; /* the connection may be gone */
    }
    json_decref(list);
    return jobs;
}

void cluster_check(const struct client_options *client, double timeout_s, const char *topology,
                   const struct slurm_nodes *slurm, const char *slurm_why,
                   const struct pairwise_options *measure, struct findings *f)
{
    struct err topology_err = { "" }, controller_err = { "" };
    struct cluster_facts c = {
        .path = topology, .slurm = slurm, .slurm_why = slurm_why, .version = PACKAGE_VERSION
    };
    struct client_call *call = NULL;
    struct topology *t = NULL;
    json_t *status, *nodes = NULL, *jobs = NULL;
    char path[4096];

    if (!topology) {
        topology_conf_locate(path, sizeof(path));
        c.path = path;
    }
    if (topology || access(c.path, F_OK) == 0 || errno != ENOENT) {
        c.topology = t = topology_conf_read(c.path, NULL, &topology_err);
        c.topology_why = t ? NULL : topology_err.text;
    }
    c.status = status =
        ask_controller(&call, client, json_pack("{s:s}", "query", "status"), timeout_s, &controller_err);
    if (status)
        c.nodes = nodes =
            ask_controller(&call, client, json_pack("{s:s}", "query", "nodes"), timeout_s, &controller_err);
    if (nodes)
        c.jobs = jobs = ask_jobs(&call, client, timeout_s);
    c.controller_why = controller_err.text;
    cluster_judge(&c, f);
    if (measure)
        pairwise_check(t, c.path, slurm, measure, f);
    json_decref(jobs);
    json_decref(nodes);
    json_decref(status);
    client_call_end(call);
    topology_free(t);
}
