#include "common/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/conf.h"
#include "common/hosts.h"
#include "common/suggest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const levels[] = { "error", "warning", "info", "debug", NULL }; /* enum log_level */

static const char *const confirms[] = { "slurm", "credential", NULL };

static const struct key system_keys[] = {
    { "Controller", KEY_AT(config, controller), VALUE(VALUE_HOSTS), "localhost",
      "Where syncguardd runs; further hosts are tried in order." },
    { "Port", KEY_AT(config, port), VALUE_RANGE(VALUE_INTEGER, 1, 65535), "6825", "TCP port of syncguardd." },
    { "Listen", KEY_AT(config, listen), VALUE(VALUE_ADDRESS), "",
      "Address that syncguardd listens on; empty: all addresses." },
    { "MetricsPort", KEY_AT(config, metrics_port), VALUE_RANGE(VALUE_INTEGER, 0, 65535), "0",
      "TCP port of metrics for Prometheus, over HTTP; 0: none." },
    { "MetricsListen", KEY_AT(config, metrics_listen), VALUE(VALUE_ADDRESS), "127.0.0.1",
      "Address of the metrics; empty: all addresses. They are shown to everybody who can reach it, with the names of all jobs and their users." },
    { "AuthInfo", KEY_AT(config, munge_socket), VALUE(VALUE_AUTHINFO), "",
      "Munge's socket, as in slurm.conf; empty: munge's own." },
    { "StateDir", KEY_AT(config, state_dir), VALUE(VALUE_PATH), LOCALSTATEDIR "/lib/syncguard",
      "Where syncguardd keeps its history." },
    { "LogFile", KEY_AT(config, log_file), VALUE(VALUE_PATH), "",
      "Where syncguardd logs; empty: standard error." },
    { "LogLevel", KEY_AT(config, log_level), VALUE_ONE_OF(levels), "info",
      "Level of detail that syncguardd logs." },
    { "Operators", KEY_AT(config, operators), VALUE(VALUE_LIST), "",
      "Users, in addition to root, who may see and control every job. One who is not known is looked up again each minute." },
    { "SlurmUser", KEY_AT(config, slurm_user), VALUE(VALUE_NAME), "slurm",
      "As in slurm.conf; trusted like an operator." },
    { "ControllerUser", KEY_AT(config, controller_user), VALUE(VALUE_NAME), "",
      "User that syncguardd runs as; agents and terminals accept a controller of root, SlurmUser or this user only." },
    { "ClusterName", KEY_AT(config, cluster), VALUE(VALUE_NAME), "",
      "As in slurm.conf; agents and terminals of another cluster are refused. Empty: not checked." },
    { "Confirm", KEY_AT(config, confirm), VALUE_ONE_OF(confirms), "slurm",
      "What a guarded step needs before anything acts on it: slurm, a credential of root's and Slurm's own record of the job; "
      "credential, for hosts without Slurm, the credential alone." },
    { "DefaultPolicy", KEY_AT(config, default_policy), VALUE(VALUE_NAME), "balanced",
      "Policy of a plain --sync-guard." },
    { "AgentPath", KEY_AT(config, agent), VALUE(VALUE_PATH), PKGLIBEXECDIR "/syncguard-agent",
      "The agent, on the nodes." },
    { "CredentialPath", KEY_AT(config, credential), VALUE(VALUE_PATH), PKGLIBEXECDIR "/syncguard-credential",
      "Program on the nodes that vouches, as root, for the step that an agent is started for; must be owned by root." },
    { "ProbePath", KEY_AT(config, probe), VALUE(VALUE_PATH), PKGLIBDIR "/libsyncguard_probe.so",
      "The probe, on the nodes." },
    { "NcclPath", KEY_AT(config, nccl), VALUE(VALUE_PATH), PKGLIBDIR "/libsyncguard_nccl.so",
      "The profiler plugin for NCCL, on the nodes; where there is no such file, NCCL is not recorded." },
    { "HistoryDays", KEY_AT(config, history_days), VALUE_RANGE(VALUE_INTEGER, 1, 36500), "90",
      "How long finished jobs are kept, in days." },
    { "AccountingDays", KEY_AT(config, accounting_days), VALUE_RANGE(VALUE_INTEGER, 0, 3650), "90",
      "Number of days of Slurm's accounting that node failure rates are computed from; 0: accounting is not read." },
    { "LeaseTime", KEY_AT(config, lease_s), VALUE_RANGE(VALUE_SECONDS, 0, 60), "0s",
      "Two controllers share StateDir: the standby takes over when the active one has not renewed its lease for this long, "
      "at least 1 s, usually 6s. 0: one controller alone." },
    /* bounds: daemon/bounds.h */
    { "UserConnections", KEY_AT(config, user_connections), VALUE_RANGE(VALUE_INTEGER, 1, 100000), "4096",
      "Maximum number of connections of one user, agents and terminals together; as large as the largest number of nodes "
      "that one user's guarded steps run on." },
    { "UserSteps", KEY_AT(config, user_steps), VALUE_RANGE(VALUE_INTEGER, 1, 4096), "1024",
      "Maximum number of one user's guarded steps in memory; ended ones give way to new ones." },
    { "UserMemory", KEY_AT(config, user_memory), VALUE_RANGE(VALUE_BYTES, 1 << 20, 1e15), "192M",
      "Maximum memory of one user's guarded steps. A rank takes some KiB. Ranks and communicators beyond it are not "
      "analysed, and further steps are refused." },
    { "Memory", KEY_AT(config, memory), VALUE_RANGE(VALUE_BYTES, 1 << 20, 1e15), "1G",
      "Maximum memory of all guarded steps together." },
    { "UserLoad", KEY_AT(config, user_load), VALUE_RANGE(VALUE_RATIO, 0.01, 1), "50%",
      "Maximum share of the controller's time that one user's telemetry and queries may take for more than some seconds. "
      "Telemetry beyond it is left out, and queries are refused." },
    { "HandshakesPerSecond", KEY_AT(config, handshakes_per_s), VALUE_RANGE(VALUE_INTEGER, 1, 100000), "100",
      "Maximum number of connections per second that are accepted from one address; ten times as many at once." },
    { "HistorySize", KEY_AT(config, history_size), VALUE_RANGE(VALUE_BYTES, 1 << 20, 1e15), "4G",
      "Maximum size of the history. Beyond it the oldest steps of the user who has the most are removed." },
    { "HistoryFreeSpace", KEY_AT(config, history_free), VALUE_RANGE(VALUE_BYTES, 0, 1e15), "256M",
      "Free space on the file system of StateDir below which nothing is added to the history." },
    { "LogLinesPerMinute", KEY_AT(config, log_lines_per_minute), VALUE_RANGE(VALUE_INTEGER, 0, 1000000),
      "120",
      "Maximum number of log lines of one kind per minute; the number of those left out is logged. 0: any number." },
    /* actions: actions/action.h */
    { "Slurmrestd", KEY_AT(config, slurmrestd), VALUE(VALUE_RESTD), "",
      "Address of slurmrestd, used for the actions it supports; empty: all actions go through libslurm." },
    { "SlurmrestdToken", KEY_AT(config, slurmrestd_token), VALUE(VALUE_PATH), "",
      "File (0600) with the token (JWT) sent to slurmrestd; empty: none." },
    { "SlurmrestdVersion", KEY_AT(config, slurmrestd_version), VALUE(VALUE_NAME), "",
      "Version of slurmrestd's interface, such as v0.0.40; empty: the newest that both support." },
    { "Webhook", KEY_AT(config, webhook), VALUE(VALUE_WEBHOOK), "",
      "URL that actions are posted to, or a file (0600) that holds the URL if it is secret; empty: none." },
    { "WebhookTemplate", KEY_AT(config, webhook_template), VALUE(VALUE_NAME_OR_PATH), "generic",
      "Format of the webhook's messages: generic, slack (also for Mattermost), alertmanager, pagerduty, or a "
      "file with JSON." },
    { "WebhookToken", KEY_AT(config, webhook_token), VALUE(VALUE_PATH), "",
      "File (0600) with the token sent to the webhook; empty: none." },
    { "CommandHook", KEY_AT(config, command_hook), VALUE(VALUE_PATH), "",
      "Program that is run with the action as JSON on its standard input; empty: none." },
    { "SlurmHelperPath", KEY_AT(config, slurm_helper), VALUE(VALUE_PATH),
      PKGLIBEXECDIR "/syncguard-slurm-helper", "The controller's helper that calls libslurm." },
    /* policies: all jobs together */
    { "AuditLog", KEY_AT(config, audit_log), VALUE(VALUE_PATH), "",
      "File that every decision of a policy is appended to, one JSON object per line; empty: none." },
    { "PolicyModule", KEY_AT(config, policy_module), VALUE(VALUE_PATH), "",
      "Shared object with the site's own policy; must be owned by root and writable by nobody else." },
    { "UserActionsPerHour", KEY_AT(config, user_actions_per_hour), VALUE_RANGE(VALUE_INTEGER, 0, 10000), "20",
      "Maximum number of actions per hour on the jobs of one user." },
    { "ClusterActionsPerHour", KEY_AT(config, cluster_actions_per_hour), VALUE_RANGE(VALUE_INTEGER, 0, 10000),
      "60", "Maximum number of actions per hour, all jobs together." },
    { "ClusterNodesPerHour", KEY_AT(config, cluster_nodes_per_hour), VALUE_UNITS(0, 10000, "nodes"), "8",
      "Maximum number of nodes that actions may affect per hour, all jobs together." },
    { 0 },
};
KEYS_FIT(system_keys);

/* The built-in policies are written as an administrator would write them; policies/ ships the same lines,
 * commented. */
static const char builtin[] =
    "Policy=observe Description=\"Observe only: report what costs the job at least 5 %.\" "
    "MinSlowdown=1.05 HangTimeout=60s SampleRate=20 Pacing=off\n"
    "Policy=balanced Description=\"The default: report what costs the job at least 2 %.\"\n";

/* ---- reading the file ---- */

struct loading {
    struct config config;
    struct place {
        char file[256];
        unsigned line;
    } seen[COUNT(system_keys)]; /* where a key was set first; line 0: not yet */
};

static int check_name(const struct conf_line *line, struct err *err)
{
    static const struct value_type name =
        VALUE_RANGE(VALUE_NAME, 1, sizeof(((struct config_policy *)0)->name) - 1);
    const struct conf_pair *pair = &line->pairs[0];
    struct err reason;
    double none;

    if (value_parse(&name, pair->value, &none, &reason) < 0)
        return conf_error(line, pair, err, "%s", reason.text);
    return 0;
}

/* Policy=NAME Key=Value ...: keys that the line does not name keep their values. */
static int load_policy(struct loading *l, const struct conf_line *line, struct err *err)
{
    /* These names have another meaning after --sync-guard=. */
    static const char *const reserved[] = { "on", "off", "yes", "no", "none", "help", "default" };
    const struct conf_pair *pair = &line->pairs[0];
    struct config *c = &l->config;
    struct config_policy *p;

    if (check_name(line, err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(reserved); i++)
        if (!strcasecmp(pair->value, reserved[i]))
            return conf_error(line, pair, err, "the name has another meaning in --sync-guard=%s",
                              pair->value);
    p = (struct config_policy *)config_policy_find(c, pair->value);
    if (!p && c->n_policies == CONFIG_POLICIES_MAX)
        return conf_error(line, pair, err, "at most %d policies", CONFIG_POLICIES_MAX);
    if (!p) {
        p = &c->policies[c->n_policies++];
        memset(p, 0, sizeof(*p));
        key_defaults(config_keys(CONFIG_POLICY), p);
        memcpy(p->name, pair->value, strlen(pair->value) + 1);
    }
    return key_load(line, 1, config_keys(CONFIG_POLICY), "a policy has", p, err);
}

/* PolicyFor=NAME Key=Value ...: each line is a selection of its own. */
static int load_selection(struct loading *l, const struct conf_line *line, struct err *err)
{
    struct config *c = &l->config;
    struct config_selection *s = &c->selections[c->n_selections];

    if (check_name(line, err) < 0)
        return -1;
    if (c->n_selections == CONFIG_SELECTIONS_MAX)
        return conf_error(line, &line->pairs[0], err, "at most %d such lines", CONFIG_SELECTIONS_MAX);
    memset(s, 0, sizeof(*s));
    key_defaults(config_keys(CONFIG_SELECTION), s);
    snprintf(s->policy, sizeof(s->policy), "%s", line->pairs[0].value);
    snprintf(s->file, sizeof(s->file), "%s", line->file);
    s->line = line->pairs[0].line;
    c->n_selections++;
    if (key_load(line, 1, config_keys(CONFIG_SELECTION), "a selection has", s, err) < 0)
        return -1;
    if ((s->max_nodes && s->max_nodes < s->min_nodes) || (s->max_ranks && s->max_ranks < s->min_ranks))
        return conf_error(line, &line->pairs[0], err, "the largest size is below the smallest: no job fits");
    return 0;
}

static const struct conf_pair *pair_find(const struct conf_line *line, const char *key)
{
    for (size_t i = 1; i < line->n; i++)
        if (!strcasecmp(line->pairs[i].key, key))
            return &line->pairs[i];
    return NULL;
}

/* Rule=NAME Policy=NAME Key=Value ...: if the policy has the rule, keys that the line does not name keep
 * their values. */
static int load_rule(struct loading *l, const struct conf_line *line, struct err *err)
{
    const struct conf_pair *pair = &line->pairs[0], *policy = pair_find(line, "Policy"), *key;
    struct config *c = &l->config;
    struct config_rule *r = c->rules;

    if (check_name(line, err) < 0)
        return -1;
    if (!policy)
        return conf_error(line, pair, err, "a rule belongs to a policy: Rule=%s Policy=NAME When=...",
                          pair->value);
    while (r < c->rules + c->n_rules &&
           (strcasecmp(r->policy, policy->value) != 0 || strcasecmp(r->name, pair->value) != 0))
        r++;
    if (r == c->rules + CONFIG_RULES_MAX)
        return conf_error(line, pair, err, "at most %d rules", CONFIG_RULES_MAX);
    if (r == c->rules + c->n_rules) {
        c->n_rules++;
        memset(r, 0, sizeof(*r));
        key_defaults(config_keys(CONFIG_RULE), r);
        snprintf(r->name, sizeof(r->name), "%s", pair->value);
    }
    snprintf(r->file, sizeof(r->file), "%s", line->file);
    r->line = pair->line;
    if ((key = pair_find(line, "When")) || !r->when_line)
        r->when_line = key ? key->line : pair->line;
    if ((key = pair_find(line, "Action")) || !r->action_line)
        r->action_line = key ? key->line : pair->line;
    return key_load(line, 1, config_keys(CONFIG_RULE), "a rule has", r, err);
}

/* A key that stands on a line of another kind. */
static const char *belongs_to(const char *name)
{
    static const char *const lines[CONFIG_TABLES] = { [CONFIG_POLICY] = "a policy: Policy=NAME",
                                                      [CONFIG_SELECTION] = "a selection: PolicyFor=NAME",
                                                      [CONFIG_RULE] = "a rule: Rule=NAME Policy=NAME" };

    for (enum config_table t = CONFIG_POLICY; t < CONFIG_TABLES; t++)
        if (key_find(config_keys(t), name))
            return lines[t];
    return NULL;
}

static int load_line(const struct conf_line *line, void *arg, struct err *err)
{
    struct loading *l = arg;
    struct err reason;

    if (!strcasecmp(line->pairs[0].key, "Policy"))
        return load_policy(l, line, err);
    if (!strcasecmp(line->pairs[0].key, "PolicyFor"))
        return load_selection(l, line, err);
    if (!strcasecmp(line->pairs[0].key, "Rule"))
        return load_rule(l, line, err);
    for (size_t i = 0; i < line->n; i++) {
        const struct conf_pair *pair = &line->pairs[i];
        const struct key *key = key_find(system_keys, pair->key);
        const char *whose = key ? NULL : belongs_to(pair->key);
        struct place *seen;

        if (whose)
            return conf_error(line, pair, err, "belongs to %s %s=...", whose, pair->key);
        if (!key)
            return key_unknown(line, pair, system_keys,
                               "besides Policy, PolicyFor, Rule and Include there are", err);
        seen = &l->seen[key - system_keys];
        if (seen->line)
            return conf_error(line, pair, err, "set before, at %s:%u", seen->file, seen->line);
        snprintf(seen->file, sizeof(seen->file), "%s", line->file);
        seen->line = pair->line;
        if (key_store(key, &l->config, pair->value, &reason) < 0)
            return conf_error(line, pair, err, "%s", reason.text);
    }
    return 0;
}

static const char *no_such_policy(const struct config *c, const char *name, char *buf, size_t size)
{
    struct suggestion near = suggest_for(name);
    char names[256];

    for (size_t i = 0; i < c->n_policies; i++)
        suggest_offer(&near, c->policies[i].name);
    if (near.best)
        snprintf(buf, size, "unknown policy. Did you mean '%s'?", near.best);
    else
        snprintf(buf, size, "unknown policy; there are %s", config_policy_names(c, names, sizeof(names)));
    return buf;
}

/* ---- shipped policies ---- */

const char *config_shipped_policies = PKGDATADIR "/policies";

static int is_shipped(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');

    return dot && dot != e->d_name && !strcmp(dot, ".conf");
}

/* Before the site's own lines, which change what they name. */
static int load_shipped(struct loading *l, struct err *err)
{
    struct dirent **entry = NULL;
    char path[4096];
    int n = scandir(config_shipped_policies, &entry, is_shipped, alphasort), rc = 0;

    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", config_shipped_policies, entry[i]->d_name);
        if (rc == 0)
            rc = conf_read(path, load_line, l, err);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

/* Where the settings come from: a file, or text in memory. */
struct origin {
    const char *name, *text;
    size_t bytes;
    bool optional; /* no file is no error */
};

static int load_into(struct loading *l, const struct origin *from, struct err *err)
{
    struct config *c = &l->config;
    char why[320], hosts[sizeof(c->controller)];
    struct err reason;

    if (strlen(from->name) >= sizeof(c->path))
        return err_set(err, "%.64s...: the path is too long", from->name);
    key_defaults(system_keys, c);
    if (conf_parse("built-in", builtin, sizeof(builtin) - 1, load_line, l, err) < 0)
        return -1;
    if (!from->text && load_shipped(l, err) < 0)
        return -1;
    if (from->text) {
        if (conf_parse(from->name, from->text, from->bytes, load_line, l, err) < 0)
            return -1;
    } else if (conf_read(from->name, load_line, l, err) == 0) {
        memcpy(c->path, from->name, strlen(from->name) + 1);
    } else if (!from->optional || errno != ENOENT) {
        return -1;
    }
    /* A policy may be defined after the lines that name it. */
    if (!config_policy_find(c, c->default_policy))
        return err_set(err, "%s: DefaultPolicy=%s: %s", from->name, c->default_policy,
                       no_such_policy(c, c->default_policy, why, sizeof(why)));
    for (const struct config_selection *s = c->selections; s < c->selections + c->n_selections; s++)
        if (!config_policy_find(c, s->policy))
            return err_set(err, "%s:%u: PolicyFor=%s: %s", s->file, s->line, s->policy,
                           no_such_policy(c, s->policy, why, sizeof(why)));
    for (const struct config_rule *r = c->rules; r < c->rules + c->n_rules; r++)
        if (!config_policy_find(c, r->policy))
            return err_set(err, "%s:%u: Rule=%s Policy=%s: %s", r->file, r->line, r->name, r->policy,
                           no_such_policy(c, r->policy, why, sizeof(why)));
    memcpy(hosts, c->controller, sizeof(hosts));
    /* The port is added once, so that everything that connects need not know Port. */
    if (hosts_complete(hosts, c->port, c->controller, sizeof(c->controller), &reason) < 0)
        return err_set(err, "%s: Controller=%.64s...: %s", from->name, hosts, reason.text);
    return 0;
}

static int load_from(struct config *c, const struct origin *from, struct err *err)
{
    struct loading *l = calloc(1, sizeof(*l));
    int rc = l ? load_into(l, from, err) : err_set(err, "%s: out of memory", from->name);

    if (rc == 0)
        memcpy(c, &l->config, sizeof(*c));
    free(l);
    return rc;
}

const char *config_path(const char *given)
{
    const char *environment = getenv("SYNCGUARD_CONF");

    return given ? given : environment && *environment ? environment : NULL;
}

int config_load(struct config *c, const char *path, struct err *err)
{
    struct origin from = { .name = path ? path : CONFIG_DEFAULT_PATH, .optional = !path };

    return load_from(c, &from, err);
}

int config_parse(struct config *c, const char *name, const char *text, size_t bytes, struct err *err)
{
    struct origin from = { .name = name, .text = text, .bytes = bytes };

    return load_from(c, &from, err);
}

const struct config_policy *config_default_policy(struct config *c, const char *path, struct err *err)
{
    int rc = path ? config_load(c, path, err) : config_parse(c, "defaults", "", 0, err);

    return rc < 0 ? NULL : config_policy_find(c, c->default_policy);
}

const struct config_policy *config_policy_find(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_policies; i++) {
        if (!strcasecmp(c->policies[i].name, name))
            return &c->policies[i];
    }
    return NULL;
}

char *config_policy_names(const struct config *c, char *buf, size_t size)
{
    size_t at = 0;

    if (size > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < c->n_policies && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "", c->policies[i].name);
    return buf;
}

/* ---- the policy of a job ---- */

/* Whether name is in a list with commas.  An empty list contains every name. */
static bool in_list(const char *list, const char *name)
{
    size_t len = strlen(name), part;

    if (!*list)
        return true;
    for (; len; list += part + 1) {
        part = strcspn(list, ",");
        if (part == len && !strncasecmp(list, name, len))
            return true;
        if (!list[part])
            break;
    }
    return false;
}

/* An unknown number (0) is outside of any bounds. */
static bool in_bounds(uint32_t n, int min, int max)
{
    if (!min && !max)
        return true;
    return n && n >= (uint32_t)min && (!max || n <= (uint32_t)max);
}

static bool selects(const struct config_selection *s, const struct config_job *j)
{
    return in_list(s->partition, j->partition) && in_list(s->account, j->account) &&
           in_list(s->qos, j->qos) && in_list(s->user, j->user) &&
           in_bounds(j->nodes, s->min_nodes, s->max_nodes) && in_bounds(j->ranks, s->min_ranks, s->max_ranks);
}

const struct config_policy *config_policy_select(const struct config *c, const struct config_job *j,
                                                 const char *asked, const struct config_selection **why)
{
    const struct config_selection *s = NULL;

    for (size_t i = 0; !s && i < c->n_selections; i++)
        if (selects(&c->selections[i], j))
            s = &c->selections[i];
    if (s && asked && s->override)
        s = NULL;
    if (why)
        *why = s;
    return config_policy_find(c, s ? s->policy : asked ? asked : c->default_policy);
}

/* ---- the tables ---- */

const char *config_table_name(enum config_table table)
{
    static const char *const names[CONFIG_TABLES] = { "system", "policy", "selection", "rule" };

    return names[table];
}

const struct key *config_keys(enum config_table table)
{
    return table == CONFIG_SYSTEM ? system_keys : config_policy_keys(table);
}
